"""Expectations by sampling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope

IMPLEMENTATION = "python.contrib.bayesflow.python.ops.monte_carlo_impl"


@internal("contrib.bayesflow.python.ops.monte_carlo_impl._get_samples")
def _drawn(distribution: Any, z: Any, n: Any, seed: Any) -> Any:
    if (n is None) == (z is None):
        raise ValueError(f'Must specify exactly one of arguments "n" and "z".  Found: n = {n}, z = {z}')
    with name_scope("get_samples", values=[z, n]):
        return convert_to_tensor(z, name="z") if n is None else distribution.sample(n, seed=seed)


def _log_mean_exp(logs: Any) -> Any:
    highest = tf.stop_gradient(tf.reduce_max(logs, axis=[0]))
    return tf.log(tf.reduce_mean(tf.exp(logs - highest), axis=[0])) + highest


@public("contrib.bayesflow.monte_carlo.expectation_importance_sampler", f"{IMPLEMENTATION}.expectation_importance_sampler")
def expectation_importance_sampler(
    f: Callable[..., Any],
    log_p: Callable[..., Any],
    sampling_dist_q: Any,
    z: Any = None,
    n: Any = None,
    seed: Any = None,
    name: str = "expectation_importance_sampler",
) -> Any:
    """The expectation of f under p, from samples of q that are weighed by p / q."""
    with name_scope(name, values=[z, n]):
        z = _drawn(sampling_dist_q, z, n, seed)
        log_weights = log_p(z) - sampling_dist_q.log_prob(z)
        values = f(z)
        # Both signs of f are averaged in logarithms; the one that is added keeps these finite and goes away in the difference.
        plus, minus = (_log_mean_exp(tf.log(tf.nn.relu(part) + 1.0) + log_weights) for part in (values, -values))
    return tf.exp(plus) - tf.exp(minus)


@public(
    "contrib.bayesflow.monte_carlo.expectation_importance_sampler_logspace", f"{IMPLEMENTATION}.expectation_importance_sampler_logspace"
)
def expectation_importance_sampler_logspace(
    log_f: Callable[..., Any],
    log_p: Callable[..., Any],
    sampling_dist_q: Any,
    z: Any = None,
    n: Any = None,
    seed: Any = None,
    name: str = "expectation_importance_sampler_logspace",
) -> Any:
    """The logarithm of the expectation of a positive f under p, from samples of q that are weighed by p / q."""
    with name_scope(name, values=[z, n]):
        z = _drawn(sampling_dist_q, z, n, seed)
        return _log_mean_exp(log_f(z) + log_p(z) - sampling_dist_q.log_prob(z))


def _scored(f: Callable[..., Any], log_prob: Callable[..., Any] | None, points: Any) -> Any:
    """f at points that have no gradient of their own; what is added is zero, with the gradient of the score."""
    if not callable(log_prob):
        raise ValueError("`log_prob` must be a callable function.")
    found, logs = f(points), log_prob(points)
    return found + tf.stop_gradient(found) * (logs - tf.stop_gradient(logs))


@public("contrib.bayesflow.monte_carlo.expectation", f"{IMPLEMENTATION}.expectation")
def expectation(
    f: Callable[..., Any],
    samples: Any,
    log_prob: Callable[..., Any] | None = None,
    use_reparametrization: bool = True,
    axis: Any = 0,
    keep_dims: bool = False,
    name: str | None = None,
) -> Any:
    """The mean of f over samples, with a gradient that goes through the samples or, without that, through `log_prob`."""
    with name_scope(name, "expectation", [samples]):
        if not callable(f):
            raise ValueError("`f` must be a callable function.")
        values = f(samples) if use_reparametrization else _scored(f, log_prob, tf.stop_gradient(samples))
        return tf.reduce_mean(values, axis, keep_dims)
