"""Distributions akin to the gamma one: chi-squared, inverse gamma."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.distributions.scalar import ScalarDistribution
from everflow.distributions.base import NOT_REPARAMETERIZED, undefined
from everflow.distributions.gamma import Gamma
from everflow.graph.scopes import name_scope
from everflow.ops.control_flow.ordering import with_dependencies


@public("contrib.distributions.Chi2")
class Chi2(Gamma):
    """The sum of `df` squares of what is normal with mean 0 and deviation 1."""

    def __init__(self, df: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Chi2") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[df]) as name:
            with tf.control_dependencies([tf.assert_positive(df)] if validate_args else []):
                self._df = tf.identity(df, name="df")
            super().__init__(
                concentration=0.5 * self._df,
                rate=tf.constant(0.5, dtype=self._df.dtype),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name,
            )
        self._parameters = parameters

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Any]:
        return {"df": tf.convert_to_tensor(sample_shape, dtype=tf.int32)}

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return self._df


@public("contrib.distributions.Chi2WithAbsDf")
class Chi2WithAbsDf(Chi2):
    """The chi-squared distribution with floor(|df|) degrees of freedom."""

    def __init__(self, df: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Chi2WithAbsDf") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[df]) as name:
            super().__init__(
                df=tf.floor(tf.abs(df, name="abs_df"), name="floor_abs_df"),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name,
            )
        self._parameters = parameters


@public("contrib.distributions.InverseGamma")
class InverseGamma(ScalarDistribution):
    """The inverse of what is gamma distributed."""

    def __init__(
        self, concentration: Any, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "InverseGamma"
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration, rate]) as name:
            checks = [tf.assert_positive(concentration), tf.assert_positive(rate)] if validate_args else []
            with tf.control_dependencies(checks):
                self._concentration = tf.identity(concentration, name="concentration")
                self._rate = tf.identity(rate, name="rate")
                tf.debugging.assert_same_float_dtype([self._concentration, self._rate])
        super().__init__(
            self._concentration.dtype,
            NOT_REPARAMETERIZED,
            validate_args,
            allow_nan_stats,
            parameters,
            [self._concentration, self._rate],
            name,
        )

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Any]:
        return dict(zip(("concentration", "rate"), [tf.convert_to_tensor(sample_shape, dtype=tf.int32)] * 2))

    @property
    def concentration(self) -> Any:
        """The shape parameter."""
        return self._concentration

    @property
    def rate(self) -> Any:
        """The scale."""
        return self._rate

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        return 1.0 / tf.random_gamma(shape=[n], alpha=self.concentration, beta=self.rate, dtype=self.dtype, seed=seed)

    def _log_prob(self, x: Any) -> Any:
        x = self._valid(x)
        normalization = tf.lgamma(self.concentration) - self.concentration * tf.log(self.rate)
        return -(1.0 + self.concentration) * tf.log(x) - self.rate / x - normalization

    def _cdf(self, x: Any) -> Any:
        # The incomplete gamma function wants arguments of one shape.
        x = self._spread_over_batch(self._valid(x))
        return tf.igammac(self.concentration, self.rate / x)

    def _entropy(self) -> Any:
        a = self.concentration
        return a + tf.log(self.rate) + tf.lgamma(a) - (1.0 + a) * tf.digamma(a)

    def _mean(self) -> Any:
        return self._where_defined(self.rate / (self.concentration - 1.0), 1, "mean")

    def _variance(self) -> Any:
        value = tf.square(self.rate) / tf.square(self.concentration - 1.0) / (self.concentration - 2.0)
        return self._where_defined(value, 2, "variance")

    def _mode(self) -> Any:
        return self.rate / (1.0 + self.concentration)

    def _where_defined(self, value: Any, least: int, what: str) -> Any:
        if self.allow_nan_stats:
            return undefined(tf.ones_like(value) * self.concentration > least, value)
        bound = tf.constant(least, self.dtype)
        check = tf.assert_less(bound, self.concentration, message=f"{what} undefined when any concentration <= {least}")
        return with_dependencies([check], value)

    def _valid(self, x: Any) -> Any:
        tf.debugging.assert_same_float_dtype(tensors=[x], dtype=self.dtype)
        return with_dependencies([tf.assert_positive(x)], x) if self.validate_args else x


@public("contrib.distributions.InverseGammaWithSoftplusConcentrationRate")
class InverseGammaWithSoftplusConcentrationRate(InverseGamma):
    """The inverse gamma distribution with parameters that softplus makes positive."""

    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "InverseGammaWithSoftplusConcentrationRate",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration, rate]) as name:
            super().__init__(
                concentration=tf.nn.softplus(concentration, name="softplus_concentration"),
                rate=tf.nn.softplus(rate, name="softplus_rate"),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name,
            )
        self._parameters = parameters
