"""Losses of programs that write their own training loop: averages over a batch that may be spread over replicas."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.convert import convert_to_tensor
from everflow.losses.collected import check_per_example_loss_rank, squeeze_or_expand_dimensions
from everflow.ops.math.weights_broadcast import assert_broadcastable


def _replicas(function: str) -> int:
    if tf.distribute.has_strategy() and tf.distribute.in_cross_replica_context():
        raise RuntimeError(f"You are calling `{function}` in cross replica context, while it was expected to be called in replica context.")
    return tf.distribute.get_strategy().num_replicas_in_sync


@public("nn.compute_average_loss")
def compute_average_loss(per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None) -> Any:
    """The sum of the losses divided by the size of the whole batch, which may be spread over replicas."""
    losses = convert_to_tensor(per_example_loss)
    dtype = losses.dtype
    with check_per_example_loss_rank(losses):
        if sample_weight is not None:
            losses, _, weights = squeeze_or_expand_dimensions(losses, None, tf.cast(convert_to_tensor(sample_weight), dtype))
            with tf.control_dependencies([assert_broadcastable(weights, losses)]):
                losses = tf.multiply(losses, weights)
        if global_batch_size is None:
            global_batch_size = tf.shape(losses)[0] * _replicas("compute_average_loss")
        size = tf.cast(global_batch_size, dtype)
        return tf.reduce_sum(losses) / size


@public("nn.scale_regularization_loss")
def scale_regularization_loss(regularization_loss: Any) -> Any:
    """The sum of the losses divided by the number of replicas."""
    return tf.reduce_sum(regularization_loss) / _replicas("scale_regularization_loss")
