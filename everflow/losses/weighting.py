"""How the losses of examples become one: weights and reductions."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import name_scope
from everflow.losses.collected import add_loss
from everflow.ops.math.weights_broadcast import assert_broadcastable, broadcast_weights


@public("losses.Reduction")
class Reduction:
    """What becomes of the weighted losses of examples."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """Every reduction."""
        return (cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_OVER_NONZERO_WEIGHTS, cls.SUM_BY_NONZERO_WEIGHTS)

    @classmethod
    def validate(cls, key: str) -> None:
        """ValueError for what is not a reduction."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")


def safe_mean(losses: Any, count: Any) -> Any:
    """The sum of the losses divided by a number that may be zero."""
    return tf.div_no_nan(tf.reduce_sum(losses), count, name="value")


@internal("ops.losses.losses_impl._num_present")
def number_present(losses: Any, weights: Any, per_batch: bool = False) -> Any:
    """How many losses have a weight that is not zero: of all, or of each example."""
    with name_scope(None, "num_present", (losses, weights)) as scope:
        weights = tf.cast(weights, dtype=dtypes.float32)
        present = tf.where(tf.equal(weights, 0.0), tf.zeros_like(weights), tf.ones_like(weights))
        present = broadcast_weights(present, losses)
        if per_batch:
            return tf.reduce_sum(present, axis=tf.range(1, tf.rank(present)), keepdims=True, name=scope)
        return tf.reduce_sum(present, name=scope)


def _count(losses: Any) -> Any:
    with name_scope(None, "num_elements", [losses]) as scope:
        return tf.cast(tf.size(losses, name=scope), dtype=losses.dtype)


# What the sum of the weighted losses is divided by.
_COUNTS: dict[str, Any] = {
    Reduction.MEAN: lambda losses, weights: tf.reduce_sum(tf.ones_like(losses) * weights),
    Reduction.SUM_BY_NONZERO_WEIGHTS: lambda losses, weights: number_present(losses, weights),
    Reduction.SUM_OVER_BATCH_SIZE: lambda losses, _: _count(losses),
}


def _reduced(losses: Any, weights: Any, reduction: str) -> Any:
    if reduction == Reduction.NONE:
        return losses
    total = tf.reduce_sum(losses)
    return safe_mean(total, _COUNTS[reduction](losses, weights)) if reduction in _COUNTS else total


@public("losses.compute_weighted_loss")
def compute_weighted_loss(
    losses: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """Losses times their weights, reduced to one number, which is added to a collection."""
    Reduction.validate(reduction)
    with name_scope(scope, "weighted_loss", (losses, weights)):
        tf.get_default_graph()._last_loss_reduction = reduction
        with tf.control_dependencies((assert_broadcastable(weights, losses),)):
            given = tf.convert_to_tensor(losses)
            each, weights = (tf.cast(x, dtype=dtypes.float32) for x in (given, weights))
            loss = tf.cast(_reduced(tf.multiply(each, weights), weights, reduction), given.dtype)
            add_loss(loss, loss_collection)
        return loss
