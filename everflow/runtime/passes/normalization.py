"""Batch normalization with the Relu behind it, and the gradient of both, each as one node that goes through memory once."""
from __future__ import annotations

from collections import Counter
from typing import Any

from everflow.ops.core import symbolic
from everflow.runtime.plan import Node, Plan, Value, fused

NORMALIZATIONS = frozenset(("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"))
GRADIENTS = frozenset(("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"))


def rectify_normalized(plan: Plan) -> None:
    """Puts one node in the place of a batch normalization and its Relu, and one in the place of ReluGrad and its gradient."""
    uses = plan.uses()
    relus = {n.inputs[0]: n for n in plan.nodes if n.type == "Relu" and not n.reads}
    joined: dict[Value, Node] = {}
    table: dict[Value, Value] = {}
    for i, node in enumerate(plan.nodes):
        if node.type not in NORMALIZATIONS or node.reads or uses[node.outputs[0]] != 1 or node.outputs[0] not in relus:
            continue
        new = _rectified(node, overwrite=uses[node.inputs[0]] == 1 and node.inputs[0].node.is_fresh)
        plan.nodes[i] = new
        joined[new.outputs[0]] = new
        table.update(zip(node.outputs[1:], new.outputs[1:]))
        table[relus[node.outputs[0]].outputs[0]] = new.outputs[0]
    if table:
        plan.replace(table)
    _differentiate(plan, joined)


def _rectified(node: Node, overwrite: bool) -> Node:
    def kernel(_: Node) -> Any:
        from everflow.ops.nn.batch_norm_ops import forward

        return forward(node, rectify=True, overwrite=overwrite)

    new = fused("_NormalizeRectify", kernel, node, list(node.inputs), symbolic=symbolic.like_first)
    new.attrs = {"normalization": node}
    return new


def _differentiate(plan: Plan, joined: dict[Value, Node]) -> None:
    """The gradient nodes, with what ReluGrad does in those whose normalization was joined with its Relu."""
    uses = plan.uses()
    table: dict[Value, Value] = {}
    for i, node in enumerate(plan.nodes):
        if node.type not in GRADIENTS or node.reads:
            continue
        relu = node.inputs[0].node
        source = joined.get(relu.inputs[1]) if relu.type == "ReluGrad" and not relu.reads and uses[node.inputs[0]] == 1 else None
        if source is None or not _belongs(node, source):
            new = _gradient(node, node.inputs[0], uses, None)
        else:
            new = _gradient(node, relu.inputs[0], uses, source.inputs[2])
        plan.nodes[i] = new
        table.update(zip(node.outputs, new.outputs))
    if table:
        plan.replace(table)


def _belongs(node: Node, source: Node) -> bool:
    """Whether a gradient is that of this normalization, with the statistics that it used."""
    of: Node = source.attrs["normalization"]
    statistics = source.outputs[3:5] if of.attr("is_training") else source.inputs[3:5]
    return all(a is b for a, b in zip(node.inputs[1:5], [*source.inputs[:2], *statistics])) and all(
        node.attr(name) == of.attr(name) for name in ("epsilon", "data_format", "is_training"))


def _gradient(node: Node, dy: Value, uses: Counter[Value], offset: Value | None) -> Node:
    overwrite = uses[dy] == 1 and dy.node.is_fresh

    def kernel(_: Node) -> Any:
        from everflow.ops.nn.batch_norm_ops import backward

        return backward(node, rectify=offset is not None, overwrite=overwrite)

    if offset is None:
        return fused("_NormalizeGradient", kernel, node, [dy, *node.inputs[1:]], symbolic=symbolic.like_first)
    return fused("_NormalizeRectifyGradient", kernel, node, [dy, *node.inputs[1:3], offset, *node.inputs[3:5]],
                 symbolic=symbolic.like_first)
