"""Elements in order along an axis: sort and argsort."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.graph import dtypes
from everflow.graph.constants import known
from everflow.graph.convert import constant, convert_to_tensor
from everflow.graph.scopes import name_scope


@public("sort")
def sort(values: Any, axis: Any = -1, direction: str = "ASCENDING", name: str | None = None) -> Any:
    """The elements in ascending or descending order along an axis."""
    with name_scope(name, "sort"):
        return _ordered(values, axis, direction, 0)


@public("argsort")
def argsort(values: Any, axis: Any = -1, direction: str = "ASCENDING", stable: bool = False, name: str | None = None) -> Any:
    """The indices that put the elements in order along an axis; equal elements keep theirs."""
    with name_scope(name, "argsort"):
        return _ordered(values, axis, direction, 1)


def _ordered(values: Any, axis: Any, direction: str, which: int) -> Any:
    """All of top_k along the axis. It goes from the largest down, so ascending order sorts what is negated."""
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"{direction} should be one of ASCENDING, DESCENDING")
    axis = convert_to_tensor(axis, name="axis")
    at = known(axis)
    if at is None:
        raise ValueError("axis must be a constant scalar")
    if at.size != 1:
        raise ValueError(f"axis must be a scalar, got {at}")
    values = convert_to_tensor(values, name="values")
    ascending = direction == "ASCENDING"
    if ascending:
        values = -values
    found = _all_of_top_k(values, int(at.reshape(-1)[0]), which)
    return -found if ascending and which == 0 else found


def _all_of_top_k(values: Any, axis: int, which: int) -> Any:
    """The values (0) or the indices (1) of the elements along an axis, the largest first."""
    count = tf.shape(values)[axis]
    ranks = tf.rank(values)
    dims = values.dims
    if axis == -1 or dims is not None and axis + 1 == len(dims):
        return tf.nn.top_k(values, count)[which]
    order = _swapped_with_last(axis, ranks, None if dims is None else len(dims))
    return tf.transpose(tf.nn.top_k(tf.transpose(values, order), count)[which], order)


def _swapped_with_last(axis: int, ranks: Any, known_rank: int | None) -> Any:
    """The permutation that exchanges an axis with the last one."""
    if known_rank is not None:
        order = np.arange(known_rank, dtype=np.int32)
        order[axis], order[-1] = order[-1], order[axis]
        return constant(order, dtypes.int32, name="transposition")
    place: Any = axis if axis >= 0 else axis + ranks
    return tf.concat([tf.range(place), [ranks - 1], tf.range(place + 1, ranks - 1), [place]], 0)
