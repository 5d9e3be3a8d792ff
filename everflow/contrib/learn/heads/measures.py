"""Metrics of classifications that heads share."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.contrib.learn.problem_types import MetricKey
from everflow.ops.math.weights_broadcast import broadcast_weights
from everflow.platform import logging


def as_floats(weights: Any) -> Any:
    """Weights as floats, where there are any."""
    if weights is None:
        return None
    with tf.name_scope(None, "float_weights", (weights,)) as name:
        return tf.cast(weights, tf.float32, name=name)


def _of_class(values: Any, weights: Any, class_id: int | None) -> tuple[Any, Any]:
    """Values and weights of one class, or of all."""
    weights = as_floats(weights)
    if weights is not None:
        weights = broadcast_weights(weights, values)
    if class_id is None:
        return values, weights
    return values[:, class_id], None if weights is None else weights[:, class_id]


def mean(values: Any, weights: Any = None, class_id: int | None = None) -> Any:
    """The weighted mean of values, or of those of a class."""
    return tf.metrics.mean(*_of_class(tf.cast(values, tf.float32), weights, class_id))


def share_of_class(ids: Any, weights: Any, class_id: int) -> Any:
    """How many of some classes are this one."""
    is_class = tf.equal(tf.cast(class_id, tf.int32), tf.cast(ids, tf.int32))
    return tf.metrics.mean(tf.where(is_class, tf.ones_like(ids), tf.zeros_like(ids)), weights=weights)


def area(predictions: Any, labels: Any, weights: Any = None, class_id: int | None = None, curve: str = "ROC") -> Any:
    """The area under a curve, of all classes or of one."""
    predictions = tf.cast(predictions, tf.float32)
    if labels.dtype.base_dtype != tf.bool:
        logging.warning("Casting %s labels to bool.", labels.dtype)
        labels = tf.cast(labels, tf.bool)
    if class_id is not None:
        labels = labels[:, class_id]
    predictions, weights = _of_class(predictions, weights, class_id)
    return tf.metrics.auc(labels, predictions, weights, curve=curve)


def at_threshold(predictions: Any, labels: Any, weights: Any, threshold: float) -> dict[str, Any]:
    """Accuracy, precision and recall of predictions above a threshold."""
    above = tf.cast(tf.greater_equal(predictions, threshold), tf.float32)
    precision = tf.metrics.precision_at_thresholds(labels, predictions, (threshold,), as_floats(weights))
    recall = tf.metrics.recall_at_thresholds(labels, predictions, (threshold,), as_floats(weights))
    return {
        MetricKey.ACCURACY_MEAN % threshold: tf.metrics.accuracy(labels, above, weights),
        MetricKey.PRECISION_MEAN % threshold: tuple(map(tf.squeeze, precision)),
        MetricKey.RECALL_MEAN % threshold: tuple(map(tf.squeeze, recall)),
    }
