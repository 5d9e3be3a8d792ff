"""tf.contrib.layers.xavier_initializer and its kin."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from everflow import api
from everflow.api import public
from everflow.graph import dtypes
from everflow.ops.variables.initializers import sizes


@public("contrib.layers.variance_scaling_initializer", "contrib.slim.variance_scaling_initializer")
def variance_scaling_initializer(
    factor: float = 2.0, mode: str = "FAN_IN", uniform: bool = False, seed: int | None = None, dtype: Any = dtypes.float32
) -> Callable[..., Any]:
    """An initializer whose variance is `factor` over the number of inputs, of outputs, or their mean."""
    if not dtype.is_floating:
        raise TypeError("Cannot create initializer for non-floating point type.")
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise TypeError("Unknown mode %s [FAN_IN, FAN_OUT, FAN_AVG]", mode)

    def _initializer(shape: Any, dtype: Any = dtype, partition_info: Any = None) -> Any:
        if not dtype.is_floating:
            raise TypeError("Cannot create initializer for non-floating point type.")
        shape = sizes(shape)
        positions = math.prod(float(d) for d in shape[:-2])
        fan_in = positions * (float(shape[-2]) if len(shape) > 1 else float(shape[-1]) if shape else 1.0)
        fan_out = positions * (float(shape[-1]) if shape else 1.0)
        fan = {"FAN_IN": fan_in, "FAN_OUT": fan_out, "FAN_AVG": (fan_in + fan_out) / 2.0}[mode]
        if uniform:
            limit = math.sqrt(3.0 * factor / fan)
            return api.find("random_uniform")(shape, -limit, limit, dtype, seed=seed)
        # A normal that is cut off at two standard deviations has a variance that is about 1.3 times smaller.
        return api.find("truncated_normal")(shape, 0.0, math.sqrt(1.3 * factor / fan), dtype, seed=seed)

    return _initializer


@public(
    "contrib.layers.xavier_initializer",
    "contrib.layers.xavier_initializer_conv2d",
    "contrib.slim.xavier_initializer",
    "contrib.slim.xavier_initializer_conv2d",
)
def xavier_initializer(uniform: bool = True, seed: int | None = None, dtype: dtypes.DTypeLike = dtypes.float32) -> Callable[..., Any]:
    """An initializer that keeps the scale of gradients the same in all layers, by Glorot and Bengio."""
    return variance_scaling_initializer(factor=1.0, mode="FAN_AVG", uniform=uniform, seed=seed, dtype=dtype)
