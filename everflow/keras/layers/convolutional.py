"""Convolutions in one, two and three dimensions."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.arguments import arguments
from everflow.graph.shapes import TensorShape
from everflow.keras.configured import ConfiguredLayer
from everflow.keras.input_spec import InputSpec
from everflow.keras.window_arithmetic import conv_output_length, convert_data_format, windows
from everflow.ops.nn.atrous_convolutions import Convolution


@internal("keras.layers.convolutional.Conv")
class Conv(ConfiguredLayer):
    """A convolution in `rank` dimensions with a bias and an activation."""

    _may_be_causal = False
    _prepared_for: TensorShape
    _convolution_op: Any

    def __init__(
        self,
        rank: int,
        filters: Any,
        kernel_size: Any,
        strides: Any = 1,
        padding: Any = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(trainable=trainable, name=name, **kwargs)
        self._keep(windows(locals(), rank), "rank")
        self.rank = rank
        if filters is not None:
            self.filters = int(filters)
        if self.padding == "causal" and not self._may_be_causal:
            raise ValueError("Causal padding is only supported for `Conv1D`and ``SeparableConv1D`.")
        self.input_spec = InputSpec(ndim=rank + 2)

    @property
    def channel_axis(self) -> int:
        """The axis of the channels."""
        return 1 if self.data_format == "channels_first" else -1

    def _input_channels(self, shape: TensorShape) -> int:
        channels = shape.as_list()[self.channel_axis]
        if channels is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={self.channel_axis: channels})
        return channels

    def _add_bias(self, size: int) -> None:
        self.bias = self._weight("bias", (size,)) if self.use_bias else None

    def build(self, input_shape: Any) -> None:
        shape = TensorShape(input_shape)
        self.kernel = self._weight("kernel", (*self.kernel_size, self._input_channels(shape), self.filters))
        self._add_bias(self.filters)
        self._prepare(shape)
        self.built = True

    def _prepare(self, shape: TensorShape) -> None:
        """Checks the shapes and readies the op for inputs of this shape."""
        self.__dict__["_prepared_for"] = shape
        padding = "valid" if self.padding == "causal" else self.padding
        self.__dict__["_convolution_op"] = Convolution(
            shape,
            filter_shape=self.kernel.get_shape(),
            dilation_rate=self.dilation_rate,
            strides=self.strides,
            padding=padding.upper() if isinstance(padding, str) else padding,
            data_format=convert_data_format(self.data_format, self.rank + 2),
        )

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        if inputs.get_shape()[1:].as_list() != self._prepared_for[1:].as_list():
            self._prepare(inputs.get_shape())
        if self.padding == "causal":
            inputs = tf.pad(inputs, self._causal_padding())
        return self._activated(self._convolution_op(inputs, self.kernel))

    def _activated(self, outputs: Any) -> Any:
        """Outputs with the bias and the activation."""
        if self.use_bias:
            first = self.data_format == "channels_first"
            if first and self.rank == 1:
                outputs = outputs + tf.reshape(self.bias, (1, self.filters, 1))
            else:
                outputs = tf.nn.bias_add(outputs, self.bias, data_format="NCHW" if first else "NHWC")
        return outputs if self.activation is None else self.activation(outputs)

    def _steps(self) -> tuple[int, ...]:
        """The strides along all axes, as ops take them."""
        return (1, 1, *self.strides) if self.data_format == "channels_first" else (1, *self.strides, 1)

    def _causal_padding(self) -> list[list[int]]:
        """What to put before a sequence so that outputs depend on no later inputs."""
        before = self.dilation_rate[0] * (self.kernel_size[0] - 1)
        time = 2 if self.data_format == "channels_first" else 1
        return [[before if axis == time else 0, 0] for axis in range(3)]

    def compute_output_shape(self, input_shape: Any) -> Any:
        sizes = TensorShape(input_shape).as_list()
        space = sizes[2:] if self.data_format == "channels_first" else sizes[1:-1]
        found = [
            conv_output_length(size, self.kernel_size[i], self.padding, self.strides[i], self.dilation_rate[i])
            for i, size in enumerate(space)
        ]
        return self._shaped(sizes[0], found, self.filters)

    def _shaped(self, batch: Any, space: list[Any], channels: Any) -> TensorShape:
        if self.data_format == "channels_first":
            return TensorShape([batch, channels, *space])
        return TensorShape([batch, *space, channels])


@public("keras.layers.Conv1D", "keras.layers.Convolution1D")
class Conv1D(Conv):
    """A convolution over sequences."""

    _may_be_causal = True

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: Any = "valid",
        data_format: str | None = "channels_last",
        dilation_rate: Any = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(rank=1, **arguments(locals()))


@public("keras.layers.Conv2D", "keras.layers.Convolution2D")
class Conv2D(Conv):
    """A convolution over images."""

    def __init__(
        self,
        filters: Any,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: Any = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(rank=2, **arguments(locals()))


@public("keras.layers.Conv3D", "keras.layers.Convolution3D")
class Conv3D(Conv):
    """A convolution over volumes."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1, 1),
        padding: Any = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1, 1),
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(rank=3, **arguments(locals()))
