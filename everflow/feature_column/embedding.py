"""Embeddings: ids as learned vectors, combined for each example."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.feature_column.checks import checked_initializer
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
from everflow.train.checkpoints.initializing import init_from_checkpoint


def embedded(column: Any, ids_and_weights: Any, table: Any) -> Any:
    """The combined vectors of ids, from a table that may come from a checkpoint."""
    return tf.nn.safe_embedding_lookup_sparse(
        embedding_weights=table,
        sparse_ids=ids_and_weights.id_tensor,
        sparse_weights=ids_and_weights.weight_tensor,
        combiner=column.combiner,
        name=f"{column.name}_weights",
        max_norm=column.max_norm,
    )


def from_checkpoint(table: Any, ckpt_to_load_from: Any, tensor_name_in_ckpt: Any) -> None:
    """Lets a table start with what a checkpoint holds."""
    if ckpt_to_load_from is None:
        return
    parts = list(table) if type(table).__name__ == "PartitionedVariable" else table
    init_from_checkpoint(ckpt_to_load_from, {tensor_name_in_ckpt: parts})


@internal("feature_column.feature_column_v2.EmbeddingColumn")
class EmbeddingColumn(
    TupleColumn,
    DenseColumn,
    SequenceDenseColumn,
    collections.namedtuple(
        "EmbeddingColumn",
        ("categorical_column", "dimension", "combiner", "initializer", "ckpt_to_load_from", "tensor_name_in_ckpt", "max_norm", "trainable"),
    ),
):
    """Made by `embedding_column`."""

    @property
    def _is_v2_column(self) -> bool:
        return is_new(self.categorical_column)

    @property
    def name(self) -> str:
        """After the ids."""
        return f"{self.categorical_column.name}_embedding"

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
        """That of one vector."""
        return TensorShape([self.dimension])

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The ids."""
        return transformation_cache.get(self.categorical_column, state_manager)

    def create_state(self, state_manager: Any) -> None:
        """Makes the table of vectors."""
        if hasattr(self.categorical_column, "create_state"):
            self.categorical_column.create_state(state_manager)
        state_manager.create_variable(
            self,
            name="embedding_weights",
            shape=(buckets_of(self.categorical_column), self.dimension),
            dtype=tf.float32,
            trainable=self.trainable,
            use_resource=True,
            initializer=self.initializer,
        )

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """A vector for each example."""
        check_not_sequence(self, "embedding_column")
        pair = sparse_tensors_of(self.categorical_column, transformation_cache, state_manager)
        return self._embedded_in(pair, state_manager)

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """A vector for each step."""
        check_sequence(self, "embedding_column")
        pair = sparse_tensors_of(self.categorical_column, transformation_cache, state_manager)
        return TensorSequenceLengthPair(self._embedded_in(pair, state_manager), sequence_length_of(pair.id_tensor))

    def _embedded_in(self, pair: Any, state_manager: Any) -> Any:
        table = state_manager.get_variable(self, name="embedding_weights")
        from_checkpoint(table, self.ckpt_to_load_from, self.tensor_name_in_ckpt)
        return embedded(self, pair, table)

    def _scope_table(self, weight_collections: Sequence[str] | None, trainable: bool) -> Any:
        """The table as a variable of the scope around, which is how the older protocol keeps it."""
        if weight_collections and tf.GraphKeys.GLOBAL_VARIABLES not in weight_collections:
            weight_collections = [*weight_collections, tf.GraphKeys.GLOBAL_VARIABLES]
        table = tf.get_variable(
            name="embedding_weights",
            shape=(buckets_of(self.categorical_column), self.dimension),
            dtype=tf.float32,
            initializer=self.initializer,
            trainable=self.trainable and trainable is not False,
            collections=weight_collections,
        )
        from_checkpoint(table, self.ckpt_to_load_from, self.tensor_name_in_ckpt)
        return table

    def _get_dense_tensor(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any:
        check_not_sequence(self, "embedding_column")
        pair = self.categorical_column._get_sparse_tensors(inputs, weight_collections=weight_collections, trainable=trainable)
        return embedded(self, pair, self._scope_table(weight_collections, trainable))

    def _get_sequence_dense_tensor(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any:
        check_sequence(self, "embedding_column")
        pair = self.categorical_column._get_sparse_tensors(inputs)
        dense = embedded(self, pair, self._scope_table(weight_collections, trainable))
        return TensorSequenceLengthPair(dense, sequence_length_of(pair.id_tensor))


@public("feature_column.embedding_column")
def embedding_column(
    categorical_column: Any,
    dimension: Any,
    combiner: str = "mean",
    initializer: Any = None,
    ckpt_to_load_from: Any = None,
    tensor_name_in_ckpt: Any = None,
    max_norm: Any = None,
    trainable: bool = True,
) -> Any:
    """Ids as vectors that the model learns; those of one example are combined by mean, sum or sqrtn."""
    initializer = checked_embedding_arguments(categorical_column, dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt)
    return EmbeddingColumn(
        categorical_column=categorical_column,
        dimension=dimension,
        combiner=combiner,
        initializer=initializer,
        ckpt_to_load_from=ckpt_to_load_from,
        tensor_name_in_ckpt=tensor_name_in_ckpt,
        max_norm=max_norm,
        trainable=trainable,
    )


def checked_embedding_arguments(
    categorical_column: Any, dimension: Any, initializer: Any, ckpt_to_load_from: Any, tensor_name_in_ckpt: Any
) -> Any:
    """The initializer of an embedding whose other arguments are right."""
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    name = categorical_column.name if isinstance(categorical_column, OldCategoricalColumn) else categorical_column
    return checked_initializer(initializer, name, dimension)
