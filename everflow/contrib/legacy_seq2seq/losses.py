"""The cross entropy of lists of logits."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.scopes import name_scope


@public("contrib.legacy_seq2seq.sequence_loss_by_example")
def sequence_loss_by_example(
    logits: Any,
    targets: Any,
    weights: Any,
    average_across_timesteps: bool = True,
    softmax_loss_function: Any = None,
    name: str | None = None,
) -> Any:
    """The weighted cross entropy of each sequence, summed or averaged over time."""
    if len(targets) != len(logits) or len(weights) != len(logits):
        raise ValueError(f"Lengths of logits, weights, and targets must be the same {len(logits)}, {len(weights)}, {len(targets)}.")
    with name_scope(name, "sequence_loss_by_example", [*logits, *targets, *weights]):
        losses = []
        for logit, target, weight in zip(logits, targets, weights):
            if softmax_loss_function is None:
                entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.reshape(target, [-1]), logits=logit)
            else:
                entropy = softmax_loss_function(labels=target, logits=logit)
            losses.append(entropy * weight)
        total = tf.add_n(losses)
        # No sequence has no weight at all.
        return total / (tf.add_n(weights) + 1e-12) if average_across_timesteps else total


@public("contrib.legacy_seq2seq.sequence_loss")
def sequence_loss(
    logits: Any,
    targets: Any,
    weights: Any,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    softmax_loss_function: Any = None,
    name: str | None = None,
) -> Any:
    """The same, summed or averaged over the batch."""
    with name_scope(name, "sequence_loss", [*logits, *targets, *weights]):
        cost = tf.reduce_sum(
            sequence_loss_by_example(
                logits, targets, weights, average_across_timesteps=average_across_timesteps, softmax_loss_function=softmax_loss_function
            )
        )
        return cost / tf.cast(tf.shape(targets[0])[0], cost.dtype) if average_across_batch else cost
