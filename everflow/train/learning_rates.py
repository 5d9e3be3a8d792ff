"""tf.train.exponential_decay and its kin: a learning rate as a function of the global step."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from everflow import api
from everflow.api import public
from everflow.graph import dtypes
from everflow.graph.convert import convert_list, convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.stacks import in_eager_mode
from everflow.train import schedules


def _at(schedule: Callable[[Any], Any], step: Any) -> Any:
    """The rate at a step. In eager mode, where the step is read whenever the rate is asked for, a function that gives it."""
    return functools.partial(schedule, step) if in_eager_mode() else schedule(step)


@public("train.exponential_decay")
def exponential_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False, name: str | None = None
) -> Any:
    """learning_rate * decay_rate ** (global_step / decay_steps)."""
    return _at(schedules.ExponentialDecay(learning_rate, decay_steps, decay_rate, staircase, name), global_step)


@public("train.natural_exp_decay")
def natural_exp_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False, name: str | None = None
) -> Any:
    """learning_rate * exp(-decay_rate * global_step / decay_steps)."""
    rate = api.find("exp")(api.find("negative")(decay_rate))
    return _at(schedules.ExponentialDecay(learning_rate, decay_steps, rate, staircase, name), global_step)


@public("train.inverse_time_decay")
def inverse_time_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False, name: str | None = None
) -> Any:
    """learning_rate / (1 + decay_rate * global_step / decay_steps)."""
    return _at(schedules.InverseTimeDecay(learning_rate, decay_steps, decay_rate, staircase, name), global_step)


@public("train.polynomial_decay")
def polynomial_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    end_learning_rate: Any = 0.0001,
    power: Any = 1.0,
    cycle: bool = False,
    name: str | None = None,
) -> Any:
    """From learning_rate to end_learning_rate along (1 - global_step / decay_steps) ** power."""
    return _at(schedules.PolynomialDecay(learning_rate, decay_steps, end_learning_rate, power, cycle, name), global_step)


@public("train.cosine_decay")
def cosine_decay(learning_rate: Any, global_step: Any, decay_steps: Any, alpha: float = 0.0, name: str | None = None) -> Any:
    """Half a cosine from learning_rate to alpha * learning_rate."""
    return _at(schedules.CosineDecay(learning_rate, decay_steps, alpha, name), global_step)


@public("train.cosine_decay_restarts")
def cosine_decay_restarts(
    learning_rate: Any,
    global_step: Any,
    first_decay_steps: Any,
    t_mul: float = 2.0,
    m_mul: float = 1.0,
    alpha: float = 0.0,
    name: str | None = None,
) -> Any:
    """Cosines one after the other, each longer than the one before (stochastic gradient descent with warm restarts)."""
    return _at(schedules.CosineDecayRestarts(learning_rate, first_decay_steps, t_mul, m_mul, alpha, name), global_step)


@public("train.linear_cosine_decay")
def linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    num_periods: float = 0.5,
    alpha: float = 0.0,
    beta: float = 0.001,
    name: str | None = None,
) -> Any:
    """A line downwards times a cosine."""
    return _at(schedules.LinearCosineDecay(learning_rate, decay_steps, num_periods, alpha, beta, name), global_step)


@public("train.noisy_linear_cosine_decay")
def noisy_linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    initial_variance: float = 1.0,
    variance_decay: float = 0.55,
    num_periods: float = 0.5,
    alpha: float = 0.0,
    beta: float = 0.001,
    name: str | None = None,
) -> Any:
    """A line downwards with noise that fades, times a cosine."""
    return _at(
        schedules.NoisyLinearCosineDecay(learning_rate, decay_steps, initial_variance, variance_decay, num_periods, alpha, beta, name),
        global_step,
    )


@public("train.piecewise_constant", "train.piecewise_constant_decay")
def piecewise_constant(x: Any, boundaries: Any, values: Any, name: str | None = None) -> Any:
    """values[i] up to and including boundaries[i], and the last value afterwards."""
    boundaries = convert_list(boundaries)
    values = convert_list(values)
    step, x = x, convert_to_tensor(x)
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")
    kind = x.dtype.base_dtype
    for i, boundary in enumerate(boundaries):
        if boundary.dtype.base_dtype == kind:
            continue
        # Boundaries are usually written as Python integers, and steps are counted in int64.
        if boundary.dtype.base_dtype != dtypes.int32 or kind != dtypes.int64:
            raise ValueError(f"Boundaries ({boundary.dtype.base_dtype}) must have the same dtype as x ({kind}).")
        boundaries[i] = api.find("cast")(boundary, kind)
    for value in values[1:]:
        if value.dtype.base_dtype != values[0].dtype.base_dtype:
            raise ValueError(
                f"Values must have elements all with the same dtype ({values[0].dtype.base_dtype} vs {value.dtype.base_dtype})."
            )

    def rate(step: Any) -> Any:
        with name_scope(name, "PiecewiseConstant", [step, *boundaries, *values]):
            return schedules.piecewise(convert_to_tensor(step), boundaries, values)

    return _at(rate, step if in_eager_mode() else x)
