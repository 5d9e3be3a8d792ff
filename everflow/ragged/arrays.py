"""Ragged tensors put together, repeated, masked and reshaped."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.constants import known
from everflow.graph.scopes import name_scope
from everflow.graph.tensor import Tensor
from everflow.ragged.gathering import gather
from everflow.ragged.tensor import (
    RaggedTensor,
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
    match_row_splits_dtypes,
    row_count,
    wrapped_axis,
)

# -- side by side


@internal("ops.ragged.ragged_concat_ops.concat")
def concat(values: Any, axis: Any, name: str | None = None) -> Any:
    """Tensors one after the other along an axis."""
    values = values if isinstance(values, (list, tuple)) else [values]
    with name_scope(name, "RaggedConcat", list(values)):
        return _joined(values, axis, stack_values=False)


@public("ragged.stack")
@internal("ops.ragged.ragged_concat_ops.stack")
def stack(values: Any, axis: Any = 0, name: str | None = None) -> Any:
    """Tensors of one rank side by side along a new axis."""
    values = values if isinstance(values, (list, tuple)) else [values]
    with name_scope(name, "RaggedConcat", list(values)):
        return _joined(values, axis, stack_values=True)


def _joined(values: Any, axis: int, stack_values: bool) -> Any:
    if not values:
        raise ValueError("rt_inputs may not be empty.")
    tensors = [convert_to_tensor_or_ragged_tensor(v, name="rt_input") for v in values]
    kind, tensors = match_row_splits_dtypes(*tensors, return_dtype=True)
    tensors = list(tensors)
    if len(tensors) == 1 and not stack_values:
        return tensors[0]
    rank = next((t.shape.ndims for t in tensors if t.shape.ndims is not None), None)
    if rank is not None:
        for t in tensors:
            t.shape.assert_has_rank(rank)
    out_rank = None if rank is None else rank + (1 if stack_values else 0)
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    if out_rank is None and axis < 0:
        raise ValueError("axis may only be negative if ndims is statically known.")
    axis = wrapped_axis(axis, out_rank)
    # Along their last dimension, tensors without rows are joined as they are.
    if rank is not None and axis >= rank - 1 and not any(map(is_ragged, tensors)):
        return tf.stack(tensors, axis) if stack_values else tf.concat(tensors, axis)
    deepest = max([t.ragged_rank for t in tensors if is_ragged(t)], default=1)
    tensors = [_as_ragged(t, deepest if rank is None else min(deepest, rank - 1), kind) for t in tensors]
    if axis == 0:
        return _stacked_rows(tensors, kind) if stack_values else _after_each_other(tensors)
    if axis == 1:
        return _row_by_row(tensors, stack_values)
    # Further in: the rows must be alike, what they hold is joined.
    checks = _same_splits(tensors)
    with tf.control_dependencies(checks):
        inner = [t.values for t in tensors]
        return tensors[0].with_values(_joined(inner, axis - 1, stack_values))


def _as_ragged(t: Any, ragged_rank: int, kind: Any) -> RaggedTensor:
    if not is_ragged(t):
        return RaggedTensor.from_tensor(t, ragged_rank=ragged_rank, row_splits_dtype=kind)
    if t.ragged_rank < ragged_rank:
        return t.with_flat_values(RaggedTensor.from_tensor(t.flat_values, ragged_rank=ragged_rank - t.ragged_rank, row_splits_dtype=kind))
    return t


def _after_each_other(tensors: list[Any]) -> Any:
    """All rows of the first, then all of the second."""
    if not is_ragged(tensors[0]):
        return tf.concat(tensors, axis=0)
    splits = [tensors[0].row_splits]
    offset = tensors[0].row_splits[-1]
    for t in tensors[1:]:
        splits.append(t.row_splits[1:] + offset)
        offset = offset + t.row_splits[-1]
    return RaggedTensor.from_row_splits(_after_each_other([t.values for t in tensors]), tf.concat(splits, axis=0), validate=False)


def _stacked_rows(tensors: list[Any], kind: Any) -> Any:
    counts = tf.stack([t.nrows(out_type=kind) for t in tensors])
    return RaggedTensor.from_row_lengths(_after_each_other(tensors), counts, validate=False)


def _row_by_row(tensors: list[Any], stack_values: bool) -> Any:
    """The first rows of all, then the second rows of all."""
    nrows = tensors[0].nrows()
    checks = [tf.debugging.assert_equal(t.nrows(), nrows, message="Input tensors have incompatible shapes.") for t in tensors[1:]]
    with tf.control_dependencies([c for c in checks if c is not None]):
        together = _after_each_other(tensors)
        numbers = tf.reshape(tf.range(nrows * len(tensors)), tf.stack([tf.constant(len(tensors), nrows.dtype), nrows]))
        order = tf.reshape(tf.transpose(numbers), [-1])
        rows = gather(together, order)
        splits = tf.range(nrows + 1) * len(tensors)
        for t in tensors:
            splits.set_shape(t.row_splits.shape)
        if stack_values:
            return RaggedTensor.from_row_splits(rows, splits, validate=False)
        ends = tf.gather(rows.row_splits, splits)
        return RaggedTensor.from_row_splits(rows.values, ends, validate=False)


def _same_splits(tensors: list[Any]) -> list[Any]:
    found = [
        tf.debugging.assert_equal(t.row_splits, tensors[0].row_splits, message="Inputs must have identical ragged splits")
        for t in tensors[1:]
        if t.row_splits is not tensors[0].row_splits
    ]
    return [c for c in found if c is not None]


@internal("ops.ragged.ragged_util.assert_splits_match")
def assert_splits_match(nested_splits_lists: Any) -> list[Any]:
    """Checks that ragged tensors are cut alike."""
    message = "Inputs must have identical ragged splits"
    if any(len(splits) != len(nested_splits_lists[0]) for splits in nested_splits_lists):
        raise ValueError(message)
    checks = [
        tf.debugging.assert_equal(a, b, message=message)
        for splits in nested_splits_lists[1:]
        for a, b in zip(nested_splits_lists[0], splits)
        if a is not b
    ]
    return [c for c in checks if c is not None]


# -- again and again


@internal("ops.ragged.ragged_array_ops.tile")
def tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """The tensor repeated along each dimension."""
    with name_scope(name, "RaggedTile", [input, multiples]):
        input = convert_to_tensor_or_ragged_tensor(input, name="input")
        if not is_ragged(input):
            return tf.tile(input, multiples)
        multiples = tf.cast(tf.convert_to_tensor(multiples, name="multiples"), input.row_splits.dtype)
        multiples.shape.assert_has_rank(1)
        multiples.set_shape([None])
        inner = input.values
        repeated = tile(inner, tf.concat([[1], multiples[2:]], axis=0)) if not (multiples.dims == (2,) and not is_ragged(inner)) else inner
        rt = input.with_values(repeated)
        # Each row along itself: the number of each row as often as it comes, then all rows again.
        rows = tf.range(rt.nrows())
        times = multiples[1]
        wide = gather(rt, tf.repeat(rows, times))
        splits = tf.gather(wide.row_splits, tf.range(rt.nrows() + 1) * times)
        long = RaggedTensor.from_row_splits(wide.values, splits, validate=False)
        found = gather(long, tf.tile(rows, multiples[:1]))
        count, times = input.shape.as_dims()[0] if input.shape.ndims else None, known(multiples)
        if count is not None and times is not None:
            found.row_splits.set_shape([count * times[0] + 1])
        return found


@internal("ops.ragged.ragged_array_ops.expand_dims")
def expand_dims(input: Any, axis: Any, name: str | None = None) -> Any:
    """A new dimension of one element each."""
    with name_scope(name, "RaggedExpandDims", [input]):
        input = convert_to_tensor_or_ragged_tensor(input, name="input")
        if not is_ragged(input):
            return tf.expand_dims(input, axis)
        rank = input.shape.ndims
        axis = wrapped_axis(axis, None if rank is None else rank + 1)
        if axis == 0:
            count = input.nrows()
            return RaggedTensor.from_row_splits(input, tf.stack([tf.zeros_like(count), count]), validate=False)
        if axis == 1:
            splits = tf.range(input.nrows() + 1)
            splits.set_shape(input.row_splits.shape)
            return RaggedTensor.from_row_splits(input, splits, validate=False)
        if is_ragged(input.values):
            return input.with_values(expand_dims(input.values, axis - 1))
        return input.with_values(tf.expand_dims(input.values, axis - 1))


@internal("ops.ragged.ragged_squeeze_op.squeeze")
def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Any:
    """The tensor without dimensions of one element each."""
    with name_scope(name, "RaggedSqueeze", [input]):
        input = convert_to_tensor_or_ragged_tensor(input)
        if isinstance(input, Tensor):
            return tf.squeeze(input, axis)
        if axis is None:
            raise ValueError("Ragged.squeeze must have an axis argument.")
        axes = list(axis) if isinstance(axis, (list, tuple)) else [axis]
        if not all(isinstance(a, int) for a in axes):
            raise TypeError("Axis must be a list or tuple of integers.")
        found: Any = input
        for a in sorted((wrapped_axis(a, input.shape.ndims) for a in axes), reverse=True):
            found = _squeezed(found, a)
        return found


def _squeezed(rt: Any, axis: int, of: int | None = None) -> Any:
    """The tensor without one dimension, which is number `of` of the whole."""
    if not is_ragged(rt):
        return tf.squeeze(rt, axis)
    of = axis if of is None else of
    if axis > 1:
        return RaggedTensor.from_row_splits(_squeezed(rt.values, axis - 1, of), rt.row_splits, validate=False)
    sizes = rt.row_lengths() if axis else rt.nrows()
    check = tf.debugging.Assert(tf.reduce_all(tf.equal(sizes, 1)), [f"the given axis (axis = {of}) is not squeezable!"])
    return _after(check, rt.values)


def _after(check: Any, t: Any) -> Any:
    """A tensor, ragged or not, that is there once a check has been made."""
    if check is None:
        return t
    with tf.control_dependencies([check]):
        if is_ragged(t):
            splits = [tf.identity(s) for s in t.nested_row_splits]
            return RaggedTensor.from_nested_row_splits(tf.identity(t.flat_values), splits, validate=False)
        return tf.identity(t)


# -- picked by condition


@public("ragged.boolean_mask")
@internal("ops.ragged.ragged_array_ops.boolean_mask")
def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """The elements for which the mask is true; the mask's dimensions but the last stay."""
    with name_scope(name, "RaggedMask", [data, mask]):
        data = convert_to_tensor_or_ragged_tensor(data, name="data")
        mask = convert_to_tensor_or_ragged_tensor(mask, dtypes.bool, name="mask")
        kind, (data, mask) = match_row_splits_dtypes(data, mask, return_dtype=True)
        if mask.shape.ndims is None:
            raise ValueError("mask.shape.ndims must be known statically.")
        if mask.shape.ndims == 0:
            raise ValueError("mask cannot be scalar.")
        if not (is_ragged(data) or is_ragged(mask)):
            data.shape[: mask.shape.ndims].assert_is_compatible_with(mask.shape)
        if mask.shape.ndims == 1 and not is_ragged(data):
            return tf.boolean_mask(data, mask)
        if mask.shape.ndims == 1:
            data.shape[:1].assert_is_compatible_with(mask.shape)
            return gather(data, tf.reshape(tf.where(mask), [-1]))
        if not is_ragged(mask):
            mask = RaggedTensor.from_tensor(mask, ragged_rank=mask.shape.ndims - 1, row_splits_dtype=kind)
        elif mask.flat_values.shape.ndims > 1:
            inner = mask.flat_values.shape.ndims - 1
            mask = mask.with_flat_values(RaggedTensor.from_tensor(mask.flat_values, ragged_rank=inner, row_splits_dtype=kind))
        if not is_ragged(data):
            data = RaggedTensor.from_tensor(data, row_splits_dtype=kind)
        check = tf.debugging.assert_equal(data.row_splits, mask.row_splits, message="Inputs must have identical ragged splits")
        with tf.control_dependencies([check] if check is not None else []):
            if is_ragged(mask.values):
                return data.with_values(boolean_mask(data.values, mask.values))
            kept = tf.concat([tf.zeros([1], kind), tf.cumsum(tf.cast(mask.values, kind))], axis=0)
            splits = tf.gather(kept, mask.row_splits)
            splits.set_shape(mask.row_splits.shape)
            return RaggedTensor.from_row_splits(boolean_mask(data.values, mask.values), splits, validate=False)


@internal("ops.ragged.ragged_where_op.where")
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """The places where a condition holds; or elements (or rows) of x where it does and of y where not."""
    if (x is None) != (y is None):
        raise ValueError("x and y must be either both None or both non-None")
    with name_scope(name, "RaggedWhere", [condition, x, y]):
        condition = convert_to_tensor_or_ragged_tensor(condition, name="condition")
        if x is None:
            if not is_ragged(condition):
                return tf.where(condition)
            sparse = condition.with_flat_values(tf.cast(condition.flat_values, dtypes.bool)).to_sparse()
            return tf.boolean_mask(sparse.indices, sparse.values)
        x = convert_to_tensor_or_ragged_tensor(x, name="x")
        y = convert_to_tensor_or_ragged_tensor(y, name="y")
        condition, x, y = match_row_splits_dtypes(condition, x, y)
        if is_ragged(condition):
            if not (is_ragged(x) and is_ragged(y)):
                raise ValueError("Input shapes do not match.")
            with tf.control_dependencies(assert_splits_match([t.nested_row_splits for t in (condition, x, y)])):
                return condition.with_flat_values(tf.where(condition.flat_values, x.flat_values, y.flat_values))
        if not (is_ragged(x) or is_ragged(y)):
            return tf.where(condition, x, y)
        condition.shape.assert_has_rank(1)
        # Row by row: the rows of y stand behind those of x.
        together = concat([x, y], axis=0)
        count, others = row_count(x, dtypes.int64), row_count(y, dtypes.int64)
        return gather(together, tf.where(condition, tf.range(count), tf.range(others) + count))


@public("ragged.stack_dynamic_partitions")
@internal("ops.ragged.ragged_array_ops.stack_dynamic_partitions")
def stack_dynamic_partitions(data: Any, partitions: Any, num_partitions: Any, name: str | None = None) -> Any:
    """A row for each partition, with the elements that belong to it."""
    with name_scope(name, "SegmentStack", [data, partitions, num_partitions]):
        data = convert_to_tensor_or_ragged_tensor(data, name="data")
        partitions = convert_to_tensor_or_ragged_tensor(partitions, name="partitions")
        kind, (data, partitions) = match_row_splits_dtypes(data, partitions, return_dtype=True)
        num_partitions = tf.convert_to_tensor(num_partitions, name="num_partitions", preferred_dtype=partitions.dtype)
        if is_ragged(partitions):
            if not is_ragged(data):
                data = RaggedTensor.from_tensor(data, ragged_rank=partitions.ragged_rank, row_splits_dtype=kind)
            check = tf.debugging.assert_equal(
                data.row_splits, partitions.row_splits, message="data and partitions have incompatible ragged shapes"
            )
            with tf.control_dependencies([check] if check is not None else []):
                return stack_dynamic_partitions(data.values, partitions.values, num_partitions)
        rank = partitions.shape.ndims
        if rank is None:
            raise ValueError("partitions must have known rank")
        num_partitions.shape.assert_has_rank(0)
        partitions.shape.assert_is_compatible_with(data.shape[:rank])
        if rank == 0:
            return stack_dynamic_partitions(stack([data]) if is_ragged(data) else tf.stack([data]), tf.stack([partitions]), num_partitions)
        if rank > 1:
            if not is_ragged(data):
                data = RaggedTensor.from_tensor(data, row_splits_dtype=kind, ragged_rank=rank - 1)
            inner = RaggedTensor.from_tensor(partitions, row_splits_dtype=data.row_splits.dtype, ragged_rank=rank - 1)
            return stack_dynamic_partitions(data, inner, num_partitions)
        order = tf.argsort(partitions, stable=True)
        ids = tf.gather(partitions, order)
        check = tf.debugging.assert_less(
            ids[-1:], tf.cast(num_partitions, ids.dtype), message="partitions must be less than num_partitions"
        )
        with tf.control_dependencies([check] if check is not None else []):
            rows = gather(data, order)
            ids = tf.cast(ids, kind) if is_ragged(rows) else ids
            return RaggedTensor.from_value_rowids(rows, ids, tf.cast(num_partitions, ids.dtype), validate=False)


def dynamic_partition(data: Any, partitions: Any, num_partitions: Any, name: str | None = None) -> list[Any]:
    """The elements of each partition."""
    if not isinstance(num_partitions, int) or num_partitions < 0:
        raise TypeError("num_partitions must be a non-negative integer")
    found = stack_dynamic_partitions(data, partitions, num_partitions, name)
    return [found[i] for i in range(num_partitions)]


# -- sizes


@internal("ops.ragged.ragged_array_ops.size")
def size(input: Any, out_type: dtypes.DTypeLike = dtypes.int32, name: str | None = None) -> Tensor:
    """How many values there are."""
    return tf.size(input.flat_values if is_ragged(input) else input, out_type=out_type, name=name)


@internal("ops.ragged.ragged_array_ops.rank")
def rank(input: Any, name: str | None = None) -> Tensor:
    """How many dimensions there are."""
    with name_scope(name, "RaggedRank", [input]):
        return input.ragged_rank + tf.rank(input.flat_values) if is_ragged(input) else tf.rank(input)


@internal("ops.ragged.ragged_array_ops.ragged_one_hot")
def ragged_one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: Any = None,
    dtype: dtypes.DTypeLike | None = None,
    name: str | None = None,
) -> Any:
    """A vector for each number, with one value at its place and another elsewhere."""
    if axis is not None:
        axis = wrapped_axis(axis, indices.shape.ndims) - indices.ragged_rank + 1
        if axis < 1:
            raise ValueError("axis may not be less than indices.ragged_rank.")
    return indices.with_flat_values(tf.one_hot(indices.flat_values, depth, on_value, off_value, axis, dtype, name))
