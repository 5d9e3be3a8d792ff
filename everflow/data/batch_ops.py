"""Streams of batches: plain, padded, sparse; taking batches apart; windows."""

from __future__ import annotations

import collections
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from everflow.data.elements import Element, dims_of, filled, rows_of, stack
from everflow.data.parallel_ops import ParallelMapStream, runs_long
from everflow.data.source_ops import ListStream
from everflow.data.streams import UNKNOWN, Cursor, Reading, Stream, UnaryCursor, UnaryStream, dataset_op, function_of, signature
from everflow.data.vectorizing import batched_form
from everflow.data.workers import Outcome
from everflow.errors import OpError, data_loss, invalid_argument
from everflow.graph import dtypes, shapes
from everflow.lazy import torch


class BatchStream(UnaryStream):
    """Elements stacked, a number at a time."""

    def __init__(self, source: Stream, types: Any, dims: Any, size: int, drops_rest: bool) -> None:
        super().__init__(source, types, dims)
        self.size, self.drops_rest = size, drops_rest

    def open(self, reading: Reading) -> Cursor:
        return _BatchCursor(self, self.source.open(reading))

    def count(self) -> int:
        n = self.source.count()
        return n if n < 0 else n // self.size + (n % self.size != 0 and not self.drops_rest)


class _BatchCursor(UnaryCursor):
    def next(self) -> Element | None:
        stream: Any = self.stream
        found = self.source.rows(stream.size)
        if found is None or (stream.drops_rest and dims_of(found[0])[0] < stream.size):
            return None
        return found


def batch_size_of(value: Any) -> int:
    """A batch size, which must be positive."""
    size = int(value)
    if size <= 0:
        raise invalid_argument("Batch size must be greater than zero.")
    return size


@dataset_op("BatchDataset", "BatchDatasetV2")
def _batch(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)

    def make(source: Stream, size: Any, drop_remainder: Any = False) -> Stream:
        return BatchStream(source, types, dims, batch_size_of(size), bool(drop_remainder))

    return make


class MapAndBatchStream(BatchStream):
    """A function of each element, stacked. A batch in which a call fails is lost as a whole."""

    def open(self, reading: Reading) -> Cursor:
        return _MapAndBatchCursor(self, self.source.open(reading))


class _MapAndBatchCursor(UnaryCursor):
    def next(self) -> Element | None:
        stream: Any = self.stream
        if getattr(self.source, "batched", None) is not None:
            try:
                found = self.source.rows(stream.size)
            except OpError:
                self.source.waiting.clear()  # type: ignore[attr-defined]
                raise
            size = 0 if found is None else dims_of(found[0])[0]
            return None if found is None or (stream.drops_rest and size < stream.size) else found
        self.source.expect(stream.size)
        outcomes: list[Outcome] = []
        while len(outcomes) < stream.size:
            outcome = Outcome.of(self.source.next)
            if outcome.error is None and outcome.result is None:
                break
            outcomes.append(outcome)
        elements = [outcome.get() for outcome in outcomes]
        if not elements or (stream.drops_rest and len(elements) < stream.size):
            return None
        for column in zip(*elements):
            first = dims_of(column[0])
            for component in column:
                if dims_of(component) != first:
                    raise invalid_argument(
                        "Cannot add tensor to the batch: number of elements does not match. Shapes are: [tensor]: "
                        f"{shapes.describe(dims_of(component))}, [batch]: {shapes.describe(first)}"
                    )
        return stack(elements, stream.types)


@dataset_op("MapAndBatchDataset", "ExperimentalMapAndBatchDataset")
def _map_and_batch(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)
    function = function_of(node)
    keeps_count = node.attr("preserve_cardinality")
    entry = node.context.library(node.attr("f").name)
    threads_help = runs_long(entry)

    def make(source: Stream, *rest: Any) -> Stream:
        captured, (size, calls, drop_remainder) = rest[:-3], rest[-3:]
        if int(size) <= 0:
            raise invalid_argument("batch_size must be greater than zero.")
        if int(calls) <= 0 and int(calls) != -1:
            raise invalid_argument("num_parallel_calls must be greater than zero.")
        inner = [None if d is None else tuple(d[1:]) for d in dims]
        call = function(captured)
        batched = batched_form(node.context, entry, source.dims, captured)
        mapped = ParallelMapStream(source, types, inner, call, keeps_count, batched, int(calls), False, threads_help)
        return MapAndBatchStream(mapped, types, dims, int(size), bool(drop_remainder))

    return make


class _PaddedStream(BatchStream):
    """Elements brought to one size and stacked."""

    def __init__(
        self, source: Stream, types: Any, dims: Any, size: int, drops_rest: bool, padded: list[Sequence[int]], padding: list[Any]
    ) -> None:
        super().__init__(source, types, dims, size, drops_rest)
        self.padded, self.padding = padded, padding

    def open(self, reading: Reading) -> Cursor:
        return _PaddedCursor(self, self.source.open(reading))


class _PaddedCursor(UnaryCursor):
    def next(self) -> Element | None:
        stream: Any = self.stream
        elements = self.source.several(stream.size)
        if not elements or (stream.drops_rest and len(elements) < stream.size):
            return None
        columns = zip(*elements)
        return tuple(_padded(i, column, stream.padded[i], stream.padding[i]) for i, column in enumerate(columns))


def _padded(index: int, column: Sequence[Any], wanted: Sequence[int], padding: Any) -> Any:
    sizes = [dims_of(c) for c in column]
    for found in sizes:
        if len(found) != len(wanted):
            raise invalid_argument(
                f"All elements in a batch must have the same rank as the padded shape for component{index}: expected rank {len(wanted)} "
                f"but got element with rank {len(found)}"
            )
    target = list(wanted)
    for axis, want in enumerate(wanted):
        largest = max(s[axis] for s in sizes)
        if want == -1:
            target[axis] = largest
        elif largest > want:
            raise data_loss("Attempted to pad to a smaller size than the input element.")
    if all(s == tuple(target) for s in sizes):
        if isinstance(column[0], np.ndarray):
            return _stacked_texts(column)
        return torch.stack(column)  # type: ignore[arg-type]
    if not isinstance(column[0], np.ndarray) and len(target) == 1 and not padding.any():
        return (
            torch.nn.utils.rnn.pad_sequence(list(column), batch_first=True)
            if max(s[0] for s in sizes) == target[0]
            else _filled_in(column, target, padding)
        )
    return _filled_in(column, target, padding)


def _stacked_texts(column: Sequence[Any]) -> Any:
    return np.stack(column) if column[0].ndim else np.array([c.item() for c in column], object)


def _filled_in(column: Sequence[Any], target: Sequence[int], padding: Any) -> Any:
    found = filled((len(column), *target), padding)
    for i, component in enumerate(column):
        found[(i, *(slice(0, n) for n in dims_of(component)))] = component
    return found


@dataset_op("PaddedBatchDataset", "PaddedBatchDatasetV2")
def _padded_batch(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)
    n = node.attr("N")

    def make(source: Stream, size: Any, *rest: Any) -> Stream:
        padded = [p.tolist() for p in rest[:n]]
        padding = list(rest[n : 2 * n])
        drop = bool(rest[2 * n]) if len(rest) > 2 * n else False
        for wanted in padded:
            for size_of_axis in wanted:
                if size_of_axis < -1:
                    raise invalid_argument(f"Dimension {size_of_axis} must be >= -1")
        for p in padding:
            if dims_of(p):
                raise invalid_argument("All padding values must be scalars")
        return _PaddedStream(source, types, dims, batch_size_of(size), drop, padded, padding)

    return make


class _UnbatchStream(UnaryStream):
    """The elements of batches."""

    def open(self, reading: Reading) -> Cursor:
        return _UnbatchCursor(self, self.source.open(reading))

    def count(self) -> int:
        return UNKNOWN


class _UnbatchCursor(UnaryCursor):
    def __init__(self, stream: Stream, source: Cursor) -> None:
        super().__init__(stream, source)
        self.batch: Element | None = None
        self.position = 0
        self.ready: list[Element] = []

    def _open(self) -> None:
        assert self.batch is not None
        self.ready = list(zip(*(rows_of(c) for c in self.batch)))[self.position :][::-1]

    def next(self) -> Element | None:
        while not self.ready:
            batch = self.source.next()
            if batch is None:
                return None
            sizes = [dims_of(c)[0] if dims_of(c) else None for c in batch]
            if None in sizes:
                raise invalid_argument("Input element must have a non-scalar value in each component.")
            if len(set(sizes)) > 1:
                raise invalid_argument(
                    f"Input element must have the same batch size in each component. Component 0 had size {sizes[0]} but component "
                    f"{next(i for i, s in enumerate(sizes) if s != sizes[0])} had size, {next(s for s in sizes if s != sizes[0])}."
                )
            self.batch, self.position = batch, 0
            self._open()
        self.position += 1
        return self.ready.pop()

    def save(self) -> Any:
        return {"source": self.source.save(), "batch": self.batch, "position": self.position, "is_open": bool(self.ready)}

    def restore(self, state: Any) -> None:
        super().restore(state)
        self.batch, self.position, self.ready = state["batch"], state["position"], []
        if state["is_open"]:
            self._open()


@dataset_op("UnbatchDataset", "ExperimentalUnbatchDataset")
def _unbatch(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)
    return lambda source: _UnbatchStream(source, types, dims)


class _WindowStream(UnaryStream):
    """Streams of neighbouring elements: `size` of them, `stride` apart, the next window `shift` elements on."""

    def __init__(self, source: Stream, types: Any, dims: Any, size: int, shift: int, stride: int, drops_rest: bool) -> None:
        super().__init__(source, types, dims)
        self.size, self.shift, self.stride, self.drops_rest = size, shift, stride, drops_rest
        self.reach = (size - 1) * stride + 1

    def open(self, reading: Reading) -> Cursor:
        return _WindowCursor(self, self.source.open(reading))

    def count(self) -> int:
        n = self.source.count()
        if n < 0:
            return n
        if self.drops_rest:
            return max(0, (n - self.reach) // self.shift + 1)
        return -(-n // self.shift)

    def made_of(self, elements: Sequence[Element]) -> Element:
        """The window as an element: for each component a stream of its own."""
        return tuple(ListStream([t], [d], [(e[i],) for e in elements]) for i, (t, d) in enumerate(zip(self.source.types, self.source.dims)))


class _Failed:
    """Stands for an element that could not be made; its error belongs to whoever reads the window."""

    def __init__(self, error: OpError) -> None:
        self.error = error


class _WindowCursor(UnaryCursor):
    def __init__(self, stream: _WindowStream, source: Cursor) -> None:
        super().__init__(stream, source)
        self.window: _WindowStream = stream
        self.waiting: collections.deque[Any] = collections.deque()
        self.is_over = False
        self.to_skip = 0

    def next(self) -> Element | None:
        stream = self.window
        waiting = self.waiting
        if not self.is_over and self.to_skip:
            wanted, self.to_skip = self.to_skip, 0
            self.is_over = self.source.skip(wanted) < wanted
        while not self.is_over and len(waiting) < stream.reach:
            try:
                element = self.source.next()
            except OpError as error:
                waiting.append(_Failed(error))
                continue
            if element is None:
                self.is_over = True
            else:
                waiting.append(element)
        if not waiting or (stream.drops_rest and len(waiting) < stream.reach):
            return None
        chosen = [waiting[i] for i in range(0, min(stream.reach, len(waiting)), stream.stride)]
        if stream.shift >= len(waiting):
            self.to_skip = stream.shift - len(waiting)
            waiting.clear()
        else:
            for _ in range(stream.shift):
                waiting.popleft()
        for element in chosen:
            if isinstance(element, _Failed):
                raise element.error
        return self._result(chosen)

    def _result(self, chosen: list[Element]) -> Element:
        return self.window.made_of(chosen)

    def save(self) -> Any:
        return {"source": self.source.save(), "waiting": list(self.waiting), "is_over": self.is_over, "to_skip": self.to_skip}

    def restore(self, state: Any) -> None:
        super().restore(state)
        self.waiting = collections.deque(state["waiting"])
        self.is_over, self.to_skip = state["is_over"], state["to_skip"]


def _positive(name: str, value: Any) -> int:
    number = int(value)
    if number <= 0:
        raise invalid_argument(f"{name} must be greater than zero.")
    return number


@dataset_op("WindowDataset")
def _window(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)

    def make(source: Stream, size: Any, shift: Any, stride: Any, drop: Any) -> Stream:
        numbers = _positive("Window size", size), _positive("Window shift", shift), _positive("Window stride", stride)
        return _WindowStream(source, types, dims, *numbers, bool(drop))

    return make


class _SlidingStream(_WindowStream):
    """Windows as batches."""

    def open(self, reading: Reading) -> Cursor:
        return _SlidingCursor(self, self.source.open(reading))

    def count(self) -> int:
        # As 1.15 counts them, with windows that are not full.
        n = self.source.count()
        return n if n < 0 else -(-n // self.shift)


class _SlidingCursor(_WindowCursor):
    def _result(self, chosen: list[Element]) -> Element:
        return stack(chosen, self.window.source.types)


@dataset_op("SlidingWindowDataset", "ExperimentalSlidingWindowDataset")
def _sliding(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)

    def make(source: Stream, size: Any, shift: Any, stride: Any) -> Stream:
        numbers = _positive("Window size", size), _positive("Window shift", shift), _positive("window_stride", stride)
        return _SlidingStream(source, types, dims, *numbers, True)

    return make


class _SparseBatchStream(UnaryStream):
    """Dense elements as the rows of sparse batches, which travel as one array of indices, values and shape."""

    def __init__(self, source: Stream, types: Any, dims: Any, size: int, row_shape: list[int]) -> None:
        super().__init__(source, types, dims)
        self.size, self.row_shape = size, row_shape

    def open(self, reading: Reading) -> Cursor:
        return _SparseBatchCursor(self, self.source.open(reading))

    def count(self) -> int:
        n = self.source.count()
        return n if n < 0 else -(-n // self.size)


class _SparseBatchCursor(UnaryCursor):
    def next(self) -> Element | None:
        stream: Any = self.stream
        elements = self.source.several(stream.size)
        if not elements:
            return None
        row_shape = list(stream.row_shape)
        for (component,) in elements:
            found = dims_of(component)
            if len(found) != len(row_shape):
                raise invalid_argument(
                    f"Input element had shape ({shapes.describe(found)}) that is incompatible with the row shape "
                    f"({_row_text(stream.row_shape)})."
                )
            for axis, n in enumerate(found):
                if stream.row_shape[axis] == -1:
                    row_shape[axis] = max(row_shape[axis], n)
                elif n > stream.row_shape[axis]:
                    raise data_loss(
                        f"Input element had shape ({shapes.describe(found)}) that is larger than the row shape "
                        f"({_row_text(stream.row_shape)})."
                    )
        indices, values = [], []
        for i, (component,) in enumerate(elements):
            size = math.prod(dims_of(component))
            where = np.stack(np.unravel_index(np.arange(size), dims_of(component)), 1) if dims_of(component) else np.zeros((1, 0), np.int64)
            indices.append(np.concatenate([np.full((size, 1), i), where], 1))
            values.append(component.reshape(-1))
        every = np.concatenate(values) if isinstance(values[0], np.ndarray) else torch.cat(values)
        size = torch.tensor([len(elements), *(max(n, 0) for n in row_shape)], dtype=torch.int64)
        packed = np.empty(3, object)
        for i, part in enumerate((torch.from_numpy(np.concatenate(indices).astype(np.int64)), every, size)):
            # As the ops of sparse tensors hand them on: each part with its type.
            packed[i] = part, stream.source.types[0] if i == 1 else dtypes.int64
        return (packed,)


def _row_text(row_shape: Sequence[int]) -> str:
    return shapes.describe(tuple(None if n < 0 else n for n in row_shape))


@dataset_op("DenseToSparseBatchDataset", "ExperimentalDenseToSparseBatchDataset")
def _dense_to_sparse(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)

    def make(source: Stream, size: Any, row_shape: Any) -> Stream:
        if len(source.types) != 1:
            raise invalid_argument("DenseToSparseBatchDataset only supports inputs with a single component.")
        return _SparseBatchStream(source, types, dims, batch_size_of(size), row_shape.tolist())

    return make
