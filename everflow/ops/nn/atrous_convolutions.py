"""Convolutions and pooling with windows that are spread out: pixels are dealt out to more, smaller images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.graph.constants import known
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.shapes import TensorShape, as_shape
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import apply
from everflow.ops.nn.convolution_functions import channel_index, per_axis
from everflow.platform.deprecation import deprecated_argument_lookup as either


@internal("ops.nn_ops._WithSpaceToBatch")
class SpaceToBatch:
    """Runs `build_op(number of spatial axes, padding)(input, filter)` with a dilation rate of its own.

    >>> SpaceToBatch(x.shape, [2, 2], "SAME", build, filter_shape=w.shape)(x, w)
    """

    def __init__(
        self,
        input_shape: TensorShape,
        dilation_rate: Any,
        padding: str,
        build_op: Callable[..., Any],
        filter_shape: Any = None,
        spatial_dims: Any = None,
        data_format: str | None = None,
    ) -> None:
        dilation_rate = convert_to_tensor(dilation_rate, tf.int32, name="dilation_rate")
        if dilation_rate.dims is not None and len(dilation_rate.dims) != 1:
            raise ValueError("rate must be rank 1")
        if not dilation_rate.get_shape().is_fully_defined():
            raise ValueError("rate must have known shape")
        n = dilation_rate.dims[0]
        starting = 2 if channel_index(data_format) == 1 else 1
        if spatial_dims is None:
            spatial_dims = range(starting, n + starting)
        spatial_dims = sorted({int(d) for d in spatial_dims}) if _increasing(list(spatial_dims)) else None
        if not spatial_dims or spatial_dims[0] < 1:
            raise ValueError(f"spatial_dims must be a montonically increasing sequence of positive integers, but got: {spatial_dims}")
        last = spatial_dims[-1] if starting == 2 else spatial_dims[-1] + 1
        try:
            input_shape.with_rank_at_least(last)
        except ValueError:
            raise ValueError(f"input tensor must have rank {last} at least") from None
        constant = known(dilation_rate)
        rate: Any = dilation_rate
        if constant is not None:
            rate = constant
            if np.any(constant < 1):
                raise ValueError("dilation_rate must be positive")
            if np.all(constant == 1):
                self.call = build_op(n, padding)
                return
        self.channels_first = starting == 2
        self.n, self.rate, self.rate_tensor, self.spatial_dims = n, rate, dilation_rate, spatial_dims
        if padding == "SAME":
            if filter_shape is None:
                raise ValueError("filter_shape must be specified for SAME padding")
            if isinstance(filter_shape, TensorShape) and not filter_shape.is_fully_defined():
                self.base_paddings = None
            else:
                self.base_paddings = _same_paddings(convert_to_tensor(filter_shape, name="filter_shape"), n, rate)
        elif padding == "VALID":
            self.base_paddings = np.zeros([n, 2], np.int32)
        else:
            raise ValueError(f"Invalid padding method {padding!r}")
        self.op = build_op(n, "VALID")
        self.call = self._run

    def _run(self, inp: Any, filter: Any) -> Any:
        base_paddings = self.base_paddings
        if base_paddings is None:
            base_paddings = _same_paddings(tf.shape(filter), self.n, self.rate)
        dims = as_shape(inp.shape).as_dims()
        spatial = None if dims is None else [dims[d] for d in self.spatial_dims]
        if spatial is None or None in spatial:
            shape = tf.shape(inp)
            spatial = tf.stack([shape[d] for d in self.spatial_dims])
        paddings, crops = tf.required_space_to_batch_paddings(
            input_shape=spatial, base_paddings=base_paddings, block_shape=self.rate_tensor
        )
        rate = _for_axes(self.rate, 1, self.spatial_dims)
        paddings = _for_axes(paddings, 0, self.spatial_dims)
        crops = _for_axes(crops, 0, self.spatial_dims)
        dealt = apply("SpaceToBatchND", inp, rate, paddings)
        result = apply("BatchToSpaceND", self.op(dealt, filter), rate, crops)
        if self.channels_first and filter is not None and result.dims is not None and result.dims[1] is None:
            result.set_shape([result.dims[0], filter.shape[-1], *result.dims[2:]])
        return result

    def __call__(self, inp: Any, filter: Any) -> Any:
        return self.call(inp, filter)


def _increasing(values: list[int]) -> bool:
    return all(a < b for a, b in zip(values, values[1:]))


def _same_paddings(filter_shape: Any, n: int, rate: Any) -> Any:
    """What SAME adds around each spatial axis, for windows of this shape."""
    sizes = known(filter_shape)
    window: Any = filter_shape[:n] if sizes is None else sizes[:n]
    extent = window + (window - 1) * (rate - 1)
    extra = extent - 1
    before = extra // 2
    after = extra - before
    return tf.stack([[before[i], after[i]] for i in range(n)])


def _for_axes(values: Any, fill: int, spatial_dims: list[int]) -> Any:
    """Values for all axes from the first to the last spatial one, filled up where an axis between is not spatial."""
    constant = known(values) if isinstance(values, Tensor) else np.asarray(values)
    source = values if constant is None else constant
    dtype = values.dtype
    tail = values.get_shape().as_list()[1:] if isinstance(values, Tensor) else list(np.shape(values)[1:])
    parts, i, position = [], 0, 1
    while i < len(spatial_dims):
        start = i
        skipped = spatial_dims[i] - position
        if skipped > 0:
            parts.append(
                np.full([skipped, *tail], fill, np.int32) if constant is not None else tf.fill([skipped, *tail], tf.constant(fill, dtype))
            )
        while i + 1 < len(spatial_dims) and spatial_dims[i + 1] == spatial_dims[i] + 1:
            i += 1
        parts.append(source[start : i + 1])
        position = spatial_dims[i] + 1
        i += 1
    return np.concatenate(parts, 0).astype(constant.dtype) if constant is not None else tf.concat(parts, 0)


@public("nn.with_space_to_batch")
def with_space_to_batch(
    input: Any,
    dilation_rate: Any,
    padding: str,
    op: Callable[..., Any],
    filter_shape: Any = None,
    spatial_dims: Any = None,
    data_format: str | None = None,
) -> Any:
    """Runs `op(input, number of spatial axes, padding)` so that its windows are spread out by `dilation_rate`."""
    input = convert_to_tensor(input, name="input")

    def build_op(n: int, padding: str) -> Callable[..., Any]:
        return lambda inp, _: op(inp, n, padding)

    return SpaceToBatch(
        input.get_shape(), dilation_rate, padding, build_op, filter_shape=filter_shape, spatial_dims=spatial_dims, data_format=data_format
    )(input, None)


def steps_of(num_spatial_dims: int, strides: Any, dilation_rate: Any) -> tuple[Any, Any]:
    """Strides and dilation rate with their defaults, checked."""
    rates, steps = (_per_axis(what, given, num_spatial_dims) for what, given in (("dilation_rate", dilation_rate), ("strides", strides)))
    if (steps > 1).any() and (rates > 1).any():
        raise ValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
    return steps, rates


def _per_axis(what: str, given: Any, count: int) -> Any:
    """A number for each spatial axis, 1 unless they are given."""
    if given is not None and len(given) != count:
        raise ValueError(f"len({what})={len(given)} but should be {count}")
    numbers = np.asarray([1] * count if given is None else given, np.int32)
    if (numbers < 1).any():
        raise ValueError(f"all values of {what} must be positive")
    return numbers


internal("ops.nn_ops._get_strides_and_dilation_rate")(steps_of)


@internal("ops.nn_ops.Convolution")
class Convolution:
    """A convolution whose attributes and shapes are checked once, to be called with (input, filter)."""

    def __init__(
        self,
        input_shape: TensorShape,
        filter_shape: TensorShape,
        padding: str,
        strides: Any = None,
        dilation_rate: Any = None,
        name: str | None = None,
        data_format: str | None = None,
    ) -> None:
        rank = filter_shape.ndims
        if rank is None:
            rank = input_shape.ndims
        if rank is None:
            raise ValueError("rank of input or filter must be known")
        if rank < 3 or rank > 5:
            raise (
                ValueError("`input` and `filter` must have rank at least 3 and at most 5")
                if rank > 5
                else ValueError("input tensor must have rank 3 at least")
            )
        n = rank - 2
        channel_axis = 1 if channel_index(data_format) == 1 else n + 1
        self.spatial_dims = range(2, n + 2) if channel_axis == 1 else range(1, n + 1)
        try:
            input_shape.with_rank(n + 2)
        except ValueError:
            raise ValueError(f"input tensor must have rank {n + 2}") from None
        try:
            filter_shape.with_rank(n + 2)
        except ValueError:
            raise ValueError(f"filter tensor must have rank {n + 2}") from None
        channels = input_shape.as_list()[channel_axis] if input_shape.ndims is not None else None
        expected = filter_shape.as_list()[n] if filter_shape.ndims is not None else None
        if channels is not None and expected is not None and channels != expected:
            raise ValueError(f"number of input channels does not match corresponding dimension of filter, {channels} != {expected}")
        self.input_shape, self.filter_shape = input_shape, filter_shape
        self.data_format, self.name = data_format, name
        self.strides, self.dilation_rate = steps_of(n, strides, dilation_rate)
        self.padding = padding
        self.conv_op = SpaceToBatch(
            input_shape,
            self.dilation_rate,
            padding,
            self._build_op,
            filter_shape=filter_shape,
            spatial_dims=self.spatial_dims,
            data_format=data_format,
        )

    def _build_op(self, _: int, padding: str) -> Callable[..., Any]:
        strides = [int(s) for s in self.strides]
        n, channels = len(strides), channel_index(self.data_format)
        if n == 1:
            return lambda inp, filter: tf.nn.conv1d(inp, filter, strides[0], padding, data_format=self.data_format, name=self.name)
        if n == 2:
            return lambda inp, filter: tf.nn.conv2d(
                inp, filter, per_axis(strides, 2, channels, "strides"), padding, data_format=self.data_format, name=self.name
            )
        return lambda inp, filter: tf.nn.conv3d(
            inp, filter, per_axis(strides, 3, channels, "strides"), padding, data_format=self.data_format or "NDHWC", name=self.name
        )

    def __call__(self, inp: Any, filter: Any) -> Any:
        return self.conv_op(inp, filter)


@public("nn.convolution")
def convolution(
    input: Any,
    filter: Any,
    padding: str,
    strides: Any = None,
    dilation_rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    filters: Any = None,
    dilations: Any = None,
) -> Any:
    """A convolution in one, two or three dimensions, strided or dilated."""
    dilation_rate = either("dilations", dilations, "dilation_rate", dilation_rate)
    filter = either("filters", filters, "filter", filter)
    return convolution_internal(input, filter, strides, padding, data_format, dilation_rate, name)


@internal("ops.nn_ops.convolution_internal")
def convolution_internal(
    input: Any,
    filters: Any,
    strides: Any = None,
    padding: str = "VALID",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """A convolution by the op for its dimensions, or by dealing pixels out where it is dilated."""
    # An array becomes a tensor where its op is made, of the type of the other.
    shape, filter_shape = (as_shape(v.shape if hasattr(v, "shape") else np.shape(v)) for v in (input, filters))
    rank = filter_shape.ndims if shape.ndims is None else shape.ndims
    if rank is None:
        raise ValueError("rank of input or filter must be known")
    n = rank - 2
    if not 1 <= n <= 3:
        raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {n + 2}.")
    with name_scope(name, "convolution", [input, filters]) as scope:
        channels = channel_index(data_format)
        all_strides = per_axis(strides, n, channels, "strides")
        all_dilations = per_axis(dilations, n, channels, "dilations")
        if all(d == 1 for d in all_dilations):
            if n == 1:
                return tf.nn.conv1d(input, filters, all_strides, padding, data_format=data_format, dilations=all_dilations, name=scope)
            if n == 2:
                return tf.nn.conv2d(input, filters, all_strides, padding, data_format=data_format, dilations=all_dilations, name=scope)
            return tf.nn.conv3d(
                input, filters, all_strides, padding, data_format=data_format or "NDHWC", dilations=all_dilations, name=scope
            )
        spatial = slice(2, None) if channels == 1 else slice(1, -1)
        return Convolution(
            shape,
            filter_shape,
            padding,
            strides=all_strides[spatial],
            dilation_rate=all_dilations[spatial],
            name=scope,
            data_format=data_format,
        )(input, filters)


@public("nn.atrous_conv2d")
def atrous_conv2d(value: Any, filters: Any, rate: int, padding: str, name: str | None = None) -> Any:
    """conv2d with filters that are spread out by `rate`."""
    return convolution(value, filters, padding, dilation_rate=np.broadcast_to(rate, (2,)), name=name)


@public("nn.atrous_conv2d_transpose")
def atrous_conv2d_transpose(value: Any, filters: Any, output_shape: Any, rate: int, padding: str, name: str | None = None) -> Any:
    """The transpose of atrous_conv2d."""
    with name_scope(name, "atrous_conv2d_transpose", [value, filters, output_shape]):
        value = convert_to_tensor(value, name="value")
        filters = convert_to_tensor(filters, name="filters")
        value_channels = value.get_shape().with_rank(4).as_list()[3]
        filter_dims = filters.get_shape().with_rank(4).as_list()
        if None not in (value_channels, filter_dims[3]) and value_channels != filter_dims[3]:
            raise ValueError(f"value's input channels does not match filters' input channels, {value_channels} != {filter_dims[3]}")
        if rate < 1:
            raise ValueError(f"rate {rate} cannot be less than one")
        if rate == 1:
            return tf.nn.conv2d_transpose(value, filters, output_shape, strides=[1, 1, 1, 1], padding=padding, data_format="NHWC")
        output = convert_to_tensor(output_shape, name="output_shape")
        if not output.get_shape().is_compatible_with([4]):
            raise ValueError(f"output_shape must have shape (4,), got {output.get_shape()}")
        if isinstance(output_shape, tuple):
            output_shape = list(output_shape)
        if isinstance(output_shape, (list, np.ndarray)) and filter_dims[2] is not None and filter_dims[2] != output_shape[3]:
            raise ValueError(f"output_shape does not match filter's output channels, {output_shape[3]} != {filter_dims[2]}")
        if padding == "SAME":
            extents: list[Any] = [None if size is None else size + (size - 1) * (rate - 1) for size in filter_dims[:2]]
            if None in extents:
                dynamic = tf.shape(filters)
                extents = [dynamic[i] + (dynamic[i] - 1) * (rate - 1) for i in range(2)]
            total_h, total_w = (e - 1 for e in extents)
            top, left = total_h // 2, total_w // 2
            bottom, right = total_h - top, total_w - left
        elif padding == "VALID":
            top = bottom = left = right = 0
        else:
            raise ValueError(f"padding must be either VALID or SAME: {padding}")
        in_height, in_width = output_shape[1] + top + bottom, output_shape[2] + left + right
        extra_bottom, extra_right = (rate - in_height % rate) % rate, (rate - in_width % rate) % rate
        value = apply("SpaceToBatchND", value, [rate, rate], [[0, extra_bottom], [0, extra_right]])
        sizes = [rate * rate * output_shape[0], (in_height + extra_bottom) // rate, (in_width + extra_right) // rate, output_shape[3]]
        value = apply("Conv2DBackpropInput", sizes, filters, value, strides=[1, 1, 1, 1], padding="VALID", data_format="NHWC")
        return apply("BatchToSpaceND", value, [rate, rate], [[top, bottom + extra_bottom], [left, right + extra_right]])
