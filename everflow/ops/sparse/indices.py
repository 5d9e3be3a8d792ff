"""Where the elements of sparse tensors stand: order, duplicates and what is out of bounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from everflow.api import internal
from everflow.errors import invalid_argument
from everflow.graph.constants import constant_value_as_shape
from everflow.graph.sparse_tensor import SparseTensor, SparseTensorValue
from everflow.lazy import torch
from everflow.ops.arrays.reshaping import shown


@internal("ops.sparse_ops._convert_to_sparse_tensor")
def as_sparse(value: Any) -> SparseTensor:
    """A sparse tensor, also of the value of one; TypeError for anything else."""
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        raise TypeError("Input must be a SparseTensor.")
    return value


@internal("ops.sparse_ops._convert_to_sparse_tensors")
def all_as_sparse(values: Any) -> list[SparseTensor]:
    """A list of sparse tensors."""
    if isinstance(values, list):
        return [as_sparse(v) for v in values]
    if isinstance(values, tuple):
        return [as_sparse(v) for v in values]
    raise TypeError("Inputs must be a list or tuple.")


def known_shape(sp_input: SparseTensor) -> Any:
    """The static shape of a sparse tensor as a list, where it is known in full; else None."""
    found = constant_value_as_shape(sp_input.dense_shape)
    return found.as_list() if found.is_fully_defined() else None


def taken(values: Any, places: Any) -> Any:
    """The values at some places; strings are numpy arrays."""
    return values[places.cpu().numpy()] if isinstance(values, np.ndarray) else values[places]


def joined(values: Any) -> Any:
    """Values one after the other."""
    return np.concatenate(values) if isinstance(values[0], np.ndarray) else torch.cat(list(values))


def row_order(indices: Any) -> Any:
    """The order of the rows of a matrix that makes them increase; equal rows keep theirs."""
    if indices.shape[1] == 0:
        return torch.arange(len(indices), device=indices.device)
    if indices.shape[1] == 1:
        return torch.argsort(indices[:, 0], stable=True)
    # Rows are compared as they are: the number of elements of a dense tensor may be too large to count.
    return torch.from_numpy(np.lexsort(indices.cpu().numpy().T[::-1])).to(indices.device)


def changes(rows: Any) -> Any:
    """For each of the rows in order: whether it differs from the one before it."""
    found = torch.ones(len(rows), dtype=torch.bool, device=rows.device)
    found[1:] = (rows[1:] != rows[:-1]).any(1)
    return found


def groups(rows: Any) -> tuple[Any, Any]:
    """(the different rows in order, which of them each row is)."""
    order = row_order(rows)
    in_order = rows[order]
    new = changes(in_order)
    which = torch.empty_like(order)
    which[order] = new.cumsum(0) - 1
    return in_order[new], which


def positions(indices: Any, sizes: list[int]) -> Any:
    """Where rows of indices stand in the dense tensor, counted row by row."""
    found = torch.zeros(len(indices), dtype=torch.int64, device=indices.device)
    for i, size in enumerate(sizes):
        found = found * size + indices[:, i]
    return found


def first_out_of_bounds(indices: Any, sizes: list[int]) -> int | None:
    """The first row that no tensor with these sizes has, or None."""
    limits = torch.tensor(sizes, dtype=indices.dtype, device=indices.device)
    outside = ((indices < 0) | (indices >= limits)).any(1)
    return int(outside.nonzero()[0]) if outside.any() else None


def check_order(indices: Any, sizes: list[int]) -> None:
    """Raises unless every index is in bounds and larger than the one before it."""
    steps = indices[1:] - indices[:-1]
    signs = torch.zeros(len(steps), dtype=torch.int64, device=indices.device)
    for column in steps.T.flip(0):
        signs = torch.where(column != 0, column.sign().long(), signs)
    outside = first_out_of_bounds(indices, sizes)
    wrong = (signs <= 0).nonzero()
    at = int(wrong[0]) + 1 if len(wrong) else None
    if outside is not None and (at is None or outside <= at):
        row = shown(indices[outside].tolist())
        raise invalid_argument(f"indices[{outside}] = {row} is out of bounds: need 0 <= index < {shown(sizes)}")
    if at is not None:
        what = "repeated" if signs[at - 1] == 0 else "out of order. Many sparse ops require sorted indices."
        raise invalid_argument(f"indices[{at}] = {shown(indices[at].tolist())} is {what}")


def check_parts(indices: Any, values: Any, shape: Any, which: str = "Input ") -> None:
    """Raises unless three tensors can be the parts of a sparse tensor."""
    if indices.ndim != 2:
        raise invalid_argument(f"{which}indices should be a matrix but received shape {shown(indices.shape)}")
    if values is not None and values.ndim != 1:
        raise invalid_argument(f"{which}values should be a vector but received shape {shown(values.shape)}")
    if shape.ndim != 1:
        raise invalid_argument(f"{which}shape should be a vector but received shape {shown(shape.shape)}")


def count(sizes: list[int]) -> int:
    """How many elements a dense tensor has."""
    return math.prod(sizes)
