"""Columns that make vectors of sparse features: embeddings, one-hot, and embeddings without a table of their own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import everflow as tf
from everflow.api import internal
from everflow.contrib.framework.variables import model_variable
from everflow.contrib.layers.column_protocol import HOME, DeepLookup, DenseForm, FeatureColumn, WideLookup, of_rank
from everflow.contrib.layers.feature_columns import CrossedColumn, SparseColumn, WeightedColumn
from everflow.contrib.layers.publishing import layer
from everflow.contrib.layers.scattered_embeddings import scattered_embedding_lookup_sparse
from everflow.feature_column.protocol import OldDenseColumn
from everflow.graph.keys import GraphKeys
from everflow.ops.variables.partitioned import PartitionedVariable
from everflow.train.checkpoints.initializing import init_from_checkpoint


def parts_of(variable: Any) -> list[Any]:
    """The parts of a variable that is in parts, else the variable alone."""
    return list(variable) if isinstance(variable, PartitionedVariable) else [variable]


def embedded(column: Any, lookup: DeepLookup, weight_collections: Any, trainable: bool, output_rank: int = 2) -> Any:
    """The combined vectors of the ids of each example; an example without ids has zeros."""
    ids = of_rank(lookup.input_tensor, output_rank)
    weights = None if lookup.weight_tensor is None else of_rank(lookup.weight_tensor, output_rank)
    shape = [lookup.vocab_size] if lookup.hash_key is not None else [lookup.vocab_size, lookup.dimension]

    def table(name: str) -> list[Any]:
        made = model_variable(
            name,
            shape=shape,
            dtype=tf.float32,
            initializer=lookup.initializer,
            trainable=trainable and lookup.trainable,
            collections=[GraphKeys.GLOBAL_VARIABLES, *(weight_collections or [])],
        )
        if (checkpoint := getattr(column, "ckpt_to_load_from", None)) is not None:
            init_from_checkpoint(checkpoint, {column.tensor_name_in_ckpt: made})
        return parts_of(made)

    if lookup.shared_embedding_name:
        # Who comes first makes the table, in its own scope; all others of the graph find it.
        key = f"SHARED_EMBEDDING_COLLECTION_{lookup.shared_embedding_name.upper()}"
        found = tf.get_collection(key)
        if found and parts_of(found[0])[0].shape.as_list()[1:] != shape[1:]:
            raise ValueError(
                f"The embedding variable with name {lookup.shared_embedding_name} already exists, but its shape does not match required "
                f"embedding shape here. Please make sure to use different shared_embedding_name for different shared embeddings."
            )
        if not found:
            found = table(lookup.shared_embedding_name)
            tf.add_to_collection(key, found[0] if len(found) == 1 else found)
        elif isinstance(found[0], list):
            found = found[0]
    else:
        found = table("weights")
    if lookup.hash_key is not None:
        return scattered_embedding_lookup_sparse(
            found, ids, lookup.dimension, hash_key=lookup.hash_key, combiner=lookup.combiner, name="lookup"
        )
    return tf.contrib.layers.safe_embedding_lookup_sparse(
        found, ids, sparse_weights=weights, combiner=lookup.combiner, name=f"{column.name}weights", max_norm=lookup.max_norm
    )


class Embedded(FeatureColumn, DenseForm):
    """What columns have whose vectors are looked up."""

    dimension: int

    @property
    def key(self) -> str:
        """Without the initializer, which says nothing."""
        shown = ", ".join(f"{field}={getattr(self, field)}" for field in self._fields if field != "initializer")  # type: ignore[attr-defined]
        return f"{type(self).__name__}({shown})"

    @property
    def _width(self) -> int:  # type: ignore[override]
        return self.dimension

    def _get_dense_tensor(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any:
        lookup = self._deep_embedding_lookup_arguments(inputs.get(self))
        return embedded(self, lookup, weight_collections, True if trainable is None else trainable)


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


class EmbeddingColumn(Embedded, OldDenseColumn, _EmbeddingFields):  # type: ignore[misc]
    """Vectors of ids, combined for each example."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name of the sparse column, and that it is embedded."""
        return f"{self.sparse_id_column.name}_{'embedding' if self.shared_embedding_name is None else 'shared_embedding'}"

    @property
    def config(self) -> dict[str, Any]:
        """How the features are parsed."""
        return self.sparse_id_column.config

    @property
    def length(self) -> int:
        """How many ids there are."""
        return self.sparse_id_column.length

    def _transform_feature(self, inputs: Any) -> Any:
        return inputs.get(self.sparse_id_column)

    def _deep_embedding_lookup_arguments(self, input_tensor: Any) -> DeepLookup:
        column = self.sparse_id_column
        return DeepLookup(
            input_tensor=column.id_tensor(input_tensor),
            weight_tensor=column.weight_tensor(input_tensor),
            vocab_size=self.shared_vocab_size or self.length,
            initializer=self.initializer,
            combiner=self.combiner,
            dimension=self.dimension,
            shared_embedding_name=self.shared_embedding_name,
            hash_key=None,
            max_norm=self.max_norm,
            trainable=self.trainable,
        )

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> WideLookup:
        raise ValueError(f"Column {self} is not supported in linear models. Please use sparse_column.")


def _checked_embedding(dimension: int) -> None:
    if dimension < 1:
        raise ValueError(f"Dimension must be greater than 0. dimension: {dimension}")


def _initializer(initializer: Any, dimension: int, column: Any) -> Any:
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified. Embedding of column_name: {column.name}")
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
        _initializer(initializer, dimension, sparse_id_column),
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
) -> Sequence[EmbeddingColumn]:
    """Vectors of several sparse columns, from one table."""
    if isinstance(sparse_id_columns, str) or not isinstance(sparse_id_columns, Sequence):
        raise TypeError(f"sparse_id_columns must be a non-string sequence (ex: list or tuple) instead of type {type(sparse_id_columns)}.")
    if not sparse_id_columns:
        raise ValueError("The input sparse_id_columns should have at least one element.")
    _checked_embedding(dimension)
    for column in sparse_id_columns:
        if not isinstance(column, (SparseColumn, WeightedColumn)):
            raise TypeError(f"Elements of sparse_id_columns must be _SparseColumn or _WeightedSparseColumn, but {column} is not.")
    first = sparse_id_columns[0]
    start = _initializer(initializer, dimension, first)
    how = (dimension, combiner, start, ckpt_to_load_from, tensor_name_in_ckpt)
    if len(sparse_id_columns) == 1:
        return [EmbeddingColumn(first, *how, shared_embedding_name, None, max_norm, trainable)]
    plain = [column.sparse_id_column if isinstance(column, WeightedColumn) else column for column in sparse_id_columns]
    if not all(plain[0].is_compatible(column) for column in plain):
        raise ValueError("The input sparse id columns are not compatible.")
    if shared_embedding_name is None:
        names = sorted(column.name for column in sparse_id_columns)
        shown = "_".join(names) if len(names) <= 3 else "_".join(names[:3]) + f"_plus_{len(names) - 3}_others"
        shared_embedding_name = f"{shown}_shared_embedding"
    return tuple(EmbeddingColumn(column, *how, shared_embedding_name, first.length, max_norm, trainable) for column in sparse_id_columns)


class _OneHotFields(NamedTuple):
    sparse_id_column: Any


class OneHotColumn(FeatureColumn, DenseForm, OldDenseColumn, _OneHotFields):  # type: ignore[misc]
    """How often each id occurs, or the sums of their weights."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name of the sparse column, and that it is one-hot."""
        return f"{self.sparse_id_column.name}_one_hot"

    @property
    def length(self) -> int:
        """How many ids there are."""
        return self.sparse_id_column.length

    @property
    def _width(self) -> int:  # type: ignore[override]
        return self.length

    @property
    def config(self) -> dict[str, Any]:
        """How the features are parsed."""
        return self.sparse_id_column.config

    def _transform_feature(self, inputs: Any) -> Any:
        return inputs.get(self.sparse_id_column)

    def _to_dnn_input_layer(
        self, transformed_input_tensor: Any, unused_weight_collections: Any = None, unused_trainable: bool = False, output_rank: int = 2
    ) -> Any:
        ids = of_rank(self.sparse_id_column.id_tensor(transformed_input_tensor), output_rank)
        weights = self.sparse_id_column.weight_tensor(transformed_input_tensor)
        if weights is None:
            dense = tf.sparse_tensor_to_dense(ids, default_value=-1)
            return tf.reduce_sum(tf.one_hot(dense, depth=self.length, on_value=1.0, off_value=0.0), axis=[output_rank - 1], name="output")
        merged = tf.sparse_merge(sp_ids=ids, sp_values=weights, vocab_size=self.length)
        # Values without an id stand at -1, before all others.
        merged = tf.sparse_slice(merged, tf.zeros_like(merged.dense_shape), merged.dense_shape)
        dense = tf.sparse_tensor_to_dense(merged)
        shaped = tf.reshape(dense, tf.concat([tf.shape(dense)[:-1], [self.length]], 0))
        shaped.set_shape(ids.get_shape()[:-1].concatenate([self.length]))
        return shaped


@layer("one_hot_column")
def one_hot_column(sparse_id_column: Any) -> OneHotColumn:
    """A sparse column as counts."""
    if not isinstance(sparse_id_column, (SparseColumn, WeightedColumn, CrossedColumn)):
        raise TypeError(f"sparse_id_column must be an instance of _SparseColumn or _WeightedSparseColumn. It is: {sparse_id_column}")
    return OneHotColumn(sparse_id_column)


class _ScatteredFields(NamedTuple):
    column_name: str
    size: int
    dimension: int
    hash_key: int | None
    combiner: str
    initializer: Any


class ScatteredEmbeddingColumn(Embedded, OldDenseColumn, _ScatteredFields):  # type: ignore[misc]
    """A sparse feature whose values all share `size` parameters."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name of the feature, and how it is embedded."""
        return f"{self.column_name}_scattered_embedding"

    @property
    def config(self) -> dict[str, Any]:
        """How the feature is parsed."""
        return {self.column_name: tf.VarLenFeature(tf.string)}

    def _transform_feature(self, inputs: Any) -> Any:
        return inputs.get(self.column_name)

    def _deep_embedding_lookup_arguments(self, input_tensor: Any) -> DeepLookup:
        return DeepLookup(
            input_tensor=input_tensor,
            weight_tensor=None,
            vocab_size=self.size,
            initializer=self.initializer,
            combiner=self.combiner,
            dimension=self.dimension,
            shared_embedding_name=None,
            hash_key=self.hash_key,
            max_norm=None,
            trainable=True,
        )


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


for _kind, _name in (
    (EmbeddingColumn, "_EmbeddingColumn"),
    (OneHotColumn, "_OneHotColumn"),
    (ScatteredEmbeddingColumn, "_ScatteredEmbeddingColumn"),
):
    _kind.__name__ = _kind.__qualname__ = _name
    internal(HOME + _name)(_kind)
