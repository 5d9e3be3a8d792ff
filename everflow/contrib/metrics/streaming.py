"""Metrics over batches that take predictions first, and maps of metrics."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import everflow as tf
from everflow.contrib.metrics.publishing import metric
from everflow.graph import dtypes
from everflow.metrics import classes, counts, means, thresholds, top_k
from everflow.metrics.streaming import collected, metric_variable
from everflow.ops.math.weights_broadcast import broadcast_weights
from everflow.ops.sparse import sets


def _exchanged(name: str, function: Callable[..., Any]) -> None:
    """Publishes streaming_NAME(predictions, labels, ...) of a metric that takes labels first."""

    @functools.wraps(function)
    def streaming(predictions: Any, labels: Any, *args: Any, **kwargs: Any) -> Any:
        return function(labels, predictions, *args, **kwargs)

    del streaming.__wrapped__  # type: ignore[attr-defined]
    labels, predictions, *others = inspect.signature(function).parameters.values()
    streaming.__signature__ = inspect.Signature([predictions, labels, *others])  # type: ignore[attr-defined]
    streaming.__name__ = streaming.__qualname__ = f"streaming_{name}"
    _publish(f"streaming_{name}", streaming)


def _publish(name: str, function: Callable[..., Any]) -> None:
    metric(name)(function)


_LABELS_FIRST: dict[str, Callable[..., Any]] = {
    "accuracy": means.accuracy,
    "mean_absolute_error": means.mean_absolute_error,
    "mean_cosine_distance": means.mean_cosine_distance,
    "mean_relative_error": means.mean_relative_error,
    "mean_squared_error": means.mean_squared_error,
    "root_mean_squared_error": means.root_mean_squared_error,
    "true_positives": counts.true_positives,
    "true_negatives": counts.true_negatives,
    "false_positives": counts.false_positives,
    "false_negatives": counts.false_negatives,
    "precision": counts.precision,
    "recall": counts.recall,
    "auc": thresholds.auc,
    "precision_at_thresholds": thresholds.precision_at_thresholds,
    "recall_at_thresholds": thresholds.recall_at_thresholds,
    "sensitivity_at_specificity": thresholds.sensitivity_at_specificity,
    "specificity_at_sensitivity": thresholds.specificity_at_sensitivity,
    "mean_iou": classes.mean_iou,
    "sparse_precision_at_k": top_k.precision_at_k,
    "sparse_recall_at_k": top_k.recall_at_k,
    "sparse_average_precision_at_k": top_k.average_precision_at_k,
}
for _name, _function in _LABELS_FIRST.items():
    _exchanged(_name, _function)

_publish("confusion_matrix", tf.confusion_matrix)
_publish("set_size", sets.set_size)
_publish("set_union", sets.set_union)
_publish("set_intersection", sets.set_intersection)
_publish("set_difference", sets.set_difference)
_publish("streaming_mean", means.mean)
_publish("streaming_mean_tensor", means.mean_tensor)
_publish("streaming_percentage_less", means.percentage_below)


@metric("accuracy")
def accuracy(predictions: Any, labels: Any, weights: Any = None, name: str | None = None) -> Any:
    """How often predictions equal labels in this batch."""
    if not (labels.dtype.is_integer or labels.dtype in (dtypes.bool, dtypes.string)):
        raise ValueError(f"Labels should have bool, integer, or string dtype, not {labels.dtype!r}")
    if not labels.dtype.is_compatible_with(predictions.dtype):
        raise ValueError(
            f"Dtypes of predictions and labels should match. Given: predictions ({predictions.dtype!r}) and labels ({labels.dtype!r})"
        )
    with tf.name_scope(name, "accuracy", values=[predictions, labels]):
        right = tf.cast(tf.equal(predictions, labels), dtypes.float32)
        if weights is None:
            return tf.reduce_mean(right)
        weights = broadcast_weights(tf.cast(weights, dtypes.float32), right)
        return tf.truediv(tf.reduce_sum(tf.multiply(right, weights)), tf.reduce_sum(weights))


@metric("count")
def count(
    values: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """How many values there were so far, or the sum of their weights."""
    with tf.variable_scope(name, "count", (values, weights)):
        total = metric_variable(shape=[], dtype=dtypes.float32, name="count")
        if weights is None:
            number = tf.to_float(tf.size(values))
        else:
            values = tf.to_float(values)
            number = tf.reduce_sum(broadcast_weights(tf.to_float(weights), values))
        with tf.control_dependencies([values] if isinstance(values, tf.Tensor) else []):
            return collected(tf.identity(total), tf.assign_add(total, number), metrics_collections, updates_collections)


@metric("aggregate_metrics")
def aggregate_metrics(*value_update_tuples: Any) -> tuple[list[Any], list[Any]]:
    """(values, updates) of several metrics."""
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    values, updates = zip(*value_update_tuples)
    return list(values), list(updates)


@metric("aggregate_metric_map")
def aggregate_metric_map(names_to_tuples: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(values, updates) of several metrics, by their names."""
    values, updates = zip(*names_to_tuples.values())
    return dict(zip(names_to_tuples, values)), dict(zip(names_to_tuples, updates))


@metric("streaming_recall_at_k")
def streaming_recall_at_k(
    predictions: Any,
    labels: Any,
    k: int,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """How often the right class is among the k with the highest scores."""
    is_there = tf.to_float(tf.nn.in_top_k(predictions, labels, k))
    return means.mean(is_there, weights, metrics_collections, updates_collections, name or f"recall_at_{k}")


@metric("streaming_sparse_precision_at_top_k")
def streaming_sparse_precision_at_top_k(
    top_k_predictions: Any,
    labels: Any,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Which part of the best classes, given by their numbers, is right."""
    return top_k.precision_at_top_k(
        labels=labels,
        predictions_idx=top_k_predictions,
        class_id=class_id,
        weights=weights,
        metrics_collections=metrics_collections,
        updates_collections=updates_collections,
        name=name,
    )


@metric("sparse_recall_at_top_k")
def sparse_recall_at_top_k(
    labels: Any,
    top_k_predictions: Any,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Which part of the right classes is among the best, given by their numbers."""
    return top_k.recall_at_top_k(
        labels=labels,
        predictions_idx=top_k_predictions,
        class_id=class_id,
        weights=weights,
        metrics_collections=metrics_collections,
        updates_collections=updates_collections,
        name=name,
    )


@metric("streaming_sparse_average_precision_at_top_k")
def streaming_sparse_average_precision_at_top_k(
    top_k_predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The mean of the precisions at the ranks of the right classes among the best, given by their numbers."""
    return top_k.streaming_average_precision(labels, top_k_predictions, weights, metrics_collections, updates_collections, name)
