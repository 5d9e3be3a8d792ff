"""Chains of ops that one kernel does at once: matrix product and bias, convolution and bias, pooling and its gradient."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.lazy import torch
from everflow.ops.nn.pooling_ops import max_pool_from_positions, max_pool_with_positions, pools_planes
from everflow.runtime.plan import Node, Plan, Value, fused

FLOATS = ("float32", "float64", "bfloat16")


def rewrite_nodes(plan: Plan, rule: Callable[[Node, Any], Node | None]) -> None:
    """Puts what a rule returns for a node in its place; what only the replaced nodes needed goes afterwards."""
    uses = plan.uses()
    table: dict[Value, Value] = {}
    nodes = []
    for node in plan.nodes:
        for i, v in enumerate(node.inputs):
            if v in table:
                node.inputs[i] = table[v]
        new = rule(node, uses)
        if new is not None:
            table.update(zip(node.outputs, new.outputs))
            for old, value in zip(node.outputs, new.outputs):
                uses[value] = uses[old]
        nodes.append(new or node)
    if nodes != plan.nodes:
        plan.nodes = nodes
        plan.replace(table)
        plan.drop_unused()


def _biased(node: Node, producer: str, uses: Any) -> tuple[Node, Value] | None:
    """(the node whose result gets a bias, the bias) where `node` adds a vector to the last axis of a value used nowhere else."""
    if node.type not in ("BiasAdd", "AddV2", "Add") or node.reads or len(node.inputs) != 2:
        return None
    if node.type == "BiasAdd" and node.attr("data_format") != "NHWC":
        return None
    for value, bias in (node.inputs, node.inputs[::-1]):
        if value.node.type == producer and uses[value] == 1 and not value.node.reads and value.dtype.name in FLOATS \
                and bias.dims is not None and len(bias.dims) == 1 and value.dims is not None and bias.dims[0] == value.dims[-1] is not None:
            return value.node, bias
    return None


def _matmul_bias(node: Node, uses: Any) -> Node | None:
    found = _biased(node, "MatMul", uses)
    if found is None:
        return None
    product, bias = found
    flip_a, flip_b = product.attr("transpose_a"), product.attr("transpose_b")

    def kernel(_: Node) -> Any:
        # Faster than addmm, which first fills the result with the bias.
        if flip_a or flip_b:
            return lambda a, b, c: torch.mm(a.t() if flip_a else a, b.t() if flip_b else b).add_(c)
        return lambda a, b, c: torch.mm(a, b).add_(c)

    return fused("_MatMulBias", kernel, node, [*product.inputs, bias], fresh=True)


def fuse_matmul_bias(plan: Plan) -> None:
    """MatMul and the bias added to its result."""
    rewrite_nodes(plan, _matmul_bias)


def _conv_bias(node: Node, uses: Any) -> Node | None:
    found = _biased(node, "Conv2D", uses)
    if found is None:
        return None
    convolution, bias = found
    if convolution.attr("data_format") != "NHWC":
        return None

    def kernel(_: Node) -> Any:
        from everflow.ops.nn.convolution_ops import convolution_with_bias

        return convolution_with_bias(convolution)

    new = fused("_ConvBias", kernel, node, [*convolution.inputs, bias], fresh=True)
    new.attrs = {**node.attrs, "convolution": convolution}
    return new


def fuse_conv_bias(plan: Plan) -> None:
    """Conv2D and the bias added to its result."""
    rewrite_nodes(plan, _conv_bias)


def share_pooling(plan: Plan) -> None:
    """MaxPool finds where the maxima are; its gradient need not look for them again."""
    gradients = {n for n in plan.nodes if n.type == "MaxPoolGrad" and n.inputs[1].node.type == "MaxPool"
                 and n.inputs[1].node.inputs[0] is n.inputs[0] and pools_planes(n.inputs[1].node)}
    pools = {n.inputs[1].node for n in gradients}
    if not pools:
        return
    table: dict[Value, Value] = {}
    positions: dict[Node, Value] = {}
    for i, node in enumerate(plan.nodes):
        if node in pools:
            new = fused("_MaxPoolWithPositions", max_pool_with_positions, node, node.inputs)
            positions[node] = new.add_output(node.outputs[0].dtype, None)
        elif node in gradients:
            source = node.inputs[1].node
            new = fused("_MaxPoolGradFromPositions", max_pool_from_positions, node, [node.inputs[0], node.inputs[2], positions[source]],
                        fresh=True)
        else:
            continue
        table[node.outputs[0]] = new.outputs[0]
        plan.nodes[i] = new
    plan.replace(table)


def pool_before_relu(plan: Plan) -> None:
    """The maximum of rectified values is the rectified maximum: a Relu whose result only a MaxPool uses works on what that leaves."""
    uses = plan.uses()
    table: dict[Value, Value] = {}
    nodes = []
    for node in plan.nodes:
        source = node.inputs[0].node if node.type == "MaxPool" else None
        if source is None or source.type != "Relu" or source.reads or uses[node.inputs[0]] != 1 or not node.outputs[0].dtype.is_floating:
            nodes.append(node)
            continue
        dtype, dims = node.outputs[0].dtype, node.outputs[0].dims
        pool = Node("MaxPool", node.name, node.attrs, [table.get(v, v) for v in source.inputs], node.op, plan.context)
        relu = Node("Relu", source.name, source.attrs, [pool.add_output(dtype, dims)], source.op, plan.context)
        table[node.outputs[0]] = relu.add_output(dtype, dims)
        nodes += [pool, relu]
    if table:
        plan.nodes = nodes
        plan.replace(table)
        plan.drop_unused()
