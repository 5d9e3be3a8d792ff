"""Convolutions in one, two and three dimensions."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.shapes import TensorShape
from everflow.keras import activations, constraints, initializers, regularizers
from everflow.keras.input_spec import InputSpec
from everflow.keras.layer import Layer
from everflow.keras.window_arithmetic import (
    conv_output_length,
    convert_data_format,
    normalize_data_format,
    normalize_padding,
    normalize_tuple,
)
from everflow.ops.nn.atrous_convolutions import Convolution


@internal("keras.layers.convolutional.Conv")
class Conv(Layer):
    """A convolution in `rank` dimensions with a bias and an activation."""

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
        super().__init__(trainable=trainable, name=name, activity_regularizer=regularizers.get(activity_regularizer), **kwargs)
        self.rank = rank
        if filters is not None and not isinstance(filters, int):
            filters = int(filters)
        self.filters = filters
        self.kernel_size = normalize_tuple(kernel_size, rank, "kernel_size")
        self.strides = normalize_tuple(strides, rank, "strides")
        self.padding = normalize_padding(padding)
        if self.padding == "causal" and not isinstance(self, (Conv1D, SeparableConvBase)):
            raise ValueError("Causal padding is only supported for `Conv1D`and ``SeparableConv1D`.")
        self.data_format = normalize_data_format(data_format)
        self.dilation_rate = normalize_tuple(dilation_rate, rank, "dilation_rate")
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
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
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                name="bias",
                shape=(size,),
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
                trainable=True,
                dtype=self.dtype,
            )

    def build(self, input_shape: Any) -> None:
        shape = TensorShape(input_shape)
        channels = self._input_channels(shape)
        self.kernel = self.add_weight(
            name="kernel",
            shape=(*self.kernel_size, channels, self.filters),
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            trainable=True,
            dtype=self.dtype,
        )
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
        outputs = self._convolution_op(inputs, self.kernel)
        if self.use_bias:
            if self.data_format == "channels_first":
                if self.rank == 1:
                    outputs = outputs + tf.reshape(self.bias, (1, self.filters, 1))
                else:
                    outputs = tf.nn.bias_add(outputs, self.bias, data_format="NCHW")
            else:
                outputs = tf.nn.bias_add(outputs, self.bias, data_format="NHWC")
        return outputs if self.activation is None else self.activation(outputs)

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

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "filters": self.filters,
            "kernel_size": self.kernel_size,
            "strides": self.strides,
            "padding": self.padding,
            "data_format": self.data_format,
            "dilation_rate": self.dilation_rate,
            "activation": activations.serialize(self.activation),
            "use_bias": self.use_bias,
            "kernel_initializer": initializers.serialize(self.kernel_initializer),
            "bias_initializer": initializers.serialize(self.bias_initializer),
            "kernel_regularizer": regularizers.serialize(self.kernel_regularizer),
            "bias_regularizer": regularizers.serialize(self.bias_regularizer),
            "activity_regularizer": regularizers.serialize(self.activity_regularizer),
            "kernel_constraint": constraints.serialize(self.kernel_constraint),
            "bias_constraint": constraints.serialize(self.bias_constraint),
        }


class SeparableConvBase(Conv):
    """Marks convolutions that may be causal in one dimension; see `separable`."""


@public("keras.layers.Conv1D", "keras.layers.Convolution1D")
class Conv1D(Conv):
    """A convolution over sequences."""

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
        super().__init__(
            rank=1,
            filters=filters,
            kernel_size=kernel_size,
            strides=strides,
            padding=padding,
            data_format=data_format,
            dilation_rate=dilation_rate,
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint,
            **kwargs,
        )


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
        super().__init__(
            rank=2,
            filters=filters,
            kernel_size=kernel_size,
            strides=strides,
            padding=padding,
            data_format=data_format,
            dilation_rate=dilation_rate,
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint,
            **kwargs,
        )


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
        super().__init__(
            rank=3,
            filters=filters,
            kernel_size=kernel_size,
            strides=strides,
            padding=padding,
            data_format=data_format,
            dilation_rate=dilation_rate,
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint,
            **kwargs,
        )
