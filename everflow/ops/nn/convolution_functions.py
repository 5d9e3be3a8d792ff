"""Convolutions as programs call them: one to three dimensions, transposed, depthwise and separable."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph import shapes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.ops.core.registry import apply
from everflow.platform.deprecation import deprecated_argument_lookup as either


@internal("ops.nn_ops._get_sequence")
def per_axis(value: Any, n: int, channel_index: int, name: str) -> list[int]:
    """A value for each axis, from one for all spatial axes, one for each of them, or one for each axis."""
    if value is None:
        value = [1]
    elif not isinstance(value, (list, tuple)) and not hasattr(value, "__len__"):
        value = [value]
    value = list(value)
    if len(value) == n + 2:
        return value
    if len(value) == 1:
        value = value * n
    elif len(value) != n:
        raise ValueError(f"{name} should be of length 1, {n} or {n + 2} but was {len(value)}")
    return [1, 1, *value] if channel_index == 1 else [1, *value, 1]


def channel_index(data_format: str | None) -> int:
    """Where the channels are, counted from the batch: 1, or -1 for last."""
    return 1 if data_format is not None and data_format.startswith("NC") else -1


def _format_2d(data_format: str | None) -> str:
    return data_format if data_format is not None else "NHWC"


def explicit_padding(padding: Any) -> tuple[Any, list[int]]:
    """The two attributes for a padding: its name, and the sizes where a list gave them."""
    if isinstance(padding, str) and padding == "EXPLICIT":
        raise ValueError(
            '"EXPLICIT" is not a valid value for the padding parameter. To use explicit padding, the padding parameter must be a list.'
        )
    if not isinstance(padding, (list, tuple)):
        return padding, []
    for i, pair in enumerate(padding):
        if not isinstance(pair, (list, tuple)):
            raise ValueError(
                "When padding is a list, each element of padding must be a list/tuple of size 2. Element with "
                f"index {i} of padding "
                "is not a list/tuple"
            )
        if len(pair) != 2:
            raise ValueError(
                "When padding is a list, each element of padding must be a list/tuple of size 2. Element with "
                f"index {i} of padding "
                f"has size {len(pair)}"
            )
    if len(padding) != 4:
        raise ValueError(f"When padding is a list, it must be of size 4. Got padding of size: {len(padding)}")
    return "EXPLICIT", [side for pair in padding for side in pair]


@public("nn.conv2d")
def conv2d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str | None = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
    filters: Any = None,
) -> Any:
    """Slides filters (height, width, channels in, channels out) over images."""
    if dilations is None:
        dilations = [1, 1, 1, 1]
    filter = either("filters", filters, "filter", filter)
    padding, explicit = explicit_padding(padding)
    data_format = _format_2d(data_format)
    channels = channel_index(data_format)
    return apply(
        "Conv2D",
        input,
        filter,
        strides=per_axis(strides, 2, channels, "strides"),
        padding=padding,
        explicit_paddings=explicit,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        data_format=data_format,
        dilations=per_axis(dilations, 2, channels, "dilations"),
        name=name,
    )


@public("nn.conv2d_backprop_filter")
def conv2d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Any:
    """The gradient of conv2d with respect to its filter."""
    if dilations is None:
        dilations = [1, 1, 1, 1]
    padding, explicit = explicit_padding(padding)
    return apply(
        "Conv2DBackpropFilter",
        input,
        filter_sizes,
        out_backprop,
        strides=strides,
        padding=padding,
        explicit_paddings=explicit,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


@public("nn.conv2d_backprop_input")
def conv2d_backprop_input(
    input_sizes: Any,
    filter: Any = None,
    out_backprop: Any = None,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Any = [1, 1, 1, 1],
    name: str | None = None,
    filters: Any = None,
) -> Any:
    """The gradient of conv2d with respect to its input."""
    filter = either("filters", filters, "filter", filter)
    padding, explicit = explicit_padding(padding)
    return apply(
        "Conv2DBackpropInput",
        input_sizes,
        filter,
        out_backprop,
        strides=strides,
        padding=padding,
        explicit_paddings=explicit,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


@public("nn.conv2d_transpose")
def conv2d_transpose(
    value: Any = None,
    filter: Any = None,
    output_shape: Any = None,
    strides: Any = None,
    padding: Any = "SAME",
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: Any = None,
    filters: Any = None,
    dilations: Any = None,
) -> Any:
    """The transpose of conv2d: filters are (height, width, channels out, channels in)."""
    value = either("input", input, "value", value)
    filter = either("filters", filters, "filter", filter)
    with name_scope(name, "conv2d_transpose", [value, filter, output_shape]) as scope:
        data_format = _format_2d(data_format)
        channels = channel_index(data_format)
        strides = per_axis(strides, 2, channels, "strides")
        dilations = per_axis(dilations, 2, channels, "dilations")
        padding, explicit = explicit_padding(padding)
        return apply(
            "Conv2DBackpropInput",
            output_shape,
            filter,
            value,
            strides=strides,
            padding=padding,
            explicit_paddings=explicit,
            data_format=data_format,
            dilations=dilations,
            name=scope,
        )


@public("nn.conv3d")
def conv3d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    padding: Any = None,
    data_format: str = "NDHWC",
    dilations: Any = [1, 1, 1, 1, 1],
    name: str | None = None,
    filters: Any = None,
) -> Any:
    """Slides filters over volumes."""
    filter = either("filters", filters, "filter", filter)
    return apply(
        "Conv3D",
        input,
        filter,
        strides=_listed(strides, "strides", "conv3d"),
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


def _listed(value: Any, argument: str, op_name: str) -> Any:
    if not isinstance(value, (list, tuple)) and not hasattr(value, "__len__"):
        raise TypeError(f"Expected list for '{argument}' argument to '{op_name}' Op, not {value}.")
    return value


@public("nn.conv3d_transpose")
def conv3d_transpose(
    value: Any,
    filter: Any = None,
    output_shape: Any = None,
    strides: Any = None,
    padding: Any = "SAME",
    data_format: str | None = "NDHWC",
    name: str | None = None,
    input: Any = None,
    filters: Any = None,
    dilations: Any = None,
) -> Any:
    """The transpose of conv3d."""
    value = either("input", input, "value", value)
    filter = either("filters", filters, "filter", filter)
    with name_scope(name, "conv3d_transpose", [value, filter, output_shape]) as scope:
        data_format = data_format if data_format is not None else "NDHWC"
        channels = channel_index(data_format)
        return apply(
            "Conv3DBackpropInputV2",
            output_shape,
            filter,
            value,
            strides=per_axis(strides, 3, channels, "strides"),
            padding=padding,
            data_format=data_format,
            dilations=per_axis(dilations, 3, channels, "dilations"),
            name=scope,
        )


@internal("ops.nn_ops.conv3d_transpose_v2")
def _conv3d_transpose_of_2(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str | None = "NDHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    return conv3d_transpose(input, filters, output_shape, strides, padding, data_format, name, dilations=dilations)


@public("nn.conv3d_backprop_filter", "nn.conv3d_backprop_filter_v2")
def conv3d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NDHWC",
    dilations: Any = (1, 1, 1, 1, 1),
    name: str | None = None,
) -> Any:
    """The gradient of conv3d with respect to its filter."""
    if dilations is None:
        dilations = [1, 1, 1, 1, 1]
    return apply(
        "Conv3DBackpropFilterV2",
        input,
        filter_sizes,
        out_backprop,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


def _format_1d(data_format: str | None) -> tuple[str, int]:
    """The two-dimensional format for a sequence, and the axis that is added to it."""
    if data_format is None or data_format in ("NHWC", "NWC"):
        return "NHWC", 1
    if data_format in ("NCHW", "NCW"):
        return "NCHW", 2
    raise ValueError('data_format must be "NWC" or "NCW".')


@public("nn.conv1d")
def conv1d(
    value: Any = None,
    filters: Any = None,
    stride: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool | None = None,
    data_format: str | None = None,
    name: str | None = None,
    input: Any = None,
    dilations: Any = None,
) -> Any:
    """Slides filters (width, channels in, channels out) over sequences."""
    value = either("input", input, "value", value)
    with name_scope(name, "conv1d", [value, filters]) as scope:
        data_format, axis = _format_1d(data_format)
        channels = channel_index(data_format)
        strides = _with_height(per_axis(stride, 1, channels, "stride"))
        dilations = _with_height(per_axis(dilations, 1, channels, "dilations"))
        value = tf.expand_dims(value, axis)
        filters = tf.expand_dims(filters, 0)
        result = apply(
            "Conv2D",
            value,
            filters,
            strides=strides,
            padding=padding,
            use_cudnn_on_gpu=use_cudnn_on_gpu,
            data_format=data_format,
            dilations=dilations,
            name=scope,
        )
        return tf.squeeze(result, [axis])


def _with_height(per_axis: list[int]) -> list[int]:
    return [1, *per_axis]


@public("nn.conv1d_transpose")
def conv1d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str | None = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """The transpose of conv1d."""
    with name_scope(name, "conv1d_transpose", [input, filters, output_shape]) as scope:
        data_format, axis = _format_1d(data_format)
        channels = channel_index(data_format)
        strides = _with_height(per_axis(strides, 1, channels, "strides"))
        dilations = _with_height(per_axis(dilations, 1, channels, "dilations"))
        input = tf.expand_dims(input, axis)
        filters = tf.expand_dims(filters, 0)
        if isinstance(output_shape, (list, tuple)):
            output_shape = list(output_shape)
        output_shape = tf.concat([output_shape[:axis], [1], output_shape[axis:]], axis=0)
        result = apply(
            "Conv2DBackpropInput",
            output_shape,
            filters,
            input,
            strides=strides,
            padding=padding,
            data_format=data_format,
            dilations=dilations,
            name=scope,
        )
        return tf.squeeze(result, [axis])


@public("nn.conv_transpose")
def conv_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """The transpose of a convolution in one, two or three dimensions, as the output's shape has it."""
    with name_scope(name, "conv_transpose", [input, filters, output_shape]) as scope:
        if isinstance(output_shape, tf.Tensor):
            n = output_shape.dims[0] - 2  # type: ignore[index,operator]
        elif hasattr(output_shape, "__len__"):
            n = len(output_shape) - 2
        else:
            raise ValueError("output_shape must be a tensor or sized collection.")
        if not 1 <= n <= 3:
            raise ValueError(f"output_shape must be of length 3, 4 or 5 but was {n + 2}.")
        function: Any = {1: conv1d_transpose, 2: conv2d_transpose, 3: conv3d_transpose}[n]
        return function(input, filters, output_shape, strides, padding=padding, data_format=data_format, dilations=dilations, name=scope)


@public("nn.depthwise_conv2d_native")
def depthwise_conv2d_native(
    input: Any, filter: Any, strides: Any, padding: Any, data_format: str = "NHWC", dilations: Any = [1, 1, 1, 1], name: str | None = None
) -> Any:
    """Filters (height, width, channels, multiplier), each for a channel of its own."""
    return apply(
        "DepthwiseConv2dNative", input, filter, strides=strides, padding=padding, data_format=data_format, dilations=dilations, name=name
    )


@public("nn.depthwise_conv2d_native_backprop_input", "nn.depthwise_conv2d_backprop_input")
def depthwise_conv2d_native_backprop_input(
    input_sizes: Any,
    filter: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = [1, 1, 1, 1],
    name: str | None = None,
) -> Any:
    """The gradient of a depthwise convolution with respect to its input."""
    return apply(
        "DepthwiseConv2dNativeBackpropInput",
        input_sizes,
        filter,
        out_backprop,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


@public("nn.depthwise_conv2d_native_backprop_filter", "nn.depthwise_conv2d_backprop_filter")
def depthwise_conv2d_native_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = [1, 1, 1, 1],
    name: str | None = None,
) -> Any:
    """The gradient of a depthwise convolution with respect to its filter."""
    return apply(
        "DepthwiseConv2dNativeBackpropFilter",
        input,
        filter_sizes,
        out_backprop,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


def _depthwise(input: Any, filter: Any, rate: Any, strides: Any, padding: Any, data_format: str | None, name: str) -> Any:
    """A depthwise convolution whose filters may be dilated."""

    def run(converted: Any, _: Any, padding: Any) -> Any:
        return depthwise_conv2d_native(converted, filter, strides=strides, padding=padding, data_format=_format_2d(data_format), name=name)

    return tf.nn.with_space_to_batch(
        input=input,
        filter_shape=tf.shape(filter),
        dilation_rate=[1, 1] if rate is None else rate,
        padding=padding,
        data_format=data_format,
        op=run,
    )


@public("nn.depthwise_conv2d")
def depthwise_conv2d(
    input: Any,
    filter: Any,
    strides: Any,
    padding: Any,
    rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Any:
    """Filters (height, width, channels, multiplier), each for a channel of its own; `rate` spreads them out."""
    rate = either("dilations", dilations, "rate", rate)
    with name_scope(name, "depthwise", [input, filter]) as scope:
        input = convert_to_tensor(input, name="tensor_in")
        filter = convert_to_tensor(filter, name="filter_in")
        return _depthwise(input, filter, rate, strides, padding, data_format, scope)


@public("nn.separable_conv2d")
def separable_conv2d(
    input: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: Any,
    rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Any:
    """A depthwise convolution, then one of single pixels that mixes the channels."""
    rate = either("dilations", dilations, "rate", rate)
    with name_scope(name, "separable_conv2d", [input, depthwise_filter, pointwise_filter]) as scope:
        input = convert_to_tensor(input, name="tensor_in")
        depthwise_filter = convert_to_tensor(depthwise_filter, name="depthwise_filter")
        pointwise_filter = convert_to_tensor(pointwise_filter, name="pointwise_filter")
        pointwise_shape = pointwise_filter.get_shape().with_rank(4)
        for size in pointwise_shape.as_list()[:2]:
            shapes.Dimension(size).assert_is_compatible_with(1)
        depthwise = _depthwise(input, depthwise_filter, rate, strides, padding, data_format, "depthwise")
        return conv2d(depthwise, pointwise_filter, [1, 1, 1, 1], "VALID", data_format=_format_2d(data_format), name=scope)
