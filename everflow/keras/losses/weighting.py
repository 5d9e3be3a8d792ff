"""From losses of samples to one number: weights and reductions."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.losses.collected import squeeze_or_expand_dimensions
from everflow.ops.math.weights_broadcast import assert_broadcastable


@internal("keras.utils.losses_utils.ReductionV2", "ops.losses.loss_reduction.ReductionV2")
class ReductionV2:
    """How losses of samples become one: not at all, by their sum, or by their mean over the batch."""

    AUTO = "auto"
    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """Every reduction."""
        return (cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE)

    @classmethod
    def validate(cls, key: str) -> None:
        """Raises for what is no reduction."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")


@internal("keras.utils.losses_utils.reduce_weighted_loss")
def reduce_weighted_loss(weighted_losses: Any, reduction: str = ReductionV2.SUM_OVER_BATCH_SIZE) -> Any:
    """One number of the losses, or they themselves."""
    if reduction == ReductionV2.NONE:
        return weighted_losses
    if reduction == ReductionV2.SUM_OVER_BATCH_SIZE:
        total = tf.reduce_sum(weighted_losses)
        return tf.div_no_nan(total, tf.cast(tf.size(weighted_losses), total.dtype), name="value")
    return tf.reduce_sum(weighted_losses)


@internal("keras.utils.losses_utils.compute_weighted_loss")
def compute_weighted_loss(
    losses: Any, sample_weight: Any = None, reduction: str = ReductionV2.SUM_OVER_BATCH_SIZE, name: str | None = None
) -> Any:
    """Losses times weights, reduced."""
    ReductionV2.validate(reduction)
    if reduction == ReductionV2.AUTO:
        reduction = ReductionV2.SUM_OVER_BATCH_SIZE
    with name_scope(name, "weighted_loss", (losses, sample_weight)):
        losses = convert_to_tensor(losses)
        given = losses.dtype
        losses = tf.cast(losses, "float32") if given.is_integer else losses
        if not (sample_weight is None or isinstance(sample_weight, float) and sample_weight == 1.0):
            weights = tf.cast(sample_weight, losses.dtype)
            losses, _, weights = squeeze_or_expand_dimensions(losses, None, weights)
            if weights.shape.ndims != 0:
                weights = _broadcast(weights, losses)
            losses = losses * weights
        return tf.cast(reduce_weighted_loss(losses, reduction), given)


def _broadcast(weights: Any, values: Any) -> Any:
    """Weights checked against the losses that they weigh: ranks agree, and each dimension is one or the same."""
    with tf.control_dependencies([assert_broadcastable(weights, values)]):
        return tf.identity(weights)
