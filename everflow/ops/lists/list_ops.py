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
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.lists.list_elements import PUSHED, READ, check_rows, element_dims, new_list, row_dims, shape_reader
from everflow.ops.lists.list_objects import TensorList, defined, mapped, merged, rows, taking_list, zeros

# -- making lists


def _empty(node: Node) -> Callable[..., Any]:
    dtype, read = node.attr("element_dtype"), shape_reader(node, 0)

    def run(shape: Any, limit: Any) -> TensorList:
        return TensorList([], dtype, read(shape), limit=int(limit))

    return run


def _reserve(node: Node) -> Callable[..., Any]:
    dtype, read = node.attr("element_dtype"), shape_reader(node, 0)

    def run(shape: Any, size: Any) -> TensorList:
        if size < 0:
            raise invalid_argument(f"The num_elements to reserve must be a non negative number, but got {int(size)}")
        return TensorList([None] * int(size), dtype, read(shape))

    return run


op("EmptyTensorList", kernel=_empty, shape=lambda o: new_list(o, dims_of(o.inputs[0])), gradient=not_differentiable)
op("TensorListReserve", kernel=_reserve, shape=lambda o: new_list(o, dims_of(o.inputs[0])), gradient=not_differentiable)


def _from_tensor(node: Node) -> Callable[..., Any]:
    dtype, read = node.attr("element_dtype"), shape_reader(node, 1)

    def run(value: Any, shape: Any) -> TensorList:
        dims = read(shape)
        check_rows(value, dims)
        return TensorList(rows(value), dtype, dims)

    return run


def _from_tensor_shape(operation: Operation) -> Any:
    return new_list(operation, row_dims(operation.inputs[0], dims_of(operation.inputs[1])))


op(
    "TensorListFromTensor",
    kernel=_from_tensor,
    shape=_from_tensor_shape,
    view=True,
    gradient=lambda o, dlist: [
        apply(
            "TensorListStack",
            dlist,
            tf.slice(tf.shape(o.inputs[0]), [1], [-1]),
            element_dtype=o.inputs[0].dtype,
            num_elements=-1 if not o.inputs[0].dims or o.inputs[0].dims[0] is None else o.inputs[0].dims[0],
        ),
        None,
    ],
)


# -- the end of a list


def _push(node: Node) -> Callable[..., Any]:
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
    element_dims(operation.inputs[0], operation.attr("element_dtype"), PUSHED)
    operation.outputs[0].handle_data = operation.inputs[0].handle_data
    return ()


def _push_gradient(operation: Operation, dlist: Tensor) -> Any:
    t = operation.inputs[1]
    return apply("TensorListPopBack", dlist, tf.shape(t), element_dtype=operation.attr("element_dtype"))


def _pop(node: Node) -> Callable[..., Any]:
    dtype, read = node.attr("element_dtype"), shape_reader(node, 1)

    def run(items: TensorList, shape: Any) -> Any:
        shorter, value = items.popped()
        if value is None:
            value = zeros(defined(merged(read(shape), items.dims)), dtype)
        return shorter, value

    return run


def _pop_shapes(operation: Operation) -> list[Any]:
    known = element_dims(operation.inputs[0], operation.attr("element_dtype"), READ)
    dims = dims_of(operation.inputs[1])
    operation.outputs[0].handle_data = operation.inputs[0].handle_data or (dims, operation.attr("element_dtype"))
    return [(), dims if known is None else known if not shapes.is_compatible(known, dims) else shapes.merge(known, dims)]


def _pop_gradient(operation: Operation, dlist: Any, delement: Any) -> Any:
    dtype = operation.attr("element_dtype")
    if dlist is None:
        dlist = apply(
            "EmptyTensorList", apply("TensorListElementShape", operation.outputs[0], shape_type=dtypes.int32), -1, element_dtype=dtype
        )
    if delement is None:
        delement = tf.zeros_like(operation.outputs[1])
    return [apply("TensorListPushBack", dlist, delement), None]


op("TensorListPushBack", kernel=taking_list(_push), shape=_push_shape, gradient=_push_gradient, view=True)
op("TensorListPopBack", kernel=taking_list(_pop), shape=_pop_shapes, gradient=_pop_gradient, view=True)
op(
    "TensorListLength",
    kernel=taking_list(lambda n: lambda items: torch.tensor(items.length, dtype=torch.int32)),
    shape=lambda o: (),
    gradient=not_differentiable,
)


def _element_shape(node: Node) -> Callable[..., Any]:
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


def _get(node: Node) -> Callable[..., Any]:
    dtype, read = node.attr("element_dtype"), shape_reader(node, 2)

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
    return shapes.merge(element_dims(operation.inputs[0], operation.attr("element_dtype")), dims_of(operation.inputs[2]))


def _get_gradient(operation: Operation, ditem: Tensor) -> Any:
    items, index, _ = operation.inputs
    size = apply("TensorListLength", items)
    empty = _reserved_like(items, size, ditem.dtype)
    return [apply("TensorListSetItem", empty, index, ditem), None, None]


def _reserved_like(items: Tensor, size: Tensor, dtype: dtypes.DTypeLike) -> Tensor:
    shape = apply("TensorListElementShape", items, shape_type=dtypes.int32)
    found = apply("TensorListReserve", shape, size, element_dtype=dtype)
    found.handle_data = items.handle_data or found.handle_data
    return found


def _set(node: Node) -> Callable[..., Any]:
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


op("TensorListGetItem", kernel=taking_list(_get), shape=_get_shape, gradient=_get_gradient, view=True, sizes=(1,))
op("TensorListSetItem", kernel=taking_list(_set), shape=_set_shape, gradient=_set_gradient, view=True, sizes=(1,))


def _same_list(operation: Operation) -> Any:
    operation.outputs[0].handle_data = operation.inputs[0].handle_data
    return ()


op(
    "TensorListResize",
    kernel=lambda n: lambda items, size: items.resized(int(size)),
    shape=_same_list,
    view=True,
    gradient=lambda o, dlist: [apply("TensorListResize", dlist, apply("TensorListLength", o.inputs[0])), None],
)


# -- lists and lists of lists


def _concat_lists(node: Node) -> Callable[..., Any]:
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
    known = [element_dims(t, dtype, f"input_{n}.type != element_dtype: {{0}} vs. {{1}}") for n, t in (("a", a), ("b", b))]
    operation.outputs[0].handle_data = (shapes.merge(*known), dtype)
    return shapes.merge(a.dims, b.dims)


op("TensorListConcatLists", kernel=_concat_lists, shape=_concat_lists_shape, gradient=not_differentiable)


def _push_batch(node: Node) -> Callable[..., Any]:
    dtype = node.attr("element_dtype")

    def run(lists: Any, values: Any) -> Any:
        found = lists.copy()
        for i, (items, row) in enumerate(zip(lists.reshape(-1), rows(values.reshape((-1, *values.shape[lists.ndim :]))))):
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
    element_dims(lists, operation.attr("element_dtype"), PUSHED)
    if lists.dims is not None and values.dims is not None:
        for a, b in zip(values.dims, lists.dims):
            shapes.merge_size(a, b)
        shapes.with_rank_at_least(values.dims, len(lists.dims))
    operation.outputs[0].handle_data = lists.handle_data
    return lists.dims


op("TensorListPushBackBatch", kernel=_push_batch, shape=_push_batch_shape, gradient=not_differentiable, view=True)
