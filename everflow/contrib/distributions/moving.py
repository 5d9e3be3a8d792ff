"""Moving means and variances in variables."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope


def _floating(dtype: Any, what: str) -> Any:
    if not dtype.base_dtype.is_floating:
        raise TypeError(f"{what}.base_dtype({dtype.base_dtype.name}) does not have float type `dtype`.")
    return dtype.base_dtype


@contextlib.contextmanager
def _moving(name: str | None, default_name: str, variables: dict[str, Any], **given: Any) -> Iterator[list[Any]]:
    """Where variables are moved: in a scope, beside them; gives the other arguments as tensors of their type."""
    with name_scope(name, default_name, [*variables.values(), *given.values()]), contextlib.ExitStack() as places:
        for variable in reversed(variables.values()):
            places.enter_context(tf.colocate_with(variable))
        (first, leading), *others = ((which, variable.dtype) for which, variable in variables.items())
        dtype = _floating(leading, first)
        for which, other in others:
            if other.base_dtype != dtype:
                raise TypeError(f"{first}.base_dtype({dtype.name}) != {which}.base_dtype({other.base_dtype.name})")
        yield [convert_to_tensor(value, dtype=dtype, name=which) for which, value in given.items()]


@public("contrib.distributions.assign_moving_mean_variance")
def assign_moving_mean_variance(mean_var: Any, variance_var: Any, value: Any, decay: Any, name: str | None = None) -> Any:
    """Moves a mean and a variance towards a value; returns both, updated."""
    variables = {"mean_var": mean_var, "variance_var": variance_var}
    with _moving(name, "assign_moving_mean_variance", variables, value=value, decay=decay) as (target, kept):
        way = target - mean_var
        pace = 1.0 - kept
        # Both see the mean as it was; it moves too, so part of the squared distance is its step.
        with tf.control_dependencies([way]):
            loss = pace * (variance_var - kept * tf.square(way))
            return tf.assign_add(mean_var, pace * way), tf.assign_sub(variance_var, loss)


@public("contrib.distributions.assign_log_moving_mean_exp")
def assign_log_moving_mean_exp(log_mean_exp_var: Any, log_value: Any, decay: Any, name: str | None = None) -> Any:
    """Moves the logarithm of a mean of exponentials; returns it, updated."""
    variables = {"log_mean_exp_var": log_mean_exp_var}
    with _moving(name, "assign_log_moving_mean_exp", variables, log_value=log_value, decay=decay) as (target, kept):
        # The mean becomes kept + (1 - kept) exp(way) times what it was.
        way = target - log_mean_exp_var
        factors = tf.stack([tf.zeros_like(way) + tf.log(kept), tf.log1p(-kept) + way])
        return tf.assign_add(log_mean_exp_var, tf.reduce_logsumexp(factors, axis=0))


@public("contrib.distributions.moving_mean_variance")
def moving_mean_variance(value: Any, decay: Any, collections: Any = None, name: str | None = None) -> Any:
    """The moving mean and variance of a value, in variables that this function makes."""
    collections = [tf.GraphKeys.GLOBAL_VARIABLES] if collections is None else collections
    with tf.variable_scope(name, "moving_mean_variance", [value, decay]):
        value = convert_to_tensor(value, name="value")
        decay = convert_to_tensor(decay, dtype=_floating(value.dtype, "value"), name="decay")

        def variable(which: str) -> Any:
            zeros = tf.zeros_initializer()
            return tf.get_variable(which, shape=value.shape, dtype=value.dtype, initializer=zeros, trainable=False, collections=collections)

        variance = variable("moving_variance")
        return assign_moving_mean_variance(variable("moving_mean"), variance, value, decay)
