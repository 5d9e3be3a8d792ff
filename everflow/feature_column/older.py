"""Columns as the older functions make them: the same columns, marked as older, which newer layers refuse."""

from __future__ import annotations

from typing import Any

from everflow.api import internal
from everflow.feature_column import categorical, crossing, embedding, indicator, numeric
from everflow.feature_column.protocol import MadeByOlderFunction
from everflow.graph import dtypes


@internal("feature_column.feature_column._NumericColumn")
class _NumericColumn(MadeByOlderFunction, numeric.NumericColumn):
    """Made by the older `_numeric_column`."""


@internal("feature_column.feature_column._HashedCategoricalColumn")
class _HashedCategoricalColumn(MadeByOlderFunction, categorical.HashedCategoricalColumn):
    """Made by the older `_categorical_column_with_hash_bucket`."""


@internal("feature_column.feature_column._VocabularyFileCategoricalColumn")
class _VocabularyFileCategoricalColumn(MadeByOlderFunction, categorical.VocabularyFileCategoricalColumn):
    """Made by the older `_categorical_column_with_vocabulary_file`."""


@internal("feature_column.feature_column._VocabularyListCategoricalColumn")
class _VocabularyListCategoricalColumn(MadeByOlderFunction, categorical.VocabularyListCategoricalColumn):
    """Made by the older `_categorical_column_with_vocabulary_list`."""


@internal("feature_column.feature_column._IdentityCategoricalColumn")
class _IdentityCategoricalColumn(MadeByOlderFunction, categorical.IdentityCategoricalColumn):
    """Made by the older `_categorical_column_with_identity`."""


@internal("feature_column.feature_column._BucketizedColumn")
class _BucketizedColumn(MadeByOlderFunction, numeric.BucketizedColumn):
    """Made by the older `_bucketized_column`."""


@internal("feature_column.feature_column._CrossedColumn")
class _CrossedColumn(MadeByOlderFunction, crossing.CrossedColumn):
    """Made by the older `_crossed_column`."""


@internal("feature_column.feature_column._EmbeddingColumn")
class _EmbeddingColumn(MadeByOlderFunction, embedding.EmbeddingColumn):
    """Made by the older `_embedding_column`."""


@internal("feature_column.feature_column._IndicatorColumn")
class _IndicatorColumn(MadeByOlderFunction, indicator.IndicatorColumn):
    """Made by the older `_indicator_column`."""


@internal("feature_column.feature_column._WeightedCategoricalColumn")
class _WeightedCategoricalColumn(MadeByOlderFunction, categorical.WeightedCategoricalColumn):
    """Made by the older `_weighted_categorical_column`."""


@internal("feature_column.feature_column._numeric_column")
def old_numeric_column(
    key: Any, shape: Any = (1,), default_value: Any = None, dtype: dtypes.DTypeLike = dtypes.float32, normalizer_fn: Any = None
) -> Any:
    """The older numeric_column."""
    shape, default_value = numeric.checked_numeric_arguments(key, shape, default_value, dtype, normalizer_fn)
    return _NumericColumn(key, shape=shape, default_value=default_value, dtype=dtype, normalizer_fn=normalizer_fn)


@internal("feature_column.feature_column._bucketized_column")
def old_bucketized_column(source_column: Any, boundaries: Any) -> Any:
    """The older bucketized_column."""
    numeric.check_bucketized_arguments(source_column, boundaries)
    return _BucketizedColumn(source_column, tuple(boundaries))


@internal("feature_column.feature_column._categorical_column_with_hash_bucket")
def old_categorical_column_with_hash_bucket(key: Any, hash_bucket_size: Any, dtype: dtypes.DTypeLike = dtypes.string) -> Any:
    """The older categorical_column_with_hash_bucket."""
    categorical.check_hashed_arguments(key, hash_bucket_size, dtype)
    return _HashedCategoricalColumn(key, hash_bucket_size, dtype)


@internal("feature_column.feature_column._categorical_column_with_vocabulary_file")
def old_categorical_column_with_vocabulary_file(
    key: Any,
    vocabulary_file: Any,
    vocabulary_size: Any = None,
    num_oov_buckets: int = 0,
    default_value: Any = None,
    dtype: dtypes.DTypeLike = dtypes.string,
) -> Any:
    """The older categorical_column_with_vocabulary_file."""
    return _VocabularyFileCategoricalColumn(
        *categorical.vocabulary_file_fields(key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype)
    )


@internal("feature_column.feature_column._categorical_column_with_vocabulary_list")
def old_categorical_column_with_vocabulary_list(
    key: Any, vocabulary_list: Any, dtype: Any = None, default_value: Any = -1, num_oov_buckets: int = 0
) -> Any:
    """The older categorical_column_with_vocabulary_list."""
    return _VocabularyListCategoricalColumn(
        *categorical.vocabulary_list_fields(key, vocabulary_list, dtype, default_value, num_oov_buckets)
    )


@internal("feature_column.feature_column._categorical_column_with_identity")
def old_categorical_column_with_identity(key: Any, num_buckets: Any, default_value: Any = None) -> Any:
    """The older categorical_column_with_identity."""
    categorical.check_identity_arguments(key, num_buckets, default_value)
    return _IdentityCategoricalColumn(key, num_buckets, default_value)


@internal("feature_column.feature_column._crossed_column")
def old_crossed_column(keys: Any, hash_bucket_size: Any, hash_key: Any = None) -> Any:
    """The older crossed_column."""
    crossing.check_crossed_arguments(keys, hash_bucket_size)
    return _CrossedColumn(tuple(keys), hash_bucket_size, hash_key)


@internal("feature_column.feature_column._embedding_column")
def old_embedding_column(
    categorical_column: Any,
    dimension: Any,
    combiner: str = "mean",
    initializer: Any = None,
    ckpt_to_load_from: Any = None,
    tensor_name_in_ckpt: Any = None,
    max_norm: Any = None,
    trainable: bool = True,
) -> Any:
    """The older embedding_column."""
    initializer = embedding.checked_embedding_arguments(categorical_column, dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt)
    return _EmbeddingColumn(
        categorical_column, dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable
    )


@internal("feature_column.feature_column._indicator_column")
def old_indicator_column(categorical_column: Any) -> Any:
    """The older indicator_column."""
    return _IndicatorColumn(categorical_column)


@internal("feature_column.feature_column._weighted_categorical_column")
def old_weighted_categorical_column(categorical_column: Any, weight_feature_key: Any, dtype: dtypes.DTypeLike = dtypes.float32) -> Any:
    """The older weighted_categorical_column."""
    categorical.check_weighted_arguments(dtype)
    return _WeightedCategoricalColumn(categorical_column, weight_feature_key, dtype)
