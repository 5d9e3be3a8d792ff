"""Where batches come from: arrays that are cut, or streams that give one batch after the other."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

import everflow as tf
from everflow import nest
from everflow.api import internal
from everflow.eager.context import executing_eagerly
from everflow.errors import OutOfRangeError
from everflow.graph.sparse_tensor import SparseTensor, SparseTensorValue
from everflow.graph.tensor import Tensor
from everflow.keras.backend.session import get_session
from everflow.keras.enqueuers import GeneratorEnqueuer, OrderedEnqueuer, Sequence, iter_sequence_infinite
from everflow.keras.training.arrays import is_composite
from everflow.ops.variables.variables import Variable
from everflow.platform import logging as tf_logging


@internal("keras.engine.training_utils.batch_shuffle")
def batch_shuffle(index_array: Any, batch_size: int) -> Any:
    """Shuffles whole batches, for data that can only be read in order."""
    whole = len(index_array) // batch_size
    rest = index_array[whole * batch_size :]
    rows = index_array[: whole * batch_size].reshape((whole, batch_size))
    np.random.shuffle(rows)
    return np.append(rows.flatten(), rest)


def part(x: Any, places: Any) -> Any:
    """Some samples of an array or tensor."""
    if x is None:
        return None
    if hasattr(x, "tocoo"):
        return x.tocsr()[places]
    if isinstance(x, (SparseTensor, SparseTensorValue)):
        return _sparse_part(x, places)
    if isinstance(places, slice):
        return x[places]
    if isinstance(x, Tensor):
        return tf.gather(x, places)
    if not isinstance(x, np.ndarray):
        # Data on disk wants its indices in order.
        return x[sorted(places.tolist())]
    # Faster than x[places] for rows that lie one after the other.
    return np.take(x, places, axis=0)


def _sparse_part(x: Any, places: Any) -> Any:
    """Some rows of a sparse tensor, in the order in which they are asked for."""
    rows = int(x.dense_shape[0])
    wanted = np.arange(rows)[places]
    if len(wanted) == rows and (wanted == np.arange(rows)).all():
        return x
    found = [tf.sparse_slice(x, [i, *[0] * (len(x.dense_shape) - 1)], [1, *x.dense_shape[1:]]) for i in wanted.tolist()]
    return tf.sparse_concat(0, found)


class ArrayBatches:
    """Batches cut from arrays that hold all samples."""

    uses_steps = False
    from_generator = from_dataset = False
    is_exhausted = False
    epochs = 1

    def __init__(self, arrays: list[Any], batch_size: int | None, shuffle: Any) -> None:
        self.arrays = arrays
        self.samples = next(int(x.shape[0]) for x in arrays if x is not None)
        self.batch_size = batch_size or 32
        self.shuffle = shuffle

    @property
    def number(self) -> int:
        """How many samples an epoch has."""
        return self.samples

    def epoch(self) -> Iterator[tuple[list[Any], int]]:
        """(arrays of a batch, how many samples it has), once for all samples."""
        size, samples = self.batch_size, self.samples
        order = None
        if self.shuffle == "batch":
            order = batch_shuffle(np.arange(samples), size)
        elif self.shuffle:
            order = np.arange(samples)
            np.random.shuffle(order)
        for start in range(0, samples, size):
            end = min(start + size, samples)
            places = slice(start, end) if order is None else order[start:end]
            yield [part(x, places) for x in self.arrays], end - start

    def close(self) -> None:
        """Nothing is held."""


class StreamBatches:
    """Batches that come one after the other; `steps` of them are an epoch."""

    uses_steps = True
    batch_size = None
    samples = None

    def __init__(
        self,
        batches: Any,
        steps: int | None,
        prepare: Any,
        restarts: bool = False,
        from_generator: bool = False,
        from_dataset: bool = False,
    ) -> None:
        self._open = batches
        self._stream: Any = None
        self._held: Any = None
        self._first: Any = None
        self.steps = steps
        self._prepare = prepare
        self._restarts = restarts
        self.from_generator = from_generator
        self.from_dataset = from_dataset
        self.is_exhausted = False
        self.epochs = 1

    @property
    def number(self) -> int | None:
        """How many batches an epoch has, where that is known."""
        return self.steps

    def epoch(self) -> Iterator[tuple[list[Any], int]]:
        """(arrays of a batch, 1) for each step; fewer where the stream ends."""
        if self._stream is None or self._restarts:
            self._stream = iter(self._open())
        self._first = None
        step = 0
        while self.steps is None or step < self.steps:
            try:
                batch = next(self._stream)
            except (StopIteration, OutOfRangeError):
                if self.steps is None and step:
                    # The end of the data is the end of the epoch, and of each one after it.
                    self.steps = step
                    return
                self.is_exhausted = True
                if step or self.steps is not None:
                    kind = "dataset" if not self.from_generator else "dataset iterator"
                    total = (self.steps or 0) * self.epochs
                    tf_logging.warning(
                        f"Your {kind} ran out of data; interrupting training. Make sure that your iterator can generate at least "
                        f"`steps_per_epoch * epochs` batches (in this case, {total} batches). You may need to use the repeat() function "
                        "when building your dataset."
                    )
                return
            step += 1
            yield self._prepare(batch), 1

    def peek(self) -> Any:
        """Prepares the first batch, which is given out again; returns what the first input gets."""
        if self._first is None:
            stream = iter(self._open())
            try:
                first = next(stream)
            except (StopIteration, OutOfRangeError):
                raise ValueError("The data that were given hold no batch.") from None
            self._first = self._prepare(first)[0]
            if not self._restarts:
                self._stream = itertools.chain([first], stream)
                self._held = stream
        return self._first

    def close(self) -> None:
        """Ends workers that fill the stream."""
        for stream in (self._stream, self._held):
            stop = getattr(stream, "close", None)
            if stop is not None:
                stop()


def dataset_batches(dataset: Any) -> Any:
    """A function that starts to read a dataset from its beginning."""
    if executing_eagerly():
        return lambda: iter(dataset)

    def started() -> Iterator[Any]:
        iterator = tf.data.make_initializable_iterator(dataset)
        session = get_session()
        session.run(iterator.initializer)
        return _fetched(iterator)

    return started


def iterator_batches(iterator: Any) -> Any:
    """A function that reads on from a dataset's iterator."""
    if executing_eagerly():
        return lambda: iter(iterator)
    return lambda: _fetched(iterator)


def _fetched(iterator: Any) -> Iterator[Any]:
    element = iterator.get_next()
    flat = nest.flatten(element, expand_composites=False)
    session = get_session()
    while True:
        yield nest.pack_sequence_as(element, session.run(flat))


def is_computed(x: Any) -> bool:
    """Whether a session computes this: a tensor or a variable of a graph."""
    return isinstance(x, Tensor) and not x.is_eager or isinstance(x, Variable) and not executing_eagerly()


def tensor_batches(tensors: Any) -> Any:
    """A function that computes tensors and variables of a graph anew for each batch."""
    symbolic = [t for t in nest.flatten(tensors) if is_computed(t) or is_composite(t)]

    def values() -> Iterator[Any]:
        session = get_session()
        while True:
            computed = dict(zip(map(id, symbolic), session.run(symbolic)))
            yield nest.map_structure(lambda t, found=computed: found.get(id(t), t), tensors)

    return values


def generator_batches(generator: Any, workers: int, use_multiprocessing: bool, max_queue_size: int, shuffle: bool) -> Any:
    """A function that draws from a generator or Sequence, ahead of time where there are workers."""

    def drawn() -> Iterator[Any]:
        is_sequence = isinstance(generator, Sequence)
        if workers <= 0:
            yield from iter_sequence_infinite(generator) if is_sequence else generator
            return
        enqueuer: Any = (
            OrderedEnqueuer(generator, use_multiprocessing=use_multiprocessing, shuffle=shuffle)
            if is_sequence
            else (GeneratorEnqueuer(generator, use_multiprocessing=use_multiprocessing))
        )
        enqueuer.start(workers=workers, max_queue_size=max_queue_size)
        try:
            yield from enqueuer.get()
        finally:
            enqueuer.stop()

    return drawn
