"""Distributions akin to the gamma one: chi-squared, inverse gamma."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.distributions.scalar import ScalarDistribution
from everflow.distributions.base import NOT_REPARAMETERIZED, undefined
from everflow.distributions.gamma import Gamma
from everflow.distributions.making import positive_tensors, scoped
from everflow.ops.control_flow.ordering import with_dependencies


@public("contrib.distributions.Chi2")
class Chi2(Gamma):
    """The sum of `df` squares of what is normal with mean 0 and deviation 1."""

    @scoped("df")
    def __init__(self, df: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Chi2") -> None:
        [self._df] = positive_tensors(validate_args, df=df)
        super().__init__(0.5 * self._df, tf.constant(0.5, self._df.dtype), validate_args, allow_nan_stats, name)

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

    @scoped("df")
    def __init__(self, df: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Chi2WithAbsDf") -> None:
        whole = tf.floor(tf.abs(df, name="abs_df"), name="floor_abs_df")
        super().__init__(whole, validate_args, allow_nan_stats, name)


@public("contrib.distributions.InverseGamma")
class InverseGamma(ScalarDistribution):
    """The inverse of what is gamma distributed."""

    @scoped("concentration", "rate")
    def __init__(
        self, concentration: Any, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "InverseGamma"
    ) -> None:
        both = positive_tensors(validate_args, concentration=concentration, rate=rate)
        dtype = tf.debugging.assert_same_float_dtype(both)
        self._concentration, self._rate = both
        super().__init__(dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, graph_parents=both, name=name)

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

    @scoped("concentration", "rate")
    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "InverseGammaWithSoftplusConcentrationRate",
    ) -> None:
        given = {"concentration": concentration, "rate": rate}
        shape, scale = (tf.nn.softplus(value, name=f"softplus_{which}") for which, value in given.items())
        super().__init__(shape, scale, validate_args, allow_nan_stats, name)
