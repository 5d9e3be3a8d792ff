"""Sums of which one part is a convolution with a window of one pixel: it adds its results to the other part as it computes them."""

from __future__ import annotations

from typing import Any

from everflow.ops.core.node import Node, Value
from everflow.runtime.passes.patterns import P, Rules, V
from everflow.runtime.plan import fused


def _added(node: Node) -> Node | None:
    # Of a convolution that leaves out pixels, the gradient is zero there: it is better added than filled up with zeros.
    ways = [(base, part, name) for base, part in (node.inputs, node.inputs[::-1]) if (name := _form(base, part)) is not None]
    if not ways:
        return None
    base, part, name = max(ways, key=lambda way: max(way[1].node.attr("strides")))
    return fused(name, node, [base, *part.node.inputs], convolution=part.node)


def _form(base: Value, part: Value) -> Any:
    """The name of the node that adds a part to a tensor, where it can."""
    if base is part or not base.node.is_fresh or base.dtype is not part.dtype or part.node.reads:
        return None
    meaning = part.node.meaning
    return None if meaning is None or meaning.added is None else meaning.added(part.node)


add_convolutions = Rules(
    "add_convolutions",
    "Residual connections: the sum of two branches, and the sum of the gradients that come back through two branches.",
    (P(("addition", "sum of tensors"), V(once=True), V(once=True), most=2), _added),
)
