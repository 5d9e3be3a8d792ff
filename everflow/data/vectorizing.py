"""Functions of elements as functions of batches, where the result is known to be the same.

A function qualifies if its elements have known shapes and most of its ops have a rule for batches (everflow.data.batch_rules). Each of
these then runs once for a whole batch, whose first dimension counts the elements. What fails that way is done again element by
element, so that errors are those of the element that is to blame.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from everflow.data.batch_rules import RULES, Compute, by_rows, may_fail, node_for, repeated
from everflow.data.elements import Element, dims_of, joined
from everflow.graph import shapes
from everflow.graph.functions import called_functions
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.ops.core.node import kernel_of
from everflow.values.tensors import from_numpy

# A batch is computed in parts of about so many numbers, which stay in a processor's cache; larger elements stand alone.
AT_ONCE = 1 << 17
# Ops without a rule of their own are run row by row; a function is worth it with at most this part of such ops.
MOST_BY_ROWS = 0.4


class _Program:
    """The ops of a function, each with what computes it for a batch."""

    def __init__(
        self,
        steps: list[tuple[Compute, list[int], list[int]]],
        constants: dict[int, Any],
        outputs: list[tuple[int, bool]],
        size: int,
        never_fails: bool,
    ) -> None:
        self.steps, self.constants, self.outputs, self.size, self.never_fails = steps, constants, outputs, size, never_fails

    def run(self, arguments: Sequence[Any]) -> Element:
        known: list[Any] = [None] * self.size
        known[: len(arguments)] = arguments
        for place, value in self.constants.items():
            known[place] = value
        for compute, taken, given in self.steps:
            found = compute(*[known[i] for i in taken])
            if len(given) == 1:
                known[given[0]] = found
            else:
                for place, value in zip(given, found):
                    known[place] = value
        rows = dims_of(arguments[0])[0]
        return tuple(known[i] if is_batched else repeated(known[i], rows) for i, is_batched in self.outputs)


def _compiled(context: Any, body: Any, count: int) -> _Program | None:
    """The program of a body whose first `count` inputs are batches; None where an op has no rule."""
    places: dict[Tensor, int] = {t: i for i, t in enumerate(body.inputs)}
    batched = {t: i < count for i, t in enumerate(body.inputs)}
    constants: dict[int, Any] = {}
    steps = []
    slow = 0
    never_fails = True
    for op in _needed(body):
        if op.type == "Placeholder":
            continue
        for t in op.outputs:
            places[t] = len(places)
        if op.type == "Const":
            t = op.outputs[0]
            constants[places[t]] = from_numpy(op.attrs["value"], t.dtype)
            batched[t] = False
            continue
        if op.op_def_.is_stateful or op.control_inputs or any(t.dtype.name in ("resource", "variant") for t in (*op.inputs, *op.outputs)):
            return None
        is_batched = [batched[t] for t in op.inputs]
        if any(is_batched):
            if not all(shapes.is_fully_defined(t.dims) for t in (*op.inputs, *op.outputs)) or called_functions(op):
                return None
            rule = RULES.get(op.type)
            found = rule(context, op, is_batched) if rule is not None else None
            slow += found is None
            compute = found or by_rows(context, op, is_batched)
            never_fails &= op.type in RULES and not may_fail(op)
        else:
            compute = kernel_of(node_for(context, op))
            never_fails = False
        for t in op.outputs:
            batched[t] = any(is_batched)
        steps.append((compute, [places[t] for t in op.inputs], [places[t] for t in op.outputs]))
    outputs = [(places[t], batched[t]) for t in body.outputs]
    if not any(is_batched for _, is_batched in outputs) or slow > MOST_BY_ROWS * len(steps):
        return None
    return _Program(steps, constants, outputs, len(places), never_fails)


def _needed(body: Any) -> list[Operation]:
    """The ops that the outputs need, in order."""
    found: set[Operation] = set()
    waiting = [t.op for t in body.outputs]
    while waiting:
        op = waiting.pop()
        if op not in found:
            found.add(op)
            waiting.extend(t.op for t in op.inputs)
    return [op for op in body.get_operations() if op in found]


class Batched:
    """A function for many stacked elements at once. It gives None where it fails: then one of the elements is to blame."""

    def __init__(self, program: _Program, captured: Sequence[Any], at_once: int) -> None:
        self.program, self.captured, self.at_once = program, tuple(captured), at_once
        self.never_fails = program.never_fails

    def __call__(self, *columns: Any) -> Element | None:
        rows, size = dims_of(columns[0])[0], self.at_once
        try:
            parts = [self.program.run((*[c[start : start + size] for c in columns], *self.captured)) for start in range(0, rows, size)]
        except Exception:  # whatever it is, it will come again for the element that it belongs to
            return None
        return joined(parts)


def batched_form(context: Any, entry: Any, dims: Sequence[Any], captured: Sequence[Any]) -> Batched | None:
    """The function for many stacked elements at once, or None where it must be called for each."""
    if entry is None or not all(shapes.is_fully_defined(d) for d in dims) or any(d is None for d in dims):
        return None
    body = entry.graph
    if any(op.op_def_.is_stateful and op.type != "Placeholder" for op in body.get_operations()):
        return None
    key = ("batched", entry.name)
    if key not in context._op_state:
        # Shapes are those that the body was built for.
        context._op_state[key] = (_compiled(context, body, len(dims)),)
    program = context._op_state[key][0]
    at_once = AT_ONCE // max(1, *(math.prod(d) for d in dims))
    return None if program is None or at_once < 2 else Batched(program, captured, at_once)
