"""MetricSpec: a metric, and which predictions, labels and weights it is of."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from everflow.contrib.learn.publishing import learn
from everflow.platform import logging

# What arguments of metric functions may be called; the first is the name that they should have.
_SPELLINGS = {
    "labels": ("labels", "label", "targets", "target"),
    "predictions": ("predictions", "prediction", "logits", "logit"),
    "weights": ("weights", "weight"),
}


def _arguments(function: Any) -> tuple[str, ...]:
    """The arguments that are left to give, as inspect sees them; a method's own object counts."""
    if isinstance(function, functools.partial) or (hasattr(function, "func") and hasattr(function, "keywords")):
        return tuple(name for name in _arguments(function.func) if name not in (function.keywords or {}))
    return tuple(inspect.getfullargspec(function).args)


def _spelled(kind: str, name: str, arguments: tuple[str, ...], required: bool) -> str | None:
    """What a function calls its labels, predictions or weights."""
    known = _SPELLINGS[kind]
    found = [argument for argument in arguments if argument in known]
    if len(found) > 1:
        raise ValueError(f"Ambiguous arguments {set(found)}, must provide only one of {set(known)}.")
    if not found:
        if required:
            raise ValueError(f"{set(known)} missing from {name}({arguments}).")
        return None
    if found[0] != kind:
        logging.warning("Canonical arg %s missing from %s(%s), using %s.", kind, name, arguments, found[0])
    return found[0]


def _name_of(function: Any) -> str:
    inner = getattr(function, "func", None)
    return getattr(function, "__name__", None) or getattr(inner, "__name__", None) or str(function)


def _by_name(function: Any, name: str, needs_labels: bool, needs_weights: bool) -> Callable[..., Any]:
    """A function of `labels`, `predictions` and `weights` that calls one which may spell them otherwise, or lack labels."""
    arguments = _arguments(function)
    labels_name = _spelled("labels", name, arguments, needs_labels)
    predictions_name = _spelled("predictions", name, arguments, False)
    weights_name = _spelled("weights", name, arguments, needs_weights)

    def metric(_sentinel: Any = None, labels: Any = None, predictions: Any = None, weights: Any = None) -> Any:
        if _sentinel is not None:
            raise ValueError("`metric_fn` requires named args: `labels`, `predictions`, and optionally `weights`.")
        placed: list[Any] = []
        named: dict[str, Any] = {}
        if labels_name is not None:
            # Where predictions have no known name, they are the other of the first two arguments.
            if predictions_name is None and labels_name == arguments[0]:
                placed.append(labels)
            else:
                named[labels_name] = labels
        if predictions_name is None:
            placed.append(predictions)
        else:
            named[predictions_name] = predictions
        if weights is not None:
            if weights_name is None:
                raise TypeError(f"{name}({arguments}) takes no weights.")
            named[weights_name] = weights
        return function(*placed, **named)

    return metric


@learn("metric_spec", "MetricSpec", shown=True)
class MetricSpec:
    """A metric, and which predictions, labels and weights it is of.

    estimator.evaluate(input_fn=..., metrics={"accuracy": MetricSpec(tf.metrics.accuracy, prediction_key="classes")})
    """

    def __init__(self, metric_fn: Any, prediction_key: Any = None, label_key: Any = None, weight_key: Any = None) -> None:
        self._metric_fn_name = _name_of(metric_fn)
        self._metric_fn = _by_name(metric_fn, self._metric_fn_name, label_key is not None, weight_key is not None)
        self._prediction_key, self._label_key, self._weight_key = prediction_key, label_key, weight_key

    @property
    def metric_fn(self) -> Any:
        """The metric as a function of `labels`, `predictions` and `weights`."""
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

    def __str__(self) -> str:
        keys = f"prediction_key={self.prediction_key}, label_key={self.label_key}, weight_key={self.weight_key}"
        return f"MetricSpec(metric_fn={self._metric_fn_name}, {keys})"

    def create_metric_ops(self, inputs: Any, labels: Any, predictions: Any) -> Any:
        """The metric's value and update op."""
        prediction = _chosen("prediction", self.prediction_key, predictions)
        label = _chosen("label", self.label_key, labels)
        try:
            weights = inputs[self.weight_key] if self.weight_key else None
            return self.metric_fn(labels=label, predictions=prediction, weights=weights)
        except Exception as error:
            logging.error(f"Could not create metric ops for {self}, {error}.")
            raise


def _chosen(kind: str, key: Any, values: Any) -> Any:
    if key:
        if not isinstance(values, dict):
            raise ValueError(
                f"MetricSpec with {kind}_key specified requires {kind}s dict, got {values}.\n"
                f"You must not provide a {kind}_key if you only have a single Tensor as {kind}s."
            )
        if key not in values:
            raise KeyError(f"Key '{key}' missing from {values.keys()}.")
        return values[key]
    if not isinstance(values, dict):
        return values
    if len(values) != 1:
        raise ValueError(f"MetricSpec without specified {kind}_key requires {kind}s tensor or single element dict, got {values}")
    return next(iter(values.values()))


def metric_ops(metrics: Any, features: Any, labels: Any, predictions: Any) -> dict[str, Any]:
    """The ops of the metrics that an evaluation asks for: specs, or functions named `name` or `(name, which predictions)`."""
    found: dict[str, Any] = {}
    only_label = next(iter(labels.values())) if isinstance(labels, dict) and len(labels) == 1 else labels
    for name, metric in sorted((metrics or {}).items()):
        if isinstance(metric, MetricSpec):
            found[name] = metric.create_metric_ops(features, labels, predictions)
            continue
        logging.warning(
            "Please specify metrics using MetricSpec. Using bare functions or (key, fn) tuples is deprecated and support for it will be "
            "removed on Oct 1, 2016."
        )
        if not isinstance(name, tuple):
            if isinstance(predictions, dict):
                raise ValueError(
                    f"Metrics passed provide only name, no prediction, but predictions are dict. Metrics: {metrics}, Labels: {only_label}."
                )
            found[name] = metric(predictions, only_label)
            continue
        if len(name) != 2:
            raise ValueError(f"Invalid metric for {name}. It returned a tuple with len {len(name)}, expected 2.")
        if not isinstance(predictions, dict):
            raise ValueError(
                f"Metrics passed provide (name, prediction), but predictions are not dict. Metrics: {metrics}, Predictions: {predictions}."
            )
        label = labels[name[1]] if isinstance(labels, dict) and name[1] in labels else only_label
        found[name[0]] = metric(predictions[name[1]], label)
    return found
