"""Ids of words: tables with hash buckets for words that a vocabulary lacks, and tables made from vocabularies."""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.constants import known
from everflow.graph.convert import constant, convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.tensor import TensorLike
from everflow.lookup.initializers import (
    KeyValueTensorInitializer,
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileStringTableInitializer,
)
from everflow.lookup.tables import LookupInterface, StaticHashTable, StaticHashTableV1, on_values


@public("contrib.lookup.HasherSpec")
@internal("ops.lookup_ops.HasherSpec")
class HasherSpec(collections.namedtuple("HasherSpec", ["hasher", "key"])):
    """How words become buckets: `fasthash`, or `stronghash` with a key."""

    __slots__ = ()


FastHashSpec = public("contrib.lookup.FastHashSpec")(HasherSpec("fasthash", None))
internal("ops.lookup_ops.FastHashSpec")(FastHashSpec)


@public("contrib.lookup.StrongHashSpec")
@internal("ops.lookup_ops.StrongHashSpec")
class StrongHashSpec(HasherSpec):
    """A hash that can't be predicted without its key of two integers."""

    __slots__ = ()

    def __new__(cls, key: Any) -> StrongHashSpec:
        if len(key) != 2:
            raise ValueError(f"key must have size 2, got {len(key)}.")
        if not all(isinstance(part, int) for part in key):
            raise TypeError(f"Invalid key {key}. Must be unsigned integer values.")
        return super().__new__(cls, "stronghash", key)


def _hasher(spec: HasherSpec) -> Callable[..., Any]:
    """The function from strings and a number of buckets to buckets."""
    if spec.hasher == "fasthash":
        return tf.string_to_hash_bucket_fast
    if spec.hasher == "legacy":
        return tf.string_to_hash_bucket
    if spec.hasher == "stronghash":
        return functools.partial(tf.string_to_hash_bucket_strong, key=spec.key)
    raise ValueError(f"Unknown hasher {spec.hasher}")


class _WithBuckets(LookupInterface):
    """Ids from a table; for other keys, ids behind those of the table by their hash."""

    _table: Any
    _num_oov_buckets: int

    def _create_resource(self) -> Any:
        if self._table is not None:
            return self._table._create_resource()
        return None

    def _initialize(self) -> Any:
        return self._table._initialize() if self._table is not None else tf.no_op()

    def _initializer_op(self) -> Any:
        if self._table is not None:
            return self._table._init_op
        with name_scope(None, "init"):
            return tf.no_op()

    @property
    def resource_handle(self) -> Any:
        return self._table.resource_handle if self._table is not None else None

    def size(self, name: str | None = None) -> Any:
        """How many ids there are, buckets included."""
        with name_scope(name, f"{self.name}_Size"):
            known = self._table.size() if self._table is not None else constant(0, dtypes.int64)
            return known + self._num_oov_buckets

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The ids of keys."""
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(f"Signature mismatch. Keys must be dtype {self._key_dtype}, got {keys.dtype}.")
        return on_values(keys, lambda plain: self._looked_up(plain, name))

    def _looked_up(self, values: Any, name: str | None) -> Any:
        if self._table is not None and self._table.key_dtype.base_dtype == dtypes.int64:
            values = tf.cast(values, dtypes.int64)
        if self._num_oov_buckets == 0:
            return self._table.lookup(values, name=name)
        with name_scope(name, f"{self.name}_Lookup"):
            texts = tf.as_string(values) if values.dtype.is_integer else values
            buckets = self._hash(texts)
            if self._table is None:
                return buckets
            ids = self._table.lookup(values)
            buckets = tf.add(buckets, self._table.size())
            return tf.where_v2(tf.not_equal(ids, self._table.default_value), ids, buckets)

    def _hash(self, texts: Any) -> Any:
        raise NotImplementedError


@public("contrib.lookup.IdTableWithHashBuckets")
@internal("ops.lookup_ops.IdTableWithHashBuckets")
class IdTableWithHashBuckets(_WithBuckets):
    """Gives keys that a table of ids lacks a bucket by their hash."""

    def __init__(
        self, table: Any, num_oov_buckets: int, hasher_spec: Any = FastHashSpec, name: str | None = None, key_dtype: Any = None
    ) -> None:
        if name:
            name = name.rstrip("/")
        if table is not None:
            if key_dtype is None:
                key_dtype = table.key_dtype
            supported = (dtypes.int64, dtypes.string)
            if table.key_dtype not in supported:
                raise TypeError(f"Invalid key dtype, expected one of {supported}, but got {key_dtype}.")
            if table.key_dtype.is_integer != key_dtype.is_integer:
                raise TypeError(
                    f"Invalid key dtype, expected {'integer' if key_dtype.is_integer else 'non-integer'} but got {table.key_dtype}."
                )
            if table.value_dtype != dtypes.int64:
                raise TypeError(f"Invalid value dtype, expected {dtypes.int64} but got {table.value_dtype}.")
            name = name or table.name
        else:
            if num_oov_buckets <= 0:
                raise ValueError("oov_buckets must be > 0 if no table is supplied.")
            key_dtype = dtypes.string if key_dtype is None else key_dtype
            name = name or "hash_bucket"
        self._table = table
        self._num_oov_buckets = num_oov_buckets
        key_dtype = dtypes.as_dtype(key_dtype)
        if not key_dtype.is_integer and key_dtype != dtypes.string:
            raise TypeError(f"Invalid key_dtype, expected integer or string, got {key_dtype}.")
        if not isinstance(hasher_spec, HasherSpec):
            raise TypeError(f"hasher_spec must be of type HasherSpec, got {hasher_spec}")
        self._hasher_spec = hasher_spec
        self._table_name = name.split("/")[-1]
        super().__init__(key_dtype, dtypes.int64)

    @property
    def name(self) -> str:
        return self._table_name

    @property
    def initializer(self) -> Any:
        """The op that initializes the table of ids."""
        return self._initializer_op()

    @property
    def init(self) -> Any:
        return self.initializer

    def _hash(self, texts: Any) -> Any:
        return _hasher(self._hasher_spec)(texts, num_buckets=self._num_oov_buckets, name="hash_bucket")


@internal("ops.lookup_ops.StaticVocabularyTable")
class StaticVocabularyTable(_WithBuckets):
    """A vocabulary, with buckets for all other words."""

    def __init__(self, initializer: Any, num_oov_buckets: int, lookup_key_dtype: Any = None, name: str | None = None) -> None:
        if num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0.")
        self._table = None
        if initializer is not None:
            lookup_key_dtype = initializer.key_dtype if lookup_key_dtype is None else dtypes.as_dtype(lookup_key_dtype)
            supported = (dtypes.int64, dtypes.string)
            if initializer.key_dtype not in supported:
                shown = ", ".join(f"tf.{d.name}" for d in supported)
                raise TypeError(f"Invalid key dtype, expected one of ({shown}), but got {initializer.key_dtype}.")
            if initializer.key_dtype.is_integer != lookup_key_dtype.is_integer:
                raise TypeError(
                    f"Invalid key dtype, expected {'integer' if lookup_key_dtype.is_integer else 'non-integer'} but got "
                    f"{initializer.key_dtype}."
                )
            if initializer.value_dtype != dtypes.int64:
                raise TypeError(f"Invalid value dtype, expected {dtypes.int64} but got {initializer.value_dtype}.")
            self._table = StaticHashTable(initializer, default_value=-1)
            self._table_name = name or self._table.name
        else:
            lookup_key_dtype = dtypes.string if lookup_key_dtype is None else lookup_key_dtype
            self._table_name = name or "hash_bucket"
        self._num_oov_buckets = num_oov_buckets
        super().__init__(lookup_key_dtype, dtypes.int64)

    @property
    def name(self) -> str:
        return self._table_name

    def _hash(self, texts: Any) -> Any:
        return tf.string_to_hash_bucket_fast(texts, num_buckets=self._num_oov_buckets, name="hash_bucket")


@public("lookup.StaticVocabularyTable")
@internal("ops.lookup_ops.StaticVocabularyTableV1")
class StaticVocabularyTableV1(StaticVocabularyTable):
    """A vocabulary, with buckets for all other words; `initializer` is the op that reads it."""

    @property
    def initializer(self) -> Any:
        return self._initializer_op()


def _check_file(vocabulary_file: Any) -> None:
    if vocabulary_file is None or (not isinstance(vocabulary_file, TensorLike) and not vocabulary_file):
        raise ValueError("vocabulary_file must be specified and must not be empty.")


def _check_ids(num_oov_buckets: int, key_dtype: dtypes.DType) -> None:
    if num_oov_buckets < 0:
        raise ValueError(f"num_oov_buckets must be greater or equal than 0, got {num_oov_buckets}.")
    if not key_dtype.is_integer and key_dtype.base_dtype != dtypes.string:
        raise TypeError("Only integer and string keys are supported.")


def _with_buckets(table: Any, num_oov_buckets: int, hasher_spec: Any, scope: str, key_dtype: dtypes.DTypeLike) -> Any:
    if not num_oov_buckets:
        return table
    return IdTableWithHashBuckets(table, num_oov_buckets=num_oov_buckets, hasher_spec=hasher_spec, name=scope, key_dtype=key_dtype)


@public("contrib.lookup.index_table_from_file")
@internal("ops.lookup_ops.index_table_from_file")
def index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    key_dtype: dtypes.DTypeLike = dtypes.string,
    name: str | None = None,
    key_column_index: int = TextFileIndex.WHOLE_LINE,
    value_column_index: int = TextFileIndex.LINE_NUMBER,
    delimiter: str = "\t",
) -> Any:
    """A table from the words of a file to their line numbers."""
    _check_file(vocabulary_file)
    key_dtype = dtypes.as_dtype(key_dtype)
    if num_oov_buckets < 0:
        raise ValueError(f"num_oov_buckets must be greater or equal than 0, got {num_oov_buckets}.")
    if vocab_size is not None and vocab_size < 1:
        value = known(vocabulary_file) if isinstance(vocabulary_file, TensorLike) else None
        shown = vocabulary_file if value is None else value
        raise ValueError(f"vocab_size must be greater than 0, got {vocab_size}. vocabulary_file: {shown}")
    _check_ids(num_oov_buckets, key_dtype)
    with name_scope(name, "string_to_index"):
        with name_scope(None, "hash_table") as scope:
            init = TextFileIdTableInitializer(
                vocabulary_file,
                vocab_size=vocab_size,
                key_dtype=dtypes.int64 if key_dtype.is_integer else key_dtype,
                name="table_init",
                key_column_index=key_column_index,
                value_column_index=value_column_index,
                delimiter=delimiter,
            )
            table = StaticHashTableV1(init, default_value)
        return _with_buckets(table, num_oov_buckets, hasher_spec, scope, key_dtype)


def _places(words: Any) -> Any:
    """The numbers of the elements of a tensor."""
    return tf.cast(tf.range(tf.size(words)), dtypes.int64)


def _table(keys: Any, values: Any, key_dtype: Any, value_dtype: Any, default: Any) -> Any:
    return StaticHashTableV1(KeyValueTensorInitializer(keys, values, key_dtype, value_dtype, name="table_init"), default)


@internal("ops.lookup_ops.index_table_from_tensor")
def index_table_from_tensor(
    vocabulary_list: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    dtype: dtypes.DTypeLike = dtypes.string,
    name: str | None = None,
) -> Any:
    """A table from the words of a list to their places in it."""
    if vocabulary_list is None:
        raise ValueError("vocabulary_list must be specified.")
    dtype = dtypes.as_dtype(dtype)
    _check_ids(num_oov_buckets, dtype)
    with name_scope(name, "string_to_index"):
        keys = convert_to_tensor(vocabulary_list)
        if keys.dtype.is_integer != dtype.is_integer:
            raise ValueError(f"Expected {'integer' if dtype.is_integer else 'non-integer'}, got {keys.dtype}.")
        if not dtype.is_integer and keys.dtype.base_dtype != dtype:
            raise ValueError(f"Expected {dtype}, got {keys.dtype}.")
        places = _places(keys)
        with name_scope(None, "hash_table") as scope:
            if keys.dtype.is_integer:
                keys = tf.cast(keys, dtypes.int64)
            table = _table(keys, places, keys.dtype.base_dtype, dtypes.int64, default_value)
        return _with_buckets(table, num_oov_buckets, hasher_spec, scope, dtype)


@public("contrib.lookup.index_to_string_table_from_file")
@internal("ops.lookup_ops.index_to_string_table_from_file")
def index_to_string_table_from_file(
    vocabulary_file: Any,
    vocab_size: int | None = None,
    default_value: Any = "UNK",
    name: str | None = None,
    key_column_index: int = TextFileIndex.LINE_NUMBER,
    value_column_index: int = TextFileIndex.WHOLE_LINE,
    delimiter: str = "\t",
) -> Any:
    """A table from line numbers to the words of a file."""
    _check_file(vocabulary_file)
    if not (vocab_size is None or vocab_size > 0):
        raise ValueError(f"vocab_size must be greater than 0, got {vocab_size}.")
    columns = (key_column_index, value_column_index)
    with name_scope(name, "index_to_string"):
        lines = TextFileStringTableInitializer(vocabulary_file, *columns, vocab_size, delimiter, "table_init")
        return StaticHashTableV1(lines, default_value)


@internal("ops.lookup_ops.index_to_string_table_from_tensor")
def index_to_string_table_from_tensor(vocabulary_list: Any, default_value: Any = "UNK", name: str | None = None) -> Any:
    """A table from places in a list to its words."""
    if vocabulary_list is None:
        raise ValueError("vocabulary_list must be specified.")
    with name_scope(name, "index_to_string"):
        words = convert_to_tensor(vocabulary_list, dtypes.string)
        return _table(_places(words), words, dtypes.int64, dtypes.string, default_value)
