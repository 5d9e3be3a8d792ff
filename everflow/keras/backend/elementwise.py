"""Functions of each element, as Keras has them."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.dtypes import DTypeLike


def _constant(value: Any, dtype: DTypeLike) -> Any:
    return convert_to_tensor(value, dtype=dtype)


@public("keras.backend.clip")
def clip(x: Any, min_value: Any, max_value: Any) -> Any:
    """The elements, between two bounds; where these cross, the lower one holds."""
    if isinstance(min_value, (int, float)) and isinstance(max_value, (int, float)) and max_value < min_value:
        max_value = min_value
    if max_value is None:
        max_value = float("inf")
    dtype = x.dtype.base_dtype
    return tf.clip_by_value(x, _constant(min_value, dtype), _constant(max_value, dtype))


@public("keras.backend.sqrt")
def sqrt(x: Any) -> Any:
    """Square roots; of negative numbers, zero."""
    zero, infinity = _constant(0.0, x.dtype.base_dtype), _constant(float("inf"), x.dtype.base_dtype)
    return tf.sqrt(tf.clip_by_value(x, zero, infinity))


@public("keras.backend.relu")
def relu(x: Any, alpha: Any = 0.0, max_value: Any = None, threshold: Any = 0) -> Any:
    """`x` above the threshold, up to `max_value`, and `alpha * (x - threshold)` below it."""
    if alpha != 0.0 and max_value is None and threshold == 0:
        return tf.nn.leaky_relu(x, alpha=alpha)
    below = None
    if alpha != 0.0:
        below = tf.nn.relu(-x + threshold) if threshold != 0 else tf.nn.relu(-x)
    is_capped = max_value is not None
    if threshold != 0:
        x = x * tf.cast(tf.greater(x, threshold), x.dtype.base_dtype)
    elif max_value == 6:
        x, is_capped = tf.nn.relu6(x), False
    else:
        x = tf.nn.relu(x)
    if is_capped:
        dtype = x.dtype.base_dtype
        x = tf.clip_by_value(x, _constant(0.0, dtype), _constant(max_value, dtype))
    if below is not None:
        x = x - _constant(alpha, x.dtype.base_dtype) * below
    return x


@public("keras.backend.elu")
def elu(x: Any, alpha: Any = 1.0) -> Any:
    """`x` where it is positive, `alpha * (exp(x) - 1)` elsewhere."""
    found = tf.nn.elu(x)
    return found if alpha == 1 else tf.where(x > 0, found, alpha * found)


@public("keras.backend.hard_sigmoid")
def hard_sigmoid(x: Any) -> Any:
    """A sigmoid made of three straight lines: `0.2 * x + 0.5` between 0 and 1."""
    dtype = x.dtype.base_dtype
    slope, middle = _constant(0.2, dtype), _constant(0.5, dtype)
    return tf.clip_by_value(tf.add(tf.multiply(x, slope), middle), 0.0, 1.0)


@public("keras.backend.softmax")
def softmax(x: Any, axis: int = -1) -> Any:
    """Softmax along an axis."""
    return tf.nn.softmax(x, axis=axis)


@public("keras.backend.softplus")
def softplus(x: Any) -> Any:
    """log(exp(x) + 1)."""
    return tf.nn.softplus(x)


@public("keras.backend.softsign")
def softsign(x: Any) -> Any:
    """x / (|x| + 1)."""
    return tf.nn.softsign(x)


@public("keras.backend.sigmoid")
def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x))."""
    return tf.nn.sigmoid(x)


@public("keras.backend.tanh")
def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    return tf.nn.tanh(x)


@public("keras.backend.maximum")
def maximum(x: Any, y: Any) -> Any:
    """The larger of two, element by element."""
    return tf.maximum(x, y)


@public("keras.backend.minimum")
def minimum(x: Any, y: Any) -> Any:
    """The smaller of two, element by element."""
    return tf.minimum(x, y)


@public("keras.backend.square")
def square(x: Any) -> Any:
    """Squares."""
    return tf.square(x)


@public("keras.backend.abs")
def absolute(x: Any) -> Any:
    """Absolute values."""
    return tf.abs(x)


@public("keras.backend.exp")
def exp(x: Any) -> Any:
    """Exponentials."""
    return tf.exp(x)


@public("keras.backend.log")
def log(x: Any) -> Any:
    """Natural logarithms."""
    return tf.log(x)


@public("keras.backend.round")
def rounded(x: Any) -> Any:
    """The nearest whole numbers, halves to even."""
    return tf.round(x)


@public("keras.backend.sign")
def sign(x: Any) -> Any:
    """Signs."""
    return tf.sign(x)


@public("keras.backend.pow")
def power(x: Any, a: Any) -> Any:
    """Powers."""
    return tf.pow(x, a)


@public("keras.backend.sin")
def sin(x: Any) -> Any:
    """Sines."""
    return tf.sin(x)


@public("keras.backend.cos")
def cos(x: Any) -> Any:
    """Cosines."""
    return tf.cos(x)


@public("keras.backend.l2_normalize")
def l2_normalize(x: Any, axis: Any = None) -> Any:
    """Vectors of length one."""
    return tf.nn.l2_normalize(x, axis=axis)
