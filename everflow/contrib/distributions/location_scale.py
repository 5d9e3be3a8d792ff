"""Distributions with a location and a scale: Cauchy, logistic, Gumbel, and half of a normal one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.contrib.distributions.scalar import ScalarDistribution
from everflow.distributions import normal_functions
from everflow.distributions.base import FULLY_REPARAMETERIZED
from everflow.distributions.divergence import RegisterKL
from everflow.distributions.making import positive_tensors, scoped
from everflow.distributions.normal import LocationScale
from everflow.graph.scopes import name_scope


class _Standard(LocationScale):
    """A distribution with a location and a scale that is made of uniform samples."""

    def _set_up(self, loc: Any, scale: Any, validate_args: bool, allow_nan_stats: bool, name: str) -> None:
        with tf.control_dependencies([tf.assert_positive(scale)] if validate_args else []):
            both = [tf.identity(value, name=which) for which, value in (("loc", loc), ("scale", scale))]
            dtype = tf.debugging.assert_same_float_dtype(both)
        self._loc, self._scale = both
        super().__init__(dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, graph_parents=both, name=name)

    def _uniform(self, n: Any, seed: Any, low: float) -> Any:
        shape = tf.concat([[n], self.batch_shape_tensor()], 0)
        return tf.random_uniform(shape, minval=low, maxval=1.0, dtype=self.dtype, seed=seed)

    def _smallest(self) -> float:
        return np.finfo(self.dtype.as_numpy_dtype).tiny

    def _over_batch(self, value: Any) -> Any:
        return value * tf.ones(self.batch_shape_tensor(), dtype=value.dtype)


@public("contrib.distributions.Cauchy")
class Cauchy(_Standard):
    """The distribution with density 1 / (pi scale (1 + ((x - loc) / scale)^2)), which has no mean."""

    @scoped("loc", "scale")
    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Cauchy") -> None:
        self._set_up(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        return self._quantile(self._uniform(n, seed, 0.0))

    def _log_prob(self, x: Any) -> Any:
        return -tf.log1p(tf.square(self._standardized(x))) - (math.log(math.pi) + tf.log(self.scale))

    def _cdf(self, x: Any) -> Any:
        return tf.atan(self._standardized(x)) / math.pi + 0.5

    def _log_cdf(self, x: Any) -> Any:
        return tf.log1p(2.0 / math.pi * tf.atan(self._standardized(x))) - math.log(2.0)

    def _entropy(self) -> Any:
        return math.log(4.0 * math.pi) + tf.log(self._over_batch(self.scale))

    def _quantile(self, p: Any) -> Any:
        return self.loc + self.scale * tf.tan(math.pi * (p - 0.5))

    def _mode(self) -> Any:
        return self._over_batch(self.loc)

    def _mean(self) -> Any:
        return self._undefined("mean")

    def _stddev(self) -> Any:
        return self._undefined("stddev")

    def _undefined(self, what: str) -> Any:
        if not self.allow_nan_stats:
            raise ValueError(f"`{what}` is undefined for Cauchy distribution.")
        return tf.fill(self.batch_shape_tensor(), self.dtype.as_numpy_dtype(np.nan))


@public("contrib.distributions.Logistic")
class Logistic(_Standard):
    """The distribution whose cumulative one is the logistic function."""

    @scoped("loc", "scale")
    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Logistic") -> None:
        self._set_up(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        # Zero, which has no logarithm, is left out.
        uniform = self._uniform(n, seed, self._smallest())
        return (tf.log(uniform) - tf.log1p(-uniform)) * self.scale + self.loc

    def _log_prob(self, x: Any) -> Any:
        z = self._standardized(x)
        return -z - 2.0 * tf.nn.softplus(-z) - tf.log(self.scale)

    def _log_cdf(self, x: Any) -> Any:
        return -tf.nn.softplus(-self._standardized(x))

    def _cdf(self, x: Any) -> Any:
        return tf.sigmoid(self._standardized(x))

    def _log_survival_function(self, x: Any) -> Any:
        return -tf.nn.softplus(self._standardized(x))

    def _survival_function(self, x: Any) -> Any:
        return tf.sigmoid(-self._standardized(x))

    def _entropy(self) -> Any:
        return 2.0 + tf.log(self._over_batch(self.scale))

    def _mean(self) -> Any:
        return self._over_batch(self.loc)

    def _stddev(self) -> Any:
        return self._over_batch(self.scale) * (math.pi / math.sqrt(3.0))

    def _mode(self) -> Any:
        return self._mean()


@internal("contrib.distributions.python.ops.gumbel._Gumbel")
class _Gumbel(_Standard):
    """The distribution of the largest of many numbers."""

    @scoped("loc", "scale")
    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Gumbel") -> None:
        self._set_up(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        return self.loc - self.scale * tf.log(-tf.log(self._uniform(n, seed, self._smallest())))

    def _log_prob(self, x: Any) -> Any:
        z = self._standardized(x)
        return -z - tf.exp(-z) - tf.log(self.scale)

    def _log_cdf(self, x: Any) -> Any:
        return -tf.exp(-self._standardized(x))

    def _cdf(self, x: Any) -> Any:
        return tf.exp(self._log_cdf(x))

    def _entropy(self) -> Any:
        return 1.0 + tf.log(self._over_batch(self.scale)) + np.euler_gamma

    def _mean(self) -> Any:
        return self.loc + self.scale * np.euler_gamma

    def _stddev(self) -> Any:
        return self._over_batch(self.scale) * (math.pi / math.sqrt(6.0))

    def _mode(self) -> Any:
        return self._over_batch(self.loc)


@public("contrib.distributions.HalfNormal")
class HalfNormal(ScalarDistribution):
    """The absolute value of what is normal with mean zero and standard deviation `scale`."""

    @scoped("scale")
    def __init__(self, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "HalfNormal") -> None:
        parents = [self._scale] = positive_tensors(validate_args, scale=scale)
        dtype = self._scale.dtype
        super().__init__(dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, graph_parents=parents, name=name)

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Any]:
        return {"scale": tf.convert_to_tensor(sample_shape, dtype=tf.int32)}

    @property
    def scale(self) -> Any:
        """The standard deviation of the whole."""
        return self._scale

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        shape = tf.concat([[n], self.batch_shape_tensor()], 0)
        return tf.abs(tf.random_normal(shape, mean=0.0, stddev=1.0, dtype=self.dtype, seed=seed) * self.scale)

    def _prob(self, x: Any) -> Any:
        density = math.sqrt(2 / math.pi) / self.scale * tf.exp(-0.5 * tf.square(x / self.scale))
        return density * tf.cast(x >= 0, self.dtype)

    def _cdf(self, x: Any) -> Any:
        return tf.erf(tf.nn.relu(x) / self.scale / math.sqrt(2.0))

    def _entropy(self) -> Any:
        return 0.5 * tf.log(math.pi * tf.square(self.scale) / 2.0) + 0.5

    def _mean(self) -> Any:
        return self.scale * math.sqrt(2.0) / math.sqrt(math.pi)

    def _quantile(self, p: Any) -> Any:
        return math.sqrt(2.0) * self.scale * normal_functions.erfinv(p)

    def _mode(self) -> Any:
        return tf.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _variance(self) -> Any:
        return tf.square(self.scale) * (1.0 - 2.0 / math.pi)


@RegisterKL(HalfNormal, HalfNormal)
def _kl_half_normal_half_normal(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_half_normal_half_normal", [a.scale, b.scale]):
        return tf.log(b.scale) - tf.log(a.scale) + (tf.square(a.scale) - tf.square(b.scale)) / (2 * tf.square(b.scale))
