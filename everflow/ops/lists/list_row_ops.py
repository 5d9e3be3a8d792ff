"""Lists of the rows and parts of tensors, and tensors made of lists: TensorListStack, Gather, Scatter, Split, Concat."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.constants import dims_of
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.lists.list_elements import READ, check_rows, element_dims, new_list, row_dims, shape_reader
from everflow.ops.lists.list_functions import build_element_shape
from everflow.ops.lists.list_objects import TensorList, merged, parts, rows, stacked, taking_list, zeros
from everflow.values.tensors import is_numeric

# -- items side by side


def _stack(node: Node) -> Callable[..., Any]:
    dtype, count, read = node.attr("element_dtype"), node.attr("num_elements"), shape_reader(node, 1)

    def run(items: TensorList, shape: Any) -> Any:
        if count not in (-1, items.length):
            raise invalid_argument(f"Operation expected a list with {count} elements but got a list with {items.length} elements.")
        values = items.values()
        dims = merged(read(shape), items.dims)
        if all(v is None for v in values) and not shapes.is_fully_defined(dims):
            if values:
                raise invalid_argument(
                    "Tried to stack list which only contains uninitialized tensors and has a non-fully-defined element_shape: "
                    f"{shapes.describe(dims)}"
                )
            raise invalid_argument(
                f"Tried to stack elements of an empty list with non-fully-defined element_shape: {shapes.describe(dims)}"
            )
        return stacked(values, dims, dtype)

    return run


def _stack_shape(operation: Operation) -> Any:
    dims = shapes.merge(dims_of(operation.inputs[1]), element_dims(operation.inputs[0], operation.attr("element_dtype"), READ))
    count = operation.attr("num_elements")
    return None if dims is None else (None if count < 0 else count, *dims)


def _stack_gradient(operation: Operation, gradient: Tensor) -> Any:
    dims = None if gradient.dims is None else gradient.dims[1:]
    return [apply("TensorListFromTensor", gradient, build_element_shape(shapes.TensorShape.from_dims(dims))), None]


op("TensorListStack", kernel=taking_list(_stack), shape=_stack_shape, gradient=_stack_gradient)


def _gather(node: Node) -> Callable[..., Any]:
    dtype, read = node.attr("element_dtype"), shape_reader(node, 2)

    def run(items: TensorList, indices: Any, shape: Any) -> Any:
        found = indices.tolist()
        for i in found:
            if not 0 <= i < items.length:
                raise invalid_argument(f"Trying to gather element {i} in a list with {items.length} elements.")
        values = [items.items[i] for i in found]
        dims = merged(read(shape), items.dims)
        if all(v is None for v in values) and not shapes.is_fully_defined(dims):
            if values:
                raise invalid_argument(
                    f"Tried to gather uninitialized tensors from a list with non-fully-defined element_shape: {shapes.describe(dims)}"
                )
            raise invalid_argument(f"Tried to gather 0-elements from a list with non-fully-defined shape: {shapes.describe(dims)}")
        return stacked(values, dims, dtype)

    return run


def _gather_shape(operation: Operation) -> Any:
    dims = shapes.merge(dims_of(operation.inputs[2]), element_dims(operation.inputs[0], operation.attr("element_dtype"), READ))
    return None if dims is None else (shapes.with_rank(operation.inputs[1].dims, 1)[0], *dims)


def _gather_gradient(operation: Operation, gradient: Tensor) -> Any:
    items, indices, _ = operation.inputs
    shape = apply("TensorListElementShape", items, shape_type=dtypes.int32)
    empty = apply("TensorListReserve", shape, apply("TensorListLength", items), element_dtype=gradient.dtype)
    empty.handle_data = items.handle_data or empty.handle_data
    return [apply("TensorListScatterIntoExistingList", empty, gradient, indices), None, None]


op("TensorListGather", kernel=taking_list(_gather), shape=_gather_shape, gradient=_gather_gradient)


def _checked_indices(indices: Any, value: Any) -> list[int]:
    found = indices.tolist()
    if len(found) != value.shape[0]:
        raise invalid_argument(f"Invalid number of rows in input tensor. Expected: {len(found)} Actual: {value.shape[0]}")
    if any(i < 0 for i in found):
        raise invalid_argument("Indices in TensorListScatter must all be non-negative.")
    return found


def _scatter(node: Node) -> Callable[..., Any]:
    dtype, read = node.attr("element_dtype"), shape_reader(node, 2)

    def run(value: Any, indices: Any, shape: Any, size: Any = -1) -> TensorList:
        dims, size = read(shape), int(size)
        check_rows(value, dims)
        if size < -1:
            raise invalid_argument(f"TensorListScatter expects num_elements >= -1, found: {size}")
        found = _checked_indices(indices, value)
        highest = max(found, default=-1)
        if size >= 0 and highest >= size:
            raise invalid_argument(f"TensorListScatter: Trying to scatter at index {highest} in list with size {size}")
        items: list[Any] = [None] * (highest + 1 if size < 0 else size)
        for i, row in zip(found, rows(value)):
            items[i] = row
        return TensorList(items, dtype, dims)

    return run


def _scatter_shape(operation: Operation) -> Any:
    return new_list(operation, row_dims(operation.inputs[0], dims_of(operation.inputs[2])))


def _scatter_gradient(operation: Operation, dlist: Tensor) -> Any:
    value, indices = operation.inputs[:2]
    shape = tf.slice(tf.shape(value), [1], [-1])
    rest = [None] * (len(operation.inputs) - 1)
    return [apply("TensorListGather", dlist, indices, shape, element_dtype=value.dtype), *rest]


for _name in ("TensorListScatter", "TensorListScatterV2"):
    op(_name, kernel=_scatter, shape=_scatter_shape, gradient=_scatter_gradient, view=True)


def _scatter_into(node: Node) -> Callable[..., Any]:
    dtype = node.attr("element_dtype")

    def run(items: TensorList, value: Any, indices: Any) -> TensorList:
        items.check_type(dtype)
        check_rows(value, None)
        found = _checked_indices(indices, value)
        changed = items.resized(max(items.length, max(found, default=-1) + 1)).values()
        for i, row in zip(found, rows(value)):
            changed[i] = row
        return items.holding(changed)

    return run


def _scatter_into_shape(operation: Operation) -> Any:
    items, value, _ = operation.inputs
    dims = element_dims(items, operation.attr("element_dtype"))
    return new_list(operation, row_dims(value, dims) if dims is not None else None)


def _scatter_into_gradient(operation: Operation, dlist: Tensor) -> Any:
    _, value, indices = operation.inputs
    shape = tf.slice(tf.shape(value), [1], [-1])
    of_value = apply("TensorListGather", dlist, indices, shape, element_dtype=value.dtype)
    rest = apply("TensorListScatterIntoExistingList", dlist, tf.zeros_like(value), indices)
    return [rest, of_value, None]


op(
    "TensorListScatterIntoExistingList",
    kernel=taking_list(_scatter_into),
    shape=_scatter_into_shape,
    gradient=_scatter_into_gradient,
    view=True,
)


# -- items one after the other


def _split(node: Node) -> Callable[..., Any]:
    dtype, read = node.attr("element_dtype"), shape_reader(node, 1)

    def run(value: Any, shape: Any, lengths: Any) -> TensorList:
        dims = read(shape)
        if not value.ndim:
            raise invalid_argument("Tensor must be at least a vector, but saw shape: []")
        if lengths.ndim != 1:
            raise invalid_argument(f"Expected lengths to be a vector, received shape: {shapes.describe(tuple(lengths.shape))}")
        if dims is not None and not dims:
            raise invalid_argument("TensorListSplit requires element_shape to be at least of rank 1, but saw: []")
        total, sizes = value.shape[0], lengths.tolist()
        if dims is not None and not shapes.is_compatible(dims[1:], tuple(value.shape[1:])):
            raise invalid_argument(
                f"tensor shape {shapes.describe(tuple(value.shape))} is not compatible with element_shape {shapes.describe(dims)}"
            )
        used = 0
        for n in sizes:
            if n < 0:
                raise invalid_argument(f"Invalid value in lengths: {n}")
            if used + n > total:
                raise invalid_argument(f"Attempting to slice [{used}, {used + n}] from tensor with length {total}")
            used += n
        if used != total:
            raise invalid_argument(f"Unused values in tensor. Length of tensor: {total} Values used: {used}")
        return TensorList(parts(value, sizes) if sizes else [], dtype, dims)

    return run


def _split_shape(operation: Operation) -> Any:
    value = shapes.with_rank_at_least(operation.inputs[0].dims, 1)
    shapes.with_rank(operation.inputs[2].dims, 1)
    dims = dims_of(operation.inputs[1])
    if value is not None:
        shapes.merge((None, *value[1:]), dims if dims is None else (None, *dims[1:]) if dims else dims)
    return new_list(operation, dims)


def _split_gradient(operation: Operation, dlist: Tensor) -> Any:
    value, _, lengths = operation.inputs
    shape = tf.concat([[-1], tf.slice(tf.shape(value), [1], [-1])], 0)
    joined, _ = apply("TensorListConcatV2", dlist, shape, lengths, element_dtype=value.dtype)
    return [joined, None, None]


op("TensorListSplit", kernel=_split, shape=_split_shape, gradient=_split_gradient, view=True)


def _concat(node: Node) -> Callable[..., Any]:
    dtype = node.attr("element_dtype")
    read = shape_reader(node, 1) if node.type == "TensorListConcatV2" else None
    given = None if read is not None else node.attr("element_shape")

    def run(items: TensorList, shape: Any = None, leading: Any = None) -> Any:
        sizes = [] if leading is None else leading.tolist()
        dims, known = items.dims, given if read is None else read(shape)
        if dims is None:
            dims = known
        elif known is not None:
            merged(known[1:], dims[1:])
        if dims is not None and not dims:
            raise invalid_argument("Concat requires elements to be at least vectors, found scalars instead.")
        inner: Any = None if dims is None else dims[1:]
        values = items.values()
        if all(v is None for v in values) and not shapes.is_fully_defined(inner):
            if values:
                raise invalid_argument(
                    "Trying to concat list with only uninitialized tensors but element_shape_except_first_dim_ is not fully "
                    f"defined: {shapes.describe(inner)}"
                )
            raise invalid_argument(
                "All except the first dimension must be fully defined when concating an empty tensor list. element_shape: "
                f"{shapes.describe(dims)}"
            )
        for i, v in enumerate(values):
            if v is not None:
                if not v.ndim:
                    raise invalid_argument(f"Concat saw a scalar shape at index {i} but requires at least vectors.")
                inner = merged(inner, tuple(v.shape[1:]))
        first = None if dims is None else dims[0]
        if first is None and not sizes and len({v.shape[0] for v in values if v is not None}) == 1:
            first = next(v.shape[0] for v in values if v is not None)
        found = []
        for i, v in enumerate(values):
            if v is None:
                if first is None and i >= len(sizes):
                    raise invalid_argument(
                        f"List contains uninitialized tensor at index {i} but leading_dims has only {len(sizes)} elements."
                    )
                v = zeros((sizes[i] if first is None else first, *inner), dtype)
            found.append(v)
        joined = _joined(found, inner, dtype)
        return joined, torch.tensor([v.shape[0] for v in found], dtype=torch.int64)

    return run


def _joined(values: list[Any], inner: Any, dtype: dtypes.DType) -> Any:
    if not values:
        return zeros((0, *inner), dtype)
    return torch.cat(values) if is_numeric(dtype) else np.concatenate(values)


def _concat_shapes(operation: Operation) -> Any:
    dims = operation.attr("element_shape") if operation.type == "TensorListConcat" else dims_of(operation.inputs[1])
    known = element_dims(operation.inputs[0], operation.attr("element_dtype"), READ)
    inner = known[1:] if known else dims[1:] if dims else None
    if known and dims:
        inner = shapes.merge(dims[1:], inner)
    return [None if inner is None else (None, *inner), (None,)]


def _concat_gradient(operation: Operation, gradient: Tensor, _: Any) -> Any:
    shape = apply("TensorListElementShape", operation.inputs[0], shape_type=dtypes.int32)
    dlist = apply("TensorListSplit", gradient, shape, operation.outputs[1])
    return [dlist, *[None] * (len(operation.inputs) - 1)]


for _name in ("TensorListConcat", "TensorListConcatV2"):
    op(_name, kernel=taking_list(_concat), shape=_concat_shapes, gradient=_concat_gradient)
