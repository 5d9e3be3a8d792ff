"""tf.layers: pooling over sequences, images and volumes."""

from __future__ import annotations

from typing import Any

from everflow.api import internal, public
from everflow.arguments import arguments
from everflow.keras.layers import pooling as keras_pooling
from everflow.layers import base
from everflow.layers.functional import called_once


class _Strided:
    """Windows whose strides are always given."""

    def __init__(
        self,
        pool_size: Any,
        strides: Any,
        padding: Any = "valid",
        data_format: str | None = "channels_last",
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        if strides is None:
            raise ValueError("Argument `strides` must not be None.")
        super().__init__(**arguments(locals()))


@public("layers.AveragePooling1D")
class AveragePooling1D(_Strided, keras_pooling.AveragePooling1D, base.Layer):
    """The mean of each window of sequences."""


average_pooling1d = public("layers.average_pooling1d")(called_once(AveragePooling1D, "average_pooling1d", has_variables=False))


@public("layers.AveragePooling2D")
@internal("layers.pooling.AvgPool2D")
class AveragePooling2D(_Strided, keras_pooling.AveragePooling2D, base.Layer):
    """The mean of each window of images."""


average_pooling2d = public("layers.average_pooling2d")(
    internal("layers.pooling.avg_pool2d")(called_once(AveragePooling2D, "average_pooling2d", has_variables=False))
)


@public("layers.AveragePooling3D")
class AveragePooling3D(_Strided, keras_pooling.AveragePooling3D, base.Layer):
    """The mean of each window of volumes."""


average_pooling3d = public("layers.average_pooling3d")(called_once(AveragePooling3D, "average_pooling3d", has_variables=False))


@public("layers.MaxPooling1D")
class MaxPooling1D(_Strided, keras_pooling.MaxPooling1D, base.Layer):
    """The largest value of each window of sequences."""


max_pooling1d = public("layers.max_pooling1d")(called_once(MaxPooling1D, "max_pooling1d", has_variables=False))


@public("layers.MaxPooling2D")
@internal("layers.pooling.MaxPool2D")
class MaxPooling2D(_Strided, keras_pooling.MaxPooling2D, base.Layer):
    """The largest value of each window of images."""


max_pooling2d = public("layers.max_pooling2d")(
    internal("layers.pooling.max_pool2d")(called_once(MaxPooling2D, "max_pooling2d", has_variables=False))
)


@public("layers.MaxPooling3D")
class MaxPooling3D(_Strided, keras_pooling.MaxPooling3D, base.Layer):
    """The largest value of each window of volumes."""


max_pooling3d = public("layers.max_pooling3d")(called_once(MaxPooling3D, "max_pooling3d", has_variables=False))
