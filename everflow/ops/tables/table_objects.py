"""Tables from keys to values as they are at run time: set up once, or changed at any time."""

from __future__ import annotations

import math
import threading
from typing import Any

from everflow.errors import aborted, failed_precondition, invalid_argument, unimplemented
from everflow.graph import dtypes, shapes
from everflow.lazy import torch
from everflow.values.tensors import torch_dtype
from everflow.values.texts import text_array

Dims = tuple[int, ...]


def shown(value: Any) -> str:
    """A key or value in a message."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def flat(value: Any) -> list[Any]:
    """The elements of a run-time value."""
    return value.reshape(-1).tolist()


def rows_of(value: Any, dims: Dims) -> list[Any]:
    """The elements of a run-time value, as tuples where each has several numbers."""
    elements = flat(value)
    if not dims:
        return elements
    width = math.prod(dims)
    return [tuple(elements[i : i + width]) for i in range(0, len(elements), width)]


def made_of(rows: list[Any], dims: Dims, shape: Any, dtype: dtypes.DType) -> Any:
    """The run-time value of elements; the reverse of `rows_of`."""
    elements = [e for row in rows for e in row] if dims else rows
    if dtype is dtypes.string:
        return text_array(elements, (*shape, *dims))
    return torch.tensor(elements, dtype=torch_dtype(dtype)).reshape((*shape, *dims))


class Table:
    """A table that may be changed. A key or value of several numbers is a tuple."""

    def __init__(self, key_dtype: dtypes.DType, value_dtype: dtypes.DType, value_dims: Dims = (), key_dims: Dims = ()) -> None:
        self.key_dtype, self.value_dtype = key_dtype, value_dtype
        self.key_dims, self.value_dims = key_dims, value_dims
        self.entries: dict[Any, Any] = {}
        self.lock = threading.RLock()

    def check_types(self, what: str, *given: dtypes.DType) -> None:
        """Refuses keys, or keys and values, of other types."""
        wanted = (self.key_dtype, self.value_dtype)[: len(given)]
        if given != wanted:
            have, expected = (", ".join(["resource", *(d.name for d in types)]) for types in (given, wanted))
            outcome = tuple(f"->{types[1].name}" if what == "find" else "->" for types in (given, wanted))
            raise invalid_argument(f"Signature mismatch, have: {have}{outcome[0]} expected: {expected}{outcome[1]}")

    def size(self) -> int:
        return len(self.entries)

    def batch_of(self, keys: Any) -> Dims:
        """The shape of a tensor of keys without that of a key."""
        rank = len(self.key_dims)
        shape = tuple(keys.shape)
        if rank and shape[len(shape) - rank :] != self.key_dims:
            raise invalid_argument(
                f"Input key shape must end with the table's key shape {shapes.describe(self.key_dims)}, got {shapes.describe(shape)}"
            )
        return shape[: len(shape) - rank]

    def find(self, keys: Any, default: Any) -> Any:
        """The values of keys; the default for those that are not there."""
        if tuple(default.shape) != self.value_dims:
            raise invalid_argument(
                f"Expected shape {shapes.describe(self.value_dims)} for default value, got {shapes.describe(tuple(default.shape))}"
            )
        batch = self.batch_of(keys)
        otherwise = tuple(flat(default)) if self.value_dims else default.item()
        wanted = rows_of(keys, self.key_dims)
        with self.lock:
            get = self.entries.get
            return made_of([get(key, otherwise) for key in wanted], self.value_dims, batch, self.value_dtype)

    def _pairs(self, keys: Any, values: Any) -> Any:
        expected = (*self.batch_of(keys), *self.value_dims)
        if tuple(values.shape) != expected:
            raise invalid_argument(f"Expected shape {shapes.describe(expected)} for value, got {shapes.describe(tuple(values.shape))}")
        return zip(rows_of(keys, self.key_dims), rows_of(values, self.value_dims))

    def insert(self, keys: Any, values: Any) -> None:
        """Adds entries, and replaces those whose keys are there."""
        pairs = self._pairs(keys, values)
        with self.lock:
            self.entries.update(pairs)

    def remove(self, keys: Any) -> None:
        """Takes entries out; keys that are not there are no mistake."""
        with self.lock:
            for key in rows_of(keys, self.key_dims):
                self.entries.pop(key, None)

    def replace(self, keys: Any, values: Any) -> None:
        """Makes these the table's only entries."""
        pairs = dict(self._pairs(keys, values))
        with self.lock:
            self.entries = pairs

    def export(self) -> Any:
        """All keys, and their values."""
        with self.lock:
            keys, values = list(self.entries), list(self.entries.values())
        return (
            made_of(keys, self.key_dims, (len(keys),), self.key_dtype),
            made_of(values, self.value_dims, (len(keys),), self.value_dtype),
        )


class StaticTable(Table):
    """A table that is filled once, by whatever initializer comes first."""

    initialized = False

    def initialize(self, pairs: list[tuple[Any, Any]]) -> None:
        """Fills the table; a second time is fine with as many entries."""
        with self.lock:
            if self.initialized:
                if len(pairs) != len(self.entries):
                    raise failed_precondition("Table was already initialized with different data.")
                return
            entries: dict[Any, Any] = {}
            for key, value in pairs:
                if entries.setdefault(key, value) != value:
                    raise failed_precondition(
                        f"HashTable has different value for same key. Key {shown(key)} has {shown(entries[key])} and "
                        f"trying to add value {shown(value)}"
                    )
            self.entries, self.initialized = entries, True

    def find(self, keys: Any, default: Any) -> Any:
        if not self.initialized:
            raise failed_precondition("Table not initialized.")
        return super().find(keys, default)

    def replace(self, keys: Any, values: Any) -> None:
        self.initialize(list(self._pairs(keys, values)))

    def insert(self, keys: Any, values: Any) -> None:
        raise unimplemented("Insert not supported by InitializableLookupTable implementations")

    def remove(self, keys: Any) -> None:
        raise unimplemented("Remove not supported by InitializableLookupTable implementations")

    def export(self) -> Any:
        if not self.initialized:
            raise aborted("HashTable is not initialized.")
        return super().export()
