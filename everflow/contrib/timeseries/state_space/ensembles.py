"""Several state space models as one: their states side by side, their observations added, or one model for each feature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.contrib.timeseries.matrices import block_diagonal
from everflow.contrib.timeseries.publishing import published
from everflow.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from everflow.contrib.timeseries.state_space.model import StateSpaceModel
from everflow.graph.convert import convert_to_tensor

BELOW = "state_space_models.state_space_model."


@published(BELOW + "StateSpaceEnsemble")
class StateSpaceEnsemble(StateSpaceModel):
    """Models whose observations add up; the noise of their transitions is correlated."""

    def __init__(self, ensemble_members: list[StateSpaceModel], configuration: StateSpaceModelConfiguration) -> None:
        self._ensemble_members = ensemble_members
        super().__init__(configuration=configuration)

    def _set_input_statistics(self, input_statistics: Any = None) -> None:
        super()._set_input_statistics(input_statistics)
        for member in self._ensemble_members:
            member._set_input_statistics(input_statistics)

    def _loss_additions(self, times: Any, values: Any, mode: str) -> Any:
        own = super()._loss_additions(times, values, mode)
        return own + tf.add_n([member._loss_additions(times, values, mode) for member in self._ensemble_members])

    def _compute_blocked(self, member_fn: Callable[[StateSpaceModel], Any], name: str) -> Any:
        """What a function makes of each member, as blocks of one matrix."""
        with tf.variable_scope(self._variable_scope):
            return block_diagonal([member_fn(member) for member in self._ensemble_members], dtype=self.dtype, name=name)

    def transition_to_powers(self, powers: Any) -> Any:
        return self._compute_blocked(lambda member: member.transition_to_powers(powers), "ensemble_transition_to_powers")

    def _define_parameters(self, observation_transition_tradeoff_log: Any = None) -> None:
        with tf.variable_scope(self._variable_scope):
            if observation_transition_tradeoff_log is None:
                observation_transition_tradeoff_log = self._variable_observation_transition_tradeoff_log()
            for member in self._ensemble_members:
                member._define_parameters(observation_transition_tradeoff_log=observation_transition_tradeoff_log)
            super()._define_parameters(observation_transition_tradeoff_log=observation_transition_tradeoff_log)

    def random_model_parameters(self, seed: int | None = None) -> dict[Any, Any]:
        parameters = {}
        for number, member in enumerate(self._ensemble_members):
            parameters.update(member.random_model_parameters(seed=seed + number if seed else None))
        parameters.update(super().random_model_parameters(seed=seed))
        return parameters

    def get_prior_mean(self) -> Any:
        means = [member.get_prior_mean() for member in self._ensemble_members]
        return tf.concat(means, axis=0, name="ensemble_prior_state_mean")

    def get_state_transition(self) -> Any:
        return self._compute_blocked(lambda member: member.get_state_transition(), "ensemble_state_transition")

    def get_noise_transform(self) -> Any:
        return self._compute_blocked(lambda member: member.get_noise_transform(), "ensemble_noise_transform")

    def get_observation_model(self, times: Any) -> Any:
        raise NotImplementedError("No un-broadcasted observation model defined for ensembles.")

    def _observation_model_of(self, member: StateSpaceModel, times: Any) -> Any:
        return convert_to_tensor(member.get_broadcasted_observation_model(times), dtype=self.dtype)

    def get_broadcasted_observation_model(self, times: Any) -> Any:
        return tf.concat([self._observation_model_of(member, times) for member in self._ensemble_members], axis=2)


@published(BELOW + "StateSpaceIndependentEnsemble")
class StateSpaceIndependentEnsemble(StateSpaceEnsemble):
    """Models whose observations add up, each with a noise of its own."""

    def transition_power_noise_accumulator(self, num_steps: Any) -> Any:
        return self._compute_blocked(
            lambda member: member.transition_power_noise_accumulator(num_steps), "ensemble_power_noise_accumulator"
        )

    def get_prior_covariance(self) -> Any:
        return self._compute_blocked(lambda member: member.get_prior_covariance(), "ensemble_prior_state_covariance")

    def get_state_transition_noise_covariance(self, minimum_initial_variance: float = 1e-5) -> Any:
        return self._compute_blocked(lambda member: member.state_transition_noise_covariance, "ensemble_state_transition_noise")


@published(BELOW + "StateSpaceCorrelatedFeaturesEnsemble")
class StateSpaceCorrelatedFeaturesEnsemble(StateSpaceEnsemble):
    """A model for each feature; the noise of their transitions is correlated."""

    def __init__(self, ensemble_members: list[StateSpaceModel], configuration: StateSpaceModelConfiguration) -> None:
        if len(ensemble_members) != configuration.num_features:
            raise ValueError(
                "The number of members in a StateSpaceCorrelatedFeaturesEnsemble must equal the number of features in the time series."
            )
        if any(member.num_features != 1 for member in ensemble_members):
            raise ValueError("StateSpaceCorrelatedFeaturesEnsemble components must be univariate.")
        super().__init__(ensemble_members=ensemble_members, configuration=configuration)

    def transition_power_noise_accumulator(self, num_steps: Any) -> Any:
        if len(self._ensemble_members) == 1:
            # A single member may know a shorter way.
            return self._ensemble_members[0].transition_power_noise_accumulator(num_steps=num_steps)
        return super().transition_power_noise_accumulator(num_steps=num_steps)

    def get_broadcasted_observation_model(self, times: Any) -> Any:
        return self._compute_blocked(lambda member: self._observation_model_of(member, times), "feature_ensemble_observation_model")
