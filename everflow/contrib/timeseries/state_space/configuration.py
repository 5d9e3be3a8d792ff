"""Settings that state space models share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import everflow as tf
from everflow.contrib.timeseries.densities import log_noninformative_covariance_prior
from everflow.contrib.timeseries.publishing import published


class _Settings(NamedTuple):
    num_features: int = 1
    use_observation_noise: bool = True
    dtype: Any = tf.float32
    covariance_prior_fn: Callable[[Any], Any] = log_noninformative_covariance_prior
    bayesian_prior_weighting: bool = True
    filtering_postprocessor: Any = None
    trainable_start_state: bool = False
    exogenous_noise_increases: bool = True
    exogenous_noise_decreases: bool = False
    exogenous_feature_columns: Any = None
    exogenous_update_condition: Any = None
    filtering_maximum_posterior_variance_ratio: float = 1e6
    filtering_minimum_posterior_variance: float = 0.0
    transition_covariance_initial_log_scale_bias: float = -5.0
    static_unrolling_window_size_threshold: int | None = None


@published("state_space_models.state_space_model.StateSpaceModelConfiguration")
class StateSpaceModelConfiguration(_Settings):
    """How many features, which type, which noise and priors, how exogenous features act, how far filtering may go."""

    def __new__(cls, *args: Any, **kwargs: Any) -> StateSpaceModelConfiguration:
        settings = super().__new__(cls, *args, **kwargs)
        return settings if settings.exogenous_feature_columns is not None else settings._replace(exogenous_feature_columns=[])
