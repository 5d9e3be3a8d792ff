"""What comes after a step of filtering: doubt about observations that may be anomalies."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import nest
from everflow.contrib.timeseries.densities import cauchy_log_prob, entropy_matched_cauchy_scale
from everflow.contrib.timeseries.publishing import published
from everflow.graph.convert import convert_to_tensor

BELOW = "state_space_models.filtering_postprocessor."


@published(BELOW + "FilteringStepPostprocessor")
class FilteringStepPostprocessor(abc.ABC):
    """Changes the state and the outputs of each step of filtering."""

    @abc.abstractmethod
    def process_filtering_step(
        self, current_times: Any, current_values: Any, predicted_state: Any, filtered_state: Any, outputs: dict[str, Any]
    ) -> tuple[Any, dict[str, Any]]:
        """(State, outputs) after a step, given the state before and after the observation."""

    @property
    @abc.abstractmethod
    def output_names(self) -> list[str]:
        """The outputs that it adds."""


@published(BELOW + "cauchy_alternative_to_gaussian")
def cauchy_alternative_to_gaussian(current_times: Any, current_values: Any, outputs: dict[str, Any]) -> Any:
    """The log likelihood of values under Cauchy distributions as wide as the predicted normal ones."""
    del current_times
    scale = entropy_matched_cauchy_scale(outputs["covariance"])
    return tf.reduce_sum(cauchy_log_prob(loc=outputs["mean"], scale=scale, x=current_values), axis=1)


def _between(first: Any, second: Any, weight: Any) -> Any:
    """A mix of two tensors of states, of which the first has the weight; what is no number must be the same in both."""
    assert first.dtype == second.dtype
    if not first.dtype.is_floating:
        with tf.control_dependencies([tf.assert_equal(first, second)]):
            return tf.identity(first)
    weight = tf.reshape(weight, tf.concat([tf.shape(weight), tf.ones([tf.rank(first) - 1], dtype=tf.int32)], 0))
    mixed = weight * first + (1.0 - weight) * second
    mixed.set_shape(first.get_shape())
    return mixed


@published(BELOW + "StateInterpolatingAnomalyDetector")
class StateInterpolatingAnomalyDetector(FilteringStepPostprocessor):
    """Believes an observation only as far as it is likelier than an anomaly; `anomaly_score` is the log of the odds."""

    output_names = ["anomaly_score"]  # type: ignore[assignment]

    def __init__(
        self,
        anomaly_log_likelihood: Callable[..., Any] = cauchy_alternative_to_gaussian,
        anomaly_prior_probability: float = 0.01,
        responsibility_scaling: float = 1.0,
    ) -> None:
        self._anomaly_log_likelihood = anomaly_log_likelihood
        self._responsibility_scaling = responsibility_scaling
        self._anomaly_prior_probability = anomaly_prior_probability

    def process_filtering_step(
        self, current_times: Any, current_values: Any, predicted_state: Any, filtered_state: Any, outputs: dict[str, Any]
    ) -> tuple[Any, dict[str, Any]]:
        likelihood = self._anomaly_log_likelihood(current_times=current_times, current_values=current_values, outputs=outputs)
        prior = convert_to_tensor(self._anomaly_prior_probability, dtype=current_values.dtype)
        anomaly = likelihood + tf.log(prior)
        usual = outputs["log_likelihood"] + tf.log(1.0 - prior)
        odds = anomaly - usual
        belief = tf.sigmoid(-self._responsibility_scaling * odds)
        pairs = zip(nest.flatten(filtered_state), nest.flatten(predicted_state), strict=True)
        state = nest.pack_sequence_as(filtered_state, [_between(filtered, predicted, belief) for filtered, predicted in pairs])
        outputs["loss"] = -(belief * usual + (1.0 - belief) * anomaly)
        outputs["anomaly_score"] = odds
        return state, outputs
