"""The losses of a graph: those that were added, those of regularization, and their sum."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.keys import GraphKeys
from everflow.ops.math.confusion_matrix import remove_squeezable_dimensions


@public("losses.add_loss")
def add_loss(loss: Any, loss_collection: str | None = GraphKeys.LOSSES) -> None:
    """Puts a loss among those of its graph."""
    if loss_collection and not tf.executing_eagerly():
        tf.add_to_collection(loss_collection, loss)


@public("losses.get_losses")
def get_losses(scope: str | None = None, loss_collection: str | None = GraphKeys.LOSSES) -> list[Any]:
    """The losses that were added, or those with names that start like `scope`."""
    return tf.get_collection(loss_collection, scope)


@public("losses.get_regularization_losses")
def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """The losses of regularizers."""
    return tf.get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


@public("losses.get_regularization_loss")
def get_regularization_loss(scope: str | None = None, name: str = "total_regularization_loss") -> Any:
    """The sum of the losses of regularizers; zero where there are none."""
    losses = get_regularization_losses(scope)
    return tf.add_n(losses, name=name) if losses else tf.constant(0.0)


@public("losses.get_total_loss")
def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None) -> Any:
    """The sum of all losses of the graph: what a program minimizes."""
    losses = get_losses(scope=scope)
    if add_regularization_losses:
        losses += get_regularization_losses(scope=scope)
    return tf.add_n(losses, name=name)


@internal("ops.losses.util.squeeze_or_expand_dimensions")
def squeeze_or_expand_dimensions(y_pred: Any, y_true: Any = None, sample_weight: Any = None) -> Any:
    """Predictions, labels and weights with a last dimension of 1 taken away or added so that their ranks fit."""
    y_pred_rank = y_pred.get_shape().ndims
    if y_true is not None:
        y_true_rank = y_true.get_shape().ndims
        if y_true_rank is not None and y_pred_rank is not None:
            # Sparse labels have one dimension less than the scores of classes.
            if y_pred_rank - y_true_rank != 1 or y_pred.get_shape()[-1] == 1:
                y_true, y_pred = remove_squeezable_dimensions(y_true, y_pred)
        else:
            differs = tf.equal(1, tf.rank(y_pred) - tf.rank(y_true))
            given = y_true, y_pred
            squeezed = lambda: remove_squeezable_dimensions(*given)
            has_scores = lambda: tf.cond(tf.equal(1, tf.shape(given[1])[-1]), squeezed, lambda: given)
            y_true, y_pred = tf.cond(differs, has_scores, squeezed)
    if sample_weight is None:
        return y_pred, y_true
    weights_rank = sample_weight.get_shape().ndims
    if weights_rank == 0:
        return y_pred, y_true, sample_weight
    if y_pred_rank is not None and weights_rank is not None:
        if weights_rank - y_pred_rank == 1:
            sample_weight = tf.squeeze(sample_weight, [-1])
        elif y_pred_rank - weights_rank == 1:
            sample_weight = tf.expand_dims(sample_weight, [-1])
        return y_pred, y_true, sample_weight
    rank = tf.rank(sample_weight)
    difference = rank - tf.rank(y_pred)

    def adjusted() -> Any:
        return tf.cond(
            tf.equal(difference, 1),
            lambda: tf.squeeze(sample_weight, [-1]),
            lambda: tf.cond(tf.equal(difference, -1), lambda: tf.expand_dims(sample_weight, [-1]), lambda: sample_weight),
        )

    return y_pred, y_true, tf.cond(tf.equal(rank, 0), lambda: sample_weight, adjusted)


@internal("ops.losses.util.scale_losses_by_sample_weight")
def scale_losses_by_sample_weight(losses: Any, sample_weight: Any) -> Any:
    """Losses times the weights of their examples."""
    losses = tf.cast(losses, tf.float32)
    sample_weight = tf.cast(sample_weight, tf.float32)
    losses, _, sample_weight = squeeze_or_expand_dimensions(losses, None, sample_weight)
    return tf.multiply(losses, sample_weight)


@internal("ops.losses.util.check_per_example_loss_rank")
@contextlib.contextmanager
def check_per_example_loss_rank(per_example_loss: Any) -> Iterator[None]:
    """Sees to it that a loss has a value for each example, at least of rank 1."""
    rank = per_example_loss.shape.rank
    if rank is not None:
        if rank == 0:
            raise ValueError(
                f"Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1, received: {per_example_loss}"
            )
        yield
    else:
        check = tf.assert_greater_equal(
            tf.rank(per_example_loss),
            tf.cast(1, tf.int32),
            message="Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1.",
        )
        with tf.control_dependencies([check]):
            yield
