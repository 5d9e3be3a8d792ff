"""Rows, elements and rows of rows picked by number."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.graph.scopes import name_scope
from everflow.ops.core.registry import apply
from everflow.ragged.math import ragged_range
from everflow.ragged.tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor, is_ragged, match_row_splits_dtypes, row_count


@internal("ops.ragged.ragged_gather_ops.gather")
def gather(params: Any, indices: Any, validate_indices: Any = None, axis: Any = None, batch_dims: int = 0, name: str | None = None) -> Any:
    """The rows of `params` with the given numbers, in the shape of the numbers."""
    del validate_indices
    with name_scope(name, "RaggedGather", [params, indices]):
        params = convert_to_tensor_or_ragged_tensor(params, name="params")
        indices = convert_to_tensor_or_ragged_tensor(indices, name="indices")
        params, indices = match_row_splits_dtypes(params, indices)
        if batch_dims:
            raise ValueError("batch_dims != 0 is not supported for ragged gather yet.")
        if axis is not None and axis != 0:
            raise ValueError("axis != 0 is not supported for ragged gather yet.")
        if not is_ragged(params) and not is_ragged(indices):
            return tf.gather(params, indices)
        if is_ragged(indices):
            return indices.with_values(gather(params, indices.values))
        if indices.shape.ndims is None:
            raise ValueError("indices.shape.ndims must be known statically")
        rank = params.ragged_rank + indices.shape.ndims - 1
        splits, values = apply("RaggedGather", list(params.nested_row_splits), params.flat_values, indices, OUTPUT_RAGGED_RANK=rank)
        return RaggedTensor.from_nested_row_splits(values, splits, validate=False)


@internal("ops.ragged.ragged_gather_ops.gather_nd")
def gather_nd(params: Any, indices: Any, batch_dims: int = 0, name: str | None = None) -> Any:
    """The parts of `params` at the places in the last dimension of `indices`."""
    if not isinstance(batch_dims, int) or batch_dims != 0:
        raise ValueError("batch_dims != 0 is not supported for ragged gather yet.")
    if not (is_ragged(params) or is_ragged(indices)):
        return tf.gather_nd(params, indices, name=name)
    with name_scope(name, "RaggedGatherNd", [params, indices]):
        params = convert_to_tensor_or_ragged_tensor(params, name="params")
        indices = convert_to_tensor_or_ragged_tensor(indices, name="indices")
        params, indices = match_row_splits_dtypes(params, indices)
        rank = indices.shape.ndims
        if rank is None:
            raise ValueError("indices.rank be statically known.")
        if rank == 0:
            raise ValueError("indices.rank must be at least 1.")
        if is_ragged(indices) and indices.ragged_rank == rank - 1:
            raise ValueError("The innermost dimension of indices may not be ragged")
        size = indices.shape.as_dims()[-1]
        if size is None:
            raise ValueError("indices.shape[-1] must be statically known.")
        if is_ragged(indices):
            return indices.with_flat_values(gather_nd(params, indices.flat_values))
        if rank > 2:
            found = gather_nd(params, tf.reshape(indices, tf.stack([tf.reduce_prod(tf.shape(indices)[:-1]), size])))
            if is_ragged(found):
                return RaggedTensor.from_tensor(indices, ragged_rank=rank - 2).with_flat_values(found)
            return tf.reshape(found, tf.concat([tf.shape(indices)[:-1], tf.shape(found)[1:]], axis=0))
        if size == 1:
            return gather(params, tf.reshape(indices, [-1]))
        if rank == 1:
            return gather_nd(params, tf.expand_dims(indices, 0))[0]
        if size == 0:
            count = tf.shape(indices)[0]
            from everflow.ragged.arrays import expand_dims, tile

            ones = tf.ones([tf.rank(params.flat_values) + params.ragged_rank], tf.int32)
            return tile(expand_dims(params, 0), tf.concat([[count], ones], axis=0))
        remaining: Any = params
        columns = tf.cast(indices, params.row_splits.dtype) if is_ragged(params) else indices
        place = columns[:, 0]
        for axis in range(1, size):
            if not is_ragged(remaining):
                inner = tf.concat([tf.expand_dims(place, 1), columns[:, axis:]], axis=1)
                return tf.gather_nd(remaining, inner)
            place = tf.gather(remaining.row_starts(), place) + columns[:, axis]
            remaining = remaining.values
        return gather(remaining, place)


@internal("ops.ragged.ragged_batch_gather_ops.batch_gather")
def batch_gather(params: Any, indices: Any, name: str | None = None) -> Any:
    """For each row (of rows) of `indices`, the elements of the same row of `params`."""
    if not (is_ragged(params) or is_ragged(indices)):
        return tf.batch_gather(params, indices, name)
    with name_scope(name, "RaggedBatchGather", [params, indices]):
        params = convert_to_tensor_or_ragged_tensor(params, name="params")
        indices = convert_to_tensor_or_ragged_tensor(indices, name="indices")
        params, indices = match_row_splits_dtypes(params, indices)
        rank = indices.shape.ndims
        if rank is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        if rank == 0:
            raise ValueError("indices.rank must be at least 1.")
        if params.shape.ndims is not None and params.shape.ndims < rank or rank > 2 and not (is_ragged(params) and is_ragged(indices)):
            raise ValueError("batch shape from indices does not match params shape")
        if rank > 2:
            # Rows of rows: the outer ones of both must be alike.
            checks = [
                tf.debugging.assert_equal(indices.row_splits, params.row_splits, message="Dimensions of params and indices do not match")
            ]
            with tf.control_dependencies([c for c in checks if c is not None]):
                return indices.with_values(batch_gather(params.values, indices.values))
        if rank > 1:
            if not is_ragged(indices):
                starts = params.row_starts()
                return gather(params.values, tf.cast(indices, starts.dtype) + tf.expand_dims(starts, 1))
            if not is_ragged(params):
                params = RaggedTensor.from_tensor(params, row_splits_dtype=indices.row_splits.dtype)
            params.shape.dims[0].assert_is_compatible_with(indices.shape.dims[0])
            starts = tf.repeat(params.row_starts(), indices.row_lengths(), axis=0)
            checks = [
                tf.debugging.assert_equal(
                    tf.shape(indices.row_splits), tf.shape(params.row_splits), message="Dimensions of params and indices do not match"
                )
            ]
            with tf.control_dependencies([c for c in checks if c is not None]):
                places = tf.cast(indices.values, starts.dtype) + starts
                return indices.with_values(gather(params.values, places))
        return gather(params, indices)


@internal("ops.ragged.ragged_batch_gather_with_default_op.batch_gather_with_default")
def batch_gather_with_default(params: Any, indices: Any, default_value: Any = "", name: str | None = None) -> Any:
    """The same as batch_gather, with a default for numbers that no element of the row has."""
    with name_scope(name, "RaggedBatchGatherWithDefault", [params, indices, default_value]):
        params = convert_to_tensor_or_ragged_tensor(params, name="params")
        indices = convert_to_tensor_or_ragged_tensor(indices, name="indices")
        default_value = tf.cast(convert_to_tensor_or_ragged_tensor(default_value, name="default_value"), params.dtype)
        kind, (params, indices) = match_row_splits_dtypes(params, indices, return_dtype=True)
        if indices.shape.ndims is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        if indices.shape.ndims == 0:
            raise ValueError("indices.rank must be at least 1.")
        if is_ragged(indices) and not is_ragged(params):
            params = RaggedTensor.from_tensor(params, ragged_rank=indices.ragged_rank, row_splits_dtype=kind)
        return _picked_by_row(params, tf.cast(indices, kind), default_value)


def _picked_by_row(params: Any, indices: Any, default: Any) -> Any:
    """For each row of `indices` the elements of the same row of `params`, or the default."""
    rank, kind = indices.shape.ndims, indices.dtype
    if not (is_ragged(params) or is_ragged(indices)):
        sizes = tf.shape(params, out_type=kind)
        outer, length = sizes[: rank - 1], sizes[rank - 1]
        starts = tf.reshape(tf.range(tf.reduce_prod(outer)) * length, tf.concat([outer, [1]], 0))
        flat = tf.reshape(params, tf.concat([[-1], sizes[rank:]], 0))
        return _picked_within(flat, indices, starts if rank > 1 else 0, length, tf.broadcast_to(default, sizes[rank:]))
    if rank == 1:
        return _picked_within(params, indices, 0, params.nrows(), default)
    if rank > 2:
        if not is_ragged(indices):
            indices = RaggedTensor.from_tensor(indices, row_splits_dtype=kind)
        check = tf.debugging.assert_equal(indices.row_splits, params.row_splits, message="Dimensions of params and indices do not match")
        with tf.control_dependencies([check] if check is not None else []):
            return indices.with_values(_picked_by_row(params.values, indices.values, default))
    starts, lengths = params.row_starts(), params.row_lengths()
    if not is_ragged(indices):
        return _picked_within(params.values, indices, tf.expand_dims(starts, 1), tf.expand_dims(lengths, 1), default)
    counts = indices.row_lengths()
    starts, lengths = tf.repeat(starts, counts, axis=0), tf.repeat(lengths, counts, axis=0)
    return indices.with_values(_picked_within(params.values, indices.values, starts, lengths, default))


def _picked_within(values: Any, places: Any, starts: Any, lengths: Any, default: Any) -> Any:
    """The values at places counted from `starts`. The default stands behind them all, where places beyond `lengths` point to."""
    from everflow.ragged.arrays import concat

    missing = tf.zeros_like(places) + row_count(values, places.dtype)
    inside = tf.logical_and(places >= 0, places < lengths)
    if is_ragged(values):
        while default.shape.ndims < values.shape.ndims:
            default = tf.expand_dims(default, 0)
        both = concat([values, default], axis=0)
    else:
        default.shape.assert_is_compatible_with(values.shape[1:])
        both = tf.concat([values, tf.expand_dims(default, 0)], axis=0)
    return gather(both, tf.where(inside, places + starts, missing))


@internal("ops.ragged.ragged_util.repeat_ranges")
def repeat_ranges(params: Any, splits: Any, repeats: Any) -> Any:
    """The elements between each two splits, that many times over."""
    starts = tf.repeat(splits[:-1], repeats, axis=0)
    limits = tf.repeat(splits[1:], repeats, axis=0)
    places = ragged_range(starts, limits, tf.ones_like(starts)).values
    return tf.gather(params, places)


def repeated_rows(rt: Any, repeats: Any) -> Any:
    """Each row (or element) that many times over."""
    if not isinstance(rt, RaggedTensor):
        return tf.repeat(rt, repeats, axis=0)
    count = tf.range(rt.nrows())
    return gather(rt, tf.repeat(count, repeats, axis=0))
