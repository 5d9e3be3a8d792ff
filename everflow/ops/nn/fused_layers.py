"""Layers that TensorFlow's graph optimizer makes of several ops: frozen graphs may hold them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.errors import invalid_argument, unimplemented
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node, Value, kernel_of
from everflow.ops.core.registry import meaning, op
from everflow.ops.nn.batch_norm_functions import batch_norm_shapes
from everflow.ops.nn.batch_norm_ops import forward

Kernel = Callable[..., Any]

# What may follow a layer, each a function that writes over its input.
_ACTIVATIONS: dict[tuple[str, ...], Callable[[Any], Any]] = {
    (): lambda y: y,
    ("Relu",): lambda y: torch.relu_(y),
    ("Relu6",): lambda y: y.clamp_(0, 6),
    ("Elu",): lambda y: torch.nn.functional.elu_(y),
}
_ARGUMENTS = {"BiasAdd": (1, "one extra argument: bias"), "FusedBatchNorm": (4, "four extra arguments: scale, offset, mean, variance")}


def _part(node: Node, op_type: str, inputs: list[Value]) -> Kernel:
    """The kernel of one of the ops that a fused one stands for; it has the attributes of the whole."""
    found = Node(op_type, node.name, node.attrs, inputs, None, node.context)
    found.add_output(node.outputs[0].dtype, node.outputs[0].dims)
    return kernel_of(found)


def _fused(layer: str, followers: tuple[str, ...]) -> Callable[[Node], Kernel]:
    def factory(node: Node) -> Kernel:
        fused = tuple(node.attr("fused_ops"))
        if not fused:
            raise invalid_argument(f"Fused {layer} must have at least one fused op.")
        if fused[0] not in followers or fused[1:] not in _ACTIVATIONS:
            raise unimplemented(f"Fusion is not implemented: [{','.join(fused)}]")
        count, said = _ARGUMENTS[fused[0]]
        if node.attr("num_args") != count:
            raise invalid_argument(f"Fused {layer} with {fused[0]} must have {said}.")
        compute, activate = _part(node, layer, node.inputs[:2]), _ACTIVATIONS[fused[1:]]
        follow = _add_bias(node) if fused[0] == "BiasAdd" else _normalize(node)
        return lambda x, weights, *arguments: activate(follow(compute(x, weights), *arguments))

    return factory


def _channels(node: Node) -> Callable[[Any, Any], Any]:
    """What makes a vector of channels fit a layer's result."""
    if node.attrs.get("data_format") == "NCHW":
        return lambda vector, y: vector.view(-1, *[1] * (y.dim() - 2))
    return lambda vector, y: vector


def _add_bias(node: Node) -> Kernel:
    placed = _channels(node)

    def run(y: Any, bias: Any) -> Any:
        if bias.dim() != 1:
            raise invalid_argument(f"bias must be 1-dimensional{shapes.describe(bias.shape)}")
        return y.add_(placed(bias, y))

    return run


def _normalize(node: Node) -> Kernel:
    placed, epsilon = _channels(node), node.attr("epsilon")

    def run(y: Any, scale: Any, offset: Any, mean: Any, variance: Any) -> Any:
        factor = torch.rsqrt(variance + epsilon) * scale
        return y.sub_(placed(mean, y)).mul_(placed(factor, y)).add_(placed(offset, y))

    return run


class _FirstTwo:
    """An op as the shape rule of its first part sees it."""

    def __init__(self, o: Operation) -> None:
        self.type, self.inputs, self.outputs, self.attr = o.type, o.inputs[:2], o.outputs, o.attr


def _shape_of(layer: str) -> Callable[[Operation], Any]:
    def rule(o: Operation) -> Any:
        found = meaning(layer)
        assert found is not None and found.shape is not None
        return found.shape(_FirstTwo(o))  # type: ignore[arg-type]

    return rule


op("_FusedConv2D", kernel=_fused("Conv2D", ("BiasAdd", "FusedBatchNorm")), shape=_shape_of("Conv2D"), fresh=True)
op("_FusedMatMul", kernel=_fused("MatMul", ("BiasAdd",)), shape=_shape_of("MatMul"), fresh=True)


# -- a batch normalization with what is added to it and its activation, as made for GPUs


def _normalized_batch(node: Node) -> Kernel:
    mode = node.attr("activation_mode")
    if mode not in ("Identity", "Relu"):
        raise invalid_argument(f"Unsupported activation mode: {mode}")
    normalize, rectifies = forward(node), mode == "Relu"

    def run(x: Any, scale: Any, offset: Any, mean: Any, variance: Any, *added: Any) -> Any:
        y, *rest = normalize(x, scale, offset, mean, variance)
        for other in added:
            y = y + other
        return (torch.relu(y) if rectifies else y, *rest)

    return run


op("_FusedBatchNormEx", kernel=_normalized_batch, shape=batch_norm_shapes)
