"""LinearModel: a weight for each number and each id, and a bias."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.feature_column.checks import check_static_batch_sizes, checked_columns
from everflow.feature_column.layers import column_scope
from everflow.feature_column.protocol import CategoricalColumn, DenseColumn, OldCategoricalColumn
from everflow.feature_column.serialization import deserialize_feature_columns, serialize_feature_columns
from everflow.feature_column.state import LayerState
from everflow.feature_column.transformation import FeatureTransformationCache
from everflow.graph.scopes import name_scope
from everflow.keras.layer import Layer
from everflow.keras.model import Model
from everflow.ops.variables.variable_scope import pure_variable_scope


def weighted_ids(pair: Any, sparse_combiner: str, weights: Any) -> Any:
    """The combined weights of the ids of each example."""
    ids = tf.sparse_reshape(pair.id_tensor, [tf.shape(pair.id_tensor)[0], -1])
    of_ids = pair.weight_tensor
    if of_ids is not None:
        of_ids = tf.sparse_reshape(of_ids, [tf.shape(of_ids)[0], -1])
    return tf.nn.safe_embedding_lookup_sparse(weights, ids, sparse_weights=of_ids, combiner=sparse_combiner, name="weighted_sum")


def weighted_numbers(tensor: Any, num_elements: int, weights: Any) -> Any:
    """The weighted sum of the numbers of each example."""
    flat = tf.reshape(tensor, shape=(tf.shape(tensor)[0], num_elements))
    return tf.matmul(flat, weights, name="weighted_sum")


def fan_in(column: Any) -> int:
    """How many weights a column needs for one output."""
    if isinstance(column, OldCategoricalColumn):
        return column._num_buckets
    return column._variable_shape.num_elements()


@internal("feature_column.feature_column_v2._LinearModelLayer")
class LinearModelLayer(Layer):
    """What LinearModel computes, as a layer."""

    _feature_columns: list[Any]
    _state_manager: Any
    bias: Any

    def __init__(
        self,
        feature_columns: Any,
        units: int = 1,
        sparse_combiner: str = "sum",
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, trainable=trainable, **kwargs)
        columns = checked_columns(feature_columns, "FeatureColumn")
        wrong = [column for column in columns if not isinstance(column, (DenseColumn, CategoricalColumn))]
        if wrong:
            raise ValueError(f"Items of feature_columns must be either a DenseColumn or CategoricalColumn. Given: {wrong[0]}")
        self._units, self._sparse_combiner, self.bias = units, sparse_combiner, None
        # Past __setattr__: what columns hold is theirs.
        vars(self).update(_feature_columns=columns, _state_manager=LayerState(self, self.trainable))

    def build(self, _: Any) -> None:
        """Makes the weights of all columns, and the bias."""
        for column in self._feature_columns:
            with column_scope(self, column):
                column.create_state(self._state_manager)
                # A dense column that is categorical too is used as a categorical one.
                self._state_manager.create_variable(
                    column,
                    name="weights",
                    shape=(fan_in(column), self._units),
                    dtype=tf.float32,
                    initializer=tf.zeros_initializer(),
                    trainable=self.trainable,
                )
        with pure_variable_scope(self.name):
            self.bias = self.add_weight(
                name="bias_weights",
                shape=[self._units],
                dtype=tf.float32,
                initializer=tf.zeros_initializer(),
                trainable=self.trainable,
                use_resource=True,
                getter=tf.get_variable,
            )
        self.built = True

    def call(self, features: Any) -> Any:  # type: ignore[override]
        """The weighted sums of features."""
        if not isinstance(features, dict):
            raise ValueError(f"We expected a dictionary here. Instead we got: {features}")
        with name_scope(self.name):
            cache = FeatureTransformationCache(features)
            sums = []
            for column in self._feature_columns:
                with name_scope(column.name):
                    weights = self._state_manager.get_variable(column, "weights")
                    sums.append(self._weighted(column, cache, weights))
            check_static_batch_sizes(sums, self._feature_columns)
            total = tf.add_n(sums, name="weighted_sum_no_bias")
            return tf.nn.bias_add(total, self.bias, name="weighted_sum")

    def _weighted(self, column: Any, cache: Any, weights: Any) -> Any:
        if isinstance(column, CategoricalColumn):
            return weighted_ids(column.get_sparse_tensors(cache, self._state_manager), self._sparse_combiner, weights)
        return weighted_numbers(column.get_dense_tensor(cache, self._state_manager), column.variable_shape.num_elements(), weights)

    def get_config(self) -> dict[str, Any]:
        """The columns as data, and the arguments."""
        return {
            "name": self.name,
            "trainable": self.trainable,
            "dtype": self.dtype,
            "feature_columns": serialize_feature_columns(self._feature_columns),
            "units": self._units,
            "sparse_combiner": self._sparse_combiner,
        }

    @classmethod
    def from_config(cls, config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
        """The layer of a config."""
        columns = deserialize_feature_columns(config["feature_columns"], custom_objects=custom_objects)
        return cls(**{**config, "feature_columns": columns})


@internal("feature_column.feature_column_v2.LinearModel")
class LinearModel(Model):
    """A linear model of features: the sum of weights for ids, weighted numbers, and a bias."""

    def __init__(
        self,
        feature_columns: Any,
        units: int = 1,
        sparse_combiner: str = "sum",
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        self.layer = LinearModelLayer(feature_columns, units, sparse_combiner, trainable, name=self.name, **kwargs)

    def call(self, features: Any) -> Any:  # type: ignore[override]
        """The weighted sums of features."""
        return self.layer(features)

    @property
    def bias(self) -> Any:
        """The bias, once the model was called."""
        return self.layer.bias
