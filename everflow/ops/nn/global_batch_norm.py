"""BatchNormWithGlobalNormalization: the batch normalization of early graphs."""

from __future__ import annotations

from typing import Any

from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op


def _normalize(node: Node) -> Any:
    epsilon, scaled = node.attr("variance_epsilon"), node.attr("scale_after_normalization")

    def run(x: Any, mean: Any, variance: Any, beta: Any, gamma: Any) -> Any:
        inverse = (variance + epsilon).rsqrt()
        return (x - mean) * (inverse * gamma if scaled else inverse) + beta

    return run


def _gradients(node: Node) -> Any:
    epsilon, scaled = node.attr("variance_epsilon"), node.attr("scale_after_normalization")

    def run(x: Any, mean: Any, variance: Any, gamma: Any, dy: Any) -> Any:
        axes = (0, 1, 2)
        inverse = (variance + epsilon).rsqrt()
        factor = inverse * gamma if scaled else inverse
        along = (dy * (x - mean)).sum(axes)
        total = dy.sum(axes)
        of_variance = -0.5 * along * factor / (variance + epsilon)
        return dy * factor, -total * factor, of_variance, total, along * inverse if scaled else along.new_zeros(along.shape)

    return run


def _shape(o: Operation) -> Any:
    x = shapes.with_rank(o.inputs[0].dims, 4)
    depth = x[3]
    for t in o.inputs[1:]:
        depth = shapes.merge_size(depth, shapes.with_rank(t.dims, 1)[0])
    return (*x[:3], depth)


def _gradient_shape(o: Operation) -> Any:
    x = shapes.with_rank(o.inputs[0].dims, 4)
    return [x, *[(x[3],)] * 4]


def _differentiate(o: Operation, dy: Any) -> Any:
    x, mean, variance, _, gamma = o.inputs
    return list(
        apply(
            "BatchNormWithGlobalNormalizationGrad",
            x,
            mean,
            variance,
            gamma,
            dy,
            variance_epsilon=o.attr("variance_epsilon"),
            scale_after_normalization=o.attr("scale_after_normalization"),
        )
    )


op("BatchNormWithGlobalNormalization", kernel=_normalize, shape=_shape, gradient=_differentiate)
op("BatchNormWithGlobalNormalizationGrad", kernel=_gradients, shape=_gradient_shape)
