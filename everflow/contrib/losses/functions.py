"""Losses that take predictions first, under tf.contrib.losses and tf.contrib.slim.losses."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.keys import GraphKeys
from everflow.losses import collected
from everflow.losses import functions as losses
from everflow.losses.weighting import compute_weighted_loss as weighted
from everflow.platform.deprecation import deprecated_argument_lookup


def _loss(*names: str) -> Callable[[Any], Any]:
    owner = sys._getframe(1).f_globals["__name__"]
    return public(*(f"contrib.{place}.{name}" for place in ("losses", "slim.losses") for name in names), owner=owner)


_loss("add_loss")(collected.add_loss)
_loss("get_losses")(collected.get_losses)
_loss("get_regularization_losses")(collected.get_regularization_losses)


@_loss("get_total_loss")
def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss") -> Any:
    """The sum of all losses of the graph."""
    return collected.get_total_loss(add_regularization_losses, name)


@_loss("compute_weighted_loss")
def compute_weighted_loss(losses: Any, weights: Any = 1.0, scope: str | None = None) -> Any:
    """Losses times their weights, reduced to one number."""
    return weighted(losses, _spread(weights, losses), scope=scope)


def _spread(weights: Any, values: Any) -> Any:
    """Weights with as many dimensions as the values: one of each example was enough here."""
    weights = tf.convert_to_tensor(weights, dtype=tf.float32)
    rank, wanted = weights.get_shape().ndims, tf.convert_to_tensor(values).get_shape().ndims
    if rank and wanted and rank < wanted:
        weights = tf.reshape(weights, tf.concat([tf.shape(weights), [1] * (wanted - rank)], 0))
    return weights


@_loss("absolute_difference")
def absolute_difference(predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None) -> Any:
    """How far predictions are off."""
    return losses.absolute_difference(labels, predictions, _spread(weights, predictions), scope)


@_loss("cosine_distance")
def cosine_distance(
    predictions: Any, labels: Any = None, axis: Any = None, weights: Any = 1.0, scope: str | None = None, dim: Any = None
) -> Any:
    """One minus the cosine of the angle between vectors of length one."""
    axis = deprecated_argument_lookup("axis", axis, "dim", dim)
    return losses.cosine_distance(labels, predictions, axis, _spread(weights, predictions), scope)


@_loss("hinge_loss")
def hinge_loss(logits: Any, labels: Any = None, scope: str | None = None) -> Any:
    """How far each score is from being right by one."""
    with tf.name_scope(scope, "hinge_loss", [logits, labels]):
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        labels = tf.to_float(labels)
        ones = tf.ones_like(labels)
        return tf.nn.relu(tf.subtract(ones, tf.multiply(tf.subtract(2 * labels, ones), logits)))


@_loss("log_loss")
def log_loss(predictions: Any, labels: Any = None, weights: Any = 1.0, epsilon: float = 1e-7, scope: str | None = None) -> Any:
    """The negative logarithm of the probability of what is so."""
    return losses.log_loss(labels, predictions, _spread(weights, predictions), epsilon, scope)


@_loss("mean_pairwise_squared_error")
def mean_pairwise_squared_error(predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None) -> Any:
    """How far the differences between the elements of each example are off, squared."""
    return losses.mean_pairwise_squared_error(labels, predictions, _spread(weights, predictions), scope)


@_loss("mean_squared_error")
def mean_squared_error(predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None) -> Any:
    """How far predictions are off, squared."""
    return losses.mean_squared_error(labels, predictions, _spread(weights, predictions), scope)


@_loss("sigmoid_cross_entropy")
def sigmoid_cross_entropy(
    logits: Any, multi_class_labels: Any, weights: Any = 1.0, label_smoothing: Any = 0, scope: str | None = None
) -> Any:
    """The cross entropy of classes that don't exclude each other."""
    return losses.sigmoid_cross_entropy(multi_class_labels, logits, _spread(weights, logits), label_smoothing, scope)


@_loss("softmax_cross_entropy")
def softmax_cross_entropy(logits: Any, onehot_labels: Any, weights: Any = 1.0, label_smoothing: Any = 0, scope: str | None = None) -> Any:
    """The cross entropy of classes of which one is right."""
    return losses.softmax_cross_entropy(onehot_labels, logits, weights, label_smoothing, scope, GraphKeys.LOSSES)


@_loss("sparse_softmax_cross_entropy")
def sparse_softmax_cross_entropy(logits: Any, labels: Any, weights: Any = 1.0, scope: str | None = None) -> Any:
    """The cross entropy of classes of which the label names the right one."""
    return losses.sparse_softmax_cross_entropy(labels, logits, weights, scope)
