"""The categorical distribution."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.distributions.base import NOT_REPARAMETERIZED, Distribution
from everflow.distributions.checks import embed_check_categorical_event_shape, embed_check_integer_casting_closed, get_logits_and_probs
from everflow.distributions.divergence import RegisterKL
from everflow.graph import dtypes
from everflow.graph.scopes import name_scope


def _broadcast(event: Any, params: Any, dtype: Any) -> tuple[Any, Any]:
    """Class numbers and the parameters of classes, with the same shapes but for the classes."""
    if event.dtype.is_floating:
        event = tf.cast(event, dtypes.int64)
    elif not event.dtype.is_integer:
        raise TypeError(f"`value` should have integer `dtype` or `self.dtype` ({dtype})")
    known = event.get_shape().ndims is not None and event.get_shape().is_fully_defined() and params.get_shape().is_fully_defined()
    if not known or event.get_shape() != params.get_shape()[:-1]:
        params = params * tf.ones_like(event[..., tf.newaxis], dtype=params.dtype)
        event = event * tf.ones(tf.shape(params)[:-1], dtype=event.dtype)
        if params.get_shape().ndims is not None:
            event.set_shape(tf.TensorShape(params.get_shape().dims[:-1]))
    return event, params


@public("distributions.Categorical")
class Categorical(Distribution):
    """The number of a class, of which each has a probability."""

    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = dtypes.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Categorical",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._logits, self._probs = get_logits_and_probs(
                logits=logits, probs=probs, validate_args=validate_args, multidimensional=True, name=name
            )
            if validate_args:
                self._logits = embed_check_categorical_event_shape(self._logits)
            static = self._logits.get_shape().with_rank_at_least(1)
            self._batch_rank = (
                tf.rank(self._logits) - 1
                if static.ndims is None
                else tf.convert_to_tensor(static.ndims - 1, dtype=dtypes.int32, name="batch_rank")
            )
            shape = tf.shape(self._logits, name="logits_shape")
            size = None if static.ndims is None else tf.dimension_value(static[-1])
            if size is not None:
                self._event_size = tf.convert_to_tensor(size, dtype=dtypes.int32, name="event_size")
            else:
                with name_scope("event_size"):
                    self._event_size = shape[self._batch_rank]
            if static[:-1].is_fully_defined():
                self._batch_shape_val = tf.constant(static[:-1].as_list(), dtype=dtypes.int32, name="batch_shape")
            else:
                with name_scope("batch_shape"):
                    self._batch_shape_val = shape[:-1]
        super().__init__(
            dtypes.as_dtype(dtype), NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, [self._logits, self._probs], name
        )

    @property
    def event_size(self) -> Any:
        """How many classes there are."""
        return self._event_size

    @property
    def logits(self) -> Any:
        """The log-probabilities of the classes, up to a constant."""
        return self._logits

    @property
    def probs(self) -> Any:
        """The probabilities of the classes."""
        return self._probs

    def _batch_shape_tensor(self) -> Any:
        return tf.identity(self._batch_shape_val)

    def _batch_shape(self) -> Any:
        return self.logits.get_shape()[:-1]

    def _event_shape_tensor(self) -> Any:
        return tf.constant([], dtype=dtypes.int32)

    def _event_shape(self) -> Any:
        return tf.TensorShape([])

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        logits = self.logits if self.logits.get_shape().ndims == 2 else tf.reshape(self.logits, [-1, self.event_size])
        kind = dtypes.int64 if self.dtype.size > 4 else dtypes.int32
        draws = tf.transpose(tf.multinomial(logits, n, seed=seed, output_dtype=kind))
        return tf.cast(tf.reshape(draws, tf.concat([[n], self.batch_shape_tensor()], 0)), self.dtype)

    def _cdf(self, k: Any) -> Any:
        k, probs = self._classes(k, self.probs)
        # Of each row, the classes before the given one.
        rows = tf.reshape(probs, (-1, self._event_size))
        before = tf.sequence_mask(tf.reshape(k, [-1]), self._event_size)
        sums = tf.reduce_sum(tf.where(before, rows, tf.zeros_like(rows)), axis=-1)
        return tf.reshape(sums, tf.shape(k))

    def _classes(self, k: Any, parameters: Any) -> tuple[Any, Any]:
        """Numbers of classes, checked if wanted, and the parameters of the classes for each of them."""
        k = tf.convert_to_tensor(k, name="k")
        k = embed_check_integer_casting_closed(k, target_dtype=dtypes.int32) if self.validate_args else k
        return _broadcast(k, parameters, self.dtype)

    def _log_prob(self, k: Any) -> Any:
        labels, logits = self._classes(k, self.logits)
        return -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)

    def _entropy(self) -> Any:
        return -tf.reduce_sum(tf.nn.log_softmax(self.logits) * self.probs, axis=-1)

    def _mode(self) -> Any:
        found = tf.cast(tf.argmax(self.logits, axis=self._batch_rank), self.dtype)
        found.set_shape(self.batch_shape)
        return found


@RegisterKL(Categorical, Categorical)
def _kl_categorical_categorical(a: Any, b: Any, name: str | None = None) -> Any:
    p, q = a.logits, b.logits
    with name_scope(name, "kl_categorical_categorical", values=[p, q]):
        log_ratio = tf.nn.log_softmax(p) - tf.nn.log_softmax(q)
        return tf.reduce_sum(tf.nn.softmax(p) * log_ratio, axis=-1)
