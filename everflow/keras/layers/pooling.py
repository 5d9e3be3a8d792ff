"""Pooling: the largest or the mean value of each window, or of all there is."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.arguments import arguments
from everflow.graph.shapes import TensorShape
from everflow.keras.configured import ConfiguredLayer
from everflow.keras.input_spec import InputSpec
from everflow.keras.window_arithmetic import conv_output_length, convert_data_format, normalize_data_format, windows


class _Pooling(ConfiguredLayer):
    """Windows that slide along `rank` axes."""

    _rank = 1
    _order: tuple[str, ...] = ("pool_size", "padding", "strides", "data_format")

    def __init__(self, given: dict[str, Any]) -> None:
        super().__init__(name=given["name"], **given["kwargs"])
        if given["strides"] is None:
            given = {**given, "strides": given["pool_size"]}
        kept = windows(given, self._rank)
        self._keep({name: kept[name] for name in self._order})
        self.pool_function = given["pool_function"]
        self.input_spec = InputSpec(ndim=self._rank + 2)

    def compute_output_shape(self, input_shape: Any) -> Any:
        sizes = TensorShape(input_shape).as_list()
        first = self.data_format == "channels_first"
        space = sizes[2:] if first else sizes[1:-1]
        found = [conv_output_length(size, self.pool_size[i], self.padding, self.strides[i]) for i, size in enumerate(space)]
        return TensorShape([sizes[0], sizes[1], *found] if first else [sizes[0], *found, sizes[-1]])


@internal("keras.layers.pooling.Pooling1D")
class Pooling1D(_Pooling):
    """Windows over sequences."""

    _order = ("strides", "pool_size", "padding", "data_format")

    def __init__(
        self,
        pool_function: Any,
        pool_size: Any,
        strides: Any,
        padding: Any = "valid",
        data_format: str | None = "channels_last",
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(locals())

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        # A sequence is an image of one column.
        column = 2 if self.data_format == "channels_last" else 3
        wide = tf.expand_dims(inputs, column)
        data_format = convert_data_format(self.data_format, 4)
        ones = (1, *self.pool_size, 1, 1) if self.data_format == "channels_last" else (1, 1, *self.pool_size, 1)
        steps = (1, *self.strides, 1, 1) if self.data_format == "channels_last" else (1, 1, *self.strides, 1)
        outputs = self.pool_function(wide, ones, steps, padding=self.padding.upper(), data_format=data_format)
        return tf.squeeze(outputs, column)


@internal("keras.layers.pooling.Pooling2D")
class Pooling2D(_Pooling):
    """Windows over images."""

    _rank = 2

    def __init__(
        self,
        pool_function: Any,
        pool_size: Any,
        strides: Any,
        padding: Any = "valid",
        data_format: str | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(locals())

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        last = self.data_format == "channels_last"
        window = (1, *self.pool_size, 1) if last else (1, 1, *self.pool_size)
        steps = (1, *self.strides, 1) if last else (1, 1, *self.strides)
        return self.pool_function(
            inputs, ksize=window, strides=steps, padding=self.padding.upper(), data_format=convert_data_format(self.data_format, 4)
        )


@internal("keras.layers.pooling.Pooling3D")
class Pooling3D(_Pooling):
    """Windows over volumes."""

    _rank = 3

    def __init__(
        self,
        pool_function: Any,
        pool_size: Any,
        strides: Any,
        padding: Any = "valid",
        data_format: str | None = "channels_last",
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(locals())

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        first = self.data_format == "channels_first"
        if first:
            # The ops pool volumes with their channels last.
            inputs = tf.transpose(inputs, (0, 2, 3, 4, 1))
        outputs = self.pool_function(inputs, ksize=(1, *self.pool_size, 1), strides=(1, *self.strides, 1), padding=self.padding.upper())
        return tf.transpose(outputs, (0, 4, 1, 2, 3)) if first else outputs


def _max(*args: Any, **kwargs: Any) -> Any:
    return tf.nn.max_pool(*args, **kwargs)


def _mean(*args: Any, **kwargs: Any) -> Any:
    return tf.nn.avg_pool(*args, **kwargs)


def _max_3d(*args: Any, **kwargs: Any) -> Any:
    return tf.nn.max_pool3d(*args, **kwargs)


def _mean_3d(*args: Any, **kwargs: Any) -> Any:
    return tf.nn.avg_pool3d(*args, **kwargs)


@public("keras.layers.MaxPooling1D", "keras.layers.MaxPool1D")
class MaxPooling1D(Pooling1D):
    """The largest value of each window of sequences."""

    def __init__(
        self, pool_size: Any = 2, strides: Any = None, padding: Any = "valid", data_format: str | None = "channels_last", **kwargs: Any
    ) -> None:
        super().__init__(_max, **arguments(locals()))


@public("keras.layers.AveragePooling1D", "keras.layers.AvgPool1D")
class AveragePooling1D(Pooling1D):
    """The mean of each window of sequences."""

    def __init__(
        self, pool_size: Any = 2, strides: Any = None, padding: Any = "valid", data_format: str | None = "channels_last", **kwargs: Any
    ) -> None:
        super().__init__(_mean, **arguments(locals()))


@public("keras.layers.MaxPooling2D", "keras.layers.MaxPool2D")
class MaxPooling2D(Pooling2D):
    """The largest value of each window of images."""

    def __init__(
        self, pool_size: Any = (2, 2), strides: Any = None, padding: Any = "valid", data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(_max, **arguments(locals()))


@public("keras.layers.AveragePooling2D", "keras.layers.AvgPool2D")
class AveragePooling2D(Pooling2D):
    """The mean of each window of images."""

    def __init__(
        self, pool_size: Any = (2, 2), strides: Any = None, padding: Any = "valid", data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(_mean, **arguments(locals()))


@public("keras.layers.MaxPooling3D", "keras.layers.MaxPool3D")
class MaxPooling3D(Pooling3D):
    """The largest value of each window of volumes."""

    def __init__(
        self, pool_size: Any = (2, 2, 2), strides: Any = None, padding: Any = "valid", data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(_max_3d, **arguments(locals()))


@public("keras.layers.AveragePooling3D", "keras.layers.AvgPool3D")
class AveragePooling3D(Pooling3D):
    """The mean of each window of volumes."""

    def __init__(
        self, pool_size: Any = (2, 2, 2), strides: Any = None, padding: Any = "valid", data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(_mean_3d, **arguments(locals()))


class _GlobalPooling(ConfiguredLayer):
    """One value for each channel."""

    _rank = 1

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._keep({"data_format": normalize_data_format(data_format)})
        self.input_spec = InputSpec(ndim=self._rank + 2)

    @property
    def _space(self) -> list[int]:
        first = 2 if self.data_format == "channels_first" else 1
        return list(range(first, first + self._rank))

    def compute_output_shape(self, input_shape: Any) -> Any:
        sizes = TensorShape(input_shape).as_list()
        return TensorShape([sizes[0], sizes[1] if self.data_format == "channels_first" else sizes[-1]])


@internal("keras.layers.pooling.GlobalPooling1D")
class GlobalPooling1D(_GlobalPooling):
    """One value for each channel of sequences."""

    def __init__(self, data_format: str | None = "channels_last", **kwargs: Any) -> None:
        super().__init__(data_format, **kwargs)


@internal("keras.layers.pooling.GlobalPooling2D")
class GlobalPooling2D(_GlobalPooling):
    """One value for each channel of images."""

    _rank = 2


@internal("keras.layers.pooling.GlobalPooling3D")
class GlobalPooling3D(_GlobalPooling):
    """One value for each channel of volumes."""

    _rank = 3


@public("keras.layers.GlobalAveragePooling1D", "keras.layers.GlobalAvgPool1D")
class GlobalAveragePooling1D(GlobalPooling1D):
    """The mean over time; masked steps don't count."""

    def __init__(self, data_format: str | None = "channels_last", **kwargs: Any) -> None:
        super().__init__(data_format=data_format, **kwargs)
        self.supports_masking = True

    def call(self, inputs: Any, mask: Any = None) -> Any:  # type: ignore[override]
        time = self._space[0]
        if mask is None:
            return tf.reduce_mean(inputs, axis=time)
        mask = tf.cast(mask, inputs.dtype)
        batch, steps = inputs.shape.as_list()[0], inputs.shape.as_list()[time]
        shape = [-1 if batch is None else batch, 1 if time == 2 else -1 if steps is None else steps, 1]
        if time == 2:
            shape[2] = -1 if steps is None else steps
        mask = tf.reshape(mask, shape)
        inputs = inputs * mask
        return tf.reduce_sum(inputs, axis=time) / tf.reduce_sum(mask, axis=time)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return None


@public("keras.layers.GlobalMaxPooling1D", "keras.layers.GlobalMaxPool1D")
class GlobalMaxPooling1D(GlobalPooling1D):
    """The largest value over time."""

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        return tf.reduce_max(inputs, axis=self._space[0])


@public("keras.layers.GlobalAveragePooling2D", "keras.layers.GlobalAvgPool2D")
class GlobalAveragePooling2D(GlobalPooling2D):
    """The mean of each channel of images."""

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        return tf.reduce_mean(inputs, axis=self._space)


@public("keras.layers.GlobalMaxPooling2D", "keras.layers.GlobalMaxPool2D")
class GlobalMaxPooling2D(GlobalPooling2D):
    """The largest value of each channel of images."""

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        return tf.reduce_max(inputs, axis=self._space)


@public("keras.layers.GlobalAveragePooling3D", "keras.layers.GlobalAvgPool3D")
class GlobalAveragePooling3D(GlobalPooling3D):
    """The mean of each channel of volumes."""

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        return tf.reduce_mean(inputs, axis=self._space)


@public("keras.layers.GlobalMaxPooling3D", "keras.layers.GlobalMaxPool3D")
class GlobalMaxPooling3D(GlobalPooling3D):
    """The largest value of each channel of volumes."""

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        return tf.reduce_max(inputs, axis=self._space)
