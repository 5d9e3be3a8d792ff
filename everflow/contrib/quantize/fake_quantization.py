"""Tensors rounded to what few bits can hold, between ends that are variables."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.train.moving_averages import assign_moving_average

BELOW = "contrib.quantize.python.quant_ops."


@internal(BELOW + "FixedQuantize")
def FixedQuantize(inputs: Any, init_min: float = -6.0, init_max: float = 6.0, scope: Any = None) -> Any:
    """Rounding between ends that stay."""
    with tf.name_scope(scope, "FixedQuantize", values=[inputs]):
        return tf.fake_quant_with_min_max_args(inputs, min=init_min, max=init_max)


@internal(BELOW + "LastValueQuantize")
def LastValueQuantize(
    inputs: Any,
    per_channel: bool = False,
    init_min: float = -6.0,
    init_max: float = 6.0,
    vars_collection: Any = None,
    name_prefix: str = "LastValueQuant",
    reuse: Any = None,
    is_training: bool = True,
    num_bits: int = 8,
    narrow_range: bool = False,
    symmetric: bool = False,
) -> Any:
    """Rounding between the ends of the values themselves, as fits weights."""
    with tf.variable_scope(None, default_name=name_prefix, values=[inputs], reuse=reuse) as scope:
        scope.set_partitioner(None)
        ends = _ends(inputs, per_channel, init_min, init_max, vars_collection)
        if is_training:
            seen = _seen(inputs, per_channel, num_bits, narrow_range, symmetric)
            ends = [tf.assign(end, value, name=f"Assign{which}Last") for end, value, which in zip(ends, seen, ("Min", "Max"))]
        return _rounded(inputs, ends, per_channel, num_bits, narrow_range)


@internal(BELOW + "MovingAvgQuantize")
def MovingAvgQuantize(
    inputs: Any,
    per_channel: bool = False,
    init_min: float = -6.0,
    init_max: float = 6.0,
    ema_decay: float = 0.999,
    vars_collection: Any = tf.GraphKeys.MOVING_AVERAGE_VARIABLES,
    name_prefix: str = "MovingAvgQuantize",
    reuse: Any = None,
    is_training: bool = True,
    num_bits: int = 8,
    narrow_range: bool = False,
    symmetric: bool = False,
) -> Any:
    """Rounding between ends that follow those of the values, as fits activations."""
    with tf.variable_scope(None, default_name=name_prefix, values=[inputs], reuse=reuse) as scope:
        scope.set_partitioner(None)
        ends = _ends(inputs, per_channel, init_min, init_max, vars_collection)
        if is_training:
            seen = _seen(inputs, per_channel, num_bits, narrow_range, symmetric)
            ends = [
                assign_moving_average(end, value, ema_decay, name=f"Assign{which}Ema")
                for end, value, which in zip(ends, seen, ("Min", "Max"))
            ]
        return _rounded(inputs, ends, per_channel, num_bits, narrow_range)


def _ends(inputs: Any, per_channel: bool, init_min: float, init_max: float, collection: Any) -> list[Any]:
    shape = [inputs.shape.as_list()[-1]] if per_channel else []
    return [
        tf.get_variable(
            name,
            shape=shape,
            initializer=tf.constant_initializer(first),
            trainable=False,
            collections=list(dict.fromkeys((tf.GraphKeys.GLOBAL_VARIABLES, *([collection] if collection else [])))),
        )
        for name, first in (("min", init_min), ("max", init_max))
    ]


def _seen(inputs: Any, per_channel: bool, num_bits: int, narrow_range: bool, symmetric: bool) -> tuple[Any, Any]:
    """The ends of the values: around zero, or as far from it on both sides as the steps are."""
    axes = list(range(inputs.shape.ndims - 1)) if per_channel else None
    if per_channel and inputs.shape.ndims == 1:
        low = high = inputs
    else:
        low = tf.reduce_min(inputs, axis=axes, name="BatchMin")
        high = tf.reduce_max(inputs, axis=axes, name="BatchMax")
    if not symmetric:
        return tf.minimum(low, 0.0), tf.maximum(high, 0.0)
    # One step more lies below zero than above it, unless the range is narrow.
    ratio = -1.0 if narrow_range else -((1 << num_bits) - 2) / (1 << num_bits)
    return tf.minimum(low, high / ratio), tf.maximum(high, low * ratio)


def _rounded(inputs: Any, ends: Any, per_channel: bool, num_bits: int, narrow_range: bool) -> Any:
    function = tf.fake_quant_with_min_max_vars_per_channel if per_channel else tf.fake_quant_with_min_max_vars
    return function(inputs, *ends, num_bits=num_bits, narrow_range=narrow_range)
