"""tf.layers: convolutions of one, two and three dimensions, transposed and separable."""

from __future__ import annotations

from typing import Any

from everflow.api import internal, public
from everflow.arguments import arguments
from everflow.keras.layers import convolutional as keras_conv
from everflow.keras.layers import separable as keras_separable
from everflow.keras.layers import transposed as keras_transposed
from everflow.layers import base
from everflow.layers.functional import called_once
from everflow.ops.variables.initializers import Zeros


@public("layers.Conv1D")
@internal("layers.convolutional.Convolution1D")
class Conv1D(keras_conv.Conv1D, base.Layer):
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
        kernel_initializer: Any = None,
        bias_initializer: Any = Zeros(),
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**arguments(locals()))


conv1d = public("layers.conv1d")(internal("layers.convolutional.convolution1d")(called_once(Conv1D, "conv1d")))


@public("layers.Conv2D")
@internal("layers.convolutional.Convolution2D")
class Conv2D(keras_conv.Conv2D, base.Layer):
    """A convolution over images."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: Any = "valid",
        data_format: str | None = "channels_last",
        dilation_rate: Any = (1, 1),
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = Zeros(),
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**arguments(locals()))


conv2d = public("layers.conv2d")(internal("layers.convolutional.convolution2d")(called_once(Conv2D, "conv2d")))


@public("layers.Conv3D")
@internal("layers.convolutional.Convolution3D")
class Conv3D(keras_conv.Conv3D, base.Layer):
    """A convolution over volumes."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1, 1),
        padding: Any = "valid",
        data_format: str | None = "channels_last",
        dilation_rate: Any = (1, 1, 1),
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = Zeros(),
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**arguments(locals()))


conv3d = public("layers.conv3d")(internal("layers.convolutional.convolution3d")(called_once(Conv3D, "conv3d")))


@public("layers.SeparableConv1D")
class SeparableConv1D(keras_separable.SeparableConv1D, base.Layer):
    """A convolution over sequences, of each channel and then across them."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: Any = "valid",
        data_format: str | None = "channels_last",
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = None,
        pointwise_initializer: Any = None,
        bias_initializer: Any = Zeros(),
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
        super().__init__(**arguments(locals()))


separable_conv1d = public("layers.separable_conv1d")(called_once(SeparableConv1D, "separable_conv1d"))


@public("layers.SeparableConv2D")
@internal("layers.convolutional.SeparableConvolution2D")
class SeparableConv2D(keras_separable.SeparableConv2D, base.Layer):
    """A convolution over images, of each channel and then across them."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: Any = "valid",
        data_format: str | None = "channels_last",
        dilation_rate: Any = (1, 1),
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = None,
        pointwise_initializer: Any = None,
        bias_initializer: Any = Zeros(),
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
        super().__init__(**arguments(locals()))


separable_conv2d = public("layers.separable_conv2d")(
    internal("layers.convolutional.separable_convolution2d")(called_once(SeparableConv2D, "separable_conv2d"))
)


@public("layers.Conv2DTranspose")
@internal("layers.convolutional.Convolution2DTranspose", "layers.convolutional.Deconv2D", "layers.convolutional.Deconvolution2D")
class Conv2DTranspose(keras_transposed.Conv2DTranspose, base.Layer):  # type: ignore[misc]
    """The transpose of a convolution over images."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: Any = "valid",
        data_format: str | None = "channels_last",
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = Zeros(),
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**arguments(locals()))


conv2d_transpose = public("layers.conv2d_transpose")(
    internal("layers.convolutional.convolution2d_transpose", "layers.convolutional.deconv2d", "layers.convolutional.deconvolution2d")(
        called_once(Conv2DTranspose, "conv2d_transpose")
    )
)


@public("layers.Conv3DTranspose")
@internal("layers.convolutional.Convolution3DTranspose", "layers.convolutional.Deconv3D", "layers.convolutional.Deconvolution3D")
class Conv3DTranspose(keras_transposed.Conv3DTranspose, base.Layer):  # type: ignore[misc]
    """The transpose of a convolution over volumes."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1, 1),
        padding: Any = "valid",
        data_format: str | None = "channels_last",
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = Zeros(),
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**arguments(locals()))


conv3d_transpose = public("layers.conv3d_transpose")(
    internal("layers.convolutional.convolution3d_transpose", "layers.convolutional.deconv3d", "layers.convolutional.deconvolution3d")(
        called_once(Conv3DTranspose, "conv3d_transpose")
    )
)
