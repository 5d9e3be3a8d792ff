"""Queues fed from arrays by threads."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.errors import OutOfRangeError
from everflow.graph.scopes import name_scope
from everflow.train.queue_runners import QueueRunner, add_queue_runner

# An enqueue copies this part of the queue's capacity.
_PARTS = 64


class _Rows:
    """Gives the next rows of arrays, epoch after epoch; one after the other also where several threads ask."""

    def __init__(self, arrays: list[Any], count: int, num_epochs: int | None, seed: int | None, random_start: bool) -> None:
        self._arrays, self._count, self._num_epochs = arrays, count, num_epochs
        self._lock = threading.Lock()
        self._length = len(arrays[0])
        if random_start:
            self._start = random.Random(seed).randrange(self._length)
        else:
            self._start = 0
        self._place, self._epoch = self._start, 0

    def next(self) -> list[Any]:
        """The indices of the next rows, and the rows of each array."""
        with self._lock:
            if self._num_epochs is not None and self._epoch >= self._num_epochs:
                raise OutOfRangeError(None, None, f"Already emitted {self._epoch} epochs.")
            indices: list[int] = []
            # Rows of the last epoch end with it; others go on with those of the next.
            while len(indices) < self._count:
                indices.append(self._place % self._length)
                self._place += 1
                if self._place % self._length == self._start % self._length:
                    self._epoch += 1
                    if self._num_epochs is not None and self._epoch >= self._num_epochs:
                        break
        return [np.asarray(indices, dtype=np.int64), *(array[indices] for array in self._arrays)]


@public("contrib.training.FeedingQueueRunner")
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


def enqueue_arrays(
    arrays: list[Any],
    capacity: int,
    shuffle: bool,
    num_threads: int,
    num_epochs: int | None,
    seed: int | None = None,
    min_after_dequeue: int | None = None,
) -> Any:
    """A queue of an index and the rows of arrays, which threads fill."""
    with name_scope("enqueue_input"):
        dtypes = [tf.int64, *(tf.as_dtype(a.dtype) for a in arrays)]
        shapes = [(), *(a.shape[1:] for a in arrays)]
        if num_threads > 1 and num_epochs is not None:
            tf.logging.warning(
                "enqueue_data was called with num_epochs and num_threads > 1. num_epochs is applied per thread, so this "
                "will produce more epochs than you probably intend. If you want to limit epochs, use one thread."
            )
        if shuffle:
            min_after_dequeue = int(capacity / 4) if min_after_dequeue is None else min_after_dequeue
            queue = tf.RandomShuffleQueue(capacity, min_after_dequeue, dtypes=dtypes, shapes=shapes, seed=seed)
        else:
            min_after_dequeue = 0
            queue = tf.FIFOQueue(capacity, dtypes=dtypes, shapes=shapes)  # type: ignore[assignment]
        count = max(1, capacity // _PARTS)
        ops: list[Any] = []
        feeds: list[Any] = []
        for _ in range(num_threads):
            rows = _Rows(arrays, count, num_epochs, seed, random_start=shuffle and num_threads > 1)
            places = [tf.placeholder(dtype) for dtype in dtypes]
            ops.append(queue.enqueue_many(places))
            feeds.append(lambda rows=rows, places=places: dict(zip(places, rows.next())))
        runner = FeedingQueueRunner(queue, ops, queue.close(), queue.close(cancel_pending_enqueues=True), feeds)
        add_queue_runner(runner)
        above = capacity - min_after_dequeue
        full = tf.cast(tf.maximum(0, queue.size() - min_after_dequeue), tf.float32) * (1.0 / above)
        tf.summary.scalar(f"queue/{queue.name}fraction_over_{min_after_dequeue}_of_{above}_full", full)
        return queue
