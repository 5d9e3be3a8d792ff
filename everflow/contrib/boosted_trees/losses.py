"""Losses of boosted trees, example by example: each function gives the loss and an update op, which does nothing."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope

BELOW = "contrib.boosted_trees.python.utils.losses."


def _weighed(loss: Any, weights: Any) -> tuple[Any, Any]:
    return (loss if weights is None else loss * weights), tf.no_op()


@public(BELOW + "per_example_squared_hinge_loss")
def per_example_squared_hinge_loss(labels: Any, weights: Any, predictions: Any) -> tuple[Any, Any]:
    """The square of the hinge loss."""
    return tf.square(tf.losses.hinge_loss(labels=labels, logits=predictions, weights=weights)), tf.no_op()


@public(BELOW + "per_example_logistic_loss")
def per_example_logistic_loss(labels: Any, weights: Any, predictions: Any) -> tuple[Any, Any]:
    """Cross entropy of one logit."""
    loss = tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.cast(labels, tf.float32), logits=predictions)
    return loss * weights, tf.no_op()


@public(BELOW + "per_example_quantile_regression_loss")
def per_example_quantile_regression_loss(labels: Any, weights: Any, predictions: Any, quantile: float) -> tuple[Any, Any]:
    """The loss whose least value is at a quantile, squared where it is small."""
    error = tf.cast(labels, tf.float32) - predictions

    def side(slope: float) -> Any:
        return tf.where(error * slope < 1.0, tf.square(slope * error), slope * error)

    return _weighed(tf.where(error > 0, side(quantile), side(quantile - 1)), weights)


@public(BELOW + "per_example_maxent_loss")
def per_example_maxent_loss(labels: Any, weights: Any, logits: Any, num_classes: int, eps: float = 1e-15) -> tuple[Any, Any]:
    """Cross entropy of several logits."""
    labels = tf.cast(labels, tf.int64)
    if labels.get_shape().ndims != 2:
        labels = tf.expand_dims(labels, 1)
    target = tf.cast(tf.reduce_sum(tf.one_hot(indices=labels, depth=num_classes), axis=[1]), tf.float32)
    exponentials = tf.exp(logits)
    probabilities = tf.divide(exponentials, tf.add(tf.reduce_sum(exponentials, 1, keepdims=True), eps))
    right = tf.reduce_sum(target * probabilities, 1)
    least, most = tf.zeros_like(right, dtype=logits.dtype) + eps, tf.ones_like(right, dtype=logits.dtype) - eps
    right = tf.where(right >= eps, right, least)
    right = tf.where(right <= 1 - eps, right, most)
    return _weighed(tf.expand_dims(-tf.log(right), 1), weights)


@public(BELOW + "per_example_squared_loss")
def per_example_squared_loss(labels: Any, weights: Any, predictions: Any) -> tuple[Any, Any]:
    """The sum of squared differences."""
    return tf.reduce_sum(tf.squared_difference(predictions, labels), 1, keepdims=True) * weights, tf.no_op()


def _signs(name: str | None, labels: Any, logits: Any) -> tuple[Any, Any]:
    """(Labels as 1 and -1, logits)."""
    with name_scope(name, "exp_loss", [logits, labels]):
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        try:
            labels.get_shape().merge_with(logits.get_shape())
        except ValueError:
            shapes = f"({logits.get_shape()} vs {labels.get_shape()})"
            raise ValueError(f"logits and labels must have the same shape {shapes}") from None
    ones = tf.ones_like(logits, dtype=logits.dtype)
    return tf.where(labels > tf.zeros_like(logits, dtype=logits.dtype), ones, -ones), logits


@public(BELOW + "per_example_exp_loss")
def per_example_exp_loss(labels: Any, weights: Any, predictions: Any, name: str | None = None, eps: float = 0.1) -> tuple[Any, Any]:
    """The exponential loss of probabilities that are stretched around a half and cut off at -1 and 1."""
    signs, logits = _signs(name, tf.cast(labels, tf.float32), predictions)
    stretched = 1.0 / eps * tf.sigmoid(logits) + -1.0 / 2 / eps
    ones = tf.ones_like(logits, dtype=logits.dtype)
    stretched = tf.where(stretched < -1, -ones, stretched)
    stretched = tf.where(stretched > 1, ones, stretched)
    return tf.exp(-stretched * signs) * weights, tf.no_op()


@public(BELOW + "per_example_full_exp_loss")
def per_example_full_exp_loss(labels: Any, weights: Any, predictions: Any, name: str | None = None) -> tuple[Any, Any]:
    """The exponential loss of logits."""
    signs, logits = _signs(name, tf.cast(labels, tf.float32), predictions)
    return tf.exp(-1.0 * logits * signs) * weights, tf.no_op()
