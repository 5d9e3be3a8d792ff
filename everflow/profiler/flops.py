"""How many floating point operations ops take, as TensorFlow counts them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import everflow.ops.linalg.products  # noqa: F401 - counts those of MatMul
from everflow.graph.statistics import OpStats, RegisterStatistics

Sizes = tuple[int, ...]
# From the op and its static shapes to its count.
Count = Callable[[Any, list[Sizes], list[Sizes]], float]


def _known(tensor: Any) -> Sizes:
    return tuple(tensor.shape.as_list()) if tensor.shape.is_fully_defined() else _unknown(tensor)


def _unknown(tensor: Any) -> Sizes:
    raise ValueError(f"Shape {tensor.shape} is not fully defined")


def _counts(*types: str) -> Callable[[Count], Count]:
    """Registers a count for some types of ops."""

    def register(count: Count) -> Count:
        def stats(graph: Any, node: Any) -> OpStats:
            o = graph.get_operation_by_name(node.name)
            return OpStats("flops", int(count(o, [_known(t) for t in o.inputs], [_known(t) for t in o.outputs])))

        for type in types:
            RegisterStatistics(type, "flops")(stats)
        return count

    return register


def _window(o: Any, name: str) -> int:
    return math.prod(o.get_attr(name))


@_counts("Reciprocal", "Square", "Log", "Neg", "AssignSub", "AssignAdd", "Add", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "Pow",
         "Greater", "GreaterEqual", "Less", "LessEqual", "Equal", "NotEqual", "BiasAdd")  # fmt: skip
def _one_each(o: Any, inputs: list[Sizes], outputs: list[Sizes]) -> float:
    return math.prod(outputs[0])


_counts("Rsqrt", "SquaredDifference")(lambda o, inputs, outputs: 2 * math.prod(outputs[0]))
_counts("RsqrtGrad")(lambda o, inputs, outputs: 4 * math.prod(outputs[0]))
_counts("Softmax")(lambda o, inputs, outputs: 5 * math.prod(outputs[0]))
_counts("L2Loss")(lambda o, inputs, outputs: 3 * math.prod(inputs[0]) - 1)
_counts("AddN")(lambda o, inputs, outputs: (len(inputs) - 1) * math.prod(outputs[0]))
# A mean divides each sum.
_counts("Mean")(lambda o, inputs, outputs: math.prod(inputs[0]))
_counts("Sum", "ArgMax", "ArgMin", "BiasAddGrad")(lambda o, inputs, outputs: math.prod(inputs[0]) - math.prod(outputs[0]))
# TensorFlow takes the last dimension for the inner one, even of what is transposed.
_counts("BatchMatMul")(lambda o, inputs, outputs: 2 * inputs[0][-1] * math.prod(outputs[0]))
_counts("AvgPool", "MaxPool")(lambda o, inputs, outputs: _window(o, "ksize") * math.prod(outputs[0]))
_counts("MaxPoolGrad")(lambda o, inputs, outputs: (_window(o, "ksize") + 1) * math.prod(inputs[1]))
_counts("AvgPoolGrad")(lambda o, inputs, outputs: 2 * _window(o, "ksize") * math.prod(inputs[1]))
# Filters are height, width[, depth], channels in, channels out: each element of an output sums over all but the last.
_counts("Conv2D", "Conv3D")(lambda o, inputs, outputs: 2 * math.prod(inputs[1][:-1]) * math.prod(outputs[0]))
_counts("DepthwiseConv2dNative", "Dilation2D")(lambda o, inputs, outputs: 2 * math.prod(inputs[1][:2]) * math.prod(outputs[0]))


def _backward(image: Sizes, filters: Sizes, strides: int) -> float:
    return 2 * math.prod(image) * math.prod(filters[:2]) * filters[-1] / strides


_counts("Conv2DBackpropInput")(lambda o, inputs, outputs: _backward(outputs[0], inputs[1], _window(o, "strides")))
_counts("Conv2DBackpropFilter")(lambda o, inputs, outputs: _backward(inputs[0], outputs[0], _window(o, "strides")))
