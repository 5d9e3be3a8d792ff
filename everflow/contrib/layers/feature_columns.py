"""The first feature columns: what a feature is, how it is parsed, and how it becomes numbers."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import everflow as tf
from everflow.contrib.layers.feature_crossing import sparse_feature_cross
from everflow.contrib.layers.publishing import layer
from everflow.graph import dtypes
from everflow.graph.sparse_tensor import SparseTensor
from everflow.lookup.vocabularies import index_table_from_file, index_table_from_tensor

_COMBINERS = ("mean", "sqrtn", "sum")


class Ids(NamedTuple):
    """A sparse feature as ids below `size`, with weights where it has any."""

    ids: Any
    weights: Any
    size: int
    combiner: str


class FeatureColumn:
    """What all columns have. A column is known by its key: two with the same are the same."""

    @property
    def key(self) -> str:
        """What distinguishes it from others."""
        return str(self)

    def transformed(self, features: Transformed) -> Any:
        """The feature as numbers: ids of a sparse one, a matrix of a dense one."""
        raise TypeError(f"{type(self).__name__} has no numbers of its own.")

    def ids(self, features: Transformed) -> Ids:
        """The feature as ids, for weights or vectors."""
        raise ValueError(f"Error creating weights for column {self.name}: it is not sparse.")  # type: ignore[attr-defined]


class Transformed:
    """Features by name, and what columns made of them: each once."""

    def __init__(self, features: dict[Any, Any]) -> None:
        self._features = dict(features)
        self._found: dict[Any, Any] = {}

    def raw(self, name: str) -> Any:
        """A feature as it was given."""
        if name not in self._features:
            raise KeyError(f"{name} is missing from the features: {sorted(map(str, self._features))}")
        return self._features[name]

    def of(self, column: Any) -> Any:
        """What a column makes of the features."""
        if column not in self._found:
            given = self._features.get(column)
            self._found[column] = given if given is not None else column.transformed(self)
        return self._found[column]


def _as_sparse(feature: Any) -> SparseTensor:
    """A feature that is not sparse has no entries where it is empty or -1."""
    if isinstance(feature, SparseTensor):
        return feature
    feature = tf.convert_to_tensor(feature)
    missing = "" if feature.dtype == dtypes.string else -1
    indices = tf.where(tf.not_equal(feature, tf.cast(missing, feature.dtype) if missing else tf.constant(missing)))
    return SparseTensor(indices, tf.gather_nd(feature, indices), tf.shape(feature, out_type=dtypes.int64))


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


class SparseColumn(FeatureColumn, _SparseFields):
    """A feature with any number of values, each of which has an id."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name of the feature."""
        return self.column_name

    @property
    def length(self) -> int:
        """How many ids there are."""
        if self.lookup_config is not None:
            return int(self.lookup_config.vocab_size or 0) + self.lookup_config.num_oov_buckets
        return int(self.bucket_size or 0)

    @property
    def config(self) -> dict[str, Any]:
        """How the feature is parsed."""
        return {self.column_name: tf.VarLenFeature(self.dtype)}

    def ids(self, features: Transformed) -> Ids:
        """The feature as ids."""
        return Ids(features.of(self), None, self.length, self.combiner)

    def values(self, features: Transformed) -> SparseTensor:
        """The feature as it is."""
        return _as_sparse(features.raw(self.column_name))

    def __deepcopy__(self, memo: Any) -> SparseColumn:
        return self


class HashedColumn(SparseColumn):
    """Ids are hashes."""

    __slots__ = ()

    def transformed(self, features: Transformed) -> SparseTensor:
        """Hashes of values."""
        found = self.values(features)
        texts = found.values if found.dtype == dtypes.string else tf.as_string(found.values)
        return SparseTensor(found.indices, tf.string_to_hash_bucket_fast(texts, self.length, name="lookup"), found.dense_shape)


class IntegerizedColumn(SparseColumn):
    """Values are ids."""

    __slots__ = ()

    def transformed(self, features: Transformed) -> SparseTensor:
        """Values, brought below the number of ids."""
        found = self.values(features)
        return SparseTensor(found.indices, tf.mod(found.values, self.length, name="mod"), found.dense_shape)


class KeysColumn(SparseColumn):
    """Ids are places in a list."""

    __slots__ = ()

    def transformed(self, features: Transformed) -> SparseTensor:
        """Places of values."""
        config = self.lookup_config
        assert config is not None
        table = index_table_from_tensor(
            vocabulary_list=list(config.keys or ()), default_value=config.default_value, dtype=self.dtype, name="lookup"
        )
        return table.lookup(self.values(features))


class VocabularyColumn(SparseColumn):
    """Ids are lines of a file."""

    __slots__ = ()

    def transformed(self, features: Transformed) -> SparseTensor:
        """Lines of values."""
        config = self.lookup_config
        assert config is not None
        found = self.values(features)
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
    (SparseIdLookupConfig, "_SparseIdLookupConfig"),
)


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
    if dtype != dtypes.string and not dtype.is_integer:
        raise ValueError(f"dtype must be string or integer. dtype: {dtype}, column {column_name}")
    return HashedColumn(column_name, bucket_size=hash_bucket_size, combiner=combiner, dtype=dtype)


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
    _check_combiner(column_name, combiner)
    config = SparseIdLookupConfig(vocabulary_file, None, num_oov_buckets, vocab_size, default_value)
    return VocabularyColumn(column_name, lookup_config=config, combiner=combiner, dtype=dtype)


class _WeightedFields(NamedTuple):
    sparse_id_column: Any
    weight_column_name: str
    dtype: Any


class WeightedColumn(FeatureColumn, _WeightedFields):
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

    def transformed(self, features: Transformed) -> tuple[Any, Any]:
        """Ids and weights."""
        weights = _as_sparse(features.raw(self.weight_column_name))
        return features.of(self.sparse_id_column), SparseTensor(
            weights.indices, tf.cast(weights.values, dtypes.float32), weights.dense_shape
        )

    def ids(self, features: Transformed) -> Ids:
        """Ids with weights."""
        ids, weights = features.of(self)
        return Ids(ids, weights, self.sparse_id_column.length, self.sparse_id_column.combiner)


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


class RealColumn(FeatureColumn, _RealFields):
    """A feature of a fixed number of numbers."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name of the feature."""
        return self.column_name

    @property
    def key(self) -> str:
        """Without the normalizer, which says nothing."""
        return (
            f"_RealValuedColumn(column_name={self.column_name}, dimension={self.dimension}, default_value={self.default_value}, "
            f"dtype={self.dtype})"
        )

    @property
    def config(self) -> dict[str, Any]:
        """How the feature is parsed."""
        default = None if self.default_value is None else list(self.default_value)
        return {self.column_name: tf.FixedLenFeature([self.dimension], self.dtype, default)}

    def transformed(self, features: Transformed) -> Any:
        """The numbers, normalized where that was asked for."""
        found = features.raw(self.column_name)
        if isinstance(found, SparseTensor):
            found = tf.sparse_tensor_to_dense(found)
        found = self.normalizer(found) if self.normalizer is not None else found
        return tf.cast(found, dtypes.float32)

    def matrix(self, features: Transformed, name: str = "expand_dims") -> Any:
        """The numbers as [batch, dimension]. `name`: that of the op which makes a matrix of one number for each example."""
        found = features.of(self)
        rank = found.shape.ndims
        if rank == 2:
            return found
        return tf.expand_dims(found, -1, name=name) if rank == 1 else tf.reshape(found, [-1, self.dimension])


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
        if dtype.is_integer and any(not isinstance(v, (int, np.integer)) for v in values):
            raise TypeError(
                f"default_value must be compatible with dtype. default_value: {default_value}, dtype: {dtype}, column_name: {column_name}"
            )
        default_value = tuple(float(v) if dtype.is_floating else v for v in values)
    if normalizer is not None and not callable(normalizer):
        raise TypeError("normalizer must be a callable")
    return RealColumn(column_name, dimension, default_value, dtype, normalizer)


class _BucketizedFields(NamedTuple):
    source_column: Any
    boundaries: tuple[float, ...]


class BucketizedColumn(FeatureColumn, _BucketizedFields):
    """Numbers as the buckets that they fall into."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name of the feature, and that it is in buckets."""
        return f"{self.source_column.name}_bucketized"

    @property
    def length(self) -> int:
        """How many buckets there are."""
        return len(self.boundaries) + 1

    @property
    def config(self) -> dict[str, Any]:
        """How the feature is parsed."""
        return self.source_column.config

    def transformed(self, features: Transformed) -> Any:
        """The number of the bucket of each number."""
        numbers = self.source_column.matrix(features)
        return tf.cast(tf.raw_ops.Bucketize(input=numbers, boundaries=list(self.boundaries), name="bucketize"), dtypes.int64)

    def sparse(self, features: Transformed) -> SparseTensor:
        """Buckets as ids; each dimension has its own."""
        buckets, dimension = features.of(self), self.source_column.dimension
        batch = tf.shape(buckets, out_type=dtypes.int64)[0]
        columns = tf.range(dimension, dtype=dtypes.int64)
        ids = tf.reshape(buckets + self.length * columns, [-1])
        rows = tf.reshape(tf.tile(tf.expand_dims(tf.range(batch), 1), [1, dimension]), [-1])
        places = tf.stack([rows, tf.tile(columns, tf.expand_dims(batch, 0))], 1)
        return SparseTensor(places, ids, tf.stack([batch, dimension]))

    def ids(self, features: Transformed) -> Ids:
        """Buckets as ids."""
        return Ids(self.sparse(features), None, self.length * self.source_column.dimension, "sum")


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


class CrossedColumn(FeatureColumn, _CrossedFields):
    """Every combination of the values of several columns."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The names of the columns, in order."""
        return "_X_".join(sorted(column.name for column in self.columns))

    @property
    def length(self) -> int:
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

    def transformed(self, features: Transformed) -> SparseTensor:
        """Hashes of combinations."""
        crossed = []
        for column in self._leaves():
            crossed.append(column.sparse(features) if isinstance(column, BucketizedColumn) else column.values(features))
        return sparse_feature_cross(crossed, hashed_output=True, num_buckets=self.hash_bucket_size, hash_key=self.hash_key, name="cross")

    def ids(self, features: Transformed) -> Ids:
        """Combinations as ids."""
        return Ids(features.of(self), None, self.length, self.combiner)


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
    (BucketizedColumn, "_BucketizedColumn"),
    (CrossedColumn, "_CrossedColumn"),
)
# Keys, and with them the order of columns, begin with TensorFlow's names.
for _kind, _name in (*_NAMES, *_DENSE_NAMES):
    _kind.__name__ = _kind.__qualname__ = _name


def by_key(feature_columns: Any) -> list[Any]:
    """Columns in the order in which everything is made."""
    return sorted(set(feature_columns), key=lambda column: column.key)


@layer("check_feature_columns")
def check_feature_columns(feature_columns: Any) -> None:
    """Refuses two columns with one name."""
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
    for column in feature_columns:
        found.update(column.config)
    return found


@layer("infer_real_valued_columns")
def infer_real_valued_columns(features: Any) -> list[RealColumn]:
    """Columns of features that are numbers."""
    if not isinstance(features, dict):
        return [_inferred("", features)]
    return [_inferred(name, tensor) for name, tensor in sorted(features.items())]


def _inferred(name: str, tensor: Any) -> RealColumn:
    dtype = dtypes.as_dtype(tensor.dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"Non integer or non floating types are not supported. Error on {name}.")
    shape = tensor.get_shape().as_list()
    if len(shape) < 1:
        raise ValueError(f"Invalid shape {shape}.")
    return real_valued_column(name, dimension=shape[1] if len(shape) > 1 else 1, dtype=dtype)
