"""How often predictions are right."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.dtypes import DTypeLike
from everflow.keras.config import floatx
from everflow.keras.metrics.means import MeanMetricWrapper
from everflow.keras.metrics.ragged_values import flat_values_of


@internal("keras.metrics.accuracy")
def accuracy(y_true: Any, y_pred: Any) -> Any:
    """1 where the prediction equals the label."""
    given, _ = flat_values_of([y_pred, y_true])
    predicted, wanted = (convert_to_tensor(t) for t in given)
    predicted.shape.assert_is_compatible_with(wanted.shape)
    same = tf.equal(wanted, predicted if predicted.dtype == wanted.dtype else tf.cast(predicted, wanted.dtype))
    return tf.cast(same, floatx())


@public("keras.metrics.binary_accuracy")
@internal("keras.metrics.binary_accuracy")
def binary_accuracy(y_true: Any, y_pred: Any, threshold: float = 0.5) -> Any:
    """The share of labels that are on the right side of a threshold."""
    y_pred = convert_to_tensor(y_pred)
    above = tf.cast(y_pred > tf.cast(threshold, y_pred.dtype), y_pred.dtype)
    return tf.reduce_mean(tf.cast(tf.equal(tf.cast(y_true, above.dtype), above), floatx()), axis=-1)


@public("keras.metrics.categorical_accuracy")
@internal("keras.metrics.categorical_accuracy")
def categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """1 where the largest prediction is that of the right class, with one-hot labels."""
    return tf.cast(tf.equal(tf.argmax(y_true, axis=-1), tf.argmax(y_pred, axis=-1)), floatx())


@public("keras.metrics.sparse_categorical_accuracy")
@internal("keras.metrics.sparse_categorical_accuracy")
def sparse_categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """1 where the largest prediction is that of the right class, with labels that are numbers of classes."""
    y_pred, y_true = convert_to_tensor(y_pred), convert_to_tensor(y_true)
    rank, true_rank = y_pred.shape.ndims, y_true.shape.ndims
    if true_rank is not None and rank is not None and len(y_true.shape) == len(y_pred.shape):
        y_true = tf.squeeze(y_true, [-1])
    found = tf.argmax(y_pred, axis=-1)
    if found.dtype != y_true.dtype.base_dtype:
        found = tf.cast(found, y_true.dtype.base_dtype)
    return tf.cast(tf.equal(y_true, found), floatx())


@public("keras.metrics.top_k_categorical_accuracy")
@internal("keras.metrics.top_k_categorical_accuracy")
def top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """1 where the right class is among the k largest predictions, with one-hot labels."""
    return tf.cast(tf.nn.in_top_k(y_pred, tf.argmax(y_true, axis=-1), k), floatx())


@public("keras.metrics.sparse_top_k_categorical_accuracy")
@internal("keras.metrics.sparse_top_k_categorical_accuracy")
def sparse_top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """1 where the right class is among the k largest predictions, with labels that are numbers of classes."""
    y_pred, y_true = convert_to_tensor(y_pred), convert_to_tensor(y_true)
    if (y_true.shape.ndims or 0) > 1:
        y_true = tf.reshape(y_true, [-1])
    if (y_pred.shape.ndims or 0) > 2:
        y_pred = tf.reshape(y_pred, [-1, y_pred.shape.as_list()[-1]])
    return tf.cast(tf.nn.in_top_k(y_pred, tf.cast(y_true, "int32"), k), floatx())


@public("keras.metrics.Accuracy")
@internal("keras.metrics.Accuracy")
class Accuracy(MeanMetricWrapper):
    """How often predictions equal labels."""

    def __init__(self, name: str = "accuracy", dtype: DTypeLike | None = None) -> None:
        super().__init__(accuracy, name, dtype=dtype)


@public("keras.metrics.BinaryAccuracy")
@internal("keras.metrics.BinaryAccuracy")
class BinaryAccuracy(MeanMetricWrapper):
    """How often predictions are on the right side of a threshold."""

    def __init__(self, name: str = "binary_accuracy", dtype: DTypeLike | None = None, threshold: float = 0.5) -> None:
        super().__init__(binary_accuracy, name, dtype=dtype, threshold=threshold)


@public("keras.metrics.CategoricalAccuracy")
@internal("keras.metrics.CategoricalAccuracy")
class CategoricalAccuracy(MeanMetricWrapper):
    """How often the largest prediction is right, with one-hot labels."""

    def __init__(self, name: str = "categorical_accuracy", dtype: DTypeLike | None = None) -> None:
        super().__init__(categorical_accuracy, name, dtype=dtype)


@public("keras.metrics.SparseCategoricalAccuracy")
@internal("keras.metrics.SparseCategoricalAccuracy")
class SparseCategoricalAccuracy(MeanMetricWrapper):
    """How often the largest prediction is right, with labels that are numbers of classes."""

    def __init__(self, name: str = "sparse_categorical_accuracy", dtype: DTypeLike | None = None) -> None:
        super().__init__(sparse_categorical_accuracy, name, dtype=dtype)


@public("keras.metrics.TopKCategoricalAccuracy")
@internal("keras.metrics.TopKCategoricalAccuracy")
class TopKCategoricalAccuracy(MeanMetricWrapper):
    """How often the right class is among the k largest predictions, with one-hot labels."""

    def __init__(self, k: int = 5, name: str = "top_k_categorical_accuracy", dtype: DTypeLike | None = None) -> None:
        super().__init__(top_k_categorical_accuracy, name, dtype=dtype, k=k)


@public("keras.metrics.SparseTopKCategoricalAccuracy")
@internal("keras.metrics.SparseTopKCategoricalAccuracy")
class SparseTopKCategoricalAccuracy(MeanMetricWrapper):
    """How often the right class is among the k largest predictions, with labels that are numbers of classes."""

    def __init__(self, k: int = 5, name: str = "sparse_top_k_categorical_accuracy", dtype: DTypeLike | None = None) -> None:
        super().__init__(sparse_top_k_categorical_accuracy, name, dtype=dtype, k=k)
