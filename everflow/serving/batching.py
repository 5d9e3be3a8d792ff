"""Joins requests that arrive at the same time into one run."""

from __future__ import annotations

import collections
import math
import os
import threading
import time
from concurrent.futures import Future
from typing import Any

import numpy as np

from everflow.errors import internal_error, invalid_argument, unavailable
from everflow.serving.inference import Run


class Parameters:
    """How batches are made; the defaults are TensorFlow Serving's."""

    def __init__(
        self,
        max_batch_size: int = 1000,
        batch_timeout_micros: int = 0,
        max_enqueued_batches: int = 10,
        num_batch_threads: int | None = None,
        allowed_batch_sizes: tuple[int, ...] = (),
        pad_variable_length_inputs: bool = False,
    ) -> None:
        self.max_batch_size = max_batch_size
        self.timeout = batch_timeout_micros / 1e6
        self.max_enqueued_batches = max_enqueued_batches
        self.threads = num_batch_threads or os.cpu_count() or 1
        self.allowed_sizes = tuple(allowed_batch_sizes)
        self.pads = pad_variable_length_inputs
        if max_batch_size <= 0:
            raise invalid_argument(f"max_batch_size must be positive; was {max_batch_size}")
        if list(self.allowed_sizes) != sorted(set(self.allowed_sizes)):
            raise invalid_argument("allowed_batch_sizes entries must be in increasing order")
        if self.allowed_sizes and self.allowed_sizes[-1] != max_batch_size:
            raise invalid_argument(
                f"Last entry in allowed_batch_sizes must match max_batch_size; last entry was {self.allowed_sizes[-1]}; "
                f"expected {max_batch_size}"
            )

    @classmethod
    def of(cls, proto: Any) -> Parameters:
        """The parameters of a BatchingParameters message."""
        names = ("max_batch_size", "batch_timeout_micros", "max_enqueued_batches", "num_batch_threads")
        given = {name: getattr(proto, name).value for name in names if proto.HasField(name)}
        return cls(
            **given, allowed_batch_sizes=tuple(proto.allowed_batch_sizes), pad_variable_length_inputs=proto.pad_variable_length_inputs
        )

    def padded_size(self, size: int) -> int:
        """How many rows a batch of so many is filled up to."""
        return next((allowed for allowed in self.allowed_sizes if allowed >= size), size)


class _Task:
    __slots__ = ("future", "run", "size")

    def __init__(self, run: Run, size: int) -> None:
        self.run = run
        self.size = size
        self.future: Future[list[np.ndarray]] = Future()


class _Batch:
    def __init__(self) -> None:
        self.tasks: list[_Task] = []
        self.size = 0
        self.since = time.monotonic()


class _Queue:
    """The batches of one way of running one model: the last one may still grow."""

    def __init__(self, servable: Any) -> None:
        self.servable = servable
        self.batches: collections.deque[_Batch] = collections.deque()


class Batcher:
    """Batches for all models of a server, run by a few threads. Queues take turns."""

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self._queues: collections.OrderedDict[Any, _Queue] = collections.OrderedDict()
        self._changed = threading.Condition()
        self._stopping = False
        for i in range(parameters.threads):
            threading.Thread(target=self._work, daemon=True, name=f"batch {i}").start()

    def submit(self, servable: Any, run: Run) -> Future[list[np.ndarray]]:
        """A future of the results of a run."""
        size = _rows(run.arrays)
        most = self.parameters.max_batch_size
        if size > most:
            raise invalid_argument(f"Task size {size} is larger than maximum batch size {most}")
        # A mistake is found before it can spoil the batch.
        servable.prepared(run.feeds, run.fetches).check(run.arrays)
        # Rows of different shapes can't lie in one batch; where they are not padded, each shape has a queue.
        shapes = tuple(a.ndim if self.parameters.pads else a.shape[1:] for a in run.arrays)
        key = (id(servable), run.feeds, run.fetches, shapes)
        task = _Task(run, size)
        with self._changed:
            queue = self._queues.get(key)
            if queue is None:
                queue = self._queues[key] = _Queue(servable)
            last = queue.batches[-1] if queue.batches else None
            if last is None or last.size + size > most:
                if len(queue.batches) >= self.parameters.max_enqueued_batches:
                    raise unavailable("The batch scheduling queue to which this task was submitted is full")
                last = _Batch()
                queue.batches.append(last)
            last.tasks.append(task)
            last.size += size
            self._changed.notify()
        return task.future

    def _next(self) -> tuple[Any, _Batch] | None:
        """Waits for a batch that is full or has waited long enough, and takes it."""
        with self._changed:
            while not self._stopping:
                now, wait = time.monotonic(), None
                for key, queue in self._queues.items():
                    batch = queue.batches[0]
                    left = batch.since + self.parameters.timeout - now
                    if len(queue.batches) > 1 or batch.size >= self.parameters.max_batch_size or left <= 0:
                        queue.batches.popleft()
                        if queue.batches:
                            self._queues.move_to_end(key)
                        else:
                            del self._queues[key]
                        return queue.servable, batch
                    wait = left if wait is None else min(wait, left)
                self._changed.wait(wait)
        return None

    def _work(self) -> None:
        while True:
            taken = self._next()
            if taken is None:
                return
            servable, batch = taken
            tasks = [t for t in batch.tasks if t.future.set_running_or_notify_cancel()]
            if not tasks:
                continue
            try:
                results = self._results(servable, tasks)
            except BaseException as e:
                for task in tasks:
                    task.future.set_exception(e)
            else:
                for task, result in zip(tasks, results):
                    task.future.set_result(result)
            # A thread that waits must not keep the last batch, nor its model, in memory.
            del taken, servable, batch, tasks

    def _results(self, servable: Any, tasks: list[_Task]) -> list[list[np.ndarray]]:
        size = sum(t.size for t in tasks)
        padded = self.parameters.padded_size(size)
        first = tasks[0].run
        if len(tasks) == 1 and padded == size:
            return [servable.run(first)]
        arrays = [self._joined([t.run.arrays[i] for t in tasks], padded - size) for i in range(len(first.arrays))]
        found = servable.run(Run(first.feeds, arrays, first.fetches))
        for array in found:
            if not array.ndim:
                raise internal_error("Batched output tensor has 0 dimensions")
            if len(array) != padded:
                raise internal_error(
                    "Batched output tensor's 0th dimension does not equal the sum of the 0th dimension sizes of the input tensors"
                )
        results, at = [], 0
        for task in tasks:
            results.append([array[at : at + task.size] for array in found])
            at += task.size
        return results

    def _joined(self, parts: list[np.ndarray], missing: int) -> np.ndarray:
        if self.parameters.pads and len({p.shape[1:] for p in parts}) > 1:
            most = tuple(max(sizes) for sizes in zip(*(p.shape[1:] for p in parts)))
            parts = [_filled(p, most) for p in parts]
        if missing:
            parts = [*parts, np.repeat(parts[0][:1], missing, axis=0)]
        return np.concatenate(parts) if len(parts) > 1 else parts[0]

    def stop(self) -> None:
        """Lets the threads end; what still waits is told so."""
        with self._changed:
            self._stopping = True
            waiting = [t for q in self._queues.values() for b in q.batches for t in b.tasks]
            self._queues.clear()
            self._changed.notify_all()
        for task in waiting:
            if task.future.set_running_or_notify_cancel():
                task.future.set_exception(unavailable("The server is stopping"))


def _rows(arrays: list[np.ndarray]) -> int:
    if not arrays:
        raise invalid_argument("Batching session Run() must have at least one input tensor")
    if not all(a.ndim for a in arrays):
        raise invalid_argument("Batching session Run() input tensors must have at least one dimension")
    if len({len(a) for a in arrays}) > 1:
        raise invalid_argument("Batching session Run() input tensors must have equal 0th-dimension size")
    if not len(arrays[0]):
        raise invalid_argument("Batching session Run() input tensors must have at least one row")
    return len(arrays[0])


# A short request beside a long one is padded to its length; no batch becomes larger than this by it.
_LARGEST = 1 << 30


def _filled(array: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    """The array, made as large as told; its first element fills the new places."""
    if len(array) * math.prod(sizes) * array.itemsize > _LARGEST:
        raise invalid_argument("Padding would make a batch that is too large")
    if not array.size:
        raise invalid_argument("Got empty tensor in batch of non-empty tensors.")
    filled = np.full((len(array), *sizes), array.reshape(-1)[0], array.dtype)
    filled[tuple(slice(size) for size in array.shape)] = array
    return filled
