"""What tf.contrib.learn has of scikit-learn, which may not be there: parameters of estimators, scores, splits."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from everflow.contrib.learn.publishing import learn

_MODULE = "estimators._sklearn"


def _invalid(name: str, estimator: Any) -> ValueError:
    return ValueError(
        f"Invalid parameter {name} for estimator {estimator}. Check the list of available parameters with `estimator.get_params().keys()`."
    )


class Parameters:
    """An object whose public attributes are parameters."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, and those of parameters that have some as `name__parameter`."""
        found: dict[str, Any] = {}
        for key, value in vars(self).items():
            if key.startswith("_") or callable(value):
                continue
            if deep and hasattr(value, "get_params"):
                found.update({f"{key}__{name}": below for name, below in value.get_params().items()})
            found[key] = value
        return found

    def set_params(self, **params: Any) -> Any:
        """Changes parameters, also those of parameters."""
        known = self.get_params(deep=True) if params else {}
        for key, value in params.items():
            name, nested, below = key.partition("__")
            if name not in known:
                raise _invalid(name, self if nested else type(self).__name__)
            if nested:
                known[name].set_params(**{below: value})
            else:
                setattr(self, key, value)
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{key}={value}' for key, value in self.get_params(deep=False).items())})"


class _ClassifierMixin:
    """Marks what classifies."""


class _RegressorMixin:
    """Marks what finds numbers."""


class _TransformerMixin:
    """Marks what changes data."""


class NotFittedError(ValueError, AttributeError):
    """A model is used that was not trained."""


def _accuracy_score(y_true: Any, y_pred: Any) -> Any:
    """The part of predictions that are right."""
    return np.average(np.asarray(y_true) == np.asarray(y_pred))


def _mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """The mean of the squares of differences."""
    return np.average((np.squeeze(y_true) - np.squeeze(y_pred)) ** 2)


def _train_test_split(*arrays: Any, test_size: Any = None, train_size: Any = None, random_state: Any = None) -> tuple[Any, ...]:
    """Rows to train with and rows to test with of each array, by one permutation; three quarters to train with unless told."""
    if train_size is None:
        train_size = 0.75 if test_size is None else 1 - test_size
    rows = arrays[0].shape[0]
    np.random.seed(random_state)
    order = np.random.permutation(rows)
    cut = int(train_size * rows)
    return tuple(array.take(part, axis=0) for array in arrays for part in (order[:cut], order[cut:]))


def _theirs() -> dict[str, Any]:
    """The same of scikit-learn."""
    from sklearn import base, exceptions, metrics, model_selection

    places = {
        base: ("BaseEstimator", "ClassifierMixin", "RegressorMixin", "TransformerMixin"),
        exceptions: ("NotFittedError",),
        metrics: ("accuracy_score", "log_loss", "mean_squared_error"),
        model_selection: ("train_test_split",),
    }
    return {name: getattr(place, name) for place, names in places.items() for name in names}


# Without scikit-learn there is none.
log_loss: Any = None

_OURS = {
    "BaseEstimator": Parameters,
    "ClassifierMixin": _ClassifierMixin,
    "RegressorMixin": _RegressorMixin,
    "TransformerMixin": _TransformerMixin,
    "NotFittedError": NotFittedError,
    "accuracy_score": _accuracy_score,
    "log_loss": log_loss,
    "mean_squared_error": _mean_squared_error,
    "train_test_split": _train_test_split,
}
# The environment says whether scikit-learn's own are wanted.
for _name, _thing in (_theirs() if os.environ.get("TENSORFLOW_SKLEARN") else _OURS).items():
    learn(_MODULE, _name, shown=_name == "NotFittedError")(_thing)
