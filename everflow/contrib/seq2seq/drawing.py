"""Random draws for decoders: yes or no, and one of several classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.graph.convert import convert_to_tensor
from everflow.graph.dtypes import DTypeLike
from everflow.graph.scopes import name_scope

HOMES = ("contrib.seq2seq.python.ops.helper.", "contrib.seq2seq.python.ops.sampler.")


def _drawn(draw: Callable[[Any], Any], sample_shape: Any) -> Any:
    """`draw(n)` gives [n, ...]; the draws as [*sample_shape, ...]."""
    with name_scope(None, "call_sampler", [sample_shape]):
        shape = convert_to_tensor(sample_shape, dtype="int32", name="sample_shape")
        shape = tf.reshape(shape, [-1])
        draws = draw(tf.reduce_prod(shape))
        return tf.reshape(draws, tf.concat([shape, tf.shape(draws)[1:]], 0))


@internal(*(home + "bernoulli_sample" for home in HOMES))
def bernoulli_sample(
    probs: Any = None, logits: Any = None, dtype: DTypeLike = tf.int32, sample_shape: Any = (), seed: int | None = None
) -> Any:
    """Ones with these probabilities, or with these logits."""
    probs = convert_to_tensor(probs, name="probs") if logits is None or probs is not None else tf.sigmoid(logits)

    def draw(n: Any) -> Any:
        uniform = tf.random_uniform(tf.concat([[n], tf.shape(probs)], 0), seed=seed, dtype=probs.dtype)
        return tf.cast(tf.less(uniform, probs), dtype)

    return _drawn(draw, sample_shape)


@internal(*(home + "categorical_sample" for home in HOMES))
def categorical_sample(logits: Any, dtype: DTypeLike = tf.int32, sample_shape: Any = (), seed: int | None = None) -> Any:
    """Classes with the probabilities that logits [..., classes] give."""
    logits = convert_to_tensor(logits, name="logits")
    classes = logits.shape.as_list()[-1] or tf.shape(logits)[-1]

    def draw(n: Any) -> Any:
        rows = logits if logits.shape.rank == 2 else tf.reshape(logits, [-1, classes])
        draws = tf.multinomial(rows, n, seed=seed, output_dtype="int64" if logits.dtype.size > 4 else "int32")
        draws = tf.reshape(tf.transpose(draws), tf.concat([[n], tf.shape(logits)[:-1]], 0))
        return tf.cast(draws, dtype)

    found = _drawn(draw, sample_shape)
    if not isinstance(sample_shape, tf.Tensor) and tf.TensorShape(sample_shape).rank == 0:
        found.set_shape(logits.shape[:-1])
    return found
