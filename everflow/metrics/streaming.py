"""What all metrics share: their variables, ranks that fit, and the collections that they go to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.graph.dtypes import DTypeLike
from everflow.graph.keys import GraphKeys
from everflow.ops.math.confusion_matrix import remove_squeezable_dimensions


def refuse_eager(name: str) -> None:
    """Metrics keep their state in a graph's variables."""
    if tf.executing_eagerly():
        raise RuntimeError(f"tf.metrics.{name} is not supported when eager execution is enabled.")


@internal("ops.metrics_impl.metric_variable")
def metric_variable(shape: Any, dtype: DTypeLike, validate_shape: bool = True, name: str | None = None) -> Any:
    """A local variable of zeros."""
    return tf.Variable(
        lambda: tf.zeros(shape, dtype),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
        validate_shape=validate_shape,
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.SUM,
        name=name,
    )


def collected(
    value: Any, update_op: Any, metrics_collections: Sequence[str] | str | None, updates_collections: Sequence[str] | str | None
) -> tuple[Any, Any]:
    """Puts a metric's value and update into the collections that were asked for."""
    if metrics_collections:
        tf.add_to_collections(metrics_collections, value)
    if updates_collections:
        tf.add_to_collections(updates_collections, update_op)
    return value, update_op


def _of_one_shape(labels: Any, predictions: Any) -> tuple[Any, Any]:
    labels, predictions = remove_squeezable_dimensions(labels, predictions)
    predictions.get_shape().assert_is_compatible_with(labels.get_shape())
    return labels, predictions


@internal("ops.metrics_impl._remove_squeezable_dimensions")
def with_ranks_that_fit(predictions: Any, labels: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Takes a last dimension of 1 from predictions, labels or weights, or gives one to weights, where their ranks differ by one."""
    predictions = tf.convert_to_tensor(predictions)
    if labels is not None:
        labels, predictions = _of_one_shape(labels, predictions)
    if weights is None:
        return predictions, labels, None
    weights = tf.convert_to_tensor(weights)
    shape = weights.get_shape()
    rank, wanted = shape.ndims, predictions.get_shape().ndims
    if rank == 0:
        return predictions, labels, weights
    if wanted is not None and rank is not None:
        if rank - wanted == 1:
            weights = tf.squeeze(weights, [-1])
        elif wanted - rank == 1:
            weights = tf.expand_dims(weights, [-1])
        return predictions, labels, weights
    weights_rank = tf.rank(weights)
    difference = weights_rank - tf.rank(predictions)

    def longer() -> Any:
        return tf.cond(tf.equal(difference, -1), lambda: tf.expand_dims(weights, [-1]), lambda: weights)

    def fitting() -> Any:
        if rank is not None and not shape.dims[-1].is_compatible_with(1):
            return longer()
        return tf.cond(tf.equal(difference, 1), lambda: tf.squeeze(weights, [-1]), longer)

    return predictions, labels, tf.cond(tf.equal(weights_rank, 0), lambda: weights, fitting)


@internal("ops.metrics_impl._aggregate_variable")
def aggregated(v: Any, collections: Sequence[str] | str | None) -> Any:
    """What a metric's variable holds over all replicas, put into the collections that were asked for."""

    def read(distribution: Any, variable: Any) -> Any:
        value = distribution.extended.read_var(variable)
        if collections:
            tf.add_to_collections(collections, value)
        return value

    return tf.distribute.get_replica_context().merge_call(read, args=(v,))


@internal("ops.metrics_impl._safe_scalar_div")
def quotient_or_zero(numerator: Any, denominator: Any, name: str | None) -> Any:
    """A quotient of scalars, 0 where the denominator is 0."""
    numerator.get_shape().with_rank_at_most(1)
    denominator.get_shape().with_rank_at_most(1)
    return tf.div_no_nan(numerator, denominator, name=name)
