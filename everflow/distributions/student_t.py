"""Student's t distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.distributions.base import FULLY_REPARAMETERIZED, Distribution, undefined
from everflow.distributions.tensors import gen_new_seed
from everflow.graph import dtypes
from everflow.graph.scopes import name_scope
from everflow.ops.control_flow.ordering import with_dependencies


@public("distributions.StudentT")
class StudentT(Distribution):
    """Student's t distribution with `df` degrees of freedom, moved to `loc` and stretched by `scale`."""

    def __init__(
        self, df: Any, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "StudentT"
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[df, loc, scale]) as name:
            with tf.control_dependencies([tf.assert_positive(df)] if validate_args else []):
                self._df = tf.identity(df, name="df")
                self._loc = tf.identity(loc, name="loc")
                self._scale = tf.identity(scale, name="scale")
                tf.debugging.assert_same_float_dtype((self._df, self._loc, self._scale))
        super().__init__(
            self._scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, [self._df, self._loc, self._scale], name
        )

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
        shape = tf.concat([[n], self.batch_shape_tensor()], 0)
        normal = tf.random_normal(shape, dtype=self.dtype, seed=seed)
        df = self.df * tf.ones(self.batch_shape_tensor(), dtype=self.dtype)
        gamma = tf.random_gamma([n], 0.5 * df, beta=0.5, dtype=self.dtype, seed=gen_new_seed(seed, salt="student_t"))
        return normal * tf.rsqrt(gamma / df) * self.scale + self.loc

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
        df = tf.ones(self.batch_shape_tensor(), dtype=self.dtype) * self.df
        scale = tf.ones(self.batch_shape_tensor(), dtype=self.dtype) * self.scale
        halves = tf.stack([0.5 * df, 0.5 * tf.ones_like(df)], axis=-1)
        half = 0.5 * (df + 1.0)
        return tf.log(tf.abs(scale)) + 0.5 * tf.log(df) + tf.lbeta(halves) + half * (tf.digamma(half) - tf.digamma(0.5 * df))

    def _mean(self) -> Any:
        mean = self.loc * tf.ones(self.batch_shape_tensor(), dtype=self.dtype)
        if self.allow_nan_stats:
            return undefined(tf.ones_like(mean) * self.df > 1.0, mean)
        check = tf.assert_less(tf.ones([], dtype=self.dtype), self.df, message="mean not defined for components of df <= 1")
        return with_dependencies([check], mean)

    def _variance(self) -> Any:
        df = tf.ones(self.batch_shape_tensor(), dtype=self.dtype) * self.df
        finite = df > 2.0
        # Nothing is divided by zero where the variance is infinite.
        denominator = tf.where(finite, df - 2.0, tf.ones_like(df))
        variance = tf.ones_like(df) * tf.square(self.scale) * df / denominator
        infinity = tf.fill(self.batch_shape_tensor(), np.array(np.inf, self.dtype.as_numpy_dtype), name="inf")
        variance = tf.where(finite, variance, infinity)
        if self.allow_nan_stats:
            return undefined(df > 1.0, variance)
        check = tf.assert_less(tf.ones([], dtype=self.dtype), self.df, message="variance not defined for components of df <= 1")
        return with_dependencies([check], variance)

    def _mode(self) -> Any:
        return tf.identity(self.loc * tf.ones(self.batch_shape_tensor(), dtype=self.dtype))


@public("contrib.distributions.StudentTWithAbsDfSoftplusScale")
@internal("ops.distributions.student_t.StudentTWithAbsDfSoftplusScale")
class StudentTWithAbsDfSoftplusScale(StudentT):
    """Student's t distribution with floor(|df|) degrees of freedom and a scale that softplus makes positive."""

    def __init__(
        self,
        df: Any,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "StudentTWithAbsDfSoftplusScale",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[df, scale]) as name:
            super().__init__(tf.floor(tf.abs(df)), loc, tf.nn.softplus(scale, name="softplus_scale"), validate_args, allow_nan_stats, name)
        self._parameters = parameters
