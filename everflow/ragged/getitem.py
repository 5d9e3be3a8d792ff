"""`rt[...]`: rows, slices of rows and slices within rows."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal
from everflow.graph import dtypes
from everflow.graph.scopes import name_scope
from everflow.graph.tensor import Tensor
from everflow.ragged.arrays import boolean_mask
from everflow.ragged.math import ragged_range
from everflow.ragged.tensor import RaggedTensor


@internal("ops.ragged.ragged_getitem.ragged_tensor_getitem")
def ragged_tensor_getitem(self: Any, key: Any) -> Any:
    """A part of a ragged tensor, by the keys that plain tensors take."""
    with name_scope(None, "RaggedGetItem", []):
        if isinstance(key, (bool, np.bool_)) or getattr(key, "dtype", None) in (dtypes.bool, np.dtype(bool)):
            return boolean_mask(self, key)
        return _picked(self, list(key) if isinstance(key, (list, tuple)) else [key])


def _is_number(key: Any) -> bool:
    if isinstance(key, Tensor):
        return key.dtype.is_integer and key.shape.rank in (0, None)
    if getattr(key, "shape", ()) != ():
        return False
    return hasattr(key, "__index__") and not isinstance(key, bool)


def _check_key(key: Any, in_slice: bool) -> None:
    if _is_number(key) or key is None or key is Ellipsis and not in_slice:
        return
    raise TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are valid "
        f"indices, got {key!r}"
    )


def _picked(rt: Any, keys: list[Any]) -> Any:
    if not keys:
        return rt
    if not isinstance(rt, RaggedTensor):
        return rt[tuple(keys)]
    first, rest = keys[0], keys[1:]
    for part in (first.start, first.stop, first.step) if isinstance(first, slice) else (first,):
        _check_key(part, in_slice=isinstance(first, slice))
    if first is Ellipsis:
        return _picked(rt, _spelt_out(rest, rt.shape.ndims))
    if first is None:
        inner = _picked(rt, rest)
        count = inner.nrows() if isinstance(inner, RaggedTensor) else tf.shape(inner, out_type=rt.row_splits.dtype)[0]
        if isinstance(inner, RaggedTensor):
            return RaggedTensor.from_row_splits(inner, tf.stack([tf.zeros_like(count), count]), validate=False)
        return tf.expand_dims(inner, 0)
    if isinstance(first, slice):
        return _within_rows(_sliced_rows(rt, first), rest)
    starts, limits = rt.row_starts(), rt.row_limits()
    # This ends `for row in rt`.
    if starts.is_eager and isinstance(first, int) and first >= len(starts.numpy()):  # type: ignore[attr-defined]
        raise IndexError(f"Row key {first} out of bounds")
    return _picked(rt.values[starts[first] : limits[first]], rest)


def _spelt_out(keys: list[Any], rank: int | None) -> list[Any]:
    """The keys that stand behind an ellipsis, with a slice for each dimension that it stands for."""
    if rank is None:
        raise ValueError("Ellipsis not supported for unknown shape RaggedTensors")
    taken = sum(k is not None and k is not Ellipsis for k in keys)
    if taken > rank:
        raise IndexError("Too many indices for RaggedTensor")
    return [slice(None)] * (rank - taken) + [k for k in keys if k is not Ellipsis]


def _sliced_rows(rt: RaggedTensor, key: slice) -> RaggedTensor:
    """Some of the rows, whole."""
    if key.start is None and key.stop is None and key.step is None:
        return rt
    starts, limits = rt.row_starts()[key], rt.row_limits()[key]
    if key.step is None or isinstance(key.step, int) and key.step == 1:
        splits = tf.concat([starts[:1], limits], axis=0)
        # No rows at all leave no first start.
        splits = tf.concat([splits, tf.zeros([tf.cast(tf.equal(tf.size(splits), 0), tf.int32)], splits.dtype)], axis=0)
        if starts.dims is not None and starts.dims[0] is not None:
            splits.set_shape([starts.dims[0] + 1])
        return RaggedTensor.from_row_splits(rt.values[splits[0] : splits[-1]], splits - splits[0], validate=False)
    return _rows_between(rt, starts, limits)


def _rows_between(rt: RaggedTensor, starts: Tensor, limits: Tensor, step: Any = 1) -> RaggedTensor:
    """The rows that hold the values from each start to each limit."""
    places = ragged_range(starts, limits, step, row_splits_dtype=rt.row_splits.dtype)
    return places.with_values(tf.gather(rt.values, places.values))


def _within_rows(rt: RaggedTensor, keys: list[Any]) -> Any:
    """Keys that apply to each row."""
    if not keys:
        return rt
    first, rest = keys[0], keys[1:]
    if first is None:
        inner = _within_rows(rt, rest)
        count = inner.nrows()
        return RaggedTensor.from_row_splits(inner, tf.range(count + 1), validate=False)
    if first is Ellipsis:
        return _within_rows(rt, _spelt_out(rest, rt.values.shape.ndims))
    if not isinstance(first, slice):
        raise ValueError("Cannot index into an inner ragged dimension.")
    if not (first.start is None and first.stop is None and first.step is None):
        if not all(_is_number(part) or part is None for part in (first.start, first.stop)):
            raise TypeError("slice offsets must be integers or None")
        if not (_is_number(first.step) or first.step is None):
            raise TypeError("slice strides must be integers or None")
        rt = _cut(rt, first)
    if not rest:
        return rt
    if isinstance(rt.values, RaggedTensor):
        return rt.with_values(_within_rows(rt.values, rest))
    return rt.with_values(rt.values[(slice(None), *rest)])


def _cut(rt: RaggedTensor, key: slice) -> RaggedTensor:
    """A slice of each row."""
    kind = rt.row_splits.dtype
    step = 1 if key.step is None else key.step
    backwards = isinstance(step, int) and step < 0
    lengths = rt.row_lengths()
    none = tf.zeros_like(lengths)

    def place(at: Any, low: Any, high: Any) -> Any:
        at = tf.cast(at, kind) + none
        at = tf.where(at < 0, at + lengths, at)
        return tf.minimum(tf.maximum(at, low), high)

    if backwards:
        start = lengths - 1 if key.start is None else place(key.start, none - 1, lengths - 1)
        stop = none - 1 if key.stop is None else place(key.stop, none - 1, lengths - 1)
    else:
        start = none if key.start is None else place(key.start, none, lengths)
        stop = lengths if key.stop is None else place(key.stop, none, lengths)
    starts = rt.row_starts()
    return _rows_between(rt, starts + start, starts + stop, tf.cast(step, kind))
