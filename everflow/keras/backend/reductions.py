"""Reductions and comparisons."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public


def _floats(x: Any) -> Any:
    return tf.cast(x, tf.keras.backend.floatx()) if x.dtype.base_dtype == tf.bool else x


@public("keras.backend.max")
def largest(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The largest element."""
    return tf.reduce_max(x, axis, keepdims)


@public("keras.backend.min")
def smallest(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The smallest element."""
    return tf.reduce_min(x, axis, keepdims)


@public("keras.backend.sum")
def total(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The sum."""
    return tf.reduce_sum(x, axis, keepdims)


@public("keras.backend.prod")
def prod(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The product."""
    return tf.reduce_prod(x, axis, keepdims)


@public("keras.backend.cumsum")
def cumsum(x: Any, axis: int = 0) -> Any:
    """Sums of all elements so far."""
    return tf.cumsum(x, axis=axis)


@public("keras.backend.cumprod")
def cumprod(x: Any, axis: int = 0) -> Any:
    """Products of all elements so far."""
    return tf.cumprod(x, axis=axis)


@public("keras.backend.var")
def var(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The variance."""
    return tf.math.reduce_variance(_floats(x), axis=axis, keepdims=keepdims)


@public("keras.backend.std")
def std(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The deviation."""
    return tf.math.reduce_std(_floats(x), axis=axis, keepdims=keepdims)


@public("keras.backend.mean")
def mean(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The mean."""
    return tf.reduce_mean(_floats(x), axis, keepdims)


@public("keras.backend.any")
def some(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether an element is true."""
    return tf.reduce_any(tf.cast(x, "bool"), axis, keepdims)


@public("keras.backend.all")
def every(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether all elements are true."""
    return tf.reduce_all(tf.cast(x, "bool"), axis, keepdims)


@public("keras.backend.argmax")
def argmax(x: Any, axis: int = -1) -> Any:
    """The place of the largest element."""
    return tf.argmax(x, axis)


@public("keras.backend.argmin")
def argmin(x: Any, axis: int = -1) -> Any:
    """The place of the smallest element."""
    return tf.argmin(x, axis)


@internal("keras.backend.logsumexp")
def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The logarithm of the sum of exponentials."""
    return tf.reduce_logsumexp(x, axis, keepdims)


@public("keras.backend.equal")
def equal(x: Any, y: Any) -> Any:
    """Where two tensors are equal."""
    return tf.equal(x, y)


@public("keras.backend.not_equal")
def not_equal(x: Any, y: Any) -> Any:
    """Where two tensors differ."""
    return tf.not_equal(x, y)


@public("keras.backend.greater")
def greater(x: Any, y: Any) -> Any:
    """Where `x` is larger."""
    return tf.greater(x, y)


@public("keras.backend.greater_equal")
def greater_equal(x: Any, y: Any) -> Any:
    """Where `x` is not smaller."""
    return tf.greater_equal(x, y)


@public("keras.backend.less")
def less(x: Any, y: Any) -> Any:
    """Where `x` is smaller."""
    return tf.less(x, y)


@public("keras.backend.less_equal")
def less_equal(x: Any, y: Any) -> Any:
    """Where `x` is not larger."""
    return tf.less_equal(x, y)


@public("keras.backend.in_top_k")
def in_top_k(predictions: Any, targets: Any, k: int) -> Any:
    """Whether each target is among the k largest predictions."""
    return tf.nn.in_top_k(predictions, targets, k)
