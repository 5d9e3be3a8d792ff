"""Sums over the iterations of a loop, taken many iterations at once.

The gradient of a matrix that a loop uses in each iteration is a sum of products, one for each iteration. One product of what all
iterations give, put below each other, is the same and much faster than many small products and additions to a large matrix.
"""
from __future__ import annotations

from typing import Any

from everflow.graph import dtypes
from everflow.graph.func_graph import FuncGraph
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.lazy import torch

# How much of the iterations' values is held before a sum is brought up to date.
MOST_BYTES = 64 << 20
FLOATS = (dtypes.float32, dtypes.float64)


class Sums:
    """The loop variables that are sums of products, and what makes these up in each iteration."""

    def __init__(self, condition: FuncGraph, body: FuncGraph) -> None:
        # (loop variable, the parts whose product is added; one part stands for the sum of its rows)
        self.terms: list[tuple[int, tuple[int, ...]]] = []
        self.parts: list[Tensor] = []
        for k in range(len(body.inputs)):
            found = None if condition.inputs[k]._consumers else _added(body, k)
            if found is not None:
                self.terms.append((k, tuple(self._place(t) for t in found)))
        summed = {k for k, _ in self.terms}
        self.kept = [k for k in range(len(body.inputs)) if k not in summed]
        self.condition = condition.variant(condition.outputs, [condition.inputs[k] for k in self.kept])
        self.body = body.variant([*(body.outputs[k] for k in self.kept), *self.parts], [body.inputs[k] for k in self.kept])

    def _place(self, part: Tensor) -> int:
        for i, t in enumerate(self.parts):
            if t is part:
                return i
        self.parts.append(part)
        return len(self.parts) - 1


def _added(body: FuncGraph, k: int) -> tuple[Tensor, ...] | None:
    """What is multiplied and added to a loop variable in each iteration, where nothing else happens to it."""
    before, after = body.inputs[k], body.outputs[k]
    add = after.op
    if add.type not in ("AddN", "AddV2", "Add") or len(add.inputs) != 2 or before.dtype not in FLOATS or not before.dims:
        return None
    if add.control_inputs or len(before._consumers) != 1 or after._consumers or sum(t is after for t in body.outputs) != 1:
        return None
    terms = [t for t in add.inputs if t is not before]
    if len(terms) != 1 or terms[0].dims != before.dims or len(terms[0]._consumers) != 1 or terms[0].op.control_inputs:
        return None
    return _factors(terms[0].op)


def _factors(op: Operation) -> tuple[Tensor, ...] | None:
    if op.type == "MatMul" and op.attr("transpose_a") and not op.attr("transpose_b"):
        return op.inputs[0], op.inputs[1]
    rows = op.inputs[0].dims if op.inputs else None
    if op.type == "BiasAddGrad" and op.attr("data_format") in ("NHWC", b"NHWC") and rows is not None and len(rows) == 2:
        return (op.inputs[0],)
    return None


class Collector:
    """The sums of one run of a loop."""

    def __init__(self, sums: Sums, values: tuple[Any, ...]) -> None:
        self.terms = sums.terms
        self.totals = {k: values[k] for k, _ in sums.terms}
        self.held: list[list[Any]] = [[] for _ in sums.parts]
        self.bytes = 0

    def add(self, parts: tuple[Any, ...]) -> None:
        """Takes what an iteration gives."""
        for held, part in zip(self.held, parts):
            held.append(part)
            self.bytes += part.nbytes
        if self.bytes > MOST_BYTES:
            self.settle()

    def settle(self) -> None:
        """Brings the sums up to date."""
        if not self.held or not self.held[0]:
            return
        joined = [torch.cat(held) for held in self.held]
        for k, places in self.terms:
            if len(places) == 2:
                self.totals[k] = torch.addmm(self.totals[k], joined[places[0]].t(), joined[places[1]])
            else:
                self.totals[k] = self.totals[k] + joined[places[0]].sum(0)
        self.held = [[] for _ in self.held]
        self.bytes = 0

    def results(self, values: tuple[Any, ...], kept: list[int]) -> tuple[Any, ...]:
        """All loop variables after the last iteration."""
        self.settle()
        found = {**dict(zip(kept, values)), **self.totals}
        return tuple(found[k] for k in range(len(found)))
