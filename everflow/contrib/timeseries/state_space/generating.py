"""Series and parameters drawn from state space models with one feature."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.contrib.timeseries.feature_keys import TrainEvalFeatures
from everflow.contrib.timeseries.prediction_times import parameter_switch
from everflow.graph.convert import convert_to_tensor


def _one_feature(model: Any) -> None:
    if model.num_features != 1:
        raise NotImplementedError("Generation for multivariate state space models is not currently implemented.")


def random_parameters(model: Any, seed: int | None) -> dict[Any, Any]:
    """{tensor: value}, drawn by numpy's own generator."""
    _one_feature(model)
    if seed:
        np.random.seed(seed)
    sizes: Any = convert_to_tensor(model.get_noise_transform()).get_shape().as_list()
    state_size, noise_size = sizes
    variances = 1.0 / np.random.gamma(shape=10.0, scale=10.0, size=[noise_size])
    state = np.random.normal(size=[state_size])
    parameters: dict[Any, Any] = {}
    for tensor, value in (
        (model.prior_state_mean, state),
        (model.state_transition_noise_covariance, np.diag(variances)),
        (model.prior_state_var, np.zeros([state_size, state_size])),
    ):
        if tensor is not None:
            parameters[tensor] = value
    if model._configuration.use_observation_noise:
        parameters[model._observation_noise_covariance] = [[1.0 / np.random.gamma(shape=4, scale=4)]]
    return parameters


def generated_series(model: Any, count: int, length: int, parameters: dict[Any, Any], seed: int | None, noisy: bool) -> dict[str, Any]:
    """Times and values of so many series."""
    if seed is not None:
        np.random.seed(seed)
    _one_feature(model)
    transition = convert_to_tensor(model.get_state_transition(), dtype=model.dtype).eval(feed_dict=parameters)
    transform = convert_to_tensor(model.get_noise_transform()).eval(feed_dict=parameters)
    value_of = parameter_switch(parameters)
    deviations = np.sqrt(np.diag(value_of(model.state_transition_noise_covariance)))
    observation_deviation = np.sqrt(value_of(model._observation_noise_covariance)[0][0]) if noisy else None
    states = np.tile(value_of(model.prior_state_mean)[None], [count, 1])
    values = np.zeros([count, length])
    scales = np.tile(deviations[None], [count, 1])
    observation_models = model.get_broadcasted_observation_model(times=tf.range(length)).eval(feed_dict=parameters)
    for step, observation_model in enumerate(observation_models):
        noise = np.random.normal(loc=np.zeros([count, transform.shape[1]]), scale=scales)
        states = np.dot(states, transition.T) + np.dot(noise, transform.T)
        mean = np.dot(states, observation_model[0].T)
        values[:, step] = mean if observation_deviation is None else np.random.normal(loc=mean, scale=observation_deviation)
    times = np.tile(np.arange(length)[None], [count, 1])
    return {TrainEvalFeatures.TIMES: times, TrainEvalFeatures.VALUES: values[..., None]}
