"""Functions of plain tensors applied to the innermost values of ragged ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.ragged.arrays import assert_splits_match, expand_dims
from everflow.ragged.gathering import gather
from everflow.ragged.partitions import lengths_to_splits
from everflow.ragged.tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor, from_value, is_ragged, match_row_splits_dtypes
from everflow.ragged.values import RaggedTensorValue


@public("ragged.map_flat_values")
@internal("ops.ragged.ragged_functional_ops.map_flat_values")
def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """op(*args, **kwargs) with the innermost values of ragged arguments, which must be cut alike, in rows as they are."""
    found: list[Any] = []
    opened = [_opened(a, found) for a in args]
    named = {k: _opened(v, found) for k, v in kwargs.items()}
    if not found:
        return op(*args, **kwargs)
    found = list(match_row_splits_dtypes(*found))
    checks = assert_splits_match([rt.nested_row_splits for rt in found])
    with tf.control_dependencies(checks):
        flat = op(*opened, **named)
    return RaggedTensor.from_nested_row_splits(flat, found[0].nested_row_splits, validate=False)


def _opened(value: Any, found: list[Any]) -> Any:
    if isinstance(value, RaggedTensorValue):
        value = from_value(value)
    if isinstance(value, RaggedTensor):
        found.append(value)
        return value.flat_values
    if isinstance(value, (list, tuple)):
        return type(value)(_opened(v, found) for v in value)
    return value


MISMATCH = "Unable to broadcast: dimension size mismatch in dimension"


def broadcast_pair(x: Any, y: Any) -> tuple[Any, Any]:
    """Two tensors, at least one of them ragged, with each dimension of one element repeated as the other asks for."""
    kind, (x, y) = match_row_splits_dtypes(x, y, return_dtype=True)
    if x.shape.ndims is None or y.shape.ndims is None:
        raise ValueError("Unable to broadcast: unknown rank")
    rank = max(x.shape.ndims, y.shape.ndims)
    x, y = _of_rank(x, rank), _of_rank(y, rank)
    ragged_rank = max(t.ragged_rank for t in (x, y) if is_ragged(t))
    x, y = _cut_to(x, ragged_rank, kind), _cut_to(y, ragged_rank, kind)
    nx, ny = x.nrows(), y.nrows()
    count = tf.where(tf.equal(nx, 1), ny, nx)
    check = tf.debugging.assert_equal(count, tf.where(tf.equal(ny, 1), nx, ny), message=MISMATCH)
    with tf.control_dependencies([check] if check is not None else []):
        rows = tf.range(count)
    return _rows_broadcast(_repeated(x, rows, tf.equal(nx, 1)), _repeated(y, rows, tf.equal(ny, 1)))


def _of_rank(t: Any, rank: int) -> Any:
    while t.shape.ndims < rank:
        t = expand_dims(t, 0)
    return t


def _cut_to(t: Any, ragged_rank: int, kind: Any) -> RaggedTensor:
    if not is_ragged(t):
        return RaggedTensor.from_tensor(t, ragged_rank=ragged_rank, row_splits_dtype=kind)
    if t.ragged_rank < ragged_rank:
        inner = RaggedTensor.from_tensor(t.flat_values, ragged_rank=ragged_rank - t.ragged_rank, row_splits_dtype=kind)
        return t.with_flat_values(inner)
    return t


def _repeated(t: Any, places: Any, is_single: Any) -> Any:
    return gather(t, tf.where(tf.broadcast_to(is_single, tf.shape(places)), tf.zeros_like(places), places))


def _rows_broadcast(x: Any, y: Any) -> tuple[Any, Any]:
    """Both have the same number of rows; each row of x is made as long as that of y."""
    if not (is_ragged(x) and is_ragged(y)):
        return x, y
    lx, ly = x.row_lengths(), y.row_lengths()
    one_x, one_y = (tf.broadcast_to(tf.reduce_all(tf.equal(n, 1)), tf.shape(n)) for n in (lx, ly))
    lengths = tf.where(one_x, ly, lx)
    check = tf.debugging.assert_equal(lengths, tf.where(one_y, lx, ly), message=MISMATCH)
    with tf.control_dependencies([check] if check is not None else []):
        splits = lengths_to_splits(lengths)
    splits.set_shape(x.row_splits.shape.merge_with(y.row_splits.shape))
    rows = tf.repeat(tf.range(tf.shape(lengths, out_type=splits.dtype)[0]), lengths, axis=0)
    within = tf.range(splits[-1]) - tf.gather(splits, rows)

    def values(t: Any, single: Any) -> Any:
        inside = tf.where(tf.gather(single, rows), tf.zeros_like(within), within)
        return gather(t.values, tf.gather(t.row_starts(), rows) + inside)

    vx, vy = _rows_broadcast(values(x, one_x), values(y, one_y))
    return tuple(RaggedTensor.from_row_splits(v, splits, validate=False) for v in (vx, vy))  # type: ignore[return-value]


def elementwise(op: Callable[..., Any], x: Any, y: Any, **kwargs: Any) -> Any:
    """op(x, y) where either is ragged; they are broadcast to each other."""
    like = next(t.dtype for t in (x, y) if is_ragged(t))
    x = convert_to_tensor_or_ragged_tensor(x, preferred_dtype=like, name="x")
    y = convert_to_tensor_or_ragged_tensor(y, preferred_dtype=like, name="y")
    alike = (
        is_ragged(x)
        and is_ragged(y)
        and x.ragged_rank == y.ragged_rank
        and all(a is b for a, b in zip(x.nested_row_splits, y.nested_row_splits))
    )
    if not alike and x.shape.ndims != 0 and y.shape.ndims != 0:
        x, y = broadcast_pair(x, y)
    if not is_ragged(x):
        return y.with_flat_values(op(x, y.flat_values, **kwargs))
    return x.with_flat_values(op(x.flat_values, y.flat_values if is_ragged(y) else y, **kwargs))
