"""Batch normalization with given statistics scales and shifts channels: a convolution before it does that with its filter and a bias."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.graph import dtypes
from everflow.lazy import torch
from everflow.ops.nn.zero_borders import surrounded
from everflow.runtime.passes.normalization import NORMALIZATIONS
from everflow.runtime.plan import Node, Plan, Value, fused


def fold_normalizations(plan: Plan) -> None:
    """Puts one node in the place of Conv2D, its bias, a batch normalization outside of training and Relu."""
    uses = plan.uses()
    relus = {n.inputs[0]: n for n in plan.nodes if n.type == "Relu" and not n.reads}
    table: dict[Value, Value] = {}
    for i, node in enumerate(plan.nodes):
        if not _can_be_folded(node, uses):
            continue
        result = node.outputs[0]
        relu = relus.get(result) if uses[result] == 1 else None
        plan.nodes[i] = new = _folded(node, node.inputs[0].node, rectify=relu is not None)
        table[result if relu is None else relu.outputs[0]] = new.outputs[0]
    if table:
        plan.replace(table)


def _can_be_folded(node: Node, uses: Any) -> bool:
    if node.type not in NORMALIZATIONS or node.reads or node.attr("is_training") or node.attr("data_format") != "NHWC":
        return False
    source = node.inputs[0]
    if source.node.type not in ("Conv2D", "_ConvBias") or source.node.reads or uses[source] != 1 or any(uses[v] for v in node.outputs[1:]):
        return False
    convolution: Node = source.node.attrs.get("convolution", source.node)
    return convolution.attr("data_format") == "NHWC" and all(v.dtype is dtypes.float32 for v in node.inputs[:5])


def _folded(node: Node, source: Node, rectify: bool) -> Node:
    convolution: Node = source.attrs.get("convolution", source)
    epsilon = node.attr("epsilon")
    new = fused("_ConvNormalized", lambda _: normalized_convolution(convolution, epsilon, rectify), node,
                [*source.inputs[:2], *node.inputs[1:5], *source.inputs[2:]])
    new.attrs = {"convolution": convolution, "epsilon": epsilon, "rectify": rectify}
    new.outputs = new.outputs[:1]
    return new


def normalized_convolution(convolution: Node, epsilon: float, rectify: bool, border: Any = None) -> Callable[..., Any]:
    """The kernel (x, filter, scale, offset, mean, variance, bias) of a convolution whose result is normalized and perhaps rectified; with
    a border, the result with zeros around it is returned as well."""
    from everflow.ops.nn.convolution_ops import convolution_with_bias
    from everflow.ops.nn.pointwise_convolutions import Pointwise

    general, pointwise = convolution_with_bias(convolution), Pointwise.find(convolution)

    def run(x: Any, filter: Any, scale: Any, offset: Any, mean: Any, variance: Any, bias: Any = None) -> Any:
        factor = torch.rsqrt(variance + epsilon).mul_(scale)
        filter = filter * factor
        offset = torch.addcmul(offset, mean if bias is None else mean - bias, factor, value=-1)
        if pointwise is not None and pointwise.fits(x, pointwise.depth):
            y, whole = (None, None) if border is None else surrounded(pointwise.result_shape(x), border)
            y = pointwise.convolve(x, filter, offset, rectify, y)
        else:
            y = general(x, filter, offset)
            y = y.relu_() if rectify else y
            whole = None if border is None else torch.nn.functional.pad(y, (0, 0, border[2], border[3], border[0], border[1]))
        return y if border is None else (y, whole)

    return run
