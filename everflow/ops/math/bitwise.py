"""Operations on the bits of integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.lazy import torch
from everflow.ops.core.families import binary, unary
from everflow.ops.core.node import Node
from everflow.ops.core.registry import not_differentiable, op
from everflow.ops.core.shape_rules import same_as_input


def _shift(compute: Callable[[Any], Callable[..., Any]]) -> Callable[[Any], Callable[..., Any]]:
    """A shift by 0 to width - 1 bits: other amounts are brought into that range first."""

    def make(node: Node) -> Callable[..., Any]:
        shift = compute(node)
        dtype = node.inputs[0].dtype.base_dtype
        most = dtype.size * 8 - 1
        if dtype.name == "uint64":
            # The largest of these are held as numbers below zero.
            return lambda x, y: shift(x, torch.where(y < 0, most, y.clamp(max=most)))
        return lambda x, y: shift(x, y.clamp(0, most))

    return make


def _right(node: Node) -> Callable[..., Any]:
    return _logical_right if node.inputs[0].dtype.base_dtype.name == "uint64" else torch.bitwise_right_shift


def _logical_right(x: Any, y: Any) -> Any:
    """A right shift of 64-bit words that are held as signed ones: zeros come in from the left."""
    return torch.where(y == 0, x, ((x >> 1) & 0x7FFFFFFFFFFFFFFF) >> (y - 1).clamp(min=0))


bitwise_and = binary("BitwiseAnd", lambda n: torch.bitwise_and, not_differentiable, "bitwise.bitwise_and")
bitwise_or = binary("BitwiseOr", lambda n: torch.bitwise_or, not_differentiable, "bitwise.bitwise_or")
bitwise_xor = binary("BitwiseXor", lambda n: torch.bitwise_xor, not_differentiable, "bitwise.bitwise_xor")
left_shift = binary("LeftShift", _shift(lambda n: torch.bitwise_left_shift), not_differentiable, "bitwise.left_shift")
right_shift = binary("RightShift", _shift(_right), not_differentiable, "bitwise.right_shift")
invert = unary("Invert", lambda n: torch.bitwise_not, not_differentiable, "bitwise.invert")


def _population_count(node: Node) -> Callable[..., Any]:
    bits = node.inputs[0].dtype.size * 8

    def run(x: Any) -> Any:
        x = x.to(torch.int64)
        return sum((x >> i) & 1 for i in range(bits)).to(torch.uint8)

    return run


op("PopulationCount", kernel=_population_count, shape=same_as_input, gradient=not_differentiable)
