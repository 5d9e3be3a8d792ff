"""Autoregressive models: a network from a window of the past to a window of the future."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.timeseries.densities import normal_log_prob
from everflow.contrib.timeseries.feature_keys import PredictionFeatures, TrainEvalFeatures
from everflow.contrib.timeseries.model import ModelOutputs, TimeSeriesModel
from everflow.contrib.timeseries.prediction_networks import FlatPredictionModel
from everflow.graph.convert import convert_to_tensor

TIMES, VALUES, STATE = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES, PredictionFeatures.STATE_TUPLE


@public("contrib.timeseries.ARModel")
class ARModel(TimeSeriesModel):
    """Predicts `output_window_size` values from `input_window_size` values before them and from where they lie in periods."""

    SQUARED_LOSS = "squared_loss"
    NORMAL_LIKELIHOOD_LOSS = "normal_likelihood_loss"

    def __init__(
        self,
        periodicities: Any,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        prediction_model_factory: Callable[..., Any] = FlatPredictionModel,
        num_time_buckets: int = 10,
        loss: str = NORMAL_LIKELIHOOD_LOSS,
        exogenous_feature_columns: Any = None,
    ) -> None:
        self._model_factory = prediction_model_factory
        self.input_window_size = input_window_size
        self.output_window_size = output_window_size
        self.window_size = input_window_size + output_window_size
        self.loss = loss
        super().__init__(num_features=num_features, exogenous_feature_columns=exogenous_feature_columns)
        self.exogenous_size = 0 if exogenous_feature_columns is None else self._get_exogenous_embedding_shape()[-1]
        assert num_time_buckets > 0
        self._buckets = int(num_time_buckets)
        if not periodicities:
            periodicities = []
        elif not isinstance(periodicities, (list, tuple)):
            periodicities = [periodicities]
        self._periodicities = [int(period) for period in periodicities]
        assert all(period > 0 for period in self._periodicities)
        assert self._periodicities or input_window_size
        assert output_window_size > 0

    def initialize_graph(self, input_statistics: Any = None) -> None:
        super().initialize_graph(input_statistics=input_statistics)
        self._model_scope = tf.variable_scope("model/", use_resource=True)
        self._model_instance = self._model_factory(
            num_features=self.num_features, input_window_size=self.input_window_size, output_window_size=self.output_window_size
        )

    def get_start_state(self) -> Any:
        size = self.input_window_size
        return (
            tf.zeros([size], dtype=tf.int64),
            tf.zeros([size, self.num_features], dtype=self.dtype),
            tf.zeros([size, self.exogenous_size], dtype=self.dtype),
        )

    def random_model_parameters(self, seed: int | None = None) -> Any:
        """Autoregressive models have no parameters to draw."""

    def generate(self, number_of_series: int, series_length: int, model_parameters: Any = None, seed: int | None = None) -> Any:
        """Autoregressive models make no series."""

    def prediction_ops(self, times: Any, values: Any, exogenous_regressors: Any) -> dict[str, Any]:
        """The network's mean and variance for the output window, given times of both windows and values of the first."""
        windows = (self.input_window_size, self.output_window_size)
        expected = [(times, [self.window_size])]
        if self.input_window_size:
            expected.append((values, [self.input_window_size, self.num_features]))
        if exogenous_regressors is not None:
            expected.append((exogenous_regressors, [self.window_size, self.exogenous_size]))
        for tensor, sizes in expected:
            tensor.get_shape().assert_is_compatible_with([None, *sizes])
        batch_size = tf.shape(times)[0]
        known: list[Any] = []
        coming: list[Any] = []
        known_size = coming_size = 0
        if self._periodicities:
            _, by_period = self._compute_time_features(times)
            size = self._buckets * len(self._periodicities)
            by_period = tf.reshape(by_period, [batch_size, self.window_size, size])
            for window, part in zip((known, coming), tf.split(by_period, windows, axis=1), strict=True):
                window.append(part)
            known_size, coming_size = known_size + size, coming_size + size
        if self.input_window_size:
            past = tf.slice(values, [0, 0, 0], [-1, self.input_window_size, -1])
            known.append(tf.reshape(past, [batch_size, self.input_window_size, self.num_features]))
            known_size += self.num_features
        if self.exogenous_size:
            for window, part in zip((known, coming), tf.split(exogenous_regressors, windows, axis=1), strict=True):
                window.append(part)
            known_size, coming_size = known_size + self.exogenous_size, coming_size + self.exogenous_size
        assert known
        inputs = tf.concat(known, axis=2)
        outputs = tf.concat(coming, axis=2) if coming else tf.zeros([batch_size, self.output_window_size, 0], dtype=self.dtype)
        static_batch = times.get_shape().as_list()[0]
        inputs.set_shape([static_batch, self.input_window_size, known_size])
        outputs.set_shape([static_batch, self.output_window_size, coming_size])
        return self._output_window_predictions(inputs, outputs)

    def _output_window_predictions(self, input_window_features: Any, output_window_features: Any) -> dict[str, Any]:
        with self._model_scope:
            predictions = self._model_instance(input_window_features, output_window_features)
            for prediction in predictions.values():
                prediction.set_shape([None, self.output_window_size, self.num_features])
            return predictions

    def loss_op(self, targets: Any, prediction_ops: dict[str, Any]) -> Any:
        """The loss per value."""
        mean = prediction_ops["mean"]
        if self.loss == ARModel.NORMAL_LIKELIHOOD_LOSS:
            sigma = tf.sqrt(tf.maximum(prediction_ops["covariance"], 1e-5))
            loss = -tf.reduce_sum(normal_log_prob(targets, sigma, mean))
        else:
            assert self.loss == ARModel.SQUARED_LOSS, self.loss
            loss = tf.reduce_sum(tf.squared_difference(mean, targets))
        return loss / tf.cast(tf.reduce_prod(tf.shape(targets)), loss.dtype)

    def _process_exogenous_features(self, times: Any, features: dict[str, Any]) -> Any:
        found = super()._process_exogenous_features(times, features)
        if found is None:
            # Without such features their axis has length zero.
            assert not self.exogenous_size
            found = tf.zeros(tf.concat([tf.shape(times), tf.constant([0])], axis=0))
        return found

    def _embedded_exogenous(self, times: Any, features: dict[str, Any]) -> Any:
        others = {key: value for key, value in features.items() if key not in (TIMES, VALUES, STATE)}
        return self._process_exogenous_features(times=times, features=others)

    def predict(self, features: dict[str, Any]) -> dict[str, Any]:
        """Predicts a window at a time; each mean is among the values that the next window starts from."""
        if not self._graph_initialized:
            self.initialize_graph()
        length, past = self.output_window_size, self.input_window_size
        times = tf.cast(convert_to_tensor(features[PredictionFeatures.TIMES]), tf.int32)
        exogenous = self._embedded_exogenous(times, features)
        with tf.control_dependencies([tf.assert_equal(tf.shape(times)[1], tf.shape(exogenous)[1])]):
            exogenous = tf.identity(exogenous)
        batch_size, wanted = tf.shape(times)[0], tf.shape(times)[1]
        count = (wanted + length - 1) // length
        padding = count * length - wanted
        times = tf.pad(times, [[0, 0], [0, padding]])
        exogenous = tf.pad(exogenous, [[0, 0], [0, padding], [0, 0]])
        state_times, state_values, state_exogenous = features[STATE]
        state_times = tf.cast(convert_to_tensor(state_times), tf.int32)
        state_values = convert_to_tensor(state_values, dtype=self.dtype)
        state_exogenous = convert_to_tensor(state_exogenous, dtype=self.dtype)
        first_times, first_exogenous = times[:, :length], exogenous[:, :length, :]
        first_values: Any = 0
        if past > 0:
            first_times = tf.concat([state_times[:, -past:], first_times], 1)
            values_size, times_size = tf.shape(state_values)[1], tf.shape(state_times)[1]
            checks = [tf.assert_greater_equal(values_size, past), tf.assert_equal(values_size, times_size)]
            with tf.control_dependencies(checks):
                first_values = state_values[:, -past:, :]
                first_exogenous = tf.concat([state_exogenous[:, -past:, :], first_exogenous[:, :length, :]], axis=1)

        def next_window(number: Any, window_times: Any, values: Any, window_exogenous: Any, means: Any, variances: Any) -> Any:
            predicted = self.prediction_ops(window_times, values, window_exogenous)
            offset = length * tf.minimum(number + 1, count - 1)
            if past == 0:
                window_exogenous, window_times = exogenous[:, offset : offset + length, :], times[:, offset : offset + length]
            elif length < past:
                values = tf.concat([values[:, length:, :], predicted["mean"]], 1)
                coming = exogenous[:, offset : offset + length, :]
                window_exogenous = tf.concat([window_exogenous[:, -past:, :], coming], axis=1)
                window_times = tf.concat([window_times[:, -past:], times[:, offset : offset + length]], 1)
            else:
                values = predicted["mean"][:, -past:, :]
                window_exogenous = exogenous[:, offset - past : offset + length, :]
                window_times = times[:, offset - past : offset + length]
            window_times.set_shape(first_times.get_shape())
            window_exogenous.set_shape(first_exogenous.get_shape())
            means = means.write(number, predicted["mean"])
            if has_variances:
                variances = variances.write(number, predicted["covariance"])
            return number + 1, window_times, values, window_exogenous, means, variances

        has_variances = self.loss != ARModel.SQUARED_LOSS
        variances: Any = tf.TensorArray(dtype=self.dtype, size=count) if has_variances else 0.0
        means = tf.TensorArray(dtype=self.dtype, size=count)
        start = [0, first_times, first_values, first_exogenous, means, variances]
        *_, means, variances = tf.while_loop(lambda number, *_: tf.less(number, count), next_window, start)

        def in_one_row(windows: Any) -> Any:
            by_series = tf.transpose(windows.stack(), [1, 0, 2, 3])
            return tf.reshape(by_series, tf.stack([batch_size, count * length, -1]))[:, :wanted, :]

        mean = in_one_row(means)
        variance = in_one_row(variances) if has_variances else tf.ones_like(mean)
        return {"mean": self._scale_back_data(mean), "covariance": self._scale_back_variance(variance)}

    def _process_window(self, features: dict[str, Any], mode: str, exogenous_regressors: Any) -> ModelOutputs:
        """The outputs for one input and output window."""
        past = self.input_window_size
        times = tf.cast(features[TIMES], tf.int64)
        observed = tf.cast(features[VALUES], dtype=self.dtype)
        exogenous = tf.cast(exogenous_regressors, dtype=self.dtype)
        if not times.get_shape().is_compatible_with([None, self.window_size]):
            raise ValueError(
                f"ARModel with input_window_size={past} and output_window_size={self.output_window_size} expects feature '{TIMES}' "
                f"to have shape (batch_size, {self.window_size}) (for any batch_size), but got shape {times.get_shape()}. If you are "
                f"using RandomWindowInputFn, set window_size={self.window_size} or adjust the input_window_size and "
                "output_window_size arguments to ARModel."
            )
        values = self._scale_data(observed)
        predicted = self.prediction_ops(times, values[:, :past, :] if past > 0 else None, exogenous)
        mean, variance = predicted["mean"], predicted["covariance"]
        targets = tf.slice(values, [0, past, 0], [-1, -1, -1])
        targets.get_shape().assert_is_compatible_with(mean.get_shape())
        if mode == tf.estimator.ModeKeys.EVAL and self.loss == ARModel.SQUARED_LOSS:
            loss = self.loss_op(self._scale_back_data(targets), {"mean": self._scale_back_data(mean)})
        else:
            loss = self.loss_op(targets, predicted)
        mean, variance = self._scale_back_data(mean), self._scale_back_variance(variance)
        return ModelOutputs(
            loss=loss,
            end_state=(times[:, -past:], values[:, -past:, :], exogenous[:, -past:, :]),
            predictions={"mean": mean, "covariance": variance, "observed": observed[:, -self.output_window_size :]},
            prediction_times=times[:, -self.output_window_size :],
        )

    def get_batch_loss(self, features: dict[str, Any], mode: str, state: Any) -> ModelOutputs:
        features = {name: convert_to_tensor(value) for name, value in features.items()}
        exogenous = self._embedded_exogenous(features[TIMES], features)
        if mode == tf.estimator.ModeKeys.TRAIN:
            return self._process_window(features, mode=mode, exogenous_regressors=exogenous)
        if mode == tf.estimator.ModeKeys.EVAL:
            return self._evaluate(features, mode, state, exogenous)
        raise ValueError(f"Unknown mode '{mode}' passed to get_batch_loss.")

    def _evaluate(self, features: dict[str, Any], mode: str, state: Any, exogenous: Any) -> ModelOutputs:
        """Windows one after another through a series; what does not fill a window at its start is left out."""
        times, length, past = features[TIMES], self.output_window_size, self.input_window_size
        times.get_shape().assert_has_rank(2)
        static = times.get_shape().as_list()[1]
        if static is not None and static < self.window_size:
            raise ValueError(
                "ARModel requires a window of at least input_window_size + output_window_size to evaluate on (input_window_size="
                f"{past}, output_window_size={length}, and got shape {times.get_shape()} for feature '{TIMES}' (batch size, window size))."
            )
        count = (tf.shape(times)[1] - past) // length
        output_size = count * length
        cropped = {name: value[:, -(output_size + past) :] for name, value in features.items()}

        def window(number: Any, *arrays: Any) -> Any:
            offset = number * length
            here = slice(offset, offset + self.window_size)
            outputs = self._process_window({name: value[:, here] for name, value in cropped.items()}, mode, exogenous[:, here])
            found = (outputs.loss, outputs.predictions["mean"], outputs.predictions["covariance"])
            return (number + 1, *(array.write(number, value) for array, value in zip(arrays, found, strict=True)))

        arrays = [tf.TensorArray(dtype=self.dtype, size=count) for _ in range(3)]
        _, losses, means, variances = tf.while_loop(lambda number, *_: number < count, window, [0, *arrays])
        values = tf.cast(cropped[VALUES], dtype=self.dtype)
        shape = [tf.shape(times)[0], length * count, self.num_features]
        if past > 0:
            old_times, old_values, old_exogenous = state
            new_times = tf.concat([old_times, tf.cast(times, dtype=tf.int64)], axis=1)[:, -past:]
            new_times.set_shape((None, past))
            new_values = tf.concat([old_values, self._scale_data(values)], axis=1)[:, -past:, :]
            new_values.set_shape((None, past, self.num_features))
            new_exogenous = tf.concat([old_exogenous, exogenous], axis=1)[:, -past:, :]
            new_exogenous.set_shape((None, past, self.exogenous_size))
            state = (new_times, new_values, new_exogenous)
        return ModelOutputs(
            loss=tf.reduce_mean(losses.stack(), axis=0),
            end_state=state,
            predictions={
                "mean": tf.reshape(tf.transpose(means.stack(), [1, 0, 2, 3]), shape),
                "covariance": tf.reshape(tf.transpose(variances.stack(), [1, 0, 2, 3]), shape),
                "observed": values[:, -output_size:],
            },
            prediction_times=times[:, -output_size:],
        )

    def _compute_time_features(self, time: Any) -> tuple[Any, Any]:
        """(How many periods have passed, for each bucket of each period how far time has come into it, else 0)."""
        rows, count, kind = tf.shape(time)[0], self._buckets, self.dtype
        periods = tf.constant(self._periodicities, shape=[1, 1, len(self._periodicities), 1], dtype=time.dtype)
        time = tf.reshape(time, [rows, -1, 1, 1])
        passed = time / self._periodicities
        place = tf.cast(time % periods, kind) * count / tf.cast(periods, kind)
        into = tf.nn.relu(place - tf.reshape(tf.range(count, dtype=kind), [1, 1, 1, count]))
        return passed, tf.where_v2(into < 1.0, into, tf.zeros_like(into))
