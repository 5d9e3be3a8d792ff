"""Streams that start a pipeline: tensors, their slices, ranges, random numbers, generators."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.data.elements import Element, dims_of, rows_of, text
from everflow.data.streams import INFINITE, UNKNOWN, Cursor, Reading, Stream, Table, dataset_op, function_of, signature
from everflow.errors import OpError, OutOfRangeError, invalid_argument, unimplemented
from everflow.graph import dtypes, shapes
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import op
from everflow.ops.core.shape_rules import scalar
from everflow.values.philox import Philox, PhiloxWords


class TensorStream(Stream):
    """One element."""

    def __init__(self, types: Any, dims: Any, element: Element) -> None:
        super().__init__(types, dims)
        self.element = element

    def open(self, reading: Reading) -> Cursor:
        return _ListCursor(self, [self.element])

    def count(self) -> int:
        return 1


class ListStream(Stream):
    """Elements that are there already, one by one: a window, a group."""

    def __init__(self, types: Any, dims: Any, elements: list[Element]) -> None:
        super().__init__(types, dims)
        self.elements = elements

    def open(self, reading: Reading) -> Cursor:
        return _ListCursor(self, self.elements)

    def count(self) -> int:
        return len(self.elements)


class _ListCursor(Cursor):
    def __init__(self, stream: Stream, elements: list[Element]) -> None:
        super().__init__(stream)
        self.elements = elements
        self.position = 0

    def next(self) -> Element | None:
        position = self.position
        if position == len(self.elements):
            return None
        self.position = position + 1
        return self.elements[position]

    def save(self) -> Any:
        return self.position

    def restore(self, state: Any) -> None:
        self.position = state


class SliceStream(Stream):
    """The rows of tensors."""

    def __init__(self, types: Any, dims: Any, columns: Element) -> None:
        super().__init__(types, dims)
        self.columns = columns
        self.size = dims_of(columns[0])[0]

    def open(self, reading: Reading) -> Cursor:
        return _SliceCursor(self)

    def count(self) -> int:
        return self.size

    def table(self) -> Table:
        return Table(self.columns, self.size)


# How many rows a cursor takes out of its tensors at once: a view of each costs less that way.
CHUNK = 256


class _SliceCursor(Cursor):
    def __init__(self, stream: SliceStream) -> None:
        super().__init__(stream)
        self.columns, self.size = stream.columns, stream.size
        self.position = 0
        self.ready: list[Element] = []

    def next(self) -> Element | None:
        if self.ready:
            self.position += 1
            return self.ready.pop()
        start = self.position
        if start >= self.size:
            return None
        self.ready = list(zip(*(rows_of(c[start : start + CHUNK]) for c in self.columns)))[::-1]
        self.position += 1
        return self.ready.pop()

    def rows(self, n: int) -> Element | None:
        start = self.position
        if start >= self.size:
            return None
        self.position = min(start + n, self.size)
        self.ready = []
        return tuple([c[start : start + n] for c in self.columns])

    def skip(self, n: int) -> int:
        start = self.position
        self.position = min(start + n, self.size)
        self.ready = []
        return self.position - start

    def save(self) -> Any:
        return self.position

    def restore(self, state: Any) -> None:
        self.position, self.ready = state, []


@dataset_op("TensorDataset")
def _tensors(node: Node) -> Callable[..., Stream]:
    types, dims = signature(node)
    return lambda *components: TensorStream(types, dims, components)


@dataset_op("TensorSliceDataset")
def _slices(node: Node) -> Callable[..., Stream]:
    types, dims = signature(node)

    def make(*columns: Any) -> Stream:
        for column in columns:
            if not dims_of(column):
                raise invalid_argument("All components must be at least 1-dimensional")
            if dims_of(column)[0] != dims_of(columns[0])[0]:
                raise invalid_argument("All components must have the same size in the 0th dimension")
        return SliceStream(types, dims, columns)

    return make


class _SparseSliceStream(Stream):
    """The rows of a sparse tensor, as dense indices, values and shape."""

    def __init__(self, values_type: Any, indices: Any, values: Any, dense_shape: Any) -> None:
        rank = dense_shape.shape[0] - 1
        super().__init__([dtypes.int64, values_type, dtypes.int64], [(None, rank), (None,), (rank,)])
        self.indices, self.values, self.dense_shape = indices, values, dense_shape

    def open(self, reading: Reading) -> Cursor:
        return _SparseSliceCursor(self)

    def count(self) -> int:
        return int(self.dense_shape[0])


class _SparseSliceCursor(Cursor):
    def __init__(self, stream: _SparseSliceStream) -> None:
        super().__init__(stream)
        self.starts = torch.searchsorted(stream.indices[:, 0].contiguous(), torch.arange(stream.count() + 1)).tolist()
        self.position = 0

    def next(self) -> Element | None:
        s: Any = self.stream
        i = self.position
        if i + 1 >= len(self.starts):
            return None
        self.position += 1
        a, b = self.starts[i], self.starts[i + 1]
        return s.indices[a:b, 1:], s.values[a:b], s.dense_shape[1:]

    def save(self) -> Any:
        return self.position

    def restore(self, state: Any) -> None:
        self.position = state


@dataset_op("SparseTensorSliceDataset")
def _sparse_slices(node: Node) -> Callable[..., Stream]:
    values_type = node.attr("Tvalues")

    def make(indices: Any, values: Any, dense_shape: Any) -> Stream:
        if indices.ndim != 2:
            raise invalid_argument(f"Input indices should be a matrix but received shape {shapes.describe(dims_of(indices))}")
        if values.ndim != 1:
            raise invalid_argument(f"Input values should be a vector but received shape {shapes.describe(dims_of(values))}")
        if dense_shape.ndim != 1:
            raise invalid_argument(f"Input shape should be a vector but received shape {shapes.describe(dims_of(dense_shape))}")
        first = indices[:, 0]
        if indices.shape[0] > 1 and bool((first[1:] < first[:-1]).any()):
            raise unimplemented(
                "The SparseTensor must be ordered in the batch dimension; handling arbitrarily ordered input is not currently supported."
            )
        return _SparseSliceStream(values_type, indices, values, dense_shape)

    return make


class RangeStream(Stream):
    """Numbers from `start` to before `stop`."""

    def __init__(self, types: Any, dims: Any, numbers: range) -> None:
        super().__init__(types, dims)
        self.numbers = numbers

    def open(self, reading: Reading) -> Cursor:
        return _RangeCursor(self)

    def count(self) -> int:
        return len(self.numbers)

    def table(self) -> Table | None:
        # Numbers without end are not put into memory.
        if len(self.numbers) > 1 << 24:
            return None
        return Table((_as_tensor(self.numbers),), len(self.numbers))


def _as_tensor(numbers: range) -> Any:
    return torch.arange(len(numbers), dtype=torch.int64) * numbers.step + numbers.start


class _RangeCursor(Cursor):
    def __init__(self, stream: RangeStream) -> None:
        super().__init__(stream)
        self.numbers = stream.numbers
        self.size = len(stream.numbers)
        self.position = 0
        self.ready: list[Any] = []

    def next(self) -> Element | None:
        if not self.ready:
            start = self.position
            if start >= self.size:
                return None
            # Each element has memory of its own: it may outlive the others by far.
            self.ready = list(_as_tensor(self.numbers[start : start + CHUNK]).unbind(0))[::-1]
        self.position += 1
        return (self.ready.pop(),)

    def rows(self, n: int) -> Element | None:
        start = self.position
        if start >= self.size:
            return None
        self.position = min(start + n, self.size)
        self.ready = []
        return (_as_tensor(self.numbers[start : start + n]),)

    def skip(self, n: int) -> int:
        start = self.position
        self.position = min(start + n, self.size)
        self.ready = []
        return self.position - start

    def save(self) -> Any:
        return self.position

    def restore(self, state: Any) -> None:
        self.position, self.ready = state, []


@dataset_op("RangeDataset")
def _range(node: Node) -> Callable[..., Stream]:
    types, dims = signature(node)

    def make(start: Any, stop: Any, step: Any) -> Stream:
        if not int(step):
            raise invalid_argument("step must be a non-zero integer.")
        return RangeStream(types, dims, range(int(start), int(stop), int(step)))

    return make


class _RandomStream(Stream):
    """Random numbers of 32 bits without end."""

    def __init__(self, types: Any, dims: Any, seed: int, seed2: int) -> None:
        super().__init__(types, dims)
        self.seeds = seed, seed2

    def open(self, reading: Reading) -> Cursor:
        return _RandomCursor(self)

    def count(self) -> int:
        return INFINITE


class _RandomCursor(Cursor):
    def __init__(self, stream: _RandomStream) -> None:
        super().__init__(stream)
        self.words = random_words(*stream.seeds)
        self.drawn = 0

    def next(self) -> Element:
        self.drawn += 1
        return (torch.tensor(self.words.uint32(), dtype=torch.int64),)

    def save(self) -> Any:
        return self.drawn

    def restore(self, state: Any) -> None:
        self.words = random_words(*self.stream.seeds)  # type: ignore[attr-defined]
        for _ in range(state):
            self.words.uint32()
        self.drawn = state


def random_words(seed: int, seed2: int) -> PhiloxWords:
    """The random numbers of 32 bits that TensorFlow draws for two seeds."""
    return Philox(seed, seed2).words()


@dataset_op("RandomDataset", "ExperimentalRandomDataset")
def _random(node: Node) -> Callable[..., Stream]:
    types, dims = signature(node)
    return lambda seed, seed2: _RandomStream(types, dims, *chosen_seeds(int(seed), int(seed2)))


def chosen_seeds(seed: int, seed2: int) -> tuple[int, int]:
    """Two seeds as they are; new ones for two zeros."""
    if seed == 0 and seed2 == 0:
        seed, seed2 = (int(s) for s in np.random.SeedSequence().generate_state(2, np.uint32))
    return seed, seed2


class _GeneratorStream(Stream):
    """What functions give: `start` a state, `following` element after element, `finish` ends it."""

    def __init__(self, types: Any, dims: Any, start: Any, following: Any, finish: Any) -> None:
        super().__init__(types, dims)
        self.start, self.following, self.finish = start, following, finish

    def open(self, reading: Reading) -> Cursor:
        return _GeneratorCursor(self)


class _GeneratorCursor(Cursor):
    def __init__(self, stream: _GeneratorStream) -> None:
        super().__init__(stream)
        self.generator: _GeneratorStream = stream
        self.memory: Element | None = None
        self.is_finished = False
        self.produced = 0

    def next(self) -> Element | None:
        if self.is_finished:
            return None
        if self.memory is None:
            self.memory = self.generator.start()
        try:
            found = self.generator.following(*self.memory)
        except OutOfRangeError:
            self._finish()
            return None
        self.produced += 1
        return found

    def _finish(self) -> None:
        if not self.is_finished and self.memory is not None:
            self.is_finished = True
            self.generator.finish(*self.memory)

    def __del__(self) -> None:
        if sys.is_finalizing():
            return
        try:
            self._finish()
        except OpError:
            # Nobody is left to tell.
            self.is_finished = True

    def save(self) -> Any:
        return self.produced

    def restore(self, state: Any) -> None:
        self.skip(state - self.produced)


@dataset_op("GeneratorDataset")
def _generator(node: Node) -> Callable[..., Stream]:
    types, dims = signature(node)
    functions = [function_of(node, name) for name in ("init_func", "next_func", "finalize_func")]
    sizes = [len(node.attr(name)) for name in ("Tinit_func_args", "Tnext_func_args", "Tfinalize_func_args")]

    def make(*captured: Any) -> Stream:
        rest = list(captured)
        bound = []
        for function, size in zip(functions, sizes):
            bound.append(function(rest[:size]))
            rest = rest[size:]
        return _GeneratorStream(types, dims, *bound)

    return make


def _cardinality(node: Node) -> Callable[..., Any]:
    return lambda stream: torch.tensor(stream.count(), dtype=torch.int64)


for _name in ("DatasetCardinality", "ExperimentalDatasetCardinality"):
    op(_name, kernel=_cardinality, shape=scalar)

__all__ = ["UNKNOWN", "ListStream", "RangeStream", "SliceStream", "TensorStream", "chosen_seeds", "random_words", "text"]
