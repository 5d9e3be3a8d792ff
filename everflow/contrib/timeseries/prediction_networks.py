"""The networks inside autoregressive models: from windows of features to means and variances."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.contrib.rnn.block_cells import LSTMBlockFusedCell
from everflow.contrib.timeseries.publishing import published
from everflow.keras.model import Model


@published("ar_model.FlatPredictionModel")
class FlatPredictionModel(Model):
    """Dense layers over all features of both windows at once."""

    def __init__(self, num_features: int, input_window_size: int, output_window_size: int, hidden_layer_sizes: Any = None) -> None:
        super().__init__()
        layers = tf.keras.layers
        self._input_flatten = layers.Flatten()
        self._output_flatten = layers.Flatten()
        self._hidden_layers: Any = None
        if hidden_layer_sizes:
            self._hidden_layers = tf.keras.Sequential([layers.Dense(size, activation=tf.nn.relu) for size in hidden_layer_sizes])
        self._mean_transform = layers.Dense(num_features * output_window_size, name="predicted_mean")
        self._covariance_transform = layers.Dense(num_features * output_window_size, name="log_sigma_square")
        self._prediction_shape = [-1, output_window_size, num_features]

    def call(self, input_window_features: Any, output_window_features: Any) -> dict[str, Any]:  # type: ignore[override]
        if input_window_features.get_shape().as_list()[1] == 0:
            activation = self._output_flatten(output_window_features)
        elif output_window_features.get_shape().as_list()[2] == 0:
            activation = self._input_flatten(input_window_features)
        else:
            activation = tf.concat([self._input_flatten(input_window_features), self._output_flatten(output_window_features)], axis=1)
        if self._hidden_layers:
            activation = self._hidden_layers(activation)
        mean = tf.reshape(self._mean_transform(activation), self._prediction_shape)
        variance = tf.reshape(tf.exp(self._covariance_transform(activation)), self._prediction_shape)
        return {"mean": mean, "covariance": variance}


@published("ar_model.LSTMPredictionModel")
class LSTMPredictionModel(Model):
    """An LSTM that reads the input window, and another that goes on from its state over the output window."""

    def __init__(self, num_features: int, input_window_size: int, output_window_size: int, num_units: int = 128) -> None:
        super().__init__()
        self._encoder = LSTMBlockFusedCell(num_units=num_units, name="encoder")
        self._decoder = LSTMBlockFusedCell(num_units=num_units, name="decoder")
        self._mean_transform = tf.keras.layers.Dense(num_features, name="mean_transform")
        self._covariance_transform = tf.keras.layers.Dense(num_features, name="covariance_transform")

    def call(self, input_window_features: Any, output_window_features: Any) -> dict[str, Any]:  # type: ignore[override]
        by_time = [tf.transpose(window, [1, 0, 2]) for window in (input_window_features, output_window_features)]
        _, state = self._encoder(by_time[0], dtype=self.dtype)
        outputs, _ = self._decoder(by_time[1], dtype=self.dtype, initial_state=state)
        outputs = tf.transpose(outputs, [1, 0, 2])
        return {"mean": self._mean_transform(outputs), "covariance": tf.exp(self._covariance_transform(outputs))}
