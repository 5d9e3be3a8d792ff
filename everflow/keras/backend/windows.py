"""Convolutions and pooling, with Keras's names for paddings and orders of axes."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.keras.backend.shaping import known_data_format, temporal_padding
from everflow.keras.backend.values import int_shape


def _padding(padding: str) -> str:
    if padding not in ("same", "valid"):
        raise ValueError(f"Invalid padding: {padding}")
    return padding.upper()


def _last(x: Any, data_format: str | None, rank: int) -> tuple[Any, bool]:
    """(the tensor with its channels last, whether they were first)."""
    first = known_data_format(data_format) == "channels_first"
    return (tf.transpose(x, [0, *range(2, rank + 2), 1]) if first else x), first


def _back(x: Any, first: bool, rank: int) -> Any:
    return tf.transpose(x, [0, rank + 1, *range(1, rank + 1)]) if first else x


@public("keras.backend.conv1d")
def conv1d(x: Any, kernel: Any, strides: Any = 1, padding: str = "valid", data_format: str | None = None, dilation_rate: Any = 1) -> Any:
    """The convolution of sequences."""
    length = kernel.shape.as_list()[0]
    if padding == "causal":
        x = temporal_padding(x, (dilation_rate * (length - 1), 0))
        padding = "valid"
    x, first = _last(x, data_format, 1)
    found = tf.nn.convolution(x, kernel, _padding(padding), strides=_list(strides, 1), dilation_rate=_list(dilation_rate, 1))
    return _back(found, first, 1)


@public("keras.backend.conv2d")
def conv2d(
    x: Any, kernel: Any, strides: Any = (1, 1), padding: str = "valid", data_format: str | None = None, dilation_rate: Any = (1, 1)
) -> Any:
    """The convolution of images."""
    x, first = _last(x, data_format, 2)
    return _back(tf.nn.convolution(x, kernel, _padding(padding), strides=strides, dilation_rate=dilation_rate), first, 2)


@public("keras.backend.conv3d")
def conv3d(
    x: Any, kernel: Any, strides: Any = (1, 1, 1), padding: str = "valid", data_format: str | None = None, dilation_rate: Any = (1, 1, 1)
) -> Any:
    """The convolution of volumes."""
    x, first = _last(x, data_format, 3)
    return _back(tf.nn.convolution(x, kernel, _padding(padding), strides=strides, dilation_rate=dilation_rate), first, 3)


def _list(value: Any, number: int) -> list[int]:
    return list(value) if isinstance(value, (list, tuple)) else [value] * number


def _transposed_shape(x: Any, output_shape: Any, first: bool) -> Any:
    if not isinstance(output_shape, (list, tuple)):
        return output_shape
    shape = list(output_shape)
    if first:
        shape = [shape[0], *shape[2:], shape[1]]
    if shape[0] is None:
        shape[0] = tf.shape(x)[0]
    return tf.stack(shape)


@public("keras.backend.conv2d_transpose")
def conv2d_transpose(
    x: Any,
    kernel: Any,
    output_shape: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Any:
    """The gradient of a convolution, as a function of its own."""
    x, first = _last(x, data_format, 2)
    shape = _transposed_shape(x, output_shape, first)
    if tuple(dilation_rate) == (1, 1):
        found = tf.nn.conv2d_transpose(x, kernel, shape, strides=(1, *strides, 1), padding=_padding(padding))
    else:
        if dilation_rate[0] != dilation_rate[1]:
            raise AssertionError("Dilation has to be the same along both axes.")
        found = tf.nn.atrous_conv2d_transpose(x, kernel, shape, rate=dilation_rate[0], padding=_padding(padding))
    return _back(found, first, 2)


@internal("keras.backend.conv3d_transpose")
def conv3d_transpose(
    x: Any, kernel: Any, output_shape: Any, strides: Any = (1, 1, 1), padding: str = "valid", data_format: str | None = None
) -> Any:
    """The gradient of a convolution of volumes, as a function of its own."""
    x, first = _last(x, data_format, 3)
    shape = _transposed_shape(x, output_shape, first)
    return _back(tf.nn.conv3d_transpose(x, kernel, shape, strides=(1, *strides, 1), padding=_padding(padding)), first, 3)


@public("keras.backend.separable_conv2d")
def separable_conv2d(
    x: Any,
    depthwise_kernel: Any,
    pointwise_kernel: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Any:
    """A convolution of each channel, then one across channels."""
    if len(strides) != 2:
        raise ValueError("`strides` must be a tuple of 2 integers.")
    x, first = _last(x, data_format, 2)
    found = tf.nn.separable_conv2d(
        x, depthwise_kernel, pointwise_kernel, strides=(1, *strides, 1), padding=_padding(padding), rate=dilation_rate
    )
    return _back(found, first, 2)


@internal("keras.backend.separable_conv1d")
def separable_conv1d(
    x: Any,
    depthwise_kernel: Any,
    pointwise_kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Any:
    """The same for sequences."""
    x, first = _last(x, data_format, 1)
    step, rate = _list(strides, 1)[0], _list(dilation_rate, 1)[0]
    found = tf.nn.separable_conv2d(
        tf.expand_dims(x, 1),
        tf.expand_dims(depthwise_kernel, 0),
        tf.expand_dims(pointwise_kernel, 0),
        strides=(1, step, step, 1),
        padding=_padding(padding),
        rate=(1, rate),
    )
    return _back(tf.squeeze(found, [1]), first, 1)


@internal("keras.backend.depthwise_conv2d")
def depthwise_conv2d(
    x: Any,
    depthwise_kernel: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Any:
    """A convolution of each channel on its own."""
    x, first = _last(x, data_format, 2)
    found = tf.nn.depthwise_conv2d(x, depthwise_kernel, strides=(1, *strides, 1), padding=_padding(padding), rate=dilation_rate)
    return _back(found, first, 2)


def _pooled(x: Any, size: Any, strides: Any, padding: str, data_format: str | None, mode: str, rank: int) -> Any:
    if len(size) != rank:
        raise ValueError(f"`pool_size` must be a tuple of {rank} integers.")
    if len(strides) != rank:
        raise ValueError(f"`strides` must be a tuple of {rank} integers.")
    if mode not in ("max", "avg"):
        raise ValueError(f"Invalid pooling mode: {mode}")
    x, first = _last(x, data_format, rank)
    pools: dict[Any, Any] = {
        ("max", 2): tf.nn.max_pool,
        ("avg", 2): tf.nn.avg_pool,
        ("max", 3): tf.nn.max_pool3d,
        ("avg", 3): tf.nn.avg_pool3d,
    }
    pool = pools[mode, rank]
    return _back(pool(x, (1, *size, 1), (1, *strides, 1), padding=_padding(padding)), first, rank)


@public("keras.backend.pool2d")
def pool2d(
    x: Any, pool_size: Any, strides: Any = (1, 1), padding: str = "valid", data_format: str | None = None, pool_mode: str = "max"
) -> Any:
    """The largest or the mean of each window of images."""
    return _pooled(x, pool_size, strides, padding, data_format, pool_mode, 2)


@public("keras.backend.pool3d")
def pool3d(
    x: Any, pool_size: Any, strides: Any = (1, 1, 1), padding: str = "valid", data_format: str | None = None, pool_mode: str = "max"
) -> Any:
    """The largest or the mean of each window of volumes."""
    return _pooled(x, pool_size, strides, padding, data_format, pool_mode, 3)


@internal("keras.backend.local_conv")
def local_conv(inputs: Any, kernel: Any, kernel_size: Any, strides: Any, output_shape: Any, data_format: str | None = None) -> Any:
    """A convolution with a kernel of its own at each place."""
    rank = len(output_shape)
    x, first = _last(inputs, data_format, rank)
    places = kernel.shape.as_list()[0]
    windows = []
    for place in range(places):
        rest = place
        index: list[int] = []
        for size in reversed(output_shape):
            index.insert(0, rest % size)
            rest //= size
        cut = [slice(i * s, i * s + k) for i, s, k in zip(index, strides, kernel_size)]
        window = x[(slice(None), *cut, slice(None))]
        if first:
            window = tf.transpose(window, [0, rank + 1, *range(1, rank + 1)])
        windows.append(tf.reshape(window, [1, -1, kernel.shape.as_list()[1]]))
    found = tf.matmul(tf.concat(windows, axis=0), kernel)
    found = tf.reshape(found, [*output_shape, -1, kernel.shape.as_list()[-1]])
    order = [rank, rank + 1, *range(rank)] if first else [rank, *range(rank), rank + 1]
    return tf.transpose(found, order)


@public("keras.backend.local_conv1d")
def local_conv1d(inputs: Any, kernel: Any, kernel_size: Any, strides: Any, data_format: str | None = None) -> Any:
    """A convolution of sequences with a kernel of its own at each place."""
    return local_conv(inputs, kernel, kernel_size, strides, (kernel.shape.as_list()[0],), data_format)


@public("keras.backend.local_conv2d")
def local_conv2d(inputs: Any, kernel: Any, kernel_size: Any, strides: Any, output_shape: Any, data_format: str | None = None) -> Any:
    """A convolution of images with a kernel of its own at each place."""
    return local_conv(inputs, kernel, kernel_size, strides, output_shape, data_format)


@public("keras.backend.bias_add")
def bias_add(x: Any, bias: Any, data_format: str | None = None) -> Any:
    """Adds a bias to channels; one of as many dimensions as a sample is added as it is."""
    first = known_data_format(data_format) == "channels_first"
    sizes, rank = int_shape(bias), x.shape.ndims
    if len(sizes) not in (1, rank - 1):
        raise ValueError(f"Unexpected bias dimensions {len(sizes)}, expect to be 1 or {rank} dimensions")
    if len(sizes) == 1:
        return x + tf.reshape(bias, [1, sizes[0], *[1] * (rank - 2)]) if first and rank > 2 else tf.nn.bias_add(x, bias)
    return x + tf.reshape(bias, [1, sizes[-1], *sizes[:-1]] if first else [1, *sizes])
