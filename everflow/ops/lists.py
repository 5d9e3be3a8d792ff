"""Lists of tensors as values: what loops keep for their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.errors import invalid_argument
from everflow.graph.constants import dims_of
from everflow.lazy import torch
from everflow.ops.registry import op


class TensorList:
    """An immutable list. Lists that grow out of each other share storage: adding one item costs no copy."""

    __slots__ = ("dtype", "items", "length")

    def __init__(self, items: list[Any], length: int, dtype: Any) -> None:
        self.items = items
        self.length = length
        self.dtype = dtype

    def pushed(self, value: Any) -> TensorList:
        """This list and one more item."""
        items = self.items
        if len(items) != self.length:
            items = items[: self.length]
        items.append(value)
        return TensorList(items, self.length + 1, self.dtype)

    def popped(self) -> tuple[TensorList, Any]:
        """This list without its last item, and that item."""
        if not self.length:
            raise invalid_argument("Trying to pop from an empty list.")
        return TensorList(self.items, self.length - 1, self.dtype), self.items[self.length - 1]

    def values(self) -> list[Any]:
        """The items."""
        return self.items[: self.length]


def _empty(node: Any) -> Callable[..., Any]:
    dtype = node.attr("element_dtype")
    return lambda _shape, _size: TensorList([], 0, dtype)


def _scalar_handle(operation: Any) -> Any:
    shape = dims_of(operation.inputs[0])
    operation.outputs[0].handle_data = (shape, operation.attr("element_dtype"))
    return ()


def _same_handle(operation: Any) -> Any:
    operation.outputs[0].handle_data = operation.inputs[0].handle_data
    return ()


def _popped_shapes(operation: Any) -> list[Any]:
    data = operation.inputs[0].handle_data
    operation.outputs[0].handle_data = data
    return [(), data[0] if data is not None else dims_of(operation.inputs[1])]


op("EmptyTensorList", kernel=_empty, shape=_scalar_handle)
op("TensorListPushBack", kernel=lambda n: lambda items, value: items.pushed(value), shape=_same_handle, view=True)
op("TensorListPopBack", kernel=lambda n: lambda items, _shape: items.popped(), shape=_popped_shapes, view=True)
op("TensorListLength", kernel=lambda n: lambda items: torch.tensor(items.length, dtype=torch.int32), shape=lambda o: ())


def _stacked(node: Any) -> Callable[..., Any]:
    from everflow.runtime.values import torch_dtype

    dtype = torch_dtype(node.attr("element_dtype"))

    def run(items: TensorList, shape: Any) -> Any:
        if items.length:
            return torch.stack(items.values())
        return torch.empty((0, *shape.tolist()), dtype=dtype)

    return run


def _stacked_shape(operation: Any) -> Any:
    inner = dims_of(operation.inputs[1])
    return None if inner is None else (None, *inner)


op("TensorListStack", kernel=_stacked, shape=_stacked_shape)
