"""Tables whose entries programs change, and which checkpoints save."""

from __future__ import annotations

import functools
import uuid
from typing import Any

from everflow.api import internal, public
from everflow.eager.context import executing_eagerly
from everflow.graph.convert import convert_to_tensor
from everflow.graph.dtypes import DTypeLike
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import add_to_collection, colocate_with, name_scope
from everflow.graph.sparse_tensor import SparseTensor
from everflow.lookup.tables import LookupInterface
from everflow.ops.core.registry import apply
from everflow.train.checkpoints.saveable import SaveableObject, SaveSpec


class _TableSaveable(SaveableObject):
    """The keys and values of a table in a checkpoint."""

    def __init__(self, table: Any, name: str) -> None:
        keys, values = table.export()
        super().__init__(table, [SaveSpec(keys, "", name + "-keys"), SaveSpec(values, "", name + "-values")], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        with name_scope(f"{self.name}_table_restore"), colocate_with(self.op.resource_handle):
            return apply("LookupTableImportV2", self.op.resource_handle, *restored_tensors)


class _MutableTable(LookupInterface):
    """What both kinds of table have in common."""

    _name: str
    _default_value: Any
    _value_shape: Any
    _Saveable = _TableSaveable

    def _set_up(self, checkpoint: bool) -> None:
        # A table that runs ops at once is shared with nobody.
        self._shared_name = f"table_{uuid.uuid4()}" if executing_eagerly() else None
        self._resource_handle = self._create_resource()
        if checkpoint and not executing_eagerly():
            add_to_collection(GraphKeys.SAVEABLE_OBJECTS, _TableSaveable(self, self.name))

    @property
    def name(self) -> str:
        return self._table_name

    def _named(self, handle: Any, is_eager: bool) -> Any:
        self._table_name = self._name if is_eager else handle.op.name.split("/")[-1]
        return handle

    def size(self, name: str | None = None) -> Any:
        """How many entries the table has."""
        with name_scope(name, f"{self.name}_Size", [self.resource_handle]), colocate_with(self.resource_handle):
            return apply("LookupTableSizeV2", self.resource_handle)

    def _check_keys(self, keys: Any) -> None:
        if keys.dtype != self._key_dtype:
            raise TypeError(f"Signature mismatch. Keys must be dtype {self._key_dtype}, got {keys.dtype}.")

    def remove(self, keys: Any, name: str | None = None) -> Any:
        """Takes entries out; keys that are not there are no mistake."""
        self._check_keys(keys)
        with name_scope(name, f"{self.name}_lookup_table_remove", (self.resource_handle, keys, self._default_value)):
            return apply("LookupTableRemoveV2", self.resource_handle, keys)

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys, the default for those that are not there."""
        handle, default = self.resource_handle, self._default_value
        with name_scope(name, f"{self.name}_lookup_table_find", (handle, keys, default)):
            asked = convert_to_tensor(keys, self._key_dtype, name="keys")
            with colocate_with(handle):
                return apply("LookupTableFindV2", handle, asked, default)

    def insert(self, keys: Any, values: Any, name: str | None = None) -> Any:
        """Adds entries, and replaces those whose keys are there."""
        handle = self.resource_handle
        with name_scope(name, f"{self.name}_lookup_table_insert", [handle, keys, values]):
            entries = (("keys", keys, self._key_dtype), ("values", values, self._value_dtype))
            tensors = [convert_to_tensor(given, dtype, name=what) for what, given, dtype in entries]
            with colocate_with(handle):
                return apply("LookupTableInsertV2", handle, *tensors)

    def export(self, name: str | None = None) -> Any:
        """All keys, and their values."""
        with name_scope(name, f"{self.name}_lookup_table_export_values", [self.resource_handle]), colocate_with(self.resource_handle):
            return tuple(apply("LookupTableExportV2", self.resource_handle, Tkeys=self._key_dtype, Tvalues=self._value_dtype))

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {"table": functools.partial(_TableSaveable, table=self, name=self._name)}


@public("contrib.lookup.MutableHashTable")
@internal("ops.lookup_ops.MutableHashTable")
class MutableHashTable(_MutableTable):
    """A table of values of one shape."""

    def __init__(
        self, key_dtype: DTypeLike, value_dtype: DTypeLike, default_value: Any, name: str = "MutableHashTable", checkpoint: bool = True
    ) -> None:
        super().__init__(key_dtype, value_dtype)
        self._default_value = convert_to_tensor(default_value, self._value_dtype)
        self._value_shape = self._default_value.get_shape()
        self._checkpoint = checkpoint
        self._name = name
        self._set_up(checkpoint)

    def _create_resource(self) -> Any:
        # Without a shared name, the name of the node is shared: that keeps the table across runs of pruned graphs.
        settings: dict[str, Any] = {
            "shared_name": self._shared_name or "",
            "use_node_name_sharing": self._checkpoint and self._shared_name is None,
            "key_dtype": self._key_dtype,
            "value_dtype": self._value_dtype,
        }
        if self._value_shape.ndims == 0:
            handle = apply("MutableHashTableV2", name=self._name, **settings)
        else:
            handle = apply("MutableHashTableOfTensorsV2", value_shape=self._value_shape, name=self._name, **settings)
        return self._named(handle, executing_eagerly())

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys, of a SparseTensor too; the default for those that are not there."""
        if isinstance(keys, SparseTensor):
            return SparseTensor(keys.indices, super().lookup(keys.values, name), keys.dense_shape)
        return super().lookup(keys, name)


@public("lookup.experimental.DenseHashTable", "contrib.lookup.MutableDenseHashTable")
@internal("ops.lookup_ops.DenseHashTable")
class DenseHashTable(_MutableTable):
    """A table in one block of memory. Two keys mark empty buckets and removed entries, and can't be used."""

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: Any,
        empty_key: Any,
        deleted_key: Any,
        initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
    ) -> None:
        super().__init__(key_dtype, value_dtype)
        self._default_value = convert_to_tensor(default_value, self._value_dtype, name="default_value")
        self._value_shape = self._default_value.get_shape()
        self._checkpoint = checkpoint
        self._name = name
        self._empty_key = convert_to_tensor(empty_key, self._key_dtype, name="empty_key")
        self._deleted_key = convert_to_tensor(deleted_key, self._key_dtype, name="deleted_key")
        self._key_shape = self._empty_key.get_shape()
        self._initial_num_buckets = initial_num_buckets
        self._set_up(checkpoint)

    def _create_resource(self) -> Any:
        handle = apply(
            "MutableDenseHashTableV2",
            self._empty_key,
            self._deleted_key,
            shared_name=self._shared_name or "",
            use_node_name_sharing=self._checkpoint and self._shared_name is None,
            value_dtype=self._value_dtype,
            value_shape=self._value_shape,
            initial_num_buckets=self._initial_num_buckets,
            name=self._name,
        )
        return self._named(handle, executing_eagerly())

    def insert_or_assign(self, keys: Any, values: Any, name: str | None = None) -> Any:
        """The same as `insert`."""
        return self.insert(keys, values, name)

    def erase(self, keys: Any, name: str | None = None) -> Any:
        """The same as `remove`."""
        return self.remove(keys, name)
