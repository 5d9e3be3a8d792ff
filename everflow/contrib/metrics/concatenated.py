"""Metrics that keep all they have seen: concatenated values, and exact areas under curves."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any, NamedTuple

import everflow as tf
from everflow.api import internal
from everflow.contrib.metrics.publishing import metric
from everflow.graph import dtypes
from everflow.metrics.streaming import collected, metric_variable, with_ranks_that_fit


@internal("contrib.metrics.python.ops.metric_ops._next_array_size")
def next_array_size(required_size: Any, growth_factor: float = 1.5) -> Any:
    """The size of an array that has room for so many, and grows by at least this factor each time."""
    exponent = tf.ceil(tf.log(tf.cast(required_size, dtypes.float32)) / tf.log(tf.cast(growth_factor, dtypes.float32)))
    return tf.cast(tf.ceil(growth_factor**exponent), dtypes.int32)


@metric("streaming_concat")
def streaming_concat(
    values: Any,
    axis: int = 0,
    max_size: int | None = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """All values so far, one after the other along an axis, up to a number of them."""
    with tf.variable_scope(name, "streaming_concat", (values,)):
        shape = values.get_shape()
        if shape.dims is None:
            raise ValueError("`values` must have known statically known rank")
        ndim = len(shape)
        if axis < 0:
            axis += ndim
        if not 0 <= axis < ndim:
            raise ValueError(f"axis = {axis} not in [0, {ndim})")
        fixed = [dim.value for n, dim in enumerate(shape.dims) if n != axis]
        if any(dim is None for dim in fixed):
            raise ValueError("all dimensions of `values` other than the dimension to concatenate along must have statically known size")
        # The axis comes first, so that what there is is the start of the array.
        array = metric_variable([0, *fixed], values.dtype, validate_shape=False, name="array")
        size = metric_variable([], dtypes.int32, name="size")
        to_front = [axis] + [n for n in range(ndim) if n != axis]
        and_back = [n + 1 for n in range(axis)] + [0] + list(range(axis + 1, ndim))
        known = array[:size]
        value = tf.identity(known if axis == 0 else tf.transpose(known, and_back), name="concat")
        value.set_shape([None if n == axis else dim.value for n, dim in enumerate(shape.dims)])
        batch = values if axis == 0 else tf.transpose(values, to_front)
        batch_size = tf.shape(batch)[0]
        if max_size is not None:
            batch_size = tf.minimum(batch_size, tf.maximum(max_size - size, 0))
        new_size = size + batch_size

        def longer() -> Any:
            room = next_array_size(new_size)
            padding = tf.zeros(tf.stack([room - new_size, *fixed]), values.dtype)
            return tf.assign(array, tf.concat([array[:size], batch[:batch_size], padding], 0), validate_shape=False)

        def filled() -> Any:
            return tf.assign(array[size:new_size], batch[:batch_size])

        stored = tf.cond(new_size > tf.shape(array)[0], lambda: longer().op, lambda: filled().op)
        with tf.control_dependencies([stored]):
            update_op = tf.assign(size, new_size)
        return collected(value, update_op, metrics_collections, updates_collections)


def _from_high_to_low(labels: Any, predictions: Any, weights: Any) -> tuple[Any, Any, Any]:
    order = tf.nn.top_k(predictions, k=tf.size(predictions)).indices
    return tf.gather(labels, order), tf.gather(predictions, order), tf.gather(weights, order)


@internal("contrib.metrics.python.ops.metric_ops._compute_dynamic_auc")
def exact_auc(labels: Any, predictions: Any, curve: str = "ROC", weights: Any = None) -> Any:
    """The area under a curve that has a point for each prediction; 0 where there is nothing of one of the kinds."""
    is_yes = tf.cast(labels, dtypes.float64)
    shares = tf.ones_like(is_yes) if weights is None else tf.cast(weights, dtypes.float64)
    total_hits, total_misses = tf.reduce_sum(shares * is_yes), tf.reduce_sum(shares * (1.0 - is_yes))

    def area() -> Any:
        ranked, scores, ranked_shares = _from_high_to_low(is_yes, predictions, shares)
        # Predictions that are equal are one point: the last of them.
        is_last = tf.concat([tf.not_equal(scores[1:], scores[:-1]), [True]], 0)
        hits, misses = (tf.boolean_mask(tf.cumsum(part), is_last) for part in (ranked_shares * ranked, ranked_shares * (1.0 - ranked)))
        start = tf.zeros([1], dtypes.float64)
        recall = tf.concat([start, hits / total_hits], 0)
        if curve == "ROC":
            x, y = tf.concat([start, misses / total_misses], 0), recall
        else:
            precision = hits / (hits + misses)
            x, y = recall, tf.concat([precision[:1], precision], 0)
        return tf.reduce_sum((y[1:] + y[:-1]) / 2.0 * (x[1:] - x[:-1]))

    possible = tf.greater(total_hits, 0)
    if curve == "ROC":
        possible = tf.logical_and(possible, tf.greater(total_misses, 0))
    return tf.cond(possible, area, lambda: tf.constant(0, dtypes.float64))


def _checks(labels: Any, predictions: Any, weights: Any) -> list[Any]:
    found = [
        tf.assert_greater_equal(labels, tf.zeros_like(labels, dtypes.int64), message="labels must be 0 or 1, at least one is <0"),
        tf.assert_less_equal(labels, tf.ones_like(labels, dtypes.int64), message="labels must be 0 or 1, at least one is >1"),
    ]
    if weights is not None:
        found.append(tf.assert_greater_equal(weights, tf.zeros_like(weights), message="weights must be non-negative"))
    return found


@metric("streaming_dynamic_auc")
def streaming_dynamic_auc(
    labels: Any,
    predictions: Any,
    curve: str = "ROC",
    metrics_collections: Sequence[str] | str | None = (),
    updates_collections: Sequence[str] | str | None = (),
    name: str | None = None,
    weights: Any = None,
) -> tuple[Any, Any]:
    """The exact area under the curve of all predictions so far."""
    if curve not in ["PR", "ROC"]:
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    with tf.variable_scope(name, default_name="dynamic_auc"):
        labels.get_shape().assert_is_compatible_with(predictions.get_shape())
        predictions = tf.reshape(tf.cast(predictions, dtypes.float64), [-1])
        labels = tf.reshape(tf.cast(labels, dtypes.int64), [-1])
        if weights is not None:
            weights = tf.reshape(tf.cast(weights, dtypes.float64), [-1])
        with tf.control_dependencies(_checks(labels, predictions, weights)):
            predictions = tf.identity(predictions)
        all_predictions, more_predictions = streaming_concat(predictions, name="concat_preds")
        all_labels, more_labels = streaming_concat(labels, name="concat_labels")
        updates, all_weights = [more_labels, more_predictions], None
        if weights is not None:
            all_weights, more_weights = streaming_concat(weights, name="concat_weights")
            updates.append(more_weights)
        update_op = tf.group(*updates)
        value = exact_auc(all_labels, all_predictions, curve=curve, weights=all_weights)
        return collected(value, update_op, metrics_collections, updates_collections)


@internal("contrib.metrics.python.ops.metric_ops.AucData")
class AucData(NamedTuple):
    """An area and the interval that it lies in."""

    auc: Any
    lower: Any
    upper: Any


def _auc_with_deviation(labels: Any, predictions: Any, weights: Any) -> tuple[Any, Any]:
    """The area under the ROC curve and its standard deviation by DeLong: each yes has the share of no below it, each no that of yes
    above it, and equal predictions count by half."""
    is_yes = tf.cast(labels, dtypes.bool)
    order = tf.nn.top_k(predictions, k=tf.size(predictions)).indices[::-1]
    predictions, is_yes, weights = tf.gather(predictions, order), tf.gather(is_yes, order), tf.gather(weights, order)
    yes, no = (tf.where(mask, weights, tf.zeros_like(weights)) for mask in (is_yes, tf.logical_not(is_yes)))
    _, group, _ = tf.unique_with_counts(predictions)
    groups = tf.reduce_max(group) + 1
    yes_groups, no_groups = (tf.unsorted_segment_sum(part, group, groups) for part in (yes, no))
    all_yes, all_no = tf.reduce_sum(yes), tf.reduce_sum(no)
    no_below = tf.gather(tf.cumsum(no_groups, exclusive=True) + no_groups / 2.0, group)
    yes_above = tf.gather(tf.cumsum(yes_groups, exclusive=True, reverse=True) + yes_groups / 2.0, group)
    of_yes, of_no = no_below / all_no, yes_above / all_yes
    auc = tf.reduce_sum(yes * of_yes) / all_yes

    def variance(shares: Any, mask: Any, total: Any) -> Any:
        mean = tf.reduce_sum(shares * mask) / total
        return tf.reduce_sum(mask * tf.square(shares - mean)) / (total - 1.0) / total

    return auc, tf.sqrt(variance(of_yes, yes, all_yes) + variance(of_no, no, all_no))


@metric("auc_with_confidence_intervals")
def auc_with_confidence_intervals(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    alpha: float = 0.95,
    logit_transformation: bool = True,
    metrics_collections: Sequence[str] | str | None = (),
    updates_collections: Sequence[str] | str | None = (),
    name: str | None = None,
) -> tuple[Any, Any]:
    """The exact area under the ROC curve and a confidence interval of level `alpha`."""
    if not (alpha > 0 and alpha < 1):
        raise ValueError(f"alpha must be between 0 and 1; currently {alpha:.02f}")
    if weights is None:
        weights = tf.ones_like(predictions)
    with tf.variable_scope(name, default_name="auc_with_confidence_intervals", values=[labels, predictions, weights]):
        predictions, labels, weights = with_ranks_that_fit(predictions, labels, weights)
        total_weight = tf.reduce_sum(weights)
        weights = tf.reshape(weights, [-1])
        predictions = tf.reshape(tf.cast(predictions, dtypes.float64), [-1])
        labels = tf.reshape(tf.cast(labels, dtypes.int64), [-1])
        with tf.control_dependencies(
            [*_checks(labels, predictions, weights), tf.assert_positive(total_weight, message="The sum of weights must be positive.")]
        ):
            predictions = tf.identity(predictions)
        all_predictions, more_predictions = streaming_concat(predictions, name="concat_preds")
        all_labels, more_labels = streaming_concat(labels, name="concat_labels")
        all_weights, more_weights = streaming_concat(weights, name="concat_weights")
        update_op = tf.logical_and(
            tf.equal(tf.identity(more_labels), tf.identity(more_predictions)), tf.equal(more_predictions, more_weights), name="update_op"
        )
        yes = tf.reduce_sum(tf.cast(all_labels, dtypes.int64))
        has_both = tf.logical_and(tf.greater(yes, 0), tf.less(yes, tf.size(all_labels, out_type=dtypes.int64)))
        value = AucData(
            *tf.cond(
                has_both,
                lambda: _interval(all_labels, all_predictions, all_weights, alpha, logit_transformation),
                lambda: tuple(tf.constant(0, dtypes.float32) for _ in range(3)),
            )
        )
        return collected(value, update_op, metrics_collections, updates_collections)


def _interval(labels: Any, predictions: Any, weights: Any, alpha: float, logit: bool) -> tuple[Any, ...]:
    weights = tf.cast(weights, dtypes.float64)
    auc, deviation = _auc_with_deviation(labels, predictions, weights)
    width = statistics.NormalDist().inv_cdf((1.0 + alpha) / 2.0)
    if logit:
        # On the scale of log odds, an interval never leaves [0, 1].
        middle, spread = tf.log(auc / (1.0 - auc)), deviation / (auc * (1.0 - auc))
        lower, upper = tf.sigmoid(middle - width * spread), tf.sigmoid(middle + width * spread)
    else:
        lower, upper = auc - width * deviation, auc + width * deviation
    return tuple(tf.cast(x, dtypes.float32) for x in (auc, lower, upper))
