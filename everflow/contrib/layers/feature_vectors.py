"""Columns that make vectors of sparse features: embeddings, one-hot, and embeddings without a table of their own."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import everflow as tf
from everflow.contrib.framework.variables import model_variable
from everflow.contrib.layers.feature_columns import CrossedColumn, FeatureColumn, Ids, SparseColumn, Transformed, WeightedColumn
from everflow.contrib.layers.publishing import layer
from everflow.graph import dtypes
from everflow.graph.keys import GraphKeys
from everflow.graph.sparse_tensor import SparseTensor
from everflow.train.checkpoints.initializing import init_from_checkpoint


def _as_matrix(sparse: SparseTensor) -> SparseTensor:
    """Ids of rank 2; those of sequences have one row a step."""
    rank = sparse.get_shape().ndims
    if rank is None or rank == 2:
        return sparse
    last = tf.expand_dims(sparse.dense_shape[-1], 0)
    rows = tf.expand_dims(tf.reduce_prod(sparse.dense_shape[:-1]), 0)
    return tf.sparse_reshape(sparse, tf.concat([rows, last], 0))


def looked_up(table: Any, ids: Ids, combiner: str, max_norm: float | None = None) -> Any:
    """The vectors of bags of ids; an empty bag gives zeros."""
    weights = None if ids.weights is None else _as_matrix(ids.weights)
    found = tf.nn.safe_embedding_lookup_sparse([table], _as_matrix(ids.ids), weights, combiner=combiner, max_norm=max_norm)
    rank = ids.ids.get_shape().ndims
    if rank is None or rank == 2:
        return found
    width = int(table.shape[-1])
    shaped = tf.reshape(found, tf.concat([tf.cast(ids.ids.dense_shape[:-1], dtypes.int32), [width]], 0))
    shaped.set_shape([None] * (rank - 1) + [width])
    return shaped


class _EmbeddingFields(NamedTuple):
    sparse_id_column: Any
    dimension: int
    combiner: str
    initializer: Any
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    shared_embedding_name: str | None
    shared_vocab_size: int | None
    max_norm: float | None
    trainable: bool


class EmbeddingColumn(FeatureColumn, _EmbeddingFields):
    """Vectors of ids, combined for each example."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name of the sparse column, and that it is embedded."""
        return f"{self.sparse_id_column.name}_{'embedding' if self.shared_embedding_name is None else 'shared_embedding'}"

    @property
    def key(self) -> str:
        """Without the initializer, which says nothing."""
        shown = ", ".join(f"{field}={getattr(self, field)}" for field in self._fields if field != "initializer")
        return f"_EmbeddingColumn({shown})"

    @property
    def config(self) -> dict[str, Any]:
        """How the features are parsed."""
        return self.sparse_id_column.config

    @property
    def length(self) -> int:
        """How many ids there are."""
        column = self.sparse_id_column
        return column.sparse_id_column.length if isinstance(column, WeightedColumn) else column.length

    def transformed(self, features: Transformed) -> Any:
        """What the sparse column makes."""
        return features.of(self.sparse_id_column)

    def ids(self, features: Transformed) -> Ids:
        """The ids of the sparse column."""
        return self.sparse_id_column.ids(features)

    def vectors(self, features: Transformed, weight_collections: list[Any], trainable: bool) -> Any:
        """The combined vector of each example."""
        ids = self.ids(features)
        collections = [GraphKeys.GLOBAL_VARIABLES, *weight_collections]
        rows = self.shared_vocab_size or ids.size
        scope = self.shared_embedding_name

        def table() -> Any:
            found = model_variable(
                "weights",
                shape=[rows, self.dimension],
                initializer=self.initializer,
                trainable=trainable and self.trainable,
                collections=collections,
            )
            if self.ckpt_to_load_from is not None:
                init_from_checkpoint(self.ckpt_to_load_from, {self.tensor_name_in_ckpt: found})
            return found

        if scope is None:
            return looked_up(table(), ids, self.combiner, self.max_norm)
        with tf.variable_scope(_parent(), reuse=tf.AUTO_REUSE, auxiliary_name_scope=False), tf.variable_scope(scope):
            return looked_up(table(), ids, self.combiner, self.max_norm)


def _parent() -> Any:
    """The scope around that of the column: columns that share vectors find them there."""
    name = tf.get_variable_scope().name
    return tf.VariableScope(reuse=tf.AUTO_REUSE, name=name.rpartition("/")[0])


def _checked_embedding(dimension: int) -> None:
    if dimension < 1:
        raise ValueError(f"Dimension must be greater than 0. dimension: {dimension}")


def _initializer(initializer: Any, dimension: int) -> Any:
    if initializer is not None and not callable(initializer):
        raise ValueError("initializer must be callable if specified.")
    return initializer or tf.truncated_normal_initializer(mean=0.0, stddev=1.0 / math.sqrt(dimension))


@layer("embedding_column")
def embedding_column(
    sparse_id_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> EmbeddingColumn:
    """Vectors of a sparse column."""
    if not isinstance(sparse_id_column, (SparseColumn, WeightedColumn, CrossedColumn)):
        raise TypeError(
            "sparse_id_column must be an instance of _SparseColumn, _WeightedSparseColumn or _CrossedColumn. "
            f"sparse_id_column: {sparse_id_column}"
        )
    _checked_embedding(dimension)
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    return EmbeddingColumn(
        sparse_id_column,
        dimension,
        combiner,
        _initializer(initializer, dimension),
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        None,
        None,
        max_norm,
        trainable,
    )


@layer("shared_embedding_columns")
def shared_embedding_columns(
    sparse_id_columns: Any,
    dimension: int,
    combiner: str = "mean",
    shared_embedding_name: str | None = None,
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> list[EmbeddingColumn]:
    """Vectors of several sparse columns, from one table."""
    if not sparse_id_columns:
        raise ValueError("The input sparse_id_columns should have at least one element.")
    _checked_embedding(dimension)
    for column in sparse_id_columns:
        if not isinstance(column, (SparseColumn, WeightedColumn)):
            raise TypeError(f"Elements of sparse_id_columns must be _SparseColumn or _WeightedSparseColumn, but {column} is not.")
    plain = [column.sparse_id_column if isinstance(column, WeightedColumn) else column for column in sparse_id_columns]
    if any(column.length != plain[0].length for column in plain):
        raise ValueError("The input sparse id columns are not compatible.")
    if shared_embedding_name is None:
        names = sorted(column.name for column in sparse_id_columns)
        shown = "_".join(names) if len(names) <= 3 else "_".join(names[:3]) + f"_plus_{len(names) - 3}_others"
        shared_embedding_name = f"{shown}_shared_embedding"
    start = _initializer(initializer, dimension)
    return [
        EmbeddingColumn(
            column,
            dimension,
            combiner,
            start,
            ckpt_to_load_from,
            tensor_name_in_ckpt,
            shared_embedding_name,
            plain[0].length,
            max_norm,
            trainable,
        )
        for column in sparse_id_columns
    ]


class _OneHotFields(NamedTuple):
    sparse_id_column: Any


class OneHotColumn(FeatureColumn, _OneHotFields):
    """How often each id occurs, or the sums of their weights."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name of the sparse column, and that it is one-hot."""
        return f"{self.sparse_id_column.name}_one_hot"

    @property
    def config(self) -> dict[str, Any]:
        """How the features are parsed."""
        return self.sparse_id_column.config

    def transformed(self, features: Transformed) -> Any:
        """What the sparse column makes."""
        return features.of(self.sparse_id_column)

    def vectors(self, features: Transformed, weight_collections: list[Any], trainable: bool) -> Any:
        """A column for each id."""
        ids = self.sparse_id_column.ids(features)
        if ids.weights is not None:
            merged = tf.sparse_merge(sp_ids=ids.ids, sp_values=ids.weights, vocab_size=ids.size)
            return tf.sparse_tensor_to_dense(merged)
        dense = tf.sparse_tensor_to_dense(ids.ids, default_value=-1)
        return tf.reduce_sum(tf.one_hot(dense, depth=ids.size, on_value=1.0, off_value=0.0), axis=[-2], name="output")


@layer("one_hot_column")
def one_hot_column(sparse_id_column: Any) -> OneHotColumn:
    """A sparse column as counts."""
    if not isinstance(sparse_id_column, (SparseColumn, WeightedColumn)):
        raise TypeError(f"sparse_id_column must be an instance of _SparseColumn or _WeightedSparseColumn. It is: {sparse_id_column}")
    return OneHotColumn(sparse_id_column)


for _kind, _name in ((EmbeddingColumn, "_EmbeddingColumn"), (OneHotColumn, "_OneHotColumn")):
    _kind.__name__ = _kind.__qualname__ = _name
