"""Distributions of one value only."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.distributions.base import FULLY_REPARAMETERIZED, Distribution
from everflow.distributions.making import noting
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.ops.control_flow.ordering import with_dependencies


@internal("contrib.distributions.python.ops.deterministic._BaseDeterministic")
class _BaseDeterministic(Distribution):
    """What always is `loc`, or near enough to it: within atol + rtol |loc|."""

    @noting
    def __init__(
        self,
        loc: Any,
        atol: Any = None,
        rtol: Any = None,
        is_vector: bool = False,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "_BaseDeterministic",
    ) -> None:
        with name_scope(name, values=[loc, atol, rtol]) as name:
            loc = convert_to_tensor(loc, name="loc")
            if is_vector and validate_args:
                message = "Argument loc must be at least rank 1."
                if loc.shape.ndims is None:
                    loc = with_dependencies([tf.assert_rank_at_least(loc, 1, message=message)], loc)
                elif loc.shape.ndims < 1:
                    raise ValueError(message)
            self._loc = loc
            tolerances = []
            for tolerance, which in ((atol, "atol"), (rtol, "rtol")):
                tolerance = convert_to_tensor(0 if tolerance is None else tolerance, dtype=loc.dtype, name=which)
                if validate_args:
                    check = tf.assert_non_negative(tolerance, message="Argument 'tol' must be non-negative")
                    tolerance = with_dependencies([check], tolerance)
                tolerances.append(tolerance)
            self._atol, self._rtol = tolerances
            self._slack = self._atol if rtol is None else self._atol + self._rtol * tf.abs(loc)
        super().__init__(
            self._loc.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, None, [self._loc, self._atol, self._rtol], name
        )

    @property
    def loc(self) -> Any:
        """The value."""
        return self._loc

    @property
    def atol(self) -> Any:
        """How far from the value still counts as it."""
        return self._atol

    @property
    def rtol(self) -> Any:
        """The same, relative to the value."""
        return self._rtol

    def _near(self, x: Any) -> Any:
        return tf.abs(x - self.loc) <= self._slack

    def _entropy(self) -> Any:
        return tf.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _mean(self) -> Any:
        return tf.identity(self.loc)

    def _variance(self) -> Any:
        return tf.zeros_like(self.loc)

    def _mode(self) -> Any:
        return self._mean()

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        return tf.broadcast_to(self.loc, tf.concat([[n], tf.shape(self.loc)], 0))


@public("contrib.distributions.Deterministic")
class Deterministic(_BaseDeterministic):
    """A number, as a distribution."""

    def __init__(
        self,
        loc: Any,
        atol: Any = None,
        rtol: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Deterministic",
    ) -> None:
        super().__init__(loc, atol=atol, rtol=rtol, validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name)

    def _batch_shape_tensor(self) -> Any:
        return tf.shape(self.loc)

    def _batch_shape(self) -> Any:
        return self.loc.shape

    def _event_shape_tensor(self) -> Any:
        return tf.constant([], dtype=tf.int32)

    def _event_shape(self) -> Any:
        return tf.TensorShape([])

    def _prob(self, x: Any) -> Any:
        return tf.cast(self._near(x), self.dtype)

    def _cdf(self, x: Any) -> Any:
        return tf.cast(x >= self.loc - self._slack, self.dtype)


@public("contrib.distributions.VectorDeterministic")
class VectorDeterministic(_BaseDeterministic):
    """A vector, as a distribution."""

    def __init__(
        self,
        loc: Any,
        atol: Any = None,
        rtol: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorDeterministic",
    ) -> None:
        super().__init__(loc, atol=atol, rtol=rtol, is_vector=True, validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name)

    def _batch_shape_tensor(self) -> Any:
        return tf.shape(self.loc)[:-1]

    def _batch_shape(self) -> Any:
        return self.loc.shape[:-1]

    def _event_shape_tensor(self) -> Any:
        return tf.shape(self.loc)[-1:]

    def _event_shape(self) -> Any:
        return self.loc.shape[-1:]

    def _prob(self, x: Any) -> Any:
        if self.validate_args:
            message = "Argument 'x' not defined in the same space R^k as this distribution"
            with tf.control_dependencies([tf.assert_rank_at_least(x, 1)]):
                check = tf.assert_equal(tf.shape(self.loc)[-1:], tf.shape(x)[-1:], message=message)
            x = with_dependencies([check], x)
        return tf.cast(tf.reduce_all(self._near(x), axis=-1), self.dtype)
