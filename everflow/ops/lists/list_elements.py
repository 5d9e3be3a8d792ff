"""What the ops on lists share: shapes of elements at run time and before, rows of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.describe import type_name
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.ops.core.node import Node


def as_dims(value: Any) -> Any:
    """The shape that a run-time tensor spells, -1 for what is not known."""
    found = value.tolist()
    if isinstance(found, list):
        return tuple(None if d < 0 else d for d in found)
    if found != -1:
        raise invalid_argument("The only valid scalar shape tensor is the fully unknown shape specified as -1.")
    return None


def shape_reader(node: Node, index: int) -> Callable[[Any], Any]:
    """Reads an input that is a shape; once and for all where it is constant."""
    value = node.constant(index)
    if value is None:
        return as_dims
    dims = as_dims(value)
    return lambda _: dims


# What is said where a list is not of the dtype that an op takes it for.
TAKEN = "Expected list with element dtype {1} but got list with element dtype {0}"
PUSHED = "Trying to push to list with wrong element dtype. List has type {0} but trying to push element with type {1}"
READ = "Trying to read from list with wrong element dtype. List has type {0} but expected type {1}"


def element_dims(t: Tensor, dtype: dtypes.DType, wish: str = TAKEN) -> Any:
    """What is known of the elements of a list of this dtype."""
    data = t.handle_data
    if data is None:
        return None
    if data[1] is not dtype:
        raise ValueError(wish.format(type_name(data[1]), type_name(dtype)))
    return data[0]


def new_list(operation: Operation, dims: shapes.Dims, output: int = 0) -> Any:
    """The shape rule of an op that makes a list: notes what is known of the elements."""
    operation.outputs[output].handle_data = (dims, operation.attr("element_dtype"))
    return ()


def check_rows(value: Any, dims: shapes.Dims) -> None:
    """Fails unless a tensor has rows, and of this shape."""
    if not value.ndim:
        raise invalid_argument("Tensor must be at least a vector, but saw shape: []")
    if not shapes.is_compatible(dims, tuple(value.shape[1:])):
        raise invalid_argument(
            f"Specified a list with shape {shapes.describe(dims)} from a tensor with shape {shapes.describe(tuple(value.shape[1:]))}"
        )


def row_dims(t: Tensor, dims: shapes.Dims) -> Any:
    """What a tensor and a shape say together of the tensor's rows."""
    inner = shapes.with_rank_at_least(t.dims, 1)
    return shapes.merge(None if inner is None else inner[1:], dims)
