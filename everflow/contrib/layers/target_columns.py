"""What a model is trained for: the loss, predictions and metrics of regressions and classifications."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.layers.publishing import layer
from everflow.contrib.learn.problem_types import ProblemType as _Kinds

_HOME = "contrib.layers.python.layers.target_column."


@public(_HOME + "ProblemType", "contrib.slim.ProblemType")
def ProblemType() -> type[_Kinds]:
    """The kinds of problems."""
    return _Kinds


class TargetColumn:
    """Labels, the weights of examples, and the loss between labels and logits."""

    def __init__(
        self,
        loss_fn: Callable[[Any, Any], Any],
        num_label_columns: int,
        label_name: str | None,
        weight_column_name: str | None,
        problem_type: int,
    ) -> None:
        if not num_label_columns:
            raise ValueError("num_label_columns must be greater than 0.")
        self._loss_fn = loss_fn
        self._num_label_columns = num_label_columns
        self._label_name = label_name
        self._weight_column_name = weight_column_name
        self._problem_type = problem_type

    @property
    def label_name(self) -> str | None:
        """The name of the labels where there are several tensors of them."""
        return self._label_name

    @property
    def weight_column_name(self) -> str | None:
        """The feature with the weights of examples."""
        return self._weight_column_name

    @property
    def num_label_columns(self) -> int:
        """How many logits an example has."""
        return self._num_label_columns

    @property
    def problem_type(self) -> int:
        """The kind of problem, one of those of tf.contrib.learn.ProblemType."""
        return self._problem_type

    def get_weight_tensor(self, features: Any) -> Any:
        """The weights of examples, if they have any."""
        if not self._weight_column_name:
            return None
        return tf.reshape(tf.cast(features[self._weight_column_name], tf.float32), shape=(-1,))

    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Any:
        """What logits say."""
        raise TypeError(f"{type(self).__name__} makes no predictions.")

    def _label(self, target: Any) -> Any:
        return target[self._label_name] if isinstance(target, dict) else target

    def _losses(self, logits: Any, target: Any, features: Any) -> tuple[Any, Any]:
        losses = self._loss_fn(logits, self._label(target))
        weights = self.get_weight_tensor(features)
        return (losses, None) if weights is None else (tf.reshape(losses, shape=(-1,)) * weights, weights)

    def training_loss(self, logits: Any, target: Any, features: Any, name: str = "training_loss") -> Any:
        """The mean of the weighted losses: small weights make small steps."""
        losses, _ = self._losses(logits, target, features)
        return tf.reduce_mean(losses, name=name)

    def loss(self, logits: Any, target: Any, features: Any) -> Any:
        """The weighted mean of the losses."""
        losses, weights = self._losses(logits, target, features)
        if weights is None:
            return tf.reduce_mean(losses, name="loss")
        return tf.divide(tf.reduce_sum(losses), tf.cast(tf.reduce_sum(weights), tf.float32), name="loss")

    def _loss_metric(self, features: Any, logits: Any, labels: Any) -> dict[Any, Any]:
        return {"loss": tf.contrib.metrics.streaming_mean(self.loss(logits, labels, features))}


def _measured(predictions: Any, labels: Any, metrics: dict[Any, Any], weights: Any) -> dict[Any, Any]:
    found = {}
    for name, metric in metrics.items():
        parameters = inspect.signature(metric).parameters
        takes_weights = "weights" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        found[name] = metric(predictions, labels, weights=weights) if takes_weights else metric(predictions, labels)
    return found


class RegressionTargetColumn(TargetColumn):
    """A number, or several, and squared errors."""

    def __init__(self, loss_fn: Any, label_name: str | None, weight_column_name: str | None, label_dimension: int) -> None:
        super().__init__(loss_fn, label_dimension, label_name, weight_column_name, _Kinds.LINEAR_REGRESSION)

    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Any:
        """The logits themselves."""
        return tf.squeeze(logits, axis=[1]) if self.num_label_columns == 1 else logits

    def get_eval_ops(self, features: Any, logits: Any, labels: Any, metrics: dict[Any, Any] | None = None) -> dict[Any, Any]:
        """The streaming loss, and the metrics of predictions."""
        found = self._loss_metric(features, logits, labels)
        if metrics:
            found.update(_measured(self.logits_to_predictions(logits), self._label(labels), metrics, self.get_weight_tensor(features)))
        return found


class MultiClassTargetColumn(TargetColumn):
    """One of some classes."""

    def __init__(self, loss_fn: Any, n_classes: int, label_name: str | None, weight_column_name: str | None) -> None:
        if n_classes < 2:
            raise ValueError("n_classes must be >= 2")
        super().__init__(loss_fn, 1 if n_classes == 2 else n_classes, label_name, weight_column_name, _Kinds.CLASSIFICATION)

    def _both_classes(self, logits: Any) -> Any:
        """A logit for each of two classes; that of the first is zero."""
        return tf.concat([tf.zeros_like(logits), logits], 1) if self.num_label_columns == 1 else logits

    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Any:
        """The likeliest class, or the probabilities of all."""
        logits = self._both_classes(logits)
        return tf.nn.softmax(logits) if proba else tf.argmax(logits, 1)

    def _default_metrics(self) -> dict[Any, Any]:
        return get_default_binary_metrics_for_eval(thresholds=[0.5]) if self.num_label_columns == 1 else {}

    def get_eval_ops(self, features: Any, logits: Any, labels: Any, metrics: dict[Any, Any] | None = None) -> dict[Any, Any]:
        """The streaming loss and accuracy, for two classes also what thresholds give, and the metrics asked for.

        A metric's name may be a pair with "classes" or "probabilities", which says what it measures.
        """
        found = self._loss_metric(features, logits, labels)
        labels, weights = self._label(labels), self.get_weight_tensor(features)
        of_classes: dict[Any, Any] = {}
        of_probabilities: dict[Any, Any] = {}
        for name, metric in (metrics or {}).items():
            if not isinstance(name, tuple):
                of_classes[name] = metric
                continue
            if len(name) != 2:
                raise ValueError(f"Ignoring metric {name}. It returned a tuple with len {len(name)}, expected 2.")
            if name[1] not in ("classes", "probabilities"):
                raise ValueError(f"Ignoring metric {name}. The 2nd element of its name should be either 'classes' or 'probabilities'.")
            (of_classes if name[1] == "classes" else of_probabilities)[name[0]] = metric
        of_classes.setdefault("accuracy", tf.contrib.metrics.streaming_accuracy)
        found.update(_measured(self.logits_to_predictions(logits), labels, of_classes, weights))
        of_probabilities.update(self._default_metrics())
        if of_probabilities:
            probabilities = MultiClassTargetColumn.logits_to_predictions(self, logits, proba=True)
            labels = tf.to_float(labels) if self.num_label_columns == 1 else labels
            found.update(_measured(probabilities, labels, of_probabilities, weights))
        return found


class BinarySvmTargetColumn(MultiClassTargetColumn):
    """One of two classes, by the side of a plane."""

    def __init__(self, label_name: str | None, weight_column_name: str | None) -> None:
        super().__init__(_hinge_loss, 2, label_name, weight_column_name)

    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Any:
        """The class of each example."""
        if proba:
            raise ValueError("logits to probabilities is not supported for _BinarySvmTargetColumn")
        return super().logits_to_predictions(logits)


def _hinge_loss(logits: Any, target: Any) -> Any:
    if target.get_shape().ndims == 1:
        target = tf.expand_dims(target, axis=1)
    return tf.contrib.losses.hinge_loss(logits, target)


def _squared_errors(logits: Any, target: Any) -> Any:
    """Squares of differences; labels may lack the last dimension."""
    target = tf.convert_to_tensor(target)
    if target.get_shape().ndims == 1:
        target = tf.expand_dims(target, axis=1)
    logits.get_shape().assert_is_compatible_with(target.get_shape())
    return tf.square(logits - tf.to_float(target))


def _two_class_losses(logits: Any, target: Any) -> Any:
    target = tf.convert_to_tensor(target)
    if target.get_shape().ndims == 1:
        target = tf.expand_dims(target, axis=1)
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.to_float(target), logits=logits)


def _class_losses(logits: Any, target: Any) -> Any:
    target = tf.convert_to_tensor(target)
    if not target.dtype.is_integer:
        raise ValueError(f"Target's dtype should be integer Instead got {target.dtype}.")
    if target.get_shape().ndims == 2:
        target = tf.squeeze(target, axis=[1])
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)


@layer("regression_target")
def regression_target(label_name: str | None = None, weight_column_name: str | None = None, label_dimension: int = 1) -> TargetColumn:
    """A regression by squared errors."""
    return RegressionTargetColumn(_squared_errors, label_name, weight_column_name, label_dimension)


@layer("multi_class_target")
def multi_class_target(n_classes: int, label_name: str | None = None, weight_column_name: str | None = None) -> TargetColumn:
    """A classification by cross entropy: of a sigmoid for two classes, else of a softmax."""
    if n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification.")
    return MultiClassTargetColumn(_two_class_losses if n_classes == 2 else _class_losses, n_classes, label_name, weight_column_name)


@public(_HOME + "binary_svm_target", "contrib.slim.binary_svm_target")
def binary_svm_target(label_name: str | None = None, weight_column_name: str | None = None) -> TargetColumn:
    """A classification by hinge loss."""
    return BinarySvmTargetColumn(label_name, weight_column_name)


def _of_second(measure: Callable[..., Any]) -> Callable[..., Any]:
    """A metric of the second of two probabilities."""

    def measured(predictions: Any, labels: Any, weights: Any = None) -> Any:
        if predictions.get_shape().ndims == 2 and predictions.get_shape().as_list()[1] == 2:
            predictions = predictions[:, 1]
        return measure(predictions, labels, None if weights is None else tf.to_float(weights))

    return measured


def _at_threshold(measure: Callable[..., Any], threshold: float, predictions: Any, labels: Any, weights: Any) -> Any:
    value, update = measure(predictions, labels=labels, thresholds=[threshold], weights=weights)
    return tf.squeeze(value), update


def _accuracy_at(threshold: float, predictions: Any, labels: Any, weights: Any) -> Any:
    above = tf.to_float(tf.greater_equal(predictions, threshold))
    return tf.contrib.metrics.streaming_accuracy(predictions=above, labels=labels, weights=weights)


@public(_HOME + "get_default_binary_metrics_for_eval", "contrib.slim.get_default_binary_metrics_for_eval")
def get_default_binary_metrics_for_eval(thresholds: Any) -> dict[str, Any]:
    """Metrics of the probabilities of two classes: means, area under the curve, and what each threshold gives."""
    streaming = tf.contrib.metrics
    mean_label = _of_second(lambda predictions, labels, weights: streaming.streaming_mean(labels, weights=weights))
    found = {
        "labels/prediction_mean": _of_second(lambda predictions, labels, weights: streaming.streaming_mean(predictions, weights=weights)),
        "labels/actual_target_mean": mean_label,
        "accuracy/baseline_target_mean": mean_label,
        "auc": _of_second(lambda predictions, labels, weights: streaming.streaming_auc(predictions, labels, weights=weights)),
    }
    for threshold in thresholds:
        found[f"accuracy/threshold_{threshold:f}_mean"] = _of_second(functools.partial(_accuracy_at, threshold))
        for kind, measure in (
            ("precision", streaming.streaming_precision_at_thresholds),
            ("recall", streaming.streaming_recall_at_thresholds),
        ):
            found[f"{kind}/positive_threshold_{threshold:f}_mean"] = _of_second(functools.partial(_at_threshold, measure, threshold))
    return found
