"""LogisticRegressor: a program's model of probabilities, with the metrics of two classes."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.contrib.learn.estimator import LearnEstimator
from everflow.contrib.learn.model_ops import ModeKeys, ModelFnOps
from everflow.contrib.learn.problem_types import MetricKey, ProblemType
from everflow.contrib.learn.publishing import learn


def _metrics(labels: Any, predictions: Any, thresholds: Any) -> dict[str, Any]:
    streaming = tf.contrib.metrics
    labels = next(iter(labels.values())) if isinstance(labels, dict) and len(labels) == 1 else labels
    found = {
        MetricKey.PREDICTION_MEAN: streaming.streaming_mean(predictions),
        MetricKey.LABEL_MEAN: streaming.streaming_mean(labels),
        MetricKey.ACCURACY_BASELINE: streaming.streaming_mean(labels),
        MetricKey.AUC: streaming.streaming_auc(labels=labels, predictions=predictions),
    }
    for threshold in thresholds:
        above = tf.cast(tf.greater_equal(predictions, threshold), tf.float32, name=f"predictions_at_threshold_{threshold:f}")
        found[MetricKey.ACCURACY_MEAN % threshold] = streaming.streaming_accuracy(labels=labels, predictions=above)
        found[MetricKey.PRECISION_MEAN % threshold] = streaming.streaming_precision(labels=labels, predictions=above)
        found[MetricKey.RECALL_MEAN % threshold] = streaming.streaming_recall(labels=labels, predictions=above)
    return found


@learn("estimators.logistic_regressor", "LogisticRegressor", shown=True)
def LogisticRegressor(
    model_fn: Any, thresholds: Any = None, model_dir: Any = None, config: Any = None, feature_engineering_fn: Any = None
) -> LearnEstimator:
    """An estimator of a function that gives probabilities, a loss and an op that trains."""

    def with_metrics(features: Any, labels: Any, mode: str, params: dict[str, Any]) -> ModelFnOps:
        predictions, loss, train_op = model_fn(features, labels, mode)
        return ModelFnOps(
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=_metrics(labels, predictions, params["thresholds"] or [0.5]) if mode == ModeKeys.EVAL else None,
            output_alternatives={"head": (ProblemType.LOGISTIC_REGRESSION, {"predictions": predictions})},
        )

    return LearnEstimator(with_metrics, model_dir, config, {"thresholds": thresholds}, feature_engineering_fn)
