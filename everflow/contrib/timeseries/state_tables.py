"""States of models, kept by the time at which they were reached."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow import nest
from everflow.contrib.timeseries.publishing import published
from everflow.graph.convert import convert_to_tensor
from everflow.lookup.mutable_tables import DenseHashTable
from everflow.lookup.tables import LookupInterface


@published("math_utils.TensorValuedMutableDenseHashTable")
class TensorValuedTable(DenseHashTable):
    """A table whose values are tensors of any one shape; they lie in it as vectors."""

    def __init__(self, key_dtype: Any, value_dtype: Any, default_value: Any, *args: Any, **kwargs: Any) -> None:
        self._shape_of_values = tf.shape(default_value)
        flat = tf.reshape(default_value, [-1])
        super().__init__(key_dtype, value_dtype, flat, *args, **kwargs)

    def _flat(self, keys: Any) -> Any:
        return tf.reshape(convert_to_tensor(keys, dtype=self._key_dtype), [-1])

    def insert(self, keys: Any, values: Any, name: str | None = None) -> Any:
        keys = self._flat(keys)
        return super().insert(keys, tf.reshape(values, [tf.shape(keys)[0], -1]), name=name)

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        rows = super().lookup(self._flat(keys), name=name)
        return tf.reshape(rows, tf.concat([tf.shape(keys), self._shape_of_values], 0))


@published("math_utils.TupleOfTensorsLookup")
class StructureTable(LookupInterface):
    """A table whose values are structures of tensors: a table for each place in the structure."""

    def __init__(self, key_dtype: Any, default_values: Any, empty_key: Any, deleted_key: Any, name: str, checkpoint: bool = True) -> None:
        tables = [
            TensorValuedTable(
                key_dtype=key_dtype,
                value_dtype=value.dtype.base_dtype,
                default_value=value,
                empty_key=empty_key,
                deleted_key=deleted_key,
                name=f"{name}_{number}",
                checkpoint=checkpoint,
            )
            for number, value in enumerate(nest.flatten(default_values))
        ]
        self._hash_tables = nest.pack_sequence_as(default_values, tables)
        self._name = name

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        return nest.map_structure(lambda table: table.lookup(keys), self._hash_tables)

    def insert(self, keys: Any, values: Any, name: str | None = None) -> Any:
        """Puts all tensors of a structure into their tables, once all of them are there."""
        nest.assert_same_structure(self._hash_tables, values)
        ready = nest.map_structure(tf.identity, values)
        with tf.control_dependencies(nest.flatten(ready)):
            inserts = nest.map_structure(lambda table, value: table.insert(keys, value), self._hash_tables, ready)
        return tf.group(*nest.flatten(inserts))

    def check_table_dtypes(self, key_dtype: Any, value_dtype: Any) -> None:
        """Each table checks its own."""


@published("math_utils.replicate_state")
def replicate_state(start_state: Any, batch_size: Any) -> Any:
    """The same state for each row of a batch."""

    def for_all_rows(tensor: Any) -> Any:
        once = tf.ones([tf.rank(tensor)], dtype=tf.int32)
        return tf.tile(tf.expand_dims(tensor, 0), tf.concat([[batch_size], once], 0))

    return nest.pack_sequence_as(start_state, [for_all_rows(tensor) for tensor in nest.flatten(start_state)])
