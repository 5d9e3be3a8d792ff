"""Ids: by hash, by number, by a vocabulary, and with weights."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.feature_column.checks import check_key, check_string_or_int
from everflow.feature_column.protocol import CategoricalColumn, IdWeightPair, buckets_of, is_new, parse_spec_of
from everflow.feature_column.serialization import TupleColumn
from everflow.feature_column.transformation import as_sparse
from everflow.graph import dtypes
from everflow.graph.sparse_tensor import convert_to_tensor_or_sparse_tensor
from everflow.lookup.vocabularies import index_table_from_file, index_table_from_tensor


class OfOneFeature(TupleColumn, CategoricalColumn):
    """Ids made from one raw feature, whatever number of values it has."""

    key: str
    dtype: Any

    @property
    def name(self) -> str:
        """The feature's name."""
        return self.key

    @property
    def parents(self) -> list[Any]:
        """The raw feature."""
        return [self.key]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """Any number of values."""
        return {self.key: tf.VarLenFeature(self.dtype)}

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The ids."""
        return self._ids(as_sparse(transformation_cache.get(self.key, state_manager)))

    def _ids(self, values: Any) -> Any:
        raise NotImplementedError

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The ids, without weights."""
        return IdWeightPair(transformation_cache.get(self, state_manager), None)

    def _check_compatible(self, values: Any) -> None:
        check_string_or_int(values.dtype, f"column_name: {self.key} input_tensor")
        if self.dtype.is_integer != values.dtype.is_integer:
            raise ValueError(
                f"Column dtype and SparseTensors dtype must be compatible. key: {self.key}, column dtype: {self.dtype}, "
                f"tensor dtype: {values.dtype}"
            )


@internal("feature_column.feature_column_v2.HashedCategoricalColumn")
class HashedCategoricalColumn(OfOneFeature, collections.namedtuple("HashedCategoricalColumn", ("key", "hash_bucket_size", "dtype"))):  # type: ignore[misc]
    """Made by `categorical_column_with_hash_bucket`."""

    @property
    def num_buckets(self) -> int:
        """How many ids there are."""
        return self.hash_bucket_size

    def _ids(self, values: Any) -> Any:
        self._check_compatible(values)
        texts = values.values if self.dtype == tf.string else tf.as_string(values.values)
        ids = tf.string_to_hash_bucket_fast(texts, self.hash_bucket_size, name="lookup")
        return tf.SparseTensor(values.indices, ids, values.dense_shape)


@public("feature_column.categorical_column_with_hash_bucket")
def categorical_column_with_hash_bucket(key: Any, hash_bucket_size: Any, dtype: dtypes.DTypeLike = dtypes.string) -> Any:
    """Ids by the hash of strings or integers."""
    check_hashed_arguments(key, hash_bucket_size, dtype)
    return HashedCategoricalColumn(key, hash_bucket_size, dtype)


def check_hashed_arguments(key: Any, hash_bucket_size: Any, dtype: dtypes.DTypeLike) -> None:
    """At least one bucket for strings or integers."""
    if hash_bucket_size is None:
        raise ValueError(f"hash_bucket_size must be set. key: {key}")
    if hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}, key: {key}")
    check_key(key)
    check_string_or_int(dtype, f"column_name: {key}")


class OfVocabulary(OfOneFeature):
    """Ids by the place in a vocabulary."""

    num_oov_buckets: int

    @property
    def num_buckets(self) -> int:
        """Words and buckets for other words."""
        return self._size() + self.num_oov_buckets

    def _size(self) -> int:
        raise NotImplementedError

    def _table(self, key_dtype: dtypes.DTypeLike) -> Any:
        raise NotImplementedError

    def _ids(self, values: Any) -> Any:
        if self.dtype.is_integer != values.dtype.is_integer:
            raise ValueError(
                f"Column dtype and SparseTensors dtype must be compatible. key: {self.key}, column dtype: {self.dtype}, "
                f"tensor dtype: {values.dtype}"
            )
        check_string_or_int(values.dtype, f"column_name: {self.key} input_tensor")
        key_dtype = self.dtype
        if values.dtype.is_integer:
            # Tables of integers hold int64.
            key_dtype = dtypes.int64
            values = tf.cast(values, dtypes.int64)
        return self._table(key_dtype).lookup(values)


@internal("feature_column.feature_column_v2.VocabularyFileCategoricalColumn")
class VocabularyFileCategoricalColumn(
    OfVocabulary,
    collections.namedtuple(  # type: ignore[misc]
        "VocabularyFileCategoricalColumn", ("key", "vocabulary_file", "vocabulary_size", "num_oov_buckets", "dtype", "default_value")
    ),
):
    """Made by `categorical_column_with_vocabulary_file`."""

    def _size(self) -> int:
        return self.vocabulary_size

    def _table(self, key_dtype: dtypes.DTypeLike) -> Any:
        return index_table_from_file(
            vocabulary_file=self.vocabulary_file,
            num_oov_buckets=self.num_oov_buckets,
            vocab_size=self.vocabulary_size,
            default_value=self.default_value,
            key_dtype=key_dtype,
            name=f"{self.key}_lookup",
        )


@public("feature_column.categorical_column_with_vocabulary_file")
def categorical_column_with_vocabulary_file(
    key: Any,
    vocabulary_file: Any,
    vocabulary_size: Any = None,
    num_oov_buckets: int = 0,
    default_value: Any = None,
    dtype: dtypes.DTypeLike = dtypes.string,
) -> Any:
    """Ids by the line of a file that holds the word."""
    return VocabularyFileCategoricalColumn(
        *vocabulary_file_fields(key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype)
    )


@internal("feature_column.feature_column_v2.categorical_column_with_vocabulary_file_v2")
def categorical_column_with_vocabulary_file_v2(
    key: Any,
    vocabulary_file: Any,
    vocabulary_size: Any = None,
    dtype: dtypes.DTypeLike = dtypes.string,
    default_value: Any = None,
    num_oov_buckets: int = 0,
) -> Any:
    """Ids by the line of a file that holds the word."""
    return categorical_column_with_vocabulary_file(key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype)


def vocabulary_file_fields(
    key: Any, vocabulary_file: Any, vocabulary_size: Any, num_oov_buckets: int, default_value: Any, dtype: dtypes.DTypeLike
) -> tuple[Any, ...]:
    """The fields of a column with a file, checked; the size is counted where it is not given."""
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    if vocabulary_size is None:
        if not tf.gfile.Exists(vocabulary_file):
            raise ValueError(f"vocabulary_file in {key} does not exist.")
        with tf.gfile.GFile(vocabulary_file) as lines:
            vocabulary_size = sum(1 for _ in lines)
        tf.logging.info(
            "vocabulary_size = %d in %s is inferred from the number of elements in the vocabulary_file %s.",
            vocabulary_size,
            key,
            vocabulary_file,
        )
    if vocabulary_size < 1:
        raise ValueError(f"Invalid vocabulary_size in {key}.")
    if num_oov_buckets:
        if default_value is not None:
            raise ValueError(f"Can't specify both num_oov_buckets and default_value in {key}.")
        if num_oov_buckets < 0:
            raise ValueError(f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")
    check_string_or_int(dtype, f"column_name: {key}")
    check_key(key)
    return key, vocabulary_file, vocabulary_size, num_oov_buckets or 0, dtype, -1 if default_value is None else default_value


@internal("feature_column.feature_column_v2.VocabularyListCategoricalColumn")
class VocabularyListCategoricalColumn(
    OfVocabulary,
    collections.namedtuple(  # type: ignore[misc]
        "VocabularyListCategoricalColumn", ("key", "vocabulary_list", "dtype", "default_value", "num_oov_buckets")
    ),
):
    """Made by `categorical_column_with_vocabulary_list`."""

    def _size(self) -> int:
        return len(self.vocabulary_list)

    def _table(self, key_dtype: dtypes.DTypeLike) -> Any:
        return index_table_from_tensor(
            vocabulary_list=tuple(self.vocabulary_list),
            default_value=self.default_value,
            num_oov_buckets=self.num_oov_buckets,
            dtype=key_dtype,
            name=f"{self.key}_lookup",
        )


@public("feature_column.categorical_column_with_vocabulary_list")
def categorical_column_with_vocabulary_list(
    key: Any, vocabulary_list: Any, dtype: Any = None, default_value: Any = -1, num_oov_buckets: int = 0
) -> Any:
    """Ids by the place of the word in a list."""
    return VocabularyListCategoricalColumn(*vocabulary_list_fields(key, vocabulary_list, dtype, default_value, num_oov_buckets))


def vocabulary_list_fields(key: Any, vocabulary_list: Any, dtype: Any, default_value: Any, num_oov_buckets: int) -> tuple[Any, ...]:
    """The fields of a column with a list, checked."""
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError(f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}")
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError(f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}")
    words_dtype = dtypes.as_dtype(np.array(vocabulary_list).dtype)
    if num_oov_buckets:
        if default_value != -1:
            raise ValueError(f"Can't specify both num_oov_buckets and default_value in {key}.")
        if num_oov_buckets < 0:
            raise ValueError(f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")
    check_string_or_int(words_dtype, f"column_name: {key} vocabulary")
    if dtype is None:
        dtype = words_dtype
    elif dtype.is_integer != words_dtype.is_integer:
        raise ValueError(f"dtype {dtype} and vocabulary dtype {words_dtype} do not match, column_name: {key}")
    check_string_or_int(dtype, f"column_name: {key}")
    check_key(key)
    return key, tuple(vocabulary_list), dtype, default_value, num_oov_buckets


@internal("feature_column.feature_column_v2.IdentityCategoricalColumn")
class IdentityCategoricalColumn(
    OfOneFeature, collections.namedtuple("IdentityCategoricalColumn", ("key", "number_buckets", "default_value"))
):  # type: ignore[misc]
    """Made by `categorical_column_with_identity`."""

    dtype = dtypes.int64

    @property
    def num_buckets(self) -> int:
        """How many ids there are."""
        return self.number_buckets

    def _ids(self, values: Any) -> Any:
        if not values.dtype.is_integer:
            raise ValueError(f"Invalid input, not integer. key: {self.key} dtype: {values.dtype}")
        ids = values.values
        if ids.dtype != dtypes.int64:
            ids = tf.cast(ids, dtypes.int64, name="values")
        limit = tf.cast(self.num_buckets, dtypes.int64, name="num_buckets")
        zero = tf.cast(0, dtypes.int64, name="zero")
        if self.default_value is None:
            below = tf.assert_less(
                ids,
                limit,
                data=(ids, limit),
                name="assert_less_than_num_buckets",
                message=f'Bucket index for categorical column "{self.name}" exceeds number of buckets',
            )
            positive = tf.assert_greater_equal(
                ids,
                zero,
                data=(ids,),
                name="assert_greater_or_equal_0",
                message=f'Negative bucket index for categorical column "{self.name}"',
            )
            with tf.control_dependencies((below, positive)):
                ids = tf.identity(ids)
        else:
            outside = tf.logical_or(tf.less(ids, zero), tf.greater_equal(ids, limit), name="out_of_range")
            default = tf.fill(dims=tf.shape(ids), value=tf.cast(self.default_value, ids.dtype), name="default_values")
            ids = tf.where_v2(outside, default, ids)
        return tf.SparseTensor(indices=values.indices, values=ids, dense_shape=values.dense_shape)


@public("feature_column.categorical_column_with_identity")
def categorical_column_with_identity(key: Any, num_buckets: Any, default_value: Any = None) -> Any:
    """Integers below `num_buckets` as the ids that they are."""
    check_identity_arguments(key, num_buckets, default_value)
    return IdentityCategoricalColumn(key, num_buckets, default_value)


def check_identity_arguments(key: Any, num_buckets: Any, default_value: Any) -> None:
    """At least one id; the default is one of them."""
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}")
    check_key(key)


@internal("feature_column.feature_column_v2.WeightedCategoricalColumn")
class WeightedCategoricalColumn(
    TupleColumn,
    CategoricalColumn,
    collections.namedtuple("WeightedCategoricalColumn", ("categorical_column", "weight_feature_key", "dtype")),
):
    """Made by `weighted_categorical_column`."""

    @property
    def _is_v2_column(self) -> bool:
        return is_new(self.categorical_column)

    @property
    def name(self) -> str:
        """After the ids and their weights."""
        return f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}"

    @property
    def parents(self) -> list[Any]:
        """The ids, and the raw feature of weights."""
        return [self.categorical_column, self.weight_feature_key]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """That of the ids, and any number of weights."""
        spec = dict(parse_spec_of(self.categorical_column))
        if self.weight_feature_key in spec:
            raise ValueError(f"Parse config {spec[self.weight_feature_key]} already exists for {self.weight_feature_key}.")
        spec[self.weight_feature_key] = tf.VarLenFeature(self.dtype)
        return spec

    @property
    def num_buckets(self) -> int:
        """How many ids there are."""
        return buckets_of(self.categorical_column)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The ids and their weights."""
        weights = transformation_cache.get(self.weight_feature_key, state_manager)
        if weights is None:
            raise ValueError(f"Missing weights {self.weight_feature_key}.")
        weights = convert_to_tensor_or_sparse_tensor(weights)
        if self.dtype != weights.dtype.base_dtype:
            raise ValueError(f"Bad dtype, expected {self.dtype}, but got {weights.dtype}.")
        if not isinstance(weights, tf.SparseTensor):
            weights = as_sparse(weights, ignore_value=0.0)
        if not weights.dtype.is_floating:
            weights = tf.cast(weights, tf.float32)
        return transformation_cache.get(self.categorical_column, state_manager), weights

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The ids and their weights."""
        ids, weights = transformation_cache.get(self, state_manager)
        return IdWeightPair(ids, weights)


@public("feature_column.weighted_categorical_column")
def weighted_categorical_column(categorical_column: Any, weight_feature_key: Any, dtype: dtypes.DTypeLike = dtypes.float32) -> Any:
    """Ids with a weight each, which another feature gives."""
    check_weighted_arguments(dtype)
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, dtype)


def check_weighted_arguments(dtype: Any) -> None:
    """Weights are numbers."""
    if dtype is None or not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype {dtype} is not convertible to float.")
