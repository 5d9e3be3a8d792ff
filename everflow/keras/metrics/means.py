"""Sums and means of values, and means of functions of what is true and what was predicted."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.graph.dtypes import DTypeLike
from everflow.graph.tensor import Tensor
from everflow.keras.backend.session import batch_set_value, get_session
from everflow.keras.backend.values import evaluate
from everflow.keras.metrics.base import Metric
from everflow.keras.metrics.ragged_values import flat_values_of
from everflow.losses.collected import squeeze_or_expand_dimensions
from everflow.ops.math.confusion_matrix import remove_squeezable_dimensions
from everflow.ops.math.weights_broadcast import assert_broadcastable, broadcast_weights


@internal("keras.utils.metrics_utils.Reduction")
class Reduction(enum.Enum):
    """What becomes of the values of a batch."""

    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"
    WEIGHTED_MEAN = "weighted_mean"


@internal("keras.metrics.Reduce")
class Reduce(Metric):
    """Adds up values, and what they are divided by in the end."""

    def __init__(self, reduction: Reduction, name: str | None, dtype: DTypeLike | None = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.reduction = reduction
        self.total = self.add_weight("total", initializer="zeros")
        if reduction is not Reduction.SUM:
            self.count = self.add_weight("count", initializer="zeros")

    def update_state(self, values: Any, sample_weight: Any = None) -> Any:  # type: ignore[override]
        """Adds values, which may have weights."""
        [values], sample_weight = flat_values_of([values], sample_weight)
        values = tf.cast(values, self._dtype)
        if sample_weight is not None:
            sample_weight = tf.cast(sample_weight, self._dtype)
            values, _, sample_weight = squeeze_or_expand_dimensions(values, None, sample_weight)
            sample_weight, values = _fitted(sample_weight, values, self.reduction)
            values = values * sample_weight
        value_sum = tf.reduce_sum(values)
        with tf.control_dependencies([value_sum]):
            update = self.total.assign_add(value_sum)
        if self.reduction is Reduction.SUM:
            return update
        if sample_weight is not None and self.reduction is Reduction.WEIGHTED_MEAN:
            number = tf.reduce_sum(sample_weight)
        else:
            number = tf.cast(tf.size(values), self._dtype)
        with tf.control_dependencies([update]):
            return self.count.assign_add(number)

    def result(self) -> Any:
        """The sum, or the mean."""
        return tf.identity(self.total) if self.reduction is Reduction.SUM else tf.div_no_nan(self.total, self.count)


def _fitted(weights: Any, values: Any, reduction: Reduction) -> tuple[Any, Any]:
    """Weights of the shape of the values; values of more dimensions than weights have are reduced first."""
    rank, weight_rank = values.shape.ndims, weights.shape.ndims
    if weight_rank == 0:
        return (weights * tf.ones_like(values) if reduction is Reduction.WEIGHTED_MEAN else weights), values
    if rank is not None and weight_rank is not None and rank > weight_rank and not _broadcasts(weights, values):
        reduce = tf.reduce_sum if reduction is Reduction.SUM else tf.reduce_mean
        return weights, reduce(values, axis=list(range(weight_rank, rank)))
    if rank is None or weight_rank is None:
        return broadcast_weights(weights, values), values
    if rank == weight_rank:
        with tf.control_dependencies([assert_broadcastable(weights, values)]):
            return tf.broadcast_to(weights, tf.shape(values)), values
    return weights, values


def _broadcasts(weights: Any, values: Any) -> bool:
    return weights.shape.ndims == values.shape.ndims


@public("keras.metrics.Sum")
@internal("keras.metrics.Sum")
class Sum(Reduce):
    """The (weighted) sum of values."""

    def __init__(self, name: str = "sum", dtype: DTypeLike | None = None) -> None:
        super().__init__(reduction=Reduction.SUM, name=name, dtype=dtype)


@public("keras.metrics.Mean")
@internal("keras.metrics.Mean")
class Mean(Reduce):
    """The (weighted) mean of values."""

    def __init__(self, name: str | None = "mean", dtype: DTypeLike | None = None) -> None:
        super().__init__(reduction=Reduction.WEIGHTED_MEAN, name=name, dtype=dtype)


@internal("keras.metrics.SumOverBatchSize")
class SumOverBatchSize(Reduce):
    """The weighted sum divided by the number of values."""

    def __init__(self, name: str | None = "sum_over_batch_size", dtype: DTypeLike | None = None) -> None:
        super().__init__(reduction=Reduction.SUM_OVER_BATCH_SIZE, name=name, dtype=dtype)


class _OfFunction(Reduce):
    """Reduces what a function makes of true values and predictions."""

    _fn: Any
    _fn_kwargs: dict[str, Any]

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:  # type: ignore[override]
        """Adds a batch."""
        given, sample_weight = flat_values_of([y_true, y_pred], sample_weight)
        labels, predictions = (tf.cast(value, self._dtype) for value in given)
        predictions, labels = squeeze_or_expand_dimensions(predictions, labels)
        return super().update_state(self._fn(labels, predictions, **self._fn_kwargs), sample_weight=sample_weight)

    def get_config(self) -> dict[str, Any]:
        return {**{k: evaluate(v) if isinstance(v, Tensor) else v for k, v in self._fn_kwargs.items()}, **super().get_config()}


@internal("keras.metrics.MeanMetricWrapper")
class MeanMetricWrapper(_OfFunction, Mean):
    """The mean of a function of each sample."""

    def __init__(self, fn: Callable[..., Any], name: str | None = None, dtype: DTypeLike | None = None, **kwargs: Any) -> None:
        Mean.__init__(self, name=name, dtype=dtype)
        self._fn = fn
        # A plain dict: its items are arguments, not things to track.
        self.__dict__["_fn_kwargs"] = kwargs


@internal("keras.metrics.SumOverBatchSizeMetricWrapper")
class SumOverBatchSizeMetricWrapper(_OfFunction, SumOverBatchSize):
    """The sum of a function of each sample, divided by their number."""

    def __init__(self, fn: Callable[..., Any], name: str | None = None, dtype: DTypeLike | None = None, **kwargs: Any) -> None:
        SumOverBatchSize.__init__(self, name=name, dtype=dtype)
        self._fn = fn
        self.__dict__["_fn_kwargs"] = kwargs


@public("keras.metrics.MeanRelativeError")
@internal("keras.metrics.MeanRelativeError")
class MeanRelativeError(Mean):
    """The mean of differences, each divided by a normalizer."""

    def __init__(self, normalizer: Any, name: str | None = None, dtype: DTypeLike | None = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.normalizer = tf.cast(normalizer, self._dtype)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:  # type: ignore[override]
        """Adds a batch."""
        y_true, y_pred = tf.cast(y_true, self._dtype), tf.cast(y_pred, self._dtype)
        y_pred, y_true = squeeze_or_expand_dimensions(y_pred, y_true)
        y_pred, self.normalizer = _same_rank(y_pred, self.normalizer)
        y_pred.shape.assert_is_compatible_with(y_true.shape)
        errors = tf.div_no_nan(tf.abs(y_true - y_pred), self.normalizer)
        return super().update_state(errors, sample_weight=sample_weight)

    def get_config(self) -> dict[str, Any]:
        n = self.normalizer
        return {"normalizer": evaluate(n) if isinstance(n, Tensor) else n, **super().get_config()}


def _same_rank(predictions: Any, normalizer: Any) -> tuple[Any, Any]:
    normalizer, predictions = remove_squeezable_dimensions(normalizer, predictions)
    return predictions, normalizer


@public("keras.metrics.RootMeanSquaredError")
@internal("keras.metrics.RootMeanSquaredError")
class RootMeanSquaredError(Mean):
    """The root of the mean of squared differences."""

    def __init__(self, name: str = "root_mean_squared_error", dtype: DTypeLike | None = None) -> None:
        super().__init__(name=name, dtype=dtype)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:  # type: ignore[override]
        """Adds a batch."""
        y_true, y_pred = tf.cast(y_true, self._dtype), tf.cast(y_pred, self._dtype)
        y_pred, y_true = squeeze_or_expand_dimensions(y_pred, y_true)
        return super().update_state(tf.squared_difference(y_pred, y_true), sample_weight=sample_weight)

    def result(self) -> Any:
        """The root of the mean."""
        return tf.sqrt(tf.div_no_nan(self.total, self.count))


@public("keras.metrics.MeanTensor")
@internal("keras.metrics.MeanTensor")
class MeanTensor(Metric):
    """The mean of tensors of one shape, element by element."""

    def __init__(self, name: str = "mean_tensor", dtype: DTypeLike | None = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self._shape: Any = None
        self._total: Any = None
        self._count: Any = None
        self.built = False

    def _build(self, shape: Any) -> None:
        self._shape = tf.TensorShape(shape)
        self._total, self._count = (self.add_weight(name, shape, initializer="zeros") for name in ("total", "count"))
        if not tf.executing_eagerly():
            get_session()
        self.built = True

    @property
    def total(self) -> Any:
        """The sums."""
        return self._total if self.built else None

    @property
    def count(self) -> Any:
        """How many values, or the sum of their weights, element by element."""
        return self._count if self.built else None

    def update_state(self, values: Any, sample_weight: Any = None) -> Any:  # type: ignore[override]
        """Adds a tensor."""
        values = tf.cast(values, self._dtype)
        if not self.built:
            self._build(values.shape)
        elif values.shape != self._shape:
            raise ValueError(
                "MeanTensor input values must always have the same shape. Expected shape (set during the first call): "
                f"{self._shape}. Got: {values.shape}"
            )
        number = tf.ones_like(values)
        if sample_weight is not None:
            sample_weight = tf.cast(sample_weight, self._dtype)
            values, _, sample_weight = squeeze_or_expand_dimensions(values, None, sample_weight)
            sample_weight, values = _fitted(sample_weight, values, Reduction.WEIGHTED_MEAN)
            number, values = number * sample_weight, values * sample_weight
        update = self._total.assign_add(values)
        with tf.control_dependencies([update]):
            return self._count.assign_add(number)

    def result(self) -> Any:
        """The means."""
        if not self.built:
            raise ValueError(
                "MeanTensor does not have any result yet. Please call the MeanTensor instance or use "
                "`.update_state(value)` before retrieving the result."
            )
        return tf.div_no_nan(self._total, self._count)

    def reset_states(self) -> None:
        variables = self.variables if self.built else []
        batch_set_value([(variable, np.zeros(variable.shape.as_list())) for variable in variables])
