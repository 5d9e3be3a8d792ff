"""How often each class was predicted for each class."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.scopes import name_scope
from everflow.graph.shapes import Dimension
from everflow.graph.sparse_tensor import SparseTensor
from everflow.ops.control_flow.ordering import with_dependencies


@internal("ops.confusion_matrix.remove_squeezable_dimensions")
def remove_squeezable_dimensions(labels: Any, predictions: Any, expected_rank_diff: int = 0, name: str | None = None) -> Any:
    """(labels, predictions) without the last dimension of the one whose rank is larger by one than it should be."""
    with name_scope(name, "remove_squeezable_dimensions", [labels, predictions]):
        predictions, labels = tf.convert_to_tensor(predictions), tf.convert_to_tensor(labels)
        predictions_shape, labels_shape = predictions.get_shape(), labels.get_shape()
        if predictions_shape.ndims is not None and labels_shape.ndims is not None:
            difference = predictions_shape.ndims - labels_shape.ndims
            if difference == expected_rank_diff + 1:
                predictions = tf.squeeze(predictions, [-1])
            elif difference == expected_rank_diff - 1:
                labels = tf.squeeze(labels, [-1])
            return labels, predictions
        difference = tf.rank(predictions) - tf.rank(labels)
        if _may_squeeze(predictions_shape):
            predictions = _squeezed_if(tf.equal(expected_rank_diff + 1, difference), predictions)
        if _may_squeeze(labels_shape):
            labels = _squeezed_if(tf.equal(expected_rank_diff - 1, difference), labels)
        return labels, predictions


def _may_squeeze(shape: Any) -> bool:
    return shape.ndims is None or shape.ndims > 0 and shape.dims[-1].is_compatible_with(Dimension(1))


def _squeezed_if(condition: Any, tensor: Any) -> Any:
    return tf.cond(condition, lambda: tf.squeeze(tensor, [-1]), lambda: tensor)


@public("confusion_matrix", "math.confusion_matrix")
@internal("ops.confusion_matrix.confusion_matrix_v1")
def confusion_matrix_v1(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    dtype: dtypes.DTypeLike = dtypes.int32,
    name: str | None = None,
    weights: Any = None,
) -> Any:
    """A matrix that counts, in row i and column j, the examples of class i that were taken for class j."""
    return _counted(labels, predictions, num_classes, weights, dtype, name)


@internal("ops.confusion_matrix.confusion_matrix")
def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    weights: Any = None,
    dtype: dtypes.DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Any:
    """The same with TensorFlow 2's order of arguments."""
    return _counted(labels, predictions, num_classes, weights, dtype, name)


def _counted(labels: Any, predictions: Any, num_classes: Any, weights: Any, dtype: dtypes.DTypeLike, name: str | None) -> Any:
    with name_scope(name, "confusion_matrix", (predictions, labels, num_classes, weights)):
        labels, predictions = remove_squeezable_dimensions(
            tf.convert_to_tensor(labels, name="labels"), tf.convert_to_tensor(predictions, name="predictions")
        )
        predictions, labels = tf.cast(predictions, dtypes.int64), tf.cast(labels, dtypes.int64)
        labels = with_dependencies([tf.assert_non_negative(labels, message="`labels` contains negative values")], labels)
        predictions = with_dependencies(
            [tf.assert_non_negative(predictions, message="`predictions` contains negative values")], predictions
        )
        if num_classes is None:
            num_classes = tf.maximum(tf.reduce_max(predictions), tf.reduce_max(labels)) + 1
        else:
            classes = tf.cast(num_classes, dtypes.int64)
            labels = with_dependencies([tf.assert_less(labels, classes, message="`labels` out of bound")], labels)
            predictions = with_dependencies([tf.assert_less(predictions, classes, message="`predictions` out of bound")], predictions)
        if weights is not None:
            weights = tf.convert_to_tensor(weights, name="weights")
            predictions.get_shape().assert_is_compatible_with(weights.get_shape())
            weights = tf.cast(weights, dtype)
        shape = tf.stack([num_classes, num_classes])
        indices = tf.stack([labels, predictions], axis=1)
        values = tf.ones_like(predictions, dtype) if weights is None else weights
        counts = SparseTensor(indices=indices, values=values, dense_shape=tf.cast(shape, dtypes.int64))
        return tf.sparse_add(counts, tf.zeros(tf.cast(shape, dtypes.int32), dtype))
