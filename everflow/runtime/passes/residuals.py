"""Sums of which one part is a convolution with a window of one pixel: it adds its results to the other part as it computes them."""
from __future__ import annotations

from typing import Any

from everflow.ops.core import symbolic
from everflow.runtime.codegen import kernel_of
from everflow.runtime.passes.fusion import rewrite_nodes
from everflow.runtime.plan import Node, Plan, Value, fused

SUMS = frozenset(("Add", "AddV2", "AddN"))
ADDED = {"Conv2D": "_ConvAdded", "Conv2DBackpropInput": "_ConvInputGradientAdded"}


def add_residuals(plan: Plan) -> None:
    """Residual connections: the sum of two branches, and the sum of the gradients that come back through two branches."""
    rewrite_nodes(plan, _added)


def _added(node: Node, uses: Any) -> Node | None:
    if node.type not in SUMS or len(node.inputs) != 2 or node.reads:
        return None
    # Of a convolution that leaves out pixels, the gradient is zero there: it is better added than filled up with zeros.
    ways = [(base, part) for base, part in (node.inputs, node.inputs[::-1]) if _can_be_added(base, part, uses)]
    ways.sort(key=lambda way: max(way[1].node.attr("strides")), reverse=True)
    return _joined(node, *ways[0]) if ways else None


def _can_be_added(base: Value, part: Value, uses: Any) -> bool:
    from everflow.ops.nn.pointwise_convolutions import Pointwise

    if base is part or uses[base] != 1 or uses[part] != 1 or not base.node.is_fresh or base.dtype is not part.dtype:
        return False
    return part.node.type in ADDED and not part.node.reads and Pointwise.find(part.node) is not None


def _joined(node: Node, base: Value, part: Value) -> Node:
    convolution = part.node

    def kernel(_: Node) -> Any:
        from everflow.ops.nn.convolution_ops import sizes_of
        from everflow.ops.nn.pointwise_convolutions import added_forward, added_input_gradient

        if convolution.type == "Conv2D":
            return added_forward(convolution, kernel_of(convolution))
        return added_input_gradient(convolution, kernel_of(convolution), sizes_of(convolution, 0))

    facts = {"fresh": True, "symbolic": symbolic.like_first, "sizes": (1,) if convolution.type == "Conv2DBackpropInput" else ()}
    return fused(ADDED[convolution.type], kernel, node, [base, *convolution.inputs], **facts)
