"""Transformed features, each computed once for all columns that ask for it."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.feature_column.checks import checked_columns
from everflow.feature_column.protocol import FeatureColumn, OldFeatureColumn
from everflow.graph.scopes import name_scope
from everflow.graph.sparse_tensor import convert_to_tensor_or_sparse_tensor


@internal("feature_column.feature_column_v2.FeatureTransformationCache")
class FeatureTransformationCache:
    """Raw features by name, and what columns made of them."""

    _column = "FeatureColumn"

    def __init__(self, features: Any) -> None:
        self._features = features.copy()
        self._feature_tensors: dict[Any, Any] = {}

    def get(self, key: Any, state_manager: Any = None) -> Any:
        """The tensor of a raw feature (for a name) or of a column."""
        if key in self._feature_tensors:
            return self._feature_tensors[key]
        if key in self._features:
            found = self._raw(key)
        elif isinstance(key, str):
            raise ValueError(f"Feature {key} is not in features dictionary.")
        elif isinstance(key, FeatureColumn) and state_manager is not None:
            found = key.transform_feature(self, state_manager)
        elif isinstance(key, OldFeatureColumn):
            found = key._transform_feature(self)
        else:
            raise TypeError(f'"key" must be either a "str" or "{self._column}". Provided: {key}')
        if found is None:
            raise ValueError(f"Column {key.name} is not supported.")
        self._feature_tensors[key] = found
        return found

    def _raw(self, key: Any) -> Any:
        """A raw feature, as a column where it is a vector."""
        feature = convert_to_tensor_or_sparse_tensor(self._features[key])
        rank = feature.get_shape().ndims
        if rank is None:
            return _of_unknown_rank(key, feature)
        if rank == 0:
            raise ValueError(f"Feature (key: {key}) cannot have rank 0. Given: {feature}")
        return feature if rank != 1 else _as_column(feature)


def _as_column(vector: Any) -> Any:
    if isinstance(vector, tf.SparseTensor):
        return tf.sparse_reshape(vector, [tf.shape(vector)[0], 1])
    return tf.expand_dims(vector, -1)


def _of_unknown_rank(key: str, feature: Any) -> Any:
    message = f"Feature (key: {key}) cannot have rank 0. Given: {feature}"
    with tf.control_dependencies([tf.assert_positive(tf.rank(feature), message=message)]):
        return tf.cond(tf.equal(1, tf.rank(feature)), lambda: _as_column(feature), lambda: feature)


@internal("feature_column.feature_column._LazyBuilder")
class LazyBuilder(FeatureTransformationCache):
    """The older name of the cache."""

    _column = "_FeatureColumn"


@internal("feature_column.feature_column._transform_features")
def old_transform_features(features: Any, feature_columns: Any) -> dict[Any, Any]:
    """What columns of the older protocol make of features."""
    columns = checked_columns(feature_columns)
    outputs = {}
    with name_scope(None, "transform_features", features.values()):
        cache = FeatureTransformationCache(features)
        for column in sorted(columns, key=lambda c: c.name):
            with name_scope(None, column.name):
                outputs[column] = cache.get(column)
    return outputs


@internal("feature_column.feature_column_v2._transform_features_v2")
def transform_features(features: Any, feature_columns: Any, state_manager: Any) -> dict[Any, Any]:
    """What columns make of features."""
    columns = checked_columns(feature_columns, "FeatureColumn")
    outputs = {}
    with name_scope(None, "transform_features", features.values()):
        cache = FeatureTransformationCache(features)
        for column in columns:
            with name_scope(None, column.name):
                outputs[column] = cache.get(column, state_manager)
    return outputs


def as_sparse(tensor: Any, ignore_value: Any = None) -> Any:
    """A sparse tensor of the values that count: not the empty string, not -1, or not what is given."""
    tensor = convert_to_tensor_or_sparse_tensor(tensor)
    if isinstance(tensor, tf.SparseTensor):
        return tensor
    with name_scope(None, "to_sparse_input", (tensor, ignore_value)):
        if ignore_value is None:
            ignore_value = "" if tensor.dtype == tf.string else tensor.dtype.as_numpy_dtype(0) if tensor.dtype.is_bool else -1
        ignored = tf.cast(ignore_value, tensor.dtype, name="ignore_value")
        indices = tf.where(tf.not_equal(tensor, ignored), name="indices")
        return tf.SparseTensor(
            indices=indices,
            values=tf.gather_nd(tensor, indices, name="values"),
            dense_shape=tf.shape(tensor, out_type=tf.int64, name="dense_shape"),
        )
