"""The Dirichlet-multinomial distribution."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.distributions.base import NOT_REPARAMETERIZED, Distribution
from everflow.distributions.checks import embed_check_nonnegative_integer_form
from everflow.distributions.making import number_of_draws, scoped
from everflow.distributions.tensors import gen_new_seed, log_combinations
from everflow.graph import dtypes
from everflow.ops.control_flow.ordering import with_dependencies


@public("distributions.DirichletMultinomial")
class DirichletMultinomial(Distribution):
    """How often each class comes up in `total_count` draws, where their probabilities are those of a Dirichlet distribution."""

    @scoped("total_count", "concentration")
    def __init__(
        self,
        total_count: Any,
        concentration: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "DirichletMultinomial",
    ) -> None:
        self._total_count = number_of_draws(total_count, validate_args)
        self._concentration = self._checked(tf.convert_to_tensor(concentration, name="concentration"), validate_args)
        self._total_concentration = tf.reduce_sum(self._concentration, -1)
        parts = [self._total_count, self._concentration]
        super().__init__(parts[-1].dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, graph_parents=parts, name=name)

    @property
    def total_count(self) -> Any:
        """How many draws there are."""
        return self._total_count

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
        draws = tf.cast(self.total_count, dtype=dtypes.int32)
        k = self.event_shape_tensor()[0]
        if self.total_count.get_shape().ndims is not None and self.total_count.get_shape().ndims != 0:
            raise NotImplementedError("Sample only supported for scalar number of draws.")
        logits = tf.reshape(tf.log(tf.random_gamma(shape=[n], alpha=self.concentration, dtype=self.dtype, seed=seed)), [-1, k])
        classes = tf.multinomial(logits=logits, num_samples=draws, seed=gen_new_seed(seed, salt="dirichlet_multinomial"))
        found = tf.reduce_sum(tf.one_hot(classes, depth=k), -2)
        return tf.cast(tf.reshape(found, tf.concat([[n], self.batch_shape_tensor(), [k]], 0)), self.dtype)

    def _log_prob(self, counts: Any) -> Any:
        counts = self._checked_counts(counts)
        ordered = tf.lbeta(self.concentration + counts) - tf.lbeta(self.concentration)
        return ordered + log_combinations(self.total_count, counts)

    def _prob(self, counts: Any) -> Any:
        return tf.exp(self._log_prob(counts))

    def _shares(self) -> Any:
        return self.concentration / self.total_concentration[..., tf.newaxis]

    def _mean(self) -> Any:
        return self.total_count * self._shares()

    def _spread(self) -> Any:
        """n (n + a) / (1 + a): what the variances of n independent draws grow to."""
        total = self.total_concentration[..., tf.newaxis]
        return self.total_count * (self.total_count + total) / (1.0 + total)

    def _variance(self) -> Any:
        shares = self._shares()
        return self._spread() * shares * (1.0 - shares)

    def _covariance(self) -> Any:
        shares = self._shares() * tf.ones_like(self._mean())
        outer = tf.matmul(shares[..., tf.newaxis], shares[..., tf.newaxis, :])
        return tf.matrix_set_diag(-outer * self._spread()[..., tf.newaxis], self._variance())

    def _checked(self, concentration: Any, validate_args: bool) -> Any:
        if not validate_args:
            return concentration
        return with_dependencies(
            [
                tf.assert_positive(concentration, message="Concentration parameter must be positive."),
                tf.assert_rank_at_least(concentration, 1, message="Concentration parameter must have >=1 dimensions."),
                tf.assert_less(1, tf.shape(concentration)[-1], message="Concentration parameter must have event_size >= 2."),
            ],
            concentration,
        )

    def _checked_counts(self, counts: Any) -> Any:
        if not self.validate_args:
            return counts
        counts = embed_check_nonnegative_integer_form(counts)
        return with_dependencies(
            [tf.assert_equal(self.total_count, tf.reduce_sum(counts, -1), message="counts last-dimension must sum to `self.total_count`")],
            counts,
        )
