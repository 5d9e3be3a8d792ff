"""Checks that samples of a distribution fit what it says of itself, for test cases to inherit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope

HOME = "contrib.distributions.python.ops.test_util"


class _Helpers:
    """What test cases have: assertAllClose."""

    assertAllClose: Callable[..., None]

    def _moments_fit(self, found: dict[str, Any], names: list[str], tolerances: dict[str, tuple[float, float]]) -> None:
        for name in names:
            rtol, atol = tolerances[name]
            self.assertAllClose(found[f"{name} said"], found[f"{name} seen"], rtol=rtol, atol=atol)


@internal(f"{HOME}.DiscreteScalarDistributionTestHelpers")
class DiscreteScalarDistributionTestHelpers(_Helpers):
    """Checks of distributions of whole numbers."""

    def run_test_sample_consistent_log_prob(
        self,
        sess_run_fn: Callable[..., Any],
        dist: Any,
        num_samples: int = 100000,
        num_threshold: int = 1000,
        seed: int = 42,
        batch_size: Any = None,
        rtol: float = 1e-2,
        atol: float = 0.0,
    ) -> None:
        """Numbers that are drawn at least `num_threshold` times are drawn as often as their probability says."""
        if num_threshold < 1:
            raise ValueError(f"num_threshold({num_threshold}) must be at least 1.")
        drawn = sess_run_fn(tf.reshape(dist.sample(num_samples, seed=seed), [num_samples, -1]))
        ndims = int(sess_run_fn(tf.size(dist.batch_shape_tensor())))
        for i, column in enumerate(drawn.T):
            values, counts = np.unique(column, return_counts=True)
            often = counts > num_threshold
            values, counts = values[often], counts[often]
            probs = sess_run_fn(tf.exp(dist.log_prob(values.reshape([-1] + [1] * ndims))))
            self.assertAllClose(probs.reshape([len(values), -1])[:, i], counts / num_samples, rtol=rtol, atol=atol)

    def run_test_sample_consistent_mean_variance(
        self, sess_run_fn: Callable[..., Any], dist: Any, num_samples: int = 100000, seed: int = 24, rtol: float = 1e-2, atol: float = 0.0
    ) -> None:
        """Mean, variance and deviation of samples are those of the distribution."""
        x = tf.cast(dist.sample(num_samples, seed=seed), tf.float32)
        mean, variance = tf.nn.moments(x, axes=[0])
        found = sess_run_fn(
            {
                "mean seen": mean,
                "mean said": dist.mean(),
                "variance seen": variance,
                "variance said": dist.variance(),
                "stddev seen": tf.sqrt(variance),
                "stddev said": dist.stddev(),
            }
        )
        names = ["mean", "variance", "stddev"]
        self._moments_fit(found, names, dict.fromkeys(names, (rtol, atol)))

    def histogram(self, x: Any, value_range: Any = None, nbins: Any = None, name: str | None = None) -> tuple[Any, Any]:
        """How many samples there are from each edge to the next, and the edges: whole numbers if not said otherwise."""
        with name_scope(name, "histogram", [x]):
            values = convert_to_tensor(x, name="x")
            limits = (tf.reduce_min(values), tf.reduce_max(values) + 1) if value_range is None else value_range
            both = convert_to_tensor(limits, name="value_range")
            low, high = tf.unstack(both, num=2)
            count = tf.cast(high - low, tf.int32) if nbins is None else nbins
            # The last of count + 1 edges is where nothing begins.
            edges = tf.cast(tf.linspace(low, high, count + 1), values.dtype.base_dtype)[:-1]
            return tf.histogram_fixed_width(values, both, count), edges


@internal(f"{HOME}.VectorDistributionTestHelpers")
class VectorDistributionTestHelpers(_Helpers):
    """Checks of distributions of vectors."""

    def run_test_sample_consistent_log_prob(
        self,
        sess_run_fn: Callable[..., Any],
        dist: Any,
        num_samples: int = 100000,
        radius: float = 1.0,
        center: Any = 0.0,
        seed: int = 42,
        rtol: float = 1e-2,
        atol: float = 0.0,
    ) -> None:
        """The mean of 1 / density over samples in a ball is the volume of the ball."""
        x = tf.identity(dist.sample(num_samples, seed=seed))
        inside = tf.cast(tf.norm(x - center, axis=-1) <= radius, x.dtype)
        volume = tf.reduce_mean(tf.exp(-dist.log_prob(x)) * inside, axis=0)
        sess_run_fn(tf.global_variables_initializer())
        seen, batch, event = sess_run_fn([volume, dist.batch_shape_tensor(), dist.event_shape_tensor()])
        size = int(event[0])
        whole = math.pi ** (size / 2) / math.gamma(1 + size / 2) * radius**size
        self.assertAllClose(np.full(batch, whole), seen, rtol=rtol, atol=atol)

    def run_test_sample_consistent_mean_covariance(
        self,
        sess_run_fn: Callable[..., Any],
        dist: Any,
        num_samples: int = 100000,
        seed: int = 24,
        rtol: float = 1e-2,
        atol: float = 0.1,
        cov_rtol: float | None = None,
        cov_atol: float | None = None,
    ) -> None:
        """Mean, covariances, variance and deviation of samples are those of the distribution."""
        x = dist.sample(num_samples, seed=seed)
        mean = tf.reduce_mean(x, axis=0)
        apart = x - mean
        covariance = tf.reduce_mean(apart[..., :, tf.newaxis] * apart[..., tf.newaxis, :], axis=0)
        variance = tf.matrix_diag_part(covariance)
        found = sess_run_fn(
            {
                "mean seen": mean,
                "mean said": dist.mean(),
                "covariance seen": covariance,
                "covariance said": dist.covariance(),
                "variance seen": variance,
                "variance said": dist.variance(),
                "stddev seen": tf.sqrt(variance),
                "stddev said": dist.stddev(),
            }
        )
        names = ["mean", "covariance", "variance", "stddev"]
        self._moments_fit(found, names, {n: (rtol, atol) for n in names} | {"covariance": (cov_rtol or rtol, cov_atol or atol)})
