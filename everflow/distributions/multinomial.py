"""The multinomial distribution."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.distributions.base import NOT_REPARAMETERIZED, Distribution
from everflow.distributions.checks import embed_check_nonnegative_integer_form, get_logits_and_probs
from everflow.distributions.making import number_of_draws, scoped
from everflow.distributions.tensors import log_combinations
from everflow.graph import dtypes
from everflow.ops.control_flow.ordering import with_dependencies


@public("distributions.Multinomial")
class Multinomial(Distribution):
    """How often each class comes up in `total_count` draws."""

    @scoped("total_count", "logits", "probs")
    def __init__(
        self,
        total_count: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Multinomial",
    ) -> None:
        self._total_count = number_of_draws(total_count, validate_args)
        self._logits, self._probs = get_logits_and_probs(logits, probs, multidimensional=True, validate_args=validate_args, name=name)
        self._mean_val = self._total_count[..., tf.newaxis] * self._probs
        parts = [self._total_count, self._logits, self._probs]
        super().__init__(parts[-1].dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, graph_parents=parts, name=name)

    @property
    def total_count(self) -> Any:
        """How many draws there are."""
        return self._total_count

    @property
    def logits(self) -> Any:
        """The log-probabilities of the classes, up to a constant."""
        return self._logits

    @property
    def probs(self) -> Any:
        """The probabilities of the classes."""
        return self._probs

    def _batch_shape_tensor(self) -> Any:
        return tf.shape(self._mean_val)[:-1]

    def _batch_shape(self) -> Any:
        return self._mean_val.get_shape().with_rank_at_least(1)[:-1]

    def _event_shape_tensor(self) -> Any:
        return tf.shape(self._mean_val)[-1:]

    def _event_shape(self) -> Any:
        return self._mean_val.get_shape().with_rank_at_least(1)[-1:]

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        draws = tf.cast(self.total_count, dtype=dtypes.int32)
        k = self.event_shape_tensor()[0]
        # Each distribution of the batch with its own number of draws, one after the other.
        counts = tf.reshape(tf.ones_like(self.logits[..., 0], dtype=draws.dtype) * draws, [-1])
        logits = tf.reshape(tf.ones_like(draws[..., tf.newaxis], dtype=self.logits.dtype) * self.logits, [-1, k])

        def sample(parts: Any) -> Any:
            row, count = parts
            classes = tf.multinomial(row[tf.newaxis, ...], n * count, seed=seed)
            return tf.reduce_sum(tf.one_hot(tf.reshape(classes, shape=[n, -1]), depth=k), axis=-2)

        found = tf.map_fn(sample, [logits, counts], dtype=self.dtype)
        found = tf.transpose(found, perm=[1, 0, 2])
        return tf.reshape(found, tf.concat([[n], self.batch_shape_tensor(), [k]], 0))

    def _log_prob(self, counts: Any) -> Any:
        counts = self._checked(counts)
        likelihood = tf.reduce_sum(counts * tf.nn.log_softmax(self.logits), -1)
        return likelihood + log_combinations(self.total_count, counts)

    def _mean(self) -> Any:
        return tf.identity(self._mean_val)

    def _covariance(self) -> Any:
        column, row = self._mean_val[..., tf.newaxis], self._probs_of_all()[..., tf.newaxis, :]
        return tf.matrix_set_diag(-tf.matmul(column, row), self._variance())

    def _variance(self) -> Any:
        return self._mean_val - self._mean_val * self._probs_of_all()

    def _probs_of_all(self) -> Any:
        """The probabilities for each number of draws in the batch."""
        return self.probs * tf.ones_like(self.total_count)[..., tf.newaxis]

    def _checked(self, counts: Any) -> Any:
        if not self.validate_args:
            return counts
        counts = embed_check_nonnegative_integer_form(counts)
        return with_dependencies(
            [tf.assert_equal(self.total_count, tf.reduce_sum(counts, -1), message="counts must sum to `self.total_count`")], counts
        )
