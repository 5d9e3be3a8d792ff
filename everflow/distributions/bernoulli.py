"""The Bernoulli distribution."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.distributions.base import NOT_REPARAMETERIZED, Distribution
from everflow.distributions.checks import embed_check_integer_casting_closed, get_logits_and_probs
from everflow.distributions.divergence import RegisterKL
from everflow.distributions.making import scoped
from everflow.graph import dtypes
from everflow.graph.scopes import name_scope


@public("distributions.Bernoulli")
class Bernoulli(Distribution):
    """1 with probability `probs` = sigmoid(`logits`), else 0."""

    @scoped()
    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = dtypes.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Bernoulli",
    ) -> None:
        self._logits, self._probs = parts = get_logits_and_probs(logits, probs, validate_args=validate_args, name=name)
        kind = dtypes.as_dtype(dtype)
        super().__init__(kind, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, graph_parents=parts, name=name)

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Any]:
        return {"logits": tf.convert_to_tensor(sample_shape, dtype=dtypes.int32)}

    @property
    def logits(self) -> Any:
        """The log-odds of 1."""
        return self._logits

    @property
    def probs(self) -> Any:
        """The probability of 1."""
        return self._probs

    def _batch_shape_tensor(self) -> Any:
        return tf.shape(self._logits)

    def _batch_shape(self) -> Any:
        return self._logits.get_shape()

    def _event_shape_tensor(self) -> Any:
        return tf.constant([], dtype=dtypes.int32)

    def _event_shape(self) -> Any:
        return tf.TensorShape([])

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        shape = tf.concat([[n], self.batch_shape_tensor()], 0)
        return tf.cast(tf.less(tf.random_uniform(shape, seed=seed, dtype=self.probs.dtype), self.probs), self.dtype)

    def _log_prob(self, event: Any) -> Any:
        if self.validate_args:
            event = embed_check_integer_casting_closed(event, target_dtype=dtypes.bool)
        event = tf.cast(event, self.logits.dtype)
        logits = self.logits
        if not event.get_shape().is_fully_defined() or not logits.get_shape().is_fully_defined() or event.get_shape() != logits.get_shape():
            logits, event = tf.ones_like(event) * logits, tf.ones_like(logits) * event
        return -tf.nn.sigmoid_cross_entropy_with_logits(labels=event, logits=logits)

    def _entropy(self) -> Any:
        return -self.logits * (tf.sigmoid(self.logits) - 1) + tf.nn.softplus(-self.logits)

    def _mean(self) -> Any:
        return tf.identity(self.probs)

    def _variance(self) -> Any:
        return self._mean() * (1.0 - self.probs)

    def _mode(self) -> Any:
        return tf.cast(self.probs > 0.5, self.dtype)


@RegisterKL(Bernoulli, Bernoulli)
def _kl_bernoulli_bernoulli(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_bernoulli_bernoulli", values=[a.logits, b.logits]):
        zero = tf.nn.softplus(-b.logits) - tf.nn.softplus(-a.logits)
        one = a.logits + tf.nn.softplus(-a.logits) - b.logits - tf.nn.softplus(-b.logits)
        return tf.sigmoid(a.logits) * zero + tf.sigmoid(-a.logits) * -one
