"""What a column of tf.contrib.layers is: it makes a tensor of features, and what models take in of that tensor.

Most are columns of tf.feature_column's older protocol too, so that models of either kind take them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import everflow as tf
from everflow.api import internal
from everflow.contrib.layers.flattening import inner_flatten
from everflow.feature_column.protocol import IdWeightPair
from everflow.graph.shapes import TensorShape

HOME = "contrib.layers.python.layers.feature_column."


class WideLookup(NamedTuple):
    """What a linear model needs to look up the weights of ids."""

    input_tensor: Any
    weight_tensor: Any
    vocab_size: int
    initializer: Any
    combiner: str


class DeepLookup(NamedTuple):
    """What a network needs to look up the vectors of ids."""

    input_tensor: Any
    weight_tensor: Any
    vocab_size: int
    initializer: Any
    combiner: str
    dimension: int
    shared_embedding_name: str | None
    hash_key: int | None
    max_norm: float | None
    trainable: bool


for _kind, _name in ((WideLookup, "_LinearEmbeddingLookupArguments"), (DeepLookup, "_DeepEmbeddingLookupArguments")):
    _kind.__name__ = _kind.__qualname__ = _name
    internal(HOME + _name)(_kind)


@internal(HOME + "_FeatureColumn")
class FeatureColumn:
    """What all columns have. A column is known by its key: two with the same are the same."""

    # What the older protocol asks of every column.
    @property
    def _var_scope_name(self) -> str:
        return self.name  # type: ignore[attr-defined]

    @property
    def key(self) -> str:
        """What distinguishes it from others."""
        return str(self)

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return self.config  # type: ignore[attr-defined]

    def _transform_feature(self, inputs: Any) -> Any:
        """The tensor that stands for the feature: ids of a sparse one, numbers of a dense one. `inputs.get` has features and columns."""
        raise NotImplementedError(f"Transform is not implemented for {self}.")

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        """Adds what the column makes of features to them, and what the columns make that it is made of."""
        columns_to_tensors[self] = self._transform_feature(_InDictionary(columns_to_tensors))

    def _to_dnn_input_layer(self, input_tensor: Any, weight_collections: Any = None, trainable: bool = True, output_rank: int = 2) -> Any:
        raise ValueError("Calling an abstract method.")

    def _deep_embedding_lookup_arguments(self, input_tensor: Any) -> DeepLookup:
        raise NotImplementedError(f"No deep embedding lookup arguments for column {self}.")

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> WideLookup:
        raise NotImplementedError(f"No wide embedding lookup arguments for column {self}.")

    def _to_dense_tensor(self, input_tensor: Any) -> Any:
        raise NotImplementedError(f"No dense tensor representation for column {self}.")


class DenseForm:
    """The older protocol of tf.feature_column for columns that make numbers."""

    _width: int

    @property
    def _variable_shape(self) -> TensorShape:
        return TensorShape([self._width])

    def _get_dense_tensor(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any:
        found = inputs.get(self)
        return self._to_dnn_input_layer(found, weight_collections, True if trainable is None else trainable)  # type: ignore[attr-defined]


class SparseForm:
    """The older protocol of tf.feature_column for columns that make ids."""

    length: int

    @property
    def _num_buckets(self) -> int:
        return self.length

    def id_tensor(self, input_tensor: Any) -> Any:
        """The ids of what the column made."""
        return input_tensor

    def weight_tensor(self, input_tensor: Any) -> Any:
        """The weights of what the column made; None where it has none."""
        return None

    def _get_sparse_tensors(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any:
        found = inputs.get(self)
        return IdWeightPair(self.id_tensor(found), self.weight_tensor(found))


class _InDictionary:
    """Features and what was made of them, in the dictionary of a program: what is made is kept there."""

    def __init__(self, columns_to_tensors: dict[Any, Any]) -> None:
        self._found = columns_to_tensors

    def get(self, key: Any) -> Any:
        """The feature of a name, or what a column makes of features."""
        if key not in self._found:
            if not isinstance(key, FeatureColumn):
                raise KeyError(f"{key} is missing from the features: {sorted(map(str, self._found))}")
            key.insert_transformed_feature(self._found)
        return self._found[key]


@internal("contrib.layers.python.layers.feature_column_ops._Transformer")
class Transformer:
    """Features by name, and what columns made of them: each once."""

    def __init__(self, columns_to_tensors: dict[Any, Any]) -> None:
        self._columns_to_tensors = dict(columns_to_tensors)

    def transform(self, feature_column: Any) -> Any:
        """What a column makes of the features."""
        if feature_column not in self._columns_to_tensors:
            feature_column.insert_transformed_feature(self._columns_to_tensors)
        return self._columns_to_tensors[feature_column]


def of_rank(tensor: Any, rank: int) -> Any:
    """Sparse ids of a rank: inner dimensions are joined, and one that is missing is added."""
    if tensor.dense_shape.get_shape().as_list()[0] == rank - 1:
        tensor = tf.sparse_reshape(tensor, tf.concat([tensor.dense_shape, [1]], 0))
    return inner_flatten(tensor, rank)


def numbers_of_rank(tensor: Any, rank: int, column_name: str, op_name: str = "expand_dims") -> Any:
    """Numbers of a rank: inner dimensions are joined, and one that is missing is added, by an op of this name."""
    found = tensor.get_shape().ndims
    if found is None or found > rank:
        return inner_flatten(tensor, rank)
    if found == rank - 1:
        return tf.expand_dims(tensor, -1, name=op_name)
    if found < rank:
        raise ValueError(
            f"Error while processing column {column_name}.Rank of input Tensor ({found}) should be the same as output_rank ({rank}). For "
            "example, sequence data should typically be 3 dimensional (rank 3) while non-sequence data is typically 2 dimensional (rank 2)."
        )
    return tensor
