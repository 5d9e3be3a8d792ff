"""Matrix products and convolutions with the bias that is added to their results."""

from __future__ import annotations

from typing import Any

from everflow.ops.core.node import Node, Value
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
