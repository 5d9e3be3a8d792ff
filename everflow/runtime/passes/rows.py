"""`x[i]` of a number `i` is a row of x: no vectors of bounds are made for it."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.ops.core.node import Node
from everflow.runtime.codegen import kernel_of
from everflow.runtime.passes.fusion import rewrite_nodes
from everflow.runtime.plan import Plan, fused
from everflow.values.sizes import Sizes

MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask")


def take_rows(plan: Plan) -> None:
    """A strided slice from i to i + 1 without the axis."""
    rewrite_nodes(plan, _row)


def _row(node: Node, uses: Any) -> Node | None:
    if node.type != "StridedSlice" or node.reads or node.attr("shrink_axis_mask") != 1 or any(node.attr(mask) for mask in MASKS):
        return None
    begin, stride = node.inputs[1].node, node.constant(3)
    if begin.type != "Pack" or len(begin.inputs) != 1 or begin.inputs[0].dims != () or stride is None or stride.tolist() != [1]:
        return None
    if not node.inputs[0].dims or not _is_next(node.inputs[2].node, begin.inputs[0]):
        return None
    return fused("_Row", lambda _: _kernel(node), node, [node.inputs[0], begin.inputs[0]], view=True, sizes=(1,))


def _is_next(end: Node, index: Any) -> bool:
    """Whether a vector holds the number that follows an index."""
    if end.type != "Pack" or len(end.inputs) != 1 or end.inputs[0].node.type not in ("AddV2", "Add"):
        return False
    add = end.inputs[0].node
    one = add.constant(1)
    return add.inputs[0] is index and one is not None and one.ndim == 0 and one == 1


def _kernel(node: Node) -> Callable[..., Any]:
    general = kernel_of(node)

    def run(x: Any, index: Any) -> Any:
        at = index.tolist()
        try:
            return x[at]
        except IndexError:
            return general(x, *(Sizes((n,)) for n in (at, at + 1, 1)))

    return run
