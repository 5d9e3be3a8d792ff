"""The Dirichlet distribution."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.distributions.base import FULLY_REPARAMETERIZED, Distribution, undefined
from everflow.distributions.checks import embed_check_categorical_event_shape
from everflow.distributions.divergence import RegisterKL
from everflow.distributions.making import scoped
from everflow.graph.scopes import name_scope
from everflow.ops.control_flow.ordering import with_dependencies


@public("distributions.Dirichlet")
class Dirichlet(Distribution):
    """A distribution of probabilities of classes, which sum to one."""

    @scoped("concentration")
    def __init__(self, concentration: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Dirichlet") -> None:
        self._concentration = self._checked(tf.convert_to_tensor(concentration, name="concentration"), validate_args)
        self._total_concentration = tf.reduce_sum(self._concentration, -1)
        parts = [self._concentration, self._total_concentration]
        super().__init__(parts[0].dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, graph_parents=parts, name=name)

    @property
    def concentration(self) -> Any:
        """How much speaks for each class."""
        return self._concentration

    @property
    def total_concentration(self) -> Any:
        """The sum over the classes."""
        return self._total_concentration

    def _batch_shape_tensor(self) -> Any:
        return tf.shape(self.total_concentration)

    def _batch_shape(self) -> Any:
        return self.total_concentration.get_shape()

    def _event_shape_tensor(self) -> Any:
        return tf.shape(self.concentration)[-1:]

    def _event_shape(self) -> Any:
        return self.concentration.get_shape().with_rank_at_least(1)[-1:]

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        gamma = tf.random_gamma(shape=[n], alpha=self.concentration, dtype=self.dtype, seed=seed)
        return gamma / tf.reduce_sum(gamma, -1, keepdims=True)

    def _log_prob(self, x: Any) -> Any:
        x = self._checked_value(x)
        return tf.reduce_sum(tf.math.xlogy(self.concentration - 1.0, x), -1) - tf.lbeta(self.concentration)

    def _prob(self, x: Any) -> Any:
        return tf.exp(self._log_prob(x))

    def _entropy(self) -> Any:
        classes = tf.cast(self.event_shape_tensor()[0], self.dtype)
        a, total = self.concentration, self.total_concentration
        normalization = tf.lbeta(a) + (total - classes) * tf.digamma(total)
        return normalization - tf.reduce_sum((a - 1.0) * tf.digamma(a), axis=-1)

    def _mean(self) -> Any:
        return self.concentration / self.total_concentration[..., tf.newaxis]

    def _covariance(self) -> Any:
        x = self._spread() * self._mean()
        return tf.matrix_set_diag(-tf.matmul(x[..., tf.newaxis], x[..., tf.newaxis, :]), self._variance())

    def _variance(self) -> Any:
        scale = self._spread()
        x = scale * self._mean()
        return x * (scale - x)

    def _spread(self) -> Any:
        return tf.rsqrt(1.0 + self.total_concentration[..., tf.newaxis])

    def _mode(self) -> Any:
        k = tf.cast(self.event_shape_tensor()[0], self.dtype)
        mode = (self.concentration - 1.0) / (self.total_concentration[..., tf.newaxis] - k)
        if self.allow_nan_stats:
            defined = tf.reduce_all(self.concentration > 1.0, axis=-1, keepdims=True)
            return undefined(tf.logical_and(defined, tf.ones_like(mode, dtype=tf.bool)), mode)
        one = tf.ones([], self.dtype)
        return with_dependencies([tf.assert_less(one, self.concentration, message="Mode undefined when any concentration <= 1")], mode)

    def _checked(self, concentration: Any, validate_args: bool) -> Any:
        if not validate_args:
            return concentration
        concentration = embed_check_categorical_event_shape(concentration) if concentration.get_shape().ndims is None else concentration
        return with_dependencies(
            [
                tf.assert_positive(concentration, message="Concentration parameter must be positive."),
                tf.assert_rank_at_least(concentration, 1, message="Concentration parameter must have >=1 dimensions."),
                tf.assert_less(1, tf.shape(concentration)[-1], message="Concentration parameter must have event_size >= 2."),
            ],
            concentration,
        )

    def _checked_value(self, x: Any) -> Any:
        if not self.validate_args:
            return x
        return with_dependencies(
            [
                tf.assert_positive(x, message="samples must be positive"),
                tf.assert_near(tf.ones([], dtype=self.dtype), tf.reduce_sum(x, -1), message="sample last-dimension must sum to `1`"),
            ],
            x,
        )


@RegisterKL(Dirichlet, Dirichlet)
def _kl_dirichlet_dirichlet(d1: Any, d2: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_dirichlet_dirichlet", values=[d1.concentration, d2.concentration]):
        expected = tf.digamma(d1.concentration) - tf.digamma(tf.reduce_sum(d1.concentration, axis=-1, keepdims=True))
        difference = d1.concentration - d2.concentration
        return tf.reduce_sum(difference * expected, axis=-1) - tf.lbeta(d1.concentration) + tf.lbeta(d2.concentration)
