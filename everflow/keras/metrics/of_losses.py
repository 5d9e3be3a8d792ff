"""Losses as metrics: their mean over all samples."""

from __future__ import annotations

from typing import Any

from everflow.api import internal, public
from everflow.graph.dtypes import DTypeLike
from everflow.keras.losses import functions
from everflow.keras.metrics.means import MeanMetricWrapper


@public("keras.metrics.MeanSquaredError")
@internal("keras.metrics.MeanSquaredError")
class MeanSquaredError(MeanMetricWrapper):
    """The mean of squared differences."""

    def __init__(self, name: str = "mean_squared_error", dtype: DTypeLike | None = None) -> None:
        super().__init__(functions.mean_squared_error, name, dtype=dtype)


@public("keras.metrics.MeanAbsoluteError")
@internal("keras.metrics.MeanAbsoluteError")
class MeanAbsoluteError(MeanMetricWrapper):
    """The mean of absolute differences."""

    def __init__(self, name: str = "mean_absolute_error", dtype: DTypeLike | None = None) -> None:
        super().__init__(functions.mean_absolute_error, name, dtype=dtype)


@public("keras.metrics.MeanAbsolutePercentageError")
@internal("keras.metrics.MeanAbsolutePercentageError")
class MeanAbsolutePercentageError(MeanMetricWrapper):
    """The mean of absolute differences as percentages."""

    def __init__(self, name: str = "mean_absolute_percentage_error", dtype: DTypeLike | None = None) -> None:
        super().__init__(functions.mean_absolute_percentage_error, name, dtype=dtype)


@public("keras.metrics.MeanSquaredLogarithmicError")
@internal("keras.metrics.MeanSquaredLogarithmicError")
class MeanSquaredLogarithmicError(MeanMetricWrapper):
    """The mean of squared differences of logarithms."""

    def __init__(self, name: str = "mean_squared_logarithmic_error", dtype: DTypeLike | None = None) -> None:
        super().__init__(functions.mean_squared_logarithmic_error, name, dtype=dtype)


@public("keras.metrics.Hinge")
@internal("keras.metrics.Hinge")
class Hinge(MeanMetricWrapper):
    """The mean hinge loss."""

    def __init__(self, name: str = "hinge", dtype: DTypeLike | None = None) -> None:
        super().__init__(functions.hinge, name, dtype=dtype)


@public("keras.metrics.SquaredHinge")
@internal("keras.metrics.SquaredHinge")
class SquaredHinge(MeanMetricWrapper):
    """The mean squared hinge loss."""

    def __init__(self, name: str = "squared_hinge", dtype: DTypeLike | None = None) -> None:
        super().__init__(functions.squared_hinge, name, dtype=dtype)


@public("keras.metrics.CategoricalHinge")
@internal("keras.metrics.CategoricalHinge")
class CategoricalHinge(MeanMetricWrapper):
    """The mean hinge loss of classes."""

    def __init__(self, name: str = "categorical_hinge", dtype: DTypeLike | None = None) -> None:
        super().__init__(functions.categorical_hinge, name, dtype=dtype)


@public("keras.metrics.LogCoshError")
@internal("keras.metrics.LogCoshError")
class LogCoshError(MeanMetricWrapper):
    """The mean logarithm of the hyperbolic cosine of differences."""

    def __init__(self, name: str = "logcosh", dtype: DTypeLike | None = None) -> None:
        super().__init__(functions.logcosh, name, dtype=dtype)


@public("keras.metrics.Poisson")
@internal("keras.metrics.Poisson")
class Poisson(MeanMetricWrapper):
    """The mean loss of counts."""

    def __init__(self, name: str = "poisson", dtype: DTypeLike | None = None) -> None:
        super().__init__(functions.poisson, name, dtype=dtype)


@public("keras.metrics.KLDivergence")
@internal("keras.metrics.KLDivergence")
class KLDivergence(MeanMetricWrapper):
    """The mean of Kullback and Leibler's divergence."""

    def __init__(self, name: str = "kullback_leibler_divergence", dtype: DTypeLike | None = None) -> None:
        super().__init__(functions.kullback_leibler_divergence, name, dtype=dtype)


@public("keras.metrics.CosineSimilarity")
@internal("keras.metrics.CosineSimilarity")
class CosineSimilarity(MeanMetricWrapper):
    """The mean cosine of the angle between vectors."""

    def __init__(self, name: str = "cosine_similarity", dtype: DTypeLike | None = None, axis: int = -1) -> None:
        super().__init__(functions.cosine_proximity, name, dtype=dtype, axis=axis)


@public("keras.metrics.BinaryCrossentropy")
@internal("keras.metrics.BinaryCrossentropy")
class BinaryCrossentropy(MeanMetricWrapper):
    """The mean cross entropy of labels that are 0 or 1."""

    def __init__(
        self, name: str = "binary_crossentropy", dtype: DTypeLike | None = None, from_logits: bool = False, label_smoothing: Any = 0
    ) -> None:
        super().__init__(functions.binary_crossentropy, name, dtype=dtype, from_logits=from_logits, label_smoothing=label_smoothing)


@public("keras.metrics.CategoricalCrossentropy")
@internal("keras.metrics.CategoricalCrossentropy")
class CategoricalCrossentropy(MeanMetricWrapper):
    """The mean cross entropy of one-hot labels."""

    def __init__(
        self, name: str = "categorical_crossentropy", dtype: DTypeLike | None = None, from_logits: bool = False, label_smoothing: Any = 0
    ) -> None:
        super().__init__(functions.categorical_crossentropy, name, dtype=dtype, from_logits=from_logits, label_smoothing=label_smoothing)


@public("keras.metrics.SparseCategoricalCrossentropy")
@internal("keras.metrics.SparseCategoricalCrossentropy")
class SparseCategoricalCrossentropy(MeanMetricWrapper):
    """The mean cross entropy of labels that are numbers of classes."""

    def __init__(
        self, name: str = "sparse_categorical_crossentropy", dtype: DTypeLike | None = None, from_logits: bool = False, axis: int = -1
    ) -> None:
        super().__init__(functions.sparse_categorical_crossentropy, name, dtype=dtype, from_logits=from_logits, axis=axis)
