"""What a TensorArray is while a step runs: a store of tensors behind a handle, and the stores of its gradients.

A write keeps the tensor itself, not a copy; what is written as a whole (unstack, split) is kept as views of it.
"""

from __future__ import annotations

from typing import Any

from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.describe import type_name
from everflow.lazy import torch
from everflow.values.tensors import is_numeric, torch_dtype


class Store:
    """The elements of a TensorArray.

    An item is None before it is written, then the tensor, and just its shape once it was read and let go.
    """

    __slots__ = (
        "clears",
        "closed",
        "dims",
        "dtype",
        "dynamic",
        "forward",
        "gradients",
        "identical",
        "items",
        "live",
        "marked",
        "name",
        "prefix",
        "shape",
        "sums",
        "untouched",
        "whole",
    )

    def __init__(self, name: str, dtype: dtypes.DType, size: int, dims: shapes.Dims, dynamic: bool, clears: bool, identical: bool) -> None:
        self.name = name
        self.dtype = dtype
        self.items: list[Any] = [None] * size
        self.dims = dims
        # The shape that all elements have, as far as that is certain.
        self.shape: Any = dims if shapes.is_fully_defined(dims) else None
        self.dynamic = dynamic
        self.clears = clears
        self.identical = identical
        self.closed = False
        self.forward: Store | None = None
        self.prefix: tuple[int, ...] = ()
        # The elements that are sums made here, so that more may be added in place.
        self.sums: set[int] = set()
        self.gradients: dict[tuple[str, tuple[int, ...]], Store] = {}
        # How many elements the array had when one value was last split among all of them.
        self.marked: int | None = None
        # How many items are tensors, and whether there never was one.
        self.live = 0
        self.untouched = True
        # The tensor whose rows all items are, where there is such.
        self.whole: Any = None

    def read(self) -> Store:
        """Where a graph of old hands the store on by reference, a read of the reference."""
        return self

    def gradient(self, source: str, prefix: tuple[int, ...] = ()) -> Store:
        """The store for the gradients of this one that one call of tf.gradients computes; writes to an element add up there."""
        found = self.gradients.get((source, prefix))
        if found is None:
            self.check_open()
            # From here on the sizes of both stores have to agree.
            self.dynamic = False
            dims = self.dims if self.dims is None or not prefix else (*prefix, *self.dims)
            found = Store(f"{self.name}@{source}", self.dtype, len(self.items), dims, False, True, self.identical)
            found.forward, found.prefix, found.marked = self, prefix, self.marked
            self.gradients[source, prefix] = found
        return found

    def check_open(self) -> None:
        """Fails once the array is closed."""
        if self.closed:
            raise invalid_argument(f"TensorArray {self.name} has already been closed.")

    def check_type(self, dtype: dtypes.DType, wish: str) -> None:
        """Fails where an op takes the elements for something else than they are."""
        if self.dtype is not dtype:
            raise invalid_argument(f"TensorArray dtype is {type_name(self.dtype)} but Op {wish} dtype {type_name(dtype)}.")

    def close(self) -> None:
        """Lets go of all elements."""
        self.closed = True
        self.items = []
        self.whole = None

    # -- writing

    def put(self, index: int, value: Any) -> None:
        """Writes one element."""
        self.check_open()
        if not 0 <= index < len(self.items):
            self._grow(index)
        shape = value.shape
        if shape != self.shape:
            self._check_shape(index, shape)
        items = self.items
        old = items[index]
        self.whole = None
        if old is None:
            if self.forward is not None and not self.identical:
                self._check_sum(index, self._expected(index), shape)
            self.untouched = False
            self.live += 1
            items[index] = value
        elif isinstance(old, tuple):
            raise self._not_written(index, "it has already been read.")
        elif self.forward is not None:
            self._check_sum(index, old.shape, shape)
            if index in self.sums:
                old.add_(value)
            else:
                self.sums.add(index)
                items[index] = old + value
        else:
            raise self._not_written(index, "it has already been written to.")

    def put_all(self, indices: list[int], values: Any, whole: Any = None) -> None:
        """Writes several elements, which are views of one tensor: its rows, where that is given."""
        self.check_open()
        if not self.untouched or indices != list(range(len(self.items))) or not indices or self.forward is not None and not self.identical:
            for index, value in zip(indices, values):
                self.put(index, value)
            return
        for index, value in enumerate(values):
            if value.shape != self.shape:
                self._check_shape(index, value.shape)
        self.items = list(values)
        self.live = len(indices)
        self.untouched = False
        self.whole = whole

    def resize(self, size: int) -> None:
        """Makes room for that many elements, where the array may grow."""
        self.items.extend([None] * (size - len(self.items)))
        self.whole = None

    def _grow(self, index: int) -> None:
        if index < 0 or not self.dynamic:
            raise invalid_argument(
                f"TensorArray {self.name}: Tried to write to index {index} but array is not resizeable and size is: {len(self.items)}"
            )
        self.resize(index + 1)

    def _check_shape(self, index: int, shape: Any) -> None:
        shape = tuple(shape)
        if not shapes.is_compatible(self.dims, shape):
            raise self._not_written(
                index,
                f"the value shape is {shapes.describe(shape)} which is incompatible with the TensorArray's inferred element "
                f"shape: {shapes.describe(self.dims)} (consider setting infer_shape=False).",
            )
        if self.identical:
            self.dims = self.shape = shape

    def _expected(self, index: int) -> Any:
        """The shape that the gradient of an element has, or None where the element was never written."""
        assert self.forward is not None
        item = self.forward.items[index] if index < len(self.forward.items) else None
        if item is None:
            return None
        return (*self.prefix, *(item if isinstance(item, tuple) else item.shape))

    def _check_sum(self, index: int, old: Any, new: Any) -> None:
        if old is not None and tuple(old) != tuple(new):
            raise invalid_argument(
                f"TensorArray {self.name}: Could not aggregate to TensorArray index {index} because the existing shape is "
                f"{shapes.describe(tuple(old))} but the new input shape is {shapes.describe(tuple(new))}."
            )

    def _not_written(self, index: int, reason: str) -> Exception:
        return invalid_argument(f"TensorArray {self.name}: Could not write to TensorArray index {index} because {reason}")

    # -- reading

    def take(self, index: int) -> Any:
        """Reads one element."""
        self.check_open()
        items = self.items
        if not 0 <= index < len(items):
            raise invalid_argument(f"Tried to read from index {index} but array size is: {len(items)}")
        value = items[index]
        if value is None:
            return self._zeros(index)
        if isinstance(value, tuple):
            raise invalid_argument(
                f"TensorArray {self.name}: Could not read index {index} twice because it was cleared after a previous read "
                "(perhaps try setting clear_after_read = false?)."
            )
        if self.clears:
            items[index] = value.shape
            self.live -= 1
            self.whole = None
        return value

    def take_rows(self, indices: list[int]) -> Any:
        """Reads elements that follow each other, or do so backwards: as rows of a tensor, in its order. None where there is none."""
        first, last = sorted((indices[0], indices[-1]))
        if self.whole is None or self.closed or self.live != len(self.items) or first < 0 or last >= self.live:
            return None
        if indices not in (list(range(first, last + 1)), list(range(last, first - 1, -1))):
            return None
        found = self.whole[first : last + 1]
        if self.clears:
            self.items[first : last + 1] = [found.shape[1:]] * len(indices)
            self.live -= len(indices)
            self.whole = None
        return found

    def take_all(self, indices: list[int] | None = None) -> list[Any]:
        """Reads several elements; without indices all of them, or, of gradients, those of the value that was split."""
        self.check_open()
        size = len(self.items)
        if indices is None:
            indices = list(range(self.marked if self.forward is not None and self.marked else size))
        if self.live != size or indices != list(range(size)):
            return [self.take(i) for i in indices]
        values = self.items
        if self.clears:
            self.items = [v.shape for v in values]
            self.live = 0
            self.whole = None
        return values

    def _zeros(self, index: int) -> Any:
        """What is read where nothing was written: zeros, if it is certain how many."""
        shape = self.shape
        if self.forward is not None:
            shape = self._expected(index) or shape
        if shape is None:
            raise invalid_argument(
                f"TensorArray {self.name}: Could not read from TensorArray index {index}.  Furthermore, the element shape is not fully "
                f"defined: {shapes.describe(self.dims)}.  It is possible you are working with a resizeable TensorArray and stop_gradients "
                "is not allowing the gradients to be written.  If you set the full element_shape property on the forward TensorArray, "
                "the proper all-zeros tensor will be returned instead of incurring this error."
            )
        if not is_numeric(self.dtype):
            raise invalid_argument(f"tensor_array::TensorSetZero type not supported: {type_name(self.dtype)}")
        return torch.zeros(tuple(shape), dtype=torch_dtype(self.dtype))
