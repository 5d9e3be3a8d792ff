"""Embeddings that several columns share: one table for features with the same ids."""

from __future__ import annotations

import collections
import weakref
from collections.abc import Sequence
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.eager.context import executing_eagerly
from everflow.feature_column.categorical import WeightedCategoricalColumn
from everflow.feature_column.checks import checked_initializer
from everflow.feature_column.embedding import embedded, from_checkpoint
from everflow.feature_column.protocol import (
    DenseColumn,
    OldDenseColumn,
    OldSequenceDenseColumn,
    SequenceDenseColumn,
    TensorSequenceLengthPair,
    buckets_of,
    parse_spec_of,
    sparse_tensors_of,
)
from everflow.feature_column.sequence_lengths import sequence_length_of
from everflow.feature_column.sequence_protocol import OfSequence, check_not_sequence, check_sequence
from everflow.graph.scopes import name_scope
from everflow.graph.shapes import TensorShape
from everflow.graph.stacks import get_default_graph
from everflow.train.tracking.autotracking import AutoTrackable


@internal("feature_column.feature_column._SharedEmbeddingColumn")
class ScopedSharedEmbeddingColumn(
    OldDenseColumn,
    OldSequenceDenseColumn,
    collections.namedtuple(
        "_SharedEmbeddingColumn",
        (
            "categorical_column",
            "dimension",
            "combiner",
            "initializer",
            "shared_embedding_collection_name",
            "ckpt_to_load_from",
            "tensor_name_in_ckpt",
            "max_norm",
            "trainable",
        ),
    ),
):
    """Made by `shared_embedding_columns`; finds its table in a collection of the graph."""

    @property
    def name(self) -> str:
        """After the ids."""
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def _var_scope_name(self) -> str:
        return self.shared_embedding_collection_name

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return parse_spec_of(self.categorical_column)

    @property
    def _variable_shape(self) -> Any:
        return TensorShape([self.dimension])

    def _transform_feature(self, inputs: Any) -> Any:
        return inputs.get(self.categorical_column)

    def _embedded(self, inputs: Any, weight_collections: Sequence[str] | None, trainable: bool) -> Any:
        """The vectors, and the ids that they stand for."""
        # A scope of its own: the scope of the variable is that of all columns that share it.
        with name_scope(None, self.name):
            pair = self.categorical_column._get_sparse_tensors(inputs, weight_collections=weight_collections, trainable=trainable)
            table = self._table(weight_collections, trainable)
            from_checkpoint(table, self.ckpt_to_load_from, self.tensor_name_in_ckpt)
            return embedded(self, pair, table), pair

    def _table(self, weight_collections: Sequence[str] | None, trainable: bool) -> Any:
        shape = (buckets_of(self.categorical_column), self.dimension)
        shared = tf.get_collection(self.shared_embedding_collection_name)
        if not shared:
            table = tf.get_variable(
                name="embedding_weights",
                shape=shape,
                dtype=tf.float32,
                initializer=self.initializer,
                trainable=self.trainable and trainable is not False,
                collections=weight_collections,
            )
            tf.add_to_collection(self.shared_embedding_collection_name, table)
            return table
        if len(shared) > 1:
            raise ValueError(
                f"Collection {shared} can only contain one variable. Suggested fix A: Choose a unique name for this collection. Suggested "
                "fix B: Do not add any variables to this collection. The feature_column library already adds a variable under the hood."
            )
        table = shared[0]
        if table.get_shape() != shape:
            raise ValueError(
                f"Shared embedding collection {self.shared_embedding_collection_name} contains variable {table.name} of unexpected shape "
                f"{table.get_shape()}. Expected shape is {shape}. Suggested fix A: Choose a unique name for this collection. Suggested fix "
                "B: Do not add any variables to this collection. The feature_column library already adds a variable under the hood."
            )
        return table

    def _get_dense_tensor(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any:
        check_not_sequence(self, "embedding_column")
        return self._embedded(inputs, weight_collections, trainable)[0]

    def _get_sequence_dense_tensor(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any:
        check_sequence(self, "embedding_column")
        dense, pair = self._embedded(inputs, weight_collections, trainable)
        return TensorSequenceLengthPair(dense, sequence_length_of(pair.id_tensor))


def _ids_beneath(column: Any) -> Any:
    """The column of plain ids in a weighted column or a sequence."""
    while isinstance(column, (WeightedCategoricalColumn, OfSequence)):
        column = column.categorical_column
    return column


def _checked_sharing(
    categorical_columns: Any, dimension: Any, initializer: Any, ckpt: Any, tensor_name: Any, name: str | None
) -> tuple[list[Any], Any, str]:
    """The columns in the order of their names, the initializer and the name of what they share."""
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if (ckpt is None) != (tensor_name is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    initializer = checked_initializer(initializer, name, dimension)
    ordered = sorted(categorical_columns, key=lambda c: c.name)
    first = _ids_beneath(ordered[0])
    for column in ordered[1:]:
        inner = _ids_beneath(column)
        if type(inner) is not type(first):
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same type, or be weighted_categorical_column or "
                f"sequence column of the same type. Given column: {ordered[0]} of type: {type(first)} does not match given column: "
                f"{column} of type: {type(inner)}"
            )
        if buckets_of(inner) != buckets_of(first):
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same number of buckets. Given column: "
                f"{ordered[0]} with buckets: {buckets_of(first)} does  not match column: {column} with buckets: {buckets_of(inner)}"
            )
    return ordered, initializer, name or "_".join(c.name for c in ordered) + "_shared_embedding"


@public("feature_column.shared_embedding_columns")
def shared_embedding_columns(
    categorical_columns: Any,
    dimension: Any,
    combiner: str = "mean",
    initializer: Any = None,
    shared_embedding_collection_name: Any = None,
    ckpt_to_load_from: Any = None,
    tensor_name_in_ckpt: Any = None,
    max_norm: Any = None,
    trainable: bool = True,
) -> list[Any]:
    """Embeddings of several columns in one table; a list of columns, one for each given."""
    if executing_eagerly():
        raise RuntimeError("shared_embedding_columns are not supported when eager execution is enabled.")
    _, initializer, name = _checked_sharing(
        categorical_columns, dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, shared_embedding_collection_name
    )
    return [
        ScopedSharedEmbeddingColumn(
            categorical_column=column,
            initializer=initializer,
            dimension=dimension,
            combiner=combiner,
            shared_embedding_collection_name=name,
            ckpt_to_load_from=ckpt_to_load_from,
            tensor_name_in_ckpt=tensor_name_in_ckpt,
            max_norm=max_norm,
            trainable=trainable,
        )
        for column in categorical_columns
    ]


_FOR_LAYERS = (
    "SharedEmbeddingColumns are not supported in `linear_model` or `input_layer`. Please use `DenseFeatures` or `LinearModel` instead."
)


@internal("feature_column.feature_column_v2.SharedEmbeddingColumnCreator")
class SharedEmbeddingColumnCreator(AutoTrackable):
    """Keeps the table that columns share, one for each graph."""

    _tables: Any

    def __init__(
        self,
        dimension: int,
        initializer: Any,
        ckpt_to_load_from: Any,
        tensor_name_in_ckpt: Any,
        num_buckets: int,
        trainable: bool,
        name: str = "shared_embedding_column_creator",
    ) -> None:
        self._dimension, self._initializer, self._num_buckets, self._trainable, self._name = (
            dimension,
            initializer,
            num_buckets,
            trainable,
            name,
        )
        self._ckpt_to_load_from, self._tensor_name_in_ckpt = ckpt_to_load_from, tensor_name_in_ckpt
        # Keyed by a graph's own key, so that a graph may go.
        self.__dict__["_tables"] = weakref.WeakKeyDictionary()

    def __call__(self, categorical_column: Any, combiner: str, max_norm: Any) -> Any:
        return SharedEmbeddingColumn(categorical_column, self, combiner, max_norm)

    @property
    def embedding_weights(self) -> Any:
        """The table in the current graph."""
        graph = get_default_graph()
        if graph not in self._tables:
            table = tf.get_variable(
                name=self._name,
                shape=(self._num_buckets, self._dimension),
                dtype=tf.float32,
                initializer=self._initializer,
                trainable=self._trainable,
            )
            from_checkpoint(table, self._ckpt_to_load_from, self._tensor_name_in_ckpt)
            self._tables[graph] = table
        return self._tables[graph]

    @property
    def dimension(self) -> int:
        """The length of the vectors."""
        return self._dimension


@internal("feature_column.feature_column_v2.SharedEmbeddingColumn")
class SharedEmbeddingColumn(
    DenseColumn,
    SequenceDenseColumn,
    collections.namedtuple("SharedEmbeddingColumn", ("categorical_column", "shared_embedding_column_creator", "combiner", "max_norm")),
):
    """One of the columns that a SharedEmbeddingColumnCreator makes."""

    @property
    def name(self) -> str:
        """After the ids."""
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def parents(self) -> list[Any]:
        """The ids."""
        return [self.categorical_column]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """As that of the ids."""
        return parse_spec_of(self.categorical_column)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The ids."""
        return transformation_cache.get(self.categorical_column, state_manager)

    @property
    def variable_shape(self) -> Any:
        """That of one vector."""
        return TensorShape([self.shared_embedding_column_creator.dimension])

    def create_state(self, state_manager: Any) -> None:
        """Asks the creator for its table, which it keeps itself."""

    def _embedded(self, cache: Any, state_manager: Any) -> Any:
        with name_scope(None, self.name):
            pair = sparse_tensors_of(self.categorical_column, cache, state_manager)
            return embedded(self, pair, self.shared_embedding_column_creator.embedding_weights), pair

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """A vector for each example."""
        check_not_sequence(self, "embedding_column")
        return self._embedded(transformation_cache, state_manager)[0]

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """A vector for each step."""
        check_sequence(self, "embedding_column")
        dense, pair = self._embedded(transformation_cache, state_manager)
        return TensorSequenceLengthPair(dense, sequence_length_of(pair.id_tensor))

    def _get_dense_tensor(self, inputs: Any, weight_collections: Sequence[str] | None = None, trainable: bool | None = None) -> Any:
        raise ValueError(_FOR_LAYERS)

    def _get_sequence_dense_tensor(
        self, inputs: Any, weight_collections: Sequence[str] | None = None, trainable: bool | None = None
    ) -> Any:
        raise ValueError(_FOR_LAYERS)


@internal("feature_column.feature_column_v2.shared_embedding_columns_v2")
def shared_embedding_columns_v2(
    categorical_columns: Any,
    dimension: Any,
    combiner: str = "mean",
    initializer: Any = None,
    shared_embedding_collection_name: Any = None,
    ckpt_to_load_from: Any = None,
    tensor_name_in_ckpt: Any = None,
    max_norm: Any = None,
    trainable: bool = True,
) -> list[Any]:
    """Embeddings of several columns in one table, for layers."""
    if executing_eagerly():
        raise RuntimeError("shared_embedding_columns are not supported when eager execution is enabled.")
    ordered, initializer, name = _checked_sharing(
        categorical_columns, dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, shared_embedding_collection_name
    )
    creator = SharedEmbeddingColumnCreator(
        dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, buckets_of(ordered[0]), trainable, name
    )
    return [creator(column, combiner=combiner, max_norm=max_norm) for column in categorical_columns]
