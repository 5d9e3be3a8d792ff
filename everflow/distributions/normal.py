"""The normal distribution."""

from __future__ import annotations

import math
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.distributions import normal_functions
from everflow.distributions.base import FULLY_REPARAMETERIZED, Distribution
from everflow.distributions.divergence import RegisterKL
from everflow.distributions.making import floats, scoped, softplus
from everflow.graph import dtypes
from everflow.graph.scopes import name_scope


class LocationScale(Distribution):
    """What distributions with a location and a scale share: names, shapes."""

    _loc: Any
    _scale: Any

    def _begin(self, loc: Any, scale: Any, validate_args: bool, allow_nan_stats: bool, name: str) -> None:
        """What constructors do with their arguments, in the distribution's scope."""
        checks = [tf.assert_positive(scale)] if validate_args else []
        self._loc, self._scale = parts = floats(checks, loc=loc, scale=scale)
        Distribution.__init__(self, parts[0].dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, graph_parents=parts, name=name)

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Any]:
        return dict(zip(("loc", "scale"), [tf.convert_to_tensor(sample_shape, dtype=dtypes.int32)] * 2))

    @property
    def loc(self) -> Any:
        """Where the distribution is."""
        return self._loc

    @property
    def scale(self) -> Any:
        """How wide it is."""
        return self._scale

    def _batch_shape_tensor(self) -> Any:
        return tf.broadcast_dynamic_shape(tf.shape(self.loc), tf.shape(self.scale))

    def _batch_shape(self) -> Any:
        return tf.broadcast_static_shape(self.loc.get_shape(), self.scale.get_shape())

    def _event_shape_tensor(self) -> Any:
        return tf.constant([], dtype=dtypes.int32)

    def _event_shape(self) -> Any:
        return tf.TensorShape([])

    def _standardized(self, x: Any) -> Any:
        with name_scope("standardize", values=[x]):
            return (x - self.loc) / self.scale

    def _spread(self, value: Any) -> Any:
        """A value for each distribution of the batch."""
        return value * tf.ones_like(self.scale)


@public("distributions.Normal")
class Normal(LocationScale):
    """The normal distribution with mean `loc` and standard deviation `scale`."""

    @scoped("loc", "scale")
    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Normal") -> None:
        self._begin(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        shape = tf.concat([[n], self.batch_shape_tensor()], 0)
        return tf.random_normal(shape=shape, mean=0.0, stddev=1.0, dtype=self.loc.dtype, seed=seed) * self.scale + self.loc

    def _log_prob(self, x: Any) -> Any:
        return -0.5 * tf.square(self._standardized(x)) - (0.5 * math.log(2.0 * math.pi) + tf.log(self.scale))

    def _log_cdf(self, x: Any) -> Any:
        return normal_functions.log_ndtr(self._standardized(x))

    def _cdf(self, x: Any) -> Any:
        return normal_functions.ndtr(self._standardized(x))

    def _log_survival_function(self, x: Any) -> Any:
        return normal_functions.log_ndtr(-self._standardized(x))

    def _survival_function(self, x: Any) -> Any:
        return normal_functions.ndtr(-self._standardized(x))

    def _entropy(self) -> Any:
        scale = self.scale * tf.ones_like(self.loc)
        return 0.5 * math.log(2.0 * math.pi * math.e) + tf.log(scale)

    def _mean(self) -> Any:
        return self._spread(self.loc)

    def _quantile(self, p: Any) -> Any:
        return normal_functions.ndtri(p) * self.scale + self.loc

    def _stddev(self) -> Any:
        return self.scale * tf.ones_like(self.loc)

    def _mode(self) -> Any:
        return self._mean()

    def _z(self, x: Any) -> Any:
        return self._standardized(x)

    def _inv_z(self, z: Any) -> Any:
        with name_scope("reconstruct", values=[z]):
            return z * self.scale + self.loc


@public("contrib.distributions.NormalWithSoftplusScale")
@internal("ops.distributions.normal.NormalWithSoftplusScale")
class NormalWithSoftplusScale(Normal):
    """The normal distribution with a scale that softplus makes positive."""

    @scoped("scale")
    def __init__(
        self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "NormalWithSoftplusScale"
    ) -> None:
        (scale,) = softplus(scale=scale)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)


@RegisterKL(Normal, Normal)
def _kl_normal_normal(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_normal_normal", [a.loc, b.loc]):
        one, two, half = (tf.constant(v, dtype=a.dtype) for v in (1, 2, 0.5))
        ratio = tf.square(a.scale) / tf.square(b.scale)
        return tf.squared_difference(a.loc, b.loc) / (two * tf.square(b.scale)) + half * (ratio - one - tf.log(ratio))
