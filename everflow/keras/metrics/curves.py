"""Metrics over many thresholds: areas under curves, and rates at a given rate."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.graph.dtypes import DTypeLike
from everflow.keras.backend.session import batch_set_value
from everflow.keras.config import epsilon
from everflow.keras.metrics.base import Metric
from everflow.keras.metrics.confusion import (
    AUCCurve,
    AUCSummationMethod,
    ConfusionMatrix,
    assert_thresholds_range,
    update_confusion_matrix_variables,
)


class _AtThresholds(Metric):
    """Keeps the four counts at many thresholds."""

    thresholds: Any
    num_thresholds: int

    def _add_counts(self) -> None:
        shape = (self.num_thresholds,)
        self.true_positives = self.add_weight("true_positives", shape=shape, initializer="zeros")
        self.true_negatives = self.add_weight("true_negatives", shape=shape, initializer="zeros")
        self.false_positives = self.add_weight("false_positives", shape=shape, initializer="zeros")
        self.false_negatives = self.add_weight("false_negatives", shape=shape, initializer="zeros")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:  # type: ignore[override]
        """Adds a batch."""
        return update_confusion_matrix_variables(
            {
                ConfusionMatrix.TRUE_POSITIVES: self.true_positives,
                ConfusionMatrix.TRUE_NEGATIVES: self.true_negatives,
                ConfusionMatrix.FALSE_POSITIVES: self.false_positives,
                ConfusionMatrix.FALSE_NEGATIVES: self.false_negatives,
            },
            y_true,
            y_pred,
            thresholds=self.thresholds,
            sample_weight=sample_weight,
        )

    def reset_states(self) -> None:
        batch_set_value([(v, np.zeros((self.num_thresholds,))) for v in self.variables])


@internal("keras.metrics.SensitivitySpecificityBase")
class SensitivitySpecificityBase(_AtThresholds):
    """What the two rates share."""

    def __init__(self, value: float, num_thresholds: int = 200, name: str | None = None, dtype: DTypeLike | None = None) -> None:
        super().__init__(name=name, dtype=dtype)
        if num_thresholds <= 0:
            raise ValueError("`num_thresholds` must be > 0.")
        self.value = value
        self.num_thresholds = num_thresholds
        self._add_counts()
        if num_thresholds == 1:
            self.thresholds = [0.5]
        else:
            between = [(i + 1) * 1.0 / (num_thresholds - 1) for i in range(num_thresholds - 2)]
            self.thresholds = [0.0, *between, 1.0]

    def _sensitivities(self) -> Any:
        return tf.div_no_nan(self.true_positives, self.true_positives + self.false_negatives)

    def _specificities(self) -> Any:
        return tf.div_no_nan(self.true_negatives, self.true_negatives + self.false_positives)


@public("keras.metrics.SensitivityAtSpecificity")
@internal("keras.metrics.SensitivityAtSpecificity")
class SensitivityAtSpecificity(SensitivitySpecificityBase):
    """The share of positives that is found where a given share of negatives is."""

    def __init__(self, specificity: float, num_thresholds: int = 200, name: str | None = None, dtype: DTypeLike | None = None) -> None:
        if specificity < 0 or specificity > 1:
            raise ValueError("`specificity` must be in the range [0, 1].")
        self.__dict__.update(specificity=specificity)
        super().__init__(specificity, num_thresholds=num_thresholds, name=name, dtype=dtype)

    def result(self) -> Any:
        """The sensitivity at the threshold that comes nearest."""
        place = tf.argmin(tf.abs(self._specificities() - self.value), axis=0)
        return self._sensitivities()[place]

    def get_config(self) -> dict[str, Any]:
        return {"num_thresholds": self.num_thresholds, "specificity": self.value, **super().get_config()}


@public("keras.metrics.SpecificityAtSensitivity")
@internal("keras.metrics.SpecificityAtSensitivity")
class SpecificityAtSensitivity(SensitivitySpecificityBase):
    """The share of negatives that is found where a given share of positives is."""

    def __init__(self, sensitivity: float, num_thresholds: int = 200, name: str | None = None, dtype: DTypeLike | None = None) -> None:
        if sensitivity < 0 or sensitivity > 1:
            raise ValueError("`sensitivity` must be in the range [0, 1].")
        self.__dict__.update(sensitivity=sensitivity)
        super().__init__(sensitivity, num_thresholds=num_thresholds, name=name, dtype=dtype)

    def result(self) -> Any:
        """The specificity at the threshold that comes nearest."""
        place = tf.argmin(tf.abs(self._sensitivities() - self.value), axis=0)
        return self._specificities()[place]

    def get_config(self) -> dict[str, Any]:
        return {"num_thresholds": self.num_thresholds, "sensitivity": self.value, **super().get_config()}


@public("keras.metrics.AUC")
@internal("keras.metrics.AUC")
class AUC(_AtThresholds):
    """The area under the curve of true over false positive rates, or of precision over recall."""

    def __init__(
        self,
        num_thresholds: int = 200,
        curve: Any = "ROC",
        summation_method: Any = "interpolation",
        name: str | None = None,
        dtype: DTypeLike | None = None,
        thresholds: Any = None,
    ) -> None:
        if isinstance(curve, AUCCurve) and curve not in list(AUCCurve):
            raise ValueError(f'Invalid curve: "{curve}". Valid options are: "{list(AUCCurve)}"')
        if thresholds is not None:
            num_thresholds = len(thresholds) + 2
            between = sorted(thresholds)
            assert_thresholds_range(between)
        else:
            if num_thresholds <= 1:
                raise ValueError("`num_thresholds` must be > 1.")
            between = [(i + 1) * 1.0 / (num_thresholds - 1) for i in range(num_thresholds - 2)]
        super().__init__(name=name, dtype=dtype)
        self.num_thresholds = num_thresholds
        # A little beyond the ends, so that 0 and 1 are on one side.
        self.__dict__["thresholds"] = [0.0 - epsilon(), *between, 1.0 + epsilon()]
        self.curve = curve if isinstance(curve, AUCCurve) else AUCCurve.from_str(curve)
        self.summation_method = (
            summation_method if isinstance(summation_method, AUCSummationMethod) else AUCSummationMethod.from_str(summation_method)
        )
        self._add_counts()

    def interpolate_pr_auc(self) -> Any:
        """The area under precision over recall, where true positives grow in proportion between thresholds."""
        last = self.num_thresholds - 1
        gained = self.true_positives[:last] - self.true_positives[1:]
        positives = self.true_positives + self.false_positives
        slope = tf.div_no_nan(gained, tf.maximum(positives[:last] - positives[1:], 0), name="prec_slope")
        intercept = self.true_positives[1:] - slope * positives[1:]
        safe = tf.logical_and(positives[:last] > 0, positives[1:] > 0)
        ratio = tf.where(
            safe, tf.div_no_nan(positives[:last], tf.maximum(positives[1:], 0), name="recall_relative_ratio"), tf.ones_like(positives[1:])
        )
        below = tf.maximum(self.true_positives[1:] + self.false_negatives[1:], 0)
        return tf.reduce_sum(tf.div_no_nan(slope * (gained + intercept * tf.log(ratio)), below), name="interpolate_pr_auc")

    def result(self) -> Any:
        """The area."""
        if self.curve is AUCCurve.PR and self.summation_method is AUCSummationMethod.INTERPOLATION:
            return self.interpolate_pr_auc()
        recall = tf.div_no_nan(self.true_positives, self.true_positives + self.false_negatives)
        if self.curve is AUCCurve.ROC:
            x, y = tf.div_no_nan(self.false_positives, self.false_positives + self.true_negatives), recall
        else:
            x, y = recall, tf.div_no_nan(self.true_positives, self.true_positives + self.false_positives)
        left, right = y[: self.num_thresholds - 1], y[1:]
        heights = {
            AUCSummationMethod.INTERPOLATION: lambda: (left + right) / 2.0,
            AUCSummationMethod.MINORING: lambda: tf.minimum(left, right),
            AUCSummationMethod.MAJORING: lambda: tf.maximum(left, right),
        }[self.summation_method]()
        return tf.reduce_sum((x[: self.num_thresholds - 1] - x[1:]) * heights, name="auc")

    def get_config(self) -> dict[str, Any]:
        # Thresholds replace the number of thresholds, and are given without the ends.
        names = {"curve": self.curve.value, "summation_method": self.summation_method.value}
        return {"num_thresholds": self.num_thresholds, **names, "thresholds": self.thresholds[1:-1], **super().get_config()}


@public("keras.metrics.MeanIoU")
@internal("keras.metrics.MeanIoU")
class MeanIoU(Metric):
    """What labels and predictions of a class share, as a part of what either has; the mean over classes."""

    def __init__(self, num_classes: int, name: str | None = None, dtype: DTypeLike | None = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.num_classes = num_classes
        self.total_cm = self.add_weight(
            "total_confusion_matrix", shape=(num_classes, num_classes), initializer=tf.zeros_initializer(), dtype="float64"
        )

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:  # type: ignore[override]
        """Adds a batch."""
        flat = lambda t: tf.reshape(t, [-1]) if (t.shape.ndims or 0) > 1 else t
        y_true, y_pred = flat(tf.cast(y_true, self._dtype)), flat(tf.cast(y_pred, self._dtype))
        if sample_weight is not None:
            sample_weight = flat(tf.cast(sample_weight, self._dtype))
        return self.total_cm.assign_add(tf.math.confusion_matrix(y_true, y_pred, self.num_classes, weights=sample_weight, dtype="float64"))

    def result(self) -> Any:
        """The mean over the classes that occur."""
        rows = tf.cast(tf.reduce_sum(self.total_cm, axis=0), self._dtype)
        columns = tf.cast(tf.reduce_sum(self.total_cm, axis=1), self._dtype)
        shared = tf.cast(tf.diag_part(self.total_cm), self._dtype)
        either = rows + columns - shared
        number = tf.reduce_sum(tf.cast(tf.not_equal(either, 0), self._dtype))
        return tf.div_no_nan(tf.reduce_sum(tf.div_no_nan(shared, either), name="mean_iou"), number)

    def reset_states(self) -> None:
        batch_set_value([(self.total_cm, np.zeros((self.num_classes, self.num_classes)))])

    def get_config(self) -> dict[str, Any]:
        return {"num_classes": self.num_classes, **super().get_config()}
