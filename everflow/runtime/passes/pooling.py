"""Maxima of windows: taken before what keeps their order, along with first layers' convolutions, and looked for once."""

from __future__ import annotations

from typing import Any

from everflow.ops.core.node import Node, Value
from everflow.runtime.passes.patterns import P, Rules, V
from everflow.runtime.plan import fused, remade


def _swapped(node: Node, relu: Node) -> list[Node]:
    pool = remade(node, list(relu.inputs))
    return [pool, remade(relu, list(pool.outputs), like=node)]


pool_before_relu = Rules(
    "pool_before_relu",
    "A Relu that only a MaxPool uses works on what that leaves: the greatest of rectified values is the rectified one.",
    (P("MaxPool", P("rectification", name="relu", once=True), where=lambda pool: pool.outputs[0].dtype.is_floating), _swapped),
)


def _pooled(node: Node, convolution: Node) -> Node | None:
    from everflow.ops.nn.joined_convolutions import pooled_sizes

    sizes = pooled_sizes(convolution, node)
    if sizes is None:
        return None
    return fused("_ConvPool", node, list(convolution.inputs), convolution=convolution, pool=node, sizes=sizes, rectify=False)


pool_convolutions = Rules(
    "pool_convolutions",
    "Convolutions of pictures with few channels, bias, MaxPool over windows of two by two and Relu: what is pooled away is never written.",
    (P("MaxPool", P("convolution", name="convolution", once=True)), _pooled),
    (
        P("rectification", P("_ConvPool", name="pooled", once=True)),
        lambda node, pooled: fused("_ConvPool", node, pooled.inputs, **{**pooled.attrs, "rectify": True}),
    ),
)


def _rectified(node: Node, x: Value, dy: Value, relu: Node, pool: Node, gradient: Node) -> Any:
    from everflow.ops.nn.pooling_ops import pools_planes

    if not pools_planes(pool):
        return None
    found = fused("_MaxPoolWithPositions", pool, [x])
    found.add_output(pool.outputs[0].dtype, None)
    rectified = remade(relu, [found.outputs[0]], like=pool)
    passed = remade(node, [dy, rectified.outputs[0]], like=pool)
    return {pool: [found, rectified], node: [passed, _from_positions(gradient, x, found, passed.outputs[0])]}


RELU = P("rectification", V("x"), name="relu")

rectify_maxima = Rules(
    "rectify_maxima",
    "Relu, then MaxPool, in training: the maxima are rectified, and their gradients, not all that is pooled away.",
    (
        P("gradient of rectification", P("MaxPoolGrad", RELU, P("MaxPool", RELU, name="pool"), V("dy"), name="gradient", once=True), RELU),
        _rectified,
    ),
)


def _with_positions(node: Node, x: Value, pool: Node) -> Any:
    from everflow.ops.nn.pooling_ops import pools_planes

    if len(pool.outputs) == 2:
        return _from_positions(node, x, pool)
    if not pools_planes(pool):
        return None
    new = fused("_MaxPoolWithPositions", pool, pool.inputs)
    new.add_output(pool.outputs[0].dtype, None)
    return {pool: new, node: _from_positions(node, x, new)}


def _from_positions(node: Node, x: Value, pool: Node, dy: Value | None = None) -> Node:
    return fused("_MaxPoolGradFromPositions", node, [x, dy or node.inputs[2], pool.outputs[1]])


share_pooling_positions = Rules(
    "share_pooling_positions",
    "MaxPool finds where the maxima are; its gradient need not look for them again.",
    (P("MaxPoolGrad", V("x"), P(("MaxPool", "_MaxPoolWithPositions"), V("x"), name="pool"), least=3), _with_positions),
)

sum_before_spreading = Rules(
    "sum_before_spreading",
    "The gradients of maxima, spread over what was pooled, sum up to what they do before.",
    (
        P("gradient of bias", P("_MaxPoolGradFromPositions", V(), V("dy"), attrs={"data_format": "NHWC"}), attrs={"data_format": "NHWC"}),
        lambda node, dy: remade(node, [dy]),
    ),
)
