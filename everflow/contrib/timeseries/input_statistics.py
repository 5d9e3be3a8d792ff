"""Means, variances and lengths of series, learnt from the windows that training sees."""

from __future__ import annotations

from typing import Any, NamedTuple

import everflow as tf
from everflow import nest
from everflow.contrib.timeseries.feature_keys import TrainEvalFeatures
from everflow.contrib.timeseries.publishing import published


@published("math_utils.Moments")
class Moments(NamedTuple):
    """Mean and variance of each feature."""

    mean: Any
    variance: Any


@published("math_utils.InputStatistics")
class InputStatistics(NamedTuple):
    """What is known of a series: moments where it starts and overall, its first time, how many observations it has."""

    series_start_moments: Any
    overall_feature_moments: Any
    start_time: Any
    total_observation_count: Any


class _Sums(NamedTuple):
    """What statistics are computed from."""

    max_time_seen: Any
    chunk_count: Any
    inter_observation_duration_sum: Any
    example_count: Any
    overall_feature_sum: Any
    overall_feature_sum_of_squares: Any


def _kept(name: str, dtype: Any, shape: Any, initializer: Any = None) -> Any:
    return tf.get_variable(name, shape=shape, dtype=dtype, initializer=initializer, trainable=False)


def _kept_constant(name: str, value: int) -> Any:
    return tf.get_variable(name, initializer=value, dtype=tf.int64, trainable=False)


@published("math_utils.InputStatisticsFromMiniBatch")
class InputStatisticsFromMiniBatch:
    """Statistics in variables, brought up to date with each batch."""

    def __init__(self, num_features: int, dtype: Any, starting_variance_window_size: int = 16) -> None:
        self._starting_variance_window_size = starting_variance_window_size
        self._num_features = num_features
        self._dtype = dtype

    def initialize_graph(self, features: dict[str, Any], update_statistics: bool = True) -> InputStatistics:
        """The statistics, after an update from these features where there is one."""
        times, values = features.get(TrainEvalFeatures.TIMES), features.get(TrainEvalFeatures.VALUES)
        with tf.variable_scope("input_statistics", use_resource=True):
            statistics = self._variables()
        with tf.variable_scope("input_statistics_auxiliary", use_resource=True):
            sums = self._sums()
        if not update_statistics or times is None or values is None:
            return statistics
        with tf.control_dependencies([self._update(statistics, sums, times, values)]):
            read = nest.pack_sequence_as(statistics, [tf.identity(variable) for variable in nest.flatten(statistics)])
            return read._replace(start_time=tf.minimum(read.start_time, tf.cast(tf.reduce_min(times), tf.int64)))

    def _variables(self) -> InputStatistics:
        def moments(mean: str, variance: str) -> Moments:
            shape = [self._num_features]
            return Moments(
                _kept(mean, self._dtype, shape, tf.zeros_initializer()), _kept(variance, self._dtype, shape, tf.ones_initializer())
            )

        return InputStatistics(
            series_start_moments=moments("series_start_mean", "series_start_variance"),
            overall_feature_moments=moments("overall_feature_mean", "overall_feature_var"),
            start_time=_kept_constant("start_time", tf.int64.max),
            total_observation_count=_kept("total_observation_count", tf.int64, [], tf.ones_initializer()),
        )

    def _sums(self) -> _Sums:
        zeros, shape = tf.zeros_initializer, [self._num_features]
        return _Sums(
            max_time_seen=_kept_constant("max_time_seen", tf.int64.min),
            chunk_count=_kept("chunk_count", tf.int64, [], zeros()),
            inter_observation_duration_sum=_kept("inter_observation_duration_sum", self._dtype, [], zeros()),
            example_count=_kept("example_count", tf.int64, []),
            overall_feature_sum=_kept("overall_feature_sum", self._dtype, shape, zeros()),
            overall_feature_sum_of_squares=_kept("overall_feature_sum_of_squares", self._dtype, shape, zeros()),
        )

    def _update(self, statistics: InputStatistics, sums: _Sums, times: Any, values: Any) -> Any:
        dtype = self._dtype
        values = tf.cast(values, dtype)
        spans = tf.cast(tf.reduce_max(times, axis=1) - tf.reduce_min(times, axis=1), dtype)
        durations = spans / tf.cast(tf.shape(times)[1] - 1, dtype)
        with tf.device(sums.max_time_seen.device):
            max_time = tf.assign(sums.max_time_seen, tf.maximum(sums.max_time_seen, tf.cast(tf.reduce_max(times), tf.int64)))
        updates = [max_time]
        for variable, addend in (
            (sums.chunk_count, lambda: tf.shape(times, out_type=tf.int64)[0]),
            (sums.inter_observation_duration_sum, lambda: tf.reduce_sum(durations)),
            (sums.example_count, lambda: tf.size(times, out_type=tf.int64)),
            (sums.overall_feature_sum, lambda: tf.reduce_sum(values, axis=[0, 1])),
            (sums.overall_feature_sum_of_squares, lambda: tf.reduce_sum(values**2, axis=[0, 1])),
        ):
            with tf.device(variable.device):
                updates.append(tf.assign_add(variable, addend()))
        with tf.control_dependencies([tf.group(*updates)]):
            return self._statistics_from(sums, statistics, times, values, max_time)

    def _statistics_from(self, sums: _Sums, statistics: InputStatistics, times: Any, values: Any, max_time: Any) -> Any:
        dtype = self._dtype
        count = tf.cast(sums.example_count, dtype)
        mean = sums.overall_feature_sum / count
        overall = statistics.overall_feature_moments
        mean_update = tf.assign(overall.mean, mean)
        unbiased = count / (count - 1.0) * (sums.overall_feature_sum_of_squares / count - mean**2)
        variance_update = tf.assign(overall.variance, unbiased)
        earliest = tf.cast(tf.argmin(times[:, 0]), tf.int32)

        def start_moments() -> Any:
            mean, variance = tf.nn.moments(values[earliest, : self._starting_variance_window_size], axes=[0])
            start = statistics.series_start_moments
            return tf.group(tf.assign(start.mean, mean), tf.assign(start.variance, variance))

        with tf.device(statistics.start_time.device):
            is_start = tf.less_equal(tf.cast(times[earliest, 0], tf.int64), statistics.start_time)
            start_update = tf.cond(is_start, start_moments, tf.no_op)
            with tf.control_dependencies([start_update]):
                first = tf.cast(tf.reduce_min(times), tf.int64)
                start_time = tf.assign(statistics.start_time, tf.minimum(statistics.start_time, first))
        duration = sums.inter_observation_duration_sum / tf.cast(sums.chunk_count, dtype)
        observations = tf.round(tf.cast(max_time - start_time + 1, dtype) / duration)
        count_update = tf.assign(statistics.total_observation_count, tf.cast(observations, tf.int64))
        return tf.group(mean_update, variance_update, start_update, start_time, count_update)
