"""Loop variables that count: Python's numbers serve for them."""

from __future__ import annotations

from everflow.graph import dtypes
from everflow.graph.func_graph import FuncGraph
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import kind_of

COUNTING = (dtypes.int32, dtypes.int64)


def counters(body: FuncGraph) -> list[int]:
    """The loop variables that are whole numbers which stay the same or go up or down by a constant: they need no tensors."""
    found = []
    for k, (before, after) in enumerate(zip(body.inputs, body.outputs)):
        if before.dtype in COUNTING and before.dims == () and _counts(before, after):
            found.append(k)
    return found


def _counts(before: Tensor, after: Tensor) -> bool:
    after = _source(after)
    if after is before:
        return True
    kind = kind_of(after.op.type)
    if kind not in ("addition", "subtraction"):
        return False
    x, y = map(_source, after.op.inputs)
    return (x is before and _is_number(y)) or (kind == "addition" and y is before and _is_number(x))


def _source(t: Tensor) -> Tensor:
    while kind_of(t.op.type) == "identity":
        t = t.op.inputs[0]
    return t


def _is_number(t: Tensor) -> bool:
    return kind_of(t.op.type) == "constant" and t.dims == ()
