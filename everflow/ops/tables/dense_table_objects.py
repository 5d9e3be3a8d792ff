"""Tables whose entries lie in buckets. Their export shows all buckets, so entries lie where TensorFlow puts them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from everflow._native import murmur_buckets
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.ops.tables.table_objects import Dims, Table, made_of, rows_of
from everflow.values.texts import text_array

_WORD = (1 << 64) - 1


def _hash(key: Any) -> int:
    """Where a key is looked for first, before it is cut to the number of buckets."""
    if isinstance(key, tuple):
        found = 0
        for part in key:
            found ^= (_hash(part) + 0x9E3779B97F4A7800 + (found << 10) + (found >> 4)) & _WORD
        return found & _WORD
    if isinstance(key, bytes):
        found_low = np.empty(1, np.int64)
        # Buckets are powers of two, so that the low bits are all that counts.
        murmur_buckets(text_array([key], (1,)), found_low, 1 << 63)
        return int(found_low[0])
    return int(key) & _WORD


class DenseTable(Table):
    """A table with two keys that can't be used: one that marks empty buckets and one that marks removed entries."""

    def __init__(
        self,
        key_dtype: dtypes.DType,
        value_dtype: dtypes.DType,
        value_dims: Dims,
        key_dims: Dims,
        empty: Any,
        deleted: Any,
        buckets: int,
        max_load: float,
    ) -> None:
        super().__init__(key_dtype, value_dtype, value_dims, key_dims)
        if buckets < 4 or buckets & (buckets - 1):
            raise invalid_argument(f"Number of buckets must be at least 4 and a power of 2, got: {buckets}")
        if empty == deleted:
            raise invalid_argument("Empty and deleted keys cannot be equal")
        self.empty, self.deleted, self.max_load = empty, deleted, max_load
        zero: Any = b"" if value_dtype is dtypes.string else 0
        self.zero = (zero,) * math.prod(value_dims) if value_dims else zero
        self._clear(buckets)

    def _clear(self, buckets: int) -> None:
        self.bucket_keys: list[Any] = [self.empty] * buckets
        self.bucket_values: list[Any] = [self.zero] * buckets
        self.entries = {}
        # The bucket of each key.
        self.places: dict[Any, int] = {}

    def _check(self, keys: list[Any]) -> None:
        for key in keys:
            if key == self.empty:
                raise invalid_argument("Using the empty_key as a table key is not allowed")
            if key == self.deleted:
                raise invalid_argument("Using the deleted_key as a table key is not allowed")

    def batch_of(self, keys: Any) -> Dims:
        batch = super().batch_of(keys)
        if len(batch) > 1:
            expected = shapes.describe((batch[0], *self.key_dims))
            raise invalid_argument(f"Expected key shape {expected} got {shapes.describe(tuple(keys.shape))}")
        return batch

    def find(self, keys: Any, default: Any) -> Any:
        self.batch_of(keys)
        self._check(rows_of(keys, self.key_dims))
        return super().find(keys, default)

    def _put(self, key: Any, value: Any) -> None:
        place = self.places.get(key)
        if place is None:
            mask = len(self.bucket_keys) - 1
            place, step = _hash(key) & mask, 0
            while self.bucket_keys[place] not in (self.empty, self.deleted):
                step += 1
                place = (place + step) & mask
            self.bucket_keys[place] = key
            self.places[key] = place
        self.bucket_values[place] = value
        self.entries[key] = value

    def insert(self, keys: Any, values: Any) -> None:
        pairs = list(self._pairs(keys, values))
        self._check([key for key, _ in pairs])
        with self.lock:
            self._grow(len(self.entries) + len(pairs))
            for key, value in pairs:
                self._put(key, value)

    def _grow(self, count: int) -> None:
        """Makes room for so many entries."""
        buckets = len(self.bucket_keys)
        while count > buckets * self.max_load:
            buckets *= 2
        if buckets > len(self.bucket_keys):
            before = [(key, value) for key, value in zip(self.bucket_keys, self.bucket_values) if key not in (self.empty, self.deleted)]
            self._clear(buckets)
            for key, value in before:
                self._put(key, value)

    def remove(self, keys: Any) -> None:
        gone = rows_of(keys, self.key_dims)
        self._check(gone)
        with self.lock:
            for key in gone:
                place = self.places.pop(key, None)
                if place is not None:
                    self.bucket_keys[place] = self.deleted
                    del self.entries[key]

    def replace(self, keys: Any, values: Any) -> None:
        """Takes over all buckets of an export."""
        keys, values = keys.reshape(-1, *self.key_dims), values.reshape(-1, *self.value_dims)
        pairs = [(key, value) for key, value in self._pairs(keys, values) if key not in (self.empty, self.deleted)]
        buckets = 4
        while buckets < keys.shape[0] or len(pairs) > buckets * self.max_load:
            buckets *= 2
        with self.lock:
            self._clear(buckets)
            for key, value in pairs:
                self._put(key, value)

    def export(self) -> Any:
        """The keys and values of all buckets, a row each."""
        with self.lock:
            keys, values = list(self.bucket_keys), list(self.bucket_values)
        count = len(keys)
        return (
            made_of(keys, self.key_dims, (count,), self.key_dtype).reshape(count, -1),
            made_of(values, self.value_dims, (count,), self.value_dtype).reshape(count, -1),
        )
