"""Sequences, and workers that fetch their batches (or a generator's) ahead of time."""

from __future__ import annotations

import multiprocessing
import multiprocessing.pool
import queue
import random
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np

from everflow.api import internal, public
from everflow.graph.tensor import Tensor

# By number of enqueuer: the Sequence or generator that worker processes read.
_SHARED: dict[int, Any] = {}
_numbers = iter(range(1 << 62))


@public("keras.utils.Sequence")
class Sequence:
    """Data in batches that can be asked for by their number: define `__getitem__` and `__len__`."""

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def on_epoch_end(self) -> None:
        """Called after each epoch."""

    def __iter__(self) -> Iterator[Any]:
        for i in range(len(self)):
            yield self[i]


@internal("keras.utils.data_utils.iter_sequence_infinite")
def iter_sequence_infinite(seq: Any) -> Iterator[Any]:
    """The batches of a Sequence, again and again."""
    while True:
        yield from (seq[i] for i in range(len(seq)))


@internal("keras.utils.data_utils.is_generator_or_sequence")
def is_generator_or_sequence(x: Any) -> bool:
    """Whether something is asked for batches one by one."""
    if isinstance(x, (Tensor, np.ndarray, str, list, tuple, dict, set)) or hasattr(x, "element_spec") or hasattr(x, "output_types"):
        return False
    return isinstance(x, Sequence) or hasattr(x, "__next__") and hasattr(x, "__iter__")


@internal("keras.utils.data_utils.init_pool")
def init_pool(seqs: Any) -> None:
    """Gives a worker process the data."""
    global _SHARED
    _SHARED = seqs


@internal("keras.utils.data_utils.get_index")
def get_index(uid: int, i: int) -> Any:
    """A batch of a Sequence, by the number of its enqueuer."""
    return _SHARED[uid][i]


@internal("keras.utils.data_utils.next_sample")
def next_sample(uid: int) -> Any:
    """The next batch of a generator, by the number of its enqueuer."""
    return next(_SHARED[uid])


@public("keras.utils.SequenceEnqueuer")
class SequenceEnqueuer:
    """Base of what fills a queue with batches, by threads or processes."""

    def __init__(self, sequence: Any, use_multiprocessing: bool = False) -> None:
        self.sequence = sequence
        self.use_multiprocessing = use_multiprocessing
        self.uid = next(_numbers)
        self.workers = 0
        self.queue: Any = None
        self.run_thread: threading.Thread | None = None
        self.stop_signal: threading.Event | None = None
        _SHARED[self.uid] = sequence

    def is_running(self) -> bool:
        """Whether it fills its queue."""
        return self.stop_signal is not None and not self.stop_signal.is_set()

    def start(self, workers: int = 1, max_queue_size: int = 10) -> None:
        """Starts to fill the queue."""
        self.workers = workers
        self.queue = queue.Queue(max_queue_size)
        self.stop_signal = threading.Event()
        self.run_thread = threading.Thread(target=self._run, daemon=True)
        self.run_thread.start()

    def _pool(self) -> Any:
        if self.use_multiprocessing:
            context = multiprocessing.get_context("fork")
            return context.Pool(self.workers, initializer=init_pool, initargs=(_SHARED,))
        return multiprocessing.pool.ThreadPool(self.workers)

    def stop(self, timeout: Any = None) -> None:
        """Ends the workers."""
        if self.stop_signal is not None:
            self.stop_signal.set()
        if self.queue is not None:
            _empty(self.queue)
        if self.run_thread is not None:
            self.run_thread.join(timeout)
        _SHARED.pop(self.uid, None)

    def _put(self, item: Any) -> bool:
        """Waits for room in the queue; False where it was stopped meanwhile."""
        while self.is_running():
            try:
                self.queue.put(item, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def _run(self) -> None:
        raise NotImplementedError

    def get(self) -> Any:
        """The batches, as a generator."""
        raise NotImplementedError


@public("keras.utils.OrderedEnqueuer")
class OrderedEnqueuer(SequenceEnqueuer):
    """Batches of a Sequence, in their order."""

    def __init__(self, sequence: Any, use_multiprocessing: bool = False, shuffle: bool = False) -> None:
        super().__init__(sequence, use_multiprocessing)
        self.shuffle = shuffle

    def _run(self) -> None:
        order = list(range(len(self.sequence)))
        with closing(self._pool()) as pool:
            while self.is_running():
                if self.shuffle:
                    random.shuffle(order)
                for i in order:
                    if not self.is_running() or not self._put(pool.apply_async(get_index, (self.uid, i))):
                        return
                # The data may change between epochs, when all of them are read.
                while self.is_running() and self.queue.unfinished_tasks:
                    time.sleep(0.001)
                if not self.is_running():
                    return
                self.sequence.on_epoch_end()

    def get(self) -> Iterator[Any]:
        """The batches, again and again."""
        try:
            while self.is_running():
                try:
                    waiting = self.queue.get(timeout=0.1)
                except queue.Empty:
                    continue
                batch = waiting.get()
                self.queue.task_done()
                if batch is not None:
                    yield batch
        except Exception:
            self.stop()
            raise


def _empty(waiting: Any) -> None:
    """Throws away what is in a queue, and wakes those that wait for room in it."""
    with waiting.mutex:
        waiting.unfinished_tasks = 0
        waiting.queue.clear()
        waiting.not_full.notify_all()


@public("keras.utils.GeneratorEnqueuer")
class GeneratorEnqueuer(SequenceEnqueuer):
    """Batches of a generator, in the order in which it gives them."""

    def __init__(self, sequence: Any, use_multiprocessing: bool = False, random_seed: Any = None) -> None:
        super().__init__(sequence, use_multiprocessing)
        self.random_seed = random_seed

    def _run(self) -> None:
        # A generator can't be asked by two at once: one thread draws, whatever the number of workers.
        while self.is_running():
            try:
                item: Any = (True, next(self.sequence))
            except StopIteration:
                self._put((None, None))
                return
            except Exception as e:
                traceback.clear_frames(e.__traceback__)
                self._put((False, e))
                return
            if not self._put(item):
                return

    def get(self) -> Iterator[Any]:
        """The batches until the generator ends."""
        while self.is_running():
            try:
                good, batch = self.queue.get(timeout=0.1)
            except queue.Empty:
                continue
            self.queue.task_done()
            if good is None:
                return
            if not good:
                self.stop()
                raise batch
            if batch is not None:
                yield batch


@public("keras.experimental.terminate_keras_multiprocessing_pools")
@internal("keras.utils.data_utils.terminate_keras_multiprocessing_pools")
def terminate_keras_multiprocessing_pools(grace_period: float = 0.1, use_sigkill: bool = False) -> list[str]:
    """Ends the processes that enqueuers left; returns what could not be ended."""
    errors = []
    for process in multiprocessing.active_children():
        try:
            process.kill() if use_sigkill else process.terminate()
            process.join(grace_period)
        except OSError as e:
            errors.append(f"worker pool process {process.pid}: {e}")
    return errors
