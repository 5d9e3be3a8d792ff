"""Tables that are filled once by an initializer."""

from __future__ import annotations

import uuid
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.eager.context import executing_eagerly
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import get_collection, name_scope
from everflow.graph.sparse_tensor import SparseTensor
from everflow.ops.core.registry import apply
from everflow.platform.deprecation import deprecated
from everflow.train.tracking.autotracking import TrackableResource


@public("initialize_all_tables")
@deprecated(None, "Use `tf.tables_initializer` instead.")
def initialize_all_tables(name: str = "init_all_tables") -> Any:
    """The older name of `tables_initializer`."""
    return tables_initializer(name)


@public("tables_initializer", "initializers.tables_initializer")
def tables_initializer(name: str = "init_all_tables") -> Any:
    """An op that fills all tables of the graph."""
    initializers = get_collection(GraphKeys.TABLE_INITIALIZERS)
    return tf.group(*initializers, name=name) if initializers else tf.no_op(name=name)


def on_values(keys: Any, look_up: Any) -> Any:
    """Looks up a tensor, or the values of a SparseTensor."""
    if isinstance(keys, SparseTensor):
        return SparseTensor(keys.indices, look_up(keys.values), keys.dense_shape)
    return look_up(keys)


@public("contrib.lookup.LookupInterface")
@internal("ops.lookup_ops.LookupInterface")
class LookupInterface(TrackableResource):
    """A table that persists across steps."""

    def __init__(self, key_dtype: dtypes.DTypeLike, value_dtype: dtypes.DTypeLike) -> None:
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)
        super().__init__()

    def _create_resource(self) -> Any:
        raise NotImplementedError

    @property
    def key_dtype(self) -> dtypes.DType:
        return self._key_dtype

    @property
    def value_dtype(self) -> dtypes.DType:
        return self._value_dtype

    @property
    def name(self) -> Any:
        return NotImplementedError

    def size(self, name: str | None = None) -> Any:
        """How many entries the table has."""
        raise NotImplementedError

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys."""
        raise NotImplementedError


@public("contrib.lookup.InitializableLookupTableBase")
@internal("ops.lookup_ops.InitializableLookupTableBase")
class InitializableLookupTableBase(LookupInterface):
    """A table that an initializer fills, with a default for keys that it lacks."""

    def __init__(self, default_value: Any, initializer: Any) -> None:
        super().__init__(initializer.key_dtype, initializer.value_dtype)
        self._default_value = convert_to_tensor(default_value, self._value_dtype)
        self._default_value.get_shape().merge_with([])
        self._initializer = self._track_trackable(initializer, "_initializer")
        self._resource_handle = self._create_resource()
        self._init_op = self._initialize()

    def _initialize(self) -> Any:
        return self._initializer.initialize(self)

    @property
    def default_value(self) -> Any:
        return self._default_value

    def size(self, name: str | None = None) -> Any:
        with name_scope(name, f"{self.name}_Size", [self.resource_handle]):
            return apply("LookupTableSizeV2", self.resource_handle)

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys, the default for those that are not there."""
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(f"Signature mismatch. Keys must be dtype {self._key_dtype}, got {keys.dtype}.")

        def look_up(plain: Any) -> Any:
            with name_scope(name, f"{self.name}_Lookup", (self.resource_handle, plain, self._default_value)):
                values = apply("LookupTableFindV2", self.resource_handle, plain, self._default_value)
            values.set_shape(plain.get_shape())
            return values

        return on_values(keys, look_up)


@internal("ops.lookup_ops.InitializableLookupTableBaseV1")
class InitializableLookupTableBaseV1(InitializableLookupTableBase):
    """The same with its initializer as an op."""

    @property
    def initializer(self) -> Any:
        return self._init_op


@internal("ops.lookup_ops.StaticHashTable")
class StaticHashTable(InitializableLookupTableBase):
    """A table whose entries do not change once it is initialized."""

    def __init__(self, initializer: Any, default_value: Any, name: str | None = None) -> None:
        self._name = name or "hash_table"
        self._shared_name = initializer._shared_name or f"hash_table_{uuid.uuid4()}"
        self._table_name = ""
        super().__init__(default_value, initializer)
        self._value_shape = self._default_value.get_shape()

    def _create_resource(self) -> Any:
        handle = apply(
            "HashTableV2",
            shared_name=self._shared_name,
            key_dtype=self._initializer.key_dtype,
            value_dtype=self._initializer.value_dtype,
            name=self._name,
        )
        self._table_name = self._name if executing_eagerly() else handle.op.name.split("/")[-1]
        return handle

    @property
    def name(self) -> str:
        return self._table_name

    def export(self, name: str | None = None) -> Any:
        """All keys, and their values."""
        return exported(self, name)


def exported(table: Any, name: str | None) -> Any:
    """All keys and values of a static table."""
    with name_scope(name, f"{table.name}_Export", [table.resource_handle]):
        keys, values = apply("LookupTableExportV2", table.resource_handle, Tkeys=table.key_dtype, Tvalues=table.value_dtype)
    values.set_shape(keys.get_shape().concatenate(table.default_value.get_shape()))
    return keys, values


@public("lookup.StaticHashTable")
@internal("ops.lookup_ops.StaticHashTableV1")
class StaticHashTableV1(StaticHashTable):
    """A table whose entries do not change once it is initialized; `initializer` is the op that does so."""

    @property
    def initializer(self) -> Any:
        return self._init_op


@internal("ops.lookup_ops.HashTable")
class HashTable(StaticHashTableV1):
    """The same under an older name."""

    @property
    def init(self) -> Any:
        return self.initializer
