"""Convolutions in two parts: each channel for itself, then a mix of the channels."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.arguments import arguments
from everflow.graph.shapes import TensorShape
from everflow.keras.layers.convolutional import Conv, Conv2D
from everflow.keras.shape_methods import of_tuples
from everflow.keras.window_arithmetic import conv_output_length, convert_data_format


@internal("keras.layers.convolutional.SeparableConv")
class SeparableConv(Conv):
    """A depthwise convolution, and one of single pixels."""

    _may_be_causal = True

    def __init__(
        self,
        rank: int,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: Any = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        pointwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        given = arguments(locals())
        parts = {name: given.pop(name) for name in tuple(given) if name.startswith(("depth", "pointwise"))}
        super().__init__(**given)
        self._keep(parts)

    def build(self, input_shape: Any) -> None:
        channels = self._input_channels(TensorShape(input_shape))
        mixed = channels * self.depth_multiplier
        self.depthwise_kernel = self._weight("depthwise_kernel", (*self.kernel_size, channels, self.depth_multiplier), "depthwise")
        self.pointwise_kernel = self._weight("pointwise_kernel", (*(1,) * self.rank, mixed, self.filters), "pointwise")
        self._add_bias(self.filters)
        self.built = True


@public("keras.layers.SeparableConv1D", "keras.layers.SeparableConvolution1D")
class SeparableConv1D(SeparableConv):
    """A separable convolution over sequences."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: Any = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        pointwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(rank=1, **arguments(locals()))

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        if self.padding == "causal":
            inputs = tf.pad(inputs, self._causal_padding())
        # A sequence is an image of one row.
        row = 1 if self.data_format == "channels_last" else 2
        strides = (1, *self.strides * 2, 1) if self.data_format == "channels_last" else (1, 1, *self.strides * 2)
        inputs = tf.expand_dims(inputs, row)
        depthwise_kernel = tf.expand_dims(self.depthwise_kernel, 0)
        pointwise_kernel = tf.expand_dims(self.pointwise_kernel, 0)
        outputs = tf.nn.separable_conv2d(
            inputs,
            depthwise_kernel,
            pointwise_kernel,
            strides=strides,
            padding="VALID" if self.padding == "causal" else self.padding.upper(),
            rate=(1, *self.dilation_rate),
            data_format=convert_data_format(self.data_format, 4),
        )
        if self.use_bias:
            outputs = tf.nn.bias_add(outputs, self.bias, data_format=convert_data_format(self.data_format, 4))
        outputs = tf.squeeze(outputs, [row])
        return outputs if self.activation is None else self.activation(outputs)


@public("keras.layers.SeparableConv2D", "keras.layers.SeparableConvolution2D")
class SeparableConv2D(SeparableConv):
    """A separable convolution over images."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: Any = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        pointwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(rank=2, **arguments(locals()))

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        outputs = tf.nn.separable_conv2d(
            inputs,
            self.depthwise_kernel,
            self.pointwise_kernel,
            strides=self._steps(),
            padding=self.padding.upper(),
            rate=self.dilation_rate,
            data_format=convert_data_format(self.data_format, 4),
        )
        return self._activated(outputs)


@public("keras.layers.DepthwiseConv2D")
class DepthwiseConv2D(Conv2D):
    """A convolution over images of each channel for itself."""

    def __init__(
        self,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: Any = "valid",
        depth_multiplier: int = 1,
        data_format: str | None = None,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        given = arguments(locals())
        parts = {name: given.pop(name) for name in tuple(given) if name.startswith("depth")}
        super().__init__(filters=None, **given)
        self._leave_out("filters", "kernel_initializer", "kernel_regularizer", "kernel_constraint")
        self._keep(parts)

    def build(self, input_shape: Any) -> None:
        shape = TensorShape(input_shape)
        if len(shape) < 4:
            raise ValueError(f"Inputs to `DepthwiseConv2D` should have rank 4. Received input shape: {input_shape}")
        if shape.as_list()[self.channel_axis] is None:
            raise ValueError("The channel dimension of the inputs to `DepthwiseConv2D` should be defined. Found `None`.")
        channels = self._input_channels(shape)
        self.depthwise_kernel = self._weight("depthwise_kernel", (*self.kernel_size, channels, self.depth_multiplier), "depthwise")
        self._add_bias(channels * self.depth_multiplier)
        self.built = True

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        outputs = tf.nn.depthwise_conv2d(
            inputs,
            self.depthwise_kernel,
            strides=self._steps(),
            padding=self.padding.upper(),
            rate=self.dilation_rate,
            data_format=convert_data_format(self.data_format, 4),
        )
        return self._activated(outputs)

    @of_tuples
    def compute_output_shape(self, input_shape: Any) -> Any:
        space = input_shape[2:] if self.data_format == "channels_first" else input_shape[1:3]
        found = [conv_output_length(size, self.kernel_size[i], self.padding, self.strides[i]) for i, size in enumerate(space)]
        return self._shaped(input_shape[0], found, input_shape[self.channel_axis] * self.depth_multiplier)
