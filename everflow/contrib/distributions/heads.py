"""A head of estimators whose predictions are the means of distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.contrib.learn.heads.base import weighted_loss
from everflow.contrib.learn.heads.regression import RegressionHead
from everflow.graph.scopes import name_scope


@internal("contrib.distributions.python.ops.estimator._DistributionRegressionHead")
class DistributionRegressionHead(RegressionHead):
    """Numbers with the distribution that a function makes of logits; the loss is their negative log-probability."""

    def __init__(
        self,
        make_distribution_fn: Callable[..., Any],
        label_dimension: int,
        logits_dimension: Any = None,
        label_name: Any = None,
        weight_column_name: Any = None,
        enable_centered_bias: bool = False,
        head_name: Any = None,
    ) -> None:
        if not callable(make_distribution_fn):
            raise TypeError("`make_distribution_fn` must be a callable function.")
        self._make_distribution_fn = make_distribution_fn
        self._distributions: dict[Any, Any] = {}
        super().__init__(
            label_dimension=label_dimension,
            loss_fn=self._negative_log_prob,
            link_fn=lambda logits: self.distribution(logits).mean(),
            logits_dimension=logits_dimension,
            label_name=label_name,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
            head_name=head_name,
        )

    def _negative_log_prob(self, labels: Any, logits: Any, weights: Any = None) -> Any:
        distribution = self.distribution(logits)
        shape = tf.concat([tf.shape(labels)[:-1], distribution.event_shape_tensor()], 0)
        return weighted_loss(-distribution.log_prob(tf.reshape(labels, shape)), weights)

    @property
    def distributions(self) -> dict[Any, Any]:
        """The distributions made so far, by logits."""
        return self._distributions

    def distribution(self, logits: Any, name: str | None = None) -> Any:
        """The distribution of these logits."""
        with name_scope(name, "distribution", [logits]):
            if logits not in self._distributions:
                self._distributions[logits] = self._make_distribution_fn(logits)
            return self._distributions[logits]


@public("contrib.distributions.estimator_head_distribution_regression")
def estimator_head_distribution_regression(
    make_distribution_fn: Callable[..., Any],
    label_dimension: int = 1,
    logits_dimension: Any = None,
    label_name: Any = None,
    weight_column_name: Any = None,
    enable_centered_bias: bool = False,
    head_name: Any = None,
) -> DistributionRegressionHead:
    """A head for numbers with the distribution that a function makes of logits."""
    return DistributionRegressionHead(
        make_distribution_fn, label_dimension, logits_dimension, label_name, weight_column_name, enable_centered_bias, head_name
    )
