"""Gradients of broadcast inputs where only a run can tell along which axes these were broadcast: in most runs, along none."""
from __future__ import annotations

from typing import Any

from everflow.runtime.passes.fusion import FLOATS, rewrite_nodes
from everflow.runtime.plan import Node, Plan, fused


def sum_to_shape(plan: Plan) -> None:
    """A sum over the axes that BroadcastGradientArgs finds, and the reshape after it, are one node, which needs only the shape."""
    rewrite_nodes(plan, _summed)


def _summed(node: Node, uses: Any) -> Node | None:
    if node.type != "Reshape" or node.inputs[0].node.type != "Sum" or node.outputs[0].dtype.name not in FLOATS:
        return None
    total, shape = node.inputs[0].node, node.inputs[1]
    axes = total.inputs[1]
    if axes.node.type != "BroadcastGradientArgs" or axes.node.inputs[axes.index] is not shape or node.reads or total.reads \
            or total.attr("keep_dims"):
        return None
    known = node.constant(1)

    def kernel(_: Node) -> Any:
        if known is not None:
            dims = tuple(known.tolist())
            return lambda gradient, _shape: gradient if gradient.shape == dims else gradient.sum_to_size(dims)

        def run(gradient: Any, shape: Any) -> Any:
            dims = shape if isinstance(shape, tuple) else tuple(shape.tolist())
            return gradient if gradient.shape == dims else gradient.sum_to_size(dims)

        return run

    return fused("_SumToShape", kernel, node, [total.inputs[0], shape], view=True, sizes=(1,))
