"""The array functions with their arguments in TensorFlow 2's order, as the internal modules of 1.15 hold them too."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.ops.core.registry import apply

internal("ops.array_ops.NEW_AXIS")(-1)
internal("ops.array_ops.SHRINK_AXIS")(-2)


@internal("ops.array_ops.shape_v2")
def shape_v2(input: Any, out_type: dtypes.DTypeLike = dtypes.int32, name: str | None = None) -> Any:
    """See `tf.shape`."""
    return tf.shape(input, name, out_type)


@internal("ops.array_ops.size_v2")
def size_v2(input: Any, out_type: dtypes.DTypeLike = dtypes.int32, name: str | None = None) -> Any:
    """See `tf.size`."""
    return tf.size(input, name, out_type)


@internal("ops.array_ops.expand_dims_v2")
def expand_dims_v2(input: Any, axis: Any, name: str | None = None) -> Any:
    """See `tf.expand_dims`."""
    return tf.expand_dims(input, axis, name)


@internal("ops.array_ops.squeeze_v2")
def squeeze_v2(input: Any, axis: Any = None, name: str | None = None) -> Any:
    """See `tf.squeeze`."""
    return tf.squeeze(input, axis, name)


@internal("ops.array_ops.zeros_like_v2")
def zeros_like_v2(input: Any, dtype: dtypes.DTypeLike | None = None, name: str | None = None) -> Any:
    """See `tf.zeros_like`."""
    return tf.zeros_like(input, dtype, name)


@internal("ops.array_ops.ones_like_v2")
def ones_like_v2(input: Any, dtype: dtypes.DTypeLike | None = None, name: str | None = None) -> Any:
    """See `tf.ones_like`."""
    return tf.ones_like(input, dtype, name)


@internal("ops.array_ops.transpose_v2")
def transpose_v2(a: Any, perm: Any = None, conjugate: bool = False, name: str = "transpose") -> Any:
    """See `tf.transpose`."""
    return tf.transpose(a, perm, name, conjugate)


@internal("ops.array_ops.pad_v2")
def pad_v2(tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0, name: str | None = None) -> Any:
    """See `tf.pad`."""
    return tf.pad(tensor, paddings, mode, name, constant_values)


@internal("ops.array_ops.boolean_mask_v2")
def boolean_mask_v2(tensor: Any, mask: Any, axis: Any = None, name: str = "boolean_mask") -> Any:
    """See `tf.boolean_mask`."""
    return tf.boolean_mask(tensor, mask, name, axis)


@internal("ops.array_ops.gather_v2")
def gather_v2(
    params: Any, indices: Any, validate_indices: Any = None, axis: Any = None, batch_dims: int = 0, name: str | None = None
) -> Any:
    """See `tf.gather`."""
    return tf.gather(params, indices, validate_indices, name, axis, batch_dims)


@internal("ops.array_ops.gather_nd_v2")
def gather_nd_v2(params: Any, indices: Any, batch_dims: int = 0, name: str | None = None) -> Any:
    """See `tf.gather_nd`."""
    return tf.gather_nd(params, indices, name, batch_dims)


@internal("ops.array_ops.reverse_sequence_v2")
def reverse_sequence_v2(input: Any, seq_lengths: Any, seq_axis: Any = None, batch_axis: Any = None, name: str | None = None) -> Any:
    """See `tf.reverse_sequence`."""
    return tf.reverse_sequence(input, seq_lengths, seq_axis, batch_axis, name)


@internal("ops.array_ops.space_to_batch_v2")
def space_to_batch_v2(input: Any, block_shape: Any, paddings: Any, name: str | None = None) -> Any:
    """See `tf.space_to_batch_nd`."""
    return tf.space_to_batch_nd(input, block_shape, paddings, name)


@internal("ops.array_ops.batch_to_space_v2")
def batch_to_space_v2(input: Any, block_shape: Any, crops: Any, name: str | None = None) -> Any:
    """See `tf.batch_to_space_nd`; a single block size is meant for height and width."""
    if isinstance(block_shape, int):
        block_shape = [block_shape, block_shape]
    return tf.batch_to_space_nd(input, block_shape, crops, name)


@internal("ops.array_ops.space_to_depth_v2")
def space_to_depth_v2(input: Any, block_size: int, data_format: str = "NHWC", name: str | None = None) -> Any:
    """See `tf.space_to_depth`."""
    return tf.space_to_depth(input, block_size, name, data_format)


@internal("ops.array_ops.depth_to_space_v2")
def depth_to_space_v2(input: Any, block_size: int, data_format: str = "NHWC", name: str | None = None) -> Any:
    """See `tf.depth_to_space`."""
    return tf.depth_to_space(input, block_size, name, data_format)


@internal("ops.array_ops.convert_to_int_tensor")
def convert_to_int_tensor(tensor: Any, name: str, dtype: dtypes.DTypeLike = dtypes.int32) -> Any:
    """An integer tensor as one of this dtype; a TypeError for any other."""
    found = convert_to_tensor(tensor, name=name, preferred_dtype=dtype)
    if not found.dtype.is_integer:
        raise TypeError(f"{name} must be an integer tensor; dtype={found.dtype!r}")
    return apply("Cast", found, DstT=dtype)
