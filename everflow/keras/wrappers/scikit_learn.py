"""Models as estimators of scikit-learn."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.api import internal, public
from everflow.keras.model import Model
from everflow.keras.numpy_arrays import to_categorical
from everflow.keras.sequential import Sequential
from everflow.keras.serialization import has_arg


@internal("keras.wrappers.scikit_learn.BaseWrapper")
class BaseWrapper:
    """Makes a model with `build_fn` whenever it is fitted; arguments go to `build_fn`, `fit` and `predict` by their names."""

    model: Any

    def __init__(self, build_fn: Any = None, **sk_params: Any) -> None:
        self.build_fn = build_fn
        self.sk_params = sk_params
        self.check_params(sk_params)

    def _builder(self) -> Any:
        """What makes the model: the given function or object, or this object's own `__call__`."""
        if self.build_fn is None:
            return type(self).__call__  # type: ignore[attr-defined]
        if not hasattr(self.build_fn, "__code__"):
            return type(self.build_fn).__call__
        return self.build_fn

    def check_params(self, params: Any) -> None:
        """Raises for arguments that nothing takes."""
        takers = [Sequential.fit, Sequential.predict, Sequential.predict_classes, Sequential.evaluate, self._builder()]
        for name in params:
            if name != "nb_epoch" and not any(has_arg(taker, name) for taker in takers):
                raise ValueError(f"{name} is not a legal parameter")

    def get_params(self, **params: Any) -> dict[str, Any]:
        """The arguments, as scikit-learn asks for them."""
        return {**copy.deepcopy(self.sk_params), "build_fn": self.build_fn}

    def set_params(self, **params: Any) -> Any:
        """Sets arguments, as scikit-learn does."""
        self.check_params(params)
        self.sk_params.update(params)
        return self

    def fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """Makes a model and trains it; returns the history."""
        if self.build_fn is None:
            self.model = self(**self.filter_sk_params(self._builder()))  # type: ignore[operator]
        else:
            self.model = self.build_fn(**self.filter_sk_params(self._builder()))
        y = self._targets(y)
        arguments = copy.deepcopy(self.filter_sk_params(Sequential.fit))
        return self.model.fit(x, y, **{**arguments, **kwargs})

    def _targets(self, y: Any) -> Any:
        """Classes as the model's loss wants them."""
        by_row = getattr(self.model.loss, "__name__", self.model.loss) == "categorical_crossentropy"
        return to_categorical(y) if by_row and len(y.shape) != 2 else y

    def filter_sk_params(self, fn: Callable[..., Any], override: Any = None) -> dict[str, Any]:
        """The arguments that a function takes."""
        return {**{name: value for name, value in self.sk_params.items() if has_arg(fn, name)}, **(override or {})}


@public("keras.wrappers.scikit_learn.KerasClassifier")
class KerasClassifier(BaseWrapper):
    """A classifier; classes may be called anything."""

    classes_: Any

    def fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """Makes a model and trains it on classes: a column of them, or a row of zeros and a one for each sample."""
        labels = np.array(y)
        columns = labels.shape[1:]
        if labels.ndim not in (1, 2) or columns == (0,):
            raise ValueError("Invalid shape for y: " + str(labels.shape))
        if columns in ((), (1,)):
            self.classes_ = np.unique(labels)
            labels = np.searchsorted(self.classes_, labels)
        else:
            self.classes_ = np.arange(*columns)
        self.n_classes_ = len(self.classes_)
        return super().fit(x, labels, **kwargs)

    def predict(self, x: Any, **kwargs: Any) -> Any:
        """The likeliest class of each sample."""
        return self.classes_[self.model.predict_classes(x, **self.filter_sk_params(Sequential.predict_classes, kwargs))]

    def predict_proba(self, x: Any, **kwargs: Any) -> Any:
        """The probability of each class."""
        found = self.model.predict(x, **self.filter_sk_params(Model.predict, kwargs))
        # Two classes have one output.
        return np.hstack([1 - found, found]) if found.shape[1] == 1 else found

    def score(self, x: Any, y: Any, **kwargs: Any) -> float:
        """The accuracy."""
        y = np.searchsorted(self.classes_, y)
        kwargs = self.filter_sk_params(Sequential.evaluate, kwargs)
        outputs = self.model.evaluate(x, self._targets(y), **kwargs)
        for name, output in zip(self.model.metrics_names, outputs if isinstance(outputs, list) else [outputs]):
            if name in ("accuracy", "acc"):
                return output
        raise ValueError(
            'The model is not configured to compute accuracy. You should pass `metrics=["accuracy"]` to the `model.compile()` method.'
        )


@public("keras.wrappers.scikit_learn.KerasRegressor")
class KerasRegressor(BaseWrapper):
    """A regressor."""

    def predict(self, x: Any, **kwargs: Any) -> Any:
        """The outputs for samples."""
        return np.squeeze(self.model.predict(x, **self.filter_sk_params(Sequential.predict, kwargs)))

    def score(self, x: Any, y: Any, **kwargs: Any) -> float:
        """The loss, negative: what is larger is better."""
        loss = self.model.evaluate(x, y, **self.filter_sk_params(Sequential.evaluate, kwargs))
        return -loss[0] if isinstance(loss, list) else -loss
