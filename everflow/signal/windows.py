"""Windows: weights that fade a frame out towards its ends."""

from __future__ import annotations

import math
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.constants import constant_value
from everflow.graph.convert import convert_to_tensor
from everflow.graph.dtypes import DTypeLike


@public("signal.hann_window", "contrib.signal.hann_window")
def hann_window(window_length: Any, periodic: Any = True, dtype: DTypeLike = tf.float32, name: str | None = None) -> Any:
    """A Hann window: a period of a cosine, raised and turned over."""
    return _raised_cosine(name, "hann_window", window_length, periodic, dtype, 0.5, 0.5)


@public("signal.hamming_window", "contrib.signal.hamming_window")
def hamming_window(window_length: Any, periodic: Any = True, dtype: DTypeLike = tf.float32, name: str | None = None) -> Any:
    """A Hamming window, which does not fade out altogether."""
    return _raised_cosine(name, "hamming_window", window_length, periodic, dtype, 0.54, 0.46)


def _raised_cosine(name: str | None, default_name: str, length: Any, periodic: Any, dtype: Any, level: float, height: float) -> Any:
    dtype = tf.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {dtype}")
    with tf.name_scope(name, default_name, [length, periodic]):
        length = convert_to_tensor(length, tf.int32, name="window_length")
        length.shape.assert_has_rank(0)
        if constant_value(length) == 1:
            return tf.ones([1], dtype)
        # As in TensorFlow, windows of odd length are symmetric either way.
        is_even = 1 - tf.math.floormod(length, 2)
        steps = length + tf.cast(convert_to_tensor(periodic, tf.bool), tf.int32) * is_even - 1
        turns = tf.cast(tf.range(length), dtype) / tf.cast(tf.maximum(steps, 1), dtype)
        found = level - height * tf.cos(2 * math.pi * turns)
        if constant_value(length) is None:
            found = tf.where(tf.fill([length], tf.equal(length, 1)), tf.ones_like(found), found)
        return found
