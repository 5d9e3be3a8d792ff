"""Zeros around normalized pictures: where convolutions want more of them on one side than on the other, they are written along with
the pictures instead of into a copy for each convolution."""
from __future__ import annotations

from typing import Any

from everflow.ops.core import symbolic
from everflow.ops.nn.windows import pads_of, symmetric
from everflow.ops.nn.zero_borders import Border
from everflow.runtime.passes.inference import normalized_convolution
from everflow.runtime.passes.normalization import NORMALIZATIONS
from everflow.runtime.plan import Node, Plan, Value, fused

CONVOLUTIONS = frozenset(("Conv2D", "_ConvBias", "_ConvNormalized", "Conv2DBackpropFilter"))
SOURCES = NORMALIZATIONS | {"_NormalizeRectify", "_ConvNormalized"}


def surround_normalized(plan: Plan) -> None:
    """Gives batch normalizations another output, their result with zeros around it, for what would pad it."""
    takers: dict[Value, list[Node]] = {}
    for node in plan.nodes:
        for i, v in enumerate(node.inputs):
            takers.setdefault(v, []).append(node if i == 0 and not node.reads else _OTHER)
    for v in plan.fetches:
        takers.setdefault(v, []).append(_OTHER)
    table: dict[Value, Value] = {}
    for i, node in enumerate(plan.nodes):
        if node.type not in SOURCES or node.reads or not _writes_rows(node):
            continue
        border = _agreed(node.outputs[0], takers.get(node.outputs[0], []))
        if border is not None:
            plan.nodes[i] = new = _surrounded(node, border)
            table.update(zip(node.outputs, new.outputs))
            _take_whole(plan, takers[node.outputs[0]], new, border, table)
    if table:
        plan.replace(table)


_OTHER = Node("", "", {}, [], None, None)


def _agreed(pictures: Value, takers: list[Node]) -> Border | None:
    """The zeros that something wants, where all others can do with pictures that are not dense."""
    wanted = {border for node in takers if (border := _border(node, pictures)) is not None}
    if len(wanted) != 1 or any(node.type not in CONVOLUTIONS and node.type not in ("Pad", "Shape", "ShapeN") for node in takers):
        return None
    return wanted.pop()


def _border(node: Node, pictures: Value) -> Border | None:
    """What a node pads its input with before it begins; None where it needs no copy for that."""
    from everflow.ops.nn.convolution_ops import Geometry

    if node.type == "Pad":
        amounts = node.constant(1)
        if amounts is None or amounts.shape != (4, 2) or amounts[0].any() or amounts[3].any() or (amounts < 0).any():
            return None
        return int(amounts[1, 0]), int(amounts[1, 1]), int(amounts[2, 0]), int(amounts[2, 1])
    if node.type not in CONVOLUTIONS:
        return None
    convolution: Node = node.attrs.get("convolution", node)
    filter = node.outputs[0].dims if node.type == "Conv2DBackpropFilter" else node.inputs[1].dims
    dims = pictures.dims
    if convolution.attr("data_format") != "NHWC" or dims is None or filter is None or None in (*dims[1:3], *filter[:2]):
        return None
    geometry = Geometry(convolution)
    pads = pads_of(geometry.padding, dims[1:3], filter[:2], geometry.strides, geometry.dilations, geometry.explicit)
    return None if symmetric(pads) is not None else (*pads[0], *pads[1])


def _writes_rows(node: Node) -> bool:
    """Whether a node can put its result between zeros."""
    from everflow.ops.nn.pointwise_convolutions import Pointwise

    return node.type != "_ConvNormalized" or Pointwise.find(node.attrs["convolution"]) is not None


def _surrounded(node: Node, border: Border) -> Node:
    def kernel(_: Node) -> Any:
        from everflow.ops.nn.batch_norm_ops import forward

        if node.type == "_ConvNormalized":
            return normalized_convolution(node.attrs["convolution"], node.attrs["epsilon"], node.attrs["rectify"], border)
        return forward(node.attrs.get("normalization", node), node.type == "_NormalizeRectify", border)

    new = fused(node.type + "Surrounded", kernel, node, list(node.inputs), symbolic=symbolic.like_first)
    dims = node.outputs[0].dims
    if dims is not None:
        high, wide = (None if size is None else size + more for size, more in zip(dims[1:3], (sum(border[:2]), sum(border[2:]))))
        dims = (dims[0], high, wide, dims[3])
    new.add_output(node.outputs[0].dtype, dims)
    return new


def _take_whole(plan: Plan, takers: list[Node], source: Node, border: Border, table: dict[Value, Value]) -> None:
    """Makes nodes that want this border use the pictures that have it."""
    whole = source.outputs[-1]
    for node in takers:
        if _border(node, source.outputs[0]) != border:
            continue
        if node.type == "Pad":
            table[node.outputs[0]] = whole
            continue
        new = _unpadded(node, [whole, *node.inputs[1:]])
        table.update(zip(node.outputs, new.outputs))
        plan.nodes[plan.nodes.index(node)] = new


def _unpadded(node: Node, inputs: list[Value]) -> Node:
    """A convolution, or a gradient, that does not pad."""
    if node.type == "_ConvBias":
        convolution = _unpadded(node.attrs["convolution"], inputs[:2])

        def kernel(_: Node) -> Any:
            from everflow.ops.nn.convolution_ops import convolution_with_bias

            return convolution_with_bias(convolution)

        new = fused("_ConvBias", kernel, node, inputs, fresh=True)
        new.attrs = {**node.attrs, "convolution": convolution}
        return new
    if node.type == "_ConvNormalized":
        attrs = {**node.attrs, "convolution": _unpadded(node.attrs["convolution"], inputs[:2])}
        new = fused("_ConvNormalized", lambda _: normalized_convolution(**attrs), node, inputs)
        new.attrs = attrs
        return new
    new = Node(node.type, node.name, {**node.attrs, "padding": "VALID", "explicit_paddings": []}, inputs, node.op, node.context)
    new.asked_for = node.asked_for
    for v in node.outputs:
        new.add_output(v.dtype, v.dims)
    return new
