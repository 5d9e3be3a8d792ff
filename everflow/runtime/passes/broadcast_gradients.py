"""Gradients of broadcast inputs, which are summed over the axes along which these were broadcast.

Where the static shapes tell these axes, nothing is left to find out at run time; and a sum over no axes, or a reshape to the shape that a
value already has, goes. Where only a run can tell, sum and reshape are one node: in most runs there is nothing to sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.ops.core.node import Node, Value, constant_node
from everflow.ops.core.registry import kind_of
from everflow.runtime.passes.patterns import FLOATS, P, Rules, V
from everflow.runtime.plan import Plan, fused
from everflow.runtime.symbols import Symbols


def find_broadcast_axes(plan: Plan) -> bool:
    """Folds BroadcastGradientArgs, and the Sum and Reshape after it, as far as the static shapes allow."""
    table: dict[Value, Value] = {}
    nodes: list[Node] = []
    symbols = Symbols()
    for node in plan.nodes:
        node.inputs[:] = [table.get(v, v) for v in node.inputs]
        kind = kind_of(node.type)
        if kind == "axes of broadcasting":
            dims = [symbols.held(v) for v in node.inputs]
            for output, axes in zip(node.outputs, broadcast_axes(*dims)):
                if axes is not None:
                    constant = constant_node(plan.context, node.name, np.array(axes, np.int32), output.dtype)
                    table[output] = constant.outputs[0]
                    nodes.append(constant)
        elif kind == "reshaping":
            replaced = _summed_to_shape(node, symbols)
            if replaced is not None:
                table[node.outputs[0]] = replaced
                continue
        nodes.append(node)
    if table:
        plan.nodes = nodes
        plan.replace(table)
    return bool(table)


def broadcast_axes(a: Any, b: Any) -> tuple[list[int] | None, list[int] | None]:
    """Along which axes each of two shapes is summed back; None where that depends on sizes only known at run time."""
    if a is None or b is None:
        return None, None
    rank = max(len(a), len(b))
    a = (1,) * (rank - len(a)) + tuple(a)
    b = (1,) * (rank - len(b)) + tuple(b)
    return _axes(a, b), _axes(b, a)


def _axes(mine: Any, other: Any) -> list[int] | None:
    found = []
    for i, (m, n) in enumerate(zip(mine, other)):
        if m == n:
            continue
        if m == 1:
            # Summing over an axis of size one changes nothing, so an unknown size is no obstacle.
            found.append(i)
        elif n != 1 and (not isinstance(m, int) or isinstance(n, int)):
            # Not known, or two sizes that don't go together: the kernel says so.
            return None
    return found


def _summed_to_shape(node: Node, symbols: Symbols) -> Value | None:
    """What stands for `Reshape(Sum(g, axes), Shape(x))`: g itself where nothing is summed, the sum where it has x's shape already."""
    total, shape = node.inputs
    if kind_of(total.node.type) != "sum over axes" or total.node.constant(1) is None or total.node.attr("keep_dims"):
        return None
    target = symbols.held(shape)
    gradient = total.node.inputs[0]
    axes = total.node.constant(1).reshape(-1).tolist()  # type: ignore[union-attr]
    if target is None or gradient.dims is None or not _is_broadcast_sum(total.node):
        return None
    missing = len(gradient.dims) - len(target)
    if missing == 0 and all(gradient.dims[axis] == 1 for axis in axes):
        return gradient
    return total if axes == list(range(missing)) else None


def _is_broadcast_sum(node: Node) -> bool:
    """Whether a Sum was made for a broadcast gradient: only then is its reshape known to keep the number of elements."""
    op = node.op
    return op is not None and kind_of(op.inputs[1].op.type) == "axes of broadcasting"


def _summed(node: Node, shape: Value, total: Node, axes: Node) -> Node | None:
    compared = axes.inputs[total.inputs[1].index]
    if compared is not shape and not _begins(shape, compared):
        return None
    return fused("_SumToShape", node, [total.inputs[0], shape])


def _begins(shape: Value, part: Value) -> bool:
    """Whether the sizes of a part are the first ones of a shape, as those of a batch of matrices are."""
    node = part.node
    if kind_of(node.type) != "part by strides" or node.inputs[0] is not shape:
        return False
    begin, strides = node.constant(1), node.constant(3)
    masks = ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
    starts = node.attr("begin_mask") == 1 or begin is not None and begin.tolist() == [0]
    return starts and strides is not None and strides.tolist() == [1] and not any(node.attr(mask) for mask in masks)


sum_to_shape = Rules(
    "sum_to_shape",
    "A sum over the axes that BroadcastGradientArgs finds, and the reshape after it, need only the shape.",
    (
        P(
            "reshaping",
            P("sum over axes", V(), P("axes of broadcasting", name="axes", output=None), name="total", attrs={"keep_dims": False}),
            V("shape"),
            dtype=FLOATS,
        ),
        _summed,
    ),
)
