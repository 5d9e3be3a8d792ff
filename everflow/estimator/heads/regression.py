"""Heads for numbers."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.estimator.export_outputs import PredictOutput, RegressionOutput
from everflow.estimator.heads import metric_pieces as pieces
from everflow.estimator.heads.base import PREDICT_KEY, REGRESS_KEY, GraphHead, call_loss_fn, checked_loss_fn, checked_reduction
from everflow.estimator.heads.keys import MetricKeys, PredictionKeys
from everflow.estimator.heads.shapes import weights_of
from everflow.graph.scopes import name_scope
from everflow.losses.weighting import Reduction
from everflow.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY


@internal("estimator.canned.head._RegressionHeadWithMeanSquaredErrorLoss")
class RegressionGraphHead(GraphHead):
    """Numbers, by mean squared error unless a program has a loss of its own."""

    def __init__(
        self,
        weight_column: Any = None,
        label_dimension: int = 1,
        loss_reduction: str = Reduction.SUM,
        loss_fn: Any = None,
        inverse_link_fn: Any = None,
        name: str | None = None,
    ) -> None:
        if label_dimension < 1:
            raise ValueError(f"Invalid label_dimension {label_dimension}.")
        self._weight_column, self._label_dimension, self._name = weight_column, label_dimension, name
        self._loss_fn, self._inverse_link_fn = checked_loss_fn(loss_fn, self._loss_arguments), inverse_link_fn
        self._loss_reduction = checked_reduction(loss_reduction)

    @property
    def logits_dimension(self) -> int:
        """A logit for each number."""
        return self._label_dimension

    def _weights(self, features: Any, logits: Any) -> Any:
        return weights_of(features, self._weight_column, logits, per_output=True, texts=self._texts)

    def _processed(self, labels: Any) -> Any:
        return tf.cast(labels, tf.float32)

    def _losses(self, labels: Any, logits: Any, features: Any) -> Any:
        if self._loss_fn:
            return call_loss_fn(self._loss_fn, labels, logits, features, self._label_dimension)
        return tf.losses.mean_squared_error(labels=labels, predictions=logits, reduction=Reduction.NONE)

    def _predictions(self, logits: Any) -> dict[str, Any]:
        if self._inverse_link_fn is None:
            return {PredictionKeys.PREDICTIONS: logits}
        with name_scope(None, "predictions", (logits,)):
            return {PredictionKeys.PREDICTIONS: self._inverse_link_fn(logits), PredictionKeys.LOGITS: logits}

    def _exports(self, predictions: dict[str, Any]) -> dict[str, Any]:
        regressed = RegressionOutput(value=predictions[PredictionKeys.PREDICTIONS])
        return {DEFAULT_SERVING_SIGNATURE_DEF_KEY: regressed, REGRESS_KEY: regressed, PREDICT_KEY: PredictOutput(predictions)}

    def _metrics(self, labels: Any, predictions: dict[str, Any], weights: Any, unreduced_loss: Any, key: Any) -> dict[str, Any]:
        predicted = predictions[PredictionKeys.PREDICTIONS]
        return {
            key(MetricKeys.LOSS_MEAN): pieces.average_loss(unreduced_loss, weights),
            key(MetricKeys.PREDICTION_MEAN): pieces.mean_of(predicted, weights, MetricKeys.PREDICTION_MEAN),
            key(MetricKeys.LABEL_MEAN): tf.metrics.mean(values=labels, weights=weights),
        }


def poisson_loss(compute_full_loss: bool) -> Any:
    """The loss of counts, as a function of labels and logits."""

    def loss(labels: Any, logits: Any) -> Any:
        return tf.nn.log_poisson_loss(targets=labels, log_input=logits, compute_full_loss=compute_full_loss)

    return loss


def logistic_loss(labels: Any, logits: Any) -> Any:
    """The loss of probabilities."""
    low = tf.assert_non_negative(labels, message="Labels must be in range [0, 1]")
    high = tf.assert_less_equal(labels, tf.convert_to_tensor(1.0), message="Labels must be in range [0, 1]")
    with tf.control_dependencies((low, high)):
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.identity(labels), logits=logits)


@internal("estimator.canned.head._regression_head")
def squared_error_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = Reduction.SUM,
    loss_fn: Any = None,
    inverse_link_fn: Any = None,
    name: str | None = None,
) -> Any:
    """The head of regressors."""
    return RegressionGraphHead(weight_column, label_dimension, loss_reduction, loss_fn, inverse_link_fn, name)


@public("contrib.estimator.regression_head")
def regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: Any = None,
    inverse_link_fn: Any = None,
    name: str | None = None,
) -> Any:
    """A head for numbers."""
    return RegressionGraphHead(weight_column, label_dimension, loss_reduction, loss_fn, inverse_link_fn, name)


@public("contrib.estimator.poisson_regression_head")
def poisson_regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    compute_full_loss: bool = True,
    name: str | None = None,
) -> Any:
    """A head for counts, whose logits are the logarithm of their mean."""
    return RegressionGraphHead(weight_column, label_dimension, loss_reduction, poisson_loss(compute_full_loss), tf.exp, name)


@public("contrib.estimator.logistic_regression_head")
def logistic_regression_head(
    weight_column: Any = None, loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE, name: str | None = None
) -> Any:
    """A head for probabilities."""
    return RegressionGraphHead(weight_column, 1, loss_reduction, logistic_loss, tf.sigmoid, name)
