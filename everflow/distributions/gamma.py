"""The gamma distribution, and the exponential one, which is a case of it."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.distributions.base import FULLY_REPARAMETERIZED, Distribution, undefined
from everflow.distributions.divergence import RegisterKL
from everflow.distributions.making import floats, scoped, softplus
from everflow.graph import dtypes
from everflow.graph.scopes import name_scope
from everflow.ops.control_flow.ordering import with_dependencies


@public("distributions.Gamma")
class Gamma(Distribution):
    """The distribution with density proportional to x^(concentration - 1) exp(-x rate)."""

    @scoped("concentration", "rate")
    def __init__(
        self, concentration: Any, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Gamma"
    ) -> None:
        checks = [tf.assert_positive(parameter) for parameter in (concentration, rate)] if validate_args else []
        self._concentration, self._rate = parts = floats(checks, concentration=concentration, rate=rate)
        super().__init__(parts[0].dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, graph_parents=parts, name=name)

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Any]:
        return dict(zip(("concentration", "rate"), [tf.convert_to_tensor(sample_shape, dtype=dtypes.int32)] * 2))

    @property
    def concentration(self) -> Any:
        """The shape parameter."""
        return self._concentration

    @property
    def rate(self) -> Any:
        """The inverse of the scale."""
        return self._rate

    def _batch_shape_tensor(self) -> Any:
        return tf.broadcast_dynamic_shape(tf.shape(self.concentration), tf.shape(self.rate))

    def _batch_shape(self) -> Any:
        return tf.broadcast_static_shape(self.concentration.get_shape(), self.rate.get_shape())

    def _event_shape_tensor(self) -> Any:
        return tf.constant([], dtype=dtypes.int32)

    def _event_shape(self) -> Any:
        return tf.TensorShape([])

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        return tf.random_gamma(shape=[n], alpha=self.concentration, beta=self.rate, dtype=self.dtype, seed=seed)

    def _log_prob(self, x: Any) -> Any:
        x = self._checked(x)
        normalization = tf.lgamma(self.concentration) - self.concentration * tf.log(self.rate)
        return tf.math.xlogy(self.concentration - 1.0, x) - self.rate * x - normalization

    def _cdf(self, x: Any) -> Any:
        # The incomplete gamma function wants arguments of one shape.
        x = self._checked(x) * tf.ones(self.batch_shape_tensor(), dtype=self.dtype)
        return tf.igamma(self.concentration, self.rate * x)

    def _entropy(self) -> Any:
        return (
            self.concentration
            - tf.log(self.rate)
            + tf.lgamma(self.concentration)
            + (1.0 - self.concentration) * tf.digamma(self.concentration)
        )

    def _mean(self) -> Any:
        return self.concentration / self.rate

    def _variance(self) -> Any:
        return self.concentration / tf.square(self.rate)

    def _stddev(self) -> Any:
        return tf.sqrt(self.concentration) / self.rate

    def _mode(self) -> Any:
        mode = (self.concentration - 1.0) / self.rate
        if self.allow_nan_stats:
            return undefined(tf.ones_like(mode) * self.concentration > 1.0, mode)
        one = tf.ones([], self.dtype)
        check = tf.assert_less(one, self.concentration, message="mode not defined when any concentration <= 1")
        return with_dependencies([check], mode)

    def _checked(self, x: Any) -> Any:
        tf.debugging.assert_same_float_dtype(tensors=[x], dtype=self.dtype)
        return with_dependencies([tf.assert_positive(x)], x) if self.validate_args else x


@public("contrib.distributions.GammaWithSoftplusConcentrationRate")
@internal("ops.distributions.gamma.GammaWithSoftplusConcentrationRate")
class GammaWithSoftplusConcentrationRate(Gamma):
    """The gamma distribution with parameters that softplus makes positive."""

    @scoped("concentration", "rate")
    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "GammaWithSoftplusConcentrationRate",
    ) -> None:
        concentration, rate = softplus(concentration=concentration, rate=rate)
        super().__init__(concentration, rate, validate_args, allow_nan_stats, name)


@RegisterKL(Gamma, Gamma)
def _kl_gamma_gamma(g0: Any, g1: Any, name: str | None = None) -> Any:
    a, p, b, q = g0.concentration, g0.rate, g1.concentration, g1.rate
    with name_scope(name, "kl_gamma_gamma", values=[a, p, b, q]):
        by_concentration = (a - b) * tf.digamma(a) + tf.lgamma(b) - tf.lgamma(a)
        return by_concentration + b * tf.log(p) - b * tf.log(q) + a * (q / p - 1.0)


@public("distributions.Exponential")
class Exponential(Gamma):
    """The distribution with density rate exp(-x rate): gamma with concentration 1."""

    @scoped("rate")
    def __init__(self, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Exponential") -> None:
        rate = tf.convert_to_tensor(rate, name="rate")
        super().__init__(tf.ones([], dtype=rate.dtype), rate, validate_args, allow_nan_stats, name)

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Any]:
        return {"rate": tf.convert_to_tensor(sample_shape, dtype=dtypes.int32)}

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        shape = tf.concat([[n], tf.shape(self._rate)], 0)
        # Not 0 itself: its logarithm would be infinite.
        lowest = np.finfo(self.dtype.as_numpy_dtype).tiny
        return -tf.log(tf.random_uniform(shape, minval=lowest, maxval=1.0, seed=seed, dtype=self.dtype)) / self._rate

    def _log_survival_function(self, value: Any) -> Any:
        return self._log_prob(value) - tf.log(self._rate)


@public("contrib.distributions.ExponentialWithSoftplusRate")
@internal("ops.distributions.exponential.ExponentialWithSoftplusRate")
class ExponentialWithSoftplusRate(Exponential):
    """The exponential distribution with a rate that softplus makes positive."""

    @scoped("rate")
    def __init__(
        self, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "ExponentialWithSoftplusRate"
    ) -> None:
        (rate,) = softplus(rate=rate)
        super().__init__(rate, validate_args, allow_nan_stats, name)
