"""The Kalman filter's steps, for a batch of states."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.contrib.timeseries.densities import mvn_tril_log_prob
from everflow.contrib.timeseries.matrices import batch_times_matrix
from everflow.contrib.timeseries.publishing import published
from everflow.graph.convert import convert_to_tensor

ADVICE = (
    "This may occur due to numerically unstable filtering when there is a large difference in posterior variances, or when inferences "
    "are near-deterministic. Considering tuning the 'filtering_maximum_posterior_variance_ratio' or "
    "'filtering_minimum_posterior_variance' parameters in your StateSpaceModelConfiguration, or tuning the transition matrix."
)


@published("state_space_models.kalman_filter.KalmanFilter")
class KalmanFilter:
    """Means and covariances of states: moved on in time, observed, and corrected by observations."""

    def __init__(self, dtype: Any = tf.float32, simplified_posterior_covariance_computation: bool = False) -> None:
        self._simplified_posterior_covariance_computation = simplified_posterior_covariance_computation
        self.dtype = dtype

    def do_filter(
        self,
        estimated_state: Any,
        estimated_state_covariance: Any,
        predicted_observation: Any,
        predicted_observation_covariance: Any,
        observation: Any,
        observation_model: Any,
        observation_noise: Any,
    ) -> tuple[Any, Any, Any]:
        """(Mean and covariance of the state that knows an observation, the log probability of the observation)."""
        covariance = 0.5 * (predicted_observation_covariance + tf.matrix_transpose(predicted_observation_covariance))
        covariance = tf.verify_tensor_all_finite(covariance, f"Predicted observation covariance was not finite. {ADVICE}")
        smallest = tf.reduce_min(tf.matrix_diag_part(covariance))
        message = f"The predicted observation covariance has a negative diagonal entry. {ADVICE}"
        with tf.control_dependencies([tf.Assert(smallest >= 0.0, [message, smallest])]):
            factor = tf.cholesky(covariance)
        log_prob = mvn_tril_log_prob(loc=predicted_observation, scale_tril=factor, x=observation)
        mean, variance = self.posterior_from_prior_state(
            prior_state=estimated_state,
            prior_state_var=estimated_state_covariance,
            observation=observation,
            observation_model=observation_model,
            predicted_observations=(predicted_observation, predicted_observation_covariance),
            observation_noise=observation_noise,
        )
        return mean, variance, log_prob

    def predict_state_mean(self, prior_state: Any, transition_matrices: Any) -> Any:
        """The mean after transitions."""
        return tf.squeeze(tf.matmul(transition_matrices, prior_state[..., None]), axis=[-1])

    def predict_state_var(self, prior_state_var: Any, transition_matrices: Any, transition_noise_sums: Any) -> Any:
        """The covariance after transitions and their noise."""
        moved = tf.matmul(tf.matmul(transition_matrices, prior_state_var), transition_matrices, adjoint_b=True)
        return moved + transition_noise_sums

    def posterior_from_prior_state(
        self,
        prior_state: Any,
        prior_state_var: Any,
        observation: Any,
        observation_model: Any,
        predicted_observations: Any,
        observation_noise: Any,
    ) -> tuple[Any, Any]:
        """(Mean, covariance) of the state that knows an observation; the covariance by Joseph's form, which stays symmetric."""
        expected, expected_var = predicted_observations
        residual = observation - expected
        right = tf.matmul(observation_model, prior_state_var, adjoint_b=True)
        gain = tf.matrix_solve(matrix=expected_var, rhs=right, adjoint=True)  # transposed
        correction = tf.matmul(gain, tf.expand_dims(residual, -1), adjoint_a=True)
        mean = prior_state + tf.squeeze(correction, axis=[-1])
        seen = tf.matmul(gain, observation_model, adjoint_a=True)
        unseen = tf.eye(tf.shape(seen)[1], dtype=seen.dtype)[None] - seen
        if self._simplified_posterior_covariance_computation:
            return mean, tf.matmul(unseen, prior_state_var)
        noise = convert_to_tensor(observation_noise)
        left = tf.matmul(unseen, prior_state_var)
        variance = tf.matmul(unseen, left, adjoint_b=True)

        def with_noise_of_each() -> Any:
            return variance + tf.matmul(tf.matmul(gain, noise, adjoint_a=True), gain)

        def with_one_noise() -> Any:
            return variance + tf.matmul(batch_times_matrix(gain, noise, adj_x=True), gain)

        rank = noise.get_shape().ndims
        if rank is None:
            return mean, tf.cond(tf.equal(tf.rank(noise), 2), with_one_noise, with_noise_of_each)
        return mean, with_one_noise() if rank == 2 else with_noise_of_each()

    def observed_from_state(self, state_mean: Any, state_var: Any, observation_model: Any, observation_noise: Any) -> tuple[Any, Any]:
        """(Mean, covariance) of what would be observed."""
        mean = tf.squeeze(tf.matmul(tf.expand_dims(state_mean, 1), observation_model, adjoint_b=True), axis=[1])
        variance = tf.matmul(tf.matmul(observation_model, state_var), observation_model, adjoint_b=True)
        return mean, variance + observation_noise
