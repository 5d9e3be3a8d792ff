"""Models that go through a window step by step, taking a state along."""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.contrib.timeseries.feature_keys import PredictionFeatures, TrainEvalFeatures
from everflow.contrib.timeseries.model import ModelOutputs, TimeSeriesModel
from everflow.contrib.timeseries.publishing import published
from everflow.graph.convert import convert_to_tensor
from everflow.nest import flatten, pack_sequence_as

NOT_EXOGENOUS = (PredictionFeatures.STATE_TUPLE, TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES)


class _Steps:
    """The values of a loop that is unrolled, written as to a TensorArray."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    def write(self, index: Any, value: Any) -> _Steps:
        del index
        self.values.append(value)
        return self

    def by_series(self) -> Any:
        return tf.stack(self.values, axis=1)


def _by_series(steps: Any) -> Any:
    """What was written step by step, with the batch before time."""
    if isinstance(steps, _Steps):
        return steps.by_series()
    stacked = steps.stack()
    return tf.transpose(stacked, perm=tf.concat([[1, 0], tf.range(2, tf.rank(stacked))], 0))


@published("model.SequentialTimeSeriesModel")
class SequentialTimeSeriesModel(TimeSeriesModel):
    """A model that is told by its steps: impute up to a time, take what is known of it, predict, and filter by what came."""

    def __init__(
        self,
        train_output_names: list[str],
        predict_output_names: list[str],
        num_features: int,
        normalize_features: bool = False,
        dtype: Any = tf.float32,
        exogenous_feature_columns: Any = None,
        exogenous_update_condition: Callable[..., Any] | None = None,
        static_unrolling_window_size_threshold: int | None = None,
    ) -> None:
        super().__init__(num_features=num_features, dtype=dtype, exogenous_feature_columns=exogenous_feature_columns)
        self._exogenous_update_condition = exogenous_update_condition
        self._train_output_names = train_output_names
        self._predict_output_names = predict_output_names
        self._normalize_features = normalize_features
        self._static_unrolling_window_size_threshold = static_unrolling_window_size_threshold

    def _scale_back_predictions(self, predictions: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError(
            "SequentialTimeSeriesModel normalized input data (normalize_features=True), but no method was provided to transform "
            "the predictions back to the input scale."
        )

    @abc.abstractmethod
    def _filtering_step(self, current_times: Any, current_values: Any, state: Any, predictions: dict[str, Any]) -> Any:
        """(The state that knows the current values, outputs with their loss)."""

    @abc.abstractmethod
    def _prediction_step(self, current_times: Any, state: Any) -> Any:
        """(The state after a prediction, outputs)."""

    @abc.abstractmethod
    def _imputation_step(self, current_times: Any, state: Any) -> Any:
        """The state at the current times, with nothing seen in between."""

    @abc.abstractmethod
    def _exogenous_input_step(self, current_times: Any, current_exogenous_regressors: Any, state: Any) -> Any:
        """The state that knows what else is known of the current times."""

    def _loss_additions(self, times: Any, values: Any, mode: str) -> Any:
        del times, values, mode
        return 0.0

    def _window_initializer(self, times: Any, state: Any) -> None:
        """Computes what all steps of a window share."""

    def get_batch_loss(self, features: dict[str, Any], mode: str, state: Any) -> ModelOutputs:
        times, values = features[TrainEvalFeatures.TIMES], features[TrainEvalFeatures.VALUES]
        loss, states, found = self.per_step_batch_loss(features, mode, state)
        last = pack_sequence_as(states, [tensor[:, -1] for tensor in flatten(states)])
        return ModelOutputs(loss=loss, end_state=last, predictions={**found, "observed": values}, prediction_times=times)

    def _apply_exogenous_update(
        self, current_times: Any, step_number: Any, state: Any, raw_features: dict[str, Any], embedded_exogenous_regressors: Any
    ) -> Any:
        if embedded_exogenous_regressors is None:
            return state
        updated = self._exogenous_input_step(
            current_times=current_times, current_exogenous_regressors=embedded_exogenous_regressors[:, step_number, :], state=state
        )
        condition = self._exogenous_update_condition
        if condition is None:
            return updated
        current = {key: value[:, step_number] for key, value in raw_features.items() if key not in NOT_EXOGENOUS}
        chosen = [
            tf.where(condition(times=current_times, features=current), new, old)
            for new, old in zip(flatten(updated), flatten(state), strict=True)
        ]
        return pack_sequence_as(state, chosen)

    def per_step_batch_loss(self, features: dict[str, Any], mode: str, state: Any) -> tuple[Any, Any, dict[str, Any]]:
        """(Loss, the state after each step, outputs of each step)."""
        self._check_graph_initialized()
        times = tf.cast(features[TrainEvalFeatures.TIMES], dtype=tf.int64)
        values = tf.cast(features[TrainEvalFeatures.VALUES], dtype=self.dtype)
        if self._normalize_features:
            values = self._scale_data(values)
        exogenous = self._process_exogenous_features(times, _others(features, TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES))

        def filter_step(step_number: Any, current_times: Any, state: Any) -> Any:
            current_values = values[:, step_number, :]
            state = self._apply_exogenous_update(current_times, step_number, state, features, exogenous)
            state, predictions = self._prediction_step(current_times=current_times, state=state)
            return self._filtering_step(current_times=current_times, current_values=current_values, state=state, predictions=predictions)

        states, outputs = self._state_update_loop(times, state, filter_step, ["loss", *self._train_output_names])
        losses = outputs.pop("loss")
        losses.set_shape(times.get_shape())
        loss = tf.reduce_sum(losses) / tf.cast(tf.reduce_prod(tf.shape(times)), dtype=self.dtype)
        loss += self._loss_additions(times, values, mode)
        if self._normalize_features:
            outputs = self._scale_back_predictions(outputs)
        return loss, states, outputs

    def predict(self, features: dict[str, Any]) -> dict[str, Any]:
        times = convert_to_tensor(features[PredictionFeatures.TIMES], tf.int64)
        exogenous = self._process_exogenous_features(times, _others(features, PredictionFeatures.TIMES, PredictionFeatures.STATE_TUPLE))

        def predict_step(step_number: Any, current_times: Any, state: Any) -> Any:
            state = self._apply_exogenous_update(current_times, step_number, state, features, exogenous)
            return self._prediction_step(current_times=current_times, state=state)

        start = features[PredictionFeatures.STATE_TUPLE]
        _, predictions = self._state_update_loop(times, start, predict_step, self._predict_output_names)
        return self._scale_back_predictions(predictions) if self._normalize_features else predictions

    def _state_update_loop(self, times: Any, state: Any, state_update_fn: Callable[..., Any], outputs: list[str]) -> Any:
        """(The state after each step, {output: its value at each step}); short windows are unrolled if the model says so."""
        times = convert_to_tensor(times, dtype=tf.int64)
        length, threshold = times.get_shape().as_list()[1], self._static_unrolling_window_size_threshold
        unroll = threshold is not None and length is not None and length <= threshold
        self._window_initializer(times, state)
        window_size = tf.shape(times)[1]

        def steps(dtype: Any) -> Any:
            return _Steps() if unroll else tf.TensorArray(dtype=dtype, size=window_size, dynamic_size=False)

        def step(number: Any, state: Any, states_so_far: Any, outputs_so_far: Any, reuse: bool = False) -> Any:
            with tf.variable_scope("state_update_step", reuse=reuse):
                now = times[:, number]
                state = self._imputation_step(current_times=now, state=state)
                new_state, values = state_update_fn(step_number=number, current_times=now, state=state)
                assert set(values) == set(outputs)
                outputs_so_far = [written.write(number, values[name]) for name, written in zip(outputs, outputs_so_far, strict=True)]
                flat = flatten(new_state)
                for new, old in zip(flat, flatten(state), strict=True):
                    new.set_shape(old.get_shape())
                states_so_far = [written.write(number, new) for written, new in zip(states_so_far, flat, strict=True)]
                return number + 1, pack_sequence_as(state, flat), states_so_far, outputs_so_far

        loop: Any = [
            tf.zeros([], tf.int32),
            state,
            [steps(element.dtype) for element in flatten(state)],
            [steps(self.dtype) for _ in outputs],
        ]
        if unroll:
            for number in range(length):
                loop = functools.partial(step, reuse=number > 0)(tf.constant(number, tf.int32), *loop[1:])
        else:
            loop = tf.while_loop(lambda number, *_: tf.less(number, window_size), step, loop)
        _, _, all_states, all_outputs = loop
        by_name = {name: _by_series(written) for name, written in zip(outputs, all_outputs, strict=True)}
        return pack_sequence_as(state, [_by_series(written) for written in all_states]), by_name


def _others(features: dict[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in features.items() if key not in names}
