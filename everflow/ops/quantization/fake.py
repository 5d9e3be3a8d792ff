"""Fake quantization: floats rounded to the levels that a quantized network would have, with gradients for training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.core.run_time_checks import alike
from everflow.ops.core.shape_rules import same_as_input

Kernel = Callable[..., Any]


class _Grid:
    """The levels of a range [low, high], nudged so that zero is one of them."""

    def __init__(self, low: Any, high: Any, num_bits: int, narrow: bool) -> None:
        first, last = np.float32(narrow), np.float32((1 << num_bits) - 1)
        low, high = np.asarray(low, np.float32), np.asarray(high, np.float32)
        with np.errstate(divide="ignore", invalid="ignore"):
            self.step = (high - low) / (last - first)
            zero = first - low / self.step
            nearest = np.trunc(zero + np.copysign(np.float32(0.5), zero))
        zero_level = np.where(zero < first, first, np.where(zero > last, last, nearest)).astype(np.float32)
        self.low, self.high = (first - zero_level) * self.step, (last - zero_level) * self.step
        self.empty = (low == 0) & (high == 0)

    def tensors(self, like: Any) -> tuple[Any, Any, Any, Any]:
        return tuple(torch.from_numpy(np.asarray(v)).to(like.device) for v in (self.low, self.high, self.step, self.empty))  # type: ignore

    def rounded(self, x: Any) -> Any:
        """Numbers at their levels. Halfway between two of them, the last digit of the quotient decides."""
        low, high, step, empty = self.tensors(x)
        return torch.where(empty, 0.0, torch.floor(self._inside(x, low, high) / step + 0.5) * step + low)

    def rounded_by_product(self, x: Any) -> Any:
        """The same where the range is a constant: TensorFlow then multiplies by the inverse of the step."""
        low, high, step, _ = self.tensors(x)
        return torch.floor(self._inside(x, low, high) * (1 / step) + 0.5) * step + low

    def _inside(self, x: Any, low: Any, high: Any) -> Any:
        return torch.minimum(torch.maximum(x, low), high) - low


def _checked_bits(node: Node) -> tuple[int, bool]:
    bits = node.attr("num_bits")
    if not 2 <= bits <= 16:
        raise invalid_argument(f"num_bits must be between 2 and 16, inclusive, got: {bits}")
    return bits, node.attr("narrow_range")


def _fixed_range(node: Node) -> _Grid:
    low, high = node.attr("min"), node.attr("max")
    if low >= high:
        raise invalid_argument(f"min has to be smaller than max, was: {low:g} >= {high:g}")
    return _Grid(low, high, *_checked_bits(node))


def _with_args(node: Node) -> Kernel:
    return _fixed_range(node).rounded_by_product


def _with_args_gradient(node: Node) -> Kernel:
    grid = _fixed_range(node)
    low, high = float(grid.low), float(grid.high)
    return lambda dy, x: torch.where((x >= low) & (x <= high), dy, 0.0)


def _with_vars(node: Node) -> Kernel:
    bits, narrow = _checked_bits(node)
    checked = _checked_channels if node.type == "FakeQuantWithMinMaxVarsPerChannel" else _unchecked

    def run(x: Any, low: Any, high: Any) -> Any:
        checked(x, low, high)
        return _Grid(low.cpu().numpy(), high.cpu().numpy(), bits, narrow).rounded(x)

    return run


def _with_vars_gradient(node: Node) -> Kernel:
    bits, narrow = _checked_bits(node)

    checked = _checked_channels if node.type == "FakeQuantWithMinMaxVarsPerChannelGradient" else _unchecked

    def run(dy: Any, x: Any, low: Any, high: Any) -> Any:
        if dy.shape != x.shape:
            raise invalid_argument("gradient and input must be the same size")
        checked(x, low, high)
        first, last, _, empty = _Grid(low.cpu().numpy(), high.cpu().numpy(), bits, narrow).tensors(x)
        # A range that has not been learned yet lets all gradients through.
        below, above = (x < first) & ~empty, (x > last) & ~empty
        axes = tuple(range(x.ndim - low.ndim))

        def total(chosen: Any) -> Any:
            found = torch.where(chosen, dy, 0.0)
            return found.sum(axes) if axes else found

        return torch.where(below | above, 0.0, dy), total(below), total(above)

    return run


def _unchecked(x: Any, low: Any, high: Any) -> None:
    """A range that all channels share fits any input."""


def _checked_channels(x: Any, low: Any, high: Any) -> None:
    size = x.shape[-1] if x.ndim else 0
    for name, bound in (("min", low), ("max", high)):
        if bound.ndim != 1:
            raise invalid_argument(f"{name} must be 1-dimensional, but has {bound.ndim} dimensions")
        if bound.shape[0] != size:
            raise invalid_argument(f"{name} has incorrect size, expected {size} was {bound.shape[0]}")


def _per_channel_shape(o: Operation) -> Any:
    _check_channels(o, 0, 1)
    return o.inputs[0].dims


def _gradient_shape(o: Operation) -> Any:
    for t in o.inputs[2:]:
        shapes.with_rank(t.dims, 0)
    return [shapes.merge(o.inputs[0].dims, o.inputs[1].dims), (), ()]


def _per_channel_gradient_shape(o: Operation) -> Any:
    _check_channels(o, 0, 2)
    dims = shapes.merge(o.inputs[0].dims, o.inputs[1].dims)
    return [dims, o.inputs[2].dims, o.inputs[3].dims]


def _check_channels(o: Operation, x: int, first: int) -> None:
    dims = shapes.with_rank_at_least(o.inputs[x].dims, 1)
    size = None if dims is None else dims[-1]
    for t in o.inputs[first : first + 2]:
        size = shapes.merge_size(size, shapes.with_rank(t.dims, 1)[0])


def _attrs(o: Operation, *names: str) -> dict[str, Any]:
    return {name: o.attr(name) for name in names}


op(
    "FakeQuantWithMinMaxArgs",
    kernel=_with_args,
    shape=same_as_input,
    gradient=lambda o, dy: apply("FakeQuantWithMinMaxArgsGradient", dy, o.inputs[0], **_attrs(o, "min", "max", "num_bits", "narrow_range")),
)
op("FakeQuantWithMinMaxArgsGradient", kernel=alike(_with_args_gradient), shape=same_as_input)
op(
    "FakeQuantWithMinMaxVars",
    kernel=_with_vars,
    shape=same_as_input,
    gradient=lambda o, dy: list(apply("FakeQuantWithMinMaxVarsGradient", dy, *o.inputs, **_attrs(o, "num_bits", "narrow_range"))),
)
op("FakeQuantWithMinMaxVarsGradient", kernel=_with_vars_gradient, shape=_gradient_shape)
op(
    "FakeQuantWithMinMaxVarsPerChannel",
    kernel=_with_vars,
    shape=_per_channel_shape,
    gradient=lambda o, dy: list(apply("FakeQuantWithMinMaxVarsPerChannelGradient", dy, *o.inputs, **_attrs(o, "num_bits", "narrow_range"))),
)
op("FakeQuantWithMinMaxVarsPerChannelGradient", kernel=_with_vars_gradient, shape=_per_channel_gradient_shape)


@public("quantization.fake_quant_with_min_max_args", "fake_quant_with_min_max_args")
def fake_quant_with_min_max_args(
    inputs: Any, min: float = -6, max: float = 6, num_bits: int = 8, narrow_range: bool = False, name: str | None = None
) -> Any:
    """Floats rounded to the levels of a fixed range."""
    return apply("FakeQuantWithMinMaxArgs", inputs, min=min, max=max, num_bits=num_bits, narrow_range=narrow_range, name=name)


@public("quantization.fake_quant_with_min_max_args_gradient", "fake_quant_with_min_max_args_gradient")
def fake_quant_with_min_max_args_gradient(
    gradients: Any, inputs: Any, min: float = -6, max: float = 6, num_bits: int = 8, narrow_range: bool = False, name: str | None = None
) -> Any:
    """The gradient of the same."""
    return apply(
        "FakeQuantWithMinMaxArgsGradient", gradients, inputs, min=min, max=max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )


def _of_variables(op_type: str, *names: str) -> None:
    @public(*names)
    def function(inputs: Any, min: Any, max: Any, num_bits: int = 8, narrow_range: bool = False, name: str | None = None) -> Any:
        """Floats rounded to the levels of a range that tensors hold, for all or for each of the channels."""
        return apply(op_type, inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name)

    @public(*[n + "_gradient" for n in names])
    def gradient(
        gradients: Any, inputs: Any, min: Any, max: Any, num_bits: int = 8, narrow_range: bool = False, name: str | None = None
    ) -> Any:
        """The gradients of the same with respect to the floats and both ends of the range."""
        return apply(op_type + "Gradient", gradients, inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name)


_of_variables("FakeQuantWithMinMaxVars", "quantization.fake_quant_with_min_max_vars", "fake_quant_with_min_max_vars")
_of_variables(
    "FakeQuantWithMinMaxVarsPerChannel", "quantization.fake_quant_with_min_max_vars_per_channel", "fake_quant_with_min_max_vars_per_channel"
)
