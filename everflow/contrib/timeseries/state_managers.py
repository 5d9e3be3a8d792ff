"""Which state a window starts from in training: that of a new series, or one kept from windows before it."""

from __future__ import annotations

import abc
from typing import Any

import everflow as tf
from everflow import nest
from everflow.contrib.timeseries.feature_keys import FilteringFeatures, State, TrainEvalFeatures
from everflow.contrib.timeseries.model import ModelOutputs
from everflow.contrib.timeseries.publishing import published
from everflow.contrib.timeseries.state_tables import StructureTable, replicate_state

TIMES = TrainEvalFeatures.TIMES


@published("state_management.PassthroughStateManager")
class PassthroughStateManager:
    """Every window is a series of its own."""

    def __init__(self) -> None:
        self._input_statistics: Any = None
        self._graph_initialized = False

    def initialize_graph(self, model: Any, input_statistics: Any = None) -> None:
        """Adds what the manager needs to the default graph."""
        del model
        self._graph_initialized = True
        self._input_statistics = input_statistics

    def define_loss(self, model: Any, features: dict[str, Any], mode: str) -> ModelOutputs:
        """The model's loss, from the state that this manager has for each window."""
        if State.STATE_TUPLE in features:
            raise ValueError("Overriding start state is not supported for this model.")
        return model.define_loss(features, mode)


@published("state_management._OverridableStateManager")
class OverridableStateManager(PassthroughStateManager):
    """Takes a state from the features where there is one."""

    @abc.abstractmethod
    def _define_loss_with_saved_state(self, model: Any, features: dict[str, Any], mode: str) -> ModelOutputs:
        """The loss where no state was given."""

    def define_loss(self, model: Any, features: dict[str, Any], mode: str) -> ModelOutputs:
        if FilteringFeatures.STATE_TUPLE not in features:
            return self._define_loss_with_saved_state(model=model, features=features, mode=mode)
        if mode == tf.estimator.ModeKeys.TRAIN:
            raise ValueError(
                "Overriding saved state for training is not supported (but a value for feature "
                f"{FilteringFeatures.STATE_TUPLE} was specified)."
            )
        state = features.pop(FilteringFeatures.STATE_TUPLE)
        return model.get_batch_loss(features=features, mode=mode, state=state)


@published("state_management.FilteringOnlyStateManager")
class FilteringOnlyStateManager(OverridableStateManager):
    """Windows are series of their own, unless a state is given."""

    def _define_loss_with_saved_state(self, model: Any, features: dict[str, Any], mode: str) -> ModelOutputs:
        return model.define_loss(features, mode)


@published("state_management.ChainingStateManager")
class ChainingStateManager(OverridableStateManager):
    """Keeps a state for each chunk of time, reached by windows before it: training sees whole series in windows."""

    def __init__(self, state_saving_interval: int = 20, checkpoint_state: bool = False) -> None:
        super().__init__()
        self._checkpoint_state = checkpoint_state
        self._state_saving_interval = state_saving_interval
        self._start_state: Any = None
        self._cached_states: Any = None

    def initialize_graph(self, model: Any, input_statistics: Any = None) -> None:
        super().initialize_graph(model, input_statistics)
        self._start_state = start = model.get_start_state()
        # Times are never negative.
        self._cached_states = StructureTable(tf.int64, start, -1, -2, "cached_states", self._checkpoint_state)

    def _define_loss_with_saved_state(self, model: Any, features: dict[str, Any], mode: str) -> ModelOutputs:
        if not self._graph_initialized:
            raise ValueError("ChainingStateManager requires initialize_graph() to be called before use.")
        loss, state, predictions = self._update_cached_states(model=model, features=features, mode=mode)
        last = nest.pack_sequence_as(state, [tensor[-1][None] for tensor in nest.flatten(state)])
        predictions["observed"] = features[TrainEvalFeatures.VALUES]
        return ModelOutputs(loss=loss, end_state=last, predictions=predictions, prediction_times=features[TIMES])

    def _get_chunk_number(self, time: Any) -> Any:
        return time // self._state_saving_interval

    def _get_cached_states(self, times: Any) -> Any:
        chunks = self._get_chunk_number(times)
        kept = tuple(self._cached_states.lookup(tf.cast(chunks, tf.int64)))
        start_time = 0 if self._input_statistics is None else self._input_statistics.start_time
        at_start = tf.equal(chunks, self._get_chunk_number(start_time))
        starts = replicate_state(self._start_state, tf.shape(times)[0])
        states = [tf.where(at_start, *both) for both in zip(nest.flatten(starts), nest.flatten(kept), strict=True)]
        return nest.pack_sequence_as(kept, states)

    def _update_cached_states(self, model: Any, features: dict[str, Any], mode: str) -> tuple[Any, Any, Any]:
        times = features[TIMES]
        start = self._get_cached_states(times[:, 0])
        loss, states, predictions = model.per_step_batch_loss(features=features, mode=mode, state=start)
        # A state belongs to the chunk of the next observation, and at least to the chunk after its own.
        after = self._get_chunk_number(times) + 1
        next_times = tf.concat([times[:, 1:], times[:, -1:] + 1], axis=1)
        chunks = tf.maximum(self._get_chunk_number(next_times), after)
        saved = self._cached_states.insert(keys=chunks, values=states)
        last = nest.pack_sequence_as(states, [tensor[:, -1] for tensor in nest.flatten(states)])
        with tf.control_dependencies([saved]):
            return tf.identity(loss), last, predictions
