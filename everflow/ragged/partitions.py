"""How rows are told apart: splits, row numbers and lengths, each made from the others."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.constants import known
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.tensor import Tensor


def to_partition(partition: Any, name: str, preferred: Any = dtypes.int64) -> Tensor:
    """What cuts values into rows, as a tensor of integers."""
    if isinstance(partition, np.ndarray) and partition.dtype == np.int32:
        preferred = dtypes.int32
    found = convert_to_tensor(partition, preferred_dtype=preferred, name=name)
    if found.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"{name} must have dtype int32 or int64")
    return found


@internal("ops.ragged.ragged_util.lengths_to_splits")
def lengths_to_splits(lengths: Any) -> Tensor:
    """Where rows of these lengths start and end."""
    return tf.concat([[0], tf.cumsum(lengths)], axis=-1)


def rowids_to_splits(rowids: Tensor, nrows: Tensor) -> Tensor:
    """Where rows start and end, from the row of each value."""
    kind = rowids.dtype
    small, count = tf.cast(rowids, dtypes.int32), tf.cast(nrows, dtypes.int32)
    lengths = tf.math.bincount(small, minlength=count, maxlength=count, dtype=kind)
    return tf.concat([[0], tf.cumsum(lengths)], axis=0)


def checked(
    maker: str,
    values: Any,
    splits: Any = None,
    rowids: Any = None,
    nrows: Any = None,
    lengths: Any = None,
    starts: Any = None,
    limits: Any = None,
) -> list[Tensor]:
    """The partition given, made to depend on checks that it cuts `values` into rows."""
    message = f"Arguments to {maker} do not form a valid RaggedTensor"
    partition = next(p for p in (splits, rowids, lengths, starts, limits) if p is not None)
    count = values.nrows(out_type=partition.dtype) if hasattr(values, "nrows") else tf.shape(values, out_type=partition.dtype)[0]
    equal, monotonic = tf.debugging.assert_equal, _assert_rising
    zero = tf.constant(0, partition.dtype)
    if splits is not None:
        checks = [equal(splits[0], zero, message=message), monotonic(splits, message), equal(splits[-1], count, message=message)]
    elif lengths is not None:
        checks = [tf.debugging.assert_non_negative(lengths, message=message), equal(tf.reduce_sum(lengths), count, message=message)]
    elif starts is not None:
        first = starts[:1]
        checks = [
            equal(first, tf.zeros_like(first), message=message),
            monotonic(starts, message),
            tf.debugging.assert_less_equal(starts[-1:], count, message=message),
        ]
    elif limits is not None:
        checks = [
            tf.debugging.assert_non_negative(limits[:1], message=message),
            monotonic(limits, message),
            equal(limits[-1:], count, message=message),
        ]
    else:
        checks = [
            equal(tf.shape(rowids, out_type=rowids.dtype)[0], count, message=message),
            tf.debugging.assert_non_negative(rowids[:1], message=message),
            monotonic(rowids, message),
            tf.debugging.assert_less(rowids[-1:], nrows, message=message),
        ]
    checks += [tf.debugging.assert_rank(p, r, message=message) for p, r in ((partition, 1), (nrows, 0)) if p is not None and p.dims is None]
    with tf.control_dependencies([c for c in checks if c is not None]):
        return [tf.identity(p, name="control_dependency") for p in (partition, nrows) if p is not None]


def _assert_rising(x: Tensor, message: str) -> Any:
    return tf.debugging.assert_non_negative(x[1:] - x[:-1], message=message)


def _integers(given: Any, name: str, preferred: Any, error: type[Exception], must: str) -> Tensor:
    """A vector of whole numbers; an error that says what it must be where it is none."""
    found = convert_to_tensor(given, name=name, preferred_dtype=preferred)
    found.shape.assert_has_rank(1)
    if found.dtype not in (dtypes.int32, dtypes.int64):
        raise error(f"{name} must {must}".format(found.dtype))
    return found


@public("ragged.row_splits_to_segment_ids")
@internal("ops.ragged.segment_id_ops.row_splits_to_segment_ids")
def row_splits_to_segment_ids(splits: Any, name: str | None = None, out_type: dtypes.DTypeLike | None = None) -> Tensor:
    """The row of each value, from where rows start and end."""
    with name_scope(name, "RaggedSplitsToSegmentIds", [splits]):
        splits = _integers(splits, "splits", dtypes.int64, ValueError, "have dtype int32 or int64")
        if splits.dims is not None and splits.dims[0] == 0:
            raise ValueError("Invalid row_splits: []")
        out_type = splits.dtype if out_type is None else dtypes.as_dtype(out_type)
        rows = tf.range(tf.shape(splits, out_type=out_type)[0] - 1)
        return tf.repeat(rows, splits[1:] - splits[:-1], axis=0)


@public("ragged.segment_ids_to_row_splits")
@internal("ops.ragged.segment_id_ops.segment_ids_to_row_splits")
def segment_ids_to_row_splits(
    segment_ids: Any, num_segments: Any = None, out_type: dtypes.DTypeLike | None = None, name: str | None = None
) -> Tensor:
    """Where rows start and end, from the row of each value."""
    if out_type is None:
        out_type = next((t.dtype for t in (segment_ids, num_segments) if isinstance(t, Tensor)), dtypes.int64)
    out_type = dtypes.as_dtype(out_type)
    with name_scope(name, "SegmentIdsToRaggedSplits", [segment_ids]):
        ids = _integers(segment_ids, "segment_ids", out_type, TypeError, "be an integer tensor; dtype={!r}")
        small = tf.cast(ids, dtypes.int32)
        if num_segments is not None:
            num_segments = convert_to_tensor(
                num_segments, dtypes.int32 if not isinstance(num_segments, Tensor) else None, name="num_segments"
            )
            num_segments.shape.assert_has_rank(0)
            num_segments = tf.cast(num_segments, dtypes.int32)
        lengths = tf.math.bincount(small, minlength=num_segments, maxlength=num_segments, dtype=out_type)
        splits = tf.concat([[0], tf.cumsum(lengths)], axis=0)
        count = known(num_segments) if num_segments is not None else None
        if count is not None:
            splits.set_shape([int(count) + 1])
        return splits
