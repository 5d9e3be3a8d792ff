"""Initializers as TensorFlow 2 has them: the type is given with the shape, and a seed makes the values a function of the seed alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal
from everflow.graph import dtypes
from everflow.graph.convert import constant_v2
from everflow.ops.variables.initializers import CUT_OFF, checked_scaling, fans, floating, scaled_variance, sizes
from everflow.ops.variables.orthogonal_initializers import orthogonal_columns


def _named(*names: str) -> Any:
    return internal(*(f"ops.init_ops_v2.{name}" for name in names))


_named("_compute_fans")(fans)


@_named("Initializer")
class Initializer:
    """Makes initial values: `initializer(shape, dtype)`."""

    def __call__(self, shape: Any, dtype: dtypes.DTypeLike | None = None) -> Any:
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal initializer."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """An initializer with these arguments."""
        config.pop("dtype", None)
        return cls(**config)


@_named("_assert_float_dtype")
def _floating(dtype: dtypes.DTypeLike) -> dtypes.DType:
    return floating(dtype)


class Randomness:
    """Where random values come from: a seed of their own, or the generator of the graph."""

    def __init__(self, seed: int | None) -> None:
        self._seed = None if seed is None else [seed, 0]

    def normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: dtypes.DTypeLike = dtypes.float32) -> Any:
        """Normal values."""
        if self._seed is None:
            return tf.random_normal(shape, mean, stddev, dtype)
        return tf.random.stateless_normal(shape, self._seed, mean, stddev, dtype)

    def truncated_normal(self, shape: Any, mean: Any, stddev: Any, dtype: dtypes.DTypeLike) -> Any:
        """Normal values within two standard deviations."""
        if self._seed is None:
            return tf.truncated_normal(shape, mean, stddev, dtype)
        return tf.random.stateless_truncated_normal(shape, self._seed, mean, stddev, dtype)

    def uniform(self, shape: Any, minval: Any, maxval: Any, dtype: dtypes.DTypeLike) -> Any:
        """Values between two bounds."""
        if self._seed is None:
            return tf.random_uniform(shape, minval, maxval, dtype)
        return tf.random.stateless_uniform(shape, self._seed, minval, maxval, dtype)


@_named("Zeros", "zeros", "zero", "zeros_initializer")
class Zeros(Initializer):
    """All zeros."""

    def __call__(self, shape: Any, dtype: Any = dtypes.float32) -> Any:
        return tf.zeros(shape, dtypes.as_dtype(dtype))


def _numeric(dtype: dtypes.DTypeLike) -> dtypes.DType:
    dtype = dtypes.as_dtype(dtype)
    if not (dtype.is_floating or dtype.is_integer or dtype.is_complex or dtype is dtypes.bool):
        raise ValueError(f"Expected numeric or boolean dtype, got {dtype}.")
    return dtype


@_named("Ones", "ones", "one", "ones_initializer")
class Ones(Initializer):
    """All ones."""

    def __call__(self, shape: Any, dtype: Any = dtypes.float32) -> Any:
        return tf.ones(shape, _numeric(dtype))


@_named("Constant", "constant", "constant_initializer")
class Constant(Initializer):
    """A given value; a list or array has as many elements as the shape."""

    def __init__(self, value: Any = 0) -> None:
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(
                f"Invalid type for initial value: {type(value)} (expected Python scalar, list or tuple of values, or numpy.ndarray)."
            )
        self.value = value

    def __call__(self, shape: Any, dtype: dtypes.DTypeLike | None = None) -> Any:
        return constant_v2(self.value, None if dtype is None else dtypes.as_dtype(dtype), shape)

    def get_config(self) -> dict[str, Any]:
        return {"value": self.value}


@_named("RandomUniform", "random_uniform", "uniform", "random_uniform_initializer")
class RandomUniform(Initializer):
    """Uniform between two bounds."""

    def __init__(self, minval: Any = -0.05, maxval: Any = 0.05, seed: int | None = None) -> None:
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32) -> Any:
        dtype = dtypes.as_dtype(dtype)
        if not dtype.is_floating and not dtype.is_integer:
            raise ValueError(f"Expected float or integer dtype, got {dtype}.")
        return Randomness(self.seed).uniform(shape, self.minval, self.maxval, dtype)

    def get_config(self) -> dict[str, Any]:
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed}


@_named("RandomNormal", "random_normal", "normal", "random_normal_initializer")
class RandomNormal(Initializer):
    """Normal."""

    def __init__(self, mean: Any = 0.0, stddev: Any = 0.05, seed: int | None = None) -> None:
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32) -> Any:
        return Randomness(self.seed).normal(shape, self.mean, self.stddev, floating(dtype))

    def get_config(self) -> dict[str, Any]:
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed}


@_named("TruncatedNormal", "truncated_normal", "truncated_normal_initializer")
class TruncatedNormal(RandomNormal):
    """Normal, without what is further than two standard deviations from the mean."""

    def __call__(self, shape: Any, dtype: Any = dtypes.float32) -> Any:
        return Randomness(self.seed).truncated_normal(shape, self.mean, self.stddev, floating(dtype))


@_named("VarianceScaling", "variance_scaling_initializer")
class VarianceScaling(Initializer):
    """Random, with a variance of `scale` over the number of inputs, of outputs, or their mean."""

    def __init__(self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal", seed: int | None = None) -> None:
        self.scale, self.mode, kind = checked_scaling(scale, mode, distribution)
        self.distribution = "truncated_normal" if kind == "normal" else kind
        self.seed = seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32) -> Any:
        dtype, random = floating(dtype), Randomness(self.seed)
        variance = scaled_variance(self, shape)
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * variance)
            return random.uniform(shape, -limit, limit, dtype)
        if self.distribution == "untruncated_normal":
            return random.normal(shape, 0.0, math.sqrt(variance), dtype)
        return random.truncated_normal(shape, 0.0, math.sqrt(variance) / CUT_OFF, dtype)

    def get_config(self) -> dict[str, Any]:
        return {"scale": self.scale, "mode": self.mode, "distribution": self.distribution, "seed": self.seed}


@_named("Orthogonal", "orthogonal", "orthogonal_initializer")
class Orthogonal(Initializer):
    """An orthogonal matrix; more dimensions are flattened to rows and columns first."""

    def __init__(self, gain: float = 1.0, seed: int | None = None) -> None:
        self.gain, self.seed = gain, seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32) -> Any:
        dtype, shape = floating(dtype), sizes(shape)
        if len(shape) < 2:
            raise ValueError("The tensor to initialize must be at least two-dimensional")
        rows, columns = math.prod(shape[:-1]), shape[-1]
        q = orthogonal_columns(Randomness(self.seed).normal((max(rows, columns), min(rows, columns)), dtype=dtype))
        if rows < columns:
            q = tf.matrix_transpose(q)
        return self.gain * tf.reshape(q, shape)

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, "seed": self.seed}


@_named("Identity", "identity", "identity_initializer")
class Identity(Initializer):
    """The identity matrix."""

    def __init__(self, gain: float = 1.0) -> None:
        self.gain = gain

    def __call__(self, shape: Any, dtype: Any = dtypes.float32) -> Any:
        dtype, shape = floating(dtype), sizes(shape)
        if len(shape) != 2:
            raise ValueError("Identity matrix initializer can only be used for 2D matrices.")
        return self.gain * tf.eye(shape[0], shape[1], dtype=dtype)

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain}


@_named("GlorotUniform", "glorot_uniform", "glorot_uniform_initializer")
class GlorotUniform(VarianceScaling):
    """Uniform, by Glorot and Bengio; also called Xavier uniform."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(1.0, "fan_avg", "uniform", seed)

    def get_config(self) -> dict[str, Any]:
        return {"seed": self.seed}


@_named("GlorotNormal", "glorot_normal", "glorot_normal_initializer")
class GlorotNormal(VarianceScaling):
    """Truncated normal, by Glorot and Bengio; also called Xavier normal."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(1.0, "fan_avg", "truncated_normal", seed)

    def get_config(self) -> dict[str, Any]:
        return {"seed": self.seed}


@_named("he_normal")
def he_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal, by He et al."""
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


@_named("he_uniform")
def he_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform, by He et al."""
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


@_named("lecun_normal")
def lecun_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal, by LeCun."""
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


@_named("lecun_uniform")
def lecun_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform, by LeCun."""
    return VarianceScaling(1.0, "fan_in", "uniform", seed)
