"""Distributions rounded up to whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.distributions.base import NOT_REPARAMETERIZED, Distribution
from everflow.distributions.checks import assert_integer_form
from everflow.distributions.making import noting
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.ops.control_flow.ordering import with_dependencies


@internal("contrib.distributions.python.ops.quantized_distribution._logsum_expbig_minus_expsmall")
def _log_difference(big: Any, small: Any) -> Any:
    """log(exp(big) - exp(small))."""
    with name_scope("logsum_expbig_minus_expsmall", values=[small, big]):
        return tf.log(1.0 - tf.exp(small - big)) + big


@public("contrib.distributions.QuantizedDistribution")
class QuantizedDistribution(Distribution):
    """The smallest whole numbers not below samples of another distribution, cut off at `low` and `high`."""

    @noting
    def __init__(
        self, distribution: Any, low: Any = None, high: Any = None, validate_args: bool = False, name: str = "QuantizedDistribution"
    ) -> None:
        with name_scope(name, values=[*distribution.parameters.values(), low, high]) as name:
            self._dist = distribution
            self._validate_args = validate_args
            low = None if low is None else convert_to_tensor(low, name="low")
            high = None if high is None else convert_to_tensor(high, name="high")
            tf.debugging.assert_same_float_dtype(tensors=[t for t in (low, high) if t is not None], dtype=distribution.dtype)
            checks = []
            if validate_args and low is not None and high is not None:
                checks.append(tf.assert_less(low, high, message="low must be strictly less than high."))
            with tf.control_dependencies(checks):
                self._low = None if low is None else self._whole(low)
                self._high = None if high is None else self._whole(high)
        bounds = [t for t in (self._low, self._high) if t is not None]
        super().__init__(
            distribution.dtype,
            NOT_REPARAMETERIZED,
            validate_args,
            distribution.allow_nan_stats,
            None,
            [*distribution._graph_parents, *bounds],
            name,
        )

    @property
    def distribution(self) -> Any:
        """The distribution whose samples are rounded."""
        return self._dist

    @property
    def low(self) -> Any:
        """The smallest number, or None."""
        return self._low

    @property
    def high(self) -> Any:
        """The largest number, or None."""
        return self._high

    def _batch_shape_tensor(self) -> Any:
        return self.distribution.batch_shape_tensor()

    def _batch_shape(self) -> Any:
        return self.distribution.batch_shape

    def _event_shape_tensor(self) -> Any:
        return self.distribution.event_shape_tensor()

    def _event_shape(self) -> Any:
        return self.distribution.event_shape

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        with name_scope("transform"):
            found = tf.ceil(self.distribution.sample(convert_to_tensor(n, name="n"), seed=seed))
            if self._low is not None:
                found = tf.maximum(found, self._low)
            return found if self._high is None else tf.minimum(found, self._high)

    def _bounded(self, at: Any, found: Any, below: float, above: float) -> Any:
        """What is found between the bounds, and these values outside."""
        at += tf.zeros_like(found)
        if self._low is not None:
            found = tf.where(at < self._low, below * tf.ones_like(found), found)
        if self._high is not None:
            found = tf.where(at >= self._high, above * tf.ones_like(found), found)
        return found

    def _log_cdf(self, y: Any) -> Any:
        at = tf.floor(y)
        return self._bounded(at, self.distribution.log_cdf(at), -np.inf, 0.0)

    def _cdf(self, y: Any) -> Any:
        at = tf.floor(y)
        return self._bounded(at, self.distribution.cdf(at), 0.0, 1.0)

    def _log_survival_function(self, y: Any) -> Any:
        at = tf.ceil(y)
        return self._bounded(at, self.distribution.log_survival_function(at), 0.0, -np.inf)

    def _survival_function(self, y: Any) -> Any:
        at = tf.ceil(y)
        return self._bounded(at, self.distribution.survival_function(at), 1.0, 0.0)

    def _log_prob(self, y: Any) -> Any:
        y = self._whole(y)
        before, at = self.log_cdf(y - 1), self.log_cdf(y)
        try:
            above_before, above = self.log_survival_function(y - 1), self.log_survival_function(y)
        except NotImplementedError:
            return _log_difference(at, before)
        # The smaller of the two tails has more digits.
        right = above < at
        return _log_difference(tf.where(right, above_before, at), tf.where(right, above, before))

    def _prob(self, y: Any) -> Any:
        y = self._whole(y)
        before, at = self.cdf(y - 1), self.cdf(y)
        try:
            above_before, above = self.survival_function(y - 1), self.survival_function(y)
        except NotImplementedError:
            return at - before
        return tf.where(above < at, above_before - above, at - before)

    def _whole(self, value: Any) -> Any:
        with name_scope("check_integer", values=[value]):
            value = convert_to_tensor(value, name="value")
            if not self.validate_args:
                return value
            return with_dependencies([assert_integer_form(value, message="value has non-integer components.")], value)
