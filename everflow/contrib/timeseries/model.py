"""What every time series model can do."""

from __future__ import annotations

import abc
from typing import Any, NamedTuple

import everflow as tf
from everflow.contrib.timeseries.feature_keys import TrainEvalFeatures
from everflow.contrib.timeseries.input_statistics import InputStatistics
from everflow.contrib.timeseries.publishing import published
from everflow.contrib.timeseries.state_tables import replicate_state


@published("model.ModelOutputs")
class ModelOutputs(NamedTuple):
    """The loss of a batch, the state after it, predictions and their times."""

    loss: Any
    end_state: Any
    predictions: Any
    prediction_times: Any


def parsed_columns(columns: Any) -> dict[str, Any]:
    """Features as parsing gives them, for their shapes and types; call it in a graph of its own."""
    return tf.parse_example(
        serialized=tf.placeholder(shape=[None], dtype=tf.string), features=tf.feature_column.make_parse_example_spec(columns)
    )


@published("model.TimeSeriesModel")
class TimeSeriesModel(abc.ABC):
    """A model of series: its loss on windows of values, and predictions from a state."""

    def __init__(self, num_features: int, exogenous_feature_columns: Any = None, dtype: Any = tf.float32) -> None:
        self._exogenous_feature_columns = exogenous_feature_columns or []
        self.num_features = num_features
        self.dtype = dtype
        self._input_statistics: InputStatistics | None = None
        self._graph_initialized = False
        self._stats_means: Any = None
        self._stats_sigmas: Any = None

    @property
    def exogenous_feature_columns(self) -> Any:
        """Feature columns of what is known besides the values."""
        return self._exogenous_feature_columns

    def generate(self, number_of_series: int, series_length: int, model_parameters: Any = None, seed: int | None = None) -> Any:
        """Series that the model would make; most models can't."""
        raise NotImplementedError("This model does not support generation.")

    def initialize_graph(self, input_statistics: InputStatistics | None = None) -> None:
        """Adds what the model needs to the default graph."""
        self._graph_initialized = True
        self._input_statistics = input_statistics
        if input_statistics:
            self._stats_means, variances = input_statistics.overall_feature_moments
            self._stats_sigmas = tf.sqrt(variances)

    def _scale_data(self, data: Any) -> Any:
        return data if self._input_statistics is None else (data - self._stats_means) / self._stats_sigmas

    def _scale_variance(self, variance: Any) -> Any:
        statistics = self._input_statistics
        return variance if statistics is None else variance / statistics.overall_feature_moments.variance

    def _scale_back_data(self, data: Any) -> Any:
        return data if self._input_statistics is None else data * self._stats_sigmas + self._stats_means

    def _scale_back_variance(self, variance: Any) -> Any:
        statistics = self._input_statistics
        return variance if statistics is None else variance * statistics.overall_feature_moments.variance

    def _check_graph_initialized(self) -> None:
        if not self._graph_initialized:
            raise ValueError(
                "TimeSeriesModels require initialize_graph() to be called before use. This defines variables and ops in the "
                "default graph, and allows Tensor-valued input statistics to be specified."
            )

    def define_loss(self, features: dict[str, Any], mode: str) -> ModelOutputs:
        """The loss of windows, each from the state that series start with."""
        self._check_graph_initialized()
        state = replicate_state(self.get_start_state(), batch_size=tf.shape(features[TrainEvalFeatures.TIMES])[0])
        return self.get_batch_loss(features=features, mode=mode, state=state)

    @abc.abstractmethod
    def get_start_state(self) -> Any:
        """The state that series start with, without a batch axis."""

    @abc.abstractmethod
    def get_batch_loss(self, features: dict[str, Any], mode: str, state: Any) -> ModelOutputs:
        """The loss of windows that start from a state."""

    @abc.abstractmethod
    def predict(self, features: dict[str, Any]) -> dict[str, Any]:
        """Predictions for times, from a state."""

    def _get_exogenous_embedding_shape(self) -> Any:
        if not self._exogenous_feature_columns:
            return (0,)
        with tf.Graph().as_default():
            parsed = parsed_columns(self._exogenous_feature_columns)
            embedded = tf.feature_column.input_layer(features=parsed, feature_columns=self._exogenous_feature_columns)
            return embedded.get_shape().as_list()[1:]

    def _process_exogenous_features(self, times: Any, features: dict[str, Any]) -> Any:
        """A vector for each time, made by the feature columns; None without columns."""
        if not self._exogenous_feature_columns:
            return None
        flat = {name: _without_batches(name, tensor) for name, tensor in features.items()}
        embedded = tf.feature_column.input_layer(features=flat, feature_columns=self._exogenous_feature_columns, trainable=True)
        vectors = tf.reshape(embedded, tf.concat([tf.shape(times), tf.shape(embedded)[1:]], axis=0))
        vectors.set_shape(times.get_shape().concatenate(embedded.get_shape()[1:]))
        return tf.cast(vectors, dtype=self.dtype)


def _without_batches(name: str, tensor: Any) -> Any:
    """The times of all series along one axis, as feature columns want them."""
    if tensor.get_shape().ndims is None:
        raise ValueError(f"Features with unknown rank are not supported. Got shape {tensor.get_shape()} for feature {name}.")
    sizes = tf.shape(tensor)
    tensor = tf.reshape(tensor, tf.concat([[sizes[0] * sizes[1]], sizes[2:]], axis=0))
    return tensor[:, None] if tensor.get_shape().ndims == 1 and tensor.dtype != tf.string else tensor
