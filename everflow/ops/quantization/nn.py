"""Layers on quantized tensors: convolution, pooling, rectifiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.api import public
from everflow.graph import dtypes, shapes
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.core.shape_rules import ranked
from everflow.ops.nn.windows import pads_of, window_output
from everflow.ops.quantization.conversions import scalar, with_range
from everflow.ops.quantization.levels import Levels, product_range
from everflow.ops.quantization.math import centered
from everflow.values.tensors import torch_dtype

Kernel = Callable[..., Any]


def _padded(x: Any, padding: Any, windows: Any, strides: Any, value: float = 0.0) -> Any:
    (top, bottom), (left, right) = pads_of(padding, x.shape[1:3], windows, strides, (1, 1))
    return torch.nn.functional.pad(x, (0, 0, left, right, top, bottom), value=value)


def _convolve(node: Node) -> Kernel:
    x_levels, f_levels = Levels.of(node.inputs[0].dtype), Levels.of(node.inputs[1].dtype)
    out, kind = Levels.of(node.attr("out_type")), torch_dtype(node.attr("out_type"))
    strides, padding = node.attr("strides")[1:3], node.attr("padding")

    def run(x: Any, filter: Any, low_x: Any, high_x: Any, low_f: Any, high_f: Any) -> Any:
        images = _padded(centered(x, x_levels, low_x, high_x), padding, filter.shape[:2], strides)
        weights = centered(filter, f_levels, low_f, high_f)
        found = torch.nn.functional.conv2d(images.permute(0, 3, 1, 2), weights.permute(3, 2, 0, 1), stride=tuple(strides))
        low, high = product_range(x_levels, float(low_x), float(high_x), f_levels, float(low_f), float(high_f), out)
        levels = torch.round(found).clamp(out.lowest, out.highest).permute(0, 2, 3, 1)
        return levels.long().to(kind), scalar(low), scalar(high)

    return run


def _pool(node: Node, reduce: Callable[[Any], Any], outside: float) -> Kernel:
    window, strides, padding = node.attr("ksize")[1:3], node.attr("strides")[1:3], node.attr("padding")

    def run(x: Any, low: Any, high: Any) -> Any:
        padded = _padded(x.double(), padding, window, strides, outside)
        windows = padded.unfold(1, window[0], strides[0]).unfold(2, window[1], strides[1]).flatten(-2)
        return reduce(windows).long().to(x.dtype), low, high

    return run


def _mean(windows: Any) -> Any:
    inside = ~windows.isnan()
    count = inside.sum(-1)
    total = torch.where(inside, windows, 0.0).sum(-1)
    return torch.div(total, count, rounding_mode="trunc")


def _pool_shape(o: Operation) -> Any:
    x, window, strides = shapes.with_rank(o.inputs[0].dims, 4), o.attr("ksize"), o.attr("strides")
    sizes = [window_output(x[i], window[i], strides[i], o.attr("padding")) for i in (1, 2)]
    return [(x[0], *sizes, x[3]), (), ()]


def _convolve_shape(o: Operation) -> Any:
    x, filter, strides = shapes.with_rank(o.inputs[0].dims, 4), shapes.with_rank(o.inputs[1].dims, 4), o.attr("strides")
    shapes.merge_size(x[3], filter[2])
    sizes = [window_output(x[i], filter[i - 1], strides[i], o.attr("padding")) for i in (1, 2)]
    return [(x[0], *sizes, filter[3]), (), ()]


def _rectify(ceiling: float | None) -> Callable[[Any], Kernel]:
    def make(node: Node) -> Kernel:
        levels, kind = Levels.of(node.inputs[0].dtype), torch_dtype(node.attr("out_type"))

        def run(x: Any, low: Any, high: Any) -> Any:
            return _between(levels, x, 0.0, ceiling, low, high).to(kind), low, high

        return run

    return make


def _rectify_to_tensor(node: Node) -> Kernel:
    levels, kind = Levels.of(node.inputs[0].dtype), torch_dtype(node.attr("out_type"))

    def run(x: Any, ceiling: Any, low: Any, high: Any) -> Any:
        return _between(levels, x, 0.0, float(ceiling), low, high).to(kind), low, high

    return run


def _between(levels: Levels, x: Any, floor: float, ceiling: float | None, low: Any, high: Any) -> Any:
    first, last = float(low), float(high)

    def place(value: float) -> int:
        return min(max(levels.place(value, first, last), levels.lowest), levels.highest)

    return x.long().clamp(place(floor), None if ceiling is None else place(ceiling))


op("QuantizedConv2D", kernel=_convolve, shape=_convolve_shape)
op("QuantizedMaxPool", kernel=lambda node: _pool(node, lambda w: w.amax(-1), float("-inf")), shape=_pool_shape)
op("QuantizedAvgPool", kernel=lambda node: _pool(node, _mean, float("nan")), shape=_pool_shape)
op("QuantizedRelu", kernel=_rectify(None), shape=with_range)
op("QuantizedRelu6", kernel=_rectify(6.0), shape=with_range)
op("QuantizedReluX", kernel=_rectify_to_tensor, shape=ranked(lambda o: [o.inputs[0].dims, (), ()], None, None, 0, 0))


@public("nn.quantized_conv2d")
def quantized_conv2d(
    input: Any,
    filter: Any,
    min_input: Any,
    max_input: Any,
    min_filter: Any,
    max_filter: Any,
    strides: Any,
    padding: Any,
    out_type: dtypes.DTypeLike = dtypes.qint32,
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Any:
    """A convolution of quantized images; the result is of 32 bits."""
    return apply(
        "QuantizedConv2D",
        input,
        filter,
        min_input,
        max_input,
        min_filter,
        max_filter,
        strides=strides,
        padding=padding,
        out_type=out_type,
        dilations=list(dilations),
        name=name,
    )


@public("nn.quantized_max_pool")
def quantized_max_pool(input: Any, min_input: Any, max_input: Any, ksize: Any, strides: Any, padding: Any, name: str | None = None) -> Any:
    """The largest of each window of quantized images."""
    return apply("QuantizedMaxPool", input, min_input, max_input, ksize=ksize, strides=strides, padding=padding, name=name)


@public("nn.quantized_avg_pool")
def quantized_avg_pool(input: Any, min_input: Any, max_input: Any, ksize: Any, strides: Any, padding: Any, name: str | None = None) -> Any:
    """The mean of each window of quantized images."""
    return apply("QuantizedAvgPool", input, min_input, max_input, ksize=ksize, strides=strides, padding=padding, name=name)


@public("nn.quantized_relu_x")
def quantized_relu_x(
    features: Any, max_value: Any, min_features: Any, max_features: Any, out_type: dtypes.DTypeLike = dtypes.quint8, name: str | None = None
) -> Any:
    """Quantized numbers, cut off below zero and above a value."""
    return apply("QuantizedReluX", features, max_value, min_features, max_features, out_type=out_type, name=name)
