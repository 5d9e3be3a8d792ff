"""Ragged tensors written as nested lists, and ones that are fed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.scopes import name_scope
from everflow.ragged.tensor import RaggedTensor
from everflow.ragged.values import RaggedTensorValue


@public("ragged.constant")
@internal("ops.ragged.ragged_factory_ops.constant")
def constant(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    name: str | None = None,
    row_splits_dtype: dtypes.DTypeLike = dtypes.int64,
) -> Any:
    """A ragged tensor of nested lists; a plain one where no dimension is ragged."""
    kind = dtypes.as_dtype(row_splits_dtype)

    def rows(values: Any, splits: list[int]) -> Any:
        return RaggedTensor.from_row_splits(values, tf.constant(splits, kind), validate=False)

    def leaf(value: Any, type_: Any, shape: Any) -> Any:
        is_row = (ragged_rank if ragged_rank is not None else _depth(pylist) - 1) > 0
        return tf.constant(value, type_, shape, "values" if is_row else "Const", verify_shape=shape is not None and bool(value))

    with name_scope(name, "RaggedConstant"):
        return _nested(leaf, rows, pylist, dtype, ragged_rank, inner_shape)


@public("ragged.constant_value")
@internal("ops.ragged.ragged_factory_ops.constant_value")
def constant_value(
    pylist: Any, dtype: Any = None, ragged_rank: int | None = None, inner_shape: Any = None, row_splits_dtype: dtypes.DTypeLike = "int64"
) -> Any:
    """The same as a RaggedTensorValue, or an array."""
    kind = dtypes.as_dtype(row_splits_dtype).as_numpy_dtype
    if dtype is not None and isinstance(dtype, dtypes.DType):
        dtype = dtype.as_numpy_dtype

    def values(value: Any, type_: Any, shape: Any) -> Any:
        array = np.array(value, dtype=type_)
        return array if shape is None else np.reshape(array, shape)

    return _nested(
        values, lambda inner, splits: RaggedTensorValue(inner, np.array(splits, dtype=kind)), pylist, dtype, ragged_rank, inner_shape
    )


def _nested(
    leaf: Callable[..., Any], rows: Callable[..., Any], pylist: Any, dtype: dtypes.DTypeLike, ragged_rank: int | None, inner_shape: Any
) -> Any:
    """Lists as rows of rows: the outer levels become splits, what is below them one array."""
    if hasattr(pylist, "ragged_rank"):
        raise TypeError("pylist may not be a RaggedTensor or RaggedTensorValue.")
    if not isinstance(pylist, (list, tuple)) and np.ndim(pylist) == 0:
        for dimensions, what in ((ragged_rank, "ragged_rank"), (len(inner_shape or ()), "dim(inner_shape)")):
            if dimensions:
                raise ValueError(f"Invalid pylist={pylist!r}: incompatible with {what}={dimensions}")
        return leaf(pylist, dtype, ())
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"Invalid ragged_rank={ragged_rank}: must be nonnegative")
    scalars, depth = _find_scalar_and_max_depth(pylist)
    if scalars is not None and depth > scalars:
        raise ValueError(f"Invalid pylist={pylist!r}: empty list nesting is greater than scalar value nesting")
    if inner_shape is not None and ragged_rank is not None:
        expected = ragged_rank + 1 + len(inner_shape)
        if scalars is not None and expected != scalars or scalars is None and expected < depth:
            raise ValueError(
                f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank} and dim(inner_shape)={len(inner_shape)}"
            )
    if ragged_rank is None:
        if inner_shape is None or scalars is None:
            # Without values, lists that the inner shape is enough for are no rows.
            ragged_rank = 0 if depth - 1 <= len(inner_shape or ()) else depth - 1
        else:
            ragged_rank = max(0, scalars - 1 - len(inner_shape))
    _check_depth(scalars, ragged_rank)
    if ragged_rank == 0:
        return leaf(pylist, dtype, inner_shape)
    if inner_shape is None:
        inner_shape = _default_inner_shape_for_pylist(pylist, ragged_rank)
    splits_of = []
    values = pylist
    for _level in range(ragged_rank):
        splits = [0]
        below: list[Any] = []
        for row in values:
            below.extend(row)
            splits.append(len(below))
        splits_of.append(splits)
        values = below
    found = leaf(values if len(values) else [], dtype, (len(values), *inner_shape))
    for splits in reversed(splits_of):
        found = rows(found, splits)
    return found


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or isinstance(value, np.ndarray) and value.ndim > 0


def _depth(value: Any) -> int:
    if not _is_list(value):
        return 0
    return 1 + max((_depth(v) for v in value), default=0)


def _scalar_depth(value: Any) -> int | None:
    """How deep the values stand below the lists; None where there are none."""
    if not _is_list(value):
        return 0
    found = None
    for v in value:
        depth = _scalar_depth(v)
        if depth is not None:
            if found is not None and depth + 1 != found:
                raise ValueError("all scalar values must have the same nesting depth")
            found = depth + 1
    return found


@internal("ops.ragged.ragged_factory_ops._find_scalar_and_max_depth")
def _find_scalar_and_max_depth(pylist: Any) -> tuple[int | None, int]:
    """(how deep the values stand below the lists, None where there are none; how deep the lists are nested)."""
    return _scalar_depth(pylist), _depth(pylist)


def _check_depth(scalars: int | None, ragged_rank: int) -> None:
    if scalars is not None and ragged_rank >= scalars:
        raise ValueError(
            f"pylist has scalar values depth {scalars}, but ragged_rank={ragged_rank} requires scalar value depth greater "
            f"than {ragged_rank}"
        )


@internal("ops.ragged.ragged_factory_ops._default_inner_shape_for_pylist")
def _default_inner_shape_for_pylist(pylist: Any, ragged_rank: int) -> tuple[int, ...]:
    """The shape of what is below the ragged dimensions, all of which must be alike."""
    if not _is_list(pylist):
        return ()
    try:
        depth = _scalar_depth(pylist)
    except ValueError:
        raise ValueError("inner values have inconsistent shape") from None
    _check_depth(depth, ragged_rank)
    level = [pylist]
    for _ in range(ragged_rank + 1):
        level = [v for row in level for v in row]
    shape: list[int] = []
    while level and any(_is_list(v) for v in level):
        if not all(_is_list(v) for v in level) or len({len(v) for v in level}) > 1:
            raise ValueError("inner values have inconsistent shape")
        shape.append(len(level[0]))
        level = [v for row in level for v in row]
    return tuple(shape)


@public("ragged.placeholder")
@internal("ops.ragged.ragged_factory_ops.placeholder")
def placeholder(dtype: Any, ragged_rank: int, value_shape: Any = None, name: str | None = None) -> Any:
    """A ragged tensor that must be fed."""
    if ragged_rank == 0:
        return tf.placeholder(dtype, value_shape, name)
    with name_scope(name, "RaggedPlaceholder", []):
        flat = tf.placeholder(dtype, tf.TensorShape([None]).concatenate(value_shape), "flat_values")
        innermost_first = [tf.placeholder(dtypes.int64, [None], f"row_splits_{i}") for i in range(ragged_rank - 1, -1, -1)]
        return RaggedTensor.from_nested_row_splits(flat, innermost_first[::-1], validate=False)
