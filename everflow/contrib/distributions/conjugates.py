"""What is known of a normal mean after samples, where the deviation is known."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.distributions.normal import Normal


def _updated(prior: Any, scale: Any, s: Any, n: Any) -> tuple[Any, Any]:
    """The mean and variance of the posterior: precisions add up."""
    if not isinstance(prior, Normal):
        raise TypeError("Expected prior to be an instance of type Normal")
    if s.dtype != prior.dtype:
        raise TypeError(f"Observation sum s.dtype does not match prior dtype: {s.dtype} vs. {prior.dtype}")
    n = tf.cast(n, prior.dtype)
    prior_precision, sample_precision = 1 / tf.square(prior.scale), 1 / tf.square(scale)
    variance = 1.0 / (prior_precision + n * sample_precision)
    return (prior.loc * prior_precision + s * sample_precision) * variance, variance


@public("contrib.distributions.normal_conjugates_known_scale_posterior")
def normal_conjugates_known_scale_posterior(prior: Any, scale: Any, s: Any, n: Any) -> Normal:
    """The distribution of the mean of a normal one with deviation `scale`, after n samples that sum to s."""
    mean, variance = _updated(prior, scale, s, n)
    return Normal(loc=mean, scale=tf.sqrt(variance))


@public("contrib.distributions.normal_conjugates_known_scale_predictive")
def normal_conjugates_known_scale_predictive(prior: Any, scale: Any, s: Any, n: Any) -> Normal:
    """The distribution of the next sample of a normal one with deviation `scale`, after n samples that sum to s."""
    mean, variance = _updated(prior, scale, s, n)
    return Normal(loc=mean, scale=tf.sqrt(variance + tf.square(scale)))
