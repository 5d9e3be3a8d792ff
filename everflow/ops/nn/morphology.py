"""Grayscale dilation and erosion: windows of maxima, with the filter added."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.errors import invalid_argument, unimplemented
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.lazy import torch
from everflow.ops.arrays.reshaping import shown
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.core.run_time_checks import checked
from everflow.ops.core.shape_rules import same_as
from everflow.ops.nn.convolution_functions import per_axis
from everflow.ops.nn.windows import pads_of, window_output
from everflow.platform.deprecation import deprecated_argument_lookup as either

# Below any sum of two integers; a sum with it is still an integer.
_LOWEST = -(1 << 62)


class _Windows:
    """The positions of a filter's elements over a padded NHWC image."""

    def __init__(self, node: Node) -> None:
        strides, rates = node.attr("strides"), node.attr("rates")
        for steps, name, what in ((strides, "Sliding window stride", "Stride"), (rates, "Input stride (atrous rate)", "Rate")):
            if len(steps) != 4:
                raise invalid_argument(f"{name} field must specify 4 dimensions")
            if steps[0] != 1 or steps[3] != 1:
                raise unimplemented(f"{what} is only supported across spatial dimensions.")
            if min(steps) < 1:
                raise invalid_argument(f"{name} must be positive, got {steps}")
        self.strides, self.rates, self.padding = strides[1:3], rates[1:3], node.attr("padding")

    def best(self, x: Any, filter: Any) -> tuple[Any, Any, Any]:
        """(maxima, the filter element that gave each, the padded input's shape and padding)."""
        kind = x.dtype
        if not kind.is_floating_point:
            x, filter = x.long(), filter.long()
        pads = pads_of(self.padding, x.shape[1:3], filter.shape[:2], self.strides, self.rates)
        (top, bottom), (left, right) = pads
        border = -math.inf if x.is_floating_point() else _LOWEST
        padded = torch.nn.functional.pad(x, (0, 0, left, right, top, bottom), value=border) if any(map(any, pads)) else x
        height, width = (
            (size - (window - 1) * rate - 1) // stride + 1
            for size, window, rate, stride in zip(padded.shape[1:3], filter.shape[:2], self.rates, self.strides)
        )
        best = element = None
        for i in range(filter.shape[0]):
            for j in range(filter.shape[1]):
                rows, columns = self.span(i, 0, height), self.span(j, 1, width)
                value = padded[:, rows, columns] + filter[i, j]
                if not kind.is_floating_point:
                    value = torch.where(value > _LOWEST // 2, value.to(kind).long(), value)
                if best is None:
                    best, element = value, torch.zeros(value.shape, dtype=torch.int64, device=x.device)
                else:
                    higher = value > best
                    best = torch.where(higher, value, best)
                    element = torch.where(higher, i * filter.shape[1] + j, element)
        return best, element, (padded.shape, top, left)

    def span(self, offset: int, axis: int, count: int) -> slice:
        start = offset * self.rates[axis]
        return slice(start, start + (count - 1) * self.strides[axis] + 1, self.strides[axis])


def _wide(x: Any) -> Any:
    return x.dtype if x.is_floating_point() else torch.int64


def _dilation(node: Node) -> Callable[..., Any]:
    windows = _Windows(node)
    return lambda x, filter: windows.best(x, filter)[0].to(x.dtype)


def _input_gradient(node: Node) -> Callable[..., Any]:
    windows = _Windows(node)

    def run(x: Any, filter: Any, dy: Any) -> Any:
        _, element, (shape, top, left) = windows.best(x, filter)
        dx, dy = x.new_zeros(shape, dtype=_wide(x)), dy.to(_wide(x))
        for i in range(filter.shape[0]):
            for j in range(filter.shape[1]):
                chosen = torch.where(element == i * filter.shape[1] + j, dy, 0)
                dx[:, windows.span(i, 0, dy.shape[1]), windows.span(j, 1, dy.shape[2])] += chosen
        return dx[:, top : top + x.shape[1], left : left + x.shape[2]].to(x.dtype)

    return run


def _filter_gradient(node: Node) -> Callable[..., Any]:
    windows = _Windows(node)

    def run(x: Any, filter: Any, dy: Any) -> Any:
        _, element, _ = windows.best(x, filter)
        count, dy = filter.shape[0] * filter.shape[1], dy.to(_wide(dy))
        found = [torch.where(element == e, dy, 0).sum((0, 1, 2)) for e in range(count)]
        return torch.stack(found).to(filter.dtype).view(filter.shape)

    return run


def _shape(o: Operation) -> Any:
    x, filter = shapes.with_rank(o.inputs[0].dims, 4), shapes.with_rank(o.inputs[1].dims, 3)
    strides, rates = o.attr("strides"), o.attr("rates")
    for name, values in (("stride", strides), ("rates", rates)):
        if len(values) != 4:
            raise ValueError(f"Dilation2D requires the {name} attribute to contain 4 values, but got: {len(values)}")
    depth = shapes.merge_size(x[3], filter[2])
    sizes = [window_output(x[i], filter[i - 1], strides[i], o.attr("padding"), rates[i]) for i in (1, 2)]
    return (x[0], *sizes, depth)


def _gradient(o: Operation, dy: Any) -> Any:
    attrs = {name: o.attr(name) for name in ("strides", "rates", "padding")}
    return (apply("Dilation2DBackpropInput", *o.inputs, dy, **attrs), apply("Dilation2DBackpropFilter", *o.inputs, dy, **attrs))


def _no_filter(x: Any, filter: Any) -> str | None:
    if x.ndim != 4:
        return f"input must be 4-dimensional: {shown(x.shape)}"
    if filter.ndim != 3:
        return f"filter must be 3-dimensional: {shown(filter.shape)}"
    return None if x.shape[3] == filter.shape[2] else f"input and filter must have the same depth: {x.shape[3]} vs {filter.shape[2]}"


op("Dilation2D", kernel=checked(_dilation, _no_filter), shape=_shape, gradient=_gradient)
op("Dilation2DBackpropInput", kernel=_input_gradient, shape=same_as(0))
op("Dilation2DBackpropFilter", kernel=_filter_gradient, shape=same_as(1))


@public("nn.dilation2d")
def dilation2d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    rates: Any = None,
    padding: Any = None,
    name: str | None = None,
    filters: Any = None,
    dilations: Any = None,
) -> Any:
    """The largest sum of image and filter in each window."""
    filter = either("filters", filters, "filter", filter)
    rates = either("dilations", dilations, "rates", rates)
    return apply(
        "Dilation2D",
        input,
        filter,
        strides=per_axis(strides, 2, -1, "strides"),
        rates=per_axis(rates, 2, -1, "rates"),
        padding=padding,
        name=name,
    )


@public("nn.erosion2d")
def erosion2d(value: Any, kernel: Any, strides: Any, rates: Any, padding: Any, name: str | None = None) -> Any:
    """The smallest difference of image and kernel in each window."""
    windows = {"strides": strides, "rates": rates, "padding": padding}
    with name_scope(name, "erosion2d", [value, kernel]) as scope:
        upside_down, turned = tf.negative(value), tf.reverse(kernel, [0, 1])
        return tf.negative(apply("Dilation2D", upside_down, turned, name=scope, **windows))


@internal("ops.nn_ops.dilation2d_v2")
def _dilation2d_of_2(
    input: Any, filters: Any, strides: Any, padding: Any, data_format: str, dilations: Any, name: str | None = None
) -> Any:
    if data_format != "NHWC":
        raise ValueError("Data formats other than NHWC are not yet supported")
    return apply("Dilation2D", input, filters, strides=strides, rates=dilations, padding=padding, name=name)


@internal("ops.nn_ops.erosion2d_v2")
def _erosion2d_of_2(value: Any, filters: Any, strides: Any, padding: Any, data_format: str, dilations: Any, name: str | None = None) -> Any:
    if data_format != "NHWC":
        raise ValueError("Data formats other than NHWC are not yet supported")
    return erosion2d(value, filters, strides, dilations, padding, name)
