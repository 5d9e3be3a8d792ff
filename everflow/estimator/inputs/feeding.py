"""Queues fed from arrays by threads."""

from __future__ import annotations

import collections
import random
import threading
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.errors import OutOfRangeError
from everflow.graph.scopes import name_scope
from everflow.train.queue_runners import QueueRunner, add_queue_runner

# An enqueue copies this part of the queue's capacity.
_PARTS = 64


class _Rows:
    """Gives the places of the next rows, epoch after epoch; one after the other also where several threads ask."""

    def __init__(self, length: int, count: int, num_epochs: int | None, seed: int | None, random_start: bool) -> None:
        self._count, self._num_epochs, self._length = count, num_epochs, length
        self._lock = threading.Lock()
        self._start = random.Random(seed).randrange(length) if random_start else 0
        self._place, self._epoch = self._start, 0

    def next(self) -> Any:
        """The indices of the next rows."""
        with self._lock:
            if self._num_epochs is not None and self._epoch >= self._num_epochs:
                raise OutOfRangeError(None, None, f"Already emitted {self._epoch} epochs.")
            done = self._place - self._start
            end = done + self._count
            # Rows of the last epoch end with it; others go on with those of the next.
            if self._num_epochs is not None:
                end = min(end, self._num_epochs * self._length)
            self._place += end - done
            self._epoch = end // self._length
            return np.arange(self._start + done, self._start + end, dtype=np.int64) % self._length


class _FeedFn:
    """What an enqueue op is fed: the places of the next rows, then the rows of each array."""

    def __init__(
        self, placeholders: Any, arrays: list[Any], batch_size: int, random_start: bool, seed: int | None, num_epochs: int | None
    ) -> None:
        if len(placeholders) != len(arrays) + 1:
            raise ValueError(f"Expected {len(arrays) + 1} placeholders; got {len(placeholders)}.")
        self._placeholders, self._arrays = placeholders, arrays
        self._rows = _Rows(len(arrays[0]), batch_size, num_epochs, seed, random_start)

    def __call__(self) -> dict[Any, Any]:
        rows = self._rows.next()
        return dict(zip(self._placeholders, [self._index(rows), *(array[rows] for array in self._arrays)]))

    def _index(self, rows: Any) -> Any:
        return rows


@internal("estimator.inputs.queues.feeding_functions._ArrayFeedFn")
class ArrayFeedFn(_FeedFn):
    """Rows of one array."""

    def __init__(
        self, placeholders: Any, array: Any, batch_size: int, random_start: bool = False, seed: Any = None, num_epochs: Any = None
    ) -> None:
        super().__init__(placeholders, [np.asarray(array)], batch_size, random_start, seed, num_epochs)


@internal("estimator.inputs.queues.feeding_functions._OrderedDictNumpyFeedFn")
class OrderedDictNumpyFeedFn(_FeedFn):
    """Rows of several arrays of the same length."""

    def __init__(
        self,
        placeholders: Any,
        ordered_dict_of_arrays: Any,
        batch_size: int,
        random_start: bool = False,
        seed: Any = None,
        num_epochs: Any = None,
    ) -> None:
        arrays = [np.asarray(a) for a in ordered_dict_of_arrays.values()]
        if len({len(a) for a in arrays}) > 1:
            raise ValueError("Array lengths must match.")
        super().__init__(placeholders, arrays, batch_size, random_start, seed, num_epochs)


@internal("estimator.inputs.queues.feeding_functions._PandasFeedFn")
class PandasFeedFn(_FeedFn):
    """Rows of a data frame, with what its index says of them."""

    def __init__(
        self, placeholders: Any, dataframe: Any, batch_size: int, random_start: bool = False, seed: Any = None, num_epochs: Any = None
    ) -> None:
        self._frame_index = dataframe.index.values
        arrays = [dataframe[name].values for name in dataframe.columns]
        super().__init__(placeholders, arrays, batch_size, random_start, seed, num_epochs)

    def _index(self, rows: Any) -> Any:
        return self._frame_index[rows]


@internal("estimator.inputs.queues.feeding_functions._GeneratorFeedFn")
class GeneratorFeedFn:
    """What a generator of dicts gives, batch by batch."""

    def __init__(
        self,
        placeholders: Any,
        generator: Any,
        batch_size: int,
        random_start: bool = False,
        seed: Any = None,
        num_epochs: Any = None,
        pad_value: Any = None,
    ) -> None:
        del random_start, seed
        first = next(generator())
        self._names = sorted(first)
        if len(placeholders) != len(first):
            raise ValueError(f"Expected {len(first)} placeholders; got {len(placeholders)}.")
        self._placeholders, self._generator, self._batch_size = placeholders, generator, batch_size
        self._num_epochs, self._pad_value = num_epochs, pad_value
        self._items, self._epoch = generator(), 0

    def __call__(self) -> dict[Any, Any]:
        if self._num_epochs and self._epoch >= self._num_epochs:
            raise OutOfRangeError(None, None, f"Already emitted {self._epoch} epochs.")
        columns: list[list[Any]] = [[] for _ in self._names]
        # As TensorFlow counts, each value of a row is one of a batch, and the first row of the next epoch fills the last batch.
        while len(columns) * len(columns[0]) < self._batch_size:
            try:
                item = next(self._items)
            except StopIteration:
                self._epoch += 1
                self._items = self._generator()
                item = next(self._items)
            for name, column in zip(self._names, columns):
                if name not in item:
                    raise KeyError(f"key mismatch between dicts emitted by GenFun Expected {self._names} keys; got {item.keys()}")
                column.append(item[name])
        padded = columns if self._pad_value is None else [pad_if_needed(column, self._pad_value) for column in columns]
        return dict(zip(self._placeholders, map(np.asarray, padded)))


@internal("estimator.inputs.queues.feeding_functions._fill_array")
def fill_array(arr: Any, seq: Any, fillvalue: Any = 0) -> None:
    """Writes nested sequences into an array; where they are too short, the rest gets a value."""
    if arr.ndim == 1:
        arr[: len(seq)] = seq
        arr[len(seq) :] = fillvalue
        return
    for i, part in enumerate(seq):
        fill_array(arr[i], part, fillvalue)
    arr[len(seq) :] = fillvalue


@internal("estimator.inputs.queues.feeding_functions._pad_if_needed")
def pad_if_needed(batch_key_item: Any, fillvalue: Any = 0) -> Any:
    """Arrays of a batch as one array; those that are too short get a value where they end."""
    shapes = [np.shape(item) for item in batch_key_item]
    if len({len(shape) for shape in shapes}) > 1:
        raise ValueError("Array rank should be same in batch.")
    if len(set(shapes)) == 1:
        return np.array(batch_key_item)
    whole = np.empty((len(shapes), *np.max(shapes, axis=0)), dtype=np.asarray(batch_key_item[0]).dtype)
    fill_array(whole, batch_key_item, fillvalue)
    return whole


@public("contrib.training.FeedingQueueRunner")
@internal("estimator.inputs.queues.feeding_queue_runner._FeedingQueueRunner")
class FeedingQueueRunner(QueueRunner):
    """Feeds what functions give when it enqueues."""

    def __init__(
        self,
        queue: Any = None,
        enqueue_ops: Any = None,
        close_op: Any = None,
        cancel_op: Any = None,
        feed_fns: Sequence[Callable[[], Any]] | None = None,
        queue_closed_exception_types: Any = None,
    ) -> None:
        super().__init__(
            queue,
            enqueue_ops,
            close_op,
            cancel_op,
            queue_closed_exception_types=queue_closed_exception_types or (tf.errors.OutOfRangeError, tf.errors.CancelledError),
        )
        feed_fns = [dict] * len(enqueue_ops) if feed_fns is None else feed_fns
        if len(feed_fns) != len(enqueue_ops):
            raise ValueError("If feed_fns is not None, it must have the same length as enqueue_ops.")
        self._feeds = dict(zip(enqueue_ops, feed_fns))

    def _enqueuer(self, sess: Any, enqueue_op: Any) -> Any:
        feed = self._feeds[enqueue_op]
        return lambda: sess.run(enqueue_op, feed_dict=feed())

    def to_proto(self, export_scope: str | None = None) -> Any:
        """There is none: what is fed lives in this process."""
        return None


@internal("estimator.inputs.queues.feeding_functions._enqueue_data")
def enqueue_data(
    data: Any,
    capacity: int,
    shuffle: bool = False,
    min_after_dequeue: int | None = None,
    num_threads: int = 1,
    seed: int | None = None,
    name: str = "enqueue_input",
    enqueue_size: int = 1,
    num_epochs: int | None = None,
    pad_value: Any = None,
) -> Any:
    """A queue of an index and the rows of arrays or of a data frame, or of what a generator gives; threads fill it."""
    with name_scope(name):
        dtypes, shapes, feed_fn = _kinds(data, pad_value)
        if pad_value is not None and not isinstance(data, types.FunctionType):
            raise NotImplementedError("padding is only available with generator usage")
        if pad_value is not None and shuffle:
            raise NotImplementedError("padding and shuffling data at the same time is not implemented")
        if num_threads > 1 and num_epochs is not None:
            tf.logging.warning(
                "enqueue_data was called with num_epochs and num_threads > 1. num_epochs is applied per thread, so this "
                "will produce more epochs than you probably intend. If you want to limit epochs, use one thread."
            )
        if shuffle and num_threads > 1 and num_epochs is not None:
            tf.logging.warning(
                "enqueue_data was called with shuffle=True, num_threads > 1, and num_epochs. This will create multiple threads, "
                "all reading the array/dataframe in order adding to the same shuffling queue; the results will likely not be "
                "sufficiently shuffled."
            )
        if not shuffle and num_threads > 1:
            tf.logging.warning(
                "enqueue_data was called with shuffle=False and num_threads > 1. This will create multiple threads, all reading "
                "the array/dataframe in order. If you want examples read in order, use one thread; if you want multiple threads, "
                "enable shuffling."
            )
        if shuffle:
            min_after_dequeue = int(capacity / 4) if min_after_dequeue is None else min_after_dequeue
            queue = tf.RandomShuffleQueue(capacity, min_after_dequeue, dtypes=dtypes, shapes=shapes, seed=seed)
        elif pad_value is not None:
            min_after_dequeue = 0
            shapes = [tuple(None for _ in shape) for shape in shapes]
            queue = tf.PaddingFIFOQueue(capacity, dtypes=dtypes, shapes=shapes)  # type: ignore[assignment]
        else:
            min_after_dequeue = 0
            queue = tf.FIFOQueue(capacity, dtypes=dtypes, shapes=shapes)  # type: ignore[assignment]
        ops: list[Any] = []
        feeds: list[Any] = []
        for _ in range(num_threads):
            places = [tf.placeholder(dtype) for dtype in dtypes]
            ops.append(queue.enqueue_many(places))
            feeds.append(feed_fn(places, enqueue_size, shuffle and num_threads > 1, seed, num_epochs))
        runner = FeedingQueueRunner(queue, ops, queue.close(), queue.close(cancel_pending_enqueues=True), feeds)
        add_queue_runner(runner)
        above = capacity - min_after_dequeue
        full = tf.cast(tf.maximum(0, queue.size() - min_after_dequeue), tf.float32) * (1.0 / above)
        tf.summary.scalar(f"queue/{queue.name}fraction_over_{min_after_dequeue}_of_{above}_full", full)
        return queue


def _kinds(data: Any, pad_value: Any) -> tuple[list[Any], list[Any], Any]:
    """The types and shapes of what a queue of this data holds, and what makes a function that feeds it."""
    if isinstance(data, np.ndarray):
        arrays, index, made = [data], tf.int64, ArrayFeedFn
    elif isinstance(data, collections.OrderedDict):
        arrays, index, made = [np.asarray(a) for a in data.values()], tf.int64, OrderedDictNumpyFeedFn  # type: ignore[assignment]
    elif isinstance(data, types.FunctionType):
        first = next(data())
        arrays = [first[name] for name in sorted(first)]

        def feed_generator(places: Any, size: int, random_start: bool, seed: Any, epochs: Any) -> Any:
            return GeneratorFeedFn(places, data, size, random_start, seed, epochs, pad_value)

        return [tf.as_dtype(a.dtype) for a in arrays], [a.shape for a in arrays], feed_generator
    elif hasattr(data, "columns") and hasattr(data, "index"):
        arrays, index = [data[name].values for name in data.columns], tf.as_dtype(data.index.dtype)
        made = PandasFeedFn  # type: ignore[assignment]
    else:
        raise TypeError(f"data must be either a numpy array or pandas DataFrame if pandas is installed; got {type(data).__name__}")
    dtypes = [index, *(tf.as_dtype(a.dtype) for a in arrays)]

    def feed(places: Any, size: int, random_start: bool, seed: Any, epochs: Any) -> Any:
        return made(places, data, size, random_start, seed, epochs)

    return dtypes, [(), *(a.shape[1:] for a in arrays)], feed


def enqueue_arrays(
    arrays: list[Any], capacity: int, shuffle: bool, num_threads: int, num_epochs: int | None, seed: int | None = None
) -> Any:
    """A queue of an index and the rows of arrays, enqueued a part of its capacity at a time."""
    named = collections.OrderedDict(enumerate(arrays))
    return enqueue_data(
        named, capacity, shuffle, num_threads=num_threads, seed=seed, enqueue_size=max(1, capacity // _PARTS), num_epochs=num_epochs
    )
