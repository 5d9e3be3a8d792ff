"""`x[i]` of a number `i` is a row of x: no vectors of bounds are made for it."""

from __future__ import annotations

from everflow.ops.core.node import Node, Value
from everflow.runtime.passes.patterns import P, Rules, V
from everflow.runtime.plan import fused

WHOLE = {"shrink_axis_mask": 1, "begin_mask": 0, "end_mask": 0, "ellipsis_mask": 0, "new_axis_mask": 0}


def _row(node: Node, x: Value, index: Value) -> Node:
    return fused("_Row", node, [x, index], slice=node)


take_rows = Rules(
    "take_rows",
    "A strided slice from i to i + 1 without the axis.",
    (
        P(
            "StridedSlice",
            V("x", where=lambda v: bool(v.dims)),
            P("Pack", V("index", rank=0), most=1),
            P("Pack", P("addition", V("index"), V(number=1)), most=1),
            V(where=lambda v: v.constant is not None and v.constant.tolist() == [1]),
            attrs=WHOLE,
        ),
        _row,
    ),
)
