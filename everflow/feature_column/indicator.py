"""Indicators: ids as vectors of counts."""

from __future__ import annotations

import collections
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.feature_column.protocol import (
    DenseColumn,
    OldCategoricalColumn,
    SequenceDenseColumn,
    TensorSequenceLengthPair,
    buckets_of,
    is_new,
    parse_spec_of,
    sparse_tensors_of,
)
from everflow.feature_column.sequence_lengths import sequence_length_of
from everflow.feature_column.sequence_protocol import check_not_sequence, check_sequence
from everflow.feature_column.serialization import TupleColumn
from everflow.graph.shapes import TensorShape


@internal("feature_column.feature_column_v2.IndicatorColumn")
class IndicatorColumn(TupleColumn, DenseColumn, SequenceDenseColumn, collections.namedtuple("IndicatorColumn", ("categorical_column",))):
    """Made by `indicator_column`."""

    @property
    def _is_v2_column(self) -> bool:
        return is_new(self.categorical_column)

    @property
    def name(self) -> str:
        """After the ids."""
        return f"{self.categorical_column.name}_indicator"

    @property
    def parents(self) -> list[Any]:
        """The ids."""
        return [self.categorical_column]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """As that of the ids."""
        return parse_spec_of(self.categorical_column)

    @property
    def variable_shape(self) -> Any:
        """A place for each id."""
        return TensorShape([1, buckets_of(self.categorical_column)])

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """How often each id occurs, or the sum of its weights."""
        ids, weights = sparse_tensors_of(self.categorical_column, transformation_cache, state_manager)
        if weights is not None:
            column = tf.sparse_merge(sp_ids=ids, sp_values=weights, vocab_size=int(self.variable_shape[-1]))
            # Ids out of range go here.
            column = tf.sparse_slice(column, [0, 0], column.dense_shape)
            return tf.scatter_nd(column.indices, column.values, column.dense_shape)
        dense = tf.sparse_tensor_to_dense(ids, default_value=-1)
        return tf.reduce_sum(tf.one_hot(dense, depth=int(self.variable_shape[-1]), on_value=1.0, off_value=0.0), axis=[-2])

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """A vector of counts for each example."""
        check_not_sequence(self, "indicator_column")
        return transformation_cache.get(self, state_manager)

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """A vector of counts for each step."""
        check_sequence(self, "indicator_column")
        dense = transformation_cache.get(self, state_manager)
        pair = sparse_tensors_of(self.categorical_column, transformation_cache, state_manager)
        return TensorSequenceLengthPair(dense_tensor=dense, sequence_length=sequence_length_of(pair.id_tensor))


@public("feature_column.indicator_column")
def indicator_column(categorical_column: Any) -> Any:
    """Ids as a vector with a place for each, which counts how often it occurs."""
    if not isinstance(categorical_column, OldCategoricalColumn):
        raise ValueError(f"Unsupported input type. Input must be a CategoricalColumn. Given: {categorical_column}")
    return IndicatorColumn(categorical_column)
