"""Counts of positives and negatives, precision and recall."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.graph.dtypes import DTypeLike
from everflow.keras.backend.session import batch_set_value
from everflow.keras.metrics.base import Metric
from everflow.keras.metrics.confusion import NEG_INF, ConfusionMatrix, parse_init_thresholds, update_confusion_matrix_variables


@internal("keras.metrics._ConfusionMatrixConditionCount")
class _ConfusionMatrixConditionCount(Metric):
    """One of the four counts."""

    def __init__(
        self, confusion_matrix_cond: ConfusionMatrix, thresholds: Any = None, name: str | None = None, dtype: DTypeLike | None = None
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        parsed = parse_init_thresholds(thresholds, default_threshold=0.5)
        self.init_thresholds, self.thresholds, self._confusion_matrix_cond = thresholds, parsed, confusion_matrix_cond
        self.accumulator = self.add_weight("accumulator", (len(parsed),), initializer="zeros")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:  # type: ignore[override]
        """Adds a batch."""
        return update_confusion_matrix_variables(
            {self._confusion_matrix_cond: self.accumulator}, y_true, y_pred, thresholds=self.thresholds, sample_weight=sample_weight
        )

    def result(self) -> Any:
        """The count; with several thresholds, one for each."""
        return tf.convert_to_tensor(self.accumulator[0] if len(self.thresholds) == 1 else self.accumulator)

    def reset_states(self) -> None:
        batch_set_value([(v, np.zeros((len(self.thresholds),))) for v in self.variables])

    def get_config(self) -> dict[str, Any]:
        return {"thresholds": self.init_thresholds, **super().get_config()}


@public("keras.metrics.FalsePositives")
@internal("keras.metrics.FalsePositives")
class FalsePositives(_ConfusionMatrixConditionCount):
    """Positives that should be negative."""

    def __init__(self, thresholds: Any = None, name: str | None = None, dtype: DTypeLike | None = None) -> None:
        super().__init__(ConfusionMatrix.FALSE_POSITIVES, thresholds=thresholds, name=name, dtype=dtype)


@public("keras.metrics.FalseNegatives")
@internal("keras.metrics.FalseNegatives")
class FalseNegatives(_ConfusionMatrixConditionCount):
    """Negatives that should be positive."""

    def __init__(self, thresholds: Any = None, name: str | None = None, dtype: DTypeLike | None = None) -> None:
        super().__init__(ConfusionMatrix.FALSE_NEGATIVES, thresholds=thresholds, name=name, dtype=dtype)


@public("keras.metrics.TrueNegatives")
@internal("keras.metrics.TrueNegatives")
class TrueNegatives(_ConfusionMatrixConditionCount):
    """Negatives that are right."""

    def __init__(self, thresholds: Any = None, name: str | None = None, dtype: DTypeLike | None = None) -> None:
        super().__init__(ConfusionMatrix.TRUE_NEGATIVES, thresholds=thresholds, name=name, dtype=dtype)


@public("keras.metrics.TruePositives")
@internal("keras.metrics.TruePositives")
class TruePositives(_ConfusionMatrixConditionCount):
    """Positives that are right."""

    def __init__(self, thresholds: Any = None, name: str | None = None, dtype: DTypeLike | None = None) -> None:
        super().__init__(ConfusionMatrix.TRUE_POSITIVES, thresholds=thresholds, name=name, dtype=dtype)


class _Share(Metric):
    """True positives as a share of those and others."""

    _others: tuple[str, ConfusionMatrix]

    def __init__(
        self, thresholds: Any = None, top_k: Any = None, class_id: Any = None, name: str | None = None, dtype: DTypeLike | None = None
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        self.init_thresholds = thresholds
        self.top_k = top_k
        self.class_id = class_id
        self.thresholds = parse_init_thresholds(thresholds, default_threshold=0.5 if top_k is None else NEG_INF)
        shape = (len(self.thresholds),)
        self.true_positives = self.add_weight("true_positives", shape=shape, initializer="zeros")
        setattr(self, self._others[0], self.add_weight(self._others[0], shape=shape, initializer="zeros"))

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:  # type: ignore[override]
        """Adds a batch."""
        return update_confusion_matrix_variables(
            {ConfusionMatrix.TRUE_POSITIVES: self.true_positives, self._others[1]: getattr(self, self._others[0])},
            y_true,
            y_pred,
            thresholds=self.thresholds,
            top_k=self.top_k,
            class_id=self.class_id,
            sample_weight=sample_weight,
        )

    def result(self) -> Any:
        """The share; with several thresholds, one for each."""
        found = tf.div_no_nan(self.true_positives, self.true_positives + getattr(self, self._others[0]))
        return found[0] if len(self.thresholds) == 1 else found

    def reset_states(self) -> None:
        batch_set_value([(v, np.zeros((len(self.thresholds),))) for v in self.variables])

    def get_config(self) -> dict[str, Any]:
        return {"thresholds": self.init_thresholds, "top_k": self.top_k, "class_id": self.class_id, **super().get_config()}


@public("keras.metrics.Precision")
@internal("keras.metrics.Precision")
class Precision(_Share):
    """The share of positives that are right."""

    _others = ("false_positives", ConfusionMatrix.FALSE_POSITIVES)


@public("keras.metrics.Recall")
@internal("keras.metrics.Recall")
class Recall(_Share):
    """The share of what should be positive that is."""

    _others = ("false_negatives", ConfusionMatrix.FALSE_NEGATIVES)
