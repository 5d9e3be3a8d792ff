"""Counts of right and wrong, positive and negative predictions at thresholds."""

from __future__ import annotations

import enum
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.keras.metrics.ragged_values import flat_values_of
from everflow.losses.collected import squeeze_or_expand_dimensions

NEG_INF = internal("keras.utils.metrics_utils.NEG_INF")(-1e10)


@internal("keras.utils.metrics_utils.ConfusionMatrix")
class ConfusionMatrix(enum.Enum):
    """The four counts."""

    TRUE_POSITIVES = "tp"
    FALSE_POSITIVES = "fp"
    TRUE_NEGATIVES = "tn"
    FALSE_NEGATIVES = "fn"


@internal("keras.utils.metrics_utils.AUCCurve")
class AUCCurve(enum.Enum):
    """Which curve's area is meant."""

    ROC = "ROC"
    PR = "PR"

    @staticmethod
    def from_str(key: str) -> AUCCurve:
        """The curve of a name."""
        if key in ("pr", "PR"):
            return AUCCurve.PR
        if key in ("roc", "ROC"):
            return AUCCurve.ROC
        raise ValueError(f'Invalid AUC curve value "{key}".')


@internal("keras.utils.metrics_utils.AUCSummationMethod")
class AUCSummationMethod(enum.Enum):
    """How the area between two thresholds is found."""

    INTERPOLATION = "interpolation"
    MAJORING = "majoring"
    MINORING = "minoring"

    @staticmethod
    def from_str(key: str) -> AUCSummationMethod:
        """The method of a name."""
        for method, name in (
            (AUCSummationMethod.INTERPOLATION, "interpolation"),
            (AUCSummationMethod.MAJORING, "majoring"),
            (AUCSummationMethod.MINORING, "minoring"),
        ):
            if key in (name, name.capitalize()):
                return method
        raise ValueError(f'Invalid AUC summation method value "{key}".')


@internal("keras.utils.metrics_utils.assert_thresholds_range")
def assert_thresholds_range(thresholds: Any) -> None:
    """Raises for thresholds outside of [0, 1]."""
    wrong = [t for t in thresholds or () if t is None or t < 0 or t > 1]
    if wrong:
        raise ValueError(f"Threshold values must be in [0, 1]. Invalid values: {wrong}")


@internal("keras.utils.metrics_utils.parse_init_thresholds")
def parse_init_thresholds(thresholds: Any, default_threshold: float = 0.5) -> list[Any]:
    """Thresholds as a list."""
    if thresholds is not None:
        assert_thresholds_range(thresholds if isinstance(thresholds, (list, tuple)) else [thresholds])
    if thresholds is None:
        return [default_threshold]
    return list(thresholds) if isinstance(thresholds, (list, tuple)) else [thresholds]


def _check_keys(given: list[Any]) -> None:
    """Raises unless there are counts to update, and only those that exist."""
    options = f'Valid variable key options are: "{list(ConfusionMatrix)}"'
    invalid = [key for key in given if not isinstance(key, ConfusionMatrix)]
    if len(invalid) == len(given):
        raise ValueError(f'Please provide at least one valid confusion matrix variable to update. {options}. Received: "{given}"')
    if invalid:
        raise ValueError(f"Invalid keys: {invalid}. {options}")


@internal("keras.utils.metrics_utils.update_confusion_matrix_variables")
def update_confusion_matrix_variables(
    variables_to_update: Any, y_true: Any, y_pred: Any, thresholds: Any, top_k: Any = None, class_id: Any = None, sample_weight: Any = None
) -> Any:
    """Adds the counts of a batch at each threshold to variables."""
    if variables_to_update is None:
        return None
    dtype = next(iter(variables_to_update.values())).dtype if variables_to_update else None
    y_true, y_pred = tf.cast(y_true, "float32"), tf.cast(y_pred, "float32")
    [y_pred, y_true], sample_weight = flat_values_of([y_pred, y_true], sample_weight)
    y_pred.shape.assert_is_compatible_with(y_true.shape)
    _check_keys(list(variables_to_update))
    checks = [
        tf.debugging.assert_greater_equal(y_pred, tf.cast(0.0, y_pred.dtype), message="predictions must be >= 0"),
        tf.debugging.assert_less_equal(y_pred, tf.cast(1.0, y_pred.dtype), message="predictions must be <= 1"),
    ]
    with tf.control_dependencies([c for c in checks if c is not None]):
        if sample_weight is None:
            y_pred, y_true = squeeze_or_expand_dimensions(y_pred, y_true)
        else:
            y_pred, y_true, sample_weight = squeeze_or_expand_dimensions(y_pred, y_true, tf.cast(sample_weight, "float32"))
    y_pred.shape.assert_is_compatible_with(y_true.shape)
    if top_k is not None:
        y_pred = filter_top_k(y_pred, top_k)
    if class_id is not None:
        y_true, y_pred = y_true[..., class_id], y_pred[..., class_id]
        if sample_weight is not None and sample_weight.shape.ndims == (y_true.shape.ndims or 0) + 1:
            sample_weight = sample_weight[..., 0]
    thresholds = tf.reshape(tf.cast(thresholds, "float32"), [-1, 1])
    labels = tf.reshape(tf.cast(y_true, "bool"), [1, -1])
    positive = tf.reshape(y_pred, [1, -1]) > thresholds
    weights = None
    if sample_weight is not None:
        weights = tf.reshape(tf.broadcast_to(sample_weight, tf.shape(y_pred)), [1, -1])

    def add(label: Any, prediction: Any, variable: Any) -> Any:
        both = tf.cast(tf.logical_and(label, prediction), dtype)
        if weights is not None:
            both = both * tf.cast(weights, dtype)
        return variable.assign_add(tf.reduce_sum(both, 1))

    sides = {
        ConfusionMatrix.TRUE_POSITIVES: lambda: (labels, positive),
        ConfusionMatrix.FALSE_NEGATIVES: lambda: (labels, tf.logical_not(positive)),
        ConfusionMatrix.TRUE_NEGATIVES: lambda: (tf.logical_not(labels), tf.logical_not(positive)),
        ConfusionMatrix.FALSE_POSITIVES: lambda: (tf.logical_not(labels), positive),
    }
    return tf.group([add(*side(), variables_to_update[key]) for key, side in sides.items() if key in variables_to_update])


@internal("keras.utils.metrics_utils._filter_top_k")
def filter_top_k(x: Any, k: int) -> Any:
    """The k largest of the last dimension as they are, all others far below zero."""
    _, places = tf.nn.top_k(x, k, sorted=False)
    mask = tf.reduce_sum(tf.one_hot(places, x.shape.as_list()[-1], axis=-1), axis=-2)
    return x * mask + NEG_INF * (1 - mask)
