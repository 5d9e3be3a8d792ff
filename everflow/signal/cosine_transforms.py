"""Discrete cosine transforms of the types I, II and III, by real Fourier transforms."""

from __future__ import annotations

import math
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.convert import convert_to_tensor

_INVERSE = {1: 1, 2: 3, 3: 2}


@public("signal.dct", "spectral.dct")
def dct(input: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None, name: str | None = None) -> Any:
    """The cosine transform of the last axis, of its first `n` numbers (or of as many, filled up with zeros)."""
    _check(input, type, n, axis, norm)
    with tf.name_scope(name, "dct", [input]):
        x = convert_to_tensor(input, tf.float32)
        if n is not None:
            x = _of_length(x, n)
        size = tf.dimension_value(x.shape[-1]) or tf.shape(x)[-1]
        count = tf.cast(size, tf.float32)
        if type == 1:
            return tf.math.real(tf.signal.rfft(tf.concat([x, x[..., -2:0:-1]], -1)))
        turned = tf.complex(0.0, tf.range(count) * math.pi * 0.5 / count)
        if type == 2:
            found = 2.0 * tf.math.real(tf.signal.rfft(x, fft_length=[2 * size])[..., :size] * tf.exp(-turned))
            return found * _ortho(found, tf.math.rsqrt(2.0 * count), math.sqrt(0.5)) if norm == "ortho" else found
        if norm == "ortho":
            x *= _ortho(x, tf.math.rsqrt(2.0 * count), math.sqrt(2.0))
        spectrum = tf.complex(x, tf.zeros_like(x)) * tf.exp(turned)
        return 2.0 * count * tf.signal.irfft(spectrum, fft_length=[2 * size])[..., :size]


@public("signal.idct", "spectral.idct")
def idct(input: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None, name: str | None = None) -> Any:
    """The inverse of `tf.signal.dct`, up to a factor where there is no normalization."""
    _check(input, type, n, axis, norm)
    return dct(input, _INVERSE[type], n, axis, norm, name)


def _ortho(x: Any, factor: Any, first: float) -> Any:
    """What makes the transform orthonormal: a factor for all numbers, another one for the first."""
    rest = tf.ones_like(x[..., 1:])
    return factor * tf.concat([first * tf.ones_like(x[..., :1]), rest], -1)


def _of_length(x: Any, n: int) -> Any:
    size = tf.dimension_value(x.shape[-1])
    if size is not None and size >= n:
        return x[..., :n]
    missing = tf.maximum(0, n - tf.shape(x)[-1])
    around = tf.concat([tf.zeros([tf.rank(x) - 1, 2], tf.int32), [[0, missing]]], 0)
    found = tf.pad(x, around)[..., :n]
    found.set_shape(x.shape[:-1].concatenate([n]))
    return found


def _check(x: Any, type: int, n: int | None, axis: int, norm: str | None) -> None:
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and n < 1:
        raise ValueError("n should be a positive integer or None")
    if type not in _INVERSE:
        raise ValueError("Only Types I, II and III (I)DCT are supported.")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")
    if type == 1:
        if norm == "ortho":
            raise ValueError("Normalization is not supported for the Type-I DCT.")
        size = n if n is not None else tf.dimension_value(convert_to_tensor(x, tf.float32).shape[-1])
        if size is not None and size < 2:
            raise ValueError("Type-I DCT requires the dimension to be greater than one.")
