"""The ops TensorArray*, in all versions that graphs may hold, and their gradients.

The flow, a number that means nothing, goes through all ops of an array: it orders them, and gradients find their way along it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.api import internal
from everflow.errors import invalid_argument, unimplemented
from everflow.graph import shapes
from everflow.graph.constants import dims_of
from everflow.graph.convert import convert_to_tensor
from everflow.graph.dtypes import DTypeLike, float32
from everflow.graph.operation import Operation
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import fused_op, not_differentiable, op
from everflow.ops.lists.tensor_array_functions import TensorArray
from everflow.ops.lists.tensor_array_objects import Store
from everflow.values.tensors import is_numeric, torch_dtype

_numbers = itertools.count()


# -- making arrays


def _make(node: Node) -> Callable[..., Any]:
    prefix = node.attr("tensor_array_name") or node.name
    dtype, dims = node.attr("dtype"), node.attr("element_shape")
    dynamic, clears = node.attr("dynamic_size"), node.attr("clear_after_read")
    identical = node.type == "TensorArrayV3" and node.attr("identical_element_shapes")
    flow = torch.zeros(()) if node.type == "TensorArrayV3" else None

    def run(size: Any) -> Any:
        if size.ndim:
            raise invalid_argument(f"TensorArray size must be scalar, but had shape: {shapes.describe(tuple(size.shape))}")
        if size < 0:
            raise invalid_argument("Size should be >= 0.")
        store = Store(f"{prefix}_{next(_numbers)}", dtype, int(size), dims, dynamic, clears, identical)
        return store if flow is None else (store, flow)

    return run


def _gradient_store(node: Node) -> Callable[..., Any]:
    source = node.attr("source")
    if node.type == "TensorArrayGradWithShape":
        return lambda store, flow, prefix: (store.gradient(source, tuple(prefix.tolist())), flow)
    if node.type == "TensorArrayGradV3":
        return lambda store, flow: (store.gradient(source), flow)
    return lambda store, flow: store.gradient(source)


def _scalar_shape(t: Tensor) -> None:
    shapes.with_rank(t.dims, 0)


def _handle_shapes(operation: Operation) -> Any:
    _scalar_shape(operation.inputs[min(len(operation.inputs) - 1, 1)])
    return [(2,), ()][: len(operation.outputs)]


def _element_dims(handle: Tensor) -> Any:
    """What an array's own op says of the shape of its elements."""
    operation = handle.op
    if operation.type == "TensorArrayV3":
        return operation.attr("element_shape")
    if operation.type == "TensorArrayGradV3":
        return _element_dims(operation.inputs[0])
    if operation.type == "TensorArrayGradWithShape":
        inner, prefix = _element_dims(operation.inputs[0]), dims_of(operation.inputs[2])
        return None if inner is None or prefix is None else (*[None] * len(prefix), *inner)
    return None


# -- elements


def _index(value: Any) -> int:
    if isinstance(value, int):
        return value
    if value.ndim:
        raise invalid_argument(f"TensorArray index must be scalar, but had shape: {shapes.describe(tuple(value.shape))}")
    return int(value)


def _write(node: Node) -> Callable[..., Any]:
    dtype = node.inputs[2].dtype.base_dtype

    def run(store: Store, index: Any, value: Any, flow: Any) -> Any:
        store.check_type(dtype, "is trying to write")
        store.put(_index(index), value)
        return flow

    return run


def _write_shape(operation: Operation) -> Any:
    handle, index, value, flow = operation.inputs
    _scalar_shape(index)
    _scalar_shape(flow)
    shapes.merge(_element_dims(handle), value.dims)
    return ()


def _read(node: Node) -> Callable[..., Any]:
    dtype = node.attr("dtype")

    def run(store: Store, index: Any, flow: Any) -> Any:
        store.check_type(dtype, "requested")
        return store.take(_index(index))

    return run


def _write_many(node: Node) -> Callable[..., Any]:
    """What a loop writes in many iterations: lists of indices and values, or a tensor whose rows the values are."""
    dtype = node.inputs[2].dtype.base_dtype

    def run(store: Store, indices: list[Any], values: Any, flow: Any) -> Any:
        store.check_type(dtype, "is trying to write")
        is_whole = not isinstance(values, list)
        store.put_all([_index(i) for i in indices], _rows(values) if is_whole else values, values if is_whole else None)
        return flow

    return run


def _read_many(node: Node) -> Callable[..., Any]:
    """What a loop reads in many iterations: a list, or where it can be a tensor, whose rows are in the array's order."""
    dtype = node.attr("dtype")

    def run(store: Store, indices: list[Any], flow: Any) -> Any:
        store.check_type(dtype, "requested")
        found = [_index(i) for i in indices]
        whole = store.take_rows(found)
        return [store.take(i) for i in found] if whole is None else whole

    return run


def _read_shape(operation: Operation) -> Any:
    _scalar_shape(operation.inputs[1])
    return _element_dims(operation.inputs[0])


# -- elements side by side


def _empty(dims: Any, dtype: Any) -> Any:
    return torch.zeros(dims, dtype=torch_dtype(dtype)) if is_numeric(dtype) else np.empty(dims, object)


def _gather(node: Node) -> Callable[..., Any]:
    dtype, dims = node.attr("dtype"), node.attr("element_shape")
    packs = node.type == "TensorArrayPack"

    def run(store: Store, *rest: Any) -> Any:
        store.check_type(dtype, "requested")
        indices = None
        if not packs:
            if rest[0].ndim != 1:
                shown = shapes.describe(tuple(rest[0].shape))
                raise invalid_argument(f"Expected indices to be a vector, but received shape: {shown}")
            indices = rest[0].tolist()
            if indices and indices[0] <= indices[-1] and (whole := store.take_rows(indices)) is not None:
                return whole
        values = store.take_all(indices)
        if not values:
            known = shapes.merge(dims, store.dims)
            if not shapes.is_fully_defined(known):
                raise unimplemented(
                    f"TensorArray has size zero, but element shape {shapes.describe(known)} is not fully defined. Currently only static "
                    "shapes are supported when packing zero-size TensorArrays."
                )
            return _empty((0, *known), dtype)  # type: ignore[misc]
        try:
            return torch.stack(values) if is_numeric(dtype) else np.stack(values)
        except (RuntimeError, ValueError):
            for i, v in enumerate(values):
                if v.shape != values[0].shape:
                    raise invalid_argument(
                        f"TensorArray has inconsistent shapes.  Index 0 has shape: {shapes.describe(tuple(values[0].shape))} but index "
                        f"{i} has shape: {shapes.describe(tuple(v.shape))}"
                    ) from None
            raise

    return run


def _gather_shape(operation: Operation) -> Any:
    inner = operation.attr("element_shape")
    count = shapes.with_rank(operation.inputs[1].dims, 1)[0] if len(operation.inputs) == 3 else None
    if inner is None:
        return None
    # A count may yet turn out otherwise where elements are certain: TensorFlow leaves it open then.
    return (None if None not in inner else count, *inner)


def _scatter(node: Node) -> Callable[..., Any]:
    dtype = node.attr("T")
    unpacks = node.type == "TensorArrayUnpack"

    def run(store: Store, *rest: Any) -> Any:
        value, flow = rest[-2:]
        store.check_type(dtype, "is trying to write")
        if not value.ndim:
            raise invalid_argument("Input value for unpack must be at least a vector but received shape: []")
        count = value.shape[0]
        indices = list(range(count))
        if not unpacks:
            if rest[0].ndim != 1:
                shown = shapes.describe(tuple(rest[0].shape))
                raise invalid_argument(f"Expected indices to be a vector, but received shape: {shown}")
            indices = rest[0].tolist()
            if len(indices) != count:
                raise invalid_argument(f"Expected len(indices) == values.shape[0], but saw: {len(indices)} vs. {count}")
        highest = max(indices, default=-1)
        size = len(store.items)
        if highest >= size:
            if not store.dynamic:
                raise invalid_argument(f"Max scatter index must be < array size ({highest} vs. {size})")
            store.resize(highest + 1)
        store.put_all(indices, _rows(value), value if is_numeric(dtype) else None)
        return flow

    return run


def _rows(value: Any) -> Any:
    """The rows of a tensor, as views."""
    if hasattr(value, "unbind"):
        return value.unbind()
    return [value[i : i + 1].reshape(value.shape[1:]) for i in range(len(value))]


def _scatter_shape(operation: Operation) -> Any:
    handle, value = operation.inputs[0], operation.inputs[-2]
    if len(operation.inputs) == 4:
        count = shapes.with_rank(operation.inputs[1].dims, 1)[0]
        dims = shapes.with_rank_at_least(value.dims, 1)
        if dims is not None:
            shapes.merge_size(dims[0], count)
            shapes.merge(_element_dims(handle), dims[1:])
    return ()


def _concat(node: Node) -> Callable[..., Any]:
    dtype, dims = node.attr("dtype"), node.attr("element_shape_except0")

    def run(store: Store, flow: Any) -> Any:
        store.check_type(dtype, "requested")
        values = store.take_all()
        if not values:
            if not shapes.is_fully_defined(dims):
                raise unimplemented(
                    f"TensorArray has size zero, but element_shape_except0 {shapes.describe(dims)} is not fully defined. Currently only "
                    "static shapes are supported when concatenating zero-size TensorArrays."
                )
            return _empty((0, *dims), dtype), torch.zeros(0, dtype=torch.int64)
        inner = values[0].shape[1:]
        for i, v in enumerate(values):
            if not v.ndim:
                raise invalid_argument(f"Concat saw a scalar shape at index {i} but requires at least vectors.  Did you mean to call pack?")
            if v.shape[1:] != inner:
                raise invalid_argument(
                    f"TensorArray has inconsistent shapes.  Index 0 has (excepting dimension 0) shape: {shapes.describe(tuple(inner))} "
                    f"but index {i} has (excepting dimension 0) shape: {shapes.describe(tuple(v.shape[1:]))}"
                )
        joined = torch.cat(values) if is_numeric(dtype) else np.concatenate(values)
        return joined, torch.tensor([v.shape[0] for v in values])

    return run


def _concat_shapes(operation: Operation) -> Any:
    inner = operation.attr("element_shape_except0")
    return [None if inner is None else (None, *inner), (None,)]


def _split(node: Node) -> Callable[..., Any]:
    dtype = node.attr("T")

    def run(store: Store, value: Any, lengths: Any, flow: Any) -> Any:
        store.check_type(dtype, "is trying to write")
        if lengths.ndim != 1:
            raise invalid_argument(f"Expected lengths to be a vector, received shape: {shapes.describe(tuple(lengths.shape))}")
        if not value.ndim:
            raise invalid_argument("Expected value to be at least a vector, but received shape: []")
        parts = lengths.tolist()
        if sum(parts) != value.shape[0]:
            raise invalid_argument(
                f"Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {sum(parts)} and value's shape is: "
                f"{shapes.describe(tuple(value.shape))}"
            )
        size = len(store.items)
        if size < len(parts) and store.dynamic:
            store.resize(len(parts))
        elif size != len(parts):
            raise invalid_argument(
                f"TensorArray's size is not equal to the size of lengths ({size} vs. {len(parts)}), and the TensorArray is not marked as "
                "dynamically resizeable"
            )
        if store.forward is None:
            store.marked = len(parts)
        pieces = value.split(parts) if hasattr(value, "unbind") else np.split(value, np.cumsum(parts)[:-1])
        store.put_all(list(range(len(parts))), pieces if parts else [])
        return flow

    return run


def _split_shape(operation: Operation) -> Any:
    shapes.with_rank(operation.inputs[2].dims, 1)
    return ()


def _size(node: Node) -> Callable[..., Any]:
    def run(store: Store, flow: Any) -> Any:
        store.check_open()
        return torch.tensor(len(store.items), dtype=torch.int32)

    return run


# -- gradients


@internal("ops.tensor_array_grad._GetGradSource")
def gradient_source(op_or_tensor: Any) -> str:
    """Which call of tf.gradients made an op or tensor: the part of its name up to the last scope `gradients...`."""
    parts = op_or_tensor.name.split("/")
    at = [i for i, part in enumerate(parts) if part.startswith("gradients")]
    if not at:
        raise ValueError(
            f"Expected op/tensor name to start with gradients (excluding scope), got: {op_or_tensor.name}. This means that a tf.gradients "
            "op with this op in its dependency path has a custom name that does not start with 'gradients'. Please make sure all calls "
            "to tf.gradients that have non-empty 'name' arguments use names that start with 'gradients'."
        )
    return "/".join(parts[: at[-1] + 1])


def _gradient_array(operation: Operation, dtype: DTypeLike, gradient: Tensor, flow: Tensor) -> Any:
    """The array of an array's gradients."""
    handle = operation.inputs[0]
    array = TensorArray(dtype=dtype, handle=handle, flow=flow, colocate_with_first_write_call=False)
    return array.grad(source=gradient_source(gradient), flow=flow)


def _known_flow(operation: Operation) -> Tensor:
    """The flow with which an array was read. In the gradient of a loop's body the whole loop is over: any flow will do."""
    flow = operation.inputs[-1]
    return flow if operation.graph is get_default_graph() else convert_to_tensor(0.0, dtype=float32)


def _read_gradient(operation: Operation, gradient: Tensor) -> Any:
    array = _gradient_array(operation, operation.attr("dtype"), gradient, _known_flow(operation))
    return [None, None, array.write(operation.inputs[1], gradient).flow]


def _write_gradient(operation: Operation, flow: Tensor) -> Any:
    array = _gradient_array(operation, operation.attr("T"), flow, flow)
    return [None, None, array.read(operation.inputs[1]), flow]


def _gather_gradient(operation: Operation, gradient: Tensor) -> Any:
    array = _gradient_array(operation, operation.attr("dtype"), gradient, _known_flow(operation))
    return [None, None, array.scatter(operation.inputs[1], gradient).flow]


def _scatter_gradient(operation: Operation, flow: Tensor) -> Any:
    array = _gradient_array(operation, operation.attr("T"), flow, flow)
    return [None, None, array.gather(operation.inputs[1]), flow]


def _concat_gradient(operation: Operation, gradient: Tensor, _: Any) -> Any:
    array = _gradient_array(operation, operation.attr("dtype"), gradient, _known_flow(operation))
    return [None, array.split(gradient, lengths=operation.outputs[1]).flow]


def _split_gradient(operation: Operation, flow: Tensor) -> Any:
    array = _gradient_array(operation, operation.attr("T"), flow, flow)
    return [None, array.concat(), None, flow]


# -- the ops, in three versions

for _version in ("", "V2", "V3"):
    _old: dict[str, Any] = {"view": True}
    op(f"TensorArray{_version}", kernel=_make, shape=_handle_shapes, gradient=not_differentiable)
    op(f"TensorArrayGrad{_version}", kernel=_gradient_store, shape=_handle_shapes, gradient=not_differentiable)
    op(f"TensorArrayWrite{_version}", kernel=_write, shape=_write_shape, gradient=_write_gradient, sizes=(1,), many="_WriteMany", **_old)
    op(f"TensorArrayRead{_version}", kernel=_read, shape=_read_shape, gradient=_read_gradient, sizes=(1,), many="_ReadMany", **_old)
    op(f"TensorArrayGather{_version}", kernel=_gather, shape=_gather_shape, gradient=_gather_gradient, view=True)
    op(f"TensorArrayScatter{_version}", kernel=_scatter, shape=_scatter_shape, gradient=_scatter_gradient, **_old)
    op(f"TensorArrayConcat{_version}", kernel=_concat, shape=_concat_shapes, gradient=_concat_gradient)
    op(f"TensorArraySplit{_version}", kernel=_split, shape=_split_shape, gradient=_split_gradient, **_old)
    op(f"TensorArraySize{_version}", kernel=_size, shape=lambda o: (), gradient=not_differentiable)
    op(f"TensorArrayClose{_version}", kernel=lambda n: Store.close, gradient=not_differentiable)
op("TensorArrayGradWithShape", kernel=_gradient_store, shape=_handle_shapes, gradient=not_differentiable)
op("TensorArrayPack", kernel=_gather, shape=_gather_shape)
op("TensorArrayUnpack", kernel=_scatter, shape=_scatter_shape, view=True)
fused_op("_ReadMany", kernel=_read_many, view=True)
fused_op("_WriteMany", kernel=_write_many, view=True)
