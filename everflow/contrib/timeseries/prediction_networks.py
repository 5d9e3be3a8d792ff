"""The networks inside autoregressive models: from windows of features to means and variances."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.contrib.rnn.block_cells import LSTMBlockFusedCell
from everflow.contrib.timeseries.publishing import published
from everflow.keras.model import Model


def _dense(units: int, *names: str) -> list[Any]:
    return [tf.keras.layers.Dense(units, name=name) for name in names]


@published("ar_model.FlatPredictionModel")
class FlatPredictionModel(Model):
    """Dense layers over all features of both windows at once."""

    def __init__(self, num_features: int, input_window_size: int, output_window_size: int, hidden_layer_sizes: Any = None) -> None:
        super().__init__()
        layers = tf.keras.layers
        self._input_flatten, self._output_flatten = layers.Flatten(), layers.Flatten()
        hidden = [layers.Dense(units, activation=tf.nn.relu) for units in hidden_layer_sizes or ()]
        self._hidden_layers: Any = tf.keras.Sequential(hidden) if hidden else None
        self._mean_transform, self._covariance_transform = _dense(num_features * output_window_size, "predicted_mean", "log_sigma_square")
        self._prediction_shape = [-1, output_window_size, num_features]

    def call(self, input_window_features: Any, output_window_features: Any) -> dict[str, Any]:  # type: ignore[override]
        has_past = input_window_features.get_shape().as_list()[1] != 0
        has_future = not has_past or output_window_features.get_shape().as_list()[2] != 0
        parts = [self._input_flatten(input_window_features)] if has_past else []
        if has_future:
            parts.append(self._output_flatten(output_window_features))
        features = parts[0] if len(parts) == 1 else tf.concat(parts, axis=1)
        if self._hidden_layers:
            features = self._hidden_layers(features)
        mean = tf.reshape(self._mean_transform(features), self._prediction_shape)
        return {"mean": mean, "covariance": tf.reshape(tf.exp(self._covariance_transform(features)), self._prediction_shape)}


@published("ar_model.LSTMPredictionModel")
class LSTMPredictionModel(Model):
    """An LSTM that reads the input window, and another that goes on from its state over the output window."""

    def __init__(self, num_features: int, input_window_size: int, output_window_size: int, num_units: int = 128) -> None:
        super().__init__()
        self._encoder, self._decoder = (LSTMBlockFusedCell(num_units=num_units, name=name) for name in ("encoder", "decoder"))
        self._mean_transform, self._covariance_transform = _dense(num_features, "mean_transform", "covariance_transform")

    def call(self, input_window_features: Any, output_window_features: Any) -> dict[str, Any]:  # type: ignore[override]
        by_time = [tf.transpose(window, [1, 0, 2]) for window in (input_window_features, output_window_features)]
        _, state = self._encoder(by_time[0], dtype=self.dtype)
        outputs, _ = self._decoder(by_time[1], dtype=self.dtype, initial_state=state)
        outputs = tf.transpose(outputs, [1, 0, 2])
        return {"mean": self._mean_transform(outputs), "covariance": tf.exp(self._covariance_transform(outputs))}
