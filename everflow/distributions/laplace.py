"""The Laplace distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.distributions import normal_functions
from everflow.distributions.making import scoped, softplus
from everflow.distributions.normal import LocationScale


@public("distributions.Laplace")
class Laplace(LocationScale):
    """The distribution with density exp(-|x - loc| / scale) / (2 scale)."""

    @scoped("loc", "scale")
    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Laplace") -> None:
        self._begin(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        shape = tf.concat([[n], self.batch_shape_tensor()], 0)
        # Not -1 itself: its logarithm would be infinite.
        lowest = np.nextafter(self.dtype.as_numpy_dtype(-1.0), self.dtype.as_numpy_dtype(0.0))
        uniform = tf.random_uniform(shape=shape, minval=lowest, maxval=1.0, dtype=self.dtype, seed=seed)
        return self.loc - self.scale * tf.sign(uniform) * tf.log1p(-tf.abs(uniform))

    def _log_prob(self, x: Any) -> Any:
        return -tf.abs(self._standardized(x)) - (math.log(2.0) + tf.log(self.scale))

    def _prob(self, x: Any) -> Any:
        return 0.5 * tf.exp(-tf.abs(self._standardized(x))) / self.scale

    def _log_cdf(self, x: Any) -> Any:
        return normal_functions.log_cdf_laplace(self._standardized(x))

    def _log_survival_function(self, x: Any) -> Any:
        return normal_functions.log_cdf_laplace(-self._standardized(x))

    def _cdf(self, x: Any) -> Any:
        z = self._standardized(x)
        return 0.5 + 0.5 * tf.sign(z) * (1.0 - tf.exp(-tf.abs(z)))

    def _entropy(self) -> Any:
        return math.log(2.0) + 1.0 + tf.log(self.scale + tf.zeros_like(self.loc))

    def _mean(self) -> Any:
        return self.loc + tf.zeros_like(self.scale)

    def _stddev(self) -> Any:
        return math.sqrt(2.0) * self.scale + tf.zeros_like(self.loc)

    def _mode(self) -> Any:
        return self._mean()


@public("contrib.distributions.LaplaceWithSoftplusScale")
@internal("ops.distributions.laplace.LaplaceWithSoftplusScale")
class LaplaceWithSoftplusScale(Laplace):
    """The Laplace distribution with a scale that softplus makes positive."""

    @scoped("loc", "scale")
    def __init__(
        self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "LaplaceWithSoftplusScale"
    ) -> None:
        (scale,) = softplus(scale=scale)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
