"""Input functions: whole series, random windows of them, and what follows an evaluation."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import public
from everflow.contrib.timeseries.feature_keys import FilteringResults, PredictionFeatures, TrainEvalFeatures
from everflow.contrib.timeseries.prediction_times import times_to_predict
from everflow.contrib.timeseries.publishing import published
from everflow.contrib.timeseries.readers import TimeSeriesReader
from everflow.graph.keys import GraphKeys


@public("contrib.timeseries.predict_continuation_input_fn")
def predict_continuation_input_fn(
    evaluation: dict[str, Any], steps: int | None = None, times: Any = None, exogenous_features: dict[str, Any] | None = None
) -> Callable[[], Any]:
    """An input function to predict with, from where an evaluation ended."""
    features = {
        PredictionFeatures.STATE_TUPLE: evaluation[FilteringResults.STATE_TUPLE],
        PredictionFeatures.TIMES: times_to_predict(times=times, steps=steps, previous_model_output=evaluation),
        **(exogenous_features or {}),
    }

    def input_fn() -> Any:
        once = {
            key: nest.map_structure(lambda value: tf.train.limit_epochs(value, num_epochs=1), values) for key, values in features.items()
        }
        return once, None

    return input_fn


@published("input_pipeline.TimeSeriesInputFn")
class TimeSeriesInputFn:
    """An input function that is an object."""

    @abc.abstractmethod
    def create_batch(self) -> Any:
        """Features, and None: time series have no labels."""

    def __call__(self) -> Any:
        return self.create_batch()


@public("contrib.timeseries.WholeDatasetInputFn")
class WholeDatasetInputFn(TimeSeriesInputFn):
    """All of a series in each batch."""

    def __init__(self, time_series_reader: TimeSeriesReader) -> None:
        self._reader = time_series_reader

    def create_batch(self) -> Any:
        return {name: value[None, ...] for name, value in self._reader.read_full().items()}, None


@public("contrib.timeseries.RandomWindowInputFn")
class RandomWindowInputFn(TimeSeriesInputFn):
    """Windows of a series, cut at random and shuffled."""

    def __init__(
        self,
        time_series_reader: TimeSeriesReader,
        window_size: int,
        batch_size: int,
        queue_capacity_multiplier: int = 1000,
        shuffle_min_after_dequeue_multiplier: int = 2,
        discard_out_of_order: bool = True,
        discard_consecutive_batches_limit: int = 1000,
        jitter: bool = True,
        num_threads: int | None = 2,
        shuffle_seed: int | None = None,
    ) -> None:
        self._reader = time_series_reader
        self._window_size = window_size
        self._reader.check_dataset_size(minimum_dataset_size=window_size)
        self._batch_size = batch_size
        self._queue_capacity_multiplier = queue_capacity_multiplier
        self._shuffle_min_after_dequeue_multiplier = shuffle_min_after_dequeue_multiplier
        self._discard_out_of_order = discard_out_of_order
        self._discard_limit = discard_consecutive_batches_limit
        self._jitter = jitter
        self._num_threads = batch_size if num_threads is None else num_threads
        self._shuffle_seed = shuffle_seed

    def create_batch(self) -> Any:
        windows = self._cut(self._reader.read())
        times = windows[TrainEvalFeatures.TIMES]
        if self._discard_out_of_order:
            keep: Any = self._in_order(times)
        else:
            windows, keep = self._sorted(windows, times), True
        batch = tf.train.maybe_shuffle_batch(
            windows,
            num_threads=self._num_threads,
            seed=self._shuffle_seed,
            batch_size=self._batch_size,
            capacity=self._queue_capacity_multiplier * self._batch_size,
            min_after_dequeue=self._shuffle_min_after_dequeue_multiplier * self._batch_size,
            keep_input=keep,
            enqueue_many=True,
        )
        return batch, None

    def _cut(self, features: dict[str, Any]) -> dict[str, Any]:
        """As many windows as a batch has, one after another; leaving out a record now and then makes others start them."""
        count, size = self._batch_size, self._window_size
        skipped = tf.random_uniform(shape=[], maxval=2, dtype=tf.int32) if self._jitter else 0
        records = tf.train.batch(
            features,
            batch_size=size * count + skipped,
            enqueue_many=True,
            capacity=self._queue_capacity_multiplier * count * size,
            num_threads=self._num_threads,
        )
        kept = {key: value[skipped:] for key, value in records.items()} if self._jitter else records
        windows = {key: tf.reshape(value, tf.concat([[count, size], tf.shape(value)[1:]], axis=0)) for key, value in kept.items()}
        for key, window in windows.items():
            window.set_shape(tf.TensorShape([count, size]).concatenate(records[key].get_shape()[1:]))
        return windows

    def _in_order(self, times: Any) -> Any:
        """Which windows have times that never fall. Too many batches without one end it all: OutOfRangeError."""
        in_order = tf.reduce_all(times[:, 1:] >= times[:, :-1], axis=1)
        discarded = tf.Variable(
            initial_value=tf.constant(0, dtype=tf.int64),
            name="discarded_windows_limiter",
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )

        def count() -> Any:
            return tf.cond(tf.reduce_any(in_order), lambda: tf.assign(discarded, 0), lambda: discarded.count_up_to(self._discard_limit))

        counted = tf.cond(tf.is_variable_initialized(discarded), count, lambda: tf.constant(0, dtype=tf.int64))
        with tf.control_dependencies([counted]):
            return tf.identity(in_order)

    @staticmethod
    def _sorted(windows: dict[str, Any], times: Any) -> dict[str, Any]:
        # As TensorFlow 1.15 does: indices of sorted times, with the rows reversed, pick rows of each feature.
        _, descending = tf.nn.top_k(times, k=tf.shape(times)[-1], sorted=True)
        ascending = tf.reverse(descending, axis=[0])
        return {key: tf.gather(value, ascending) for key, value in windows.items()}
