"""Sums over the iterations of a loop, taken many iterations at once.

The gradient of a matrix that a loop uses in each iteration is a sum of products, one for each iteration. One product of what all
iterations give, put below each other, is the same and much faster than many small products and additions to a large matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from everflow.graph import dtypes
from everflow.graph.constants import constant_value
from everflow.graph.func_graph import FuncGraph
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.lazy import torch
from everflow.ops.core.registry import kind_of
from everflow.ops.linalg.matrix_products import add_product

# How much of the iterations' values is held before a sum is brought up to date: what stays in the processor's cache.
MOST_BYTES = 1 << 20
FLOATS = (dtypes.float32, dtypes.float64)


class Sums(NamedTuple):
    """The loop variables that are sums of products, and what makes these up in each iteration."""

    # (loop variable, the parts whose product is added; one part stands for itself, or for the sum of its rows)
    terms: list[tuple[int, tuple[int, ...]]]
    parts: list[Tensor]


def sums_in(condition: FuncGraph, body: FuncGraph) -> Sums:
    """The sums among the variables of a loop."""
    sums = Sums([], [])

    def place(part: Tensor) -> int:
        if not any(t is part for t in sums.parts):
            sums.parts.append(part)
        return next(i for i, t in enumerate(sums.parts) if t is part)

    added = {k: term for k in range(len(body.inputs)) if not condition.inputs[k]._consumers and (term := _added(body, k)) is not None}
    for k, term in added.items():
        factors = _factors(term.op) if len(term._consumers) == 1 and not term.op.control_inputs else None
        if factors is not None:
            sums.terms.append((k, tuple(place(t) for t in factors)))
    # What is held for a product anyway is also added up for itself.
    known = {k for k, _ in sums.terms}
    sums.terms.extend((k, (place(term),)) for k, term in added.items() if k not in known and any(t is term for t in sums.parts))
    return sums


def _added(body: FuncGraph, k: int) -> Tensor | None:
    """What is added to a loop variable in each iteration, where nothing else happens to it."""
    before, after = body.inputs[k], body.outputs[k]
    add = after.op
    kind = kind_of(add.type)
    if kind not in ("addition", "sum of tensors") or len(add.inputs) != 2 or before.dtype not in FLOATS or not before.dims:
        return None
    if add.control_inputs or len(before._consumers) != 1 or after._consumers or sum(t is after for t in body.outputs) != 1:
        return None
    terms = [t for t in add.inputs if t is not before]
    # A sum of tensors takes those of one shape alone; others may broadcast where sizes are not known.
    if len(terms) != 1 or terms[0].dims != before.dims or (kind == "addition" and None in before.dims):
        return None
    return terms[0]


def _factors(op: Operation) -> tuple[Tensor, ...] | None:
    if kind_of(op.type) == "matrix product" and op.attr("transpose_a") and not op.attr("transpose_b"):
        return op.inputs[0], op.inputs[1]
    rows = op.inputs[0].dims if op.inputs else None
    if kind_of(op.type) == "gradient of bias" and op.attr("data_format") in ("NHWC", b"NHWC") and rows is not None and len(rows) == 2:
        return (op.inputs[0],)
    return _summed_rows(op)


def _summed_rows(op: Operation) -> tuple[Tensor, ...] | None:
    """The rows whose sum is the gradient of a vector that was added to each of them."""
    total = op.inputs[0].op if kind_of(op.type) == "reshaping" else None
    if total is None or kind_of(total.type) != "sum over axes" or total.attr("keep_dims"):
        return None
    if total.control_inputs or len(total.outputs[0]._consumers) != 1:
        return None
    rows, axes = total.inputs
    if rows.dims is None or len(rows.dims) != 2 or rows.dims[1:] != op.outputs[0].dims:
        return None
    over = constant_value(axes)
    is_first = over is not None and over.reshape(-1).tolist() == [0]
    return (rows,) if is_first or kind_of(axes.op.type) == "axes of broadcasting" else None


class Collector:
    """The sums of one run of a loop."""

    def __init__(self, sums: Sums, values: Sequence[Any]) -> None:
        self.terms = sums.terms
        self.totals = {k: values[k] for k, _ in sums.terms}
        self.held: list[tuple[Any, ...]] = []
        # How many iterations are held before the sums are brought up to date.
        self.room = 0
        # From the first time on, the sums are ours to change.
        self.settled = False

    def add(self, parts: tuple[Any, ...]) -> None:
        """Takes what an iteration gives."""
        self.held.append(parts)
        if len(self.held) == 1:
            self.room = MOST_BYTES // max(1, sum(part.nbytes for part in parts))
        if len(self.held) > self.room:
            self._settle()

    def add_all(self, joined: list[Any]) -> None:
        """Takes what many iterations give, put below each other."""
        for k, places in self.terms:
            if len(places) == 2:
                total = self.totals[k] if self.settled else self.totals[k].clone()
                self.totals[k] = add_product(total, joined[places[0]].t(), joined[places[1]])
            else:
                part, total = joined[places[0]], self.totals[k]
                if total.numel():
                    self.totals[k] = total + part.reshape(-1, *total.shape).sum(0)
        self.settled = True

    def _settle(self) -> None:
        """Brings the sums up to date."""
        self.add_all([torch.cat(parts) for parts in zip(*self.held)])
        self.held = []

    def results(self) -> dict[int, Any]:
        """The sums after the last iteration."""
        if self.held:
            self._settle()
        return self.totals
