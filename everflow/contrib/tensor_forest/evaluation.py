"""Metrics of forests, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public

BELOW = "contrib.tensor_forest.client.eval_metrics."
INFERENCE_PROB_NAME, INFERENCE_PRED_NAME, SCORES = "probabilities", "classes", "scores"
public(BELOW + "INFERENCE_PROB_NAME")(INFERENCE_PROB_NAME)
public(BELOW + "INFERENCE_PRED_NAME")(INFERENCE_PRED_NAME)
public(BELOW + "FEATURE_IMPORTANCE_NAME")("global_feature_importance")


@public(BELOW + "_top_k_generator")
def top_k_generator(k: int) -> Callable[[Any, Any], Any]:
    """How often the label is among the k likeliest classes."""

    def top_k(probabilities: Any, targets: Any) -> Any:
        targets = tf.cast(targets, tf.int32)
        if targets.get_shape().ndims > 1:
            targets = tf.squeeze(targets, axis=[1])
        return tf.metrics.mean(tf.nn.in_top_k(probabilities, targets, k))

    return top_k


@public(BELOW + "_accuracy")
def accuracy(predictions: Any, targets: Any, weights: Any = None) -> Any:
    """The share of right classes."""
    return tf.metrics.accuracy(labels=targets, predictions=predictions, weights=weights)


@public(BELOW + "_r2")
def r2(probabilities: Any, targets: Any, weights: Any = None) -> Any:
    """The share of the variance that predictions explain."""
    targets = tf.cast(targets, tf.float32)
    mean = tf.reduce_mean(targets, 0)
    total = tf.reduce_sum(tf.squared_difference(targets, mean), 0)
    residual = tf.reduce_sum(tf.squared_difference(targets, probabilities), 0)
    return tf.metrics.mean(1 - tf.reduce_sum(residual / total), weights=weights)


def _one_hot(targets: Any, probabilities: Any) -> Any:
    return tf.one_hot(tf.cast(tf.squeeze(targets, axis=[1]), tf.int32), tf.shape(probabilities)[1])


def _sigmoid_entropy(probabilities: Any, targets: Any, weights: Any = None) -> Any:
    return tf.metrics.mean(tf.contrib.losses.sigmoid_cross_entropy(probabilities, _one_hot(targets, probabilities)), weights=weights)


def _softmax_entropy(probabilities: Any, targets: Any, weights: Any = None) -> Any:
    return tf.metrics.mean(tf.contrib.losses.sparse_softmax_cross_entropy(probabilities, tf.cast(targets, tf.int32)), weights=weights)


def _log_loss(probabilities: Any, targets: Any, weights: Any = None) -> Any:
    return tf.metrics.mean(tf.contrib.losses.log_loss(probabilities, _one_hot(targets, probabilities)), weights=weights)


def _predictions(predictions: Any, unused_targets: Any, **unused_kwargs: Any) -> Any:
    return predictions


def _of_classes(metric: Callable[..., Any]) -> Callable[..., Any]:
    return lambda predictions, targets, weights=None: metric(labels=targets, predictions=predictions, weights=weights)


def _at_thresholds(metric: Callable[..., Any]) -> Callable[..., Any]:
    """Of the probability of the second class."""
    thresholds = np.arange(0, 1, 0.01, dtype=np.float32)
    return lambda predictions, targets, weights=None: metric(
        labels=targets, predictions=tf.slice(predictions, [0, 1], [-1, 1]), thresholds=thresholds, weights=weights
    )


def _auc(probs: Any, targets: Any, weights: Any = None) -> Any:
    return tf.metrics.auc(labels=targets, predictions=tf.slice(probs, [0, 1], [-1, 1]), weights=weights)


_metrics: Any = tf.metrics

_METRICS: dict[str, tuple[Callable[..., Any], str]] = {
    "auc": (_auc, INFERENCE_PROB_NAME),
    "sigmoid_entropy": (_sigmoid_entropy, INFERENCE_PROB_NAME),
    "softmax_entropy": (_softmax_entropy, INFERENCE_PROB_NAME),
    "accuracy": (accuracy, INFERENCE_PRED_NAME),
    "r2": (r2, SCORES),
    "predictions": (_predictions, INFERENCE_PRED_NAME),
    "classification_log_loss": (_log_loss, INFERENCE_PROB_NAME),
    "precision": (_of_classes(_metrics.precision), INFERENCE_PRED_NAME),
    "precision_at_thresholds": (_at_thresholds(_metrics.precision_at_thresholds), INFERENCE_PROB_NAME),
    "recall": (_of_classes(_metrics.recall), INFERENCE_PRED_NAME),
    "recall_at_thresholds": (_at_thresholds(_metrics.recall_at_thresholds), INFERENCE_PROB_NAME),
    "top_5": (top_k_generator(5), INFERENCE_PROB_NAME),
}


@public(BELOW + "get_metric")
def get_metric(metric_name: str) -> Callable[..., Any]:
    """The metric of a name."""
    return _METRICS[metric_name][0]


@public(BELOW + "get_prediction_key")
def get_prediction_key(metric_name: str) -> str:
    """Which prediction a metric is about."""
    return _METRICS[metric_name][1]
