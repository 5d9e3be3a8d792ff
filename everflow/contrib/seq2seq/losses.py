"""The cross entropy of sequences."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.scopes import name_scope
from everflow.keras.losses.classes import Loss


@public("contrib.seq2seq.sequence_loss")
def sequence_loss(
    logits: Any,
    targets: Any,
    weights: Any,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    sum_over_timesteps: bool = False,
    sum_over_batch: bool = False,
    softmax_loss_function: Any = None,
    name: str | None = None,
) -> Any:
    """The weighted cross entropy of logits [batch, time, classes] with targets [batch, time].

    Averages divide by the sum of the weights, sums by the number of weights that are not zero.
    """
    axes = ["batch_size", "sequence_length", "logits"]
    for what, tensor, rank in (("Logits", logits, 3), ("Targets", targets, 2), ("Weights", weights, 2)):
        if len(tensor.get_shape()) != rank:
            raise ValueError(f"{what} must be a [{' x '.join(axes[:rank])}] tensor")
    if average_across_timesteps and sum_over_timesteps:
        raise ValueError("average_across_timesteps and sum_over_timesteps cannot be set to True at same time.")
    if average_across_batch and sum_over_batch:
        raise ValueError("average_across_batch and sum_over_batch cannot be set to True at same time.")
    with name_scope(name, "sequence_loss", [logits, targets, weights]):
        classes = tf.shape(logits)[2]
        flat = tf.reshape(logits, [-1, classes])
        labels = tf.reshape(targets, [-1])
        entropy = (softmax_loss_function or tf.nn.sparse_softmax_cross_entropy_with_logits)(labels=labels, logits=flat)
        entropy *= tf.reshape(weights, [-1])
        if average_across_timesteps and average_across_batch:
            return tf.div_no_nan(tf.reduce_sum(entropy), tf.reduce_sum(weights))
        if sum_over_timesteps and sum_over_batch:
            entropy = tf.reduce_sum(entropy)
            return tf.div_no_nan(entropy, tf.cast(tf.count_nonzero(weights), entropy.dtype))
        entropy = tf.reshape(entropy, tf.shape(logits)[0:2])
        if average_across_timesteps or average_across_batch:
            axis = [0] if average_across_batch else [1]
            return tf.div_no_nan(tf.reduce_sum(entropy, axis=axis), tf.reduce_sum(weights, axis=axis))
        if sum_over_timesteps or sum_over_batch:
            axis = [0] if sum_over_batch else [1]
            entropy = tf.reduce_sum(entropy, axis=axis)
            return tf.div_no_nan(entropy, tf.cast(tf.count_nonzero(weights, axis=axis), entropy.dtype))
        return entropy


@internal("contrib.seq2seq.python.ops.loss.SequenceLoss")
class SequenceLoss(Loss):
    """The same as a Keras loss: `loss(targets, logits, weights)`."""

    def __init__(
        self,
        average_across_timesteps: bool = False,
        average_across_batch: bool = False,
        sum_over_timesteps: bool = True,
        sum_over_batch: bool = True,
        softmax_loss_function: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name=name)
        self.average_across_timesteps = average_across_timesteps
        self.average_across_batch = average_across_batch
        self.sum_over_timesteps = sum_over_timesteps
        self.sum_over_batch = sum_over_batch
        self.softmax_loss_function = softmax_loss_function

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        return sequence_loss(
            y_pred,
            y_true,
            sample_weight,
            average_across_timesteps=self.average_across_timesteps,
            average_across_batch=self.average_across_batch,
            sum_over_timesteps=self.sum_over_timesteps,
            sum_over_batch=self.sum_over_batch,
            softmax_loss_function=self.softmax_loss_function,
            name=self.name,
        )

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """Without weights, each target counts once."""
        return self(y_true, y_pred, tf.ones_like(y_true, dtype=y_pred.dtype))
