"""Metrics of classes: the mean over them of how well each was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.metrics.streaming import collected, metric_variable, refuse_eager
from everflow.ops.math.confusion_matrix import confusion_matrix


def _flat(tensor: Any) -> Any:
    return tf.reshape(tensor, [-1]) if (tensor.get_shape().ndims or 0) > 1 else tensor


@internal("ops.metrics_impl._streaming_confusion_matrix")
def streaming_confusion_matrix(labels: Any, predictions: Any, num_classes: Any, weights: Any = None) -> tuple[Any, Any]:
    """The confusion matrix of all batches so far."""
    total = metric_variable([num_classes, num_classes], dtypes.float64, name="total_confusion_matrix")
    predictions, labels = tf.cast(predictions, dtypes.int64), tf.cast(labels, dtypes.int64)
    num_classes = tf.cast(num_classes, dtypes.int64)
    predictions, labels = _flat(predictions), _flat(labels)
    if weights is not None:
        weights = _flat(tf.convert_to_tensor(weights))
    current = confusion_matrix(labels, predictions, num_classes, weights=weights, dtype=dtypes.float64)
    return total, tf.assign_add(total, current)


@public("metrics.mean_iou")
def mean_iou(
    labels: Any,
    predictions: Any,
    num_classes: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """What labels and predictions of a class share, as a part of what either has; the mean over the classes that occur."""
    refuse_eager("mean_iou")
    with tf.variable_scope(name, "mean_iou", (predictions, labels, weights)):
        tf.convert_to_tensor(predictions).get_shape().assert_is_compatible_with(tf.convert_to_tensor(labels).get_shape())
        total, update_op = streaming_confusion_matrix(labels, predictions, num_classes, weights)
        rows = tf.cast(tf.reduce_sum(total, 0), dtypes.float32)
        columns = tf.cast(tf.reduce_sum(total, 1), dtypes.float32)
        shared = tf.cast(tf.diag_part(total), dtypes.float32)
        either = rows + columns - shared
        number = tf.reduce_sum(tf.cast(tf.not_equal(either, 0), dtypes.float32))
        either = tf.where(tf.greater(either, 0), either, tf.ones_like(either))
        parts = tf.div(shared, either)
        value = tf.where(tf.greater(number, 0), tf.reduce_sum(parts, name="mean_iou") / number, 0)
        return collected(value, update_op, metrics_collections, updates_collections)


@public("metrics.mean_per_class_accuracy")
def mean_per_class_accuracy(
    labels: Any,
    predictions: Any,
    num_classes: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """How often each class was predicted when it was right; the mean over classes."""
    refuse_eager("mean_per_class_accuracy")
    with tf.variable_scope(name, "mean_accuracy", (predictions, labels, weights)):
        labels, predictions = _flat(tf.cast(labels, dtypes.int64)), _flat(tf.convert_to_tensor(predictions))
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
        total, count = (metric_variable([num_classes], dtypes.float32, name=part) for part in ("total", "count"))
        ones = tf.ones([tf.size(labels)], dtypes.float32)
        if labels.dtype != predictions.dtype:
            predictions = tf.cast(predictions, labels.dtype)
        right = tf.cast(tf.equal(predictions, labels), dtypes.float32)
        if weights is not None:
            weights = tf.cast(_flat(tf.convert_to_tensor(weights)), dtypes.float32)
            right *= weights
            ones *= weights
        new_total = tf.scatter_add(total, labels, ones)
        new_count = tf.scatter_add(count, labels, right)
        value = tf.reduce_mean(tf.div_no_nan(count, tf.maximum(total, 0)), name="mean_accuracy")
        update_op = tf.div_no_nan(new_count, tf.maximum(new_total, 0), name="update_op")
        return collected(value, update_op, metrics_collections, updates_collections)
