"""Metrics of probabilities, at every one of several thresholds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.metrics.streaming import collected, metric_variable, refuse_eager, with_ranks_that_fit
from everflow.ops.math.weights_broadcast import broadcast_weights
from everflow.platform import logging

_NAMES = {"tp": "true_positives", "fn": "false_negatives", "tn": "true_negatives", "fp": "false_positives"}
_NEAR_ZERO = 1e-7

Counts = dict[str, Any]


@internal("ops.metrics_impl._confusion_matrix_at_thresholds")
def confusion_at_thresholds(
    labels: Any, predictions: Any, thresholds: Any, weights: Any = None, includes: Any = None
) -> tuple[Counts, Counts]:
    """How many were right and wrong at each threshold: (variables, ops that take in a batch), each under tp, fn, tn and fp.

    Predictions must be in [0, 1]."""
    _check(includes)
    in_range = [
        tf.assert_greater_equal(predictions, tf.cast(0.0, dtype=predictions.dtype), message="predictions must be in [0, 1]"),
        tf.assert_less_equal(predictions, tf.cast(1.0, dtype=predictions.dtype), message="predictions must be in [0, 1]"),
    ]
    with tf.control_dependencies(in_range):
        predictions, labels, weights = with_ranks_that_fit(tf.cast(predictions, dtypes.float32), tf.cast(labels, dtypes.bool), weights)
    return _counted(labels, predictions, thresholds, weights, includes)


def confusion_of_scores(labels: Any, predictions: Any, thresholds: Any, weights: Any = None, includes: Any = None) -> tuple[Counts, Counts]:
    """The same for predictions and thresholds of any size, as the metrics of tf.contrib take them."""
    _check(includes)
    predictions, labels, weights = with_ranks_that_fit(predictions, labels, weights)
    return _counted(labels, predictions, thresholds, weights, includes)


def _check(includes: Any) -> None:
    for include in includes or ():
        if include not in _NAMES:
            raise ValueError(f"Invalid key: {include}.")


def _counted(labels: Any, predictions: Any, thresholds: Any, weights: Any, includes: Any) -> tuple[Counts, Counts]:
    includes = tuple(_NAMES) if includes is None else includes
    number = len(thresholds)
    column = tf.reshape(predictions, [-1, 1])
    row = tf.reshape(tf.cast(labels, dtypes.bool), [1, -1])
    size = column.get_shape().dims[0].value
    if size is None:
        size = tf.shape(column)[0]
    limits = tf.tile(tf.expand_dims(tf.constant(thresholds), [1]), tf.stack([1, size]))
    said_yes = tf.greater(tf.tile(tf.transpose(column), [number, 1]), limits)
    said_no = tf.logical_not(said_yes) if "fn" in includes or "tn" in includes else None
    is_yes = tf.tile(row, [number, 1])
    is_no = tf.logical_not(is_yes) if "fp" in includes or "tn" in includes else None
    tiled = None
    if weights is not None:
        weights = broadcast_weights(tf.cast(weights, dtypes.float32), predictions)
        tiled = tf.tile(tf.reshape(weights, [1, -1]), [number, 1])
        limits.get_shape().assert_is_compatible_with(tiled.get_shape())
    pairs = {"tp": (is_yes, said_yes), "fn": (is_yes, said_no), "tn": (is_no, said_no), "fp": (is_no, said_yes)}
    values: Counts = {}
    updates: Counts = {}
    for key, (truth, guess) in pairs.items():
        if key not in includes:
            continue
        variable = metric_variable([number], dtypes.float32, name=_NAMES[key])
        there = tf.cast(tf.logical_and(truth, guess), dtypes.float32)
        if tiled is not None:
            there *= tiled
        updates[key] = tf.assign_add(variable, tf.reduce_sum(there, 1))
        values[key] = variable
    return values, updates


def _counts_at(
    key: str,
    labels: Any,
    predictions: Any,
    thresholds: Any,
    weights: Any,
    metrics_collections: Sequence[str] | str | None,
    updates_collections: Sequence[str] | str | None,
    name: str | None,
) -> tuple[Any, Any]:
    refuse_eager(f"{_NAMES[key]}_at_thresholds")
    with tf.variable_scope(name, _NAMES[key], (predictions, labels, weights)):
        predictions, labels = tf.convert_to_tensor(predictions), tf.convert_to_tensor(labels)
        values, updates = confusion_at_thresholds(labels, predictions, thresholds, weights=weights, includes=(key,))
        return collected(tf.identity(values[key]), updates[key], metrics_collections, updates_collections)


@public("metrics.true_positives_at_thresholds")
def true_positives_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """How often yes was predicted and so it was, at each threshold."""
    return _counts_at("tp", labels, predictions, thresholds, weights, metrics_collections, updates_collections, name)


@public("metrics.true_negatives_at_thresholds")
def true_negatives_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """How often no was predicted and so it was, at each threshold."""
    return _counts_at("tn", labels, predictions, thresholds, weights, metrics_collections, updates_collections, name)


@public("metrics.false_positives_at_thresholds")
def false_positives_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """How often yes was predicted and it was no, at each threshold."""
    return _counts_at("fp", labels, predictions, thresholds, weights, metrics_collections, updates_collections, name)


@public("metrics.false_negatives_at_thresholds")
def false_negatives_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """How often no was predicted and it was yes, at each threshold."""
    return _counts_at("fn", labels, predictions, thresholds, weights, metrics_collections, updates_collections, name)


def _shares_at(
    what: str,
    others: str,
    labels: Any,
    predictions: Any,
    thresholds: Any,
    weights: Any,
    metrics_collections: Sequence[str] | str | None,
    updates_collections: Sequence[str] | str | None,
    name: str | None,
) -> tuple[Any, Any]:
    refuse_eager(f"{what}_at_thresholds")
    with tf.variable_scope(name, f"{what}_at_thresholds", (predictions, labels, weights)):
        values, updates = confusion_at_thresholds(labels, predictions, thresholds, weights, includes=("tp", others))

        def part(counts: Counts, at: str) -> Any:
            return tf.div(counts["tp"], _NEAR_ZERO + counts["tp"] + counts[others], name=f"{what}_{at}")

        value = part(values, "value")
        return collected(value, part(updates, "update_op"), metrics_collections, updates_collections)


@public("metrics.precision_at_thresholds")
def precision_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Which part of the predictions of yes was right, at each threshold."""
    return _shares_at("precision", "fp", labels, predictions, thresholds, weights, metrics_collections, updates_collections, name)


@public("metrics.recall_at_thresholds")
def recall_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Which part of what was yes was predicted, at each threshold."""
    return _shares_at("recall", "fn", labels, predictions, thresholds, weights, metrics_collections, updates_collections, name)


def even_thresholds(number: int) -> list[float]:
    inner = [(i + 1) * 1.0 / (number - 1) for i in range(number - 2)]
    return [0.0 - _NEAR_ZERO, *inner, 1.0 + _NEAR_ZERO]


def _interpolated_area(counts: Counts, number: int) -> Any:
    """The area under precision over recall, with true positives interpolated between thresholds as Davis and Goadrich have it."""
    tp, fn = counts["tp"], counts["fn"]
    steps = tp[: number - 1] - tp[1:]
    said_yes = tp + counts["fp"]
    slope = tf.div_no_nan(steps, tf.maximum(said_yes[: number - 1] - said_yes[1:], 0), name="prec_slope")
    intercept = tp[1:] - tf.multiply(slope, said_yes[1:])
    ratio = tf.where(
        tf.logical_and(said_yes[: number - 1] > 0, said_yes[1:] > 0),
        tf.div_no_nan(said_yes[: number - 1], tf.maximum(said_yes[1:], 0), name="recall_relative_ratio"),
        tf.ones_like(said_yes[1:]),
    )
    return tf.reduce_sum(
        tf.div_no_nan(slope * (steps + intercept * tf.log(ratio)), tf.maximum(tp[1:] + fn[1:], 0), name="pr_auc_increment"),
        name="interpolate_pr_auc",
    )


def _area(counts: Counts, curve: str, number: int, method: str, name: str) -> Any:
    tp, fn, tn, fp = (counts[key] for key in _NAMES)
    small = 1.0e-6
    if curve == "PR" and method == "careful_interpolation":
        return _interpolated_area(counts, number)
    recall = tf.div(tp + small, tp + fn + small)
    if curve == "ROC":
        x, y = tf.div(fp, fp + tn + small), recall
    else:
        x, y = recall, tf.div(tp + small, tp + fp + small)
    if method in ("trapezoidal", "careful_interpolation"):
        return tf.reduce_sum(tf.multiply(x[: number - 1] - x[1:], (y[: number - 1] + y[1:]) / 2.0), name=name)
    if method == "minoring":
        return tf.reduce_sum(tf.multiply(x[: number - 1] - x[1:], tf.minimum(y[: number - 1], y[1:])), name=name)
    if method == "majoring":
        return tf.reduce_sum(tf.multiply(x[: number - 1] - x[1:], tf.maximum(y[: number - 1], y[1:])), name=name)
    raise ValueError(f"Invalid summation_method: {method}")


@public("metrics.auc")
def auc(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    curve: str = "ROC",
    name: str | None = None,
    summation_method: str = "trapezoidal",
    thresholds: Any = None,
) -> tuple[Any, Any]:
    """The area under the curve of true over false positives (ROC), or of precision over recall (PR)."""
    refuse_eager("auc")
    with tf.variable_scope(name, "auc", (labels, predictions, weights)):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
        if thresholds is not None:
            limits = [0.0 - _NEAR_ZERO, *thresholds, 1.0 + _NEAR_ZERO]
        else:
            limits = even_thresholds(num_thresholds)
        number = len(limits)
        values, updates = confusion_at_thresholds(labels, predictions, limits, weights)
        if curve == "PR" and summation_method == "trapezoidal":
            logging.warning('Trapezoidal rule is known to produce incorrect PR-AUCs; please switch to "careful_interpolation" instead.')
        value = _area(values, curve, number, summation_method, "value")
        update_op = _area(updates, curve, number, summation_method, "update_op")
        return collected(value, update_op, metrics_collections, updates_collections)


def _first_nearest(rates: Any, wanted: float) -> Any:
    return tf.cast(tf.argmin(tf.abs(rates - wanted), 0), dtypes.int32)


def _last_nearest(rates: Any, wanted: float) -> Any:
    least = tf.reduce_min(tf.abs(rates - wanted))
    nearest = tf.cast(tf.equal(tf.abs(rates - wanted), least), dtypes.int64)
    return tf.cast(tf.argmax(tf.cumsum(nearest), 0), dtypes.int32)


def _rate_at(
    name: str,
    argument: str,
    wanted: float,
    keys: tuple[str, str, str, str],
    nearest: Callable[[Any, float], Any],
    labels: Any,
    predictions: Any,
    weights: Any,
    num_thresholds: int,
    metrics_collections: Sequence[str] | str | None,
    updates_collections: Sequence[str] | str | None,
    scope: str | None,
) -> tuple[Any, Any]:
    """One rate at the threshold where another is nearest to what is wanted; keys: right and wrong of the other, then of the one."""
    refuse_eager(name)
    if wanted < 0 or wanted > 1:
        raise ValueError(f"`{argument}` must be in the range [0, 1].")
    with tf.variable_scope(scope, name, (predictions, labels, weights)):
        values, updates = confusion_at_thresholds(labels, predictions, even_thresholds(num_thresholds), weights)

        def rate(counts: Counts, at: str) -> Any:
            given_right, given_wrong, right, wrong = (counts[key] for key in keys)
            i = nearest(tf.div(given_right, given_right + given_wrong + _NEAR_ZERO), wanted)
            return tf.div(right[i], right[i] + wrong[i] + _NEAR_ZERO, at)

        value = rate(values, "value")
        return collected(value, rate(updates, "update_op"), metrics_collections, updates_collections)


@public("metrics.sensitivity_at_specificity")
def sensitivity_at_specificity(
    labels: Any,
    predictions: Any,
    specificity: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Which part of what is yes is found at the threshold where this part of what is no is."""
    return _rate_at(
        "sensitivity_at_specificity",
        "specificity",
        specificity,
        ("tn", "fp", "tp", "fn"),
        _first_nearest,
        labels,
        predictions,
        weights,
        num_thresholds,
        metrics_collections,
        updates_collections,
        name,
    )


@public("metrics.specificity_at_sensitivity")
def specificity_at_sensitivity(
    labels: Any,
    predictions: Any,
    sensitivity: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Which part of what is no is found at the threshold where this part of what is yes is."""
    return _rate_at(
        "specificity_at_sensitivity",
        "sensitivity",
        sensitivity,
        ("tp", "fn", "tn", "fp"),
        _last_nearest,
        labels,
        predictions,
        weights,
        num_thresholds,
        metrics_collections,
        updates_collections,
        name,
    )
