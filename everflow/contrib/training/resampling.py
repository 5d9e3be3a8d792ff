"""Rows of tensors, repeated or left out at random."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.train.moving_averages import assign_moving_average


@internal("contrib.training.python.training.resample._repeat_range")
def repeat_range(counts: Any, name: str | None = None) -> Any:
    """The numbers 0, 1, ..., each as often as its count says."""
    with tf.name_scope(name, "repeat_range", [counts]):
        return tf.repeat(tf.range(tf.size(counts)), counts)


@public("contrib.training.resample_at_rate")
def resample_at_rate(inputs: Any, rates: Any, scope: str | None = None, seed: int | None = None, back_prop: bool = False) -> list[Any]:
    """The rows of the inputs, each as often on average as its rate says: once, not at all or several times."""
    with tf.name_scope(scope, "resample_at_rate", [*inputs, rates]):
        return _resampled(inputs, tf.convert_to_tensor(rates, name="rates"), seed, back_prop)


def _resampled(inputs: Any, rates: Any, seed: int | None, back_prop: bool = False) -> list[Any]:
    counts = tf.cast(tf.random_poisson(rates, (), dtypes.float32, seed=seed), dtypes.int32)
    rows = repeat_range(counts)
    if not back_prop:
        rows = tf.stop_gradient(rows)
    return [tf.gather(tensor, rows) for tensor in inputs]


@public("contrib.training.weighted_resample")
def weighted_resample(
    inputs: Any, weights: Any, overall_rate: Any, scope: str | None = None, mean_decay: float = 0.999, seed: int | None = None
) -> tuple[list[Any], Any]:
    """The rows of the inputs at rates that are proportional to their weights and `overall_rate` on average, and the rates of the rows
    that came. The mean of the weights is learned from what is seen."""
    with tf.name_scope(scope, "weighted_resample", inputs):
        with tf.variable_scope("estimate_mean", values=[weights]):
            mean = tf.Variable(initial_value=tf.cast(0, weights.dtype), trainable=False, name="estimated_mean")
            mean = assign_moving_average(mean, tf.reduce_mean(weights), mean_decay)
        rates = weights * overall_rate / mean
        kept_rates, *results = _resampled([rates, *inputs], rates, seed)
        return results, kept_rates
