"""Layers that repeat, add or cut what lies at the borders: up-sampling, zero padding, cropping."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.shapes import TensorShape
from everflow.keras.input_spec import InputSpec
from everflow.keras.layer import Layer
from everflow.keras.window_arithmetic import normalize_data_format, normalize_tuple


def _repeated(x: Any, count: int, axis: int) -> Any:
    """Each element `count` times along an axis."""
    size = x.shape.as_list()[axis]
    if size is not None:
        return tf.concat([part for part in tf.split(x, size, axis=axis) for _ in range(count)], axis=axis)
    sizes = tf.shape(x)
    rank = len(x.shape)
    wide = tf.tile(tf.expand_dims(x, axis + 1), [count if i == axis + 1 else 1 for i in range(rank + 1)])
    return tf.reshape(wide, tf.concat([sizes[:axis], [sizes[axis] * count], sizes[axis + 1 :]], 0))


def _pairs(value: Any, rank: int, name: str, what: str) -> Any:
    """An amount before and after each axis: from one int, one int for each axis, or pairs."""
    if isinstance(value, int):
        return ((value, value),) * rank
    if hasattr(value, "__len__"):
        if len(value) != rank:
            raise ValueError(f"`{name}` should have {_COUNTS[rank]} elements. Found: {value}")
        if isinstance(value[0], int):
            return tuple((int(v), int(v)) for v in value)
        return tuple(normalize_tuple(v, 2, f"{_ORDINALS[i]} entry of {name}") for i, v in enumerate(value))
    raise ValueError(
        f"`{name}` should be either an int, a tuple of {rank} ints ({what}), or a tuple of {rank} tuples of 2 ints. Found: {value}"
    )


_COUNTS = {2: "two", 3: "3"}
_ORDINALS = ("1st", "2nd", "3rd")


class _Spatial(Layer):
    """A layer that changes the sizes of the axes between batch and channels."""

    _rank = 1
    data_format = "channels_last"

    def _first(self) -> int:
        return 2 if self.data_format == "channels_first" else 1

    def _resized(self, input_shape: Any, change: Any) -> Any:
        sizes = TensorShape(input_shape).as_list()
        for i in range(self._rank):
            axis = self._first() + i
            sizes[axis] = None if sizes[axis] is None else change(sizes[axis], i)
        return TensorShape(sizes)


@public("keras.layers.UpSampling1D")
class UpSampling1D(_Spatial):
    """Each time step several times."""

    def __init__(self, size: int = 2, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.size = int(size)
        self.input_spec = InputSpec(ndim=3)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return self._resized(input_shape, lambda size, _: size * self.size)

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        return _repeated(inputs, self.size, axis=1)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "size": self.size}


@public("keras.layers.UpSampling2D")
class UpSampling2D(_Spatial):
    """Images made larger by whole factors."""

    _rank = 2

    def __init__(self, size: Any = (2, 2), data_format: str | None = None, interpolation: str = "nearest", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = normalize_data_format(data_format)
        self.size = normalize_tuple(size, 2, "size")
        if interpolation not in {"nearest", "bilinear"}:
            raise ValueError('`interpolation` argument should be one of `"nearest"` or `"bilinear"`.')
        self.interpolation = interpolation
        self.input_spec = InputSpec(ndim=4)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return self._resized(input_shape, lambda size, i: size * self.size[i])

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        first = self._first()
        space = tf.shape(inputs)[first : first + 2] * tf.constant(list(self.size), dtype="int32")
        images = tf.transpose(inputs, [0, 2, 3, 1]) if first == 2 else inputs
        resize = tf.image.resize_nearest_neighbor if self.interpolation == "nearest" else tf.image.resize_bilinear
        with tf.name_scope("resize"):
            larger = resize(images, space, half_pixel_centers=True)
        larger = tf.transpose(larger, [0, 3, 1, 2]) if first == 2 else larger
        larger.set_shape(self.compute_output_shape(inputs.shape))
        return larger

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "size": self.size, "data_format": self.data_format, "interpolation": self.interpolation}


@public("keras.layers.UpSampling3D")
class UpSampling3D(_Spatial):
    """Volumes made larger by whole factors."""

    _rank = 3

    def __init__(self, size: Any = (2, 2, 2), data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = normalize_data_format(data_format)
        self.size = normalize_tuple(size, 3, "size")
        self.input_spec = InputSpec(ndim=5)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return self._resized(input_shape, lambda size, i: size * self.size[i])

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        for i, count in enumerate(self.size):
            inputs = _repeated(inputs, count, axis=self._first() + i)
        return inputs

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "size": self.size, "data_format": self.data_format}


@public("keras.layers.ZeroPadding1D")
class ZeroPadding1D(_Spatial):
    """Zeros before and after sequences."""

    def __init__(self, padding: Any = 1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.padding = normalize_tuple(padding, 2, "padding")
        self.input_spec = InputSpec(ndim=3)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return self._resized(input_shape, lambda size, _: size + sum(self.padding))

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        return tf.pad(inputs, [[0, 0], list(self.padding), [0, 0]])

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "padding": self.padding}


class _ZeroPadding(_Spatial):
    """Zeros around what lies between batch and channels."""

    _what = ""

    def __init__(self, padding: Any, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = normalize_data_format(data_format)
        self.padding = _pairs(padding, self._rank, "padding", self._what)
        self.input_spec = InputSpec(ndim=self._rank + 2)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return self._resized(input_shape, lambda size, i: size + sum(self.padding[i]))

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        around = [list(p) for p in self.padding]
        none = [[0, 0]]
        return tf.pad(inputs, none * 2 + around if self._first() == 2 else none + around + none)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "padding": self.padding, "data_format": self.data_format}


@public("keras.layers.ZeroPadding2D")
class ZeroPadding2D(_ZeroPadding):
    """Zeros around images."""

    _rank, _what = 2, "symmetric_height_pad, symmetric_width_pad"

    def __init__(self, padding: Any = (1, 1), data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(padding, data_format, **kwargs)


@public("keras.layers.ZeroPadding3D")
class ZeroPadding3D(_ZeroPadding):
    """Zeros around volumes."""

    _rank, _what = 3, "symmetric_dim1_pad, symmetric_dim2_pad, symmetric_dim3_pad"

    def __init__(self, padding: Any = (1, 1, 1), data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(padding, data_format, **kwargs)


@public("keras.layers.Cropping1D")
class Cropping1D(_Spatial):
    """Sequences without some first and last steps."""

    def __init__(self, cropping: Any = (1, 1), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.cropping = normalize_tuple(cropping, 2, "cropping")
        self.input_spec = InputSpec(ndim=3)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return self._resized(input_shape, lambda size, _: size - sum(self.cropping))

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        return inputs[:, _kept(self.cropping), :]

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "cropping": self.cropping}


def _kept(cropping: Any) -> slice:
    before, after = cropping
    return slice(before, -after if after else None)


class _Cropping(_Spatial):
    """What lies between batch and channels, without its borders."""

    _what = ""

    def __init__(self, cropping: Any, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = normalize_data_format(data_format)
        self.cropping = _pairs(cropping, self._rank, "cropping", self._what)
        self.input_spec = InputSpec(ndim=self._rank + 2)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return self._resized(input_shape, lambda size, i: size - sum(self.cropping[i]))

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        kept = [_kept(c) for c in self.cropping]
        every = slice(None)
        return inputs[(every, every, *kept) if self._first() == 2 else (every, *kept, every)]

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "cropping": self.cropping, "data_format": self.data_format}


@public("keras.layers.Cropping2D")
class Cropping2D(_Cropping):
    """Images without their borders."""

    _rank, _what = 2, "symmetric_height_crop, symmetric_width_crop"

    def __init__(self, cropping: Any = ((0, 0), (0, 0)), data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(cropping, data_format, **kwargs)


@public("keras.layers.Cropping3D")
class Cropping3D(_Cropping):
    """Volumes without their borders."""

    _rank, _what = 3, "symmetric_dim1_crop, symmetric_dim2_crop, symmetric_dim3_crop"

    def __init__(self, cropping: Any = ((1, 1), (1, 1), (1, 1)), data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(cropping, data_format, **kwargs)
