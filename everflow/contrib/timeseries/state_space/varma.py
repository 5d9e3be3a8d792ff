"""Vector autoregression with moving averages."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.contrib.timeseries.covariances import variable_covariance_matrix
from everflow.contrib.timeseries.publishing import published
from everflow.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from everflow.contrib.timeseries.state_space.model import StateSpaceModel
from everflow.graph.convert import convert_to_tensor


@published("state_space_models.varma.VARMA")
class VARMA(StateSpaceModel):
    """State: as many blocks of features as the orders need. Old blocks move down, the first is their weighted sum."""

    def __init__(
        self, autoregressive_order: int, moving_average_order: int, configuration: StateSpaceModelConfiguration | None = None
    ) -> None:
        self.ar_order = autoregressive_order
        self.ma_order = moving_average_order
        self.state_num_blocks = max(autoregressive_order, moving_average_order + 1)
        super().__init__(configuration=StateSpaceModelConfiguration() if configuration is None else configuration)
        self.state_dimension = self.state_num_blocks * self.num_features

    def _identity(self, blocks: int = 1) -> Any:
        return tf.eye(blocks * self.num_features, dtype=self.dtype)

    def _define_parameters(self, observation_transition_tradeoff_log: Any = None) -> None:
        with tf.variable_scope(self._variable_scope):
            size = self.num_features
            zeros = tf.zeros_initializer()
            self.ar_coefs = tf.get_variable("ar_coefs", shape=[size, size, self.ar_order], dtype=self.dtype, initializer=zeros)
            unit = tf.tile(self._identity()[None, :, :], [self.ma_order, 1, 1])
            self.ma_coefs = tf.get_variable("ma_coefs", initializer=unit, dtype=self.dtype)
        super()._define_parameters(observation_transition_tradeoff_log=observation_transition_tradeoff_log)

    def get_state_transition(self) -> Any:
        padding = [[0, 0], [0, 0], [0, self.state_num_blocks - self.ar_order]]
        weights = tf.reshape(tf.pad(self.ar_coefs, padding), [self.num_features, self.state_dimension])
        shift = tf.pad(self._identity(self.state_num_blocks - 1), [[0, 0], [0, self.num_features]])
        return tf.concat([weights, shift], axis=0)

    def get_noise_transform(self) -> Any:
        padding = [[self.state_num_blocks - 1 - self.ma_order, 0], [0, 0], [0, 0]]
        shape = [(self.state_num_blocks - 1) * self.num_features, self.num_features]
        averaging = tf.reshape(tf.pad(self.ma_coefs, padding), shape, name="noise_transform")
        return tf.concat([averaging, self._identity()], axis=0)

    def get_observation_model(self, times: Any) -> Any:
        """The first block; with moving averages the last one too, where noise comes in."""
        del times
        name = "observation_model"
        if self.ar_order > self.ma_order or self.state_num_blocks < 2:
            return tf.pad(self._identity(), [[0, 0], [0, self.num_features * (self.state_num_blocks - 1)]], name=name)
        first = tf.pad(self._identity(), [[0, 0], [0, self.num_features * (self.state_num_blocks - 2)]])
        return tf.concat([first, self._identity()], axis=1, name=name)

    def get_state_transition_noise_covariance(self, minimum_initial_variance: float = 1e-5) -> Any:
        scale: Any = 0.0
        if self._input_statistics is not None:
            variance = self._scale_variance(self._input_statistics.series_start_moments.variance)
            scale = tf.log(tf.maximum(tf.reduce_mean(variance), minimum_initial_variance))
        size: Any = convert_to_tensor(self.get_noise_transform(), dtype=self.dtype).get_shape().as_list()[1]
        return variable_covariance_matrix(size, "state_transition_noise", dtype=self.dtype, initial_overall_scale_log=scale)
