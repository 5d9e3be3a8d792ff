"""Decays for the sign optimizers, and where TensorFlow keeps them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import public

BELOW = "contrib.opt.python.training.sign_decay."


def _done(step: Any, decay_steps: int) -> Any:
    """How much of the decay is behind a step, at most all."""
    if step is None:
        raise ValueError("step is required for sign_decay.")
    whole = tf.cast(decay_steps, tf.float32)
    return tf.minimum(tf.cast(step, tf.float32), whole) / whole


def _waved(fraction: Any) -> Any:
    return 0.5 * (1.0 + tf.cos(math.pi * fraction))


def _until(zero_after: float | None, at: Any, value: Any) -> Any:
    return value if zero_after is None else tf.where(tf.greater_equal(at, zero_after), tf.zeros_like(value), value)


@public(BELOW + "get_linear_decay_fn")
def get_linear_decay_fn(decay_steps: int) -> Callable[[Any], Any]:
    """From one to zero in a straight line."""
    return lambda global_step: 1.0 - _done(global_step, decay_steps)


@public(BELOW + "get_cosine_decay_fn")
def get_cosine_decay_fn(decay_steps: int, num_periods: float = 0.5, zero_after: float | None = None) -> Callable[[Any], Any]:
    """Along a cosine, `num_periods` times; zero from the period `zero_after` on."""

    def decay(global_step: Any) -> Any:
        fraction = 2.0 * num_periods * _done(global_step, decay_steps)
        return _until(None if zero_after is None else 2 * zero_after, fraction, _waved(fraction))

    return decay


@public(BELOW + "get_restart_decay_fn")
def get_restart_decay_fn(decay_steps: int, num_periods: float = 1, zero_after: float | None = None) -> Callable[[Any], Any]:
    """Along half a cosine, which starts again `num_periods` times; zero from the period `zero_after` on."""

    def decay(global_step: Any) -> Any:
        passed = num_periods * _done(global_step, decay_steps)
        return _until(zero_after, passed, _waved(tf.floormod(passed, 1.0)))

    return decay
