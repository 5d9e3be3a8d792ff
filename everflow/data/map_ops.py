"""Streams of functions of elements: map, flat_map and scan."""

from __future__ import annotations

import collections
from collections.abc import Callable, Sequence
from typing import Any

from everflow.data.elements import Element, rows_of
from everflow.data.streams import (
    UNKNOWN,
    Cursor,
    Reading,
    Stream,
    Table,
    UnaryCursor,
    UnaryStream,
    dataset_op,
    every_op,
    function_of,
    signature,
)
from everflow.data.vectorizing import batched_form
from everflow.errors import OpError, OutOfRangeError, invalid_argument


def is_seen_outside(entry: Any) -> bool:
    """Whether others can notice that a function runs: it calls Python, or changes or prints something."""
    return any(op.type.startswith(("PyFunc", "EagerPyFunc", "Assign", "Print", "Queue")) for op in every_op(entry))


class MapStream(UnaryStream):
    """A function of each element."""

    is_seen_outside = False

    def __init__(
        self, source: Stream, types: Any, dims: Any, function: Callable[..., Element], keeps_count: bool, batched: Any = None
    ) -> None:
        super().__init__(source, types, dims)
        self.function = function
        self.keeps_count = keeps_count
        # The same function for many stacked elements at once, where that is known to give the same; see everflow.data.vectorizing.
        self.batched = batched

    def open(self, reading: Reading) -> Cursor:
        return MapCursor(self, self.source.open(reading))

    def table(self) -> Table | None:
        # Elements that can't be made are an error when they are read, not when they are drawn.
        table = self.source.table() if self.batched is not None and self.batched.never_fails else None
        return None if table is None else MappedTable(table, self.function, self.batched)


class MappedTable(Table):
    """A function of the elements of a table, computed when they are fetched."""

    def __init__(self, table: Table, function: Callable[..., Element], batched: Any) -> None:
        super().__init__((), table.size)
        self.table, self.function, self.batched = table, function, batched

    def get(self, index: int) -> Element:
        return self.function(*self.table.get(index))

    def gather(self, indices: Sequence[int]) -> Element:
        return self.batched(*self.table.gather(indices))


class MapCursor(UnaryCursor):
    """Maps the elements of another cursor."""

    def __init__(self, stream: MapStream, source: Cursor) -> None:
        super().__init__(stream, source)
        self.function = stream.function
        self.batched = stream.batched
        # Elements that were read for a batch which could not be computed as a whole.
        self.waiting: collections.deque[Element] = collections.deque()

    def pull(self) -> Element | None:
        """The next element to map."""
        return self.waiting.popleft() if self.waiting else self.source.next()

    def next(self) -> Element | None:
        element = self.pull()
        if element is None:
            return None
        try:
            return self.function(*element)
        except OutOfRangeError as error:
            check_early_end(error, self.stream.keeps_count)  # type: ignore[attr-defined]
            return None

    def rows(self, n: int) -> Element | None:
        if self.batched is None or self.waiting:
            return super().rows(n)
        columns = self.source.rows(n)
        if columns is None:
            return None
        found = self.batched(*columns)
        if found is None:
            self.waiting.extend(zip(*map(rows_of, columns)))
            return super().rows(n)
        return found

    def save(self) -> Any:
        return {"source": self.source.save(), "waiting": list(self.waiting)}

    def restore(self, state: Any) -> None:
        super().restore(state)
        self.waiting = collections.deque(state["waiting"])


def check_early_end(error: OpError, keeps_count: bool) -> None:
    """A function that says the end is reached ends the sequence, unless it promised one result for each element."""
    if keeps_count:
        raise invalid_argument("Function invocation produced OutOfRangeError: " + error.message)


@dataset_op("MapDataset", "ExperimentalMapDataset")
def _map(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)
    function, keeps_count = function_of(node), node.attr("preserve_cardinality")
    entry = node.context.library(node.attr("f").name)
    seen_outside = is_seen_outside(entry)

    def make(source: Stream, *captured: Any) -> Stream:
        call = function(captured)
        batched = batched_form(node.context, entry, source.dims, captured)
        stream = MapStream(source, types, dims, call, keeps_count, batched)
        stream.is_seen_outside = seen_outside
        return stream

    return make


class FlatMapStream(UnaryStream):
    """The elements of the streams that a function makes of elements, one stream after the other."""

    def __init__(self, source: Stream, types: Any, dims: Any, function: Callable[..., Element]) -> None:
        super().__init__(source, types, dims)
        self.function = function

    def open(self, reading: Reading) -> Cursor:
        return _FlatMapCursor(self, self.source.open(reading), reading)

    def count(self) -> int:
        return UNKNOWN


class _FlatMapCursor(UnaryCursor):
    def __init__(self, stream: FlatMapStream, source: Cursor, reading: Reading) -> None:
        super().__init__(stream, source)
        self.reading = reading
        self.argument: Element | None = None
        self.inner: Cursor | None = None

    def _enter(self, argument: Element) -> Cursor:
        self.argument = argument
        self.inner = self.stream.function(*argument)[0].open(self.reading)  # type: ignore[attr-defined]
        return self.inner  # type: ignore[return-value]

    def next(self) -> Element | None:
        while True:
            if self.inner is None:
                argument = self.source.next()
                if argument is None:
                    return None
                try:
                    self._enter(argument)
                except OutOfRangeError:
                    return None
                continue
            element = self.inner.next()
            if element is not None:
                return element
            self.inner = None

    def save(self) -> Any:
        inner = None if self.inner is None else {"argument": self.argument, "state": self.inner.save()}
        return {"source": self.source.save(), "inner": inner}

    def restore(self, state: Any) -> None:
        super().restore(state)
        self.inner = None
        if state["inner"] is not None:
            self._enter(tuple(state["inner"]["argument"])).restore(state["inner"]["state"])


@dataset_op("FlatMapDataset")
def _flat_map(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)
    function = function_of(node)
    return lambda source, *captured: FlatMapStream(source, types, dims, function(captured))


class _ScanStream(UnaryStream):
    """A function of a state and each element, which gives the next state and the result."""

    def __init__(self, source: Stream, types: Any, dims: Any, function: Callable[..., Element], start: Element, keeps_count: bool) -> None:
        super().__init__(source, types, dims)
        self.function, self.start, self.keeps_count = function, start, keeps_count

    def open(self, reading: Reading) -> Cursor:
        return _ScanCursor(self, self.source.open(reading))


class _ScanCursor(UnaryCursor):
    def __init__(self, stream: _ScanStream, source: Cursor) -> None:
        super().__init__(stream, source)
        self.memory = stream.start

    def next(self) -> Element | None:
        stream: Any = self.stream
        element = self.source.next()
        if element is None:
            return None
        try:
            found = stream.function(*self.memory, *element)
        except OutOfRangeError as error:
            check_early_end(error, stream.keeps_count)
            return None
        size = len(self.memory)
        self.memory = found[:size]
        return found[size:]

    def save(self) -> Any:
        return {"source": self.source.save(), "memory": tuple(self.memory)}

    def restore(self, state: Any) -> None:
        super().restore(state)
        self.memory = state["memory"]


@dataset_op("ScanDataset", "ExperimentalScanDataset")
def _scan(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)
    function, size = function_of(node), len(node.attr("Tstate"))
    keeps_count = node.attr("preserve_cardinality")
    return lambda source, *rest: _ScanStream(source, types, dims, function(rest[size:]), rest[:size], keeps_count)
