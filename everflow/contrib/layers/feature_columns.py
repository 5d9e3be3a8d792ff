"""The first feature columns: what a feature is, how it is parsed, and how it becomes numbers."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import everflow as tf
from everflow.api import internal
from everflow.contrib.layers.column_protocol import HOME, DenseForm, FeatureColumn, SparseForm, WideLookup, numbers_of_rank
from everflow.contrib.layers.feature_crossing import sparse_feature_cross
from everflow.contrib.layers.publishing import layer
from everflow.contrib.layers.sparse_forms import dense_to_sparse_tensor
from everflow.feature_column.protocol import OldCategoricalColumn, OldDenseColumn
from everflow.graph import dtypes
from everflow.graph.sparse_tensor import SparseTensor
from everflow.lookup.vocabularies import index_table_from_file, index_table_from_tensor

_COMBINERS = ("mean", "sqrtn", "sum")


def _as_sparse(feature: Any, ignore_value: Any = None) -> SparseTensor:
    """A feature that is not sparse has no entries where it is `ignore_value`; one value for each example is a row."""
    if isinstance(feature, SparseTensor):
        return feature
    feature = tf.convert_to_tensor(feature)
    if feature.get_shape().ndims == 1:
        feature = tf.expand_dims(feature, -1)
    return dense_to_sparse_tensor(feature, ignore_value)


class SparseIdLookupConfig(NamedTuple):
    """Where ids of values are looked up."""

    vocabulary_file: str | None = None
    keys: tuple[Any, ...] | None = None
    num_oov_buckets: int = 0
    vocab_size: int | None = None
    default_value: int = -1


def _check_combiner(name: str, combiner: str) -> None:
    if combiner not in _COMBINERS:
        raise ValueError(f"combiner must be one of {list(_COMBINERS)}. combiner: {combiner}, column_name: {name}")


class _SparseFields(NamedTuple):
    column_name: str
    is_integerized: bool = False
    bucket_size: int | None = None
    lookup_config: SparseIdLookupConfig | None = None
    combiner: str = "sum"
    dtype: Any = dtypes.string


class SparseColumn(FeatureColumn, SparseForm, OldCategoricalColumn, _SparseFields):  # type: ignore[misc]
    """A feature with any number of values, each of which has an id."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name of the feature."""
        return self.column_name

    @property
    def length(self) -> int:  # type: ignore[override]
        """How many ids there are."""
        if self.lookup_config is not None:
            return int(self.lookup_config.vocab_size or 0) + self.lookup_config.num_oov_buckets
        return int(self.bucket_size or 0)

    @property
    def config(self) -> dict[str, Any]:
        """How the feature is parsed."""
        return {self.column_name: tf.VarLenFeature(self.dtype)}

    def is_compatible(self, other_column: Any) -> bool:
        """Whether ids of both mean the same, as far as can be known."""
        one, other = self.lookup_config, other_column.lookup_config
        same_values = (self.dtype == dtypes.string) == (other_column.dtype == dtypes.string)
        return same_values and self.length == other_column.length and (one is None or other is None or one == other)

    def _get_input_sparse_tensor(self, input_tensor: Any) -> SparseTensor:
        dense = not isinstance(input_tensor, SparseTensor)
        return _as_sparse(input_tensor, "" if dense and tf.convert_to_tensor(input_tensor).dtype == dtypes.string else -1)

    def _transform_feature(self, inputs: Any) -> SparseTensor:
        return self._do_transform(self._get_input_sparse_tensor(inputs.get(self.column_name)))

    def _do_transform(self, input_tensor: SparseTensor) -> SparseTensor:
        """The ids of values."""
        raise NotImplementedError(f"{type(self).__name__} has no ids.")

    def _to_dnn_input_layer(self, input_tensor: Any, weight_collections: Any = None, trainable: bool = True, output_rank: int = 2) -> Any:
        raise ValueError(f"SparseColumn is not supported in DNN. Please use embedding_column or one_hot_column. column: {self}")

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> WideLookup:
        return WideLookup(self.id_tensor(input_tensor), None, self.length, tf.zeros_initializer(), self.combiner)

    def __deepcopy__(self, memo: Any) -> SparseColumn:
        return self


class HashedColumn(SparseColumn):
    """Ids are hashes; with keys, each value has one for each key."""

    hash_keys: Any

    def __new__(cls, *fields: Any, hash_keys: Any = None, **named_fields: Any) -> HashedColumn:
        """A column of these fields."""
        made = super().__new__(cls, *fields, **named_fields)
        made.hash_keys = hash_keys
        return made

    def _do_transform(self, input_tensor: SparseTensor) -> SparseTensor:
        found = input_tensor
        texts = found.values if found.dtype == dtypes.string else tf.as_string(found.values)
        if not self.hash_keys:
            return SparseTensor(found.indices, tf.string_to_hash_bucket_fast(texts, self.length, name="lookup"), found.dense_shape)
        hashes = [tf.string_to_hash_bucket_strong(texts, self.length, key, name="lookup") for key in self.hash_keys]
        return tf.sparse_concat(1, [SparseTensor(found.indices, ids, found.dense_shape) for ids in hashes])


class IntegerizedColumn(SparseColumn):
    """Values are ids."""

    __slots__ = ()

    def _do_transform(self, input_tensor: SparseTensor) -> SparseTensor:
        """Values, brought below the number of ids."""
        return SparseTensor(input_tensor.indices, tf.mod(input_tensor.values, self.length, name="mod"), input_tensor.dense_shape)


class KeysColumn(SparseColumn):
    """Ids are places in a list."""

    __slots__ = ()

    def _do_transform(self, input_tensor: SparseTensor) -> SparseTensor:
        """Places of values."""
        config = self.lookup_config
        assert config is not None
        table = index_table_from_tensor(
            vocabulary_list=list(config.keys or ()), default_value=config.default_value, dtype=self.dtype, name="lookup"
        )
        return table.lookup(input_tensor)


class VocabularyColumn(SparseColumn):
    """Ids are lines of a file."""

    __slots__ = ()

    def _do_transform(self, input_tensor: SparseTensor) -> SparseTensor:
        """Lines of values."""
        config = self.lookup_config
        assert config is not None
        found = input_tensor
        if found.dtype != dtypes.string:
            found = SparseTensor(found.indices, tf.as_string(found.values), found.dense_shape)
        table = index_table_from_file(
            vocabulary_file=config.vocabulary_file,
            num_oov_buckets=config.num_oov_buckets,
            vocab_size=config.vocab_size,
            default_value=config.default_value,
            name=f"{self.name}_lookup",
        )
        return table.lookup(found)


_NAMES: tuple[tuple[type, str], ...] = (
    (HashedColumn, "_SparseColumnHashed"),
    (IntegerizedColumn, "_SparseColumnIntegerized"),
    (KeysColumn, "_SparseColumnKeys"),
    (VocabularyColumn, "_SparseColumnVocabulary"),
    (SparseColumn, "_SparseColumn"),
    (SparseIdLookupConfig, "_SparseIdLookupConfig"),
)


def _check_dtype(name: str, dtype: Any) -> None:
    if dtype != dtypes.string and not dtype.is_integer:
        raise ValueError(f"dtype must be string or integer. dtype: {dtype}, column_name: {name}")


def _checked_size(size: Any, name: str) -> None:
    if size is None or size < 1:
        raise ValueError(f"bucket_size must be at least 1. bucket_size: {size}, column_name: {name}")


@layer("sparse_column_with_hash_bucket")
def sparse_column_with_hash_bucket(
    column_name: str, hash_bucket_size: int, combiner: str = "sum", dtype: Any = dtypes.string, hash_keys: Any = None
) -> SparseColumn:
    """A feature whose values are hashed."""
    _checked_size(hash_bucket_size, column_name)
    _check_combiner(column_name, combiner)
    _check_dtype(column_name, dtype)
    if hash_keys is not None:
        if not isinstance(hash_keys, list) or not hash_keys:
            raise ValueError("hash_keys must be a non-empty list.")
        if any(not isinstance(key, list) or [*map(type, key)] != [int, int] for key in hash_keys):
            raise ValueError("Each element of hash_keys must be a pair of integers.")
    return HashedColumn(column_name, bucket_size=hash_bucket_size, combiner=combiner, dtype=dtype, hash_keys=hash_keys)


@layer("sparse_column_with_integerized_feature")
def sparse_column_with_integerized_feature(
    column_name: str, bucket_size: int, combiner: str = "sum", dtype: Any = dtypes.int64
) -> SparseColumn:
    """A feature whose values are ids."""
    _checked_size(bucket_size, column_name)
    _check_combiner(column_name, combiner)
    if not dtype.is_integer:
        raise ValueError(f"dtype must be an integer. dtype: {dtype}, column_name: {column_name}")
    return IntegerizedColumn(column_name, is_integerized=True, bucket_size=bucket_size, combiner=combiner, dtype=dtype)


@layer("sparse_column_with_keys")
def sparse_column_with_keys(
    column_name: str, keys: Any, default_value: int = -1, combiner: str = "sum", dtype: dtypes.DTypeLike = dtypes.string
) -> SparseColumn:
    """A feature whose values are in a list."""
    keys = tuple(keys)
    if not keys:
        raise ValueError(f"keys must not be empty. column_name: {column_name}")
    _check_combiner(column_name, combiner)
    return KeysColumn(
        column_name,
        lookup_config=SparseIdLookupConfig(keys=keys, vocab_size=len(keys), default_value=default_value),
        combiner=combiner,
        dtype=dtype,
    )


@layer("sparse_column_with_vocabulary_file")
def sparse_column_with_vocabulary_file(
    column_name: str,
    vocabulary_file: str,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    combiner: str = "sum",
    dtype: dtypes.DTypeLike = dtypes.string,
) -> SparseColumn:
    """A feature whose values are lines of a file."""
    if vocab_size is None:
        raise ValueError(f"vocab_size should be defined. column_name: {column_name}")
    _check_dtype(column_name, dtype)
    _check_combiner(column_name, combiner)
    config = SparseIdLookupConfig(vocabulary_file, None, num_oov_buckets, vocab_size, default_value)
    return VocabularyColumn(column_name, lookup_config=config, combiner=combiner, dtype=dtype)


class _WeightedFields(NamedTuple):
    sparse_id_column: Any
    weight_column_name: str
    dtype: Any


class WeightedColumn(FeatureColumn, SparseForm, OldCategoricalColumn, _WeightedFields):  # type: ignore[misc]
    """Ids with the weights of another feature."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """Both names."""
        return f"{self.sparse_id_column.name}_weighted_by_{self.weight_column_name}"

    @property
    def config(self) -> dict[str, Any]:
        """How both features are parsed."""
        return {**self.sparse_id_column.config, self.weight_column_name: tf.VarLenFeature(self.dtype)}

    @property
    def length(self) -> int:  # type: ignore[override]
        """How many ids there are."""
        return self.sparse_id_column.length

    @property
    def lookup_config(self) -> SparseIdLookupConfig | None:
        """Where ids of values are looked up."""
        return self.sparse_id_column.lookup_config

    def is_compatible(self, other_column: Any) -> bool:
        """Whether ids of both mean the same, as far as can be known."""
        return self.sparse_id_column.is_compatible(getattr(other_column, "sparse_id_column", other_column))

    def id_tensor(self, input_tensor: Any) -> Any:
        """The ids of what the column made."""
        return input_tensor[0]

    def weight_tensor(self, input_tensor: Any) -> Any:
        """The weights of what the column made."""
        return input_tensor[1]

    def _transform_feature(self, inputs: Any) -> tuple[Any, Any]:
        weights = inputs.get(self.weight_column_name)
        if not isinstance(weights, SparseTensor):
            dense = tf.convert_to_tensor(weights)
            dense = tf.expand_dims(dense, -1) if dense.get_shape().ndims == 1 else dense
            weights = dense_to_sparse_tensor(dense)
        floats = SparseTensor(weights.indices, tf.cast(weights.values, dtypes.float32), weights.dense_shape)
        return inputs.get(self.sparse_id_column), floats

    def _to_dnn_input_layer(self, input_tensor: Any, weight_collections: Any = None, trainable: bool = True, output_rank: int = 2) -> Any:
        raise ValueError(f"WeightedSparseColumn is not supported in DNN. Please use embedding_column or one_hot_column. column: {self}")

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> WideLookup:
        ids, weights = self.id_tensor(input_tensor), self.weight_tensor(input_tensor)
        return WideLookup(ids, weights, self.length, tf.zeros_initializer(), self.sparse_id_column.combiner)


@layer("weighted_sparse_column")
def weighted_sparse_column(sparse_id_column: Any, weight_column_name: str, dtype: Any = dtypes.float32) -> WeightedColumn:
    """A sparse feature with weights."""
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype is not convertible to float. Given {dtype}")
    return WeightedColumn(sparse_id_column, weight_column_name, dtype)


class _RealFields(NamedTuple):
    column_name: str
    dimension: int
    default_value: Any
    dtype: Any
    normalizer: Callable[[Any], Any] | None


class _Numbers(FeatureColumn):
    """What columns of numbers have, however many there are."""

    column_name: str
    normalizer: Callable[[Any], Any] | None

    @property
    def name(self) -> str:
        """The name of the feature."""
        return self.column_name

    @property
    def key(self) -> str:
        """Without the normalizer, which says nothing."""
        return _key_without(self, "normalizer")

    @property
    def normalizer_fn(self) -> Callable[[Any], Any] | None:
        """What changes numbers before they are used."""
        return self.normalizer

    def _normalized_input_tensor(self, input_tensor: Any) -> Any:
        """Numbers as the normalizer leaves them; of sparse ones it sees the values."""
        if self.normalizer is None:
            return input_tensor
        if isinstance(input_tensor, SparseTensor):
            return SparseTensor(input_tensor.indices, self.normalizer(input_tensor.values), input_tensor.dense_shape)
        return self.normalizer(input_tensor)

    def _to_dnn_input_layer(self, input_tensor: Any, weight_collections: Any = None, trainable: bool = True, output_rank: int = 2) -> Any:
        return numbers_of_rank(self._to_dense_tensor(input_tensor), output_rank, self.name)


def _key_without(column: Any, left_out: str) -> str:
    shown = ", ".join(f"{field}={getattr(column, field)}" for field in column._fields if field != left_out)
    return f"{type(column).__name__}({shown})"


class RealColumn(_Numbers, DenseForm, OldDenseColumn, _RealFields):  # type: ignore[misc]
    """A feature of a fixed number of numbers."""

    __slots__ = ()

    @property
    def _width(self) -> int:  # type: ignore[override]
        return self.dimension

    @property
    def config(self) -> dict[str, Any]:
        """How the feature is parsed."""
        default = None if self.default_value is None else list(self.default_value)
        return {self.column_name: tf.FixedLenFeature([self.dimension], self.dtype, default)}

    def _transform_feature(self, inputs: Any) -> Any:
        found = inputs.get(self.column_name)
        if isinstance(found, SparseTensor):
            found = tf.sparse_tensor_to_dense(found)
        return tf.cast(self._normalized_input_tensor(found), dtypes.float32)

    def _to_dense_tensor(self, input_tensor: Any) -> Any:
        return input_tensor


class _VarLenFields(NamedTuple):
    column_name: str
    default_value: Any
    dtype: Any
    normalizer: Callable[[Any], Any] | None
    is_sparse: bool


class VarLenColumn(_Numbers, _VarLenFields):
    """A feature of any number of numbers: sparse, or as long as the longest of the batch."""

    __slots__ = ()

    @property
    def config(self) -> dict[str, Any]:
        """How the feature is parsed."""
        if self.is_sparse:
            return {self.column_name: tf.VarLenFeature(self.dtype)}
        spec = tf.FixedLenSequenceFeature([], self.dtype, allow_missing=True, default_value=self.default_value)
        return {self.column_name: spec}

    def _transform_feature(self, inputs: Any) -> Any:
        return self._normalized_input_tensor(inputs.get(self.column_name))

    def _to_dense_tensor(self, input_tensor: Any) -> Any:
        if self.is_sparse:
            raise ValueError(f"Set is_sparse to False if you want a dense Tensor for column_name: {self.name}")
        return input_tensor


@internal(HOME + "_real_valued_var_len_column")
def real_valued_var_len_column(
    column_name: str,
    default_value: Any = None,
    dtype: Any = dtypes.float32,
    normalizer: Callable[[Any], Any] | None = None,
    is_sparse: bool = False,
) -> VarLenColumn:
    """A feature of any number of numbers."""
    if not (dtype.is_integer or dtype.is_floating):
        raise TypeError(f"dtype must be convertible to float. dtype: {dtype}, column_name: {column_name}")
    if default_value is None and not is_sparse:
        raise ValueError(f"default_value must be provided when is_sparse=False to parse a padded Tensor. column_name: {column_name}")
    if isinstance(default_value, (list, tuple)):
        raise ValueError(f"Only scalar default value. default_value: {default_value}, column_name: {column_name}")
    if default_value is not None:
        if dtype.is_integer and not isinstance(default_value, int) or not isinstance(default_value, (int, float)):
            _refuse_default(default_value, dtype, column_name)
        default_value = float(default_value) if dtype.is_floating else default_value
    return VarLenColumn(column_name, default_value, dtype, normalizer, is_sparse)


def _refuse_default(default_value: Any, dtype: Any, name: str) -> None:
    raise TypeError(f"default_value must be compatible with dtype. default_value: {default_value}, dtype: {dtype}, column_name: {name}")


@layer("real_valued_column")
def real_valued_column(
    column_name: str,
    dimension: int = 1,
    default_value: Any = None,
    dtype: Any = dtypes.float32,
    normalizer: Callable[[Any], Any] | None = None,
) -> RealColumn:
    """A feature of numbers."""
    if dimension is None or not isinstance(dimension, int):
        raise TypeError(f"dimension must be an integer. dimension: {dimension}, column_name: {column_name}")
    if dimension < 1:
        raise ValueError(f"dimension must be greater than 0. dimension: {dimension}, column_name: {column_name}")
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, column_name: {column_name}")
    if default_value is not None:
        values = list(default_value) if isinstance(default_value, (list, tuple)) else [default_value] * dimension
        if len(values) != dimension:
            raise ValueError(
                f"The length of default_value must be equal to dimension. default_value: {default_value}, dimension: "
                f"{dimension}, column_name: {column_name}"
            )
        allowed = (int, np.integer) if dtype.is_integer else (int, float, np.number)
        if not all(isinstance(v, allowed) for v in values):
            _refuse_default(default_value, dtype, column_name)
        default_value = tuple(float(v) if dtype.is_floating else v for v in values)
    if normalizer is not None and not callable(normalizer):
        raise TypeError("normalizer must be a callable")
    return RealColumn(column_name, dimension, default_value, dtype, normalizer)


class _BucketizedFields(NamedTuple):
    source_column: Any
    boundaries: tuple[float, ...]


class BucketizedColumn(FeatureColumn, SparseForm, DenseForm, OldCategoricalColumn, OldDenseColumn, _BucketizedFields):  # type: ignore[misc]
    """Numbers as the buckets that they fall into."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name of the feature, and that it is in buckets."""
        return f"{self.source_column.name}_bucketized"

    @property
    def length(self) -> int:  # type: ignore[override]
        """How many buckets there are."""
        return len(self.boundaries) + 1

    @property
    def _width(self) -> int:  # type: ignore[override]
        return self.length * self.source_column.dimension

    @property
    def _num_buckets(self) -> int:
        return self._width

    @property
    def config(self) -> dict[str, Any]:
        """How the feature is parsed."""
        return self.source_column.config

    def _transform_feature(self, inputs: Any) -> Any:
        numbers = inputs.get(self.source_column)
        return tf.raw_ops.Bucketize(input=numbers, boundaries=list(self.boundaries), name="bucketize")

    def id_tensor(self, input_tensor: Any) -> SparseTensor:
        """Buckets as ids."""
        return self.to_sparse_tensor(input_tensor)

    def to_sparse_tensor(self, input_tensor: Any) -> SparseTensor:
        """Buckets as ids; each dimension has its own."""
        buckets, dimension = tf.cast(input_tensor, dtypes.int64), self.source_column.dimension
        batch = tf.shape(buckets, out_type=dtypes.int64)[0]
        columns = tf.range(dimension, dtype=dtypes.int64)
        ids = tf.reshape(buckets + self.length * columns, [-1])
        rows = tf.reshape(tf.tile(tf.expand_dims(tf.range(batch), 1), [1, dimension]), [-1])
        places = tf.stack([rows, tf.tile(columns, tf.expand_dims(batch, 0))], 1)
        return SparseTensor(places, ids, tf.stack([batch, dimension]))

    def _to_dnn_input_layer(self, input_tensor: Any, weight_collections: Any = None, trainable: bool = True, output_rank: int = 2) -> Any:
        if output_rank != 2:
            raise ValueError("BucketizedColumn currently only supports output_rank=2")
        buckets = tf.cast(input_tensor, dtypes.int64)
        hot = tf.one_hot(buckets, depth=self.length, on_value=1.0, off_value=0.0, name="one_hot")
        return tf.reshape(hot, [-1, self._width], name="reshape")

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> WideLookup:
        return WideLookup(self.to_sparse_tensor(input_tensor), None, self._width, tf.zeros_initializer(), "sum")


@layer("bucketized_column")
def bucketized_column(source_column: Any, boundaries: Any) -> BucketizedColumn:
    """Numbers in buckets."""
    if not isinstance(source_column, RealColumn):
        raise TypeError(f"source_column must be an instance of _RealValuedColumn. source_column: {source_column}")
    if not isinstance(boundaries, (list, tuple)) or not boundaries:
        raise ValueError(f"boundaries must be a non-empty list or tuple. boundaries: {boundaries}")
    kept = tuple(b for i, b in enumerate(boundaries) if i == len(boundaries) - 1 or b != boundaries[i + 1])
    if any(a > b for a, b in zip(kept, kept[1:])):
        raise ValueError(f"boundaries must be a sorted list. boundaries: {boundaries}")
    return BucketizedColumn(source_column, kept)


class _CrossedFields(NamedTuple):
    columns: tuple[Any, ...]
    hash_bucket_size: int
    hash_key: int | None
    combiner: str
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None


class CrossedColumn(FeatureColumn, SparseForm, OldCategoricalColumn, _CrossedFields):  # type: ignore[misc]
    """Every combination of the values of several columns."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The names of the columns, in order."""
        return "_X_".join(sorted(column.name for column in self.columns))

    @property
    def length(self) -> int:  # type: ignore[override]
        """How many ids there are."""
        return self.hash_bucket_size

    @property
    def config(self) -> dict[str, Any]:
        """How the features are parsed."""
        found: dict[str, Any] = {}
        for column in self.columns:
            found.update(column.config)
        return found

    def _leaves(self) -> list[Any]:
        return [leaf for column in self.columns for leaf in (column._leaves() if isinstance(column, CrossedColumn) else [column])]

    def _transform_feature(self, inputs: Any) -> SparseTensor:
        """Hashes of combinations."""
        crossed = []
        for column in self._leaves():
            if isinstance(column, BucketizedColumn):
                crossed.append(column.to_sparse_tensor(inputs.get(column)))
            else:
                crossed.append(column._get_input_sparse_tensor(inputs.get(column.name)))
        return sparse_feature_cross(crossed, hashed_output=True, num_buckets=self.hash_bucket_size, hash_key=self.hash_key, name="cross")

    def _to_dnn_input_layer(self, input_tensor: Any, weight_collections: Any = None, trainable: bool = True, output_rank: int = 2) -> Any:
        raise ValueError(f"CrossedColumn is not supported in DNN. Please use embedding_column. column: {self}")

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> WideLookup:
        return WideLookup(input_tensor, None, self.length, tf.zeros_initializer(), self.combiner)


@layer("crossed_column")
def crossed_column(
    columns: Any,
    hash_bucket_size: int,
    combiner: str = "sum",
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    hash_key: int | None = None,
) -> CrossedColumn:
    """The cross of columns."""
    for column in columns:
        if not isinstance(column, (SparseColumn, CrossedColumn, BucketizedColumn)):
            raise TypeError(
                "columns must be a set of _SparseColumn, _CrossedColumn, or _BucketizedColumn instances. "
                f"Column {column} is of type {type(column)}."
            )
    if len(columns) < 2:
        raise ValueError(f"columns must contain at least 2 elements. columns: {columns}")
    if hash_bucket_size < 2:
        raise ValueError(f"hash_bucket_size must be at least 2. hash_bucket_size: {hash_bucket_size}")
    _check_combiner("crossed", combiner)
    ordered = tuple(sorted(columns, key=lambda column: column.name))
    return CrossedColumn(ordered, hash_bucket_size, hash_key, combiner, ckpt_to_load_from, tensor_name_in_ckpt)


_DENSE_NAMES: tuple[tuple[type, str], ...] = (
    (WeightedColumn, "_WeightedSparseColumn"),
    (RealColumn, "_RealValuedColumn"),
    (VarLenColumn, "_RealValuedVarLenColumn"),
    (BucketizedColumn, "_BucketizedColumn"),
    (CrossedColumn, "_CrossedColumn"),
)
# Keys, and with them the order of columns, begin with TensorFlow's names.
for _kind, _name in (*_NAMES, *_DENSE_NAMES):
    _kind.__name__ = _kind.__qualname__ = _name
    internal(HOME + _name)(_kind)


def by_key(feature_columns: Any) -> list[Any]:
    """Columns in the order in which everything is made."""
    return sorted(set(feature_columns), key=lambda column: column.key)


@layer("check_feature_columns")
def check_feature_columns(feature_columns: Any) -> None:
    """Refuses two columns with one name."""
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    seen: dict[str, Any] = {}
    for column in feature_columns:
        if column.name in seen:
            raise ValueError(
                f"Duplicate feature column key found for column: {column.name}. This usually means that the column is almost "
                f"identical to another column, and one must be discarded. {seen[column.name]}"
            )
        seen[column.name] = column


@layer("create_feature_spec_for_parsing")
def create_feature_spec_for_parsing(feature_columns: Any) -> dict[str, Any]:
    """How the features of columns are parsed."""
    found: dict[str, Any] = collections.OrderedDict()
    for column in feature_columns.values() if isinstance(feature_columns, dict) else feature_columns:
        if not isinstance(column, FeatureColumn):
            raise TypeError(f"feature_columns should only contain instances of _FeatureColumn. Given column is {column}")
        found.update(column.config)  # type: ignore[attr-defined]
    return found


@internal(HOME + "_create_sequence_feature_spec_for_parsing")
def sequence_feature_spec(sequence_feature_columns: Any, allow_missing_by_default: bool = False) -> dict[str, Any]:
    """How the steps of features of columns are parsed. A feature with a default may be missing."""
    spec = create_feature_spec_for_parsing(sequence_feature_columns)
    for key, feature in spec.items():
        if not isinstance(feature, tf.VarLenFeature):
            missing = allow_missing_by_default or feature.default_value is not None
            spec[key] = tf.FixedLenSequenceFeature(shape=feature.shape, dtype=feature.dtype, allow_missing=missing)
    return spec


@layer("infer_real_valued_columns")
def infer_real_valued_columns(features: Any) -> list[RealColumn]:
    """Columns of features that are numbers."""
    if not isinstance(features, dict):
        return [_inferred("", features)]
    return [_inferred(name, tensor) for name, tensor in sorted(features.items())]


def _inferred(name: str, tensor: Any) -> RealColumn:
    if isinstance(tensor, SparseTensor):
        raise ValueError(
            f"SparseTensor is not supported for auto detection. Please define corresponding FeatureColumn for tensor {name} {tensor}."
        )
    dtype = dtypes.as_dtype(tensor.dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(
            "Non integer or non floating types are not supported for auto detection. Please define corresponding FeatureColumn for "
            f"tensor {name} {tensor}."
        )
    return real_valued_column(name, dimension=int(np.prod(tensor.get_shape().as_list()[1:])), dtype=dtype)
