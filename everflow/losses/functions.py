"""The losses themselves: of each example, then weighted and reduced."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph import dtypes
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import name_scope
from everflow.losses.collected import add_loss
from everflow.losses.weighting import Reduction, compute_weighted_loss, number_present
from everflow.ops.math.confusion_matrix import remove_squeezable_dimensions
from everflow.ops.math.weights_broadcast import assert_broadcastable
from everflow.platform.deprecation import deprecated_argument_lookup

_DEFAULT = Reduction.SUM_BY_NONZERO_WEIGHTS


def _given(**arguments: Any) -> None:
    for name, value in arguments.items():
        if value is None:
            raise ValueError(f"{name} must not be None.")


def _as_floats(labels: Any, predictions: Any) -> tuple[Any, Any]:
    predictions, labels = tf.cast(predictions, dtype=dtypes.float32), tf.cast(labels, dtype=dtypes.float32)
    predictions.get_shape().assert_is_compatible_with(labels.get_shape())
    return labels, predictions


@public("losses.absolute_difference")
def absolute_difference(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Any:
    """How far predictions are off."""
    _given(labels=labels, predictions=predictions)
    with name_scope(scope, "absolute_difference", (predictions, labels, weights)) as scope:
        labels, predictions = _as_floats(labels, predictions)
        losses = tf.abs(tf.subtract(predictions, labels))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


@public("losses.cosine_distance")
def cosine_distance(
    labels: Any,
    predictions: Any,
    axis: Any = None,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
    dim: Any = None,
) -> Any:
    """One minus the cosine of the angle between vectors of length one."""
    axis = deprecated_argument_lookup("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    _given(labels=labels, predictions=predictions)
    with name_scope(scope, "cosine_distance_loss", (predictions, labels, weights)) as scope:
        labels, predictions = _as_floats(labels, predictions)
        losses = 1 - tf.reduce_sum(tf.multiply(predictions, labels), axis=(axis,), keepdims=True)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


@public("losses.hinge_loss")
def hinge_loss(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Any:
    """How far scores are from being right by one; labels are 0 and 1."""
    _given(labels=labels, logits=logits)
    with name_scope(scope, "hinge_loss", (logits, labels, weights)) as scope:
        labels, logits = _as_floats(labels, logits)
        ones = tf.ones_like(labels)
        signs = tf.subtract(2 * labels, ones)
        losses = tf.nn.relu(tf.subtract(ones, tf.multiply(signs, logits)))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


@public("losses.huber_loss")
def huber_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    delta: float = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Any:
    """Half the square of errors up to `delta`, and linear beyond."""
    _given(labels=labels, predictions=predictions)
    with name_scope(scope, "huber_loss", (predictions, labels, weights)) as scope:
        labels, predictions = _as_floats(labels, predictions)
        errors = tf.abs(tf.subtract(predictions, labels))
        near = tf.minimum(errors, delta)
        beyond = tf.subtract(errors, near)
        half = tf.convert_to_tensor(0.5, dtype=near.dtype)
        losses = tf.add(tf.multiply(half, tf.multiply(near, near)), tf.multiply(delta, beyond))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


@public("losses.log_loss")
def log_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Any:
    """The negative logarithm of the probability of what is so; `epsilon` keeps it finite."""
    _given(labels=labels, predictions=predictions)
    with name_scope(scope, "log_loss", (predictions, labels, weights)) as scope:
        labels, predictions = _as_floats(labels, predictions)
        yes = -tf.multiply(labels, tf.log(predictions + epsilon))
        losses = yes - tf.multiply((1 - labels), tf.log(1 - predictions + epsilon))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


@public("losses.mean_pairwise_squared_error")
def mean_pairwise_squared_error(
    labels: Any, predictions: Any, weights: Any = 1.0, scope: str | None = None, loss_collection: str | None = GraphKeys.LOSSES
) -> Any:
    """How far the differences between the elements of each example are off, squared."""
    _given(labels=labels, predictions=predictions)
    with name_scope(scope, "mean_pairwise_squared_error", (predictions, labels, weights)):
        weights = tf.cast(weights, dtype=dtypes.float32)
        labels = tf.cast(labels, dtype=dtypes.float32)
        with tf.control_dependencies((assert_broadcastable(weights, labels),)):
            labels, predictions = _as_floats(labels, predictions)
            errors = tf.subtract(predictions, labels)
            axis = tf.range(1, tf.rank(errors))
            squares = tf.reduce_sum(tf.square(errors), axis=axis, keepdims=True)
            count = number_present(errors, weights, per_batch=True)
            first = 2.0 * tf.div_no_nan(squares, tf.maximum(count - 1, 0), name="value")
            total = tf.reduce_sum(errors, axis=axis, keepdims=True)
            second = 2.0 * tf.div_no_nan(tf.square(total), tf.maximum(tf.multiply(count, count - 1), 0), name="value")
            loss = tf.reduce_sum(tf.multiply(first - second, weights))
            found = tf.where(tf.reduce_sum(count) > 0, loss, tf.zeros_like(loss), name="value")
            add_loss(found, loss_collection)
            return found


@public("losses.mean_squared_error")
def mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Any:
    """How far predictions are off, squared."""
    _given(labels=labels, predictions=predictions)
    with name_scope(scope, "mean_squared_error", (predictions, labels, weights)) as scope:
        labels, predictions = _as_floats(labels, predictions)
        losses = tf.math.squared_difference(predictions, labels)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def _alike(labels: Any, logits: Any) -> tuple[Any, Any]:
    """Labels and logits of one type and shape."""
    logits = tf.convert_to_tensor(logits)
    labels = tf.cast(labels, logits.dtype)
    logits.get_shape().assert_is_compatible_with(labels.get_shape())
    return labels, logits


@public("losses.sigmoid_cross_entropy")
def sigmoid_cross_entropy(
    multi_class_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: Any = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Any:
    """The cross entropy of classes that don't exclude each other; smoothing moves labels towards one half."""
    _given(multi_class_labels=multi_class_labels, logits=logits)
    with name_scope(scope, "sigmoid_cross_entropy_loss", (logits, multi_class_labels, weights)) as scope:
        labels, logits = _alike(multi_class_labels, logits)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


@public("losses.softmax_cross_entropy")
def softmax_cross_entropy(
    onehot_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: Any = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Any:
    """The cross entropy of classes of which one is right; smoothing moves labels towards all classes alike."""
    _given(onehot_labels=onehot_labels, logits=logits)
    with name_scope(scope, "softmax_cross_entropy_loss", (logits, onehot_labels, weights)) as scope:
        labels, logits = _alike(onehot_labels, logits)
        if label_smoothing > 0:
            classes = tf.cast(tf.shape(labels)[1], logits.dtype)
            for_others = label_smoothing / classes
            labels = labels * (1.0 - label_smoothing) + for_others
        labels = tf.stop_gradient(labels, name="labels_stop_gradient")
        losses = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def _with_ranks_that_fit(labels: Any, logits: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Labels have one dimension less than logits, and weights as many as labels: a last dimension of 1 goes."""
    labels, logits = remove_squeezable_dimensions(labels, logits, expected_rank_diff=1)
    weights = tf.convert_to_tensor(weights)
    labels_rank, weights_shape = labels.get_shape().ndims, weights.get_shape()
    weights_rank = weights_shape.ndims
    if weights_rank is not None and labels_rank is not None:
        return labels, logits, tf.squeeze(weights, [-1]) if weights_rank - labels_rank == 1 else weights
    if weights_rank is None or weights_rank > 0 and weights_shape.dims[-1].is_compatible_with(1):
        difference = tf.rank(weights) - tf.rank(labels)
        weights = tf.cond(tf.equal(1, difference), lambda: tf.squeeze(weights, [-1]), lambda: weights)
    return labels, logits, weights


@public("losses.sparse_softmax_cross_entropy")
def sparse_softmax_cross_entropy(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Any:
    """The cross entropy of classes of which the label names the right one."""
    _given(labels=labels, logits=logits)
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", (logits, labels, weights)) as scope:
        labels, logits, weights = _with_ranks_that_fit(labels, logits, weights)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)
