"""How often yes and no were predicted in vain, and what is best over thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import everflow as tf
from everflow.api import internal
from everflow.contrib.metrics.publishing import metric
from everflow.graph import dtypes
from everflow.graph.keys import GraphKeys
from everflow.metrics import counts
from everflow.metrics.streaming import collected, metric_variable, with_ranks_that_fit
from everflow.metrics.thresholds import confusion_at_thresholds, confusion_of_scores, even_thresholds
from everflow.ops.math.weights_broadcast import broadcast_weights

_NEAR_ZERO = 1e-7
_SMALL = 1e-6


@metric("streaming_false_positive_rate")
def streaming_false_positive_rate(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Which part of what was no was predicted as yes."""
    return counts.share(
        "false_positive_rate",
        labels,
        predictions,
        weights,
        metrics_collections,
        updates_collections,
        name,
        counts.false_positives,
        counts.true_negatives,
    )


@metric("streaming_false_negative_rate")
def streaming_false_negative_rate(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Which part of what was yes was predicted as no."""
    return counts.share(
        "false_negative_rate",
        labels,
        predictions,
        weights,
        metrics_collections,
        updates_collections,
        name,
        counts.false_negatives,
        counts.true_positives,
    )


def _rates_at(
    kind: str,
    wrong: str,
    right: str,
    predictions: Any,
    labels: Any,
    thresholds: Any,
    weights: Any,
    metrics_collections: Sequence[str] | str | None,
    updates_collections: Sequence[str] | str | None,
    scope: Any,
) -> tuple[Any, Any]:
    name = {"fpr": "false_positive_rate_at_thresholds", "fnr": "false_negative_rate_at_thresholds"}[kind]
    with tf.variable_scope(scope, name, (predictions, labels, weights)):
        values, updates = confusion_of_scores(labels, predictions, thresholds, weights, includes=(wrong, right))

        def part(found: Any, at: str) -> Any:
            return tf.div(found[wrong], _NEAR_ZERO + found[wrong] + found[right], name=f"{kind}_{at}")

        value = part(values, "value")
        return collected(value, part(updates, "update_op"), metrics_collections, updates_collections)


@metric("streaming_false_positive_rate_at_thresholds")
def streaming_false_positive_rate_at_thresholds(
    predictions: Any,
    labels: Any,
    thresholds: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Which part of what was no was predicted as yes, at each threshold."""
    return _rates_at("fpr", "fp", "tn", predictions, labels, thresholds, weights, metrics_collections, updates_collections, name)


@metric("streaming_false_negative_rate_at_thresholds")
def streaming_false_negative_rate_at_thresholds(
    predictions: Any,
    labels: Any,
    thresholds: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Which part of what was yes was predicted as no, at each threshold."""
    return _rates_at("fnr", "fn", "tp", predictions, labels, thresholds, weights, metrics_collections, updates_collections, name)


def _counts_at(key: str, predictions: Any, labels: Any, thresholds: Any, weights: Any) -> tuple[Any, Any]:
    values, updates = confusion_of_scores(labels, predictions, thresholds, weights, includes=(key,))
    return values[key], updates[key]


@metric("streaming_true_positives_at_thresholds")
def streaming_true_positives_at_thresholds(predictions: Any, labels: Any, thresholds: Any, weights: Any = None) -> tuple[Any, Any]:
    """How many were yes and predicted as yes, at each threshold."""
    return _counts_at("tp", predictions, labels, thresholds, weights)


@metric("streaming_true_negatives_at_thresholds")
def streaming_true_negatives_at_thresholds(predictions: Any, labels: Any, thresholds: Any, weights: Any = None) -> tuple[Any, Any]:
    """How many were no and predicted as no, at each threshold."""
    return _counts_at("tn", predictions, labels, thresholds, weights)


@metric("streaming_false_positives_at_thresholds")
def streaming_false_positives_at_thresholds(predictions: Any, labels: Any, thresholds: Any, weights: Any = None) -> tuple[Any, Any]:
    """How many were no and predicted as yes, at each threshold."""
    return _counts_at("fp", predictions, labels, thresholds, weights)


@metric("streaming_false_negatives_at_thresholds")
def streaming_false_negatives_at_thresholds(predictions: Any, labels: Any, thresholds: Any, weights: Any = None) -> tuple[Any, Any]:
    """How many were yes and predicted as no, at each threshold."""
    return _counts_at("fn", predictions, labels, thresholds, weights)


@metric("streaming_curve_points")
def streaming_curve_points(
    labels: Any = None,
    predictions: Any = None,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    curve: str = "ROC",
    name: str | None = None,
) -> tuple[Any, Any]:
    """The points [thresholds, 2] of a curve: false and true positive rates (ROC), or recall and precision (PR)."""
    with tf.variable_scope(name, "curve_points", (labels, predictions, weights)):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
        values, updates = confusion_of_scores(labels, predictions, even_thresholds(num_thresholds), weights)

        def points(found: Any) -> Any:
            recall = tf.div(found["tp"] + _SMALL, found["tp"] + found["fn"] + _SMALL)
            if curve == "ROC":
                return tf.stack([tf.div(found["fp"], found["fp"] + found["tn"] + _SMALL), recall], axis=1)
            return tf.stack([recall, tf.div(found["tp"] + _SMALL, found["tp"] + found["fp"] + _SMALL)], axis=1)

        value = points(values)
        return collected(value, tf.group(*updates.values()), metrics_collections, updates_collections)


@metric("f1_score")
def f1_score(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The largest harmonic mean of precision and recall over thresholds."""
    with tf.variable_scope(name, "f1", (labels, predictions, weights)):
        predictions, labels, weights = with_ranks_that_fit(predictions, labels, weights)
        thresholds = even_thresholds(num_thresholds)
        values, updates = confusion_at_thresholds(labels, predictions, thresholds, weights, includes=("tp", "fp", "fn"))

        def best(found: Any, at: str) -> Any:
            precision = tf.div(found["tp"], _NEAR_ZERO + found["tp"] + found["fp"], name=f"precision_{at}")
            recall = tf.div(found["tp"], _NEAR_ZERO + found["tp"] + found["fn"], name=f"recall_{at}")
            return tf.reduce_max(2.0 * precision * recall / (precision + recall + _NEAR_ZERO))

        value = best(values, "value")
        return collected(value, best(updates, "update"), metrics_collections, updates_collections)


@metric("precision_at_recall")
def precision_at_recall(
    labels: Any,
    predictions: Any,
    target_recall: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The precision at the highest threshold whose recall is at least what is wanted."""
    if target_recall < 0 or target_recall > 1:
        raise ValueError("`target_recall` must be in the range [0, 1].")
    with tf.variable_scope(name, "precision_at_recall", (predictions, labels, weights)):
        values, updates = confusion_of_scores(labels, predictions, even_thresholds(num_thresholds), weights)

        def precision(found: Any, at: str) -> Any:
            recalls = tf.div(found["tp"] + _NEAR_ZERO, found["tp"] + found["fn"] + _NEAR_ZERO)
            enough = tf.cast(recalls >= target_recall, dtypes.int64)
            place = tf.cast(tf.argmax(tf.cumsum(enough), 0), dtypes.int32)
            tp, fp = found["tp"][place] + _NEAR_ZERO, found["fp"][place]
            return tf.div(tp, tp + fp, name=at)

        value = precision(values, "value")
        return collected(value, precision(updates, "update_op"), metrics_collections, updates_collections)


@metric("recall_at_precision")
def recall_at_precision(
    labels: Any,
    predictions: Any,
    precision: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
    strict_mode: bool = False,
) -> tuple[Any, Any]:
    """The recall at the threshold whose precision is nearest to what is wanted; strictly, nearest above it, or 0 if there is none."""
    if not 0 <= precision <= 1:
        raise ValueError("`precision` must be in the range [0, 1].")
    with tf.variable_scope(name, "recall_at_precision", (predictions, labels, weights)):
        values, updates = confusion_of_scores(labels, predictions, even_thresholds(num_thresholds), weights)

        def recall(found: Any, at: str) -> Any:
            precisions = tf.div(found["tp"], found["tp"] + found["fp"] + _NEAR_ZERO)
            distances = tf.abs(precisions - precision)
            enough = precisions >= precision
            if strict_mode:
                distances = tf.where(enough, distances, 2.0 * tf.ones_like(distances))
            place = tf.cast(tf.argmin(distances, 0), dtypes.int32)

            def there() -> Any:
                return tf.div(found["tp"][place], found["tp"][place] + found["fn"][place] + _NEAR_ZERO, name=at)

            return tf.cond(tf.reduce_any(enough), there, lambda: 0.0) if strict_mode else there()

        value = recall(values, "value")
        return collected(value, recall(updates, "update_op"), metrics_collections, updates_collections)


@internal("contrib.metrics.python.ops.metric_ops.PrecisionRecallData")
class PrecisionRecallData(NamedTuple):
    """Counts and rates at each threshold."""

    tp: Any
    fp: Any
    tn: Any
    fn: Any
    precision: Any
    recall: Any
    thresholds: Any


@metric("precision_recall_at_equal_thresholds")
def precision_recall_at_equal_thresholds(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> tuple[PrecisionRecallData, Any]:
    """Counts and rates at thresholds that lie evenly in [0, 1]. Each prediction costs the same for any number of thresholds."""
    labels.get_shape().assert_is_compatible_with(predictions.get_shape())
    if num_thresholds is None:
        num_thresholds = 201
    if weights is None:
        weights = 1.0
    in_range = [
        tf.assert_greater_equal(predictions, tf.cast(0.0, dtype=predictions.dtype), message="predictions must be in [0, 1]"),
        tf.assert_less_equal(predictions, tf.cast(1.0, dtype=predictions.dtype), message="predictions must be in [0, 1]"),
    ]
    with tf.control_dependencies(in_range):
        predictions = tf.identity(predictions)
    with tf.name_scope(name, "precision_recall_at_equal_thresholds", values=[labels, predictions, weights]):
        # So many are added up that float32 would lose some.
        shares = broadcast_weights(tf.cast(weights, dtypes.float64), tf.cast(predictions, dtypes.float64))
        is_yes = tf.cast(labels, dtypes.float64)
        yes, no = is_yes * shares, (1.0 - is_yes) * shares
        buckets = tf.cast(tf.floor(predictions * (num_thresholds - 1)), dtypes.int32)
        with tf.name_scope("variables"):
            tp_buckets = metric_variable([num_thresholds], dtypes.float64, name="tp_buckets")
            fp_buckets = metric_variable([num_thresholds], dtypes.float64, name="fp_buckets")
        with tf.name_scope("update_op"):
            new_tp = tf.scatter_add(tp_buckets, buckets, yes, use_locking=use_locking or False)
            new_fp = tf.scatter_add(fp_buckets, buckets, no, use_locking=use_locking or False)
        tp = tf.cumsum(tp_buckets, reverse=True, name="tp")
        fp = tf.cumsum(fp_buckets, reverse=True, name="fp")
        tn, fn = fp[0] - fp, tp[0] - tp
        precision = tp / tf.maximum(tp + fp, _NEAR_ZERO)
        recall = tp / tf.maximum(tp + fn, _NEAR_ZERO)
        thresholds = tf.linspace(0.0, 1.0, num_thresholds)
        counts_and_rates = [tf.cast(x, predictions.dtype) for x in (tp, fp, tn, fn, precision, recall)]
        data = PrecisionRecallData(*counts_and_rates, thresholds)  # type: ignore[call-arg]
        return data, tf.group(new_tp, new_fp)


def _binned(values: Any, score_range: Any, nbins: int) -> Any:
    return tf.histogram_fixed_width(values, score_range, nbins, dtype=dtypes.int64)


@metric("auc_using_histogram")
def auc_using_histogram(
    boolean_labels: Any,
    scores: Any,
    score_range: Any,
    nbins: int = 100,
    collections: Any = None,
    check_shape: bool = True,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The area under the ROC curve, from two histograms of scores."""
    if collections is None:
        collections = [GraphKeys.LOCAL_VARIABLES]
    with tf.variable_scope(name, "auc_using_histogram", [boolean_labels, scores, score_range]):
        scores, boolean_labels = tf.contrib.framework.remove_squeezable_dimensions(scores, boolean_labels)
        score_range = tf.convert_to_tensor(score_range, name="score_range")
        boolean_labels, scores = _checked(boolean_labels, scores, check_shape)
        with tf.variable_scope("hist_accumulate"):

            def accumulator(which: str) -> Any:
                return tf.get_variable(
                    f"hist_{which}_acc",
                    shape=[nbins],
                    initializer=tf.zeros_initializer(),
                    dtype=dtypes.int64,
                    collections=collections,
                    trainable=False,
                )

            rights, wrongs = accumulator("true"), accumulator("false")
            new_rights = tf.assign_add(rights, _binned(tf.boolean_mask(scores, boolean_labels), score_range, nbins))
            new_wrongs = tf.assign_add(wrongs, _binned(tf.boolean_mask(scores, tf.logical_not(boolean_labels)), score_range, nbins))
            update_op = tf.group(new_rights, new_wrongs, name="update_op")
        return _area_of_histograms(rights, wrongs, nbins), update_op


def _checked(boolean_labels: Any, scores: Any, check_shape: bool) -> tuple[Any, Any]:
    boolean_labels = tf.convert_to_tensor(boolean_labels, name="boolean_labels")
    scores = tf.convert_to_tensor(scores, name="scores")
    if boolean_labels.dtype != dtypes.bool:
        raise ValueError(f"Argument boolean_labels should have dtype bool. Found: {boolean_labels.dtype}")
    if not check_shape:
        return boolean_labels, scores
    same = tf.assert_equal(tf.shape(boolean_labels), tf.shape(scores))
    with tf.control_dependencies([tf.assert_rank(boolean_labels, 1), tf.assert_rank(scores, 1), same]):
        return tf.identity(boolean_labels), tf.identity(scores)


def _area_of_histograms(rights: Any, wrongs: Any, nbins: int) -> Any:
    """How often a score of what is true is above one of what is false; those of one bin count by half."""
    rights, wrongs = tf.cast(rights, dtypes.float32), tf.cast(wrongs, dtypes.float32)
    rights, wrongs = rights / tf.reduce_sum(rights), wrongs / tf.reduce_sum(wrongs)
    above = tf.cumsum(rights, reverse=True, exclusive=True)
    return tf.reduce_sum(wrongs * (above + 0.5 * rights), name="auc")
