"""Sequences: columns whose features have a step in time for each value, and the layer that takes them."""

from __future__ import annotations

import collections
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.feature_column import categorical
from everflow.feature_column.checks import check_convertible_to_float, check_normalizer, checked_shape
from everflow.feature_column.protocol import (
    IdWeightPair,
    SequenceDenseColumn,
    TensorSequenceLengthPair,
    buckets_of,
    is_new,
    parse_spec_of,
    sparse_tensors_of,
)
from everflow.feature_column.sequence_lengths import sequence_length_of
from everflow.feature_column.sequence_protocol import OfSequence
from everflow.feature_column.serialization import TupleColumn
from everflow.graph import dtypes
from everflow.graph.shapes import TensorShape


@internal("feature_column.feature_column_v2.SequenceCategoricalColumn")
class SequenceCategoricalColumn(TupleColumn, OfSequence, collections.namedtuple("SequenceCategoricalColumn", ("categorical_column",))):
    """Ids with time as their second dimension; made by `sequence_categorical_column_with_*`."""

    @property
    def _is_v2_column(self) -> bool:
        return is_new(self.categorical_column)

    @property
    def name(self) -> str:
        """The feature's name."""
        return self.categorical_column.name

    @property
    def parents(self) -> list[Any]:
        """The plain ids."""
        return [self.categorical_column]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """As that of the plain ids."""
        return parse_spec_of(self.categorical_column)

    @property
    def num_buckets(self) -> int:
        """How many ids there are."""
        return buckets_of(self.categorical_column)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The ids."""
        return self.categorical_column.transform_feature(transformation_cache, state_manager)

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The ids with a dimension of time."""
        ids, weights = sparse_tensors_of(self.categorical_column, transformation_cache, state_manager)
        if ids.get_shape().ndims == 2:
            ids = tf.sparse_reshape(ids, tf.concat([ids.dense_shape, [1]], axis=0))
            if weights is not None:
                weights = tf.sparse_reshape(weights, tf.concat([weights.dense_shape, [1]], axis=0))
        return IdWeightPair(ids, weights)


@public("feature_column.sequence_categorical_column_with_identity")
@public("contrib.feature_column.sequence_categorical_column_with_identity")
def sequence_categorical_column_with_identity(key: Any, num_buckets: Any, default_value: Any = None) -> Any:
    """Sequences of integers that are ids."""
    return SequenceCategoricalColumn(categorical.categorical_column_with_identity(key, num_buckets, default_value))


@public("feature_column.sequence_categorical_column_with_hash_bucket")
@public("contrib.feature_column.sequence_categorical_column_with_hash_bucket")
def sequence_categorical_column_with_hash_bucket(key: Any, hash_bucket_size: Any, dtype: dtypes.DTypeLike = dtypes.string) -> Any:
    """Sequences of ids by hash."""
    return SequenceCategoricalColumn(categorical.categorical_column_with_hash_bucket(key, hash_bucket_size, dtype))


@public("feature_column.sequence_categorical_column_with_vocabulary_file")
@public("contrib.feature_column.sequence_categorical_column_with_vocabulary_file")
def sequence_categorical_column_with_vocabulary_file(
    key: Any,
    vocabulary_file: Any,
    vocabulary_size: Any = None,
    num_oov_buckets: int = 0,
    default_value: Any = None,
    dtype: dtypes.DTypeLike = dtypes.string,
) -> Any:
    """Sequences of ids by the lines of a file."""
    return SequenceCategoricalColumn(
        categorical.categorical_column_with_vocabulary_file(key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype)
    )


@public("feature_column.sequence_categorical_column_with_vocabulary_list")
@public("contrib.feature_column.sequence_categorical_column_with_vocabulary_list")
def sequence_categorical_column_with_vocabulary_list(
    key: Any, vocabulary_list: Any, dtype: dtypes.DTypeLike | None = None, default_value: Any = -1, num_oov_buckets: int = 0
) -> Any:
    """Sequences of ids by the places in a list."""
    return SequenceCategoricalColumn(
        categorical.categorical_column_with_vocabulary_list(key, vocabulary_list, dtype, default_value, num_oov_buckets)
    )


@internal("feature_column.sequence_feature_column.SequenceNumericColumn")
class SequenceNumericColumn(
    TupleColumn,
    SequenceDenseColumn,
    collections.namedtuple("SequenceNumericColumn", ("key", "shape", "default_value", "dtype", "normalizer_fn")),
):
    """Made by `sequence_numeric_column`."""

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

    @property
    def variable_shape(self) -> Any:
        """That of one step."""
        return TensorShape(self.shape)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The normalized numbers."""
        found = transformation_cache.get(self.key, state_manager)
        return found if self.normalizer_fn is None else self.normalizer_fn(found)

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """Numbers of each step, padded with the default."""
        sparse = transformation_cache.get(self, state_manager)
        dense = tf.sparse_tensor_to_dense(sparse, default_value=self.default_value)
        dense = tf.reshape(dense, tf.concat([tf.shape(dense)[:1], [-1], self.variable_shape], axis=0))
        elements = self.variable_shape.num_elements() if sparse.shape.ndims == 2 else 1
        return TensorSequenceLengthPair(dense_tensor=dense, sequence_length=sequence_length_of(sparse, num_elements=elements))


@public("feature_column.sequence_numeric_column", "contrib.feature_column.sequence_numeric_column")
def sequence_numeric_column(
    key: Any, shape: Any = (1,), default_value: Any = 0.0, dtype: Any = dtypes.float32, normalizer_fn: Any = None
) -> Any:
    """Sequences of numbers."""
    sizes = checked_shape(shape, key)
    check_convertible_to_float(dtype, key)
    check_normalizer(normalizer_fn)
    return SequenceNumericColumn(key, sizes, default_value, dtype, normalizer_fn)


@internal("feature_column.sequence_feature_column.concatenate_context_input")
@internal("contrib.feature_column.python.feature_column.sequence_feature_column.concatenate_context_input")
@public("contrib.feature_column.concatenate_context_input")
def concatenate_context_input(context_input: Any, sequence_input: Any) -> Any:
    """Puts what holds for a whole sequence beside each of its steps."""
    checked = []
    for tensor, rank, name in ((sequence_input, 3, "sequence_input"), (context_input, 2, "context_input")):
        checked.append(tf.assert_rank(tensor, rank, message=f"{name} must have rank {rank}", data=[tf.shape(tensor)]))
    for tensor, name in ((sequence_input, "sequence_input"), (context_input, "context_input")):
        checked.append(tf.assert_type(tensor, tf.float32, message=f"{name} must have dtype float32; got {tensor.dtype}."))
    with tf.control_dependencies([check for check in checked if check is not None]):
        steps = tf.shape(sequence_input)[1]
        repeated = tf.tile(tf.expand_dims(context_input, 1), tf.concat([[1], [steps], [1]], 0))
    return tf.concat([sequence_input, repeated], 2)
