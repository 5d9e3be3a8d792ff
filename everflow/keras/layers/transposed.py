"""Transposed convolutions: from what a convolution gives back to the shape of what it took."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.arguments import arguments
from everflow.graph.shapes import TensorShape
from everflow.keras.layers.convolutional import Conv2D, Conv3D
from everflow.keras.window_arithmetic import convert_data_format, deconv_output_length, normalize_tuple


class _Transposed:
    """What transposed convolutions of all ranks share."""

    rank: int
    kernel_size: Any
    strides: Any
    dilation_rate: Any
    output_padding: Any

    def __init__(self, output_padding: Any, **given: Any) -> None:
        super().__init__(**given)
        if output_padding is not None:
            output_padding = normalize_tuple(output_padding, self.rank, "output_padding")
            if any(padding >= stride for stride, padding in zip(self.strides, output_padding)):
                raise ValueError(f"Stride {self.strides} must be greater than output padding {output_padding}")
        self._keep({"output_padding": output_padding})  # type: ignore[attr-defined]

    def build(self: Any, input_shape: Any) -> None:
        shape = TensorShape(input_shape)
        if len(shape) != self.rank + 2:
            raise ValueError(f"Inputs should have rank {self.rank + 2}. Received input shape: {shape}")
        self.kernel = self._weight("kernel", (*self.kernel_size, self.filters, self._input_channels(shape)))
        self._add_bias(self.filters)
        self.built = True

    def _lengths(self: Any, space: list[Any]) -> list[Any]:
        paddings = self.output_padding or (None,) * self.rank
        return [
            deconv_output_length(
                size,
                self.kernel_size[i],
                padding=self.padding,
                output_padding=paddings[i],
                stride=self.strides[i],
                dilation=self.dilation_rate[i],
            )
            for i, size in enumerate(space)
        ]

    def _output_shape_tensor(self: Any, inputs: Any) -> Any:
        sizes = tf.shape(inputs)
        batch = sizes[0]
        first = 2 if self.data_format == "channels_first" else 1
        space = self._lengths([sizes[first + i] for i in range(self.rank)])
        if self.data_format == "channels_first":
            return tf.stack((batch, self.filters, *space))
        return tf.stack((batch, *space, self.filters))

    def compute_output_shape(self: Any, input_shape: Any) -> Any:
        sizes = TensorShape(input_shape).as_list()
        space = sizes[2:] if self.data_format == "channels_first" else sizes[1:-1]
        return self._shaped(sizes[0], self._lengths(space), self.filters)


@public("keras.layers.Conv2DTranspose", "keras.layers.Convolution2DTranspose")
class Conv2DTranspose(_Transposed, Conv2D):
    """The transpose of a convolution over images."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: Any = "valid",
        output_padding: Any = None,
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
        super().__init__(**arguments(locals()))

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        shape = self._output_shape_tensor(inputs)
        # TensorFlow's graphs hold this slice, and seeds of later ops follow from the number of ops.
        shape[0]
        padding = self.padding.upper()
        if self.dilation_rate == (1, 1):
            data_format = convert_data_format(self.data_format, 4)
            outputs = tf.nn.conv2d_transpose(inputs, self.kernel, shape, self._steps(), padding=padding, data_format=data_format)
        else:
            outputs = _dilated(inputs, self.kernel, shape, self.dilation_rate[0], padding, self.data_format == "channels_first")
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return self._activated(outputs)


def _dilated(inputs: Any, kernel: Any, shape: Any, rate: int, padding: str, channels_first: bool) -> Any:
    if not channels_first:
        return tf.nn.atrous_conv2d_transpose(inputs, kernel, shape, rate, padding)
    found = tf.nn.atrous_conv2d_transpose(
        tf.transpose(inputs, [0, 2, 3, 1]), kernel, tf.stack([shape[0], shape[2], shape[3], shape[1]]), rate, padding
    )
    return tf.transpose(found, [0, 3, 1, 2])


@public("keras.layers.Conv3DTranspose", "keras.layers.Convolution3DTranspose")
class Conv3DTranspose(_Transposed, Conv3D):
    """The transpose of a convolution over volumes."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1, 1),
        padding: Any = "valid",
        output_padding: Any = None,
        data_format: str | None = None,
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
        super().__init__(**arguments(locals()))
        self._leave_out("dilation_rate")

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        outputs = tf.nn.conv3d_transpose(
            inputs,
            self.kernel,
            self._output_shape_tensor(inputs),
            self._steps(),
            data_format=convert_data_format(self.data_format, 5),
            padding=self.padding.upper(),
        )
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return self._activated(outputs)
