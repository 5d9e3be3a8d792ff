"""The state space model: a hidden state that moves linearly with noise, and is observed linearly with noise."""

from __future__ import annotations

import abc
from typing import Any

import everflow as tf
from everflow.contrib.layers.core import fully_connected
from everflow.contrib.timeseries.covariances import transform_to_covariance_matrices, variable_covariance_matrix
from everflow.contrib.timeseries.matrices import clip_covariance, matrix_to_powers, power_sums_tensor
from everflow.contrib.timeseries.publishing import published
from everflow.contrib.timeseries.sequential_model import SequentialTimeSeriesModel
from everflow.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from everflow.contrib.timeseries.state_space.generating import generated_series, random_parameters
from everflow.contrib.timeseries.state_space.kalman_filter import KalmanFilter
from everflow.graph.convert import convert_to_tensor


@published("state_space_models.state_space_model.StateSpaceModel")
class StateSpaceModel(SequentialTimeSeriesModel):
    """A model given by its transition, the way noise enters it, and how it is observed. Its state: mean, covariance, time."""

    _kalman_filter: Any = None
    prior_state_mean: Any = None
    prior_state_var: Any = None
    state_transition_noise_covariance: Any = None
    _total_observation_count: Any = None
    _observation_noise_covariance: Any = None

    def __init__(self, configuration: StateSpaceModelConfiguration) -> None:
        self._configuration = configuration
        detector = configuration.filtering_postprocessor
        told = ["mean", "covariance"]
        configured: dict[str, Any] = {
            argument: getattr(configuration, argument)
            for argument in (
                *("num_features", "dtype", "exogenous_feature_columns", "exogenous_update_condition"),
                "static_unrolling_window_size_threshold",
            )
        }
        super().__init__(
            train_output_names=[*told, "log_likelihood", *(detector.output_names if detector is not None else ())],
            predict_output_names=told,
            normalize_features=True,
            **configured,
        )
        self._variable_scope = tf.get_variable_scope()

    # What a model is

    @abc.abstractmethod
    def get_state_transition(self) -> Any:
        """The matrix that moves a state by one step of time."""

    @abc.abstractmethod
    def get_noise_transform(self) -> Any:
        """The matrix from noise to the state."""

    @abc.abstractmethod
    def get_observation_model(self, times: Any) -> Any:
        """The matrix from a state to what is observed: for all times, for all features, or one each."""

    def transition_power_noise_accumulator(self, num_steps: Any) -> Any:
        """The covariance of the noise that so many steps bring."""
        transform = convert_to_tensor(self.get_noise_transform(), self.dtype)
        noise = tf.matmul(tf.matmul(transform, self.state_transition_noise_covariance), transform, transpose_b=True)
        transition = convert_to_tensor(self.get_state_transition(), dtype=self.dtype)
        return tf.gather(power_sums_tensor(tf.reduce_max(num_steps) + 1, transition, noise), indices=num_steps)

    def transition_to_powers(self, powers: Any) -> Any:
        """The transitions of so many steps."""
        return matrix_to_powers(convert_to_tensor(self.get_state_transition(), dtype=self.dtype), powers)

    def get_broadcasted_observation_model(self, times: Any) -> Any:
        """A matrix for each time."""
        model = convert_to_tensor(self.get_observation_model(times), dtype=self.dtype)
        rank = model.get_shape().with_rank_at_least(1).with_rank_at_most(3).ndims
        if rank is None:
            with tf.control_dependencies([tf.Assert(tf.equal(tf.rank(model), 3), [tf.shape(model)])]):
                return tf.identity(model)
        if rank == 1:
            return tf.tile(tf.reshape(model, shape=[1, 1, -1]), [tf.shape(times)[0], self.num_features, 1])
        if rank == 2:
            return tf.tile(tf.expand_dims(model, axis=0), [tf.shape(times)[0], 1, 1])
        return model

    def get_features_for_timesteps(self, timesteps: Any) -> Any:
        """No features."""
        return tf.zeros([tf.shape(timesteps)[0], 0], dtype=self.dtype)

    # Parameters

    def _variable_observation_transition_tradeoff_log(self) -> Any:
        bias = tf.constant(-self._configuration.transition_covariance_initial_log_scale_bias, dtype=self.dtype)
        return tf.get_variable(name="observation_transition_tradeoff_log_scale", initializer=bias, dtype=self.dtype)

    def _define_parameters(self, observation_transition_tradeoff_log: Any = None) -> None:
        with tf.variable_scope(self._variable_scope):
            if observation_transition_tradeoff_log is None:
                observation_transition_tradeoff_log = self._variable_observation_transition_tradeoff_log()
            self._observation_transition_tradeoff_log_scale = observation_transition_tradeoff_log
            self.state_transition_noise_covariance = self.get_state_transition_noise_covariance()

    def _set_input_statistics(self, input_statistics: Any = None) -> None:
        super().initialize_graph(input_statistics=input_statistics)

    def initialize_graph(self, input_statistics: Any = None) -> None:
        self._set_input_statistics(input_statistics)
        self._define_parameters()
        self._observation_noise_covariance = self._observation_noise()
        self._kalman_filter = KalmanFilter(dtype=self.dtype)
        self.prior_state_mean, self.prior_state_var = self._make_priors()

    def _observation_noise(self) -> Any:
        with tf.variable_scope(self._variable_scope):
            return convert_to_tensor(self.get_observation_noise_covariance(), dtype=self.dtype)

    def _make_priors(self) -> tuple[Any, Any]:
        covariance = self.get_prior_covariance()
        return self.get_prior_mean(), covariance

    def get_prior_covariance(self) -> Any:
        """The covariance of the state that series start with."""
        with tf.variable_scope(self._variable_scope):
            size: Any = convert_to_tensor(self.get_state_transition()).get_shape().as_list()[0]
            if not self._configuration.trainable_start_state:
                return tf.eye(size, dtype=self.dtype)
            covariance = variable_covariance_matrix(size, "prior_state_var", dtype=self.dtype)
            if self._input_statistics is None:
                return covariance
            widest = tf.reduce_max(self._scale_variance(self._input_statistics.series_start_moments.variance))
            return covariance * tf.maximum(widest, 1.0)

    def get_prior_mean(self) -> Any:
        """The mean of the state that series start with."""
        with tf.variable_scope(self._variable_scope):
            size = convert_to_tensor(self.get_state_transition(), dtype=self.dtype).get_shape().as_list()[0]
            return self._start_variable([size])

    def _start_variable(self, shape: Any, **how: Any) -> Any:
        trainable = self._configuration.trainable_start_state
        return tf.get_variable("prior_state_mean", shape, self.dtype, trainable=trainable, **how)

    def get_state_transition_noise_covariance(self, minimum_initial_variance: float = 1e-5) -> Any:
        """The covariance of the noise of one step, which can be learnt."""
        size: Any = convert_to_tensor(self.get_noise_transform(), dtype=self.dtype).get_shape().as_list()[1]
        scale: Any = 0.0
        statistics = self._input_statistics
        if statistics is not None:
            variance = tf.reduce_mean(self._scale_variance(statistics.series_start_moments.variance))
            per_step = variance / tf.cast(statistics.total_observation_count, self.dtype)
            scale = tf.log(tf.maximum(per_step, minimum_initial_variance))
        scale -= self._observation_transition_tradeoff_log_scale
        return variable_covariance_matrix(size, "state_transition_noise", dtype=self.dtype, initial_overall_scale_log=scale)

    def get_observation_noise_covariance(self, minimum_initial_variance: float = 1e-5) -> Any:
        """The covariance of the noise of observations, which can be learnt; zeros without such noise."""
        name = "observation_noise_covariance"
        if not self._configuration.use_observation_noise:
            return tf.zeros(shape=[self.num_features, self.num_features], name=name, dtype=self.dtype)
        variance = None
        if self._input_statistics is not None:
            variance = self._scale_variance(self._input_statistics.series_start_moments.variance)
            variance = tf.maximum(variance, minimum_initial_variance)
        return variable_covariance_matrix(
            size=self.num_features,
            dtype=self.dtype,
            name=name,
            initial_diagonal_values=variance,
            initial_overall_scale_log=self._observation_transition_tradeoff_log_scale,
        )

    def get_start_state(self) -> Any:
        statistics = self._input_statistics
        start = tf.zeros([], dtype=tf.int64) if statistics is None else statistics.start_time
        return self.prior_state_mean, self.prior_state_var, start - 1

    # Steps

    def _window_initializer(self, times: Any, state: Any) -> None:
        """Computes transitions and noise for each gap in the window, once however often it comes."""
        times, since = convert_to_tensor(times), convert_to_tensor(state[2])
        inside = tf.reshape(times[:, 1:] - times[:, :-1], [-1])
        before = tf.maximum(times[:, 0] - since, 0)
        gaps, _ = tf.unique(tf.concat([inside, before], axis=0))
        self._window_power_sums = self.transition_power_noise_accumulator(gaps)
        self._window_transition_powers = self.transition_to_powers(gaps)
        self._window_gap_sizes = gaps

    def _cached_transition_powers_and_sums(self, num_steps: Any) -> list[Any]:
        gaps = self._window_gap_sizes
        # Ids of unique values are those of the gaps themselves, as they come first.
        _, ids = tf.unique(tf.concat([gaps, tf.cast(num_steps, gaps.dtype)], axis=0))
        found = []
        for cache in (self._window_transition_powers, self._window_power_sums):
            matrices = tf.gather(cache, ids[-tf.shape(num_steps)[0] :])
            matrices.set_shape(num_steps.get_shape().concatenate(matrices.get_shape()[-2:]))
            found.append(matrices)
        return found

    def _imputation_step(self, current_times: Any, state: Any) -> Any:
        mean, variance, since = state
        steps = tf.maximum(current_times - since, 0)
        transitions, noise = self._cached_transition_powers_and_sums(steps)
        mean = self._kalman_filter.predict_state_mean(mean, transitions)
        variance = self._kalman_filter.predict_state_var(variance, transitions, noise)
        return mean, variance, since + steps

    def _prediction_step(self, current_times: Any, state: Any) -> Any:
        mean, variance, since = state
        imputed = tf.Assert(tf.reduce_all(tf.less_equal(current_times, since)), ["Attempted to predict without imputation"])
        batch, size = convert_to_tensor(current_times).get_shape(), self.num_features
        with tf.control_dependencies([imputed]):
            observed, observed_var = self._kalman_filter.observed_from_state(
                state_mean=mean,
                state_var=variance,
                observation_model=self.get_broadcasted_observation_model(current_times),
                observation_noise=self._observation_noise_covariance,
            )
        observed.set_shape(batch.concatenate((size,)))
        observed_var.set_shape(batch.concatenate((size, size)))
        return (mean, variance, current_times), {"mean": observed, "covariance": observed_var}

    def _filtering_step(self, current_times: Any, current_values: Any, state: Any, predictions: dict[str, Any]) -> Any:
        mean, variance, since = state
        observation_model = self.get_broadcasted_observation_model(current_times)
        message = "Attempted to perform filtering without imputation/prediction"
        imputed = tf.Assert(tf.reduce_all(tf.equal(current_times, since)), [message])
        settings = self._configuration
        with tf.control_dependencies([imputed]):
            variance = clip_covariance(
                variance, settings.filtering_maximum_posterior_variance_ratio, settings.filtering_minimum_posterior_variance
            )
            mean, variance, log_prob = self._kalman_filter.do_filter(
                estimated_state=mean,
                estimated_state_covariance=variance,
                predicted_observation=predictions["mean"],
                predicted_observation_covariance=predictions["covariance"],
                observation=current_values,
                observation_model=observation_model,
                observation_noise=self._observation_noise_covariance,
            )
        filtered = (mean, variance, current_times)
        log_prob.set_shape(current_times.get_shape())
        predictions["loss"] = -log_prob
        predictions["log_likelihood"] = log_prob
        if settings.filtering_postprocessor is None:
            return filtered, predictions
        return settings.filtering_postprocessor.process_filtering_step(
            current_times=current_times, current_values=current_values, predicted_state=state, filtered_state=filtered, outputs=predictions
        )

    def _scale_back_predictions(self, predictions: dict[str, Any]) -> dict[str, Any]:
        predictions["mean"] = self._scale_back_data(predictions["mean"])
        predictions["covariance"] = self._scale_back_variance(predictions["covariance"])
        return predictions

    def _exogenous_noise_decreasing(self, current_times: Any, exogenous_values: Any, state: Any) -> Any:
        """Exogenous features as observations of the whole state, with a noise of their own: they make it surer."""
        mean, variance, since = state
        size: Any = convert_to_tensor(self.get_state_transition(), dtype=self.dtype).get_shape().as_list()[0]
        everything = tf.eye(size, batch_shape=tf.shape(exogenous_values)[:-1], dtype=self.dtype)
        with tf.variable_scope("exogenous_noise_decreasing_covariance"):
            noise = transform_to_covariance_matrices(exogenous_values, size)
        with tf.variable_scope("exogenous_noise_decreasing_observation"):
            observation = fully_connected(exogenous_values, size, activation_fn=None)
        mean, variance = self._kalman_filter.posterior_from_prior_state(
            prior_state=mean,
            prior_state_var=variance,
            observation=observation,
            observation_model=everything,
            predicted_observations=(mean, noise + variance),
            observation_noise=noise,
        )
        return mean, variance, since

    def _exogenous_noise_increasing(self, current_times: Any, exogenous_values: Any, state: Any) -> Any:
        """Exogenous features move the state, and make it less sure."""
        mean, variance, since = state
        with tf.variable_scope("exogenous_noise_increasing_mean"):
            move = fully_connected(exogenous_values, mean.get_shape().as_list()[1], activation_fn=None)
        with tf.variable_scope("exogenous_noise_increasing_covariance"):
            doubt = transform_to_covariance_matrices(exogenous_values, variance.get_shape().as_list()[1])
        return mean + move, variance + doubt, since

    def _exogenous_input_step(self, current_times: Any, current_exogenous_regressors: Any, state: Any) -> Any:
        settings = self._configuration
        updates = {
            self._exogenous_noise_decreasing: settings.exogenous_noise_decreases,
            self._exogenous_noise_increasing: settings.exogenous_noise_increases,
        }
        for update, wanted in updates.items():
            state = update(current_times, current_exogenous_regressors, state) if wanted else state
        return state

    def _loss_additions(self, times: Any, values: Any, mode: str) -> Any:
        """In training, the prior of the covariances, weighed as one observation of the series or of the window."""
        if mode != tf.estimator.ModeKeys.TRAIN:
            return tf.zeros([], dtype=self.dtype)
        settings = self._configuration
        if self._input_statistics is not None and settings.bayesian_prior_weighting:
            count = self._input_statistics.total_observation_count
        else:
            count = tf.shape(times)[1]
        weight = 1.0 / tf.cast(count, self.dtype)
        prior = convert_to_tensor(settings.covariance_prior_fn(self.state_transition_noise_covariance), dtype=self.dtype)
        if settings.use_observation_noise and self._observation_noise_covariance is not None:
            prior += convert_to_tensor(settings.covariance_prior_fn(self._observation_noise_covariance), dtype=self.dtype)
        return -weight * prior

    # Series that the model would make

    def random_model_parameters(self, seed: int | None = None) -> dict[Any, Any]:
        """Parameters to generate series with: {tensor: value to feed}."""
        return random_parameters(self, seed)

    def generate(  # type: ignore[override]
        self,
        number_of_series: int,
        series_length: int,
        model_parameters: dict[Any, Any] | None = None,
        seed: int | None = None,
        add_observation_noise: bool | None = None,
    ) -> dict[str, Any]:
        """Series drawn from the model, in the default session."""
        noisy = self._configuration.use_observation_noise if add_observation_noise is None else add_observation_noise
        return generated_series(self, number_of_series, series_length, model_parameters or {}, seed, noisy)
