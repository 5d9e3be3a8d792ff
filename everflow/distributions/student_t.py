"""Student's t distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.distributions.base import FULLY_REPARAMETERIZED, Distribution, undefined
from everflow.distributions.making import floats, scoped, softplus
from everflow.distributions.tensors import gen_new_seed
from everflow.graph import dtypes
from everflow.ops.control_flow.ordering import with_dependencies


@public("distributions.StudentT")
class StudentT(Distribution):
    """Student's t distribution with `df` degrees of freedom, moved to `loc` and stretched by `scale`."""

    @scoped("df", "loc", "scale")
    def __init__(
        self, df: Any, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "StudentT"
    ) -> None:
        checks = [tf.assert_positive(df)] if validate_args else []
        self._df, self._loc, self._scale = parts = floats(checks, df=df, loc=loc, scale=scale)
        super().__init__(parts[-1].dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, graph_parents=parts, name=name)

    def _everywhere(self, value: Any) -> Any:
        """A parameter for each distribution of the batch."""
        return value * tf.ones(self.batch_shape_tensor(), dtype=self.dtype)

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Any]:
        return dict(zip(("df", "loc", "scale"), [tf.convert_to_tensor(sample_shape, dtype=dtypes.int32)] * 3))

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return self._df

    @property
    def loc(self) -> Any:
        """Where the distribution is."""
        return self._loc

    @property
    def scale(self) -> Any:
        """How wide it is."""
        return self._scale

    def _batch_shape_tensor(self) -> Any:
        both = tf.broadcast_dynamic_shape(tf.shape(self.loc), tf.shape(self.scale))
        return tf.broadcast_dynamic_shape(tf.shape(self.df), both)

    def _batch_shape(self) -> Any:
        both = tf.broadcast_static_shape(self.loc.get_shape(), self.scale.get_shape())
        return tf.broadcast_static_shape(tf.broadcast_static_shape(self.df.get_shape(), self.loc.get_shape()), both)

    def _event_shape_tensor(self) -> Any:
        return tf.constant([], dtype=dtypes.int32)

    def _event_shape(self) -> Any:
        return tf.TensorShape([])

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        # A normal number over the root of a chi-squared one.
        normal = tf.random_normal(tf.concat([[n], self.batch_shape_tensor()], 0), dtype=self.dtype, seed=seed)
        df = self._everywhere(self.df)
        squares = tf.random_gamma([n], 0.5 * df, beta=0.5, dtype=self.dtype, seed=gen_new_seed(seed, salt="student_t"))
        return normal * tf.rsqrt(squares / df) * self.scale + self.loc

    def _log_prob(self, x: Any) -> Any:
        y = (x - self.loc) / self.scale
        half = 0.5 * (self.df + 1.0)
        normalization = (
            tf.log(tf.abs(self.scale)) + 0.5 * tf.log(self.df) + 0.5 * math.log(math.pi) + tf.lgamma(0.5 * self.df) - tf.lgamma(half)
        )
        return -half * tf.log1p(y**2.0 / self.df) - normalization

    def _cdf(self, x: Any) -> Any:
        y = (x - self.loc) / tf.abs(self.scale)
        tail = 0.5 * tf.betainc(0.5 * self.df, 0.5, self.df / (y**2.0 + self.df))
        return tf.where(y < 0.0, tail, 1.0 - tail)

    def _entropy(self) -> Any:
        df, scale = self._everywhere(self.df), self._everywhere(self.scale)
        halves = tf.stack([0.5 * df, 0.5 * tf.ones_like(df)], axis=-1)
        half = 0.5 * (df + 1.0)
        return tf.log(tf.abs(scale)) + 0.5 * tf.log(df) + tf.lbeta(halves) + half * (tf.digamma(half) - tf.digamma(0.5 * df))

    def _mean(self) -> Any:
        mean = self._everywhere(self.loc)
        if self.allow_nan_stats:
            return undefined(tf.ones_like(mean) * self.df > 1.0, mean)
        return self._if_defined("mean", mean)

    def _variance(self) -> Any:
        df = self._everywhere(self.df)
        finite = df > 2.0
        # Nothing is divided by zero where the variance is infinite.
        denominator = tf.where(finite, df - 2.0, tf.ones_like(df))
        variance = tf.ones_like(df) * tf.square(self.scale) * df / denominator
        infinity = tf.fill(self.batch_shape_tensor(), np.array(np.inf, self.dtype.as_numpy_dtype), name="inf")
        variance = tf.where(finite, variance, infinity)
        return undefined(df > 1.0, variance) if self.allow_nan_stats else self._if_defined("variance", variance)

    def _if_defined(self, what: str, moment: Any) -> Any:
        check = tf.assert_less(tf.ones([], dtype=self.dtype), self.df, message=f"{what} not defined for components of df <= 1")
        return with_dependencies([check], moment)

    def _mode(self) -> Any:
        return tf.identity(self._everywhere(self.loc))


@public("contrib.distributions.StudentTWithAbsDfSoftplusScale")
@internal("ops.distributions.student_t.StudentTWithAbsDfSoftplusScale")
class StudentTWithAbsDfSoftplusScale(StudentT):
    """Student's t distribution with floor(|df|) degrees of freedom and a scale that softplus makes positive."""

    @scoped("df", "scale")
    def __init__(
        self,
        df: Any,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "StudentTWithAbsDfSoftplusScale",
    ) -> None:
        df = tf.floor(tf.abs(df))
        (scale,) = softplus(scale=scale)
        super().__init__(df, loc, scale, validate_args, allow_nan_stats, name)
