"""Floats to quantized tensors and back: QuantizeV2, Dequantize, QuantizeAndDequantize, Requantize."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.core.shape_rules import ranked, same_as_input
from everflow.ops.quantization.levels import Levels, narrowed, rounded_away
from everflow.values.tensors import torch_dtype

Kernel = Callable[..., Any]


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else value


def scalar(value: Any) -> Any:
    """A float32 scalar."""
    return torch.tensor(float(value), dtype=torch.float32)


def _quantize(node: Node) -> Kernel:
    levels, kind = Levels.of(node.attr("T")), torch_dtype(node.attr("T"))
    mode, to_even = _text(node.attr("mode")), _text(node.attr("round_mode")) == "HALF_TO_EVEN"
    if to_even and mode != "SCALED":
        raise invalid_argument(f"Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is '{mode}'.")

    def run(x: Any, low: Any, high: Any) -> Any:
        lowest, highest = np.float32(float(low)), np.float32(float(high))
        if lowest > highest:
            raise invalid_argument("input_max_range must be larger than input_min_range.")
        # Zero is always in the range, and the range is never empty.
        lowest = min(np.float32(0), lowest)
        least = max(np.float32(1), abs(lowest), abs(highest)) / np.float32(100)
        highest = max(np.float32(0), highest, np.float32(lowest + least))
        if mode == "MIN_FIRST":
            return levels.from_floats(x, float(lowest), float(highest)).to(kind), scalar(lowest), scalar(highest)
        if mode == "SCALED":
            scale = _symmetric_scale(levels.lowest, levels.highest, lowest, highest)
            lowest, highest = np.float32(levels.lowest / scale), np.float32(levels.highest / scale)
            scaled = x.double().clamp(float(lowest), float(highest)) * float(scale)
            found = torch.round(scaled) if to_even else rounded_away(scaled)
        else:
            scale = np.float32((levels.total - 1.0) / (float(highest) - float(lowest)))
            scaled = (x.clamp(float(lowest), float(highest)) - float(lowest)) * float(scale)
            found = rounded_away(scaled.double() - (levels.total // 2 if levels.signed else 0))
        return found.clamp(levels.lowest, levels.highest).long().to(kind), scalar(lowest), scalar(highest)

    return run


def _symmetric_scale(lowest: int, highest: int, low: Any, high: Any) -> np.float32:
    """Levels a unit, such that both ends of the range have a level and zero is level 0."""
    most = np.finfo(np.float32).max
    by_low = np.float32(lowest) / low if lowest * low > 0 else most
    by_high = np.float32(highest) / high if highest * high > 0 else most
    return np.float32(min(by_low, by_high))


def _dequantize(node: Node) -> Kernel:
    levels, mode = Levels.of(node.inputs[0].dtype), _text(node.attr("mode"))

    def run(x: Any, low: Any, high: Any) -> Any:
        lowest, highest = np.float32(float(low)), np.float32(float(high))
        if mode == "MIN_FIRST":
            return levels.to_floats(x, float(lowest), float(highest)).to(torch.float32)
        if mode == "SCALED":
            step = highest / np.float32(levels.highest)
            if levels.signed:
                step = max(step, lowest / np.float32(levels.lowest))
            return x.to(torch.float32) * float(step)
        step = (highest - lowest) / np.float32(levels.total - 1)
        half = levels.total / 2 if levels.signed else 0
        return (x.to(torch.float32) + half) * float(step) + float(lowest)

    return run


def _there_and_back(node: Node) -> Kernel:
    signed, given = node.attr("signed_input"), node.attr("range_given")
    narrow = "narrow_range" in node.attrs and node.attr("narrow_range")
    to_even = _text(node.attrs.get("round_mode", b"HALF_TO_EVEN")) == "HALF_TO_EVEN"
    bits = node.attr("num_bits") if "num_bits" in node.attrs else None
    range_attrs = (node.attr("input_min"), node.attr("input_max")) if "input_min" in node.attrs else None

    def run(x: Any, low: Any = None, high: Any = None, num_bits: Any = None) -> Any:
        size = int(num_bits) if bits is None else bits
        if not 0 < size < (62 if signed else 63):
            raise invalid_argument(f"num_bits is out of range: {size} with signed_input_ {int(signed)}")
        wide = np.float64 if x.dtype == torch.float64 else np.float32
        if given:
            first, last = range_attrs if range_attrs is not None else (float(low), float(high))
            if first > last:
                raise invalid_argument(f"Invalid range: input_min {first:g} > input_max {last:g}")
        else:
            first, last = (float(x.min()), float(x.max())) if x.numel() else (0.0, 0.0)
        first, last = wide(first), wide(last)
        lowest = -(1 << (size - 1)) + int(narrow) if signed else 0
        highest = (1 << (size - 1)) - 1 if signed else (1 << size) - 1
        most = np.finfo(wide).max
        by_low = wide(lowest) / first if lowest * first > 0 else most
        by_high = wide(highest) / last if highest * last > 0 else most
        if by_low < by_high:
            scale, step = by_low, first / wide(lowest)
            last = wide(highest) * step
        else:
            scale, step = by_high, last / wide(highest) if highest else wide(0)
            first = wide(lowest) * step
        compute = x if x.dtype in (torch.float32, torch.float64) else x.to(torch.float32)
        compute = compute.clamp(float(first), float(last)) if given else compute
        scaled = compute * float(scale)
        return ((torch.round(scaled) if to_even else torch.floor(scaled + 0.5)) * float(step)).to(x.dtype)

    return run


def _requantize(node: Node) -> Kernel:
    old, new = Levels.of(node.inputs[0].dtype), Levels.of(node.attr("out_type"))
    kind = torch_dtype(node.attr("out_type"))

    def run(x: Any, low: Any, high: Any, new_low: Any, new_high: Any) -> Any:
        lowest, highest = float(new_low), float(new_high)
        if lowest > 0:
            raise invalid_argument("requested_output_min must be <= 0, but got " + f"{lowest:g}")
        if highest < lowest:
            raise invalid_argument(f"requested_output_max must be >= requested_output_min, but got {highest:g} and {lowest:g}")
        return _moved(old, new, x, (float(low), float(high)), (lowest, highest)).to(kind), scalar(lowest), scalar(highest)

    return run


def _moved(old: Levels, new: Levels, x: Any, known: tuple[float, float], asked: tuple[float, float]) -> Any:
    """The levels, in another range, of what some stand for."""
    if (old.total, new.total) == (1 << 32, 1 << 8) and not new.signed:
        return narrowed(x, *known, *asked)
    return new.from_floats(old.to_floats(x, *known), *asked)


def _used_range(levels: Levels, x: Any, low: Any, high: Any) -> tuple[Any, Any]:
    ends = torch.stack([x.min(), x.max()]) if x.numel() else torch.zeros(2)
    first, last = levels.to_floats(ends, float(low), float(high)).tolist()
    return np.float32(min(0.0, first)), np.float32(last)


def _range_kernel(node: Node) -> Kernel:
    levels = Levels.of(node.inputs[0].dtype)

    def run(x: Any, low: Any, high: Any) -> Any:
        first, last = _used_range(levels, x, low, high)
        return scalar(first), scalar(last)

    return run


def _shrink(node: Node) -> Kernel:
    old, new = Levels.of(node.inputs[0].dtype), Levels.of(node.attr("out_type"))
    kind = torch_dtype(node.attr("out_type"))

    def run(x: Any, low: Any, high: Any) -> Any:
        first, last = _used_range(old, x, low, high)
        levels = _moved(old, new, x, (float(low), float(high)), (float(first), float(last)))
        return levels.to(kind), scalar(first), scalar(last)

    return run


def with_range(o: Operation) -> Any:
    """The shape of the input, and two scalars."""
    for t in o.inputs[1:]:
        shapes.with_rank(t.dims, 0)
    return [o.inputs[0].dims, (), ()]


def _straight_through(o: Operation, dy: Any) -> Any:
    return [dy, *[None] * (len(o.inputs) - 1)] if len(o.inputs) > 1 else dy


op("QuantizeV2", kernel=_quantize, shape=with_range)
op("Dequantize", kernel=_dequantize, shape=same_as_input)
op("QuantizeAndDequantize", kernel=_there_and_back, shape=same_as_input, gradient=_straight_through)
op("QuantizeAndDequantizeV2", kernel=_there_and_back, shape=same_as_input, gradient=_straight_through)
op("QuantizeAndDequantizeV3", kernel=_there_and_back, shape=ranked(same_as_input, None, 0, 0, 0), gradient=_straight_through)
op("Requantize", kernel=_requantize, shape=with_range)
op("RequantizationRange", kernel=_range_kernel, shape=ranked(lambda o: [(), ()], None, 0, 0))
op("QuantizeDownAndShrinkRange", kernel=_shrink, shape=with_range)


@public("quantize_v2")
def quantize_v2(
    input: Any,
    min_range: Any,
    max_range: Any,
    T: Any,
    mode: str = "MIN_COMBINED",
    name: str | None = None,
    round_mode: str = "HALF_AWAY_FROM_ZERO",
) -> Any:
    """Floats as levels of a quantized type between two floats."""
    return apply("QuantizeV2", input, min_range, max_range, T=T, mode=mode, round_mode=round_mode, name=name)


@public("quantization.quantize", "quantize")
def quantize(
    input: Any,
    min_range: Any,
    max_range: Any,
    T: Any,
    mode: str = "MIN_COMBINED",
    round_mode: str = "HALF_AWAY_FROM_ZERO",
    name: str | None = None,
) -> Any:
    """Floats as levels of a quantized type between two floats."""
    return quantize_v2(input, min_range, max_range, T, mode, name, round_mode)


@public("quantization.dequantize", "dequantize")
def dequantize(input: Any, min_range: Any, max_range: Any, mode: str = "MIN_COMBINED", name: str | None = None) -> Any:
    """The floats that levels of a quantized type stand for."""
    return apply("Dequantize", input, min_range, max_range, mode=mode, name=name)


@public("quantization.quantize_and_dequantize")
def quantize_and_dequantize(
    input: Any,
    input_min: Any,
    input_max: Any,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
) -> Any:
    """Floats after they have been quantized: what a network sees that is trained to be quantized."""
    return apply(
        "QuantizeAndDequantizeV2",
        convert_to_tensor(input),
        input_min,
        input_max,
        signed_input=signed_input,
        num_bits=num_bits,
        range_given=range_given,
        round_mode=round_mode,
        narrow_range=narrow_range,
        name=name,
    )
