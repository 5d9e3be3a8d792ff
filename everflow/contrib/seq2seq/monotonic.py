"""Attention that only moves forward through the memory."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope


@public("contrib.seq2seq.safe_cumprod")
def safe_cumprod(x: Any, *args: Any, **kwargs: Any) -> Any:
    """Cumulative products of numbers in [0, 1] by way of their logarithms, so that gradients stay finite."""
    with name_scope(None, "SafeCumprod", [x]):
        factors = convert_to_tensor(x, name="x")
        logarithms = tf.log(tf.clip_by_value(factors, np.finfo(factors.dtype.as_numpy_dtype).tiny, 1))
        return tf.exp(tf.cumsum(logarithms, *args, **kwargs))


def _recursive(p: Any, previous: Any) -> Any:
    batch_size = p.shape.as_list()[0] or tf.shape(p)[0]
    not_before = tf.concat([tf.ones((batch_size, 1), dtype=p.dtype), 1 - p[:, :-1]], 1)
    arriving = tf.scan(
        lambda arrived, step: tf.reshape(step[0] * arrived + step[1], (batch_size,)),
        [tf.transpose(not_before), tf.transpose(previous)],
        tf.zeros((batch_size,), dtype=p.dtype),
    )
    return p * tf.transpose(arriving)


def _parallel(p: Any, previous: Any) -> Any:
    passed = safe_cumprod(1 - p, axis=1, exclusive=True)
    return p * passed * tf.cumsum(previous / tf.clip_by_value(passed, 1e-10, 1.0), axis=1)


def _hard(p: Any, previous: Any) -> Any:
    p = tf.cast(p > 0.5, p.dtype)
    p *= tf.cumsum(previous, axis=1)
    return p * tf.cumprod(1 - p, axis=1, exclusive=True)


@public("contrib.seq2seq.monotonic_attention")
def monotonic_attention(p_choose_i: Any, previous_attention: Any, mode: str) -> Any:
    """Where attention goes from where it was, given the probability of stopping at each element of the memory.

    "recursive" is exact and steps through the memory; "parallel" is quicker and less exact where probabilities are
    near one; "hard" takes probabilities for decisions.
    """
    p = convert_to_tensor(p_choose_i, name="p_choose_i")
    previous = convert_to_tensor(previous_attention, name="previous_attention")
    modes = {"recursive": _recursive, "parallel": _parallel, "hard": _hard}
    if mode not in modes:
        raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")
    return modes[mode](p, previous)


@internal("contrib.seq2seq.python.ops.attention_wrapper._monotonic_probability_fn")
def monotonic_probability(score: Any, previous_alignments: Any, sigmoid_noise: float, mode: str, seed: int | None = None) -> Any:
    """Alignments from scores; noise before the sigmoid teaches a model to decide clearly."""
    if sigmoid_noise > 0:
        score += sigmoid_noise * tf.random_normal(tf.shape(score), dtype=score.dtype, seed=seed)
    p = tf.cast(score > 0, score.dtype) if mode == "hard" else tf.sigmoid(score)
    return monotonic_attention(p, previous_alignments, mode)
