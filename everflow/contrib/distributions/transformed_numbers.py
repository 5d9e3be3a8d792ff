"""Distributions that a bijector makes of uniform or normal ones: Kumaraswamy's, and those of sinh and arcsinh."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.contrib.distributions.bijectors.affine import Affine, AffineScalar
from everflow.contrib.distributions.bijectors.composed import Chain
from everflow.contrib.distributions.bijectors.scalar import Kumaraswamy as KumaraswamyBijector
from everflow.contrib.distributions.bijectors.scalar import SinhArcsinh as SinhArcsinhBijector
from everflow.contrib.distributions.scales import (
    get_broadcast_shape,
    make_diag_scale,
    maybe_check_scalar_distribution,
    shapes_from_loc_and_scale,
)
from everflow.distributions.base import FULLY_REPARAMETERIZED
from everflow.distributions.making import noting, scoped
from everflow.distributions.normal import Normal
from everflow.distributions.transformed import TransformedDistribution
from everflow.distributions.uniform import Uniform
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.ops.control_flow.ordering import with_dependencies


@public("contrib.distributions.Kumaraswamy")
class Kumaraswamy(TransformedDistribution):
    """The distribution on (0, 1) with cumulative distribution 1 - (1 - x^a)^b."""

    @noting
    def __init__(
        self,
        concentration1: Any = None,
        concentration0: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Kumaraswamy",
    ) -> None:
        given = {"concentration1": concentration1, "concentration0": concentration0}
        with name_scope(name, values=list(given.values())) as scope:
            a, b = (convert_to_tensor(value, name=which) for which, value in given.items())
        uniform = Uniform(tf.zeros([], a.dtype), tf.ones([], a.dtype), allow_nan_stats=allow_nan_stats)
        transform = KumaraswamyBijector(a, b, validate_args)
        super().__init__(uniform, transform, get_broadcast_shape(a, b), name=scope)
        self._reparameterization_type = FULLY_REPARAMETERIZED

    @property
    def concentration1(self) -> Any:
        """a."""
        return self.bijector.concentration1

    @property
    def concentration0(self) -> Any:
        """b."""
        return self.bijector.concentration0

    def _entropy(self) -> Any:
        a, b = self.concentration1, self.concentration0
        harmonic = tf.digamma(b + 1) - tf.digamma(tf.ones([], b.dtype))
        # TensorFlow's sign of the logarithms, though the entropy has the opposite one.
        return 1 - 1.0 / a + (1 - 1.0 / b) * harmonic + tf.log(a) + tf.log(b)

    def _moment(self, n: int) -> Any:
        both = tf.ones_like(self.concentration1 + self.concentration0)
        a, b = self.concentration1 * both, self.concentration0 * both
        return tf.exp(tf.log(b) + tf.lbeta(tf.stack([1 + n / a, b], -1)))

    def _mean(self) -> Any:
        return self._moment(1)

    def _variance(self) -> Any:
        return self._moment(2) - tf.square(self._moment(1))

    def _mode(self) -> Any:
        a, b = self.concentration1, self.concentration0
        mode = ((a - 1) / (a * b - 1)) ** (1.0 / a)
        if self.allow_nan_stats:
            nan = tf.fill(self.batch_shape_tensor(), np.array(np.nan, dtype=self.dtype.as_numpy_dtype), name="nan")
            return tf.where(tf.logical_and(tf.ones_like(mode) * a > 1.0, tf.ones_like(mode) * b > 1.0), mode, nan)
        one = tf.ones([], a.dtype)
        checks = [
            tf.assert_less(one, a, message="Mode undefined for concentration1 <= 1."),
            tf.assert_less(one, b, message="Mode undefined for concentration0 <= 1."),
        ]
        return with_dependencies(checks, mode)


class _Skewed(TransformedDistribution):
    """What the two distributions of sinh and arcsinh share."""

    _loc: Any
    _scale: Any
    _skewness: Any
    _tailweight: Any

    @property
    def loc(self) -> Any:
        """Where the distribution is."""
        return self._loc

    @property
    def scale(self) -> Any:
        """How wide it is."""
        return self._scale

    @property
    def tailweight(self) -> Any:
        """How heavy its tails are."""
        return self._tailweight

    @property
    def skewness(self) -> Any:
        """How far it leans to the right."""
        return self._skewness


def _base(distribution: Any, dtype: Any, allow_nan_stats: bool, validate_args: bool) -> tuple[Any, list[Any]]:
    if distribution is not None:
        return distribution, maybe_check_scalar_distribution(distribution, dtype, validate_args)
    return Normal(loc=tf.zeros([], dtype), scale=tf.ones([], dtype), allow_nan_stats=allow_nan_stats), []


def _skewing(skewness: Any, tailweight: Any, has_skewness: bool, scale: Any) -> tuple[Any, Any]:
    """The bijector, and the scale with which 2 becomes twice the scale where nothing is skewed."""
    function = SinhArcsinhBijector(skewness=skewness, tailweight=tailweight)
    straight = function
    if has_skewness:
        straight = SinhArcsinhBijector(skewness=skewness.dtype.as_numpy_dtype(0.0), tailweight=tailweight)
    return function, 2 * scale / straight.forward(convert_to_tensor(2, dtype=scale.dtype))


@public("contrib.distributions.SinhArcsinh")
class SinhArcsinh(_Skewed):
    """loc + C sinh((arcsinh(Z) + skewness) tailweight) of a normal Z, or of another distribution's samples."""

    @scoped("loc", "scale", "skewness", "tailweight")
    def __init__(
        self,
        loc: Any,
        scale: Any,
        skewness: Any = None,
        tailweight: Any = None,
        distribution: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "SinhArcsinh",
    ) -> None:
        loc = convert_to_tensor(loc, name="loc")
        self._scale = convert_to_tensor(scale, name="scale", dtype=loc.dtype)
        self._tailweight = convert_to_tensor(1.0 if tailweight is None else tailweight, name="tailweight", dtype=loc.dtype)
        self._skewness = convert_to_tensor(0.0 if skewness is None else skewness, name="skewness", dtype=loc.dtype)
        batch_shape = get_broadcast_shape(loc, self._scale, self._tailweight, self._skewness)
        base, checks = _base(distribution, loc.dtype, allow_nan_stats, validate_args)
        self._loc = with_dependencies(checks, loc) if checks else loc
        function, stretch = _skewing(self._skewness, self._tailweight, skewness is not None, self._scale)
        moved = AffineScalar(shift=self._loc, scale=stretch, validate_args=validate_args)
        super().__init__(base, Chain([moved, function]), batch_shape=batch_shape, validate_args=validate_args, name=name)


@public("contrib.distributions.VectorSinhArcsinhDiag")
class VectorSinhArcsinhDiag(_Skewed):
    """Vectors of independent elements with the distribution of sinh and arcsinh."""

    @noting
    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        skewness: Any = None,
        tailweight: Any = None,
        distribution: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalLinearOperator",
    ) -> None:
        with name_scope(name, values=[loc, scale_diag, scale_identity_multiplier, skewness, tailweight]) as name:
            loc = None if loc is None else convert_to_tensor(loc, name="loc")
            self._scale = make_diag_scale(loc=loc, scale_diag=scale_diag, scale_identity_multiplier=scale_identity_multiplier)
            batch_shape, event_shape = shapes_from_loc_and_scale(loc, self._scale)
            diagonal = self._scale.diag_part()
            base, checks = _base(distribution, diagonal.dtype, allow_nan_stats, validate_args)
            diagonal = with_dependencies(checks, diagonal) if checks else diagonal
            self._skewness = convert_to_tensor(0.0 if skewness is None else skewness, dtype=diagonal.dtype, name="skewness")
            self._tailweight = convert_to_tensor(1.0 if tailweight is None else tailweight, dtype=diagonal.dtype, name="tailweight")
            function, stretch = _skewing(self._skewness, self._tailweight, skewness is not None, diagonal)
            moved = Affine(shift=loc, scale_diag=stretch, validate_args=validate_args)
            super().__init__(
                base, Chain([moved, function]), batch_shape=batch_shape, event_shape=event_shape, validate_args=validate_args, name=name
            )
        self._loc = loc
