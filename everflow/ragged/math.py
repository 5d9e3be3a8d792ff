"""Ranges, reductions and segment sums of ragged tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.constants import known
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import apply
from everflow.ragged.tensor import (
    RaggedTensor,
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
    match_row_splits_dtypes,
    row_count,
    wrapped_axis,
)

_ORDER = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64]


@public("ragged.range")
@internal("ops.ragged.ragged_math_ops.range")
def ragged_range(
    starts: Any,
    limits: Any = None,
    deltas: Any = 1,
    dtype: dtypes.DTypeLike | None = None,
    name: str | None = None,
    row_splits_dtype: dtypes.DTypeLike = dtypes.int64,
) -> RaggedTensor:
    """A row of numbers for each start, limit and step."""
    if limits is None:
        starts, limits = 0, starts
    with name_scope(name, "RaggedRange", [starts, limits, deltas]) as scope:
        starts = convert_to_tensor(starts, dtype, "starts")
        limits = convert_to_tensor(limits, dtype, "limits")
        deltas = convert_to_tensor(deltas, dtype, "deltas")
        if dtype is None and len({starts.dtype, limits.dtype, deltas.dtype}) > 1:
            wide = max((t.dtype for t in (starts, limits, deltas)), key=_ORDER.index)
            starts, limits, deltas = (tf.cast(t, wide) for t in (starts, limits, deltas))
        splits, values = apply("RaggedRange", starts, limits, deltas, Tsplits=dtypes.as_dtype(row_splits_dtype), name=scope)
        return RaggedTensor.from_row_splits(values, splits, validate=False)


# -- segments


def _segments(name: str, dense: Callable[..., Any], data: Any, segment_ids: Any, num_segments: Any, dtype_of: Any = None) -> Any:
    """Rows that belong to one segment are reduced column by column."""
    if not (is_ragged(data) or is_ragged(segment_ids)):
        return dense(data, segment_ids, num_segments)
    with name_scope(None, name, [data, segment_ids, num_segments]):
        data = convert_to_tensor_or_ragged_tensor(data, name="data")
        segment_ids = convert_to_tensor_or_ragged_tensor(segment_ids, name="segment_ids")
        data, segment_ids = match_row_splits_dtypes(data, segment_ids)
        if segment_ids.dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError("segment_ids must have dtype int32 or int64.")
        if is_ragged(segment_ids):
            if not is_ragged(data):
                raise ValueError("segment_ids.shape must be a prefix of data.shape, but segment_ids is ragged and data is not.")
            checks = [
                tf.debugging.assert_equal(
                    data.row_splits, segment_ids.row_splits, message="segment_ids.shape must be a prefix of data.shape"
                )
            ]
            with tf.control_dependencies([c for c in checks if c is not None]):
                return _segments(
                    name,
                    dense,
                    data.values,
                    tf.identity(segment_ids.values) if isinstance(segment_ids.values, Tensor) else segment_ids.values,
                    num_segments,
                )
        # Each row of the result is as long as the longest row of its segment.
        kind = data.row_splits.dtype
        lengths = tf.maximum(tf.math.unsorted_segment_max(data.row_lengths(), segment_ids, num_segments), 0)
        splits = tf.concat([tf.zeros([1], kind), tf.cumsum(lengths)], axis=0)
        rows = data.value_rowids()
        starts = tf.gather(splits[:-1], segment_ids)
        places = tf.gather(starts - data.row_starts(), rows) + tf.range(row_count(data.values, kind))
        values = _segments(name, dense, data.values, places, splits[-1])
        return RaggedTensor.from_row_splits(values, splits, validate=False)


@internal("ops.ragged.ragged_math_ops.segment_sum")
def segment_sum(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The sum of the rows of each segment."""
    return _segments(name or "RaggedSegmentSum", tf.math.unsorted_segment_sum, data, segment_ids, num_segments)


@internal("ops.ragged.ragged_math_ops.segment_prod")
def segment_prod(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The product of the rows of each segment."""
    return _segments(name or "RaggedSegmentProd", tf.math.unsorted_segment_prod, data, segment_ids, num_segments)


@internal("ops.ragged.ragged_math_ops.segment_min")
def segment_min(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The smallest values of the rows of each segment."""
    return _segments(name or "RaggedSegmentMin", tf.math.unsorted_segment_min, data, segment_ids, num_segments)


@internal("ops.ragged.ragged_math_ops.segment_max")
def segment_max(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The largest values of the rows of each segment."""
    return _segments(name or "RaggedSegmentMax", tf.math.unsorted_segment_max, data, segment_ids, num_segments)


@internal("ops.ragged.ragged_math_ops.segment_mean")
def segment_mean(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The mean of the rows of each segment."""
    return _mean(name or "RaggedSegmentMean", data, segment_ids, num_segments, lambda count: count)


@internal("ops.ragged.ragged_math_ops.segment_sqrt_n")
def segment_sqrt_n(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The sum of the rows of each segment by the root of how many they are."""
    return _mean(name or "RaggedSegmentSqrtN", data, segment_ids, num_segments, tf.sqrt)


def _mean(name: str, data: Any, segment_ids: Any, num_segments: Any, weight: Callable[[Any], Any]) -> Any:
    with name_scope(None, name, [data, segment_ids, num_segments]):
        total = segment_sum(data, segment_ids, num_segments)
        ones: Any = data.with_flat_values(tf.ones_like(data.flat_values)) if is_ragged(data) else tf.ones_like(data)
        count = segment_sum(ones, segment_ids, num_segments)
        if is_ragged(total):
            return total.with_flat_values(total.flat_values / weight(count.flat_values))
        return total / weight(count)


# -- reductions


@internal("ops.ragged.ragged_math_ops.ragged_reduce_aggregate")
def ragged_reduce_aggregate(
    reduce_op: Any, unsorted_segment_op: Any, rt_input: Any, axis: Any, keepdims: bool, name: str | None = None
) -> Any:
    """A reduction along any dimensions, ragged ones among them."""
    if not is_ragged(rt_input):
        return reduce_op(rt_input, axis, keepdims=keepdims, name=name)
    if keepdims:
        raise ValueError("keepdims=True is not supported for RaggedTensors.")
    if isinstance(axis, Tensor):
        axis = known(axis)
        if axis is None:
            raise ValueError("axis must be known at graph construction time.")
        axis = axis.tolist()
    if isinstance(axis, (list, tuple)):
        if len(axis) == 0:
            return rt_input
        if len(axis) == 1:
            axis = axis[0]
        else:
            rank = rt_input.shape.ndims
            ordered = sorted(wrapped_axis(_whole(a), rank) for a in axis)
            for a in reversed(ordered):
                rt_input = ragged_reduce_aggregate(reduce_op, unsorted_segment_op, rt_input, a, False)
            return rt_input
    if axis is None:
        return reduce_op(rt_input.flat_values, None, name=name)
    rt_input = convert_to_tensor_or_ragged_tensor(rt_input, name="rt_input")
    with name_scope(name, "RaggedReduce", [rt_input, axis]):
        axis = wrapped_axis(_whole(axis), rt_input.shape.ndims)
        if axis == 0:
            count = tf.maximum(tf.reduce_max(rt_input.row_lengths()), 0)
            columns = tf.range(row_count(rt_input.values, count.dtype)) - tf.gather(rt_input.row_starts(), rt_input.value_rowids())
            return unsorted_segment_op(rt_input.values, columns, count)
        if axis == 1:
            return unsorted_segment_op(rt_input.values, rt_input.value_rowids(), rt_input.nrows())
        return rt_input.with_values(ragged_reduce_aggregate(reduce_op, unsorted_segment_op, rt_input.values, axis - 1, False))


def _whole(axis: Any) -> int:
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    return axis


@internal("ops.ragged.ragged_math_ops.reduce_sum")
def reduce_sum(input_tensor: Any, axis: Any = None, keepdims: Any = None, name: str | None = None) -> Any:
    """The sum along dimensions."""
    return ragged_reduce_aggregate(tf.reduce_sum, segment_sum, input_tensor, axis, keepdims, name or "RaggedReduceSum")


@internal("ops.ragged.ragged_math_ops.reduce_prod")
def reduce_prod(input_tensor: Any, axis: Any = None, keepdims: Any = None, name: str | None = None) -> Any:
    """The product along dimensions."""
    return ragged_reduce_aggregate(tf.reduce_prod, segment_prod, input_tensor, axis, keepdims, name or "RaggedReduceProd")


@internal("ops.ragged.ragged_math_ops.reduce_min")
def reduce_min(input_tensor: Any, axis: Any = None, keepdims: Any = None, name: str | None = None) -> Any:
    """The smallest value along dimensions."""
    return ragged_reduce_aggregate(tf.reduce_min, segment_min, input_tensor, axis, keepdims, name or "RaggedReduceMin")


@internal("ops.ragged.ragged_math_ops.reduce_max")
def reduce_max(input_tensor: Any, axis: Any = None, keepdims: Any = None, name: str | None = None) -> Any:
    """The largest value along dimensions."""
    return ragged_reduce_aggregate(tf.reduce_max, segment_max, input_tensor, axis, keepdims, name or "RaggedReduceMax")


@internal("ops.ragged.ragged_math_ops.reduce_mean")
def reduce_mean(input_tensor: Any, axis: Any = None, keepdims: Any = None, name: str | None = None) -> Any:
    """The mean along dimensions."""
    if not is_ragged(input_tensor):
        return ragged_reduce_aggregate(tf.reduce_mean, segment_mean, input_tensor, axis, keepdims, name or "RaggedReduceMean")
    with name_scope(name, "RaggedReduceMean", [input_tensor, axis]):
        total = reduce_sum(input_tensor, axis, keepdims)
        rt = convert_to_tensor_or_ragged_tensor(input_tensor)
        count = reduce_sum(rt.with_flat_values(tf.ones_like(rt.flat_values)), axis, keepdims)
        if is_ragged(total):
            return total.with_flat_values(total.flat_values / count.flat_values)
        return total / count


def _of_integers(reduction: Callable[..., Any], input_tensor: Any, axis: Any, keepdims: bool, name: str) -> Any:
    with name_scope(None, name, [input_tensor, axis]):
        rt = convert_to_tensor_or_ragged_tensor(input_tensor)
        found = reduction(rt.with_flat_values(tf.cast(rt.flat_values, dtypes.int32)), axis, keepdims)
        return found.with_flat_values(tf.cast(found.flat_values, dtypes.bool)) if is_ragged(found) else tf.cast(found, dtypes.bool)


@internal("ops.ragged.ragged_math_ops.reduce_any")
def reduce_any(input_tensor: Any, axis: Any = None, keepdims: Any = None, name: str | None = None) -> Any:
    """Whether any value along dimensions is true."""
    if not is_ragged(input_tensor):
        return tf.reduce_any(input_tensor, axis, keepdims=keepdims, name=name)
    return _of_integers(reduce_sum, input_tensor, axis, keepdims, name or "RaggedReduceAny")


@internal("ops.ragged.ragged_math_ops.reduce_all")
def reduce_all(input_tensor: Any, axis: Any = None, keepdims: Any = None, name: str | None = None) -> Any:
    """Whether all values along dimensions are true."""
    if not is_ragged(input_tensor):
        return tf.reduce_all(input_tensor, axis, keepdims=keepdims, name=name)
    return _of_integers(reduce_prod, input_tensor, axis, keepdims, name or "RaggedReduceAll")


@internal("ops.ragged.ragged_string_ops.reduce_join")
def reduce_join(inputs: Any, axis: Any = None, keepdims: Any = None, separator: Any = "", name: str | None = None) -> Any:
    """The strings along dimensions one after the other."""

    def join(strings: Any, axis: Any, **kwargs: Any) -> Any:
        return tf.strings.reduce_join(strings, axis, separator=separator, **kwargs)

    def join_segments(strings: Any, segment_ids: Any, num_segments: Any) -> Any:
        dense = functools.partial(tf.strings.unsorted_segment_join, separator=separator)
        return _segments("RaggedSegmentJoin", dense, strings, segment_ids, num_segments)

    return ragged_reduce_aggregate(join, join_segments, inputs, axis, keepdims, name or "RaggedReduceJoin")
