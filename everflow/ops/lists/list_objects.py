"""Lists of tensors as values, as the ops TensorList* have them at run time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.describe import type_name
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.values.tensors import is_numeric, torch_dtype


class TensorList:
    """An immutable list. Lists that grow out of each other share storage: adding one item costs no copy.

    An item is None where a list was made longer than what is in it; it reads as zeros.
    """

    __slots__ = ("_items", "alike", "dims", "dtype", "length", "limit", "whole")
    # As an item of another list, a list is a scalar.
    shape = ()
    ndim = 0

    def __init__(
        self, items: list[Any] | None, dtype: dtypes.DType, dims: shapes.Dims, length: int | None = None, limit: int = -1, whole: Any = None
    ) -> None:
        # None until somebody asks for the rows of the whole.
        self._items = items
        self.length = len(whole if items is None else items) if length is None else length
        self.dtype = dtype
        self.dims = dims
        self.limit = limit
        # The shape that all items are known to have.
        self.alike: Any = None
        # The tensor whose rows the items are, where there is such.
        self.whole: Any = whole

    @property
    def items(self) -> list[Any]:
        """What is in it, and perhaps what others have that share the storage."""
        if self._items is None:
            self._items = list(self.whole.unbind())
        return self._items

    def pushed(self, value: Any) -> TensorList:
        """This list and one more item."""
        items, length = self.items, self.length
        if length == self.limit:
            raise invalid_argument(f"Tried to push item into a full list list size: {length} max_num_elements: {self.limit}")
        if len(items) != length:
            items = items[:length]
        items.append(value)
        return TensorList(items, self.dtype, self.dims, length + 1, self.limit)

    def popped(self) -> tuple[TensorList, Any]:
        """This list without its last item, and that item."""
        length = self.length
        if not length:
            raise invalid_argument("Trying to pop from an empty list.")
        return TensorList(self.items, self.dtype, self.dims, length - 1, self.limit), self.items[length - 1]

    def values(self) -> list[Any]:
        """The items."""
        return self.items[: self.length]

    def plain(self, shape: Any) -> list[Any]:
        """The items, with zeros of a shape where none is set."""
        found = self.values()
        if self.alike is None and any(v is None for v in found):
            unset = zeros(defined(merged(shape, self.dims)), self.dtype)
            found = [unset if v is None else v for v in found]
        return found

    def extended(self, items: list[Any] | None, alike: Any, whole: Any = None) -> TensorList:
        """The list that this one has become: its items and more, or the rows of `whole`; `alike` is the shape of the added ones, where they
        all have it."""
        found = TensorList(items, self.dtype, self.dims, limit=self.limit, whole=whole)
        if 0 <= self.limit < found.length:
            raise invalid_argument(f"Tried to push item into a full list list size: {self.limit} max_num_elements: {self.limit}")
        found.alike = alike if not self.length or self.alike == alike else None
        return found

    def item(self, index: int) -> Any:
        """One item."""
        if not 0 <= index < self.length:
            raise invalid_argument(f"Trying to access element {index} in a list with {self.length} elements.")
        return self.items[index]

    def holding(self, items: list[Any]) -> TensorList:
        """A list of the same kind with other items."""
        return TensorList(items, self.dtype, self.dims, limit=self.limit)

    def resized(self, size: int) -> TensorList:
        """The same list, cut off or filled up."""
        if size < 0:
            raise invalid_argument(f"TensorListSlice expects size to be non-negative. Got: {size}")
        if size <= self.length:
            found = TensorList(self._items, self.dtype, self.dims, size, self.limit, None if self.whole is None else self.whole[:size])
            found.alike = self.alike
            return found
        return self.holding([*self.values(), *[None] * (size - self.length)])

    def zeros(self) -> TensorList:
        """A list of zeros in the place of the items."""
        if self.dtype is dtypes.variant:
            return self.holding([None if v is None else v.zeros() for v in self.values()])
        if shapes.is_fully_defined(self.dims):
            return self.holding([None] * self.length)
        return self.holding([None if v is None else zeros(tuple(v.shape), self.dtype) for v in self.values()])

    def plus(self, other: TensorList) -> TensorList:
        """The list of the sums of items."""
        if self.dtype is not other.dtype:
            raise invalid_argument("Trying to add two lists of tensors of different dtypes.")
        if self.length != other.length:
            raise invalid_argument(
                f"Trying to add two lists of tensors with different lengths. One is {self.length} and the other is {other.length}"
            )
        if not shapes.is_compatible(self.dims, other.dims):
            raise invalid_argument(
                "Trying to add two lists of tensors with incompatible element shapes. One is "
                f"{shapes.describe(self.dims)} and the other is {shapes.describe(other.dims)}"
            )
        add = TensorList.plus if self.dtype is dtypes.variant else torch.add
        pairs = zip(self.values(), other.values())
        items = [y if x is None else x if y is None else add(x, y) for x, y in pairs]
        return TensorList(items, self.dtype, shapes.merge(self.dims, other.dims))

    def check_type(self, dtype: dtypes.DType) -> None:
        """Fails where an op takes the items for something else than they are."""
        if self.dtype is not dtype:
            raise invalid_argument(f"Invalid data types; op elements {type_name(dtype)} but list elements {type_name(self.dtype)}")


def taking_list(kernel: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A kernel whose first input is a list. One that comes out of an array of lists is an array without axes."""

    def make(node: Node) -> Callable[..., Any]:
        run = kernel(node)
        if node.inputs[0].node.type.startswith(("TensorList", "EmptyTensorList")):
            return run
        return lambda items, *rest: run(items.item() if isinstance(items, np.ndarray) else items, *rest)

    return make


def mapped(function: Callable[..., Any], *lists: Any) -> Any:
    """The function of a list, or of each list of an array of them."""
    if not any(isinstance(x, np.ndarray) for x in lists):
        return function(*lists)
    found = np.empty(lists[0].shape, object)
    for at in np.ndindex(found.shape):
        found[at] = function(*[x[at] for x in lists])
    return found


def zeros(dims: shapes.Dims, dtype: dtypes.DType) -> Any:
    """What an item reads as that was never set."""
    return torch.zeros(dims, dtype=torch_dtype(dtype)) if is_numeric(dtype) else np.full(dims, b"", object)


def defined(dims: shapes.Dims) -> Any:
    """The shape that an item has which was never set."""
    if not shapes.is_fully_defined(dims):
        raise invalid_argument(f"Trying to read an uninitialized tensor but element_shape is not fully defined.{shapes.describe(dims)}")
    return dims


def merged(a: Any, b: Any) -> Any:
    """What two partly known shapes say together."""
    if a is None or b is None:
        return b if a is None else a
    if len(a) != len(b):
        raise invalid_argument(f"PartialTensorShape: Incompatible ranks during merge: {len(a)} vs. {len(b)}")
    if not shapes.is_compatible(a, b):
        raise invalid_argument(f"PartialTensorShape: Incompatible shapes during merge: {shapes.describe(a)} vs. {shapes.describe(b)}")
    return tuple(y if x is None else x for x, y in zip(a, b))


def stacked(values: list[Any], dims: Any, dtype: dtypes.DType) -> Any:
    """Items side by side; those that are not set as zeros. `dims` is known of the shape and must be all known for none."""
    first = next((v for v in values if v is not None), None)
    if first is not None:
        merged(dims, tuple(first.shape))
        dims = tuple(first.shape)
    values = [zeros(dims, dtype) if v is None else v for v in values]
    if not values:
        return zeros((0, *dims), dtype)
    try:
        return torch.stack(values) if is_numeric(dtype) else np.stack(values)
    except (RuntimeError, ValueError):
        for v in values:
            merged(dims, tuple(v.shape))
        raise


def rows(value: Any) -> list[Any]:
    """The rows of a tensor, as views."""
    if hasattr(value, "unbind"):
        return list(value.unbind())
    return [value[i : i + 1].reshape(value.shape[1:]) for i in range(len(value))]


def parts(value: Any, lengths: list[int]) -> list[Any]:
    """Consecutive parts of a tensor, as views."""
    if hasattr(value, "unbind"):
        return list(value.split(lengths))
    return np.split(value, np.cumsum(lengths)[:-1]) if lengths else []
