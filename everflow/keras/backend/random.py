"""Random tensors and variables as Keras makes them: with a seed of numpy's where none is given."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.graph.dtypes import DTypeLike
from everflow.keras.backend.values import variable
from everflow.keras.config import floatx


def _seed(seed: int | None) -> Any:
    return np.random.randint(10_000_000) if seed is None else seed


@public("keras.backend.random_normal")
def random_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: DTypeLike | None = None, seed: int | None = None) -> Any:
    """Normal numbers."""
    return tf.random_normal(shape, mean=mean, stddev=stddev, dtype=dtype or floatx(), seed=_seed(seed))


@public("keras.backend.random_uniform")
def random_uniform(shape: Any, minval: Any = 0.0, maxval: Any = 1.0, dtype: DTypeLike | None = None, seed: int | None = None) -> Any:
    """Numbers between two bounds."""
    return tf.random_uniform(shape, minval=minval, maxval=maxval, dtype=dtype or floatx(), seed=_seed(seed))


@public("keras.backend.random_binomial")
def random_binomial(shape: Any, p: Any = 0.0, dtype: DTypeLike | None = None, seed: int | None = None) -> Any:
    """1 with a probability, else 0."""
    dtype = dtype or floatx()
    drawn = tf.random_uniform(shape, dtype=dtype, seed=_seed(seed))
    return tf.where(drawn <= p, tf.ones(shape, dtype=dtype), tf.zeros(shape, dtype=dtype))


@public("keras.backend.truncated_normal")
def truncated_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: DTypeLike | None = None, seed: int | None = None) -> Any:
    """Normal numbers within two deviations of the mean."""
    return tf.truncated_normal(shape, mean, stddev, dtype=dtype or floatx(), seed=_seed(seed))


@public("keras.backend.dropout")
def dropout(x: Any, level: Any, noise_shape: Any = None, seed: int | None = None) -> Any:
    """A part of the elements set to zero, the others larger by as much."""
    return tf.nn.dropout(x, rate=level, noise_shape=noise_shape, seed=_seed(seed))


@public("keras.backend.random_uniform_variable")
def random_uniform_variable(
    shape: Any, low: Any, high: Any, dtype: DTypeLike | None = None, name: str | None = None, seed: int | None = None
) -> Any:
    """A variable of numbers between two bounds."""
    kind = tf.as_dtype(dtype or floatx())
    drawn = tf.random_uniform_initializer(low, high, dtype=kind, seed=_seed(seed))(shape)
    return variable(drawn, dtype=kind, name=name)


@public("keras.backend.random_normal_variable")
def random_normal_variable(
    shape: Any, mean: Any, scale: Any, dtype: DTypeLike | None = None, name: str | None = None, seed: int | None = None
) -> Any:
    """A variable of normal numbers."""
    kind = tf.as_dtype(dtype or floatx())
    drawn = tf.random_normal_initializer(mean, scale, dtype=kind, seed=_seed(seed))(shape)
    return variable(drawn, dtype=kind, name=name)
