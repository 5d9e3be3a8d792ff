"""Level and trend: a line whose height and slope drift."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.contrib.timeseries.publishing import published
from everflow.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from everflow.contrib.timeseries.state_space.model import StateSpaceModel
from everflow.graph.convert import convert_to_tensor


@published("state_space_models.level_trend.AdderStateSpaceModel")
class AdderStateSpaceModel(StateSpaceModel):
    """State: level and slope; the slope is added to the level at each step."""

    def __init__(self, use_level_noise: bool = True, configuration: StateSpaceModelConfiguration | None = None) -> None:
        self.use_level_noise = use_level_noise
        super().__init__(configuration=StateSpaceModelConfiguration() if configuration is None else configuration)

    def get_prior_mean(self) -> Any:
        """The mean of the first values, and no slope."""
        with tf.variable_scope(self._variable_scope):
            seen = self._input_statistics
            if seen is None:
                return super().get_prior_mean()
            start = tf.stack([tf.reduce_mean(self._scale_data(seen.series_start_moments.mean)), 0.0])
            return start + self._start_variable(start.get_shape(), initializer=tf.zeros_initializer())

    def transition_to_powers(self, powers: Any) -> Any:
        """[[1, n], [0, 1]] for each power n."""
        above_and_left = [(0, 1), (1, 0)]
        nothing_before = tf.zeros([tf.rank(powers), 2], dtype=tf.int32)
        n = tf.pad(powers[..., None, None], tf.concat([nothing_before, above_and_left], axis=0))
        return tf.eye(2, batch_shape=tf.shape(powers), dtype=self.dtype) + tf.cast(n, self.dtype)

    def transition_power_noise_accumulator(self, num_steps: Any) -> Any:
        """Σ [[1, i], [0, 1]] [[a, b], [c, d]] [[1, 0], [i, 1]] over i < n, by the sums of i and i²."""
        shape_of_steps = tf.shape(num_steps)
        n = tf.cast(num_steps, self.dtype)
        last = n - 1
        transform = convert_to_tensor(self.get_noise_transform(), self.dtype)
        noise = tf.matmul(tf.matmul(transform, self.state_transition_noise_covariance), transform, adjoint_b=True)
        a, b, c, d = tf.unstack(tf.reshape(noise, [-1, 4]), axis=1)
        sum_i = last * (last + 1) / 2
        sum_i_squared = sum_i * (2 * last + 1) / 3
        entries = [n * a + sum_i * (b + c) + sum_i_squared * d, n * b + sum_i * d, n * c + sum_i * d, n * d]
        return tf.reshape(tf.stack(axis=1, values=entries), tf.concat([shape_of_steps, [2, 2]], axis=0))

    def get_state_transition(self) -> Any:
        return [[1.0, 1.0], [0.0, 1.0]]

    def get_noise_transform(self) -> Any:
        return [[1.0, 0.0], [0.0, 1.0]] if self.use_level_noise else [[0.0], [1.0]]

    def get_observation_model(self, times: Any) -> Any:
        del times
        return tf.constant([1.0, 0.0], dtype=self.dtype)
