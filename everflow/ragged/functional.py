"""Functions of plain tensors applied to the innermost values of ragged ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.ragged.arrays import assert_splits_match
from everflow.ragged.broadcasting import broadcast_pair
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
    if alike:
        return x.with_flat_values(op(x.flat_values, y.flat_values, **kwargs))
    if x.shape.ndims == 0:
        return y.with_flat_values(op(x, y.flat_values, **kwargs))
    if y.shape.ndims == 0:
        return x.with_flat_values(op(x.flat_values, y, **kwargs))
    values_x, values_y, rows = broadcast_pair(x, y)
    return rows.with_flat_values(op(values_x, values_y, **kwargs))
