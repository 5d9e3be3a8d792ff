"""Tensors of other shapes."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.sparse_tensor import SparseTensor
from everflow.keras.config import image_data_format


def known_data_format(data_format: str | None) -> str:
    """The order of axes that was asked for, or the one that Keras is set to."""
    found = image_data_format() if data_format is None else data_format
    if found not in ("channels_first", "channels_last"):
        raise ValueError(f"Unknown data_format: {found}")
    return found


@public("keras.backend.transpose")
def transpose(x: Any) -> Any:
    """The axes in reverse order."""
    return tf.transpose(x)


@public("keras.backend.gather")
def gather(reference: Any, indices: Any) -> Any:
    """Rows by their numbers."""
    return tf.gather(reference, indices)


@public("keras.backend.concatenate")
def concatenate(tensors: Any, axis: int = -1) -> Any:
    """Tensors one after the other along an axis."""
    if axis < 0:
        rank = tensors[0].shape.ndims
        axis = axis % rank if rank else 0
    if all(isinstance(x, SparseTensor) for x in tensors):
        return tf.sparse.concat(axis, tensors)
    return tf.concat([to_dense(x) for x in tensors], axis)


@public("keras.backend.to_dense")
def to_dense(tensor: Any) -> Any:
    """A sparse tensor with its zeros."""
    return tf.sparse.to_dense(tensor) if isinstance(tensor, SparseTensor) else tensor


@public("keras.backend.reshape")
def reshape(x: Any, shape: Any) -> Any:
    """The elements in another shape."""
    return tf.reshape(x, shape)


@public("keras.backend.permute_dimensions")
def permute_dimensions(x: Any, pattern: Any) -> Any:
    """The axes in another order."""
    return tf.transpose(x, perm=pattern)


@public("keras.backend.repeat_elements")
def repeat_elements(x: Any, rep: int, axis: int) -> Any:
    """Each element several times along an axis."""
    sizes = x.shape.as_list()
    if sizes[axis] is not None:
        return tf.concat([s for s in tf.split(value=x, num_or_size_splits=sizes[axis], axis=axis) for _ in range(rep)], axis)
    beside = axis + 1
    copies = [1] * (len(sizes) + 1)
    copies[beside] = rep
    wide = tf.tile(tf.expand_dims(x, axis=beside), copies)
    shape = tf.shape(x) * tf.constant([rep if i == axis % len(sizes) else 1 for i in range(len(sizes))])
    found = tf.reshape(wide, shape)
    found.set_shape([None if i == axis % len(sizes) else s for i, s in enumerate(sizes)])
    return found


@public("keras.backend.repeat")
def repeat(x: Any, n: int) -> Any:
    """Each row n times along a new axis."""
    if x.shape.ndims != 2:
        raise AssertionError("`repeat` takes tensors of two dimensions.")
    return tf.tile(tf.expand_dims(x, 1), tf.stack([1, n, 1]))


@public("keras.backend.arange")
def arange(start: Any, stop: Any = None, step: Any = 1, dtype: str = "int32") -> Any:
    """Numbers in steps, from a start to before a stop."""
    if stop is None and isinstance(start, int) and start < 0:
        start = 0
    found = tf.range(start, limit=stop, delta=step, name="arange")
    return found if dtype == "int32" else tf.cast(found, dtype)


@public("keras.backend.tile")
def tile(x: Any, n: Any) -> Any:
    """Copies beside each other."""
    return tf.tile(x, [n] if isinstance(n, int) else n)


@public("keras.backend.flatten")
def flatten(x: Any) -> Any:
    """All elements in one dimension."""
    return tf.reshape(x, [-1])


@public("keras.backend.batch_flatten")
def batch_flatten(x: Any) -> Any:
    """All elements of each sample in one dimension."""
    return tf.reshape(x, tf.stack([-1, tf.reduce_prod(tf.shape(x)[1:])]))


@public("keras.backend.expand_dims")
def expand_dims(x: Any, axis: int = -1) -> Any:
    """A further axis of one."""
    return tf.expand_dims(x, axis)


@public("keras.backend.squeeze")
def squeeze(x: Any, axis: int) -> Any:
    """Without an axis of one."""
    return tf.squeeze(x, [axis])


@public("keras.backend.stack")
def stack(x: Any, axis: int = 0) -> Any:
    """Tensors along a new axis."""
    return tf.stack(x, axis=axis)


@public("keras.backend.one_hot")
def one_hot(indices: Any, num_classes: int) -> Any:
    """1 at the place of each number, 0 elsewhere."""
    return tf.one_hot(indices, depth=num_classes, axis=-1)


@public("keras.backend.reverse")
def reverse(x: Any, axes: Any) -> Any:
    """Backwards along axes."""
    return tf.reverse(x, [axes] if isinstance(axes, int) else axes)


@public("keras.backend.temporal_padding")
def temporal_padding(x: Any, padding: Any = (1, 1)) -> Any:
    """Zeros before and after sequences."""
    if len(padding) != 2:
        raise AssertionError("`padding` is a pair.")
    return tf.pad(x, [[0, 0], list(padding), [0, 0]])


@public("keras.backend.spatial_2d_padding")
def spatial_2d_padding(x: Any, padding: Any = ((1, 1), (1, 1)), data_format: str | None = None) -> Any:
    """Zeros around images."""
    return _padded(x, padding, data_format, 2)


@public("keras.backend.spatial_3d_padding")
def spatial_3d_padding(x: Any, padding: Any = ((1, 1), (1, 1), (1, 1)), data_format: str | None = None) -> Any:
    """Zeros around volumes."""
    return _padded(x, padding, data_format, 3)


def _padded(x: Any, padding: Any, data_format: str | None, number: int) -> Any:
    if len(padding) != number or any(len(p) != 2 for p in padding):
        raise AssertionError(f"`padding` is {number} pairs.")
    inner = [list(p) for p in padding]
    first = known_data_format(data_format) == "channels_first"
    return tf.pad(x, [[0, 0], [0, 0], *inner] if first else [[0, 0], *inner, [0, 0]])


@public("keras.backend.resize_images")
def resize_images(x: Any, height_factor: Any, width_factor: Any, data_format: str, interpolation: str = "nearest") -> Any:
    """Images that are larger by whole factors."""
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Invalid `data_format` argument: {data_format}")
    first = data_format == "channels_first"
    if interpolation not in ("nearest", "bilinear"):
        raise ValueError('interpolation should be one of "nearest" or "bilinear".')
    sizes = x.shape.as_list()
    rows, columns = (2, 3) if first else (1, 2)
    shape = tf.shape(x)[rows : columns + 1] * tf.constant([height_factor, width_factor], dtype="int32")
    if first:
        x = tf.transpose(x, [0, 2, 3, 1])
    resize = tf.image.resize_nearest_neighbor if interpolation == "nearest" else tf.image.resize_bilinear
    found = resize(x, shape, half_pixel_centers=True)
    if first:
        found = tf.transpose(found, [0, 3, 1, 2])
    wanted: list[Any] = [None] * 4
    wanted[rows] = None if sizes[rows] is None else sizes[rows] * height_factor
    wanted[columns] = None if sizes[columns] is None else sizes[columns] * width_factor
    found.set_shape(wanted)
    return found


@public("keras.backend.resize_volumes")
def resize_volumes(x: Any, depth_factor: Any, height_factor: Any, width_factor: Any, data_format: str) -> Any:
    """Volumes that are larger by whole factors."""
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Invalid data_format: {data_format}")
    start = 2 if data_format == "channels_first" else 1
    for axis, factor in enumerate((depth_factor, height_factor, width_factor)):
        x = repeat_elements(x, factor, axis=start + axis)
    return x
