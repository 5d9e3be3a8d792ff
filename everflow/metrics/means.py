"""Metrics that are means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph import dtypes
from everflow.metrics.streaming import collected, metric_variable, refuse_eager, with_ranks_that_fit
from everflow.ops.math.confusion_matrix import remove_squeezable_dimensions
from everflow.ops.math.weights_broadcast import broadcast_weights


def _ratio(total: Any, count: Any, name: str) -> Any:
    return tf.div_no_nan(total, tf.maximum(count, 0), name=name)


@public("metrics.mean")
def mean(
    values: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The mean of all values so far."""
    refuse_eager("mean")
    with tf.variable_scope(name, "mean", (values, weights)):
        values = tf.cast(values, dtypes.float32)
        total, count = (metric_variable([], dtypes.float32, name=part) for part in ("total", "count"))
        if weights is None:
            number = tf.cast(tf.size(values), dtypes.float32)
        else:
            values, _, weights = with_ranks_that_fit(values, None, weights)
            weights = broadcast_weights(tf.cast(weights, dtypes.float32), values)
            values = tf.multiply(values, weights)
            number = tf.reduce_sum(weights)
        new_total = tf.assign_add(total, tf.reduce_sum(values))
        with tf.control_dependencies([values]):
            new_count = tf.assign_add(count, number)
        return collected(_ratio(total, count, "value"), _ratio(new_total, new_count, "update_op"), metrics_collections, updates_collections)


@public("metrics.mean_tensor")
def mean_tensor(
    values: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The mean of each element of tensors of one shape."""
    refuse_eager("mean_tensor")
    with tf.variable_scope(name, "mean", (values, weights)):
        values = tf.cast(values, dtypes.float32)
        total, count = (metric_variable(values.get_shape(), dtypes.float32, name=f"{part}_tensor") for part in ("total", "count"))
        number = tf.ones_like(values)
        if weights is not None:
            values, _, weights = with_ranks_that_fit(values, None, weights)
            weights = broadcast_weights(tf.cast(weights, dtypes.float32), values)
            values = tf.multiply(values, weights)
            number = tf.multiply(number, weights)
        new_total = tf.assign_add(total, values)
        with tf.control_dependencies([values]):
            new_count = tf.assign_add(count, number)
        return collected(_ratio(total, count, "value"), _ratio(new_total, new_count, "update_op"), metrics_collections, updates_collections)


@public("metrics.accuracy")
def accuracy(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """How often predictions equal labels."""
    refuse_eager("accuracy")
    guessed, wanted, weights = with_ranks_that_fit(predictions, labels, weights)
    right = tf.equal(guessed if guessed.dtype == wanted.dtype else tf.cast(guessed, wanted.dtype), wanted)
    return mean(tf.cast(right, dtypes.float32), weights, metrics_collections, updates_collections, name or "accuracy")


@public("metrics.mean_absolute_error")
def mean_absolute_error(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """How far predictions are off."""
    refuse_eager("mean_absolute_error")
    predictions, labels, weights = with_ranks_that_fit(predictions, labels, weights)
    errors = tf.abs(predictions - labels)
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_absolute_error")


@public("metrics.mean_cosine_distance")
def mean_cosine_distance(
    labels: Any,
    predictions: Any,
    dim: int,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """One minus the cosine of the angle between vectors of length one."""
    refuse_eager("mean_cosine_distance")
    predictions, labels, weights = with_ranks_that_fit(predictions, labels, weights)
    cosines = tf.reduce_sum(tf.multiply(predictions, labels), axis=[dim], keepdims=True)
    value, update_op = mean(cosines, weights, None, None, name or "mean_cosine_distance")
    return collected(tf.subtract(1.0, value), tf.subtract(1.0, update_op), metrics_collections, updates_collections)


@public("metrics.mean_relative_error")
def mean_relative_error(
    labels: Any,
    predictions: Any,
    normalizer: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """How far predictions are off in relation to a normalizer; nothing where that is zero."""
    refuse_eager("mean_relative_error")
    predictions, labels, weights = with_ranks_that_fit(predictions, labels, weights)
    predictions, scale = remove_squeezable_dimensions(predictions, normalizer)
    predictions.get_shape().assert_is_compatible_with(scale.get_shape())
    no_scale, nothing = tf.equal(scale, 0.0), tf.zeros_like(labels)
    errors = tf.where(no_scale, nothing, tf.div(tf.abs(labels - predictions), scale))
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_relative_error")


@public("metrics.mean_squared_error")
def mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """How far predictions are off, squared."""
    refuse_eager("mean_squared_error")
    predictions, labels, weights = with_ranks_that_fit(predictions, labels, weights)
    errors = tf.math.squared_difference(labels, predictions)
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_squared_error")


@public("metrics.root_mean_squared_error")
def root_mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The root of the mean squared error."""
    refuse_eager("root_mean_squared_error")
    predictions, labels, weights = with_ranks_that_fit(predictions, labels, weights)
    value, update_op = mean_squared_error(labels, predictions, weights, None, None, name or "root_mean_squared_error")
    return collected(tf.sqrt(value), tf.sqrt(update_op), metrics_collections, updates_collections)


@public("metrics.percentage_below")
def percentage_below(
    values: Any,
    threshold: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Which part of the values is below a threshold."""
    refuse_eager("percentage_below")
    below = tf.cast(tf.less(values, threshold), dtypes.float32)
    return mean(below, weights, metrics_collections, updates_collections, name or "percentage_below_threshold")
