"""Batch normalization with given statistics scales and shifts channels: a convolution before it does that with its filter and a bias."""

from __future__ import annotations

from typing import Any

from everflow.graph import dtypes
from everflow.ops.core.node import Node
from everflow.runtime.passes.patterns import P, Rules
from everflow.runtime.plan import fused


def _has_floats(node: Node) -> bool:
    return all(v.dtype is dtypes.float32 for v in node.inputs[:5])


def _normalized(node: Node, convolution: Node) -> Node:
    inputs = [*convolution.inputs[:2], *node.inputs[1:5], *convolution.inputs[2:]]
    new = fused("_ConvNormalized", node, inputs, **{**convolution.attrs, "epsilon": node.attr("epsilon"), "rectify": False})
    new.outputs = new.outputs[:1]
    return new


def _rectified(node: Node, normalized: Node) -> Any:
    new = fused("_ConvNormalized", normalized, normalized.inputs, rectify=True)
    return {normalized: new, node: new.outputs[0]}


normalize_in_convolutions = Rules(
    "normalize_in_convolutions",
    "A convolution, its bias, a batch normalization outside of training and Relu.",
    (
        P(
            "normalization",
            P("convolution", name="convolution", once=True, attrs={"data_format": "NHWC"}),
            alone=True,
            where=_has_floats,
            attrs={"is_training": False, "data_format": "NHWC"},
        ),
        _normalized,
    ),
    (P("rectification", P("_ConvNormalized", name="normalized", once=True, attrs={"rectify": False})), _rectified),
)
