"""Statistics of samples: percentiles and autocorrelations."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.distributions.tensors import rotate_transpose
from everflow.graph.constants import constant_value
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.ops.control_flow.ordering import with_dependencies


@public("contrib.distributions.auto_correlation")
def auto_correlation(
    x: Any, axis: int = -1, max_lags: Any = None, center: bool = True, normalize: bool = True, name: str = "auto_correlation"
) -> Any:
    """How much the elements along an axis are like those 0, 1, 2 and so on places later."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        dtype = x.dtype
        if not dtype.is_complex and not dtype.is_floating:
            raise TypeError(f"Argument x must have either float or complex dtype found: {dtype}")
        rank: Any = tf.rank(x) if x.shape.ndims is None else x.shape.ndims
        places = rank - 1 - (axis if axis >= 0 else rank + axis)
        last = rotate_transpose(x, places)
        if center:
            last -= tf.reduce_mean(last, axis=-1, keepdims=True)
        static = tf.dimension_value(last.shape[-1]) if last.shape.ndims is not None else None
        count: Any = tf.shape(last)[-1] if static is None else static
        # A transform of twice the length keeps what is before the start from meeting the end; powers of two are fast.
        wide = tf.cast(2.0 ** tf.ceil(tf.log(tf.cast(count, tf.float64) * 2) / np.log(2.0)), tf.int32)
        padding = tf.pad([[0, wide - count]], [[tf.rank(last) - 1, 0], [0, 0]])
        signal = tf.pad(last, padding)
        spectrum = tf.fft(signal if dtype.is_complex else tf.complex(signal, tf.zeros_like(signal)))
        product = tf.ifft(spectrum * tf.conj(spectrum))
        product = product if dtype.is_complex else tf.real(product)
        lags: Any = count - 1
        if max_lags is not None:
            known = constant_value(convert_to_tensor(max_lags, name="max_lags"))
            lags = min(static - 1, int(known)) if static is not None and known is not None else tf.minimum(count - 1, max_lags)
        found = product[..., : lags + 1]
        if static is not None and isinstance(lags, int):
            found.set_shape(last.shape[:-1].concatenate([lags + 1]))
        pairs = tf.cast(count, dtype.real_dtype) - tf.cast(tf.range(lags + 1), dtype.real_dtype)
        found /= tf.cast(pairs, dtype)
        if normalize:
            found /= found[..., :1]
        return rotate_transpose(found, -places)


# How each way rounds the place of a percentile, counted from the largest element.
_ROUNDING = {"lower": tf.ceil, "higher": tf.floor, "nearest": tf.round}


@public("contrib.distributions.percentile")
def percentile(
    x: Any,
    q: Any,
    axis: Any = None,
    interpolation: str | None = None,
    keep_dims: bool = False,
    validate_args: bool = False,
    name: str | None = None,
) -> Any:
    """The element below which q percent of the elements along some axes are: the nearest, the lower or the higher one."""
    if interpolation is not None and interpolation not in _ROUNDING:
        raise ValueError(f"Argument 'interpolation' must be in {set(_ROUNDING)}.  Found {interpolation}")
    with name_scope(name or "percentile", values=[x, q]):
        x = convert_to_tensor(x, name="x")
        q = tf.cast(q, tf.float64, name="q")
        if q.shape.ndims not in (None, 0):
            raise ValueError(f"Expected argument 'x' to have ndims 0.  Found tensor {q}")
        if validate_args:
            low, high = tf.constant(0.0, tf.float64), tf.constant(100.0, tf.float64)
            checks = [tf.assert_rank(q, 0), tf.assert_greater_equal(q, low), tf.assert_less_equal(q, high)]
            q = with_dependencies(checks, q)
        axes = None if axis is None else _axes(x, axis)
        flat = tf.reshape(x, [-1]) if axes is None else _axes_at_end(x, axes)
        last = tf.shape(flat)[-1] - 1
        place = _ROUNDING[interpolation or "nearest"](tf.cast(last, tf.float64) * (1.0 - q / 100.0))
        place = tf.clip_by_value(tf.cast(place, tf.int32), 0, last)
        found = tf.nn.top_k(flat, k=last + 1).values[..., place]
        found.set_shape(flat.shape[:-1])
        if not keep_dims:
            return found
        if axes is None:
            ones = [1] * x.shape.ndims if x.shape.ndims is not None else tf.ones([tf.rank(x)], tf.int32)
            return tf.reshape(found, ones)
        for a in sorted(axes):
            found = tf.expand_dims(found, axis=a)
        return found


def _axes(x: Any, axis: Any) -> list[int]:
    axis = convert_to_tensor(axis, name="axis")
    tf.assert_integer(axis)
    if axis.shape.ndims is None:
        raise ValueError("Expected argument 'x' to have statically defined 'ndims'.  Found: ")
    if axis.shape.ndims > 1:
        raise ValueError(f"Expected argument 'x' to have ndims <= 1.  Found tensor {axis}")
    known = constant_value(axis)
    if known is None:
        raise ValueError(f"Expected argument 'axis' to be statically available.  Found: {axis}")
    ndims = x.shape.ndims
    if ndims is None:
        raise ValueError("Expected argument 'x' to have statically defined 'ndims'.  Found: ")
    if ndims < 1:
        raise ValueError(f"Expected argument 'x' to have ndims >= 1.  Found tensor {x}")
    found = []
    for a in np.atleast_1d(known).tolist():
        if a >= ndims:
            raise ValueError(f"dim {a} not in the interval [0, {ndims - 1}].")
        if a < -ndims:
            raise ValueError(f"Negatively indexed dim {a} not in the interval [-{ndims}, -1]")
        found.append(a % ndims)
    return found


def _axes_at_end(x: Any, axes: list[int]) -> Any:
    """x with some of its axes made one, the last."""
    others = [a for a in range(x.shape.ndims) if a not in axes]
    moved = tf.transpose(x, others + axes)
    static = moved.shape.as_list()
    if None not in static:
        return tf.reshape(moved, [*static[: len(others)], int(np.prod(static[len(others) :]))])
    return tf.reshape(moved, tf.concat([tf.shape(moved)[: len(others)], [-1]], 0))
