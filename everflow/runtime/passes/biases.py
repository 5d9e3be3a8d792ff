"""Matrix products and convolutions with the bias that is added to their results."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.graph import dtypes, shapes
from everflow.ops.core.node import Node, Value, constant_node
from everflow.ops.math.elementwise_chains import may_be_elementwise
from everflow.runtime.passes.patterns import FLOATS, P, Rules, V
from everflow.runtime.plan import fused


def _joined(name: str) -> Any:
    def replace(node: Node, product: Node, bias: Value) -> Node | None:
        dims = product.outputs[0].dims
        if bias.dims is None or dims is None or bias.dims[0] != dims[-1] or dims[-1] is None:
            return None
        return fused(name, node, [*product.inputs, bias], **product.attrs)

    return replace


PRODUCT = P("matrix product", name="product", once=True, dtype=FLOATS)
CONVOLUTION = P("convolution", name="product", most=2, once=True, dtype=FLOATS, attrs={"data_format": "NHWC"})
BIAS = V("bias", rank=1)

fuse_biases = Rules(
    "fuse_biases",
    "A vector that is added to the last axis of a product, or of a convolution, which is used nowhere else.",
    (P("BiasAdd", PRODUCT, BIAS, attrs={"data_format": "NHWC"}), _joined("_MatMulBias")),
    (P("addition", PRODUCT, BIAS, swaps=True), _joined("_MatMulBias")),
    (P("BiasAdd", CONVOLUTION, BIAS, attrs={"data_format": "NHWC"}), _joined("_ConvBias")),
    (P("addition", CONVOLUTION, BIAS, swaps=True), _joined("_ConvBias")),
)


# Calling a kernel for the sum of fewer numbers costs more than adding them up.
SMALL = 1 << 14


def _is_small(value: Value) -> bool:
    size = shapes.num_elements(value.dims)
    return size is not None and 0 < size <= SMALL and may_be_elementwise(value.node)


def _sum(node: Node, dy: Value) -> list[Node]:
    axes = constant_node(node.context, node.name + "/axes", np.arange(len(dy.dims or ()) - 1, dtype=np.int32), dtypes.int32)
    total = Node("Sum", node.name, {**node.attrs, "keep_dims": False}, [dy, axes.outputs[0]], node.op, node.context)
    total.add_output(node.outputs[0].dtype, node.outputs[0].dims)
    return [axes, total]


sum_small_gradients = Rules(
    "sum_small_gradients",
    "The gradient of a bias is a sum like any other: few numbers are added up where they are computed, by what groups element-wise ops.",
    (P("gradient of bias", V("dy", where=_is_small), dtype=("float32",), attrs={"data_format": "NHWC"}), _sum),
)
