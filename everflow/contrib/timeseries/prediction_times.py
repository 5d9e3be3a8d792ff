"""Small parts of models: layers by hand, parameters in place of learnt ones, times to predict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.contrib.timeseries.feature_keys import FilteringResults
from everflow.contrib.timeseries.publishing import published
from everflow.graph.convert import convert_to_tensor


@published("model_utils.fully_connected")
def fully_connected(inp: Any, inp_size: int, layer_size: int, name: str, activation: Any = tf.nn.relu, dtype: Any = tf.float32) -> Any:
    """A dense layer with variables NAME_weight and NAME_bias."""
    weight = tf.get_variable(f"{name}_weight", shape=[inp_size, layer_size], dtype=dtype)
    bias = tf.get_variable(f"{name}_bias", shape=[layer_size], initializer=tf.zeros_initializer())
    output = tf.nn.xw_plus_b(inp, weight, bias)
    return output if activation is None else activation(output)


@published("model_utils.parameter_switch")
def parameter_switch(parameter_overrides: dict[Any, Any]) -> Callable[[Any], Any]:
    """A function from a parameter to its value: the one that was passed, or what the session holds."""
    return lambda parameter: convert_to_tensor(parameter_overrides.get(parameter, parameter)).eval()


@published("model_utils.canonicalize_times_or_steps_from_output")
def times_to_predict(times: Any, steps: Any, previous_model_output: dict[str, Any]) -> Any:
    """The times to predict at, a row for each series: as given, or so many steps after those that the model has seen."""
    if (steps is None) == (times is None):
        raise ValueError(f"{'One of `steps` and `times` must' if steps is None else 'Only one of `steps` and `times` may'} be specified.")
    seen = previous_model_output[FilteringResults.TIMES]
    if times is None:
        return seen[:, -1:] + 1 + np.arange(steps)[None, ...]
    times = np.array(times)
    if times.ndim != 2:
        times = times[None, ...]
    if seen.shape[0] != times.shape[0]:
        raise ValueError(
            "`times` must have a batch dimension matching the previous model output (got a batch dimension of "
            f"{times.shape[0]} for `times` and {seen.shape[0]} for the previous model output)."
        )
    if not (seen[:, -1] < times[:, 0]).all():
        raise ValueError("Prediction times must be after the corresponding previous model output.")
    return times
