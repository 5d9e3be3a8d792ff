"""tf.layers: pooling over sequences, images and volumes."""
from __future__ import annotations

from typing import Any

from everflow.api import internal, public
from everflow.keras.layers import pooling as keras_pooling
from everflow.layers import base


@public("layers.AveragePooling1D")
class AveragePooling1D(keras_pooling.AveragePooling1D, base.Layer):
    """The mean of each window of sequences."""

    def __init__(self, pool_size: Any, strides: Any, padding: Any = "valid", data_format: Any = "channels_last", name: str | None = None,
                 **kwargs: Any) -> None:
        if strides is None:
            raise ValueError("Argument `strides` must not be None.")
        super().__init__(pool_size=pool_size, strides=strides, padding=padding, data_format=data_format, name=name, **kwargs)


@public("layers.average_pooling1d")
def average_pooling1d(inputs: Any, pool_size: Any, strides: Any, padding: Any = "valid", data_format: Any = "channels_last",
                      name: str | None = None) -> Any:
    """The mean of each window of sequences."""
    layer = AveragePooling1D(pool_size=pool_size, strides=strides, padding=padding, data_format=data_format, name=name)
    return layer.apply(inputs)


@public("layers.AveragePooling2D")
@internal("layers.pooling.AvgPool2D")
class AveragePooling2D(keras_pooling.AveragePooling2D, base.Layer):
    """The mean of each window of images."""

    def __init__(self, pool_size: Any, strides: Any, padding: Any = "valid", data_format: Any = "channels_last", name: str | None = None,
                 **kwargs: Any) -> None:
        if strides is None:
            raise ValueError("Argument `strides` must not be None.")
        super().__init__(pool_size=pool_size, strides=strides, padding=padding, data_format=data_format, name=name, **kwargs)


@public("layers.average_pooling2d")
@internal("layers.pooling.avg_pool2d")
def average_pooling2d(inputs: Any, pool_size: Any, strides: Any, padding: Any = "valid", data_format: Any = "channels_last",
                      name: str | None = None) -> Any:
    """The mean of each window of images."""
    layer = AveragePooling2D(pool_size=pool_size, strides=strides, padding=padding, data_format=data_format, name=name)
    return layer.apply(inputs)


@public("layers.AveragePooling3D")
class AveragePooling3D(keras_pooling.AveragePooling3D, base.Layer):
    """The mean of each window of volumes."""

    def __init__(self, pool_size: Any, strides: Any, padding: Any = "valid", data_format: Any = "channels_last", name: str | None = None,
                 **kwargs: Any) -> None:
        if strides is None:
            raise ValueError("Argument `strides` must not be None.")
        super().__init__(pool_size=pool_size, strides=strides, padding=padding, data_format=data_format, name=name, **kwargs)


@public("layers.average_pooling3d")
def average_pooling3d(inputs: Any, pool_size: Any, strides: Any, padding: Any = "valid", data_format: Any = "channels_last",
                      name: str | None = None) -> Any:
    """The mean of each window of volumes."""
    layer = AveragePooling3D(pool_size=pool_size, strides=strides, padding=padding, data_format=data_format, name=name)
    return layer.apply(inputs)


@public("layers.MaxPooling1D")
class MaxPooling1D(keras_pooling.MaxPooling1D, base.Layer):
    """The largest value of each window of sequences."""

    def __init__(self, pool_size: Any, strides: Any, padding: Any = "valid", data_format: Any = "channels_last", name: str | None = None,
                 **kwargs: Any) -> None:
        if strides is None:
            raise ValueError("Argument `strides` must not be None.")
        super().__init__(pool_size=pool_size, strides=strides, padding=padding, data_format=data_format, name=name, **kwargs)


@public("layers.max_pooling1d")
def max_pooling1d(inputs: Any, pool_size: Any, strides: Any, padding: Any = "valid", data_format: Any = "channels_last",
                  name: str | None = None) -> Any:
    """The largest value of each window of sequences."""
    layer = MaxPooling1D(pool_size=pool_size, strides=strides, padding=padding, data_format=data_format, name=name)
    return layer.apply(inputs)


@public("layers.MaxPooling2D")
@internal("layers.pooling.MaxPool2D")
class MaxPooling2D(keras_pooling.MaxPooling2D, base.Layer):
    """The largest value of each window of images."""

    def __init__(self, pool_size: Any, strides: Any, padding: Any = "valid", data_format: Any = "channels_last", name: str | None = None,
                 **kwargs: Any) -> None:
        if strides is None:
            raise ValueError("Argument `strides` must not be None.")
        super().__init__(pool_size=pool_size, strides=strides, padding=padding, data_format=data_format, name=name, **kwargs)


@public("layers.max_pooling2d")
@internal("layers.pooling.max_pool2d")
def max_pooling2d(inputs: Any, pool_size: Any, strides: Any, padding: Any = "valid", data_format: Any = "channels_last",
                  name: str | None = None) -> Any:
    """The largest value of each window of images."""
    layer = MaxPooling2D(pool_size=pool_size, strides=strides, padding=padding, data_format=data_format, name=name)
    return layer.apply(inputs)


@public("layers.MaxPooling3D")
class MaxPooling3D(keras_pooling.MaxPooling3D, base.Layer):
    """The largest value of each window of volumes."""

    def __init__(self, pool_size: Any, strides: Any, padding: Any = "valid", data_format: Any = "channels_last", name: str | None = None,
                 **kwargs: Any) -> None:
        if strides is None:
            raise ValueError("Argument `strides` must not be None.")
        super().__init__(pool_size=pool_size, strides=strides, padding=padding, data_format=data_format, name=name, **kwargs)


@public("layers.max_pooling3d")
def max_pooling3d(inputs: Any, pool_size: Any, strides: Any, padding: Any = "valid", data_format: Any = "channels_last",
                  name: str | None = None) -> Any:
    """The largest value of each window of volumes."""
    layer = MaxPooling3D(pool_size=pool_size, strides=strides, padding=padding, data_format=data_format, name=name)
    return layer.apply(inputs)
