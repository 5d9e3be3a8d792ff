"""Heads for numbers: squared errors, and counts by Poisson's law."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.contrib.learn.heads.base import MODULE, LossFunction, SingleHead, column, weighted_loss
from everflow.contrib.learn.problem_types import PredictionKey, ProblemType
from everflow.contrib.learn.publishing import learn


def _columns(labels: Any, logits: Any) -> tuple[Any, Any]:
    logits, labels = column(tf.convert_to_tensor(logits)), column(tf.convert_to_tensor(labels))
    logits.get_shape().assert_is_compatible_with(labels.get_shape())
    return labels, logits


def _squared_errors(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
    with tf.name_scope(None, "mean_squared_loss", (logits, labels)) as name:
        labels, logits = _columns(labels, logits)
        return weighted_loss(tf.squared_difference(logits, tf.cast(labels, tf.float32), name=name), weights)


def _poisson_losses(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
    with tf.name_scope(None, "_poisson_loss", (logits, labels)) as name:
        labels, logits = _columns(labels, logits)
        return weighted_loss(tf.nn.log_poisson_loss(labels, logits, compute_full_loss=True, name=name), weights)


@learn(MODULE, "_RegressionHead")
class RegressionHead(SingleHead):
    """Numbers, by a loss and a function that makes them of logits."""

    scope_name = "regression_head"

    def __init__(
        self,
        label_dimension: int,
        loss_fn: LossFunction,
        link_fn: Any,
        logits_dimension: Any = None,
        label_name: Any = None,
        weight_column_name: Any = None,
        enable_centered_bias: bool = False,
        head_name: Any = None,
    ) -> None:
        dimension = label_dimension if logits_dimension is None else logits_dimension
        super().__init__(ProblemType.LINEAR_REGRESSION, dimension, label_name, weight_column_name, head_name, enable_centered_bias)
        self._loss_fn, self._link_fn = loss_fn, link_fn

    def _loss(self, labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
        return self._loss_fn(labels, logits, weights)

    def _predictions(self, logits: Any) -> dict[str, Any]:
        if self.logits_dimension == 1:
            logits = tf.squeeze(logits, axis=(1,), name=PredictionKey.SCORES)
        return {PredictionKey.SCORES: self._link_fn(logits)}

    def _measured(self, predictions: Any, labels: Any, weights: Any) -> dict[str, Any]:
        return {}


@learn(MODULE, "regression_head", shown=True)
def regression_head(
    label_name: Any = None,
    weight_column_name: Any = None,
    label_dimension: int = 1,
    enable_centered_bias: bool = False,
    head_name: Any = None,
    link_fn: Any = None,
) -> RegressionHead:
    """Numbers, by squared errors."""
    return RegressionHead(
        label_dimension=label_dimension,
        loss_fn=_squared_errors,
        link_fn=tf.identity if link_fn is None else link_fn,
        label_name=label_name,
        weight_column_name=weight_column_name,
        enable_centered_bias=enable_centered_bias,
        head_name=head_name,
    )


@learn(MODULE, "poisson_regression_head", shown=True)
def poisson_regression_head(
    label_name: Any = None,
    weight_column_name: Any = None,
    label_dimension: int = 1,
    enable_centered_bias: bool = False,
    head_name: Any = None,
) -> RegressionHead:
    """Counts, by the likelihood of Poisson's law."""
    return RegressionHead(
        label_dimension=label_dimension,
        loss_fn=_poisson_losses,
        link_fn=tf.exp,
        label_name=label_name,
        weight_column_name=weight_column_name,
        enable_centered_bias=enable_centered_bias,
        head_name=head_name,
    )
