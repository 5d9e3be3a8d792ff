"""Metrics that several heads share."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.estimator.heads.keys import MetricKeys
from everflow.graph.scopes import name_scope
from everflow.ops.math.weights_broadcast import broadcast_weights


def average_loss(unreduced_loss: Any, weights: Any) -> Any:
    """The mean loss of examples."""
    return tf.metrics.mean(values=unreduced_loss, weights=weights, name=MetricKeys.LOSS_MEAN)


def mean_of(values: Any, weights: Any, name: str) -> Any:
    """The weighted mean of values of each example."""
    with name_scope(None, name, (values, weights)) as scope:
        values = tf.cast(values, tf.float32)
        if weights is not None:
            weights = broadcast_weights(weights, values)
        return tf.metrics.mean(values, weights=weights, name=scope)


def baseline_of(mean: Any) -> Any:
    """The accuracy of always saying the more frequent class."""
    with name_scope(None, MetricKeys.ACCURACY_BASELINE, mean):
        value, update = mean
        return (tf.maximum(value, 1.0 - value, name="value"), tf.maximum(update, 1 - update, name="update_op"))


def area(labels: Any, predictions: Any, weights: Any, curve: str, name: str) -> Any:
    """The area under a curve."""
    with name_scope(None, name, (predictions, labels, weights)) as scope:
        predictions = tf.cast(predictions, tf.float32)
        if labels.dtype.base_dtype != tf.bool:
            labels = tf.cast(labels, tf.bool)
        if weights is not None:
            weights = broadcast_weights(weights, predictions)
        return tf.metrics.auc(labels=labels, predictions=predictions, weights=weights, curve=curve, name=scope)


def at_threshold(labels: Any, predictions: Any, weights: Any, threshold: float, kind: str, name: str) -> Any:
    """Accuracy, precision or recall where probabilities from the threshold on count as positive."""
    with name_scope(None, name, (predictions, labels, weights)) as scope:
        if kind == "accuracy":
            above = tf.cast(tf.greater_equal(predictions, threshold), tf.float32)
            return tf.metrics.accuracy(labels=labels, predictions=above, weights=weights, name=scope)
        function = tf.metrics.precision_at_thresholds if kind == "precision" else tf.metrics.recall_at_thresholds
        value, update = function(labels=labels, predictions=predictions, thresholds=(threshold,), weights=weights, name=scope)
        return tf.squeeze(value), tf.squeeze(update)


def checked_thresholds(thresholds: Any) -> tuple[Any, ...]:
    """Thresholds between 0 and 1."""
    thresholds = tuple(thresholds) if thresholds else ()
    for threshold in thresholds:
        if threshold <= 0.0 or threshold >= 1.0:
            raise ValueError(f"thresholds not in (0, 1): {(thresholds,)}.")
    return thresholds


THRESHOLD_KINDS = (
    ("accuracy", MetricKeys.ACCURACY_AT_THRESHOLD),
    ("precision", MetricKeys.PRECISION_AT_THRESHOLD),
    ("recall", MetricKeys.RECALL_AT_THRESHOLD),
)
