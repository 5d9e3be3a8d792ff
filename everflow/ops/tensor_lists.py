"""The ops TensorList*: lists of tensors that are values themselves, with their gradients.

What is known of a list's elements before running, (dims, dtype), travels with its tensor as `handle_data`.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.constants import dims_of
from everflow.graph.describe import type_name
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.lazy import torch
from everflow.ops.list_values import TensorList, mapped, merged, parts, rows, stacked, taking_list, zeros
from everflow.ops.registry import apply, not_differentiable, op
from everflow.runtime.values import is_numeric

# -- shapes of elements, at run time and before


def _as_dims(value: Any) -> Any:
    """The shape that a run-time tensor spells, -1 for what is not known."""
    found = value.tolist()
    if isinstance(found, list):
        return tuple(None if d < 0 else d for d in found)
    if found != -1:
        raise invalid_argument("The only valid scalar shape tensor is the fully unknown shape specified as -1.")
    return None


def _reader(node: Any, index: int) -> Callable[[Any], Any]:
    """Reads an input that is a shape; once and for all where it is constant."""
    value = node.constant(index)
    if value is None:
        return _as_dims
    dims = _as_dims(value)
    return lambda _: dims


def _data(t: Tensor, dtype: dtypes.DType, wish: str = "Expected list with element dtype {1} but got list with element dtype {0}") -> Any:
    """What is known of the elements of a list of this dtype."""
    data = t.handle_data
    if data is None:
        return None
    if data[1] is not dtype:
        raise ValueError(wish.format(type_name(data[1]), type_name(dtype)))
    return data[0]


_PUSHED = "Trying to push to list with wrong element dtype. List has type {0} but trying to push element with type {1}"
_READ = "Trying to read from list with wrong element dtype. List has type {0} but expected type {1}"


def _new_list(operation: Operation, dims: Any, output: int = 0) -> Any:
    operation.outputs[output].handle_data = (dims, operation.attr("element_dtype"))
    return ()


# -- making lists


def _empty(node: Any) -> Callable[..., Any]:
    dtype, read = node.attr("element_dtype"), _reader(node, 0)

    def run(shape: Any, limit: Any) -> TensorList:
        return TensorList([], dtype, read(shape), limit=int(limit))

    return run


def _reserve(node: Any) -> Callable[..., Any]:
    dtype, read = node.attr("element_dtype"), _reader(node, 0)

    def run(shape: Any, size: Any) -> TensorList:
        if size < 0:
            raise invalid_argument(f"The num_elements to reserve must be a non negative number, but got {int(size)}")
        return TensorList([None] * int(size), dtype, read(shape))

    return run


op("EmptyTensorList", kernel=_empty, shape=lambda o: _new_list(o, dims_of(o.inputs[0])), gradient=not_differentiable)
op("TensorListReserve", kernel=_reserve, shape=lambda o: _new_list(o, dims_of(o.inputs[0])), gradient=not_differentiable)


def _check_rows(value: Any, dims: Any) -> None:
    if not value.ndim:
        raise invalid_argument("Tensor must be at least a vector, but saw shape: []")
    if not shapes.is_compatible(dims, tuple(value.shape[1:])):
        raise invalid_argument(
            f"Specified a list with shape {shapes.describe(dims)} from a tensor with shape {shapes.describe(tuple(value.shape[1:]))}"
        )


def _from_tensor(node: Any) -> Callable[..., Any]:
    dtype, read = node.attr("element_dtype"), _reader(node, 1)

    def run(value: Any, shape: Any) -> TensorList:
        dims = read(shape)
        _check_rows(value, dims)
        return TensorList(rows(value), dtype, dims)

    return run


def _row_dims(t: Tensor, dims: Any) -> Any:
    inner = shapes.with_rank_at_least(t.dims, 1)
    return shapes.merge(None if inner is None else inner[1:], dims)


def _from_tensor_shape(operation: Operation) -> Any:
    return _new_list(operation, _row_dims(operation.inputs[0], dims_of(operation.inputs[1])))


op("TensorListFromTensor", kernel=_from_tensor, shape=_from_tensor_shape, view=True,
   gradient=lambda o, dlist: [
       apply("TensorListStack", dlist, tf.slice(tf.shape(o.inputs[0]), [1], [-1]), element_dtype=o.inputs[0].dtype,
             num_elements=-1 if not o.inputs[0].dims or o.inputs[0].dims[0] is None else o.inputs[0].dims[0]), None])


# -- the end of a list


def _push(node: Any) -> Callable[..., Any]:
    operation = node.op
    known = None if operation is None else operation.inputs[0].handle_data
    if known is not None and known[1] is node.inputs[1].dtype and known[0] == node.inputs[1].dims:
        return TensorList.pushed
    dtype = node.attr("element_dtype")

    def run(items: TensorList, value: Any) -> TensorList:
        items.check_type(dtype)
        if not shapes.is_compatible(items.dims, tuple(value.shape)):
            raise invalid_argument(
                "Tried to append a tensor with incompatible shape to a list. Op element shape: "
                f"{shapes.describe(tuple(value.shape))} list shape: {shapes.describe(items.dims)}"
            )
        return items.pushed(value)

    return run


def _push_shape(operation: Operation) -> Any:
    _data(operation.inputs[0], operation.attr("element_dtype"), _PUSHED)
    operation.outputs[0].handle_data = operation.inputs[0].handle_data
    return ()


def _push_gradient(operation: Operation, dlist: Tensor) -> Any:
    t = operation.inputs[1]
    return apply("TensorListPopBack", dlist, tf.shape(t), element_dtype=operation.attr("element_dtype"))


def _pop(node: Any) -> Callable[..., Any]:
    dtype, read = node.attr("element_dtype"), _reader(node, 1)

    def run(items: TensorList, shape: Any) -> Any:
        shorter, value = items.popped()
        if value is None:
            dims = merged(read(shape), items.dims)
            if not shapes.is_fully_defined(dims):
                raise invalid_argument(
                    f"Trying to read an uninitialized tensor but element_shape is not fully defined.{shapes.describe(dims)}"
                )
            value = zeros(dims, dtype)
        return shorter, value

    return run


def _pop_shapes(operation: Operation) -> list[Any]:
    known = _data(operation.inputs[0], operation.attr("element_dtype"), _READ)
    dims = dims_of(operation.inputs[1])
    operation.outputs[0].handle_data = operation.inputs[0].handle_data or (dims, operation.attr("element_dtype"))
    return [(), dims if known is None else known if not shapes.is_compatible(known, dims) else shapes.merge(known, dims)]


def _pop_gradient(operation: Operation, dlist: Any, delement: Any) -> Any:
    dtype = operation.attr("element_dtype")
    if dlist is None:
        dlist = apply("EmptyTensorList", apply("TensorListElementShape", operation.outputs[0], shape_type=dtypes.int32), -1,
                      element_dtype=dtype)
    if delement is None:
        delement = tf.zeros_like(operation.outputs[1])
    return [apply("TensorListPushBack", dlist, delement), None]


op("TensorListPushBack", kernel=taking_list(_push), shape=_push_shape, gradient=_push_gradient, view=True)
op("TensorListPopBack", kernel=taking_list(_pop), shape=_pop_shapes, gradient=_pop_gradient, view=True)
op("TensorListLength", kernel=taking_list(lambda n: lambda items: torch.tensor(items.length, dtype=torch.int32)), shape=lambda o: (),
   gradient=not_differentiable)


def _element_shape(node: Any) -> Callable[..., Any]:
    dtype = torch.int32 if node.attr("shape_type") is dtypes.int32 else torch.int64

    def run(items: TensorList) -> Any:
        dims = items.dims
        return torch.tensor(-1 if dims is None else [-1 if d is None else d for d in dims], dtype=dtype)

    return run


def _element_shape_dims(operation: Operation) -> Any:
    data = operation.inputs[0].handle_data
    return None if data is None or data[0] is None else (len(data[0]),)


op("TensorListElementShape", kernel=_element_shape, shape=_element_shape_dims, gradient=not_differentiable)


# -- single items


def _get(node: Any) -> Callable[..., Any]:
    dtype, read = node.attr("element_dtype"), _reader(node, 2)

    def run(items: TensorList, index: Any, shape: Any) -> Any:
        items.check_type(dtype)
        value = items.item(int(index))
        if value is None:
            dims = merged(read(shape), items.dims)
            if not shapes.is_fully_defined(dims):
                other = next((v for v in items.values() if v is not None), None)
                if other is None:
                    raise invalid_argument(
                        "Trying to read an uninitialized tensor but element_shape is not fully defined: "
                        f"{shapes.describe(dims)} and no list element is set."
                    )
                dims = tuple(other.shape)
            value = zeros(dims, dtype)
        return value

    return run


def _get_shape(operation: Operation) -> Any:
    return shapes.merge(_data(operation.inputs[0], operation.attr("element_dtype")), dims_of(operation.inputs[2]))


def _get_gradient(operation: Operation, ditem: Tensor) -> Any:
    items, index, _ = operation.inputs
    size = apply("TensorListLength", items)
    empty = _reserved_like(items, size, ditem.dtype)
    return [apply("TensorListSetItem", empty, index, ditem), None, None]


def _reserved_like(items: Tensor, size: Tensor, dtype: Any) -> Tensor:
    shape = apply("TensorListElementShape", items, shape_type=dtypes.int32)
    found = apply("TensorListReserve", shape, size, element_dtype=dtype)
    found.handle_data = items.handle_data or found.handle_data
    return found


def _set(node: Any) -> Callable[..., Any]:
    dtype = node.attr("element_dtype")

    def run(items: TensorList, index: Any, value: Any) -> TensorList:
        items.check_type(dtype)
        at = int(index)
        if not 0 <= at < items.length:
            raise invalid_argument(f"Trying to modify element {at} in a list with {items.length} elements.")
        shape = value.shape
        if shape != items.dims and not shapes.is_compatible(items.dims, tuple(shape)):
            raise invalid_argument(
                "Tried to set a tensor with incompatible shape at a list index. Item element shape: "
                f"{shapes.describe(tuple(shape))} list shape: {shapes.describe(items.dims)}"
            )
        changed = items.values()
        changed[at] = value
        return items.holding(changed)

    return run


def _set_shape(operation: Operation) -> Any:
    items, _, value = operation.inputs
    if items.handle_data is not None:
        shapes.merge(value.dims, items.handle_data[0])
    operation.outputs[0].handle_data = items.handle_data
    return ()


def _set_gradient(operation: Operation, dlist: Tensor) -> Any:
    _, index, value = operation.inputs
    rest = apply("TensorListSetItem", dlist, index, tf.zeros_like(value))
    return [rest, None, apply("TensorListGetItem", dlist, index, tf.shape(value), element_dtype=value.dtype)]


op("TensorListGetItem", kernel=taking_list(_get), shape=_get_shape, gradient=_get_gradient, view=True)
op("TensorListSetItem", kernel=taking_list(_set), shape=_set_shape, gradient=_set_gradient, view=True)


def _same_list(operation: Operation) -> Any:
    operation.outputs[0].handle_data = operation.inputs[0].handle_data
    return ()


op("TensorListResize", kernel=lambda n: lambda items, size: items.resized(int(size)), shape=_same_list, view=True,
   gradient=lambda o, dlist: [apply("TensorListResize", dlist, apply("TensorListLength", o.inputs[0])), None])


# -- items side by side


def _stack(node: Any) -> Callable[..., Any]:
    dtype, count, read = node.attr("element_dtype"), node.attr("num_elements"), _reader(node, 1)

    def run(items: TensorList, shape: Any) -> Any:
        if count not in (-1, items.length):
            raise invalid_argument(
                f"Operation expected a list with {count} elements but got a list with {items.length} elements."
            )
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
    dims = shapes.merge(dims_of(operation.inputs[1]), _data(operation.inputs[0], operation.attr("element_dtype"), _READ))
    count = operation.attr("num_elements")
    return None if dims is None else (None if count < 0 else count, *dims)


def _stack_gradient(operation: Operation, gradient: Tensor) -> Any:
    from everflow.ops.list_functions import build_element_shape

    dims = None if gradient.dims is None else gradient.dims[1:]
    return [apply("TensorListFromTensor", gradient, build_element_shape(shapes.TensorShape.from_dims(dims))), None]


op("TensorListStack", kernel=taking_list(_stack), shape=_stack_shape, gradient=_stack_gradient)


def _gather(node: Any) -> Callable[..., Any]:
    dtype, read = node.attr("element_dtype"), _reader(node, 2)

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
            raise invalid_argument(
                f"Tried to gather 0-elements from a list with non-fully-defined shape: {shapes.describe(dims)}"
            )
        return stacked(values, dims, dtype)

    return run


def _gather_shape(operation: Operation) -> Any:
    dims = shapes.merge(dims_of(operation.inputs[2]), _data(operation.inputs[0], operation.attr("element_dtype"), _READ))
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


def _scatter(node: Any) -> Callable[..., Any]:
    dtype, read = node.attr("element_dtype"), _reader(node, 2)

    def run(value: Any, indices: Any, shape: Any, size: Any = -1) -> TensorList:
        dims, size = read(shape), int(size)
        _check_rows(value, dims)
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
    return _new_list(operation, _row_dims(operation.inputs[0], dims_of(operation.inputs[2])))


def _scatter_gradient(operation: Operation, dlist: Tensor) -> Any:
    value, indices = operation.inputs[:2]
    shape = tf.slice(tf.shape(value), [1], [-1])
    rest = [None] * (len(operation.inputs) - 1)
    return [apply("TensorListGather", dlist, indices, shape, element_dtype=value.dtype), *rest]


for _name in ("TensorListScatter", "TensorListScatterV2"):
    op(_name, kernel=_scatter, shape=_scatter_shape, gradient=_scatter_gradient, view=True)


def _scatter_into(node: Any) -> Callable[..., Any]:
    dtype = node.attr("element_dtype")

    def run(items: TensorList, value: Any, indices: Any) -> TensorList:
        items.check_type(dtype)
        _check_rows(value, None)
        found = _checked_indices(indices, value)
        changed = items.resized(max(items.length, max(found, default=-1) + 1)).values()
        for i, row in zip(found, rows(value)):
            changed[i] = row
        return items.holding(changed)

    return run


def _scatter_into_shape(operation: Operation) -> Any:
    items, value, _ = operation.inputs
    dims = _data(items, operation.attr("element_dtype"))
    return _new_list(operation, _row_dims(value, dims) if dims is not None else None)


def _scatter_into_gradient(operation: Operation, dlist: Tensor) -> Any:
    _, value, indices = operation.inputs
    shape = tf.slice(tf.shape(value), [1], [-1])
    of_value = apply("TensorListGather", dlist, indices, shape, element_dtype=value.dtype)
    rest = apply("TensorListScatterIntoExistingList", dlist, tf.zeros_like(value), indices)
    return [rest, of_value, None]


op("TensorListScatterIntoExistingList", kernel=taking_list(_scatter_into), shape=_scatter_into_shape, gradient=_scatter_into_gradient, view=True)


# -- items one after the other


def _split(node: Any) -> Callable[..., Any]:
    dtype, read = node.attr("element_dtype"), _reader(node, 1)

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
    return _new_list(operation, dims)


def _split_gradient(operation: Operation, dlist: Tensor) -> Any:
    value, _, lengths = operation.inputs
    shape = tf.concat([[-1], tf.slice(tf.shape(value), [1], [-1])], 0)
    joined, _ = apply("TensorListConcatV2", dlist, shape, lengths, element_dtype=value.dtype)
    return [joined, None, None]


op("TensorListSplit", kernel=_split, shape=_split_shape, gradient=_split_gradient, view=True)


def _concat(node: Any) -> Callable[..., Any]:
    dtype = node.attr("element_dtype")
    read = _reader(node, 1) if node.type == "TensorListConcatV2" else None
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
    import numpy as np

    if not values:
        return zeros((0, *inner), dtype)
    return torch.cat(values) if is_numeric(dtype) else np.concatenate(values)


def _concat_shapes(operation: Operation) -> Any:
    dims = operation.attr("element_shape") if operation.type == "TensorListConcat" else dims_of(operation.inputs[1])
    known = _data(operation.inputs[0], operation.attr("element_dtype"), _READ)
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


# -- lists and lists of lists


def _concat_lists(node: Any) -> Callable[..., Any]:
    dtype = node.attr("element_dtype")

    def joined(a: TensorList, b: TensorList) -> TensorList:
        for name, items in (("a", a), ("b", b)):
            if items.dtype is not dtype:
                raise invalid_argument(f"input_{name}.type != element_dtype: {type_name(items.dtype)} vs. {type_name(dtype)}")
        if not shapes.is_compatible(a.dims, b.dims):
            raise invalid_argument(
                "input_a and input_b TensorList element shapes are not identical at index 0. "
                f"{shapes.describe(a.dims)} vs. {shapes.describe(b.dims)}"
            )
        return a.holding(a.values() + b.values())

    return lambda a, b: mapped(joined, a, b)


def _concat_lists_shape(operation: Operation) -> Any:
    a, b = operation.inputs
    dtype = operation.attr("element_dtype")
    known = [_data(t, dtype, f"input_{n}.type != element_dtype: {{0}} vs. {{1}}") for n, t in (("a", a), ("b", b))]
    operation.outputs[0].handle_data = (shapes.merge(*known), dtype)
    return shapes.merge(a.dims, b.dims)


op("TensorListConcatLists", kernel=_concat_lists, shape=_concat_lists_shape)


def _push_batch(node: Any) -> Callable[..., Any]:
    dtype = node.attr("element_dtype")

    def run(lists: Any, values: Any) -> Any:
        found = lists.copy()
        for i, (items, row) in enumerate(zip(lists.reshape(-1), rows(values.reshape((-1, *values.shape[lists.ndim:]))))):
            items.check_type(dtype)
            if not shapes.is_compatible(items.dims, tuple(row.shape)):
                raise invalid_argument(
                    f"Tried to append a tensor with incompatible shape to a list at index {i}. Op element shape: "
                    f"{shapes.describe(tuple(row.shape))} list shape: {shapes.describe(items.dims)}"
                )
            found.reshape(-1)[i] = items.pushed(row)
        return found

    return run


def _push_batch_shape(operation: Operation) -> Any:
    lists, values = operation.inputs
    _data(lists, operation.attr("element_dtype"), _PUSHED)
    if lists.dims is not None and values.dims is not None:
        for a, b in zip(values.dims, lists.dims):
            shapes.merge_size(a, b)
        shapes.with_rank_at_least(values.dims, len(lists.dims))
    operation.outputs[0].handle_data = lists.handle_data
    return lists.dims


op("TensorListPushBackBatch", kernel=_push_batch, shape=_push_batch_shape, gradient=not_differentiable, view=True)
