"""Ragged tensors from and to dense tensors, sparse tensors and variants."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal
from everflow.graph import dtypes
from everflow.graph.constants import known
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import apply
from everflow.ragged.tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor, is_ragged


@internal("ops.ragged.ragged_conversion_ops.from_tensor")
def from_tensor(
    tensor: Any,
    lengths: Any = None,
    padding: Any = None,
    ragged_rank: int = 1,
    row_splits_dtype: dtypes.DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Any:
    """The rows of a dense tensor, without what is beyond `lengths` or with `padding` taken off their ends."""
    kind = dtypes.as_dtype(row_splits_dtype)
    if lengths is not None and padding is not None:
        raise ValueError("Specify lengths or padding, but not both")
    if not isinstance(ragged_rank, int) or isinstance(ragged_rank, bool):
        raise TypeError(f"ragged_rank expected int, got {ragged_rank!r}")
    if ragged_rank <= 0:
        raise ValueError(f"ragged_rank must be greater than 0; got {ragged_rank}")
    with name_scope(name, "RaggedFromTensor", [tensor, lengths, padding]):
        tensor = convert_to_tensor(tensor, name="tensor")
        tensor.shape.with_rank_at_least(ragged_rank + 1)
        if ragged_rank > 1 and (lengths is None or not _is_nested(lengths)):
            return _rows_of_rows(tensor, lengths, padding, ragged_rank, kind)
        if lengths is not None and _is_nested(lengths):
            return _with_nested_lengths(tensor, lengths, ragged_rank, kind)
        shape = tf.shape(tensor, out_type=kind)
        nrows, ncols = shape[0], shape[1]
        if padding is not None:
            lengths = _lengths_without(tensor, padding, ncols)
        if lengths is not None:
            lengths = convert_to_tensor(lengths, name="lengths", preferred_dtype=kind)
            if not lengths.dtype.is_integer:
                raise TypeError(f"lengths must be an integer tensor; dtype={lengths.dtype!r}")
            lengths = tf.cast(lengths, kind)
            lengths.shape.assert_has_rank(1)
            lengths = tf.minimum(tf.maximum(lengths, 0), ncols)
            values = tf.boolean_mask(tensor, tf.sequence_mask(lengths, ncols))
            found = RaggedTensor.from_row_lengths(values, lengths, validate=False)
            if tensor.dims is not None and tensor.dims[0] is not None:
                found.row_splits.set_shape([tensor.dims[0] + 1])
            return found
        values = tf.reshape(tensor, tf.concat([[nrows * ncols], shape[2:]], axis=0))
        if tensor.dims is not None:
            rows, columns, *inner = tensor.dims
            values.set_shape([None if rows is None or columns is None else rows * columns, *inner])
        splits = tf.range(nrows + 1) * ncols
        if tensor.dims is not None and tensor.dims[0] is not None:
            splits.set_shape([tensor.dims[0] + 1])
        return RaggedTensor.from_row_splits(values, splits, validate=False)


def _is_nested(lengths: Any) -> bool:
    return isinstance(lengths, (list, tuple)) and len(lengths) > 0 and not isinstance(lengths[0], (int, float))


def _rows_of_rows(tensor: Tensor, lengths: Any, padding: Any, ragged_rank: int, kind: Any) -> Any:
    """The outer dimensions are rows of equal lengths; the innermost ragged one is cut."""
    shape = tf.shape(tensor, out_type=kind)
    dims = tensor.dims
    outer = None if dims is None else dims[:ragged_rank]
    flat = tf.reshape(tensor, tf.concat([[tf.reduce_prod(shape[:ragged_rank])], shape[ragged_rank:]], axis=0))
    if dims is not None and outer is not None:
        size: int | None = 1
        for d in outer:
            size = None if d is None or size is None else size * d
        flat.set_shape([size, *dims[ragged_rank:]])
    if lengths is not None:
        lengths = tf.reshape(lengths, [-1])
    found = from_tensor(flat, lengths, padding, 1, row_splits_dtype=kind)
    for axis in range(ragged_rank - 1, 0, -1):
        count = tf.reduce_prod(shape[:axis])
        splits = tf.range(count + 1) * shape[axis]
        if outer is not None and axis == 1 and outer[0] is not None:
            splits.set_shape([outer[0] + 1])
        found = RaggedTensor.from_row_splits(found, splits, validate=False)
    return found


def _with_nested_lengths(tensor: Tensor, lengths: Any, ragged_rank: int, kind: Any) -> Any:
    """Every dimension is cut by its own lengths."""
    if ragged_rank not in (1, len(lengths)):
        raise ValueError("If lengths is a tuple of row_lengths, then ragged_rank must be len(lengths).")
    tensor.shape.with_rank_at_least(len(lengths) + 1)
    found = from_tensor(tensor, lengths[0], row_splits_dtype=kind)
    if len(lengths) == 1:
        return found
    return found.with_values(from_tensor(found.values, list(lengths[1:]), ragged_rank=len(lengths) - 1, row_splits_dtype=kind))


def _lengths_without(tensor: Tensor, padding: Any, ncols: Tensor) -> Tensor:
    """The length of each row up to the last column that is not padding."""
    padding = convert_to_tensor(padding, tensor.dtype, name="padding")
    padding.shape.assert_is_compatible_with(tensor.shape[2:])
    is_padding = tf.equal(tensor, padding)
    if tensor.shape.rank is None or tensor.shape.rank > 2:
        is_padding = tf.reduce_all(is_padding, axis=tf.range(2, tf.rank(is_padding)))
    columns = tf.range(1, ncols + 1)
    ends = tf.where(is_padding, tf.zeros_like(is_padding, dtype=ncols.dtype), tf.zeros_like(is_padding, dtype=ncols.dtype) + columns)
    lengths = tf.maximum(tf.reduce_max(ends, axis=1), 0)
    lengths.set_shape([None])
    return lengths


@internal("ops.ragged.ragged_conversion_ops.to_tensor")
def to_tensor(rt_input: Any, default_value: Any = None, name: str | None = None) -> Tensor:
    """A dense tensor in which short rows are filled up."""
    with name_scope(name, "RaggedToTensor", [rt_input, default_value]):
        rt_input = convert_to_tensor_or_ragged_tensor(rt_input, name="rt_input")
        if not isinstance(rt_input, RaggedTensor):
            return rt_input
        if default_value is not None:
            default_value = convert_to_tensor(default_value, rt_input.dtype, name="default_value")
            inner = rt_input.flat_values.shape[1:]
            if inner.rank is not None:
                default_value.shape.with_rank_at_most(inner.rank)
            if default_value.shape.rank:
                default_value.shape.assert_is_compatible_with(inner)
        found = ragged_to_dense(rt_input, default_value)
        dims = rt_input.shape.as_dims()
        if dims is not None:
            found.set_shape([dims[0], *(_longest(splits) for splits in rt_input.nested_row_splits), *dims[rt_input.ragged_rank + 1 :]])
        return found


def _longest(splits: Tensor) -> int | None:
    """The length of the longest row, where it is known."""
    value = known(splits)
    return None if value is None else int(np.diff(value).max(initial=0))


@internal("ops.ragged.ragged_conversion_ops.ragged_to_dense")
def ragged_to_dense(rt_input: Any, default_value: Any = None, shape: Any = None) -> Tensor:
    """The same in one op, with a shape that rows are filled up or cut off to; None for as long as the longest row."""
    values = rt_input.flat_values
    if default_value is None:
        default_value = tf.zeros((), values.dtype)
    default_value = convert_to_tensor(default_value, values.dtype, name="default_value")
    if shape is None or isinstance(shape, tf.TensorShape) and shape.rank is None:
        shape = tf.constant(-1, dtypes.int64)
    elif not isinstance(shape, Tensor):
        shape = tf.constant([-1 if n is None else n for n in tf.TensorShape(shape).as_list()], dtypes.int64)
    types, parts = ["ROW_SPLITS"] * rt_input.ragged_rank, list(rt_input.nested_row_splits)
    return apply("RaggedTensorToTensor", shape, values, default_value, parts, row_partition_types=types)


@internal("ops.ragged.ragged_conversion_ops.from_sparse")
def from_sparse(st_input: Any, name: str | None = None, row_splits_dtype: dtypes.DTypeLike = dtypes.int64) -> RaggedTensor:
    """The rows of a sparse matrix whose values stand side by side from the left."""
    kind = dtypes.as_dtype(row_splits_dtype)
    if not isinstance(st_input, (tf.SparseTensor, tf.SparseTensorValue)):
        raise TypeError(f"Expected SparseTensor, got {type(st_input).__name__}")
    with name_scope(name, "RaggedFromSparse", []):
        st_input = tf.SparseTensor.from_value(st_input)
        dims = st_input.dense_shape.dims
        rank = dims[0] if dims and dims[0] is not None else (st_input.indices.dims or (None, None))[1]
        if rank != 2:
            raise ValueError("rank(st_input) must be 2")
        with tf.control_dependencies(_side_by_side(st_input.indices)):
            rows = tf.cast(st_input.indices[:, 0], kind)
            return RaggedTensor.from_value_rowids(st_input.values, rows, tf.cast(st_input.dense_shape[0], kind), validate=False)


def _side_by_side(indices: Tensor) -> list[Any]:
    """Checks that the values of each row start at the left and leave no gaps."""
    message = "SparseTensor is not right-ragged"
    steps = indices[1:] - indices[:-1]
    same_row = tf.equal(steps[:, 0], 0)
    column = tf.where(same_row, indices[:-1, 1] + 1, tf.zeros_like(indices[1:, 1]))
    return [
        c
        for c in (
            tf.debugging.assert_equal(indices[:1, 1], tf.zeros_like(indices[:1, 1]), message=message),
            tf.debugging.assert_equal(indices[1:, 1], column, message=message),
        )
        if c is not None
    ]


@internal("ops.ragged.ragged_conversion_ops.to_sparse")
def to_sparse(rt_input: Any, name: str | None = None) -> Any:
    """The same values as a sparse tensor."""
    if not is_ragged(rt_input):
        raise TypeError(f"Expected RaggedTensor, got {type(rt_input).__name__}")
    with name_scope(name, "RaggedToSparse", []):
        rt_input = convert_to_tensor_or_ragged_tensor(rt_input, name="rt_input")
        return tf.SparseTensor(*apply("RaggedTensorToSparse", list(rt_input.nested_row_splits), rt_input.flat_values))


def to_variant(rt: RaggedTensor, batched_input: bool, name: str | None) -> Tensor:
    """A ragged tensor as one variant, or as a vector of one for each row."""
    with name_scope(name, "RaggedToVariant", [rt]):
        return apply("RaggedTensorToVariant", list(rt.nested_row_splits), rt.flat_values, batched_input=batched_input)


def from_variant(variant: Any, dtype: dtypes.DTypeLike, output_ragged_rank: int, input_ragged_rank: int | None, name: str | None) -> Any:
    """The ragged tensor in one variant, or in an array of them."""
    variant = convert_to_tensor(variant, name="variant", dtype=dtypes.variant)
    if variant.shape.ndims is not None and input_ragged_rank is not None and output_ragged_rank != input_ragged_rank + variant.shape.ndims:
        raise ValueError(
            "output_ragged_rank must be equal to input_ragged_rank + variant.shape.ndims, found variant.shape.ndims: "
            f"{variant.shape.ndims}, input_ragged_rank: {input_ragged_rank}, output_ragged_rank: {output_ragged_rank}"
        )
    inner = -1 if input_ragged_rank is None else input_ragged_rank
    with name_scope(name, "RaggedFromVariant", [variant]):
        splits, values = apply(
            "RaggedTensorFromVariant",
            variant,
            input_ragged_rank=inner,
            output_ragged_rank=output_ragged_rank,
            Tvalues=dtypes.as_dtype(dtype),
            Tsplits=dtypes.int64,
        )
        return RaggedTensor.from_nested_row_splits(values, splits, validate=False)
