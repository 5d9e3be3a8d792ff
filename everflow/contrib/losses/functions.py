"""Losses that take predictions first, under tf.contrib.losses and tf.contrib.slim.losses.

Their weights are of any type; one of each example is enough, and losses are means over what has a weight other than zero."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.framework.arg_scopes import add_arg_scope
from everflow.graph.convert import convert_to_tensor
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import name_scope
from everflow.losses import collected
from everflow.platform.deprecation import deprecated_argument_lookup


def _loss(*names: str) -> Callable[[Any], Any]:
    owner = sys._getframe(1).f_globals["__name__"]
    return public(*(f"contrib.{place}.{name}" for place in ("losses", "slim.losses") for name in names), owner=owner)


_loss("get_losses")(collected.get_losses)
_loss("get_regularization_losses")(collected.get_regularization_losses)


@_loss("add_loss")
@add_arg_scope
def add_loss(loss: Any, loss_collection: str | None = GraphKeys.LOSSES) -> None:
    """Adds a loss to those of the graph."""
    collected.add_loss(loss, loss_collection)


@_loss("get_total_loss")
def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss") -> Any:
    """The sum of all losses of the graph."""
    return collected.get_total_loss(add_regularization_losses, name)


def _float(value: Any) -> Any:
    return tf.cast(convert_to_tensor(value), tf.float32)


def _scaled(losses: Any, weights: Any) -> Any:
    """The sum of losses times their weights, which may leave out the last dimensions."""
    return tf.reduce_sum(tf.multiply(tf.reduce_sum(losses, list(range(weights.shape.ndims, losses.shape.ndims))), weights))


def _counted(losses: Any, weights: Any) -> Any:
    """How many losses of each example have a weight other than zero."""
    if weights.shape.ndims == 0:
        count = tf.reshape(tf.slice(tf.shape(losses), [0], [1]), [])
        each = tf.div(tf.cast(tf.size(losses), tf.float32), tf.cast(count, tf.float32))
        each = tf.where(tf.equal(weights, 0), 0.0, each)
        return tf.multiply(tf.ones(tf.reshape(count, [1])), each)
    weighted = tf.reduce_sum(tf.cast(tf.not_equal(weights, 0), tf.float32), list(range(1, weights.shape.ndims)))
    rest = tf.reduce_prod(tf.slice(tf.shape(losses), [weights.shape.ndims], [-1]))
    return tf.multiply(weighted, tf.cast(rest, tf.float32))


@_loss("compute_weighted_loss")
def compute_weighted_loss(losses: Any, weights: Any = 1.0, scope: str | None = None) -> Any:
    """Losses times their weights, reduced to one number."""
    with name_scope(scope, "weighted_loss", [losses, weights]):
        losses = convert_to_tensor(losses)
        given, losses, weights = losses.dtype, _float(losses), _float(weights)
        for name, value in (("losses", losses), ("weights", weights)):
            if value.shape.ndims is None:
                raise ValueError(f"{name}.get_shape().ndims cannot be None")
        if weights.shape.ndims > 1 and weights.shape.dims[-1].is_compatible_with(1):
            weights = tf.squeeze(weights, [-1])
        total = _scaled(losses, weights)
        count = tf.reduce_sum(_counted(losses, weights))
        found = tf.cast(tf.div_no_nan(tf.reduce_sum(total), count, name="value"), given)
        add_loss(found)
        return found


@_loss("absolute_difference")
def absolute_difference(predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None) -> Any:
    """How far predictions are off."""
    with name_scope(scope, "absolute_difference", [predictions, labels]) as within:
        predictions, labels = _alike(predictions, labels)
        return compute_weighted_loss(tf.abs(tf.subtract(predictions, labels)), weights, within)


def _alike(predictions: Any, labels: Any) -> tuple[Any, Any]:
    """Predictions and labels as floats, of one shape as far as is known."""
    predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
    predictions.shape.assert_is_compatible_with(labels.shape)
    return _float(predictions), _float(labels)


@_loss("cosine_distance")
def cosine_distance(
    predictions: Any, labels: Any = None, axis: Any = None, weights: Any = 1.0, scope: str | None = None, dim: Any = None
) -> Any:
    """One minus the cosine of the angle between vectors of length one."""
    axis = deprecated_argument_lookup("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    with name_scope(scope, "cosine_distance_loss", [predictions, labels]) as within:
        predictions, labels = _alike(predictions, labels)
        return compute_weighted_loss(1 - tf.reduce_sum(tf.multiply(predictions, labels), [axis]), weights, within)


@_loss("hinge_loss")
def hinge_loss(logits: Any, labels: Any = None, scope: str | None = None) -> Any:
    """How far each score is from being right by one."""
    with name_scope(scope, "hinge_loss", [logits, labels]):
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        labels = tf.to_float(labels)
        ones = tf.ones_like(labels)
        return tf.nn.relu(tf.subtract(ones, tf.multiply(tf.subtract(2 * labels, ones), logits)))


@_loss("log_loss")
def log_loss(predictions: Any, labels: Any = None, weights: Any = 1.0, epsilon: float = 1e-7, scope: str | None = None) -> Any:
    """The negative logarithm of the probability of what is so."""
    with name_scope(scope, "log_loss", [predictions, labels]) as within:
        predictions, labels = _alike(predictions, labels)
        right = -tf.multiply(labels, tf.log(predictions + epsilon))
        return compute_weighted_loss(right - tf.multiply(1 - labels, tf.log(1 - predictions + epsilon)), weights, within)


@_loss("mean_pairwise_squared_error")
def mean_pairwise_squared_error(predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None) -> Any:
    """How far the differences between the elements of each example are off, squared."""
    with name_scope(scope, "mean_pairwise_squared_error", [predictions, labels]):
        predictions, labels = _alike(predictions, labels)
        weights = _float(weights)
        apart = tf.subtract(predictions, labels)
        for name, value in (("weights", weights), ("predictions", apart)):
            if value.shape.ndims is None:
                raise ValueError(f"{name}.get_shape().ndims cannot be None")
        within = list(range(1, apart.shape.ndims))
        squares = tf.reduce_sum(tf.square(apart), within)
        counts = _counted(apart, weights)
        squared = 2.0 * tf.div_no_nan(squares, counts, name="value")
        mixed = 2.0 * tf.div_no_nan(tf.square(tf.reduce_sum(apart, within)), tf.square(counts), name="value")
        loss = _scaled(squared - mixed, weights)
        found = tf.where(tf.reduce_sum(counts) > 0, loss, tf.zeros_like(loss), name="value")
        add_loss(found)
        return found


@_loss("mean_squared_error")
def mean_squared_error(predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None) -> Any:
    """How far predictions are off, squared."""
    with name_scope(scope, "mean_squared_error", [predictions, labels]) as within:
        predictions, labels = _alike(predictions, labels)
        return compute_weighted_loss(tf.squared_difference(predictions, labels), weights, within)


@_loss("sigmoid_cross_entropy")
def sigmoid_cross_entropy(
    logits: Any, multi_class_labels: Any, weights: Any = 1.0, label_smoothing: Any = 0, scope: str | None = None
) -> Any:
    """The cross entropy of classes that don't exclude each other."""
    with name_scope(scope, "sigmoid_cross_entropy_loss", [logits, multi_class_labels, weights]) as within:
        logits.get_shape().assert_is_compatible_with(multi_class_labels.get_shape())
        labels = tf.cast(multi_class_labels, logits.dtype)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        return compute_weighted_loss(
            tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy"), weights, within
        )


@_loss("softmax_cross_entropy")
def softmax_cross_entropy(logits: Any, onehot_labels: Any, weights: Any = 1.0, label_smoothing: Any = 0, scope: str | None = None) -> Any:
    """The cross entropy of classes of which one is right."""
    with name_scope(scope, "softmax_cross_entropy_loss", [logits, onehot_labels, weights]) as within:
        logits.get_shape().assert_is_compatible_with(onehot_labels.get_shape())
        labels = tf.cast(onehot_labels, logits.dtype)
        if label_smoothing > 0:
            other = label_smoothing / tf.cast(tf.shape(labels)[1], logits.dtype)
            labels = labels * (1.0 - label_smoothing) + other
        losses = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, within)


@_loss("sparse_softmax_cross_entropy")
def sparse_softmax_cross_entropy(logits: Any, labels: Any, weights: Any = 1.0, scope: str | None = None) -> Any:
    """The cross entropy of classes of which the label names the right one."""
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", [logits, labels, weights]) as within:
        labels = tf.reshape(labels, [tf.shape(labels)[0]])
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, within)
