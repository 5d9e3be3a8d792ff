"""Structural models: level and trend, moving averages and periods, added."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import nest
from everflow.contrib.timeseries.publishing import published
from everflow.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from everflow.contrib.timeseries.state_space.ensembles import StateSpaceCorrelatedFeaturesEnsemble, StateSpaceIndependentEnsemble
from everflow.contrib.timeseries.state_space.level_trend import AdderStateSpaceModel
from everflow.contrib.timeseries.state_space.model import StateSpaceModel
from everflow.contrib.timeseries.state_space.periodic import CycleStateSpaceModel, ResolutionCycleModel
from everflow.contrib.timeseries.state_space.varma import VARMA

BELOW = "state_space_models.structural_ensemble."


def _cycle(model: Callable[..., Any], *sizes: Any) -> Any:
    """Of a model and its sizes, of which the last argument is the configuration."""
    *given, configuration = sizes
    return model(*given, configuration=configuration)


class _Parts:
    """The members of a structural ensemble, each in a variable scope of its own; only the whole has noise of observations."""

    def __init__(self, configuration: StateSpaceModelConfiguration) -> None:
        self._all_features = configuration._replace(use_observation_noise=False)
        self._one_feature = self._all_features._replace(num_features=1)
        self.members: list[StateSpaceModel] = []

    def add_for_each_feature(self, scope: str, make: Callable[[Any], StateSpaceModel]) -> None:
        with tf.variable_scope(scope):
            models = []
            for feature in range(self._all_features.num_features):
                with tf.variable_scope(f"feature{feature}"):
                    models.append(make(self._one_feature))
            self.members.append(StateSpaceCorrelatedFeaturesEnsemble(ensemble_members=models, configuration=self._all_features))

    def add_line_and_averages(self, moving_average_order: int, autoregressive_order: int) -> None:
        # TensorFlow 1.15 takes `use_level_noise` and leaves it at that: levels are always noisy.
        self.add_for_each_feature("adder", lambda configuration: AdderStateSpaceModel(configuration=configuration))
        with tf.variable_scope("varma"):
            self.members.append(VARMA(autoregressive_order, moving_average_order, configuration=self._all_features))


@published(BELOW + "StructuralEnsemble")
class StructuralEnsemble(StateSpaceIndependentEnsemble):
    """With cycles that have a place for each step."""

    def __init__(
        self,
        periodicities: Any,
        moving_average_order: int,
        autoregressive_order: int,
        use_level_noise: bool = True,
        configuration: StateSpaceModelConfiguration | None = None,
    ) -> None:
        configuration = StateSpaceModelConfiguration() if configuration is None else configuration
        parts = _Parts(configuration)
        parts.add_line_and_averages(moving_average_order, autoregressive_order)
        for number, period in enumerate(nest.flatten(periodicities)):
            parts.add_for_each_feature(f"cycle{number}", functools.partial(_cycle, CycleStateSpaceModel, period))
        super().__init__(ensemble_members=parts.members, configuration=configuration)


@published(BELOW + "MultiResolutionStructuralEnsemble")
class MultiResolutionStructuralEnsemble(StateSpaceIndependentEnsemble):
    """With cycles that have a few places each, however long they are."""

    def __init__(
        self,
        cycle_num_latent_values: Any,
        moving_average_order: int,
        autoregressive_order: int,
        periodicities: Any,
        use_level_noise: bool = True,
        configuration: StateSpaceModelConfiguration | None = None,
    ) -> None:
        configuration = StateSpaceModelConfiguration() if configuration is None else configuration
        parts = _Parts(configuration)
        parts.add_line_and_averages(moving_average_order, autoregressive_order)
        periods = nest.flatten([] if periodicities is None else periodicities)
        counts = nest.flatten(cycle_num_latent_values)
        if len(counts) != len(periods):
            if len(counts) != 1:
                raise ValueError(
                    "`cycle_num_latent_values` must either be a list with the same size as `periodicity` or a scalar. Received "
                    f"length {len(counts)} `cycle_num_latent_values`, while `periodicities` has length {len(periods)}."
                )
            counts *= len(periods)
        for number, (period, count) in enumerate(zip(periods, counts, strict=True)):
            parts.add_for_each_feature(f"cycle{number}", functools.partial(_cycle, ResolutionCycleModel, count, period))
        super().__init__(ensemble_members=parts.members, configuration=configuration)
