"""Adding a bias to the channels of a tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.lazy import torch
from everflow.ops.core import symbolic
from everflow.ops.core.families import widened
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.core.run_time_checks import checked


def _channel_axis(o: Node | Operation) -> int:
    return 1 if o.type != "BiasAddV1" and o.attr("data_format") == "NCHW" else -1


def _bias_add(node: Node) -> Callable[..., Any]:
    axis = _channel_axis(node)
    if axis == -1:
        add = torch.add
    else:

        def add(x: Any, bias: Any) -> Any:
            return x + bias.view(-1, *[1] * (x.dim() - 2))

    dims, channels = node.inputs[0].dims, node.inputs[1].dims
    if dims is not None and channels is not None and dims[axis] is not None and dims[axis] == channels[0]:
        return add

    def add_checked(x: Any, bias: Any) -> Any:
        if x.dim() < 2:
            raise invalid_argument(f"Input tensor must be at least 2D: {shapes.describe(x.shape)}")
        if bias.dim() != 1:
            raise invalid_argument(f"Biases must be 1D: {shapes.describe(bias.shape)}")
        if bias.shape[0] != x.shape[axis]:
            raise invalid_argument(
                "Must provide as many biases as the last dimension of the input tensor: "
                f"{shapes.describe(bias.shape)} vs. {shapes.describe(x.shape)}"
            )
        return add(x, bias)

    return add_checked


def _bias_add_shape(o: Operation) -> Any:
    value, bias = o.inputs
    axis = _channel_axis(o)
    dims = shapes.with_rank_at_least(value.dims, 2 if axis == -1 else 3)
    channels = shapes.with_rank(bias.dims, 1)[0]
    if dims is None:
        return None
    axis %= len(dims)
    return (*dims[:axis], shapes.merge_size(dims[axis], channels), *dims[axis + 1 :])


def _bias_add_grad(node: Node) -> Callable[..., Any]:
    if node.attr("data_format") == "NCHW":
        return lambda dy: dy.sum([0, *range(2, dy.dim())], dtype=dy.dtype)
    return lambda dy: dy.sum(list(range(dy.dim() - 1)), dtype=dy.dtype)


def _no_channels(dy: Any) -> str | None:
    return None if dy.dim() >= 2 else f"Input tensor must be at least 2D: {shapes.describe(dy.shape)}"


def _bias_add_grad_shape(o: Operation) -> Any:
    axis = _channel_axis(o)
    dims = shapes.with_rank_at_least(o.inputs[0].dims, 2 if axis == -1 else 3)
    return (None,) if dims is None else (dims[axis],)


def _bias_add_grad_grad(o: Operation, dy: Any) -> Any:
    """Repeats the gradient of each channel's sum over all that was summed."""
    shape, bias_shape = tf.shape(o.inputs[0]), tf.shape(dy)
    if o.attr("data_format") == "NCHW":
        expanded = tf.concat([tf.ones_like(shape[:1]), bias_shape, tf.ones_like(shape[2:])], 0)
        multiples = tf.concat([shape[:1], [1], shape[2:]], 0)
    else:
        expanded = tf.concat([tf.ones_like(shape[:-1]), bias_shape], 0)
        multiples = tf.concat([shape[:-1], [1]], 0)
    return tf.tile(tf.reshape(dy, expanded), multiples)


op(
    "BiasAdd",
    kernel=widened(_bias_add),
    shape=_bias_add_shape,
    gradient=lambda o, dy: (dy, apply("BiasAddGrad", dy, data_format=o.attr("data_format"))),
    fresh=True,
    over={0: lambda n: torch.Tensor.add_ if n.attr("data_format") == "NHWC" else None},
    symbolic=symbolic.like_first,
)
op(
    "BiasAddGrad",
    kernel=checked(widened(_bias_add_grad), _no_channels),
    shape=_bias_add_grad_shape,
    gradient=_bias_add_grad_grad,
    kind="gradient of bias",
)
op("BiasAddV1", kernel=widened(_bias_add), shape=_bias_add_shape, gradient=lambda o, dy: (dy, tf.reduce_sum(dy, tf.range(tf.rank(dy) - 1))))


@public("nn.bias_add")
def bias_add(value: Any, bias: Any, data_format: str | None = None, name: str | None = None) -> Any:
    """Adds a vector to the channels of `value`."""
    with name_scope(name, "BiasAdd", [value, bias]) as scope:
        layout = None if data_format is None else _layout(data_format)
        value = convert_to_tensor(value, name="input")
        bias = convert_to_tensor(bias, dtype=value.dtype, name="bias")
        return apply("BiasAdd", value, bias, data_format=layout, name=scope)


def _layout(data_format: str) -> str:
    """Where channels are, whatever the number of dimensions."""
    if data_format.startswith("NC"):
        return "NCHW"
    if not (data_format.startswith("N") and data_format.endswith("C")):
        raise ValueError("data_format must be of the form `N...C` or `NC...`")
    return "NHWC"


@internal("ops.nn_ops.bias_add_v1")
def bias_add_v1(value: Any, bias: Any, name: str | None = None) -> Any:
    """bias_add as it was before data formats."""
    with name_scope(name, "BiasAddV1", [value, bias]) as scope:
        value = convert_to_tensor(value, name="input")
        bias = convert_to_tensor(bias, dtype=value.dtype, name="bias")
        return apply("BiasAddV1", value, bias, name=scope)


@public("nn.xw_plus_b")
def xw_plus_b(x: Any, weights: Any, biases: Any, name: str | None = None) -> Any:
    """matmul(x, weights) + biases."""
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as scope:
        return bias_add(*_product_and_biases(x, weights, biases), name=scope)


def _product_and_biases(x: Any, weights: Any, biases: Any) -> tuple[Any, Any]:
    named = (("x", x), ("weights", weights), ("biases", biases))
    x, weights, biases = (convert_to_tensor(value, name=name) for name, value in named)
    return tf.matmul(x, weights), biases


@internal("ops.nn_ops.xw_plus_b_v1")
def xw_plus_b_v1(x: Any, weights: Any, biases: Any, name: str | None = None) -> Any:
    """xw_plus_b with the older bias_add."""
    with name_scope(name, "xw_plus_b_v1", [x, weights, biases]) as scope:
        return bias_add_v1(*_product_and_biases(x, weights, biases), name=scope)


@public("nn.relu_layer")
def relu_layer(x: Any, weights: Any, biases: Any, name: str | None = None) -> Any:
    """relu(matmul(x, weights) + biases)."""
    with name_scope(name, "relu_layer", [x, weights, biases]) as scope:
        return tf.nn.relu(bias_add(*_product_and_biases(x, weights, biases)), name=scope)
