"""What model functions of tf.contrib.learn give back, and the metrics that evaluations are asked for."""

from __future__ import annotations

import collections
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.estimator.arguments import parameters_of
from everflow.estimator.mode_keys import ModeKeys as NewModeKeys
from everflow.estimator.spec import EstimatorSpec


@public("contrib.learn.ModeKeys", "contrib.learn.estimators.model_fn.ModeKeys")
class ModeKeys:
    """Training, evaluation or inference."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"

    @classmethod
    def validate(cls, key: str) -> None:
        """Raises for what is no mode."""
        if key not in (cls.TRAIN, cls.EVAL, cls.INFER):
            raise ValueError(f"Invalid mode {key}.")


@public("contrib.learn.ModelFnOps", "contrib.learn.estimators.model_fn.ModelFnOps")
class ModelFnOps(
    collections.namedtuple(
        "ModelFnOps",
        [
            "predictions",
            "loss",
            "train_op",
            "eval_metric_ops",
            "output_alternatives",
            "training_chief_hooks",
            "training_hooks",
            "scaffold",
            "mode",
        ],
    )
):
    """The ops of a model in one mode."""

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Any = None,
        output_alternatives: Any = None,
        training_chief_hooks: Any = None,
        training_hooks: Any = None,
        scaffold: Any = None,
    ) -> ModelFnOps:
        ModeKeys.validate(mode)
        if train_op is None and mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        if loss is None and mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        if predictions is None and mode in (ModeKeys.INFER, ModeKeys.EVAL):
            raise ValueError("Missing predictions.")
        return super().__new__(
            cls,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=eval_metric_ops or {},
            output_alternatives=output_alternatives,
            training_chief_hooks=tuple(training_chief_hooks or ()),
            training_hooks=tuple(training_hooks or ()),
            scaffold=scaffold,
            mode=mode,
        )

    def estimator_spec(self, default_serving_output_alternative_key: Any = None) -> Any:
        """The same as an EstimatorSpec."""
        del default_serving_output_alternative_key
        predicts = self.mode == NewModeKeys.PREDICT
        return EstimatorSpec(
            mode=self.mode,
            predictions=self.predictions,
            loss=None if predicts else self.loss,
            train_op=self.train_op if self.mode == NewModeKeys.TRAIN else None,
            eval_metric_ops=self.eval_metric_ops,
            training_chief_hooks=self.training_chief_hooks,
            training_hooks=self.training_hooks,
            scaffold=self.scaffold,
        )


@public("contrib.learn.MetricSpec")
class MetricSpec:
    """A metric, and which predictions, labels and weights it is of."""

    def __init__(self, metric_fn: Any, prediction_key: Any = None, label_key: Any = None, weight_key: Any = None) -> None:
        self._metric_fn, self._prediction_key, self._label_key, self._weight_key = metric_fn, prediction_key, label_key, weight_key

    @property
    def metric_fn(self) -> Any:
        """The function of predictions, labels and weights."""
        return self._metric_fn

    @property
    def prediction_key(self) -> Any:
        """Which predictions."""
        return self._prediction_key

    @property
    def label_key(self) -> Any:
        """Which labels."""
        return self._label_key

    @property
    def weight_key(self) -> Any:
        """Which feature has the weights."""
        return self._weight_key

    def create_metric_ops(self, inputs: Any, labels: Any, predictions: Any) -> Any:
        """The metric's value and update op."""
        given = {
            "predictions": _chosen("prediction", self._prediction_key, predictions),
            "labels": _chosen("label", self._label_key, labels),
        }
        if self._weight_key is not None:
            given["weights"] = inputs[self._weight_key]
        taken = parameters_of(self._metric_fn)
        if "predictions" in taken:
            named = {key: value for key, value in given.items() if key in taken}
            for old, new in (("targets", "labels"), ("target", "labels"), ("weight", "weights")):
                if old in taken and new in given:
                    named[old] = given[new]
            return self._metric_fn(**named)
        return self._metric_fn(given["predictions"], given["labels"])


def _chosen(name: str, key: Any, values: Any) -> Any:
    if not isinstance(values, dict):
        return values
    if key is None:
        if len(values) != 1:
            raise ValueError(f"MetricSpec without specified {name}_key requires {name}s tensor or single element dictionary, got {values}")
        return next(iter(values.values()))
    if key not in values:
        raise ValueError(f"MetricSpec with {name}_key='{key}' is incompatible with {name}s dict: {list(values)}")
    return values[key]


def asked_metrics(metrics: Any, features: Any, labels: Any, predictions: Any) -> dict[str, Any]:
    """The ops of metrics that an evaluation asks for."""
    found: dict[str, Any] = {}
    inputs = features if isinstance(features, dict) else {"": features}
    for name, metric in (metrics or {}).items():
        if isinstance(metric, MetricSpec):
            found[name] = metric.create_metric_ops(inputs, labels, predictions)
            continue
        key = None
        if isinstance(name, tuple):
            name, key = name
        made = metric(_chosen("prediction", key, predictions), labels)
        found[name] = made if isinstance(made, tuple) else (made, tf.no_op())
    return found
