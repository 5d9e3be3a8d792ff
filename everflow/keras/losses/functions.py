"""Losses of each sample, as functions of what is true and what was predicted."""

from __future__ import annotations

import math
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.convert import convert_to_tensor
from everflow.keras.backend import crossentropies
from everflow.keras.config import epsilon, floatx
from everflow.runtime.smart_conditionals import smart_cond


def _floats(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Both as tensors of the type of the prediction."""
    y_pred = convert_to_tensor(y_pred)
    if not y_pred.dtype.is_floating:
        y_pred = tf.cast(y_pred, floatx())
    return tf.cast(y_true, y_pred.dtype), y_pred


@public(
    "keras.losses.mean_squared_error",
    "keras.losses.mse",
    "keras.losses.MSE",
    "keras.metrics.mean_squared_error",
    "keras.metrics.mse",
    "keras.metrics.MSE",
)
@internal("keras.losses.mean_squared_error", "keras.losses.mse", "keras.losses.MSE")
def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """The mean of squared differences."""
    y_pred = convert_to_tensor(y_pred)
    return tf.reduce_mean(tf.squared_difference(y_pred, tf.cast(y_true, y_pred.dtype)), axis=-1)


@public(
    "keras.losses.mean_absolute_error",
    "keras.losses.mae",
    "keras.losses.MAE",
    "keras.metrics.mean_absolute_error",
    "keras.metrics.mae",
    "keras.metrics.MAE",
)
@internal("keras.losses.mean_absolute_error", "keras.losses.mae", "keras.losses.MAE")
def mean_absolute_error(y_true: Any, y_pred: Any) -> Any:
    """The mean of absolute differences."""
    y_pred = convert_to_tensor(y_pred)
    return tf.reduce_mean(tf.abs(y_pred - tf.cast(y_true, y_pred.dtype)), axis=-1)


@public(
    "keras.losses.mean_absolute_percentage_error",
    "keras.losses.mape",
    "keras.losses.MAPE",
    "keras.metrics.mean_absolute_percentage_error",
    "keras.metrics.mape",
    "keras.metrics.MAPE",
)
@internal("keras.losses.mean_absolute_percentage_error", "keras.losses.mape", "keras.losses.MAPE")
def mean_absolute_percentage_error(y_true: Any, y_pred: Any) -> Any:
    """The mean of absolute differences as percentages of what is true."""
    y_pred = convert_to_tensor(y_pred)
    y_true = tf.cast(y_true, y_pred.dtype)
    return 100.0 * tf.reduce_mean(tf.abs((y_true - y_pred) / tf.maximum(tf.abs(y_true), epsilon())), axis=-1)


@public(
    "keras.losses.mean_squared_logarithmic_error",
    "keras.losses.msle",
    "keras.losses.MSLE",
    "keras.metrics.mean_squared_logarithmic_error",
    "keras.metrics.msle",
    "keras.metrics.MSLE",
)
@internal("keras.losses.mean_squared_logarithmic_error", "keras.losses.msle", "keras.losses.MSLE")
def mean_squared_logarithmic_error(y_true: Any, y_pred: Any) -> Any:
    """The mean of squared differences of logarithms."""
    y_pred = convert_to_tensor(y_pred)
    y_true = tf.cast(y_true, y_pred.dtype)
    logs = [tf.log(tf.maximum(y, epsilon()) + 1.0) for y in (y_pred, y_true)]
    return tf.reduce_mean(tf.squared_difference(*logs), axis=-1)


def _signs(y_true: Any) -> Any:
    """Labels 0 and 1 as -1 and 1; others as they are."""
    binary = tf.reduce_all(tf.logical_or(tf.equal(y_true, 0), tf.equal(y_true, 1)))
    return smart_cond(binary, lambda: 2.0 * y_true - 1.0, lambda: tf.identity(y_true))


@public("keras.losses.hinge", "keras.metrics.hinge")
@internal("keras.losses.hinge")
def hinge(y_true: Any, y_pred: Any) -> Any:
    """max(1 - y_true * y_pred, 0)."""
    y_pred = convert_to_tensor(y_pred)
    y_true = _signs(tf.cast(y_true, y_pred.dtype))
    return tf.reduce_mean(tf.maximum(1.0 - y_true * y_pred, 0.0), axis=-1)


@public("keras.losses.squared_hinge", "keras.metrics.squared_hinge")
@internal("keras.losses.squared_hinge")
def squared_hinge(y_true: Any, y_pred: Any) -> Any:
    """The square of the hinge loss."""
    y_pred = convert_to_tensor(y_pred)
    y_true = _signs(tf.cast(y_true, y_pred.dtype))
    return tf.reduce_mean(tf.square(tf.maximum(1.0 - y_true * y_pred, 0.0)), axis=-1)


@public("keras.losses.categorical_hinge")
@internal("keras.losses.categorical_hinge")
def categorical_hinge(y_true: Any, y_pred: Any) -> Any:
    """By how much the right class fails to lead the best wrong one by one."""
    y_pred = convert_to_tensor(y_pred)
    labels = tf.cast(y_true, y_pred.dtype)
    right = tf.reduce_sum(labels * y_pred, axis=-1)
    lead = tf.reduce_max((1.0 - labels) * y_pred, axis=-1) - right
    return tf.maximum(0.0, lead + 1.0)


@internal("keras.losses.huber_loss")
def huber_loss(y_true: Any, y_pred: Any, delta: float = 1.0) -> Any:
    """Squares of small differences, multiples of large ones."""
    y_pred, y_true = tf.cast(y_pred, floatx()), tf.cast(y_true, floatx())
    size = tf.abs(y_pred - y_true)
    square = tf.minimum(size, delta)
    return 0.5 * square * square + delta * (size - square)


@public("keras.losses.logcosh")
@internal("keras.losses.logcosh")
def logcosh(y_true: Any, y_pred: Any) -> Any:
    """The logarithm of the hyperbolic cosine of the difference."""
    y_pred = convert_to_tensor(y_pred)
    x = y_pred - tf.cast(y_true, y_pred.dtype)
    return tf.reduce_mean(x + tf.nn.softplus(-2.0 * x) - math.log(2.0), axis=-1)


@public("keras.losses.categorical_crossentropy", "keras.metrics.categorical_crossentropy")
@internal("keras.losses.categorical_crossentropy")
def categorical_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: Any = 0) -> Any:
    """The cross entropy with one-hot labels."""
    y_true, y_pred = _floats(y_true, y_pred)
    if label_smoothing:
        classes = tf.cast(tf.shape(y_true)[1], y_pred.dtype)
        y_true = y_true * (1.0 - label_smoothing) + label_smoothing / classes
    return crossentropies.categorical_crossentropy(y_true, y_pred, from_logits=from_logits)


@public("keras.losses.sparse_categorical_crossentropy", "keras.metrics.sparse_categorical_crossentropy")
@internal("keras.losses.sparse_categorical_crossentropy")
def sparse_categorical_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False, axis: int = -1) -> Any:
    """The cross entropy with labels that are numbers of classes."""
    y_pred = convert_to_tensor(y_pred)
    return crossentropies.sparse_categorical_crossentropy(convert_to_tensor(y_true), y_pred, from_logits=from_logits, axis=axis)


@public("keras.losses.binary_crossentropy", "keras.metrics.binary_crossentropy")
@internal("keras.losses.binary_crossentropy")
def binary_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: Any = 0) -> Any:
    """The mean cross entropy of labels that are 0 or 1."""
    y_true, y_pred = _floats(y_true, y_pred)
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + 0.5 * label_smoothing
    return tf.reduce_mean(crossentropies.binary_crossentropy(y_true, y_pred, from_logits=from_logits), axis=-1)


@public(
    "keras.losses.kullback_leibler_divergence",
    "keras.losses.kld",
    "keras.losses.KLD",
    "keras.metrics.kullback_leibler_divergence",
    "keras.metrics.kld",
    "keras.metrics.KLD",
)
@internal("keras.losses.kullback_leibler_divergence", "keras.losses.kld", "keras.losses.KLD")
def kullback_leibler_divergence(y_true: Any, y_pred: Any) -> Any:
    """What the prediction lacks of the true distribution."""
    y_pred = convert_to_tensor(y_pred)
    y_true = tf.cast(y_true, y_pred.dtype)
    y_true, y_pred = (tf.clip_by_value(y, epsilon(), 1.0) for y in (y_true, y_pred))
    return tf.reduce_sum(y_true * tf.log(y_true / y_pred), axis=-1)


@public("keras.losses.poisson", "keras.metrics.poisson")
@internal("keras.losses.poisson")
def poisson(y_true: Any, y_pred: Any) -> Any:
    """The loss of counts whose means are predicted."""
    y_pred = convert_to_tensor(y_pred)
    y_true = tf.cast(y_true, y_pred.dtype)
    return tf.reduce_mean(y_pred - y_true * tf.log(y_pred + epsilon()), axis=-1)


@public(
    "keras.losses.cosine_similarity",
    "keras.losses.cosine_proximity",
    "keras.losses.cosine",
    "keras.metrics.cosine_proximity",
    "keras.metrics.cosine",
)
@internal("keras.losses.cosine_similarity", "keras.losses.cosine_proximity", "keras.metrics.cosine_proximity")
def cosine_proximity(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """The cosine of the angle between two vectors."""
    return tf.reduce_sum(tf.nn.l2_normalize(y_true, axis=axis) * tf.nn.l2_normalize(y_pred, axis=axis), axis=axis)
