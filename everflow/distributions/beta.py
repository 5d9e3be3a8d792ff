"""The beta distribution."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.distributions.base import FULLY_REPARAMETERIZED, Distribution, undefined
from everflow.distributions.divergence import RegisterKL
from everflow.distributions.making import scoped, softplus
from everflow.distributions.tensors import gen_new_seed
from everflow.graph import dtypes
from everflow.graph.scopes import name_scope
from everflow.ops.control_flow.ordering import with_dependencies


@public("distributions.Beta")
class Beta(Distribution):
    """The distribution on (0, 1) with density proportional to x^(concentration1 - 1) (1 - x)^(concentration0 - 1)."""

    @scoped("concentration1", "concentration0")
    def __init__(
        self,
        concentration1: Any = None,
        concentration0: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Beta",
    ) -> None:
        self._concentration1, self._concentration0 = parts = [
            self._checked(tf.convert_to_tensor(given, name=which), validate_args)
            for which, given in (("concentration1", concentration1), ("concentration0", concentration0))
        ]
        tf.debugging.assert_same_float_dtype(parts)
        self._total_concentration = total = parts[0] + parts[1]
        super().__init__(total.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, graph_parents=[*parts, total], name=name)

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Any]:
        return dict(zip(("concentration1", "concentration0"), [tf.convert_to_tensor(sample_shape, dtype=dtypes.int32)] * 2))

    @property
    def concentration1(self) -> Any:
        """How much speaks for 1."""
        return self._concentration1

    @property
    def concentration0(self) -> Any:
        """How much speaks for 0."""
        return self._concentration0

    @property
    def total_concentration(self) -> Any:
        """The sum of both."""
        return self._total_concentration

    def _batch_shape_tensor(self) -> Any:
        return tf.shape(self.total_concentration)

    def _batch_shape(self) -> Any:
        return self.total_concentration.get_shape()

    def _event_shape_tensor(self) -> Any:
        return tf.constant([], dtype=dtypes.int32)

    def _event_shape(self) -> Any:
        return tf.TensorShape([])

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        ones = tf.ones_like(self.total_concentration, dtype=self.dtype)
        one = tf.random_gamma(shape=[n], alpha=ones * self.concentration1, dtype=self.dtype, seed=seed)
        other = tf.random_gamma(shape=[n], alpha=ones * self.concentration0, dtype=self.dtype, seed=gen_new_seed(seed, "beta"))
        return one / (one + other)

    def _log_prob(self, x: Any) -> Any:
        x = self._checked_value(x)
        normalization = tf.lgamma(self.concentration1) + tf.lgamma(self.concentration0) - tf.lgamma(self.total_concentration)
        return tf.math.xlogy(self.concentration1 - 1.0, x) + (self.concentration0 - 1.0) * tf.log1p(-x) - normalization

    def _prob(self, x: Any) -> Any:
        return tf.exp(self._log_prob(x))

    def _cdf(self, x: Any) -> Any:
        return tf.betainc(self.concentration1, self.concentration0, self._checked_value(x))

    def _log_cdf(self, x: Any) -> Any:
        return tf.log(self._cdf(x))

    def _entropy(self) -> Any:
        normalization = tf.lgamma(self.concentration1) + tf.lgamma(self.concentration0) - tf.lgamma(self.total_concentration)
        return (
            normalization
            - (self.concentration1 - 1.0) * tf.digamma(self.concentration1)
            - (self.concentration0 - 1.0) * tf.digamma(self.concentration0)
            + (self.total_concentration - 2.0) * tf.digamma(self.total_concentration)
        )

    def _mean(self) -> Any:
        return self._concentration1 / self._total_concentration

    def _variance(self) -> Any:
        return self._mean() * (1.0 - self._mean()) / (1.0 + self.total_concentration)

    def _mode(self) -> Any:
        mode = (self.concentration1 - 1.0) / (self.total_concentration - 2.0)
        if self.allow_nan_stats:
            return undefined(tf.logical_and(self.concentration1 > 1.0, self.concentration0 > 1.0), mode)
        one = tf.ones([], dtype=self.dtype)
        return with_dependencies(
            [
                tf.assert_less(one, self.concentration1, message="Mode undefined for concentration1 <= 1."),
                tf.assert_less(one, self.concentration0, message="Mode undefined for concentration0 <= 1."),
            ],
            mode,
        )

    def _checked(self, concentration: Any, validate_args: bool) -> Any:
        if not validate_args:
            return concentration
        return with_dependencies([tf.assert_positive(concentration, message="Concentration parameter must be positive.")], concentration)

    def _checked_value(self, x: Any) -> Any:
        if not self.validate_args:
            return x
        return with_dependencies(
            [
                tf.assert_positive(x, message="sample must be positive"),
                tf.assert_less(x, tf.ones([], self.dtype), message="sample must be less than `1`."),
            ],
            x,
        )


@public("contrib.distributions.BetaWithSoftplusConcentration")
@internal("ops.distributions.beta.BetaWithSoftplusConcentration")
class BetaWithSoftplusConcentration(Beta):
    """The beta distribution with parameters that softplus makes positive."""

    @scoped("concentration1", "concentration0")
    def __init__(
        self,
        concentration1: Any,
        concentration0: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "BetaWithSoftplusConcentration",
    ) -> None:
        one, zero = softplus(concentration1=concentration1, concentration0=concentration0)
        super().__init__(one, zero, validate_args, allow_nan_stats, name)


@RegisterKL(Beta, Beta)
def _kl_beta_beta(d1: Any, d2: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_beta_beta", values=[d1.concentration1, d1.concentration0, d2.concentration1, d2.concentration0]):

        def normalization(d: Any) -> Any:
            return tf.lgamma(d.concentration1) + tf.lgamma(d.concentration0) - tf.lgamma(d.total_concentration)

        return (
            normalization(d2)
            - normalization(d1)
            - tf.digamma(d1.concentration1) * (d2.concentration1 - d1.concentration1)
            - tf.digamma(d1.concentration0) * (d2.concentration0 - d1.concentration0)
            + tf.digamma(d1.total_concentration) * (d2.total_concentration - d1.total_concentration)
        )
