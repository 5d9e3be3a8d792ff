"""Convolutions in two and three dimensions, plain and depthwise: kernels, shapes and gradients of their ops.

A tensor in NHWC is, seen in torch's axis order, one in "channels last": the permutes below are views, and torch
computes in that layout without copying.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.constants import dims_of
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core import symbolic
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.nn import filters
from everflow.ops.nn.halving_convolutions import Halving
from everflow.ops.nn.pointwise_convolutions import Pointwise
from everflow.ops.nn.row_convolutions import Rows
from everflow.ops.nn.window_convolutions import Windows
from everflow.ops.nn.windows import Layout, pads_of, symmetric, window_output
from everflow.ops.nn.zero_borders import Border
from everflow.values.halves import in_floats, is_slow


class Geometry:
    """How one convolution op slides: its attributes, and what follows from them for given sizes."""

    def __init__(self, node: Node) -> None:
        self.name = node.type
        self.attrs = attributes_of(node)
        self.layout = layout = Layout(_format_of(node))
        strides, dilations = node.attr("strides"), node.attr("dilations")
        if strides[layout.batch] != 1 or strides[layout.channel] != 1:
            raise invalid_argument("Current implementation does not yet support strides in the batch and depth dimensions.")
        if dilations[layout.batch] != 1 or dilations[layout.channel] != 1:
            raise invalid_argument("Current implementation does not yet support dilations in the batch and depth dimensions.")
        self.strides, self.dilations = layout.window(strides), layout.window(dilations)
        try:
            self.explicit = _explicit(node, layout)
        except ValueError as error:
            raise invalid_argument(str(error)) from None
        self.padding = node.attr("padding")
        # The sizes that come along with a step are nearly always the same ones.
        self.fit = functools.lru_cache(maxsize=64)(self._fit)

    def _fit(self, x: Any, filter: Any) -> tuple[list[int], list[int] | None, int, tuple[int, ...], bool]:
        """For shapes in torch's order: (padding, what else to pad, groups, output shape, whether it is empty)."""
        rank = self.layout.rank
        if len(x) != rank:
            raise invalid_argument(f"input must be {rank}-dimensional{shapes.describe(x)}")
        if len(filter) != rank:
            raise invalid_argument(f"filter must be {rank}-dimensional: {shapes.describe(filter)}")
        if filter[1] and x[1] % filter[1]:
            raise invalid_argument(f"input depth must be evenly divisible by filter depth: {x[1]} vs {filter[1]}")
        groups = x[1] // filter[1] if filter[1] else 1
        if groups and filter[0] % groups:
            raise invalid_argument(f"output depth must be evenly divisible by number of groups: {filter[0]} vs {groups}")
        pads = pads_of(self.padding, x[2:], filter[2:], self.strides, self.dilations, self.explicit)
        sizes = []
        for size, window, stride, dilation, pad in zip(x[2:], filter[2:], self.strides, self.dilations, pads):
            extent = (window - 1) * dilation + 1
            count = (size + sum(pad) - extent + stride) // stride
            if count < 0:
                raise invalid_argument(
                    f"Computed output size would be negative: {count} [input_size: {size}, "
                    f"effective_filter_size: {extent}, stride: {stride}]"
                )
            sizes.append(count)
        output = (x[0], filter[0], *sizes)
        nothing = 0 in output or 0 in x or 0 in filter
        same = symmetric(pads)
        if same is not None:
            return same, None, groups, output, nothing
        return [0] * len(pads), [side for pad in reversed(pads) for side in pad], groups, output, nothing

    def check(self, x: Any, filter: Any, dy: Any) -> tuple[list[int], list[int] | None, int, tuple[int, ...], bool]:
        """As `fit`, for a gradient: the sizes of `dy` must follow from the others."""
        fitted = self.fit(tuple(x), tuple(filter))
        if tuple(dy) != fitted[3]:
            raise self._mismatch(x, filter, dy, fitted[3])
        return fitted

    def _mismatch(self, x: Any, filter: Any, dy: Any, computed: Any) -> Exception:
        name = self.name.replace("Conv2D", "Conv2DCustom")
        if len(dy) != len(computed):
            return invalid_argument(f"{name}: out_backprop must be {len(computed)}-dimensional")
        if dy[0] != x[0]:
            return invalid_argument(
                f"{name}: input and out_backprop must have the same batch sizeinput batch: {x[0]}outbackprop batch: {dy[0]} batch_dim: 0"
            )
        if dy[1] != computed[1]:
            return invalid_argument(f"{name}: filter and out_backprop must have the same out_depth")
        i = next(i for i in range(2, len(dy)) if dy[i] != computed[i])
        return invalid_argument(
            f"{name}: Size of out_backprop doesn't match computed: actual = {dy[i]}, computed = {computed[i]} "
            "spatial_dim: "
            f"{self.layout.spatial[i - 2]} input: {x[i]} filter: {filter[i]} output: {dy[i]} stride: "
            f"{self.strides[i - 2]} "
            f"dilation: {self.dilations[i - 2]}"
        )

    def forward(self, x: Any, filter: Any, bias: Any = None) -> Any:
        """The convolution of tensors in torch's axis order."""
        if is_slow(x):
            return in_floats(self.forward, x, filter, bias)
        padding, extra, groups, output, nothing = self.fit(x.shape, filter.shape)
        if nothing:
            return x.new_zeros(output) if bias is None else x.new_zeros(output) + bias.view(-1, *[1] * (len(output) - 2))
        if extra is not None:
            x = torch.nn.functional.pad(x, extra)
        return torch.convolution(x, filter, bias, self.strides, padding, self.dilations, False, [0] * len(padding), groups)

    def input_gradient(self, x_shape: Any, filter: Any, dy: Any) -> Any:
        """The gradient with respect to an input of this shape."""
        if is_slow(dy):
            return in_floats(self.input_gradient, x_shape, filter, dy)
        padding, extra, groups, _, nothing = self.check(x_shape, filter.shape, dy.shape)
        if nothing:
            return dy.new_zeros(x_shape)
        sizes = list(x_shape[2:])
        if extra is not None:
            before, after = extra[-2::-2], extra[::-2]
            sizes = [size + b + a for size, b, a in zip(sizes, before, after)]
        rest = [
            size + 2 * pad - (window - 1) * dilation - 1 - (count - 1) * stride
            for size, pad, window, dilation, count, stride in zip(
                sizes, padding, filter.shape[2:], self.dilations, dy.shape[2:], self.strides
            )
        ]
        if all(r < stride or r < dilation for r, stride, dilation in zip(rest, self.strides, self.dilations)):
            dx = torch.convolution(dy, filter, None, self.strides, padding, self.dilations, True, rest, groups)
        else:
            dx = torch.ops.aten.convolution_backward.default(
                dy,
                dy.new_empty((*x_shape[:2], *sizes)),
                filter,
                None,
                self.strides,
                padding,
                self.dilations,
                False,
                [0] * len(sizes),
                groups,
                [True, False, False],
            )[0]
        if extra is not None:
            for axis, (size, b) in enumerate(zip(x_shape[2:], before), 2):
                dx = dx.narrow(axis, b, size)
        return dx

    def filter_gradient(self, x: Any, filter_shape: Any, dy: Any) -> Any:
        """The gradient with respect to a filter of this shape."""
        if is_slow(x):
            return in_floats(self.filter_gradient, x, filter_shape, dy)
        padding, extra, groups, _, nothing = self.check(x.shape, filter_shape, dy.shape)
        if nothing:
            return x.new_zeros(filter_shape)
        if extra is not None:
            x = torch.nn.functional.pad(x, extra)
        return torch.ops.aten.convolution_backward.default(
            dy,
            x,
            x.new_empty(filter_shape),
            None,
            self.strides,
            padding,
            self.dilations,
            False,
            [0] * len(padding),
            groups,
            [False, True, False],
        )[1]


def _format_of(o: Node | Operation) -> str:
    return o.attr("data_format") if o.type not in ("Conv3DBackpropInput", "Conv3DBackpropFilter") else "NDHWC"


def _explicit(o: Node | Operation, layout: Layout) -> list[Any]:
    if o.attr("padding") != "EXPLICIT":
        if o.type.startswith("Conv2D") and o.attr("explicit_paddings"):
            raise ValueError("explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT")
        return []
    listed = o.attr("explicit_paddings")
    if len(listed) != 2 * layout.rank:
        raise ValueError(f"explicit_paddings attribute must contain {2 * layout.rank} values, but got: {len(listed)}")
    pairs = list(zip(listed[::2], listed[1::2]))
    if any(side < 0 for side in listed):
        raise ValueError("All elements of explicit_paddings must be nonnegative")
    if any(pairs[layout.batch]) or any(pairs[layout.channel]):
        raise ValueError("Nonzero explicit padding in the batch or depth dimensions is not supported")
    return layout.window(pairs)


def attributes_of(o: Node | Operation) -> dict[str, Any]:
    """The attributes that a convolution and its gradient ops share."""
    names = ["strides", "padding", "dilations"]
    if o.type not in ("Conv3DBackpropInput", "Conv3DBackpropFilter"):
        names.append("data_format")
    if o.type.startswith("Conv2D"):
        names += ["explicit_paddings", "use_cudnn_on_gpu"]
    return {name: o.attr(name) for name in names}


def _served(node: Node) -> Pointwise | Rows | Windows | Halving | None:
    """Who has kernels of our own for a convolution in two dimensions, or one of its gradients."""
    return Pointwise.find(node) or Rows.find(node) or Windows.find(node) or Halving.find(node)


def _convolution(node: Node) -> Callable[..., Any]:
    served = _served(node) if node.type == "Conv2D" else None
    return _general(node) if served is None else served.forward(_general(node))


def _general(node: Node) -> Callable[..., Any]:
    geometry = Geometry(node)
    forward, to_torch, from_torch = geometry.forward, geometry.layout.to_torch, geometry.layout.from_torch
    laid = filters.for_torch(geometry.layout)

    def run(x: Any, filter: Any) -> Any:
        if x.dim() != len(to_torch) or filter.dim() != len(to_torch):
            geometry.fit(x.shape, filter.shape)
        return forward(x.permute(to_torch), laid(filter)).permute(from_torch)

    return run


def convolution_with_bias(node: Node) -> Callable[..., Any]:
    """The kernel (x, filter, bias=None) of a Conv2D that also adds a bias to the channels."""
    geometry = Geometry(node)
    forward, to_torch, from_torch = geometry.forward, geometry.layout.to_torch, geometry.layout.from_torch
    laid = filters.for_torch(geometry.layout)

    def run(x: Any, filter: Any, bias: Any = None) -> Any:
        return forward(x.permute(to_torch), laid(filter), bias).permute(from_torch)

    served = _served(node)
    return run if served is None else served.forward(run)


def uneven_padding(node: Node) -> Border | None:
    """What a convolution, or its filter's gradient, pads pictures with, where that is more on one side than on the other."""
    dims, filter = node.inputs[0].dims, node.outputs[0].dims if node.type == "Conv2DBackpropFilter" else node.inputs[1].dims
    if node.attr("data_format") != "NHWC" or dims is None or filter is None or None in (*dims[1:3], *filter[:2]):
        return None
    geometry = Geometry(node)
    pads = pads_of(geometry.padding, dims[1:3], filter[:2], geometry.strides, geometry.dilations, geometry.explicit)
    return None if symmetric(pads) is not None else (*pads[0], *pads[1])


def sizes_of(node: Node, index: int) -> Callable[[Any], list[int]]:
    """Reads a shape input: once where it is constant. Conv3DBackpropInput and -Filter take a tensor of that shape."""
    if node.type in ("Conv3DBackpropInput", "Conv3DBackpropFilter"):
        return lambda like: list(like.shape)
    value = node.constant(index)
    if value is not None:
        fixed = value.tolist()
        return lambda sizes: fixed
    return lambda sizes: sizes.tolist()


def _input_gradient(node: Node) -> Callable[..., Any]:
    geometry = Geometry(node)
    compute, to_torch, from_torch = geometry.input_gradient, geometry.layout.to_torch, geometry.layout.from_torch
    laid = filters.for_torch(geometry.layout)
    read = sizes_of(node, 0)

    def run(sizes: Any, filter: Any, dy: Any) -> Any:
        sizes = read(sizes)
        if len(sizes) == 2 and len(to_torch) == 4:
            sizes = geometry.layout.dims(dy.shape[geometry.layout.batch], filter.shape[2], sizes)
        return compute([sizes[i] for i in to_torch], laid(filter), dy.permute(to_torch)).permute(from_torch)

    served = _served(node) if node.type == "Conv2DBackpropInput" else None
    return run if served is None else served.input_gradient(run, read)


def _filter_gradient(node: Node) -> Callable[..., Any]:
    geometry = Geometry(node)
    compute, to_torch = geometry.filter_gradient, geometry.layout.to_torch
    filter_order, taken_back = filters.ORDERS[geometry.layout.rank], filters.from_torch(geometry.layout)
    read = sizes_of(node, 1)

    def run(x: Any, sizes: Any, dy: Any) -> Any:
        sizes = read(sizes)
        return taken_back(compute(x.permute(to_torch), [sizes[i] for i in filter_order], dy.permute(to_torch)))

    served = _served(node) if node.type == "Conv2DBackpropFilter" else None
    return run if served is None else served.filter_gradient(run, read)


def convolution_shape(o: Operation) -> Any:
    """The output's shape; ValueError for sizes and attributes that can't be."""
    layout = Layout(_format_of(o))
    x = shapes.with_rank(o.inputs[0].dims, layout.rank)
    filter = shapes.with_rank(o.inputs[1].dims, layout.rank)
    strides, dilations = o.attr("strides"), o.attr("dilations")
    for name, values in (("strides", strides), ("dilations", dilations)):
        if len(values) != layout.rank:
            raise ValueError(
                f"{_shown_name(o)} requires the {_singular(name)} attribute to contain {layout.rank} values, but got: {len(values)}"
            )
    explicit = _explicit(o, layout) or [(0, 0)] * len(layout.spatial)
    depth, filter_depth = x[layout.channel], filter[-2]
    if depth is not None and filter_depth and depth % filter_depth:
        raise ValueError(f"Depth of input ({depth}) is not a multiple of input depth of filter ({filter_depth})")
    if depth is not None and filter_depth and depth // filter_depth > 1 and filter[-1] is not None and filter[-1] % (depth // filter_depth):
        raise ValueError(f"Depth of output ({filter[-1]}) is not a multiple of the number of groups ({depth // filter_depth})")
    sizes = [window_output(x[i], filter[k], strides[i], o.attr("padding"), dilations[i], explicit[k]) for k, i in enumerate(layout.spatial)]
    return layout.dims(x[layout.batch], filter[-1], sizes)


def _shown_name(o: Operation) -> str:
    return o.type.replace("DepthwiseConv2dNative", "DepthwiseConv2D")


def _singular(name: str) -> str:
    return {"strides": "stride", "dilations": "dilation"}[name]


def sizes_shape(rank: int) -> Callable[[Any], Any]:
    """The shape that a gradient op's sizes input holds."""

    def rule(o: Operation) -> Any:
        index = 0 if o.type.endswith("Input") or o.type.endswith("InputV2") else 1
        shapes.with_rank(o.inputs[index].dims, 1)
        dims = dims_of(o.inputs[index])
        if dims is not None and len(dims) == 2 and o.type == "Conv2DBackpropInput":
            layout = Layout(o.attr("data_format"))
            dy, filter = shapes.with_rank(o.inputs[2].dims, 4), shapes.with_rank(o.inputs[1].dims, 4)
            return layout.dims(dy[layout.batch], filter[2], dims)
        return shapes.with_rank(dims, rank)

    return rule


def _conv2d_gradient(o: Operation, dy: Any) -> Any:
    x, filter = o.inputs
    attrs = attributes_of(o)
    x_shape, filter_shape = tf.shape_n([x, filter])
    skipped = o.skip_input_indices
    return (
        None if 0 in skipped else apply("Conv2DBackpropInput", x_shape, filter, dy, **attrs),
        None if 1 in skipped else apply("Conv2DBackpropFilter", x, filter_shape, dy, **attrs),
    )


def _conv2d_input_gradient(o: Operation, dy: Any) -> Any:
    _, filter, backprop = o.inputs
    attrs = attributes_of(o)
    return (None, apply("Conv2DBackpropFilter", dy, tf.shape(filter), backprop, **attrs), apply("Conv2D", dy, filter, **attrs))


def _conv2d_filter_gradient(o: Operation, dy: Any) -> Any:
    x, _, backprop = o.inputs
    attrs = attributes_of(o)
    return (apply("Conv2DBackpropInput", tf.shape(x), dy, backprop, **attrs), None, apply("Conv2D", x, dy, **attrs))


def _added_by(name: str) -> Callable[[Node], str | None]:
    return lambda node: name if Pointwise.find(node) is not None else None


op(
    "Conv2D",
    kernel=_convolution,
    shape=convolution_shape,
    gradient=_conv2d_gradient,
    kind="convolution",
    fresh=True,
    symbolic=symbolic.keeps_batch,
    added=_added_by("_ConvAdded"),
    border=uneven_padding,
    strided=True,
)
op(
    "Conv2DBackpropInput",
    kernel=_input_gradient,
    shape=sizes_shape(4),
    gradient=_conv2d_input_gradient,
    sizes=(0,),
    fresh=True,
    symbolic=symbolic.sized_by(0),
    added=_added_by("_ConvInputGradientAdded"),
)
op(
    "Conv2DBackpropFilter",
    kernel=_filter_gradient,
    shape=sizes_shape(4),
    gradient=_conv2d_filter_gradient,
    sizes=(1,),
    border=uneven_padding,
    strided=True,
)


def _conv3d_gradient(o: Operation, dy: Any) -> Any:
    x, filter = o.inputs
    attrs = attributes_of(o)
    return (
        apply("Conv3DBackpropInputV2", tf.shape(x), filter, dy, **attrs),
        apply("Conv3DBackpropFilterV2", x, tf.shape(filter), dy, **attrs),
    )


def _conv3d_input_gradient(o: Operation, dy: Any) -> Any:
    _, filter, backprop = o.inputs
    attrs = attributes_of(o)
    return (None, apply("Conv3DBackpropFilterV2", dy, tf.shape(filter), backprop, **attrs), apply("Conv3D", dy, filter, **attrs))


def _conv3d_filter_gradient(o: Operation, dy: Any) -> Any:
    x, _, backprop = o.inputs
    attrs = attributes_of(o)
    return (apply("Conv3DBackpropInputV2", tf.shape(x), dy, backprop, **attrs), None, apply("Conv3D", x, dy, **attrs))


op("Conv3D", kernel=_convolution, shape=convolution_shape, gradient=_conv3d_gradient, symbolic=symbolic.keeps_batch)
op("Conv3DBackpropInputV2", kernel=_input_gradient, shape=sizes_shape(5), gradient=_conv3d_input_gradient)
op("Conv3DBackpropFilterV2", kernel=_filter_gradient, shape=sizes_shape(5), gradient=_conv3d_filter_gradient)
op("Conv3DBackpropInput", kernel=_input_gradient, shape=lambda o: shapes.with_rank(o.inputs[0].dims, 5))
op("Conv3DBackpropFilter", kernel=_filter_gradient, shape=lambda o: shapes.with_rank(o.inputs[1].dims, 5))
