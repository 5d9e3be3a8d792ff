"""Metrics of pairs of numbers or classes: covariance, correlation and agreement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import everflow as tf
from everflow.contrib.metrics.publishing import metric
from everflow.graph import dtypes
from everflow.metrics.streaming import collected, metric_variable, with_ranks_that_fit
from everflow.ops.math.weights_broadcast import broadcast_weights


def _safe_ratio(a: Any, b: Any, name: str | None = None) -> Any:
    return tf.where(tf.greater(b, 0), tf.truediv(a, b), tf.zeros_like(a), name=name)


@metric("streaming_covariance")
def streaming_covariance(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The unbiased covariance of predictions and labels, by Chan's way to put two parts of data together."""
    with tf.variable_scope(name, "covariance", (predictions, labels, weights)):
        predictions, labels, weights = with_ranks_that_fit(predictions, labels, weights)
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
        count_so_far, mean_prediction, mean_label, comoment = (
            metric_variable([], dtypes.float32, name=part) for part in ("count", "mean_prediction", "mean_label", "comoment")
        )
        if weights is None:
            batch_count = tf.cast(tf.size(labels), dtypes.float32)
            weighted_predictions, weighted_labels = predictions, labels
        else:
            weights = broadcast_weights(weights, labels)
            batch_count = tf.reduce_sum(weights)
            weighted_predictions, weighted_labels = tf.multiply(predictions, weights), tf.multiply(labels, weights)
        new_count = tf.assign_add(count_so_far, batch_count)
        old_count = new_count - batch_count

        def moved(mean: Any, weighted: Any) -> tuple[Any, Any, Any]:
            """The mean of the batch, how far the mean of all moves, and where it was."""
            batch_mean = _safe_ratio(tf.reduce_sum(weighted), batch_count)
            step = _safe_ratio((batch_mean - mean) * batch_count, new_count)
            before = tf.assign_add(mean, step) - step
            return batch_mean, step, before

        batch_prediction, _, old_prediction = moved(mean_prediction, weighted_predictions)
        batch_label, _, old_label = moved(mean_label, weighted_labels)
        products = (predictions - batch_prediction) * (labels - batch_label)
        if weights is not None:
            products *= weights
        between = (old_prediction - batch_prediction) * (old_label - batch_label) * _safe_ratio(old_count * batch_count, new_count)
        new_comoment = tf.assign_add(comoment, tf.reduce_sum(products) + between)

        def unbiased(moment: Any, count: Any, at: str) -> Any:
            return tf.where(tf.less_equal(count, 1.0), float("nan"), tf.truediv(moment, count - 1), name=at)

        value = unbiased(comoment, count_so_far, "covariance")
        with tf.control_dependencies([new_comoment]):
            update_op = unbiased(comoment, count_so_far, "update_op")
        return collected(value, update_op, metrics_collections, updates_collections)


@metric("streaming_pearson_correlation")
def streaming_pearson_correlation(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Pearson's correlation of predictions and labels."""
    with tf.variable_scope(name, "pearson_r", (predictions, labels, weights)):
        predictions, labels, weights = with_ranks_that_fit(predictions, labels, weights)
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
        if weights is not None:
            weights = broadcast_weights(weights, labels)
        together, new_together = streaming_covariance(predictions, labels, weights=weights, name="covariance")
        of_predictions, new_of_predictions = streaming_covariance(predictions, predictions, weights=weights, name="variance_predictions")
        of_labels, new_of_labels = streaming_covariance(labels, labels, weights=weights, name="variance_labels")

        def correlation(covariance: Any, a: Any, b: Any, at: str) -> Any:
            return tf.truediv(covariance, tf.multiply(tf.sqrt(a), tf.sqrt(b)), name=at)

        value = correlation(together, of_predictions, of_labels, "pearson_r")
        update_op = correlation(new_together, new_of_predictions, new_of_labels, "update_op")
        return collected(value, update_op, metrics_collections, updates_collections)


@metric("cohen_kappa")
def cohen_kappa(
    labels: Any,
    predictions_idx: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """How much more two raters agree than chance makes them."""
    if tf.executing_eagerly():
        raise RuntimeError("tf.contrib.metrics.cohen_kappa is not supported when eager execution is enabled.")
    if num_classes < 2:
        raise ValueError(f"`num_classes` must be >= 2.Found: {num_classes}")
    with tf.variable_scope(name, "cohen_kappa", (labels, predictions_idx, weights)):
        # A last dimension of one holds a class each.
        if labels.get_shape().with_rank_at_most(2).ndims == 2:
            labels = tf.squeeze(labels, axis=[1])
        if predictions_idx.get_shape().with_rank_at_most(2).ndims == 2:
            predictions_idx = tf.squeeze(predictions_idx, axis=[1])
        predictions_idx.get_shape().assert_is_compatible_with(labels.get_shape())
        kind = dtypes.int64 if weights is None else dtypes.float32
        agreed, rows, columns = (metric_variable([num_classes], kind, name=part) for part in ("po", "pe_row", "pe_col"))
        table = tf.confusion_matrix(labels, predictions_idx, num_classes=num_classes, weights=weights, dtype=kind)
        new_agreed = tf.assign_add(agreed, tf.diag_part(table))
        new_rows = tf.assign_add(rows, tf.reduce_sum(table, axis=0))
        new_columns = tf.assign_add(columns, tf.reduce_sum(table, axis=1))

        def kappa(same: Any, row: Any, column: Any, at: str) -> Any:
            together, by_row, by_column = (tf.cast(x, dtypes.float64) for x in (tf.reduce_sum(same), row, column))
            total = tf.reduce_sum(by_row)
            expected = tf.div_no_nan(tf.reduce_sum(by_row * by_column), total)
            return tf.cast(tf.div_no_nan(together - expected, total - expected), dtypes.float32, name=at)

        value = kappa(agreed, rows, columns, "value")
        return collected(value, kappa(new_agreed, new_rows, new_columns, "update_op"), metrics_collections, updates_collections)
