"""Sets: the different values along the last dimension of tensors, dense or sparse."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.constants import dims_of
from everflow.graph.operation import Operation
from everflow.graph.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor
from everflow.lazy import torch
from everflow.ops.arrays.reshaping import shown
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.sparse.indices import changes, check_order, groups, joined, positions, taken

Kernel = Callable[..., Any]

_ELEMENTS = (dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.string)

# Which elements are in the result, by whether they are in the first set and in the second.
_CHOICES: dict[str, Callable[[Any, Any], Any]] = {
    "a-b": lambda a, b: a & ~b,
    "b-a": lambda a, b: b & ~a,
    "intersection": lambda a, b: a & b,
    "union": lambda a, b: a | b,
}


def _numbered(values: Any) -> tuple[Any, Any]:
    """(the different values in order, which of them each one is)."""
    if isinstance(values, np.ndarray):
        found, which = np.unique(values, return_inverse=True)
        return found, torch.from_numpy(which.reshape(-1))
    if values.dtype == torch.uint16:
        found, which = torch.unique(values.int(), return_inverse=True)
        return found.to(torch.uint16), which
    return torch.unique(values, return_inverse=True)


def _dense(values: Any) -> tuple[Any, Any, list[int]]:
    """A dense tensor as (which set each element is in, the elements, the shape of the sets)."""
    sizes = list(values.shape)
    if len(sizes) < 2:
        raise invalid_argument(f"Invalid rank {len(sizes)}.")
    count = int(np.prod(sizes[:-1]))
    places = torch.arange(count).repeat_interleave(sizes[-1])
    return _unravelled(places, sizes[:-1]), values.reshape(-1), sizes[:-1]


def _unravelled(places: Any, sizes: list[int]) -> Any:
    columns = []
    for size in reversed(sizes):
        columns.append(places % max(size, 1))
        places = places // max(size, 1)
    return torch.stack(columns[::-1], 1)


def _sparse(validate: bool, indices: Any, values: Any, shape: Any) -> tuple[Any, Any, list[int]]:
    sizes = shape.tolist()
    if len(sizes) < 2:
        raise invalid_argument(f"Invalid rank {len(sizes)}.")
    if validate:
        check_order(indices, sizes)
    return indices[:, :-1], values, sizes[:-1]


def _combine(node: Node, first: Callable[..., Any], second: Callable[..., Any], split: int) -> Kernel:
    name = node.attr("set_operation").lower()
    name = name.decode() if isinstance(name, bytes) else name
    if name not in _CHOICES:
        raise invalid_argument(f"Invalid set_operation {name}.")
    choose = _CHOICES[name]

    def run(*parts: Any) -> Any:
        places_a, a, sizes_a = first(*parts[:split])
        places_b, b, sizes_b = second(*parts[split:])
        if sizes_a != sizes_b:
            raise invalid_argument(f"Mismatched shapes {shown(sizes_a)} vs {shown(sizes_b)}")
        distinct, which = _numbered(joined([a, b]))
        rows, at = groups(torch.cat([torch.cat([places_a, places_b]), which.unsqueeze(1)], 1))
        inside = torch.zeros((2, len(rows)), dtype=torch.bool)
        inside[0, at[: len(a)]] = True
        inside[1, at[len(a) :]] = True
        rows = rows[choose(*inside)]
        sets = rows[:, :-1]
        order = torch.arange(len(rows))
        starts = order[changes(sets)]
        lengths = torch.diff(starts, append=torch.tensor([len(rows)]))
        order = order - starts.repeat_interleave(lengths)
        longest = int(lengths.max()) if len(lengths) else 0
        found = torch.cat([sets, order.unsqueeze(1)], 1)
        return found, taken(distinct, rows[:, -1]), torch.tensor([*sizes_a, longest])

    return run


def _dense_dense(node: Node) -> Kernel:
    return _combine(node, _dense, _dense, 1)


def _dense_sparse(node: Node) -> Kernel:
    return _combine(node, _dense, functools.partial(_sparse, node.attr("validate_indices")), 1)


def _sparse_sparse(node: Node) -> Kernel:
    checked = functools.partial(_sparse, node.attr("validate_indices"))
    return _combine(node, checked, checked, 3)


def _of_rank(rank: int | None) -> Any:
    return [(None, rank), (None,), (rank,)]


def _dense_dense_shape(o: Operation) -> Any:
    a, b = o.inputs[0].dims, o.inputs[1].dims
    if a is None:
        if b is not None:
            shapes.with_rank_at_least(b, 2)
        return _of_rank(None if b is None else len(b))
    shapes.with_rank_at_least(a, 2)
    if b is not None:
        shapes.merge(a[:-1], shapes.with_rank(b, len(a))[:-1])
    return _of_rank(len(a))


def _dense_sparse_shape(o: Operation) -> Any:
    a, indices, shape = o.inputs[0].dims, o.inputs[1].dims, o.inputs[3].dims
    rank = shapes.with_rank(indices, 2)[1]
    rank = shapes.merge_size(rank, shapes.with_rank(shape, 1)[0])
    if rank is not None and rank < 2:
        raise ValueError(f"Input rank {rank} should be > 1.")
    if a is not None:
        shapes.with_rank_at_least(a, 2)
        if rank is not None:
            shapes.with_rank(a, rank)
            sizes = dims_of(o.inputs[3])
            if sizes is not None:
                shapes.merge(a[:-1], tuple(sizes)[:-1])
        rank = len(a)
    return _of_rank(rank)


def _sparse_sparse_shape(o: Operation) -> Any:
    ranks = []
    for at in (0, 3):
        rank = shapes.with_rank(o.inputs[at].dims, 2)[1]
        ranks.append(shapes.merge_size(rank, shapes.with_rank(o.inputs[at + 2].dims, 1)[0]))
    rank = shapes.merge_size(*ranks)
    if rank is not None and rank < 2:
        raise ValueError(f"Input rank {rank} should be > 1.")
    return _of_rank(rank)


op("DenseToDenseSetOperation", kernel=_dense_dense, shape=_dense_dense_shape, gradient=not_differentiable)
op("DenseToSparseSetOperation", kernel=_dense_sparse, shape=_dense_sparse_shape, gradient=not_differentiable)
op("SparseToSparseSetOperation", kernel=_sparse_sparse, shape=_sparse_sparse_shape, gradient=not_differentiable)


def _size(node: Node) -> Kernel:
    validate = node.attr("validate_indices")

    def run(indices: Any, values: Any, shape: Any) -> Any:
        places, values, sizes = _sparse(validate, indices, values, shape)
        rows, _ = groups(torch.cat([places, _numbered(values)[1].unsqueeze(1)], 1))
        found = torch.bincount(positions(rows[:, :-1], sizes), minlength=int(np.prod(sizes)))
        return found.int().reshape(sizes)

    return run


op("SetSize", kernel=_size, shape=lambda o: None, gradient=not_differentiable)


@public("sets.size", "sets.set_size")
def set_size(a: Any, validate_indices: bool = True) -> Any:
    """How many different elements each set along the last dimension of a sparse tensor has."""
    sets = convert_to_tensor_or_sparse_tensor(a, name="a")
    if not isinstance(sets, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {sets}.")
    elements = sets.values
    if elements.dtype.base_dtype not in _ELEMENTS:
        raise TypeError(f"Invalid dtype {elements.dtype}.")
    return apply("SetSize", sets.indices, elements, sets.dense_shape, validate_indices=validate_indices)


def _ordered(a: Any, b: Any) -> tuple[Any, Any, bool]:
    """(a, b, whether they were exchanged): of a dense and a sparse tensor the dense one comes first."""
    a = convert_to_tensor_or_sparse_tensor(a, name="a")
    if a.dtype.base_dtype not in _ELEMENTS:
        raise TypeError(f"'a' invalid dtype {a.dtype!s}.")
    b = convert_to_tensor_or_sparse_tensor(b, name="b")
    if b.dtype.base_dtype != a.dtype.base_dtype:
        raise TypeError(f"Types don't match, {a.dtype!s} vs {b.dtype!s}.")
    if isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        return b, a, True
    return a, b, False


def _operation(a: Any, b: Any, set_operation: str, validate_indices: bool) -> Any:
    settings: dict[str, Any] = {"set_operation": set_operation, "validate_indices": validate_indices}
    if isinstance(a, SparseTensor):
        found = apply("SparseToSparseSetOperation", a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape, **settings)
    elif isinstance(b, SparseTensor):
        found = apply("DenseToSparseSetOperation", a, b.indices, b.values, b.dense_shape, **settings)
    else:
        found = apply("DenseToDenseSetOperation", a, b, **settings)
    return tf.SparseTensor(*found)


@public("sets.intersection", "sets.set_intersection")
def set_intersection(a: Any, b: Any, validate_indices: bool = True) -> Any:
    """The elements that are in both of two sets, for each pair of sets along the last dimension."""
    a, b, _ = _ordered(a, b)
    return _operation(a, b, "intersection", validate_indices)


@public("sets.difference", "sets.set_difference")
def set_difference(a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True) -> Any:
    """The elements that are in the first set and not in the second, or the reverse, for each pair of sets."""
    a, b, exchanged = _ordered(a, b)
    return _operation(a, b, "a-b" if aminusb != exchanged else "b-a", validate_indices)


@public("sets.union", "sets.set_union")
def set_union(a: Any, b: Any, validate_indices: bool = True) -> Any:
    """The elements that are in either of two sets, for each pair of sets along the last dimension."""
    a, b, _ = _ordered(a, b)
    return _operation(a, b, "union", validate_indices)
