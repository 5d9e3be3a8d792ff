"""Initializers: objects that make a variable's initial value from its shape and type."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from everflow import api
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.convert import constant


@public("keras.initializers.Initializer")
@internal("ops.init_ops.Initializer")
class Initializer:
    """Makes initial values: `initializer(shape, dtype)`."""

    def __call__(self, shape: Any, dtype: dtypes.DTypeLike | None = None, partition_info: Any = None) -> Any:
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal initializer."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """An initializer with these arguments."""
        return cls(**config)


def sizes(shape: Any) -> list[int]:
    """A shape, however it is given, as plain numbers."""
    return [int(size) for size in shape]


def _whole(shape: Any, partition_info: Any) -> list[int]:
    """The shape that decides the scale: that of the whole variable."""
    return sizes(shape if partition_info is None else partition_info.full_shape)


@public("zeros_initializer", "initializers.zeros", "keras.initializers.Zeros", "keras.initializers.zeros")
@internal("ops.init_ops.Zeros")
class Zeros(Initializer):
    """All zeros."""

    def __init__(self, dtype: dtypes.DTypeLike = dtypes.float32) -> None:
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: dtypes.DTypeLike | None = None, partition_info: Any = None) -> Any:
        return api.find("zeros")(shape, self.dtype if dtype is None else dtype)

    def get_config(self) -> dict[str, Any]:
        return {"dtype": self.dtype.name}


@public("ones_initializer", "initializers.ones", "keras.initializers.Ones", "keras.initializers.ones")
@internal("ops.init_ops.Ones")
class Ones(Initializer):
    """All ones."""

    def __init__(self, dtype: dtypes.DTypeLike = dtypes.float32) -> None:
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: dtypes.DTypeLike | None = None, partition_info: Any = None) -> Any:
        return api.find("ones")(shape, self.dtype if dtype is None else dtype)

    def get_config(self) -> dict[str, Any]:
        return {"dtype": self.dtype.name}


@public("constant_initializer", "initializers.constant", "keras.initializers.Constant", "keras.initializers.constant")
@internal("ops.init_ops.Constant")
class Constant(Initializer):
    """A given value; a list or array is filled up with its last element to the variable's size."""

    def __init__(self, value: Any = 0, dtype: dtypes.DTypeLike = dtypes.float32, verify_shape: bool = False) -> None:
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(
                f"Invalid type for initial value: {type(value)} (expected Python scalar, list or tuple of values, or numpy.ndarray)."
            )
        self.value = value
        self.dtype = dtypes.as_dtype(dtype)
        self._verify_shape = verify_shape

    def __call__(
        self, shape: Any, dtype: dtypes.DTypeLike | None = None, partition_info: Any = None, verify_shape: bool | None = None
    ) -> Any:
        if verify_shape is None:
            verify_shape = self._verify_shape
        return constant(self.value, self.dtype if dtype is None else dtype, shape, verify_shape=verify_shape)

    def get_config(self) -> dict[str, Any]:
        return {"value": self.value, "dtype": self.dtype.name}


@public("random_uniform_initializer", "initializers.random_uniform")
@internal("ops.init_ops.RandomUniform")
class RandomUniform(Initializer):
    """Uniform between two bounds."""

    def __init__(self, minval: Any = 0, maxval: Any = None, seed: int | None = None, dtype: dtypes.DTypeLike = dtypes.float32) -> None:
        self.minval, self.maxval = minval, maxval
        self.seed = seed
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: dtypes.DTypeLike | None = None, partition_info: Any = None) -> Any:
        return api.find("random_uniform")(shape, self.minval, self.maxval, self.dtype if dtype is None else dtype, seed=self.seed)

    def get_config(self) -> dict[str, Any]:
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed, "dtype": self.dtype.name}


@public("random_normal_initializer", "initializers.random_normal")
@internal("ops.init_ops.RandomNormal")
class RandomNormal(Initializer):
    """Normal."""

    def __init__(self, mean: Any = 0.0, stddev: Any = 1.0, seed: int | None = None, dtype: dtypes.DTypeLike = dtypes.float32) -> None:
        self.mean, self.stddev = mean, stddev
        self.seed = seed
        self.dtype = floating(dtype)

    def __call__(self, shape: Any, dtype: dtypes.DTypeLike | None = None, partition_info: Any = None) -> Any:
        return api.find("random_normal")(shape, self.mean, self.stddev, self.dtype if dtype is None else dtype, seed=self.seed)

    def get_config(self) -> dict[str, Any]:
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed, "dtype": self.dtype.name}


@public("truncated_normal_initializer", "initializers.truncated_normal")
@internal("ops.init_ops.TruncatedNormal")
class TruncatedNormal(Initializer):
    """Normal, without what is further than two standard deviations from the mean."""

    def __init__(self, mean: Any = 0.0, stddev: Any = 1.0, seed: int | None = None, dtype: dtypes.DTypeLike = dtypes.float32) -> None:
        self.mean, self.stddev = mean, stddev
        self.seed = seed
        self.dtype = floating(dtype)

    def __call__(self, shape: Any, dtype: dtypes.DTypeLike | None = None, partition_info: Any = None) -> Any:
        return api.find("truncated_normal")(shape, self.mean, self.stddev, self.dtype if dtype is None else dtype, seed=self.seed)

    def get_config(self) -> dict[str, Any]:
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed, "dtype": self.dtype.name}


@public("uniform_unit_scaling_initializer", "initializers.uniform_unit_scaling")
@internal("ops.init_ops.UniformUnitScaling")
class UniformUnitScaling(Initializer):
    """Uniform, scaled so that a linear layer keeps the variance of its input."""

    def __init__(self, factor: float = 1.0, seed: int | None = None, dtype: dtypes.DTypeLike = dtypes.float32) -> None:
        self.factor = factor
        self.seed = seed
        self.dtype = floating(dtype)

    def __call__(self, shape: Any, dtype: dtypes.DTypeLike | None = None, partition_info: Any = None) -> Any:
        size = math.prod(float(d) for d in _whole(shape, partition_info)[:-1])
        limit = math.sqrt(3 / max(size, 1.0)) * self.factor
        return api.find("random_uniform")(shape, -limit, limit, self.dtype if dtype is None else dtype, seed=self.seed)

    def get_config(self) -> dict[str, Any]:
        return {"factor": self.factor, "seed": self.seed, "dtype": self.dtype.name}


_MODES = {"fan_in", "fan_out", "fan_avg"}
_DISTRIBUTIONS = {"normal", "uniform", "truncated_normal", "untruncated_normal"}


def checked_scaling(scale: float, mode: str, distribution: str) -> tuple[float, str, str]:
    """What a variance is scaled by, if it can be."""
    if scale <= 0.0:
        raise ValueError("`scale` must be positive float.")
    distribution = distribution.lower()
    for argument, value, choices in (("mode", mode, _MODES), ("distribution", distribution, _DISTRIBUTIONS)):
        if value not in choices:
            raise ValueError(f"Invalid `{argument}` argument:", value)
    return scale, mode, distribution


def scaled_variance(initializer: Any, shape: Any) -> float:
    """The variance for a tensor of this shape."""
    fan_in, fan_out = fans(shape)
    fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}[initializer.mode]
    return initializer.scale / max(1.0, fan)


# The standard deviation of a normal that is cut off at two standard deviations.
CUT_OFF = 0.87962566103423978


@public("variance_scaling_initializer", "initializers.variance_scaling", "keras.initializers.VarianceScaling")
@internal("ops.init_ops.VarianceScaling")
class VarianceScaling(Initializer):
    """Random, with a variance of `scale` over the number of inputs, of outputs, or their mean."""

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | None = None,
        dtype: dtypes.DTypeLike = dtypes.float32,
    ) -> None:
        self.scale, self.mode, self.distribution = checked_scaling(scale, mode, distribution)
        self.seed, self.dtype = seed, floating(dtype)

    def __call__(self, shape: Any, dtype: dtypes.DTypeLike | None = None, partition_info: Any = None) -> Any:
        kind = self.dtype if dtype is None else dtype
        variance = scaled_variance(self, _whole(shape, partition_info))
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * variance)
            return api.find("random_uniform")(shape, -limit, limit, kind, seed=self.seed)
        if self.distribution == "untruncated_normal":
            return api.find("random_normal")(shape, 0.0, math.sqrt(variance), kind, seed=self.seed)
        return api.find("truncated_normal")(shape, 0.0, math.sqrt(variance) / CUT_OFF, kind, seed=self.seed)

    def get_config(self) -> dict[str, Any]:
        given = {argument: getattr(self, argument) for argument in ("scale", "mode", "distribution", "seed")}
        return {**given, "dtype": self.dtype.name}


@public("glorot_uniform_initializer", "initializers.glorot_uniform", "keras.initializers.glorot_uniform")
@internal("ops.init_ops.GlorotUniform")
class GlorotUniform(VarianceScaling):
    """Uniform, by Glorot and Bengio; also called Xavier uniform."""

    def __init__(self, seed: int | None = None, dtype: dtypes.DTypeLike = dtypes.float32) -> None:
        super().__init__(scale=1.0, mode="fan_avg", distribution="uniform", seed=seed, dtype=dtype)

    def get_config(self) -> dict[str, Any]:
        return {"seed": self.seed, "dtype": self.dtype.name}


@public("glorot_normal_initializer", "initializers.glorot_normal", "keras.initializers.glorot_normal")
@internal("ops.init_ops.GlorotNormal")
class GlorotNormal(VarianceScaling):
    """Truncated normal, by Glorot and Bengio; also called Xavier normal."""

    def __init__(self, seed: int | None = None, dtype: dtypes.DTypeLike = dtypes.float32) -> None:
        super().__init__(scale=1.0, mode="fan_avg", distribution="truncated_normal", seed=seed, dtype=dtype)

    def get_config(self) -> dict[str, Any]:
        return {"seed": self.seed, "dtype": self.dtype.name}


@public("initializers.he_normal", "keras.initializers.he_normal")
def he_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal, by He et al."""
    return VarianceScaling(scale=2.0, mode="fan_in", distribution="truncated_normal", seed=seed)


@public("initializers.he_uniform", "keras.initializers.he_uniform")
def he_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform, by He et al."""
    return VarianceScaling(scale=2.0, mode="fan_in", distribution="uniform", seed=seed)


@public("initializers.lecun_normal", "keras.initializers.lecun_normal")
def lecun_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal, by LeCun."""
    return VarianceScaling(scale=1.0, mode="fan_in", distribution="truncated_normal", seed=seed)


@public("initializers.lecun_uniform", "keras.initializers.lecun_uniform")
def lecun_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform, by LeCun."""
    return VarianceScaling(scale=1.0, mode="fan_in", distribution="uniform", seed=seed)


@public("initializers.identity", "keras.initializers.Identity", "keras.initializers.identity")
@internal("ops.init_ops.Identity", "ops.init_ops.identity_initializer")
class Identity(Initializer):
    """The identity matrix."""

    def __init__(self, gain: float = 1.0, dtype: dtypes.DTypeLike = dtypes.float32) -> None:
        self.gain = gain
        self.dtype = floating(dtype)

    def __call__(self, shape: Any, dtype: dtypes.DTypeLike | None = None, partition_info: Any = None) -> Any:
        full = _whole(shape, partition_info)
        if len(full) != 2:
            raise ValueError("Identity matrix initializer can only be used for 2D matrices.")
        matrix = api.find("eye")(*full, dtype=self.dtype if dtype is None else dtype)
        if partition_info is not None:
            matrix = api.find("slice")(matrix, partition_info.var_offset, shape)
        return self.gain * matrix

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, "dtype": self.dtype.name}


@internal("ops.init_ops._compute_fans")
def fans(shape: Any) -> tuple[Any, Any]:
    """How many inputs and outputs a unit of a weight tensor of this shape has."""
    shape = sizes(shape)
    if len(shape) < 1:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    positions = math.prod(shape[:-2]) if len(shape) > 2 else 1
    return shape[-2] * positions, shape[-1] * positions


def floating(dtype: dtypes.DTypeLike) -> dtypes.DType:
    """The type, which must be one of floating point numbers."""
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype}.")
    return dtype


internal("ops.init_ops._assert_float_dtype")(floating)


@public("keras.initializers.RandomUniform", "keras.initializers.random_uniform", "keras.initializers.uniform")
class KerasRandomUniform(RandomUniform):
    """Uniform, with the bounds that Keras has."""

    def __init__(self, minval: Any = -0.05, maxval: Any = 0.05, seed: int | None = None, dtype: dtypes.DTypeLike = dtypes.float32) -> None:
        super().__init__(minval=minval, maxval=maxval, seed=seed, dtype=dtype)


@public("keras.initializers.RandomNormal", "keras.initializers.random_normal", "keras.initializers.normal")
class KerasRandomNormal(RandomNormal):
    """Normal, with the deviation that Keras has."""

    def __init__(self, mean: Any = 0.0, stddev: Any = 0.05, seed: int | None = None, dtype: dtypes.DTypeLike = dtypes.float32) -> None:
        super().__init__(mean=mean, stddev=stddev, seed=seed, dtype=dtype)


@public("keras.initializers.TruncatedNormal", "keras.initializers.truncated_normal")
class KerasTruncatedNormal(TruncatedNormal):
    """Truncated normal, with the deviation that Keras has."""

    def __init__(self, mean: Any = 0.0, stddev: Any = 0.05, seed: int | None = None, dtype: dtypes.DTypeLike = dtypes.float32) -> None:
        super().__init__(mean=mean, stddev=stddev, seed=seed, dtype=dtype)


# Saved models name initializers by their class.
for _kind in (KerasRandomUniform, KerasRandomNormal, KerasTruncatedNormal):
    _kind.__name__ = _kind.__qualname__ = _kind.__name__.removeprefix("Keras")
