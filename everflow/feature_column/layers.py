"""Layers that turn features into one tensor: DenseFeatures, and SequenceFeatures for sequences."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.feature_column.checks import check_static_batch_sizes, checked_columns
from everflow.feature_column.protocol import OldDenseColumn, SequenceDenseColumn
from everflow.feature_column.serialization import deserialize_feature_columns, serialize_feature_columns
from everflow.feature_column.state import LayerState, PlainLayerState
from everflow.feature_column.transformation import FeatureTransformationCache
from everflow.graph.scopes import name_scope
from everflow.graph.shapes import TensorShape
from everflow.keras.layer import Layer
from everflow.keras.naming import unique_object_name
from everflow.ops.variables.variable_scope import pure_variable_scope


@contextlib.contextmanager
def column_scope(layer: Any, column: Any) -> Iterator[None]:
    """Variables made here are named after the layer and the column."""
    with pure_variable_scope(layer.name), pure_variable_scope(column.name):
        yield


class FeaturesLayer(Layer):
    """A layer whose input is a dict of features: what DenseFeatures and SequenceFeatures share."""

    _state: Callable[..., Any] = LayerState
    _kind: type = OldDenseColumn
    _wrong_kind = (
        "Items of feature_columns must be a <class 'tensorflow.python.feature_column.feature_column_v2.DenseColumn'>. "
        "You can wrap a categorical column with an embedding_column or indicator_column. Given: {}"
    )
    _feature_columns: list[Any]
    _state_manager: Any

    def __init__(self, feature_columns: Any, trainable: bool = True, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(name=name, trainable=trainable, **kwargs)
        self.__dict__["_feature_columns"] = checked_columns(feature_columns, "FeatureColumn")
        self.__dict__["_state_manager"] = self._state(self, self.trainable)
        for column in self._feature_columns:
            if not isinstance(column, self._kind):
                raise ValueError(self._wrong_kind.format(column))

    @property
    def _is_feature_layer(self) -> bool:
        return True

    def build(self, _: Any) -> None:
        """Makes the variables of all columns."""
        for column in self._feature_columns:
            with column_scope(self, column):
                column.create_state(self._state_manager)
        self.built = True

    def _target_shape(self, input_shape: Any, num_elements: int) -> Any:
        raise NotImplementedError

    def _flat(self, column: Any, tensor: Any) -> Any:
        """A tensor with the elements of the column in its last dimension."""
        return tf.reshape(tensor, shape=self._target_shape(tf.shape(tensor), column.variable_shape.num_elements()))

    def get_config(self) -> dict[str, Any]:
        """The columns as data, and what every layer has."""
        return {
            "name": self.name,
            "trainable": self.trainable,
            "dtype": self.dtype,
            "feature_columns": serialize_feature_columns(self._feature_columns),
        }

    @classmethod
    def from_config(cls, config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
        """The layer of a config."""
        config = dict(config)
        config["feature_columns"] = deserialize_feature_columns(config["feature_columns"], custom_objects=custom_objects)
        return cls(**config)


@public("keras.layers.DenseFeatures")
@internal("feature_column.dense_features.DenseFeatures")
class DenseFeatures(FeaturesLayer):
    """The dense tensors of all columns, side by side, in the order of the columns' names."""

    def _target_shape(self, input_shape: Any, num_elements: int) -> Any:
        return input_shape[0], num_elements

    def compute_output_shape(self, input_shape: Any) -> Any:
        """A row for each example."""
        return self._target_shape(input_shape, sum(c.variable_shape.num_elements() for c in self._feature_columns))

    def call(self, features: Any, cols_to_output_tensors: Any = None) -> Any:  # type: ignore[override]
        """One tensor for a dict of features."""
        if not isinstance(features, dict):
            raise ValueError("We expected a dictionary here. Instead we got: ", features)
        cache = FeatureTransformationCache(features)
        tensors = []
        for column in self._feature_columns:
            with name_scope(column.name):
                tensor = self._flat(column, column.get_dense_tensor(cache, self._state_manager))
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = tensor
            tensors.append(tensor)
        check_static_batch_sizes(tensors, self._feature_columns)
        return tf.concat(tensors, -1)


@internal("feature_column.dense_features_v2.DenseFeatures")
class DenseFeaturesV2(DenseFeatures):
    """DenseFeatures whose variables ignore variable scopes."""

    _state = PlainLayerState

    def __init__(self, feature_columns: Any, trainable: bool = True, name: str | None = None, **kwargs: Any) -> None:
        if name is None:
            name = unique_object_name("dense_features", zero_based=True)
        super().__init__(feature_columns, trainable=trainable, name=name, **kwargs)

    def build(self, _: Any) -> None:
        """Makes the variables of all columns."""
        for column in self._feature_columns:
            with name_scope(column.name):
                column.create_state(self._state_manager)
        self.built = True


@public("keras.experimental.SequenceFeatures")
@internal("feature_column.sequence_feature_column.SequenceFeatures")
class SequenceFeatures(FeaturesLayer):
    """The tensors of all steps of all columns, side by side, and the lengths of the sequences."""

    _kind = SequenceDenseColumn
    _wrong_kind = (
        "All feature_columns must be of type SequenceDenseColumn. You can wrap a sequence_categorical_column with an embedding_column or "
        "indicator_column. Given: {}"
    )

    def _target_shape(self, input_shape: Any, total_elements: int) -> Any:
        return input_shape[0], input_shape[1], total_elements

    def compute_output_shape(self, input_shape: Any) -> Any:
        """A row for each step."""
        sizes = TensorShape(input_shape).as_list()
        return self._target_shape(sizes, sum(c.variable_shape.num_elements() for c in self._feature_columns))

    def call(self, features: Any) -> Any:  # type: ignore[override]
        """One tensor for a dict of features, and the lengths."""
        if not isinstance(features, dict):
            raise ValueError("We expected a dictionary here. Instead we got: ", features)
        cache = FeatureTransformationCache(features)
        tensors, lengths = [], []
        for column in self._feature_columns:
            with name_scope(column.name):
                tensor, length = column.get_sequence_dense_tensor(cache, self._state_manager)
                tensors.append(self._flat(column, tensor))
                lengths.append(length)
        check_static_batch_sizes(tensors, self._feature_columns)
        return tf.concat(tensors, -1), _same_lengths(lengths)


def _same_lengths(lengths: list[Any]) -> Any:
    """The lengths that all columns agree on."""
    with name_scope(None, "assert_all_equal", values=lengths):
        checks = [tf.assert_equal(lengths[0], other) for other in lengths[1:]]
        with tf.control_dependencies([check for check in checks if check is not None]):
            return tf.identity(lengths[0])
