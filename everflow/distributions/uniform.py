"""The uniform distribution."""

from __future__ import annotations

import math
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.distributions.base import FULLY_REPARAMETERIZED, Distribution
from everflow.distributions.making import floats, scoped
from everflow.graph import dtypes


@public("distributions.Uniform")
class Uniform(Distribution):
    """All numbers from low to high (which is not one of them) are as likely as each other."""

    @scoped("low", "high")
    def __init__(
        self, low: Any = 0.0, high: Any = 1.0, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Uniform"
    ) -> None:
        checks = [tf.assert_less(low, high, message="uniform not defined when low >= high.")] if validate_args else []
        self._low, self._high = parts = floats(checks, low=low, high=high)
        super().__init__(parts[0].dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, graph_parents=parts, name=name)

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Any]:
        return dict(zip(("low", "high"), [tf.convert_to_tensor(sample_shape, dtype=dtypes.int32)] * 2))

    @property
    def low(self) -> Any:
        """The lower bound."""
        return self._low

    @property
    def high(self) -> Any:
        """The upper bound."""
        return self._high

    def range(self, name: str = "range") -> Any:
        """high - low."""
        with self._name_scope(name):
            return self.high - self.low

    def _batch_shape_tensor(self) -> Any:
        return tf.broadcast_dynamic_shape(tf.shape(self.low), tf.shape(self.high))

    def _batch_shape(self) -> Any:
        return tf.broadcast_static_shape(self.low.get_shape(), self.high.get_shape())

    def _event_shape_tensor(self) -> Any:
        return tf.constant([], dtype=dtypes.int32)

    def _event_shape(self) -> Any:
        return tf.TensorShape([])

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        shape = tf.concat([[n], self.batch_shape_tensor()], 0)
        return self.low + self.range() * tf.random_uniform(shape=shape, dtype=self.dtype, seed=seed)

    def _prob(self, x: Any) -> Any:
        everywhere = x * tf.ones(self.batch_shape_tensor(), dtype=x.dtype)
        outside = tf.logical_or(everywhere < self.low, everywhere >= self.high)
        density = tf.ones_like(everywhere) / self.range()
        return tf.where(tf.is_nan(everywhere), everywhere, tf.where(outside, tf.zeros_like(everywhere), density))

    def _cdf(self, x: Any) -> Any:
        shape = tf.broadcast_dynamic_shape(tf.shape(x), self.batch_shape_tensor())
        never, always = (fill(shape, dtype=self.dtype) for fill in (tf.zeros, tf.ones))
        x = x * always
        so_far = tf.where(x < self.low, never, (x - self.low) / self.range())
        return tf.where(x >= self.high, always, so_far)

    def _quantile(self, value: Any) -> Any:
        return (1.0 - value) * self.low + value * self.high

    def _entropy(self) -> Any:
        return tf.log(self.range())

    def _mean(self) -> Any:
        return (self.low + self.high) / 2.0

    def _variance(self) -> Any:
        return tf.square(self.range()) / 12.0

    def _stddev(self) -> Any:
        return self.range() / math.sqrt(12.0)
