"""Element-wise ops on tensors of one shape as the instructions of one native loop; see everflow.runtime.passes.elementwise_groups."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from everflow._native import ELEMENTWISE, ElementwiseChain
from everflow.graph import dtypes
from everflow.graph.shapes import num_elements
from everflow.lazy import torch
from everflow.ops.core.node import Node, Value, kernel_of
from everflow.ops.core.registry import fused_op

# What is larger than this is shared among threads.
LARGE = 1 << 16


def is_elementwise(node: Node, dims: Any = None) -> bool:
    """Whether a node can be an instruction, for tensors of this static shape if one is given."""
    if (node.type not in ELEMENTWISE and node.type != "AddN") or node.reads or node.asked_for:
        return False
    found = node.outputs[0].dims
    if not found or (dims is not None and found != dims) or not num_elements(found):
        return False
    return all(v.dtype is dtypes.float32 for v in (*node.inputs, *node.outputs)) and all(_is_operand(node, v, found) for v in node.inputs)


def is_large(dims: Any) -> bool:
    """Whether tensors of this shape are worth several threads."""
    return (num_elements(dims) or 0) > LARGE


def _is_operand(node: Node, value: Value, dims: Any) -> bool:
    """A tensor of the shape, one that must turn out to have it, a row for all rows, or a constant number."""
    return value.dims in (dims, dims[-1:]) or _must_fit(node, value) or _number(value) is not None


def _must_fit(node: Node, value: Value) -> bool:
    return node.type == "AddN" and value.dims is not None and None in value.dims


def _number(value: Value) -> float | None:
    """The number that a constant is, or with which a tensor is filled."""
    meaning = value.node.meaning
    if meaning is not None and meaning.fills is not None and not value.node.reads:
        source = value.node.constant(meaning.fills)
        return float(source.reshape(())) if source is not None and source.size == 1 else None
    return float(value.constant.reshape(())) if value.dims == () and value.constant is not None else None


def joined(node: Node, dims: Any) -> list[Value]:
    """What a node puts beside each other, along the last axis of tensors of this shape; nothing where it does no such thing."""
    if node.type != "ConcatV2" or len(node.inputs) < 3 or len(dims) < 2 or node.reads or node.asked_for:
        return []
    axis = node.constant(len(node.inputs) - 1)
    if axis is None or int(axis.reshape(())) not in (-1, len(dims) - 1) or None in (node.outputs[0].dims or (None,)):
        return []
    parts = node.inputs[:-1]
    return parts if all(v.node.type != "ConcatV2" for v in parts) else []


class Chain:
    """The instructions of a group: what they take, and where they leave what is used afterwards."""

    def __init__(self, dims: Any, members: list[Node], results: list[Value], is_body: bool) -> None:
        self.dims, self.members, self.results = dims, members, results
        # In a body, results live about as long as each other: one allocation serves all that have the same shape.
        self.shares_memory = is_body and all(v.dims == dims for v in results)
        self.rows, self.columns = math.prod(dims[:-1]), dims[-1]
        self.inputs: list[Value] = []
        self.checked: list[int] = []
        self._places: list[tuple[int, int, int]] = []
        self._operands: dict[Value, int] = {}
        self._constants: list[float] = []
        own = {v for node in members for v in node.outputs}
        numbers: dict[Value, float] = {}
        for node in members:
            for v in node.inputs[:-1] if node.type == "ConcatV2" else node.inputs:
                if v not in own and v not in self._operands and v not in numbers:
                    number = _number(v)
                    if number is None:
                        self._take(node, v)
                    else:
                        numbers[v] = number
        for v, number in numbers.items():
            self._operands[v] = len(self._operands)
            self._constants.append(number)

    def _take(self, node: Node, value: Value) -> None:
        """An input of the chain; of a part of a split tensor, the whole."""
        source, offset, stride = value, 0, self.columns
        split = value.node
        if split.type == "Split" and len(self.dims) > 1 and not split.reads:
            axis = split.constant(0)
            whole = split.inputs[1]
            if axis is not None and int(axis.reshape(())) in (-1, len(self.dims) - 1) and whole.dims is not None and None not in whole.dims:
                source, offset, stride = whole, value.index * self.columns, _width(whole)
        if value.dims == self.dims[-1:] != self.dims:
            stride = 0
        if source not in self.inputs:
            self.inputs.append(source)
            if source is value and value.dims not in (self.dims, self.dims[-1:]):
                self.checked.append(self.inputs.index(source))
        self._operands[value] = len(self._operands)
        self._places.append((self.inputs.index(source), offset, stride))

    def kernel(self) -> Callable[..., Any]:
        """What computes all members at once."""
        joins = {v: (node, i) for node in self.members if node.type == "ConcatV2" for i, v in enumerate(node.inputs[:-1])}
        instructions: list[tuple[str, int, int]] = []
        places: list[tuple[int, int, int]] = []
        first = len(self.inputs)

        def place(value: Value) -> tuple[int, int, int]:
            if value in joins:
                node, i = joins[value]
                return first + self.results.index(node.outputs[0]), sum(map(_width, node.inputs[:i])), _width(node.outputs[0])
            return (first + self.results.index(value), 0, self.columns) if value in self.results else (-1, 0, 0)

        operands = dict(self._operands)
        count = len(operands)
        for node in self.members:
            if node.type == "ConcatV2":
                continue
            taken = [operands[v] for v in node.inputs]
            steps = [(node.type, taken[0], taken[-1])] if node.type != "AddN" else _sum(taken, count + len(instructions))
            instructions.extend(steps)
            places.extend([(-1, 0, 0)] * (len(steps) - 1))
            places.append(place(node.outputs[0]))
            operands[node.outputs[0]] = count + len(instructions) - 1
        rows, columns, taken_from = self.rows, self.columns, self._places
        if all(tensor < 0 or stride == columns for tensor, _, stride in (*taken_from, *places)):
            rows, columns = 1, rows * columns
        run_chain = ElementwiseChain(rows, columns, taken_from, self._constants, instructions, places).run
        one_by_one = self._one_by_one()
        dims, checked, single = self.dims, self.checked, len(self.results) == 1
        allocate = self._allocation()
        threads: Callable[[], int] = torch.get_num_threads if is_large(dims) else lambda: 1

        def run(*xs: Any) -> Any:
            for i in checked:
                if xs[i].shape != dims:
                    return one_by_one(*xs)
            if xs[0].is_cuda:
                return one_by_one(*xs)
            xs = tuple([x if x.is_contiguous() else x.contiguous() for x in xs])
            found = allocate()
            run_chain(threads(), *[x.data_ptr() for x in xs], *[y.data_ptr() for y in found])
            return found[0] if single else found

        return run

    def _allocation(self) -> Callable[[], Any]:
        shapes = [v.dims for v in self.results]
        if self.shares_memory and len(shapes) > 1:
            block = (len(shapes), *self.dims)
            return lambda: torch.empty(block).unbind()
        return lambda: [torch.empty(shape) for shape in shapes]

    def _one_by_one(self) -> Callable[..., Any]:
        """The same by the kernels of the nodes, for tensors that are elsewhere or do not fit."""
        members, inputs, results = self.members, self.inputs, self.results
        kernels = [kernel_of(node) for node in members]
        outside = list(dict.fromkeys(v for node in members for v in node.inputs if all(v not in n.outputs for n in members)))
        splits = list(dict.fromkeys(v.node for v in outside if v not in inputs and v.node.type == "Split"))
        constants = {v: v.node.context.constant(v.node) for v in (*outside, *(n.inputs[0] for n in splits)) if v.node.is_constant}
        cut = [(node, kernel_of(node)) for node in splits]

        def run(*xs: Any) -> Any:
            known = {**constants, **dict(zip(inputs, xs))}
            for node, kernel in (*cut, *zip(members, kernels)):
                found = kernel(*[known[v] for v in node.inputs])
                known.update(zip(node.outputs, found) if len(node.outputs) > 1 else [(node.outputs[0], found)])
            return known[results[0]] if len(results) == 1 else [known[v] for v in results]

        return run


def _width(value: Value) -> int:
    """How many elements a row has."""
    assert value.dims is not None and value.dims[-1] is not None
    return value.dims[-1]


def _sum(operands: list[int], result: int) -> list[tuple[str, int, int]]:
    """The instructions that add operands up, the first of which has the number `result`."""
    total = operands[0]
    found = []
    for operand in operands[1:]:
        found.append(("Add", total, operand))
        total = result + len(found) - 1
    return found


fused_op("_Elementwise", kernel=lambda node: node.attr("chain").kernel())
