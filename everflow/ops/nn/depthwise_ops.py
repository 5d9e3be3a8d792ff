"""Depthwise convolution: each channel has filters of its own. The ops' kernels, shapes and gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.ops.core import symbolic
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.core.run_time_checks import checked
from everflow.ops.nn.convolution_ops import Geometry, attributes_of, sizes_of, sizes_shape
from everflow.ops.nn.windows import Layout, window_output


def _grouped(filter: Any) -> Any:
    """The filter (height, width, channels, multiplier) as torch has it for one group a channel."""
    return filter.permute(2, 3, 0, 1).flatten(0, 1).unsqueeze(1)


def _grouped_shape(sizes: Any) -> list[int]:
    height, width, channels, multiplier = sizes
    return [channels * multiplier, 1, height, width]


def _depthwise(node: Node) -> Callable[..., Any]:
    geometry = Geometry(node)
    to_torch, from_torch, forward = geometry.layout.to_torch, geometry.layout.from_torch, geometry.forward
    channel = geometry.layout.channel

    def fault(x: Any, filter: Any) -> str | None:
        if x.shape[channel] == filter.shape[2]:
            return None
        return f"input and filter must have the same depth: {x.shape[channel]} vs {filter.shape[2]}"

    return checked(lambda _: lambda x, filter: forward(x.permute(to_torch), _grouped(filter)).permute(from_torch), fault)(node)


def _input_gradient(node: Node) -> Callable[..., Any]:
    geometry = Geometry(node)
    to_torch, from_torch, compute = geometry.layout.to_torch, geometry.layout.from_torch, geometry.input_gradient
    read = sizes_of(node, 0)

    def run(sizes: Any, filter: Any, dy: Any) -> Any:
        sizes = read(sizes)
        return compute([sizes[i] for i in to_torch], _grouped(filter), dy.permute(to_torch)).permute(from_torch)

    return run


def _filter_gradient(node: Node) -> Callable[..., Any]:
    geometry = Geometry(node)
    to_torch, compute = geometry.layout.to_torch, geometry.filter_gradient
    read = sizes_of(node, 1)

    def run(x: Any, sizes: Any, dy: Any) -> Any:
        sizes = read(sizes)
        found = compute(x.permute(to_torch), _grouped_shape(sizes), dy.permute(to_torch))
        return found.squeeze(1).unflatten(0, sizes[2:]).permute(2, 3, 0, 1).contiguous()

    return run


def _shape(o: Operation) -> Any:
    layout = Layout(o.attr("data_format"))
    x, filter = (shapes.with_rank(t.dims, 4) for t in o.inputs)
    strides, dilations = o.attr("strides"), o.attr("dilations")
    for name, values in (("stride", strides), ("dilations", dilations)):
        if len(values) != 4:
            raise ValueError(f"DepthwiseConv2D requires the {name} attribute to contain 4 values, but got: {len(values)}")
    channels = shapes.merge_size(x[layout.channel], filter[2])
    depth = None if channels is None or filter[3] is None else channels * filter[3]
    sizes = [window_output(x[i], filter[k], strides[i], o.attr("padding"), dilations[i]) for k, i in enumerate(layout.spatial)]
    return layout.dims(x[layout.batch], depth, sizes)


def _gradient(o: Operation, dy: Any) -> Any:
    x, filter = o.inputs
    attrs = attributes_of(o)
    return (
        apply("DepthwiseConv2dNativeBackpropInput", tf.shape(x), filter, dy, **attrs),
        apply("DepthwiseConv2dNativeBackpropFilter", x, tf.shape(filter), dy, **attrs),
    )


def _input_gradient_gradient(o: Operation, dy: Any) -> Any:
    _, filter, backprop = o.inputs
    attrs = attributes_of(o)
    return (
        None,
        apply("DepthwiseConv2dNativeBackpropFilter", dy, tf.shape(filter), backprop, **attrs),
        apply("DepthwiseConv2dNative", dy, filter, **attrs),
    )


def _filter_gradient_gradient(o: Operation, dy: Any) -> Any:
    x, _, backprop = o.inputs
    attrs = attributes_of(o)
    return (
        apply("DepthwiseConv2dNativeBackpropInput", tf.shape(x), dy, backprop, **attrs),
        None,
        apply("DepthwiseConv2dNative", x, dy, **attrs),
    )


op("DepthwiseConv2dNative", kernel=_depthwise, shape=_shape, gradient=_gradient, symbolic=symbolic.keeps_batch)
op("DepthwiseConv2dNativeBackpropInput", kernel=_input_gradient, shape=sizes_shape(4), gradient=_input_gradient_gradient)
op("DepthwiseConv2dNativeBackpropFilter", kernel=_filter_gradient, shape=sizes_shape(4), gradient=_filter_gradient_gradient)
