"""tf.contrib.lookup: the names that tables had before tf.lookup."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.eager.context import executing_eagerly
from everflow.graph import dtypes
from everflow.lookup import vocabularies
from everflow.lookup.tables import InitializableLookupTableBaseV1, exported
from everflow.lookup.vocabularies import FastHashSpec
from everflow.ops.core.registry import apply
from everflow.platform.deprecation import deprecated


@public("contrib.lookup.HashTable")
class HashTable(InitializableLookupTableBaseV1):
    """A table whose entries do not change once it is initialized."""

    def __init__(self, initializer: Any, default_value: Any, shared_name: str | None = None, name: str | None = None) -> None:
        self._name = name or "hash_table"
        self._shared_name = shared_name
        self._table_name = ""
        super().__init__(default_value, initializer)
        self._value_shape = self._default_value.get_shape()

    def _create_resource(self) -> Any:
        handle = apply(
            "HashTableV2",
            shared_name=self._shared_name or "",
            key_dtype=self._initializer.key_dtype,
            value_dtype=self._initializer.value_dtype,
            name=self._name,
        )
        self._table_name = self._name if executing_eagerly() else handle.op.name.split("/")[-1]
        return handle

    @property
    def init(self) -> Any:
        return self.initializer

    @property
    def name(self) -> str:
        return self._table_name

    def export(self, name: str | None = None) -> Any:
        """All keys, and their values."""
        return exported(self, name)


@public("contrib.lookup.index_table_from_tensor")
def index_table_from_tensor(
    mapping: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    dtype: dtypes.DTypeLike = dtypes.string,
    name: str | None = None,
) -> Any:
    """A table from the words of a list to their places in it."""
    if mapping is None:
        raise ValueError("mapping must be specified.")
    return vocabularies.index_table_from_tensor(mapping, num_oov_buckets, default_value, hasher_spec, dtype, name)


@public("contrib.lookup.string_to_index_table_from_tensor")
@deprecated("2017-04-10", "Use `index_table_from_tensor`.")
def string_to_index_table_from_tensor(
    mapping: Any, num_oov_buckets: int = 0, default_value: int = -1, hasher_spec: Any = FastHashSpec, name: str | None = None
) -> Any:
    """The older name of `index_table_from_tensor`."""
    return index_table_from_tensor(mapping, num_oov_buckets, default_value, hasher_spec, dtypes.string, name)


@public("contrib.lookup.string_to_index_table_from_file")
@deprecated("2017-04-10", "Use `index_table_from_file`.")
def string_to_index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    name: str | None = None,
) -> Any:
    """The older name of `index_table_from_file`."""
    return vocabularies.index_table_from_file(vocabulary_file, num_oov_buckets, vocab_size, default_value, hasher_spec, dtypes.string, name)


@public("contrib.lookup.string_to_index")
@deprecated(
    "2017-01-07",
    "This op will be removed after the deprecation date. Please switch to index_table_from_tensor and call the "
    "lookup method of the returned table.",
)
def string_to_index(tensor: Any, mapping: Any, default_value: int = -1, name: str | None = None) -> Any:
    """The places of words in a list."""
    return index_table_from_tensor(mapping, default_value=default_value, name=name).lookup(tensor)


@public("contrib.lookup.index_to_string_table_from_tensor")
def index_to_string_table_from_tensor(mapping: Any, default_value: Any = "UNK", name: str | None = None) -> Any:
    """A table from places in a list to its words."""
    if mapping is None:
        raise ValueError("mapping must be specified.")
    return vocabularies.index_to_string_table_from_tensor(mapping, default_value, name)


@public("contrib.lookup.index_to_string")
@deprecated(
    "2017-01-07",
    "This op will be removed after the deprecation date. Please switch to index_to_string_table_from_tensor and call "
    "the lookup method of the returned table.",
)
def index_to_string(tensor: Any, mapping: Any, default_value: Any = "UNK", name: str | None = None) -> Any:
    """The words at places in a list."""
    return index_to_string_table_from_tensor(mapping, default_value, name).lookup(tensor)
