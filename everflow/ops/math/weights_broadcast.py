"""Weights of losses and metrics: a scalar, or of the rank of the values with 1 or the same size in every dimension."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.graph.constants import constant_value
from everflow.graph.scopes import name_scope

_PREFIX = "weights can not be broadcast to values."


@internal("ops.weights_broadcast_ops.assert_broadcastable")
def assert_broadcastable(weights: Any, values: Any) -> Any:
    """An op that checks whether weights fit values; ValueError at once where the shapes are known."""
    with name_scope(None, "assert_broadcastable", (weights, values)) as scope:
        with name_scope(None, "weights", (weights,)) as weights_scope:
            weights = tf.convert_to_tensor(weights, name=weights_scope)
            weights_shape = tf.shape(weights, name="shape")
            weights_rank = tf.rank(weights, name="rank")
        static_rank = constant_value(weights_rank)
        with name_scope(None, "values", (values,)) as values_scope:
            values = tf.convert_to_tensor(values, name=values_scope)
            values_shape = tf.shape(values, name="shape")
            values_rank = tf.rank(values, name="rank")
        values_static_rank = constant_value(values_rank)
        if static_rank is not None and values_static_rank is not None:
            if static_rank == 0:
                return tf.no_op(name="static_scalar_check_success")
            if static_rank != values_static_rank:
                raise ValueError(
                    f"{_PREFIX} values.rank={values_static_rank}. weights.rank={static_rank}. "
                    f"values.shape={values.get_shape()}. weights.shape={weights.get_shape()}."
                )
            have, want = constant_value(weights_shape), constant_value(values_shape)
            if have is not None and want is not None:
                for i, (a, b) in enumerate(zip(want, have)):
                    if b not in (1, a):
                        raise ValueError(f"{_PREFIX} Mismatch at dim {i}. values.shape={want} weights.shape={have}.")
                return tf.no_op(name="static_dims_check_success")
        is_scalar = tf.equal(0, weights_rank, name="is_scalar")
        data = (_PREFIX, "weights.shape=", weights.name, weights_shape, "values.shape=", values.name, values_shape, "is_scalar=", is_scalar)
        fits = tf.cond(
            is_scalar,
            lambda: is_scalar,
            lambda: _same_rank_fits(weights_rank, weights_shape, values_rank, values_shape),
            name="is_valid_shape",
        )
        return tf.Assert(fits, data, name=scope)


def _same_rank_fits(weights_rank: Any, weights_shape: Any, values_rank: Any, values_shape: Any) -> Any:
    with name_scope(None, "has_valid_nonscalar_shape", [weights_rank, weights_shape, values_rank, values_shape]) as scope:
        same = tf.equal(values_rank, weights_rank, name="is_same_rank")
        return tf.cond(same, lambda: _dims_fit(weights_shape, values_shape), lambda: same, name=scope)


def _dims_fit(weights_shape: Any, values_shape: Any) -> Any:
    with name_scope(None, "has_invalid_dims", [weights_shape, values_shape]) as scope:
        values_sizes = tf.expand_dims(values_shape, -1)
        allowed = tf.concat([values_sizes, tf.ones_like(values_sizes)], axis=1)
        wrong = tf.sets.difference(tf.expand_dims(weights_shape, -1), allowed)
        return tf.equal(0, tf.size(wrong.values, name="num_invalid_dims"), name=scope)


@internal("ops.weights_broadcast_ops.broadcast_weights")
def broadcast_weights(weights: Any, values: Any) -> Any:
    """Weights in the shape of the values."""
    with name_scope(None, "broadcast_weights", (weights, values)) as scope:
        values = tf.convert_to_tensor(values, name="values")
        weights = tf.convert_to_tensor(weights, values.dtype.base_dtype, name="weights")
        have, want = weights.get_shape(), values.get_shape()
        if all(shape.is_fully_defined() for shape in (have, want)) and have.is_compatible_with(want):
            return weights
        fits = assert_broadcastable(weights, values)
        with tf.control_dependencies([fits]):
            return tf.multiply(weights, tf.ones_like(values), name=scope)
