"""Distributions of classes as vectors: one-hot ones, and those that are nearly so."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.contrib.distributions.bijectors.scalar import Exp, Sigmoid
from everflow.contrib.distributions.location_scale import Logistic
from everflow.distributions.base import FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, Distribution
from everflow.distributions.checks import get_logits_and_probs
from everflow.distributions.divergence import RegisterKL
from everflow.distributions.making import noting, positive_tensors, scoped
from everflow.distributions.transformed import TransformedDistribution
from everflow.graph.scopes import name_scope
from everflow.ops.control_flow.ordering import with_dependencies


class _OfClasses(Distribution):
    """What distributions over vectors of classes share."""

    _logits: Any
    _probs: Any

    def _take(self, logits: Any, probs: Any, validate_args: bool, name: str) -> list[Any]:
        self._logits, self._probs = both = get_logits_and_probs(
            logits, probs, multidimensional=True, validate_args=validate_args, name=name
        )
        return list(both)

    @property
    def event_size(self) -> Any:
        """The number of classes."""
        return tf.shape(self._logits)[-1]

    @property
    def logits(self) -> Any:
        """The log-probabilities of the classes, but for a constant."""
        return self._logits

    @property
    def probs(self) -> Any:
        """The probabilities of the classes."""
        return self._probs

    def _batch_shape_tensor(self) -> Any:
        return tf.shape(self.logits)[:-1]

    def _batch_shape(self) -> Any:
        return self.logits.shape[:-1]

    def _event_shape_tensor(self) -> Any:
        return tf.shape(self.logits)[-1:]

    def _event_shape(self) -> Any:
        return self.logits.shape.with_rank_at_least(1)[-1:]


@public("contrib.distributions.OneHotCategorical")
class OneHotCategorical(_OfClasses):
    """A class, as a vector with a one at its place."""

    @scoped("logits", "probs")
    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = tf.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "OneHotCategorical",
    ) -> None:
        weights = self._take(logits, probs, validate_args, name)
        super().__init__(dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, graph_parents=weights, name=name)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        rows = tf.reshape(self.logits, [-1, self.event_size])
        classes = tf.transpose(tf.multinomial(rows, n, seed=seed))
        drawn = tf.one_hot(classes, self.event_size, dtype=self.dtype)
        return tf.reshape(drawn, tf.concat([[n], tf.shape(self.logits)], 0))

    def _log_prob(self, x: Any) -> Any:
        x = self._valid(x)
        logits = self.logits
        if not (x.shape.is_fully_defined() and logits.shape.is_fully_defined() and x.shape == logits.shape):
            logits = tf.ones_like(x, dtype=logits.dtype) * logits
            x = tf.ones_like(logits, dtype=x.dtype) * x
        rows = [tf.reshape(t, [-1, self.event_size]) for t in (x, logits)]
        losses = tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.stop_gradient(rows[0]), logits=rows[1])
        found = tf.reshape(-losses, tf.shape(logits)[:-1])
        found.set_shape(logits.shape[:-1])
        return found

    def _entropy(self) -> Any:
        return -tf.reduce_sum(tf.nn.log_softmax(self.logits) * self.probs, axis=-1)

    def _mode(self) -> Any:
        found = tf.one_hot(tf.argmax(self.logits, axis=-1), self.event_size, dtype=self.dtype)
        found.set_shape(self.logits.shape)
        return found

    def _mean(self) -> Any:
        return tf.identity(self.probs)

    def _covariance(self) -> Any:
        p = self.probs
        return tf.matrix_set_diag(-tf.matmul(p[..., tf.newaxis], p[..., tf.newaxis, :]), self._variance())

    def _variance(self) -> Any:
        return self.probs * (1.0 - self.probs)

    def _valid(self, x: Any) -> Any:
        if not self.validate_args:
            return x
        one = tf.ones([], x.dtype)
        return with_dependencies([tf.assert_non_negative(x), tf.assert_near(one, tf.reduce_sum(x, axis=[-1]))], x)


@RegisterKL(OneHotCategorical, OneHotCategorical)
def _kl_of_classes(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_categorical_categorical", [a.logits, b.logits]):
        apart = tf.nn.log_softmax(a.logits) - tf.nn.log_softmax(b.logits)
        return tf.reduce_sum(tf.nn.softmax(a.logits) * apart, axis=-1)


@public("contrib.distributions.ExpRelaxedOneHotCategorical")
class ExpRelaxedOneHotCategorical(_OfClasses):
    """The logarithm of what RelaxedOneHotCategorical draws, which does not underflow."""

    @scoped("logits", "probs", "temperature")
    def __init__(
        self,
        temperature: Any,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "ExpRelaxedOneHotCategorical",
    ) -> None:
        weights = self._take(logits, probs, validate_args, name)
        if dtype is None:
            dtype = weights[0].dtype
            temperature = temperature if validate_args else tf.cast(temperature, dtype)
        checks = [tf.assert_positive(temperature)] if validate_args else []
        with tf.control_dependencies(checks):
            self._temperature = tf.identity(temperature, name="temperature")
            self._temperature_2d = tf.reshape(temperature, [-1, 1], name="temperature_2d")
        parents = [*weights, self._temperature]
        super().__init__(dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, graph_parents=parents, name=name)

    @property
    def temperature(self) -> Any:
        """How far from one-hot samples are."""
        return self._temperature

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        shape = tf.concat([[n], tf.shape(self.logits)], 0)
        rows = tf.reshape(self.logits * tf.ones(shape, dtype=self.dtype), [-1, self.event_size])
        smallest = np.finfo(self.dtype.as_numpy_dtype).tiny
        uniform = tf.random_uniform(tf.shape(rows), minval=smallest, maxval=1.0, dtype=self.dtype, seed=seed)
        noisy = (rows - tf.log(-tf.log(uniform))) / self._temperature_2d
        return tf.reshape(tf.nn.log_softmax(noisy), shape)

    def _log_prob(self, x: Any) -> Any:
        if self.validate_args:
            zero = tf.zeros([], dtype=self.dtype)
            x = with_dependencies([tf.assert_non_positive(x), tf.assert_near(zero, tf.reduce_logsumexp(x, axis=[-1]))], x)
        logits = self.logits
        if not (x.shape.is_fully_defined() and logits.shape.is_fully_defined() and x.shape == logits.shape):
            logits = tf.ones_like(x, dtype=logits.dtype) * logits
            x = tf.ones_like(logits, dtype=x.dtype) * x
        logit_rows, rows = (tf.reshape(t, [-1, self.event_size]) for t in (logits, x))
        count = tf.cast(self.event_size, x.dtype)
        normalization = tf.lgamma(count) + (count - 1.0) * tf.log(self.temperature)
        weights = tf.reduce_sum(tf.nn.log_softmax(logit_rows - rows * self._temperature_2d), axis=-1)
        return tf.reshape(weights + normalization, tf.shape(logits)[:-1])


@public("contrib.distributions.RelaxedOneHotCategorical")
class RelaxedOneHotCategorical(TransformedDistribution):
    """Vectors that sum to one, near to one-hot ones where the temperature is low, with gradients to the logits."""

    @noting
    def __init__(
        self,
        temperature: Any,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "RelaxedOneHotCategorical",
    ) -> None:
        logarithm = ExpRelaxedOneHotCategorical(temperature, logits, probs, dtype, validate_args, allow_nan_stats)
        super().__init__(logarithm, Exp(), name=name)


@public("contrib.distributions.RelaxedBernoulli")
class RelaxedBernoulli(TransformedDistribution):
    """Numbers between 0 and 1, near to one of these where the temperature is low, with gradients to the logits."""

    @scoped("logits", "probs", "temperature")
    def __init__(
        self,
        temperature: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "RelaxedBernoulli",
    ) -> None:
        [heat] = positive_tensors(validate_args, temperature=temperature)
        self._temperature = heat
        self._logits, self._probs = get_logits_and_probs(logits, probs, validate_args=validate_args)
        odds = Logistic(self._logits / heat, 1.0 / heat, validate_args, allow_nan_stats, f"{name}/Logistic")
        super().__init__(odds, Sigmoid(validate_args), validate_args=validate_args, name=name)

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Any]:  # type: ignore[override]
        return {"logits": tf.convert_to_tensor(sample_shape, dtype=tf.int32)}

    @property
    def temperature(self) -> Any:
        """How far from 0 and 1 samples are."""
        return self._temperature

    @property
    def logits(self) -> Any:
        """The log-odds of 1."""
        return self._logits

    @property
    def probs(self) -> Any:
        """The probability of 1."""
        return self._probs
