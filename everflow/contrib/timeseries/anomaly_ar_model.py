"""Autoregressive models that allow for anomalies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.contrib.timeseries.ar_model import ARModel
from everflow.contrib.timeseries.densities import cauchy_log_prob, normal_log_prob
from everflow.contrib.timeseries.prediction_networks import FlatPredictionModel
from everflow.contrib.timeseries.publishing import published


@published("ar_model.AnomalyMixtureARModel")
class AnomalyMixtureARModel(ARModel):
    """Values come from the model, or with a small probability from a wider distribution whose width is learnt."""

    GAUSSIAN_ANOMALY = "gaussian"
    CAUCHY_ANOMALY = "cauchy"

    def __init__(
        self,
        periodicities: Any,
        anomaly_prior_probability: float,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        prediction_model_factory: Callable[..., Any] = FlatPredictionModel,
        anomaly_distribution: str = GAUSSIAN_ANOMALY,
        num_time_buckets: int = 10,
        exogenous_feature_columns: Any = None,
    ) -> None:
        assert 0.0 < anomaly_prior_probability < 1.0
        assert anomaly_distribution in (self.GAUSSIAN_ANOMALY, self.CAUCHY_ANOMALY)
        self._anomaly_prior_probability = anomaly_prior_probability
        self._anomaly_distribution = anomaly_distribution
        super().__init__(
            periodicities=periodicities,
            num_features=num_features,
            num_time_buckets=num_time_buckets,
            input_window_size=input_window_size,
            output_window_size=output_window_size,
            loss=ARModel.NORMAL_LIKELIHOOD_LOSS,
            prediction_model_factory=prediction_model_factory,
            exogenous_feature_columns=exogenous_feature_columns,
        )

    def prediction_ops(self, times: Any, values: Any, exogenous_regressors: Any) -> dict[str, Any]:
        predictions = super().prediction_ops(times, values, exogenous_regressors)
        log_width = tf.get_variable("anomaly_log_param", shape=[], dtype=self.dtype, initializer=tf.zeros_initializer())
        predictions["anomaly_params"] = tf.exp(log_width)
        return predictions

    def _anomaly_log_prob(self, targets: Any, prediction_ops: dict[str, Any]) -> Any:
        mean, width = prediction_ops["mean"], prediction_ops["anomaly_params"]
        if self._anomaly_distribution == self.GAUSSIAN_ANOMALY:
            return normal_log_prob(targets, tf.sqrt(tf.maximum(width, 1e-5)), mean)
        return cauchy_log_prob(targets, width, mean)

    def loss_op(self, targets: Any, prediction_ops: dict[str, Any]) -> Any:
        sigma = tf.sqrt(tf.maximum(prediction_ops["covariance"], 1e-5))
        usual = normal_log_prob(targets, sigma, prediction_ops["mean"])
        usual += tf.log(1 - self._anomaly_prior_probability)
        anomalous = self._anomaly_log_prob(targets, prediction_ops)
        anomalous += tf.log(self._anomaly_prior_probability)
        less, more = tf.minimum(usual, anomalous), tf.maximum(usual, anomalous)
        mixed = more + tf.log(1 + tf.exp(less - more))
        loss = -tf.reduce_sum(mixed)
        return loss / tf.cast(tf.reduce_prod(tf.shape(targets)), self.dtype)
