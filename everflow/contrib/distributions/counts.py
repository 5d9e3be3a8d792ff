"""Distributions of whole numbers: binomial, negative binomial, geometric, Poisson."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.contrib.distributions.scalar import ScalarDistribution
from everflow.distributions.base import NOT_REPARAMETERIZED
from everflow.distributions.checks import assert_integer_form, embed_check_nonnegative_integer_form, get_logits_and_probs
from everflow.distributions.making import positive_tensors, scoped
from everflow.distributions.tensors import gen_new_seed
from everflow.graph.convert import convert_to_tensor
from everflow.ops.control_flow.ordering import with_dependencies


class _OfTrials(ScalarDistribution):
    """What distributions of trials with a probability of success share."""

    _logits: Any
    _probs: Any

    def _take_odds(self, logits: Any, probs: Any, validate_args: bool, name: str) -> None:
        self._logits, self._probs = get_logits_and_probs(logits, probs, validate_args=validate_args, name=name)

    def _begin(self, parents: list[Any], validate_args: bool, allow_nan_stats: bool, name: str) -> None:
        super().__init__(self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, graph_parents=parents, name=name)

    @property
    def logits(self) -> Any:
        """The log-odds of success."""
        return self._logits

    @property
    def probs(self) -> Any:
        """The probability of success."""
        return self._probs

    def _whole(self, x: Any) -> Any:
        return embed_check_nonnegative_integer_form(x) if self.validate_args else x


@internal("contrib.distributions.python.ops.binomial._bdtr")
def _bdtr(k: Any, n: Any, p: Any) -> Any:
    """The probability of at most k successes in n trials."""
    # The incomplete beta function is not defined for k = n; the first `where` keeps its gradient finite there.
    ones = tf.ones_like(n - k)
    all_of_them = tf.equal(k, n)
    rest = tf.where(all_of_them, ones, n - k)
    return tf.where(all_of_them, ones, tf.betainc(rest, k + 1, 1 - p))


def _of_one_shape(x: Any, y: Any) -> tuple[Any, Any]:
    """Both, repeated to the shape that they broadcast to unless they are known to have it."""
    if x.shape.is_fully_defined() and x.shape == y.shape:
        return x, y
    y = y * tf.ones_like(x)
    return x * tf.ones_like(y), y


def _whole_number(count: Any, validate: bool) -> Any:
    if not validate:
        return count
    not_below = tf.assert_non_negative(count, message="total_count must be non-negative.")
    return with_dependencies([not_below, assert_integer_form(count, message="total_count cannot contain fractional components.")], count)


@public("contrib.distributions.Binomial")
class Binomial(_OfTrials):
    """The number of successes in `total_count` trials."""

    @scoped("total_count", "logits", "probs")
    def __init__(
        self,
        total_count: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Binomial",
    ) -> None:
        self._total_count = _whole_number(convert_to_tensor(total_count, name="total_count"), validate_args)
        self._take_odds(logits, probs, validate_args, name)
        self._begin([self._total_count, self._logits, self._probs], validate_args, allow_nan_stats, name)

    @property
    def total_count(self) -> Any:
        """The number of trials."""
        return self._total_count

    def _log_prob(self, counts: Any) -> Any:
        n, x = self.total_count, self._valid(counts)
        # Log-probabilities of one and the other outcome, exact for large logits.
        weight = tf.math.xlogy(x, self.probs) + tf.math.xlogy(n - x, 1.0 - self.probs)
        return weight - (tf.lgamma(1.0 + n - x) + tf.lgamma(1.0 + x) - tf.lgamma(1.0 + n))

    def _prob(self, counts: Any) -> Any:
        return tf.exp(self._log_prob(counts))

    def _cdf(self, counts: Any) -> Any:
        most, p = _of_one_shape(self._valid(counts), self.probs)
        return _bdtr(most, tf.ones_like(most) * self.total_count, p)

    def _mean(self) -> Any:
        return self.total_count * self.probs

    def _variance(self) -> Any:
        return self._mean() * (1 - self.probs)

    def _mode(self) -> Any:
        return tf.floor((1.0 + self.total_count) * self.probs)

    def _valid(self, counts: Any) -> Any:
        if not self.validate_args:
            return counts
        counts = embed_check_nonnegative_integer_form(counts)
        check = tf.assert_less_equal(counts, self.total_count, message="counts are not less than or equal to n.")
        return with_dependencies([check], counts)


@public("contrib.distributions.NegativeBinomial")
class NegativeBinomial(_OfTrials):
    """The number of successes before `total_count` failures."""

    @scoped("total_count", "logits", "probs")
    def __init__(
        self,
        total_count: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "NegativeBinomial",
    ) -> None:
        self._take_odds(logits, probs, validate_args, name)
        [self._total_count] = positive_tensors(validate_args, Identity=total_count)
        self._begin([self._total_count, self._probs, self._logits], validate_args, allow_nan_stats, name)

    @property
    def total_count(self) -> Any:
        """The number of failures."""
        return self._total_count

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        # A Poisson distribution whose rate is gamma distributed.
        kind = {"dtype": self.dtype}
        rates = tf.random_gamma([n], self.total_count, tf.exp(-self.logits), seed=seed, **kind)
        return tf.random_poisson(rates, [], seed=gen_new_seed(seed, "negative_binom"), **kind)

    def _cdf(self, x: Any) -> Any:
        return tf.betainc(self.total_count, 1.0 + self._whole(x), tf.sigmoid(-self.logits))

    def _log_prob(self, x: Any) -> Any:
        x = self._whole(x)
        orders = tf.lgamma(self.total_count + x) - tf.lgamma(1.0 + x) - tf.lgamma(self.total_count)
        return self.total_count * tf.log_sigmoid(-self.logits) + x * tf.log_sigmoid(self.logits) + orders

    def _mean(self) -> Any:
        return self.total_count * tf.exp(self.logits)

    def _mode(self) -> Any:
        return tf.floor(tf.maximum(self.total_count - 1.0, 0.0) * tf.exp(self.logits))

    def _variance(self) -> Any:
        return self._mean() / tf.sigmoid(-self.logits)


@public("contrib.distributions.Geometric")
class Geometric(_OfTrials):
    """The number of failures before the first success."""

    @scoped("logits", "probs")
    def __init__(
        self, logits: Any = None, probs: Any = None, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Geometric"
    ) -> None:
        self._take_odds(logits, probs, validate_args, name)
        [self._probs] = positive_tensors(validate_args, probs=self._probs)
        self._begin([self._probs, self._logits], validate_args, allow_nan_stats, name)

    def _shaping(self) -> list[Any]:
        return [self._probs]

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        # The inverse of the cumulative distribution, at a number above zero.
        at_least = np.finfo(self.dtype.as_numpy_dtype).tiny
        chance = tf.random_uniform(tf.concat([[n], tf.shape(self.probs)], 0), at_least, 1.0, self.dtype, seed)
        return tf.floor(tf.log(chance) / tf.log1p(-self.probs))

    def _spread(self, x: Any) -> Any:
        return (self._whole(x) if self.validate_args else tf.floor(x)) * tf.ones_like(self.probs)

    def _cdf(self, x: Any) -> Any:
        x = self._spread(x)
        return tf.where(x < 0.0, tf.zeros_like(x), -tf.expm1((1.0 + x) * tf.log1p(-self.probs)))

    def _log_prob(self, x: Any) -> Any:
        x = self._spread(x)
        probs = self.probs * tf.ones_like(x)
        # No failures at all have probability one even where the logarithm is infinite.
        failing = tf.where(tf.equal(x, 0.0), tf.zeros_like(probs), probs)
        return x * tf.log1p(-failing) + tf.log(probs)

    def _entropy(self) -> Any:
        chance = self._probs
        if self.validate_args:
            below_one = tf.assert_less(
                chance, tf.constant(1.0, chance.dtype), message="Entropy is undefined when logits = inf or probs = 1."
            )
            chance = with_dependencies([below_one], chance)
        return tf.nn.softplus(self.logits) / chance - self.logits

    def _mean(self) -> Any:
        return tf.exp(-self.logits)

    def _variance(self) -> Any:
        return self._mean() / self.probs

    def _mode(self) -> Any:
        return tf.zeros(self.batch_shape_tensor(), dtype=self.dtype)


@public("contrib.distributions.Poisson")
class Poisson(ScalarDistribution):
    """The number of what happens at random, `rate` times on average."""

    @scoped("rate")
    def __init__(
        self, rate: Any = None, log_rate: Any = None, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Poisson"
    ) -> None:
        given = {which: value for which, value in (("rate", rate), ("log_rate", log_rate)) if value is not None}
        if len(given) != 1:
            raise ValueError("Must specify exactly one of `rate` and `log_rate`.")
        [(which, value)] = given.items()
        value = convert_to_tensor(value, name=which)
        if not value.dtype.is_floating:
            raise TypeError(f"{which}.dtype ({value.dtype.name}) is a not a float-type.")
        checks = [tf.assert_positive(value)] if which == "rate" and validate_args else []
        with tf.control_dependencies(checks):
            self._rate = tf.identity(value, name="rate") if which == "rate" else tf.exp(value, name="rate")
            self._log_rate = tf.log(value, name="log_rate") if which == "rate" else value
        super().__init__(value.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, graph_parents=[self._rate], name=name)

    @property
    def rate(self) -> Any:
        """The mean."""
        return self._rate

    @property
    def log_rate(self) -> Any:
        """The logarithm of the mean."""
        return self._log_rate

    def _whole(self, x: Any) -> Any:
        return embed_check_nonnegative_integer_form(x) if self.validate_args else x

    def _log_prob(self, x: Any) -> Any:
        x = self._whole(x)
        return x * self.log_rate - tf.lgamma(1.0 + x) - self.rate

    def _log_cdf(self, x: Any) -> Any:
        return tf.log(self.cdf(x))

    def _cdf(self, x: Any) -> Any:
        return tf.igammac(1.0 + self._whole(x), self.rate)

    def _mean(self) -> Any:
        return tf.identity(self.rate)

    def _variance(self) -> Any:
        return tf.identity(self.rate)

    def _mode(self) -> Any:
        return tf.floor(self.rate)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        return tf.random_poisson(self.rate, [n], dtype=self.dtype, seed=seed)
