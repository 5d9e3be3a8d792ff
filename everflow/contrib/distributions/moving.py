"""Moving means and variances in variables."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope


def _floating(dtype: Any, what: str) -> Any:
    if not dtype.base_dtype.is_floating:
        raise TypeError(f"{what}.base_dtype({dtype.base_dtype.name}) does not have float type `dtype`.")
    return dtype.base_dtype


@public("contrib.distributions.assign_moving_mean_variance")
def assign_moving_mean_variance(mean_var: Any, variance_var: Any, value: Any, decay: Any, name: str | None = None) -> Any:
    """Moves a mean and a variance towards a value; returns both, updated."""
    with name_scope(name, "assign_moving_mean_variance", [variance_var, mean_var, value, decay]):
        with tf.colocate_with(variance_var), tf.colocate_with(mean_var):
            dtype = _floating(mean_var.dtype, "mean_var")
            if dtype != variance_var.dtype.base_dtype:
                raise TypeError(f"mean_var.base_dtype({dtype.name}) != variance_var.base_dtype({variance_var.dtype.base_dtype.name})")
            value = convert_to_tensor(value, dtype=dtype, name="value")
            decay = convert_to_tensor(decay, dtype=dtype, name="decay")
            delta = value - mean_var
            with tf.control_dependencies([delta]):
                mean = tf.assign_add(mean_var, (1.0 - decay) * delta)
                # The mean moves too: part of the squared distance is its step.
                variance = tf.assign_sub(variance_var, (1.0 - decay) * (variance_var - decay * tf.square(delta)))
            return mean, variance


@public("contrib.distributions.assign_log_moving_mean_exp")
def assign_log_moving_mean_exp(log_mean_exp_var: Any, log_value: Any, decay: Any, name: str | None = None) -> Any:
    """Moves the logarithm of a mean of exponentials; returns it, updated."""
    with name_scope(name, "assign_log_moving_mean_exp", [log_mean_exp_var, log_value, decay]):
        with tf.colocate_with(log_mean_exp_var):
            dtype = _floating(log_mean_exp_var.dtype, "log_mean_exp_var")
            log_value = convert_to_tensor(log_value, dtype=dtype, name="log_value")
            decay = convert_to_tensor(decay, dtype=dtype, name="decay")
            delta = log_value - log_mean_exp_var
            both = tf.stack([tf.log(decay) * tf.ones_like(delta), delta + tf.log1p(-decay)])
            return tf.assign_add(log_mean_exp_var, tf.reduce_logsumexp(both, axis=0))


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
