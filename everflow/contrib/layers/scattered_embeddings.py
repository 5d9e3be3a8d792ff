"""Vectors of values without a table of their own: each element is a parameter that the value and its place hash to."""

from __future__ import annotations

from typing import Any, NamedTuple

import everflow as tf
from everflow.api import public
from everflow.contrib.framework.variables import model_variable
from everflow.contrib.layers.feature_columns import FeatureColumn, Transformed
from everflow.contrib.layers.feature_crossing import sparse_feature_cross
from everflow.contrib.layers.publishing import layer
from everflow.graph.keys import GraphKeys
from everflow.graph.sparse_tensor import SparseTensor
from everflow.ops.variables.partitioned import PartitionedVariable

_HOME = "contrib.layers.python.layers.embedding_ops."

# Rows without values hash as these, so that trained parameters keep their meaning.
_STRING_OF_EMPTY_ROWS = "6ZxWzWOHxZ"
_NUMBER_OF_EMPTY_ROWS = 1288896567


def _parts(params: Any) -> list[Any]:
    if isinstance(params, PartitionedVariable):
        params = list(params)
    elif not isinstance(params, (list, tuple)):
        params = [params]
    if not params:
        raise ValueError("Need at least one param")
    return list(params)


def _lookup(params: list[Any], values: Any, dimension: int, hash_key: int | None) -> Any:
    """The rows of vectors of flat values. All parts together are one row of parameters."""
    size = sum(tf.dimension_value(p.shape[0]) for p in params)  # type: ignore[misc]
    count = tf.size(values)
    rows = tf.reshape(tf.tile(tf.expand_dims(values, 1), [1, dimension]), [-1, 1])
    places = tf.reshape(tf.tile(tf.expand_dims(tf.range(0, dimension), 0), [count, 1]), [-1, 1])
    crossed = sparse_feature_cross([tf.cast(places, tf.int64), rows], hashed_output=True, num_buckets=size, hash_key=hash_key)
    ids = tf.reshape(crossed.values, [-1, dimension])
    return tf.nn.embedding_lookup(params, ids, partition_strategy="div")


@public(_HOME + "scattered_embedding_lookup", "contrib.slim.scattered_embedding_lookup")
def scattered_embedding_lookup(params: Any, values: Any, dimension: int, name: str | None = None, hash_key: int | None = None) -> Any:
    """The vector of each value, of as many elements as `dimension`; `params` are rows of parameters that all values share."""
    if dimension is None:
        raise ValueError("You must specify dimension.")
    params = _parts(params)
    with tf.name_scope(name, "scattered_embedding_lookup", [*params, dimension, values]):
        if dimension <= 0:
            raise ValueError(f"Dimension must be >0. Given is {dimension}")
        for p in params:
            p.get_shape().assert_has_rank(1)
        values = tf.convert_to_tensor(values)
        shape = tf.shape(values)
        found = _lookup(params, tf.reshape(values, [-1]), dimension, hash_key)
        return tf.reshape(found, tf.concat([shape, [dimension]], 0))


@public(_HOME + "scattered_embedding_lookup_sparse", "contrib.slim.scattered_embedding_lookup_sparse")
def scattered_embedding_lookup_sparse(
    params: Any,
    sparse_values: Any,
    dimension: int,
    combiner: str | None = None,
    default_value: Any = None,
    name: str | None = None,
    hash_key: int | None = None,
) -> Any:
    """The vectors of rows of values, combined; a row without values has that of `default_value`."""
    if combiner is None:
        tf.logging.warn('The default value of combiner will change from "mean" to "sqrtn" after 2016/11/01.')
        combiner = "mean"
    params = _parts(params)
    if not isinstance(sparse_values, SparseTensor):
        raise TypeError("sparse_values must be SparseTensor")
    with tf.name_scope(name, "scattered_embedding_lookup_sparse", [*params, sparse_values]):
        if default_value is None:
            default_value = _STRING_OF_EMPTY_ROWS if sparse_values.dtype == tf.string else _NUMBER_OF_EMPTY_ROWS
        filled, _ = tf.sparse_fill_empty_rows(sparse_values, default_value)
        rows = tf.cast(filled.indices[:, 0], tf.int32)
        values, places = tf.unique(filled.values)
        vectors = scattered_embedding_lookup(params, values, dimension, hash_key=hash_key)
        combined = {"sum": tf.sparse_segment_sum, "mean": tf.sparse_segment_mean, "sqrtn": tf.sparse_segment_sqrt_n}
        if combiner not in combined:
            raise ValueError("combiner must be one of 'mean', 'sqrtn' or 'sum'.")
        return combined[combiner](vectors, places, rows)


class _ScatteredFields(NamedTuple):
    column_name: str
    size: int
    dimension: int
    hash_key: int | None
    combiner: str
    initializer: Any


class ScatteredEmbeddingColumn(FeatureColumn, _ScatteredFields):
    """A sparse feature whose values all share `size` parameters."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name of the feature, and how it is embedded."""
        return f"{self.column_name}_scattered_embedding"

    @property
    def key(self) -> str:
        """Without the initializer, which says nothing."""
        shown = ", ".join(f"{field}={getattr(self, field)}" for field in self._fields if field != "initializer")
        return f"_ScatteredEmbeddingColumn({shown})"

    @property
    def config(self) -> dict[str, Any]:
        """How the feature is parsed."""
        return {self.column_name: tf.VarLenFeature(tf.string)}

    def transformed(self, features: Transformed) -> Any:
        """The feature as it is."""
        return features.raw(self.column_name)

    def vectors(self, features: Transformed, weight_collections: list[Any], trainable: bool) -> Any:
        """The combined vector of each example."""
        table = model_variable(
            "weights",
            shape=[self.size],
            initializer=self.initializer,
            trainable=trainable,
            collections=[GraphKeys.GLOBAL_VARIABLES, *weight_collections],
        )
        return scattered_embedding_lookup_sparse(table, features.of(self), self.dimension, combiner=self.combiner, hash_key=self.hash_key)


ScatteredEmbeddingColumn.__name__ = ScatteredEmbeddingColumn.__qualname__ = "_ScatteredEmbeddingColumn"


@layer("scattered_embedding_column")
def scattered_embedding_column(
    column_name: str, size: int, dimension: int, hash_key: int | None, combiner: str = "mean", initializer: Any = None
) -> ScatteredEmbeddingColumn:
    """Vectors of a sparse feature of any number of different values, made of `size` shared parameters."""
    if dimension < 1 or size < 1:
        raise ValueError(f"Dimension and size must be greater than 0. dimension: {dimension}, size: {size}, column_name: {column_name}")
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError(f"Combiner must be one of 'mean', 'sqrtn' or 'sum'. combiner: {combiner}, column_name: {column_name}")
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified. column_name: {column_name}")
    start = initializer or tf.truncated_normal_initializer(mean=0.0, stddev=0.1)
    return ScatteredEmbeddingColumn(column_name, size, dimension, hash_key, combiner, start)
