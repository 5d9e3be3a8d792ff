"""What batches say, put together for an epoch."""

from __future__ import annotations

import abc
import multiprocessing.pool
import threading
import time
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import NAMES, internal
from everflow.graph.sparse_tensor import SparseTensor, SparseTensorValue

_COPY_THREADS = internal("keras.engine.training_utils._COPY_THREADS")(4)
_pools: dict[str, Any] = {}
internal("keras.engine.training_utils._COPY_POOL")(None)


class MetricsAggregator:
    """The mean of the loss over samples (or steps); of metrics, which count on their own, the last value."""

    def __init__(self) -> None:
        self._loss: Any = 0.0
        self.number = 0
        self._metrics: list[Any] = []

    def add(self, outputs: Any, size: int) -> None:
        """Adds a batch."""
        self._loss = self._loss + np.float64(outputs[0]) * size
        self.number += size
        self._metrics = list(outputs[1:])

    def results(self) -> list[Any]:
        """The loss, then the metrics."""
        if not self.number:
            raise ValueError("Empty training data.")
        return [self._loss / self.number, *self._metrics]


@internal("keras.engine.training_utils.Aggregator")
class Aggregator(abc.ABC):
    """Base of what puts the outputs of batches together."""

    def __init__(self, use_steps: bool, num_samples: Any = None, steps: Any = None) -> None:
        self.use_steps = use_steps
        self.num_samples = num_samples
        self.steps = steps
        self.results: Any = []

    @abc.abstractmethod
    def create(self, batch_outs: Any) -> None:
        """Makes room, having seen the first batch."""

    @abc.abstractmethod
    def aggregate(self, batch_outs: Any, batch_start: Any = None, batch_end: Any = None) -> None:
        """Adds a batch."""

    @abc.abstractmethod
    def finalize(self) -> None:
        """Sets `results`."""


@internal("keras.engine.training_utils.ConcatAggregator")
class ConcatAggregator(Aggregator):
    """Outputs whose number is not known: kept in a list, and joined in the end."""

    def __init__(self, batch_size: Any = None) -> None:
        super().__init__(use_steps=True)
        self.batch_size = batch_size

    def create(self, batch_outs: Any) -> None:
        """Nothing has to be made."""

    def aggregate(self, batch_outs: Any, batch_start: Any = None, batch_end: Any = None) -> None:
        self.results.append(batch_outs)

    def finalize(self) -> None:
        first = self.results[0]
        if len(self.results) == 1:
            self.results = first
        elif isinstance(first, (SparseTensor, SparseTensorValue)):
            self.results = _joined_sparse(self.results)
        elif hasattr(first, "to_list") and hasattr(first, "row_splits"):
            self.results = tf.ragged.constant_value([row for r in self.results for row in r.to_list()], dtype=first.flat_values.dtype)
        else:
            self.results = np.concatenate(self.results, axis=0)


def _joined_sparse(parts: list[Any]) -> SparseTensorValue:
    """Sparse values one below the other."""
    rows = 0
    indices = []
    for p in parts:
        moved = np.array(p.indices)
        moved[:, 0] += rows
        indices.append(moved)
        rows += p.dense_shape[0]
    shape = np.array([rows, *np.max([p.dense_shape[1:] for p in parts], axis=0)])
    return SparseTensorValue(np.concatenate(indices), np.concatenate([p.values for p in parts]), shape)


@internal("keras.engine.training_utils.SliceAggregator")
class SliceAggregator(Aggregator):
    """Outputs of a known number of samples: each batch is copied to its place, large ones by other threads."""

    _BINARY_SIZE_THRESHOLD = 2**14
    _MAX_COPY_SECONDS = 300

    def __init__(self, num_samples: int, batch_size: Any = None) -> None:
        super().__init__(use_steps=False, num_samples=num_samples)
        self.batch_size = batch_size
        self._errors: list[Exception] = []
        self._finished: list[threading.Event] = []

    def create(self, batch_outs: Any) -> None:
        self.results = np.empty((self.num_samples, *batch_outs.shape[1:]), dtype=batch_outs.dtype)

    def aggregate(self, batch_outs: Any, batch_start: Any = None, batch_end: Any = None) -> None:
        batch_end = min(batch_end, self.num_samples)
        if batch_end - batch_start == self.num_samples:
            if self.num_samples != batch_outs.shape[0]:
                raise ValueError(
                    f"Mismatch between expected batch size and model output batch size. Output shape = {batch_outs.shape}, "
                    f"expected output shape = shape {self.results.shape}"
                )
            self.results = batch_outs
            return
        if self.num_samples == batch_outs.shape[0] and batch_start == 0:
            self.results = batch_outs
            return
        count = np.prod(batch_outs.shape)
        if count < self._BINARY_SIZE_THRESHOLD:
            self.results[batch_start:batch_end] = batch_outs
            return
        finished = threading.Event()
        self._finished.append(finished)
        get_copy_pool().apply_async(self._copied, args=(batch_outs, batch_start, batch_end, finished))

    def _copied(self, batch_element: Any, batch_start: int, batch_end: int, is_finished: threading.Event) -> None:
        try:
            self.results[batch_start:batch_end] = batch_element
        except Exception as e:
            # The thread that waits raises it.
            self._errors.append(e)
        is_finished.set()

    def finalize(self) -> None:
        deadline = time.time() + self._MAX_COPY_SECONDS
        if not all(copied.wait(max(0, deadline - time.time())) for copied in self._finished):
            raise ValueError("Timed out waiting for copy to complete.")
        for error in self._errors:
            raise error


@internal("keras.engine.training_utils.get_copy_pool")
def get_copy_pool() -> Any:
    """The threads that copy large outputs."""
    given = NAMES.get("python.keras.engine.training_utils._COPY_POOL")
    if given is not None:
        return given
    if "pool" not in _pools:
        _pools["pool"] = multiprocessing.pool.ThreadPool(_COPY_THREADS)
    return _pools["pool"]


@internal("keras.engine.training_utils.OutputsAggregator")
class OutputsAggregator(Aggregator):
    """The outputs of all batches, each in an aggregator of its own."""

    _structure: Any = None

    def create(self, batch_outs: Any) -> None:
        self._structure = batch_outs
        for x in _leaves(batch_outs):
            if self.use_steps or not isinstance(x, np.ndarray):
                made: Aggregator = ConcatAggregator(self.steps)
            else:
                made = SliceAggregator(self.num_samples)
            made.create(x)
            self.results.append(made)

    def aggregate(self, batch_outs: Any, batch_start: Any = None, batch_end: Any = None) -> None:
        for x, r in zip(_leaves(batch_outs), self.results):
            r.aggregate(x, batch_start, batch_end)

    def finalize(self) -> None:
        for r in self.results:
            r.finalize()
        self.results = _packed(self._structure, iter([r.results for r in self.results]))


def _leaves(structure: Any) -> list[Any]:
    if _is_leaf(structure):
        return [structure]
    items = [structure[k] for k in sorted(structure)] if isinstance(structure, dict) else structure
    return [leaf for item in items for leaf in _leaves(item)]


def _packed(structure: Any, values: Any) -> Any:
    if structure is None:
        return []
    if _is_leaf(structure):
        return next(values)
    if isinstance(structure, dict):
        return {k: _packed(structure[k], values) for k in sorted(structure)}
    return type(structure)(_packed(item, values) for item in structure)


def _is_leaf(x: Any) -> bool:
    return isinstance(x, (np.ndarray, SparseTensorValue)) or hasattr(x, "row_splits") or not isinstance(x, (list, tuple, dict))
