"""Ops on matrices that compute each row of their results from that row of what they are given: what native loops over rows do for them.

An op says so by the fact `rows`, a function of the node that returns instructions, or None where the node can't be had so. See
everflow.runtime.row_loops.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from everflow.ops.core.node import Node, Value

if TYPE_CHECKING:
    from everflow.ops.math.elementwise_chains import Chain


@dataclasses.dataclass(frozen=True, slots=True)
class Product:
    """c = a matrix + bias, or c += a matrix. Of the matrix, or of its transpose, the columns from `start` on are taken."""

    a: Value
    matrix: Value
    c: Value
    turned: bool = False
    start: int = 0
    bias: Value | None = None
    adds: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Copy:
    """Columns of one value that are columns of another."""

    source: Value
    source_column: int
    to: Value
    to_column: int
    width: int


@dataclasses.dataclass(frozen=True, slots=True)
class Choose:
    """Each row of one value or of another: the condition is a truth value for each row, which rows have no part in."""

    condition: Value
    one: Value
    other: Value
    to: Value


@dataclasses.dataclass(frozen=True, slots=True)
class Fill:
    """A number everywhere."""

    to: Value
    number: float


@dataclasses.dataclass(frozen=True, slots=True)
class Apply:
    """Element-wise instructions, with what they take and give."""

    chain: Chain
    inputs: list[Value]
    results: list[Value]


Instruction = Product | Copy | Choose | Fill | Apply


def product(node: Node) -> list[Instruction] | None:
    """A product with or without a bias, or some columns of one."""
    if node.attr("transpose_a"):
        return None
    bias = node.inputs[2] if len(node.inputs) > 2 else None
    start = node.attrs.get("start", 0)
    return [Product(node.inputs[0], node.inputs[1], node.outputs[0], bool(node.attr("transpose_b")), start, bias)]


def joined(node: Node) -> list[Instruction] | None:
    """Values beside each other."""
    axis = node.constant(len(node.inputs) - 1)
    if axis is None or int(axis.reshape(())) not in (1, -1):
        return None
    found: list[Instruction] = []
    at = 0
    for part in node.inputs[:-1]:
        width = columns(part)
        if width is None:
            return None
        found.append(Copy(part, 0, node.outputs[0], at, width))
        at += width
    return found


def part(node: Node) -> list[Instruction] | None:
    """Columns that begin at a known place."""
    if node.attr("axis") != 1:
        return None
    return [Copy(node.inputs[0], node.attr("start"), node.outputs[0], 0, node.attr("length"))]


def split(node: Node) -> list[Instruction] | None:
    """Columns shared out evenly."""
    axis, width = node.constant(0), columns(node.outputs[0])
    if axis is None or int(axis.reshape(())) not in (1, -1) or width is None:
        return None
    return [Copy(node.inputs[1], i * width, v, 0, width) for i, v in enumerate(node.outputs)]


def chosen(node: Node) -> list[Instruction] | None:
    """Rows of the second or of the third input."""
    condition, one, other = node.inputs
    if condition.dims is None or len(condition.dims) != 1:
        return None
    return [Choose(condition, one, other, node.outputs[0])]


def zeros(node: Node) -> list[Instruction]:
    """Nothing but zeros."""
    return [Fill(node.outputs[0], 0.0)]


def columns(value: Value) -> int | None:
    """How many columns a matrix has, where that is known."""
    return value.dims[1] if value.dims is not None and len(value.dims) == 2 else None


def operands(instruction: Any) -> tuple[list[Value], list[Value]]:
    """What an instruction takes of each row, or for all of them, and what it gives."""
    if isinstance(instruction, Product):
        return [instruction.a, *([instruction.bias] if instruction.bias is not None else [])], [instruction.c]
    if isinstance(instruction, Copy):
        return [instruction.source], [instruction.to]
    if isinstance(instruction, Choose):
        return [instruction.condition, instruction.one, instruction.other], [instruction.to]
    if isinstance(instruction, Fill):
        return [], [instruction.to]
    return instruction.inputs, instruction.results


def row_operands(instruction: Any) -> list[Value]:
    """Of what an instruction takes, that of which each row needs its own row alone."""
    if isinstance(instruction, Product):
        return [instruction.a]
    if isinstance(instruction, Choose):
        return [instruction.one, instruction.other]
    takes = operands(instruction)[0]
    if isinstance(instruction, Apply):
        chain = instruction.chain
        return [v for i, v in enumerate(takes) if chain.expected(i, (-1, chain.dims[1]))[:1] == (-1,)]
    return takes


def fixed_operands(instruction: Any) -> list[Value]:
    """What an instruction takes that rows have no part in."""
    if isinstance(instruction, Product):
        return [instruction.matrix, *([instruction.bias] if instruction.bias is not None else [])]
    rows = row_operands(instruction)
    return [v for v in operands(instruction)[0] if v not in rows]
