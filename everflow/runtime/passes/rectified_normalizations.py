"""Batch normalization with the Relu behind it, and the gradient of both, each as one node that goes through memory once."""

from __future__ import annotations

from typing import Any

from everflow.ops.core.node import Node, Value
from everflow.runtime.passes.patterns import P, Rules, V
from everflow.runtime.plan import fused


def _rectified(node: Node, normalization: Node, overwrite: bool) -> Any:
    new = fused("_NormalizeRectify", normalization, list(normalization.inputs), overwrite=overwrite)
    return {normalization: new, node: new.outputs[0]}


def _rectified_gradient(node: Node, dy: Value, overwrite: bool, forward: Node) -> Node | None:
    """Of both, where the gradient is that of this normalization, with the statistics that it used."""
    statistics = forward.outputs[3:5] if forward.attr("is_training") else forward.inputs[3:5]
    if any(a is not b for a, b in zip(node.inputs[1:5], [*forward.inputs[:2], *statistics])):
        return None
    if any(node.attr(name) != forward.attr(name) for name in ("epsilon", "data_format", "is_training")):
        return None
    return fused("_NormalizeRectifyGradient", node, [dy, *node.inputs[1:3], forward.inputs[2], *node.inputs[3:5]], overwrite=overwrite)


rectify_normalizations = Rules(
    "rectify_normalizations",
    "A batch normalization and its Relu; ReluGrad and the gradient of the normalization.",
    (P("rectification", P("normalization", V(spare="overwrite"), name="normalization", once=True)), _rectified),
    (
        P(
            "gradient of normalization",
            P("gradient of rectification", V("dy", spare="overwrite"), P("_NormalizeRectify", name="forward"), once=True),
        ),
        _rectified_gradient,
    ),
    (
        P("gradient of normalization", V("dy", spare="overwrite")),
        lambda node, dy, overwrite: fused("_NormalizeGradient", node, list(node.inputs), overwrite=overwrite),
    ),
)
