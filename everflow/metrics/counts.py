"""Metrics of yes and no: how many were right and wrong, precision and recall."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph import dtypes
from everflow.metrics.streaming import collected, metric_variable, refuse_eager, with_ranks_that_fit


def _counted(
    values: Any, weights: Any, metrics_collections: Sequence[str] | str | None, updates_collections: Sequence[str] | str | None
) -> tuple[Any, Any]:
    tf.assert_type(values, dtypes.bool)
    count = metric_variable([], dtypes.float32, name="count")
    values = tf.cast(values, dtypes.float32)
    if weights is not None:
        with tf.control_dependencies((tf.assert_rank_in(weights, (0, tf.rank(values))),)):
            values = tf.multiply(values, tf.cast(weights, dtypes.float32))
    value = tf.identity(count)
    return collected(value, tf.assign_add(count, tf.reduce_sum(values)), metrics_collections, updates_collections)


def _count_of(name: str, label: bool, prediction: bool) -> Callable[..., tuple[Any, Any]]:
    def count(
        labels: Any,
        predictions: Any,
        weights: Any,
        metrics_collections: Sequence[str] | str | None,
        updates_collections: Sequence[str] | str | None,
        scope: Any,
    ) -> Any:
        refuse_eager(name)
        with tf.variable_scope(scope, name, (predictions, labels, weights)):
            predictions, labels, weights = with_ranks_that_fit(tf.cast(predictions, dtypes.bool), tf.cast(labels, dtypes.bool), weights)
            found = tf.logical_and(tf.equal(labels, label), tf.equal(predictions, prediction))
            return _counted(found, weights, metrics_collections, updates_collections)

    return count


_true_positives = _count_of("true_positives", True, True)
_true_negatives = _count_of("true_negatives", False, False)
_false_positives = _count_of("false_positives", False, True)
_false_negatives = _count_of("false_negatives", True, False)


@public("metrics.true_positives")
def true_positives(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """How often yes was predicted and so it was."""
    return _true_positives(labels, predictions, weights, metrics_collections, updates_collections, name)


@public("metrics.true_negatives")
def true_negatives(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """How often no was predicted and so it was."""
    return _true_negatives(labels, predictions, weights, metrics_collections, updates_collections, name)


@public("metrics.false_positives")
def false_positives(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """How often yes was predicted and it was no."""
    return _false_positives(labels, predictions, weights, metrics_collections, updates_collections, name)


@public("metrics.false_negatives")
def false_negatives(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """How often no was predicted and it was yes."""
    return _false_negatives(labels, predictions, weights, metrics_collections, updates_collections, name)


def share(
    name: str,
    labels: Any,
    predictions: Any,
    weights: Any,
    metrics_collections: Sequence[str] | str | None,
    updates_collections: Sequence[str] | str | None,
    scope: Any,
    some: Callable[..., tuple[Any, Any]],
    others: Callable[..., tuple[Any, Any]],
) -> tuple[Any, Any]:
    """What one function counts as a part of that and of what another counts."""
    refuse_eager(name)
    with tf.variable_scope(scope, name, (predictions, labels, weights)):
        predictions, labels, weights = with_ranks_that_fit(tf.cast(predictions, dtypes.bool), tf.cast(labels, dtypes.bool), weights)
        found, new_found = some(labels, predictions, weights)
        rest, new_rest = others(labels, predictions, weights)

        def part(a: Any, b: Any, at: str) -> Any:
            return tf.where(tf.greater(a + b, 0), tf.div(a, a + b), 0, name=at)

        value = part(found, rest, "value")
        return collected(value, part(new_found, new_rest, "update_op"), metrics_collections, updates_collections)


@public("metrics.precision")
def precision(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Which part of the predictions of yes was right."""
    return share("precision", labels, predictions, weights, metrics_collections, updates_collections, name, true_positives, false_positives)


@public("metrics.recall")
def recall(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Which part of what was yes was predicted."""
    return share("recall", labels, predictions, weights, metrics_collections, updates_collections, name, true_positives, false_negatives)
