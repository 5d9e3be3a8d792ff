"""Streams that work element by element: map, filter, take, skip, repeat, concatenate, zip, shard, scan and their kin."""
from __future__ import annotations

import collections
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from everflow.data.elements import Element, dims_of, joined, rows_of
from everflow.data.streams import (
    INFINITE,
    UNKNOWN,
    Cursor,
    Reading,
    Stream,
    Table,
    UnaryCursor,
    UnaryStream,
    dataset_op,
    function_of,
    signature,
)
from everflow.errors import OpError, OutOfRangeError, invalid_argument
from everflow.graph.functions import called_functions


def every_op(entry: Any) -> Iterator[Any]:
    """The ops of a function, and of the functions that it calls."""
    seen: set[str] = set()
    stack = [entry]
    while stack:
        body = stack.pop().graph
        for op in body.get_operations():
            yield op
            for name in called_functions(op):
                if name not in seen:
                    seen.add(name)
                    found = body._get_function(name)
                    if found is not None:
                        stack.append(found)


def is_seen_outside(entry: Any) -> bool:
    """Whether others can notice that a function runs: it calls Python, or changes or prints something."""
    return any(op.type.startswith(("PyFunc", "EagerPyFunc", "Assign", "Print", "Queue")) for op in every_op(entry))


class MapStream(UnaryStream):
    """A function of each element."""

    is_seen_outside = False

    def __init__(self, source: Stream, types: Any, dims: Any, function: Callable[..., Element], keeps_count: bool,
                 batched: Any = None) -> None:
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
    from everflow.data.vectorizing import batched_form

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


class FilterStream(UnaryStream):
    """The elements of which a function says True."""

    def __init__(self, source: Stream, types: Any, dims: Any, predicate: Callable[..., Element]) -> None:
        super().__init__(source, types, dims)
        self.predicate = predicate

    def open(self, reading: Reading) -> Cursor:
        return _FilterCursor(self, self.source.open(reading))

    def count(self) -> int:
        return UNKNOWN


class _FilterCursor(UnaryCursor):
    def next(self) -> Element | None:
        following, predicate = self.source.next, self.stream.predicate  # type: ignore[attr-defined]
        while True:
            element = following()
            if element is None:
                return None
            try:
                chosen = predicate(*element)[0]
            except OutOfRangeError:
                return None
            if chosen.ndim:
                raise invalid_argument("Filter predicate `f` must return a scalar bool.")
            if chosen:
                return element


@dataset_op("FilterDataset")
def _filter(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)
    function = function_of(node, "predicate")
    return lambda source, *captured: FilterStream(source, types, dims, function(captured))


@dataset_op("FilterByLastComponentDataset")
def _filter_by_last(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)

    def make(source: Stream) -> Stream:
        chosen = FilterStream(source, source.types, source.dims, lambda *element: element[-1:])
        return MapStream(chosen, types, dims, lambda *element: element[:-1], False)

    return make


class _TakeWhileStream(FilterStream):
    """The elements before the first of which a function says False."""

    def open(self, reading: Reading) -> Cursor:
        return _TakeWhileCursor(self, self.source.open(reading))


class _TakeWhileCursor(UnaryCursor):
    is_over = False

    def next(self) -> Element | None:
        element = None if self.is_over else self.source.next()
        if element is None:
            return None
        try:
            if self.stream.predicate(*element)[0]:  # type: ignore[attr-defined]
                return element
        except OutOfRangeError:
            return None
        self.is_over = True
        return None

    def save(self) -> Any:
        return {"source": self.source.save(), "is_over": self.is_over}

    def restore(self, state: Any) -> None:
        super().restore(state)
        self.is_over = state["is_over"]


@dataset_op("TakeWhileDataset", "ExperimentalTakeWhileDataset")
def _take_while(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)
    function = function_of(node, "predicate")
    return lambda source, *captured: _TakeWhileStream(source, types, dims, function(captured))


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


class TakeStream(UnaryStream):
    """The first elements; all of them for a negative number."""

    def __init__(self, source: Stream, types: Any, dims: Any, size: int) -> None:
        super().__init__(source, types, dims)
        self.size = size

    def open(self, reading: Reading) -> Cursor:
        return self.source.open(reading) if self.size < 0 else _TakeCursor(self, self.source.open(reading))

    def count(self) -> int:
        n = self.source.count()
        if n == UNKNOWN or self.size < 0:
            return n
        return self.size if n == INFINITE else min(n, self.size)


class _TakeCursor(UnaryCursor):
    def __init__(self, stream: TakeStream, source: Cursor) -> None:
        super().__init__(stream, source)
        self.left = stream.size

    def next(self) -> Element | None:
        if self.left <= 0:
            # What is behind the last element is not needed any more.
            self.source = EMPTY
            return None
        element = self.source.next()
        self.left = self.left - 1 if element is not None else 0
        return element

    def rows(self, n: int) -> Element | None:
        if self.left <= 0:
            self.source = EMPTY
            return None
        found = self.source.rows(min(n, self.left))
        self.left = 0 if found is None else self.left - dims_of(found[0])[0]
        return found

    def save(self) -> Any:
        return {"source": self.source.save(), "left": self.left}

    def restore(self, state: Any) -> None:
        self.left = state["left"]
        if self.left > 0:
            super().restore(state)


class _EmptyCursor(Cursor):
    def next(self) -> Element | None:
        return None

    def save(self) -> Any:
        return None

    def restore(self, state: Any) -> None:
        return None


EMPTY = _EmptyCursor(Stream([], []))


@dataset_op("TakeDataset")
def _take(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)
    return lambda source, count: TakeStream(source, types, dims, int(count))


class SkipStream(UnaryStream):
    """What comes after the first elements; nothing for a negative number."""

    def __init__(self, source: Stream, types: Any, dims: Any, size: int) -> None:
        super().__init__(source, types, dims)
        self.size = size

    def open(self, reading: Reading) -> Cursor:
        return _SkipCursor(self, self.source.open(reading))

    def count(self) -> int:
        n = self.source.count()
        if self.size < 0:
            return 0
        return n if n < 0 else max(0, n - self.size)


class _SkipCursor(UnaryCursor):
    def __init__(self, stream: SkipStream, source: Cursor) -> None:
        super().__init__(stream, source)
        self.to_skip = stream.size

    def _skipped(self) -> bool:
        """Whether anything may be left after skipping."""
        if self.to_skip:
            if self.to_skip < 0:
                return False
            wanted, self.to_skip = self.to_skip, 0
            return self.source.skip(wanted) == wanted
        return True

    def next(self) -> Element | None:
        return self.source.next() if not self.to_skip or self._skipped() else None

    def rows(self, n: int) -> Element | None:
        return self.source.rows(n) if not self.to_skip or self._skipped() else None

    def save(self) -> Any:
        return {"source": self.source.save(), "to_skip": self.to_skip}

    def restore(self, state: Any) -> None:
        super().restore(state)
        self.to_skip = state["to_skip"]


@dataset_op("SkipDataset")
def _skip(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)
    return lambda source, count: SkipStream(source, types, dims, int(count))


class RepeatStream(UnaryStream):
    """The elements again and again; without end for a negative number of times."""

    def __init__(self, source: Stream, types: Any, dims: Any, times: int) -> None:
        super().__init__(source, types, dims)
        self.times = times

    def open(self, reading: Reading) -> Cursor:
        return _RepeatCursor(self, reading)

    def count(self) -> int:
        n = self.source.count()
        if self.times == 0 or n == 0:
            return 0
        if self.times < 0:
            return INFINITE if n > 0 or n == INFINITE else n
        return n * self.times if n > 0 else n


class _RepeatCursor(Cursor):
    def __init__(self, stream: RepeatStream, reading: Reading) -> None:
        super().__init__(stream)
        self.reading = reading
        self.round = 0
        self.source: Cursor | None = None
        self.is_fresh = True

    def _next_round(self) -> bool:
        """Starts over; False where that is not wanted or would go on without ever giving an element."""
        stream: Any = self.stream
        if self.source is not None:
            self.round += 1
            if stream.times < 0 and self.is_fresh:
                self.source = None
                return False
        if 0 <= stream.times <= self.round:
            self.source = None
            return False
        self.reading.check()
        self.source = stream.source.open(self.reading)
        self.is_fresh = True
        return True

    def next(self) -> Element | None:
        while True:
            if self.source is not None:
                element = self.source.next()
                if element is not None:
                    self.is_fresh = False
                    return element
            if not self._next_round():
                return None

    def rows(self, n: int) -> Element | None:
        parts = []
        while n > 0:
            if self.source is not None:
                part = self.source.rows(n)
                if part is not None:
                    self.is_fresh = False
                    parts.append(part)
                    n -= dims_of(part[0])[0]
                    continue
            if not self._next_round():
                break
        return joined(parts) if parts else None

    def save(self) -> Any:
        source = None if self.source is None else self.source.save()
        return {"source": source, "round": self.round, "is_fresh": self.is_fresh}

    def restore(self, state: Any) -> None:
        self.round, self.is_fresh = state["round"], state["is_fresh"]
        self.source = None
        if state["source"] is not None:
            self.source = self.stream.source.open(self.reading)  # type: ignore[attr-defined]
            self.source.restore(state["source"])


@dataset_op("RepeatDataset")
def _repeat(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)
    return lambda source, count: RepeatStream(source, types, dims, int(count))


class ConcatenatedStream(Stream):
    """One stream after the other."""

    def __init__(self, types: Any, dims: Any, parts: list[Stream]) -> None:
        super().__init__(types, dims)
        self.parts = parts

    def open(self, reading: Reading) -> Cursor:
        return _ConcatenatedCursor(self, reading)

    def count(self) -> int:
        counts = [p.count() for p in self.parts]
        if INFINITE in counts:
            return INFINITE
        return UNKNOWN if UNKNOWN in counts else sum(counts)

    def inputs(self) -> list[Stream]:
        return self.parts


class _ConcatenatedCursor(Cursor):
    def __init__(self, stream: ConcatenatedStream, reading: Reading) -> None:
        super().__init__(stream)
        self.reading = reading
        self._go_to(0)

    def _go_to(self, index: int) -> None:
        self.index = index
        parts = self.stream.parts  # type: ignore[attr-defined]
        self.source = parts[index].open(self.reading) if index < len(parts) else None

    def next(self) -> Element | None:
        while self.source is not None:
            element = self.source.next()
            if element is not None:
                return element
            self._go_to(self.index + 1)
        return None

    def save(self) -> Any:
        return {"index": self.index, "source": None if self.source is None else self.source.save()}

    def restore(self, state: Any) -> None:
        self._go_to(state["index"])
        if self.source is not None:
            self.source.restore(state["source"])


@dataset_op("ConcatenateDataset")
def _concatenate(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)
    return lambda first, second: ConcatenatedStream(types, dims, [first, second])


class ZippedStream(Stream):
    """Elements side by side; it ends with the shortest."""

    def __init__(self, types: Any, dims: Any, parts: Sequence[Stream]) -> None:
        super().__init__(types, dims)
        self.parts = list(parts)

    def open(self, reading: Reading) -> Cursor:
        return _ZippedCursor(self, [p.open(reading) for p in self.parts])

    def count(self) -> int:
        counts = [p.count() for p in self.parts]
        if UNKNOWN in counts:
            return UNKNOWN
        finite = [c for c in counts if c >= 0]
        return min(finite) if finite else INFINITE

    def table(self) -> Table | None:
        tables = [p.table() for p in self.parts]
        if any(type(t) is not Table for t in tables):
            return None
        size = min(t.size for t in tables if t is not None)
        return Table(tuple(c for t in tables if t is not None for c in t.columns), size)

    def inputs(self) -> list[Stream]:
        return self.parts


class _ZippedCursor(Cursor):
    def __init__(self, stream: ZippedStream, sources: list[Cursor]) -> None:
        super().__init__(stream)
        self.sources = sources

    def next(self) -> Element | None:
        found: Element = ()
        for source in self.sources:
            element = source.next()
            if element is None:
                return None
            found += element
        return found

    def rows(self, n: int) -> Element | None:
        found: Element = ()
        shortest = n
        for source in self.sources:
            part = source.rows(shortest)
            if part is None:
                return None
            shortest = min(shortest, dims_of(part[0])[0])
            found += part
        return tuple(c[:shortest] for c in found)

    def save(self) -> Any:
        return [s.save() for s in self.sources]

    def restore(self, state: Any) -> None:
        for source, saved in zip(self.sources, state):
            source.restore(saved)


@dataset_op("ZipDataset")
def _zip(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)
    return lambda *parts: ZippedStream(types, dims, parts)


class ShardStream(UnaryStream):
    """Each n-th element, from the index on."""

    def __init__(self, source: Stream, types: Any, dims: Any, shards: int, index: int, must_have_one: bool) -> None:
        super().__init__(source, types, dims)
        self.shards, self.index, self.must_have_one = shards, index, must_have_one

    def open(self, reading: Reading) -> Cursor:
        return _ShardCursor(self, self.source.open(reading))

    def count(self) -> int:
        n = self.source.count()
        return n if n < 0 else n // self.shards + (self.index < n % self.shards)


class _ShardCursor(UnaryCursor):
    position = 0

    def next(self) -> Element | None:
        stream: Any = self.stream
        is_first = self.position == 0
        before = (stream.index - self.position) % stream.shards
        skipped = self.source.skip(before) if before else 0
        element = self.source.next() if skipped == before else None
        self.position += skipped + (element is not None)
        if stream.must_have_one and is_first and element is not None:
            # Whether the other shards have an element shows only when they are read too.
            self.position += self.source.skip(stream.shards - self.position)
        if stream.must_have_one and is_first and 0 < self.position < stream.shards:
            raise invalid_argument(
                "There aren't enough elements in this dataset for each shard to have at least one element (# elems = "
                f"{self.position}, # shards = {stream.shards}). If you are using datasets with distribution strategy, considering "
                "setting the auto sharding policy to either DATA or OFF using the `experimental_distribute.auto_shard_policy` option "
                "of `tf.data.Options()`.")
        return element

    def save(self) -> Any:
        return {"source": self.source.save(), "position": self.position}

    def restore(self, state: Any) -> None:
        super().restore(state)
        self.position = state["position"]


@dataset_op("ShardDataset")
def _shard(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)
    must_have_one = node.attr("require_non_empty")

    def make(source: Stream, shards: Any, index: Any) -> Stream:
        n, i = int(shards), int(index)
        if n <= 0:
            raise invalid_argument(f"Number of shards must be greater than zero (currently num_shards = {n}).")
        if not 0 <= i < n:
            raise invalid_argument(f"Index must be between 0 and {n - 1} (currently index = {i}).")
        return ShardStream(source, types, dims, n, i, must_have_one)

    return make


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


class _UniqueStream(UnaryStream):
    """Each element that was not there before."""

    def open(self, reading: Reading) -> Cursor:
        return _UniqueCursor(self, self.source.open(reading))

    def count(self) -> int:
        return UNKNOWN


class _UniqueCursor(UnaryCursor):
    def __init__(self, stream: Stream, source: Cursor) -> None:
        super().__init__(stream, source)
        self.seen: dict[Any, None] = {}

    def next(self) -> Element | None:
        while True:
            element = self.source.next()
            if element is None:
                return None
            key = _key(element[0])
            if key not in self.seen:
                self.seen[key] = None
                return element

    def save(self) -> Any:
        return {"source": self.source.save(), "seen": [[list(shape), values] for shape, values in self.seen]}

    def restore(self, state: Any) -> None:
        super().restore(state)
        self.seen = {(tuple(shape), tuple(values)): None for shape, values in state["seen"]}


def _key(component: Any) -> Any:
    return dims_of(component), tuple(component.reshape(-1).tolist())


@dataset_op("UniqueDataset", "ExperimentalUniqueDataset")
def _unique(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)
    return lambda source: _UniqueStream(source, types, dims)


class _IgnoreErrorsStream(UnaryStream):
    """The elements that can be made; those that raise errors are left out."""

    def open(self, reading: Reading) -> Cursor:
        return _IgnoreErrorsCursor(self, self.source.open(reading), reading)

    def count(self) -> int:
        return UNKNOWN


class _IgnoreErrorsCursor(UnaryCursor):
    def __init__(self, stream: Stream, source: Cursor, reading: Reading) -> None:
        super().__init__(stream, source)
        self.reading = reading

    def next(self) -> Element | None:
        while True:
            try:
                return self.source.next()
            except OpError:
                self.reading.check()


@dataset_op("IgnoreErrorsDataset", "ExperimentalIgnoreErrorsDataset")
def _ignore_errors(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)
    return lambda source: _IgnoreErrorsStream(source, types, dims)


class _SleepStream(UnaryStream):
    """Waits before each element, for tests."""

    def __init__(self, source: Stream, types: Any, dims: Any, seconds: float) -> None:
        super().__init__(source, types, dims)
        self.seconds = seconds

    def open(self, reading: Reading) -> Cursor:
        return _SleepCursor(self, self.source.open(reading), reading)


class _SleepCursor(UnaryCursor):
    def __init__(self, stream: _SleepStream, source: Cursor, reading: Reading) -> None:
        super().__init__(stream, source)
        self.reading = reading

    def next(self) -> Element | None:
        end = time.monotonic() + self.stream.seconds  # type: ignore[attr-defined]
        while (left := end - time.monotonic()) > 0:
            self.reading.check()
            time.sleep(min(left, 0.01))
        return self.source.next()


@dataset_op("SleepDataset", "ExperimentalSleepDataset")
def _sleep(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)
    return lambda source, microseconds: _SleepStream(source, types, dims, int(microseconds) / 1e6)


class _SamplingStream(UnaryStream):
    """Each element with a probability."""

    def __init__(self, source: Stream, types: Any, dims: Any, rate: float, seeds: tuple[int, int]) -> None:
        super().__init__(source, types, dims)
        self.rate, self.seeds = rate, seeds

    def open(self, reading: Reading) -> Cursor:
        return _SamplingCursor(self, self.source.open(reading))

    def count(self) -> int:
        return UNKNOWN


class _SamplingCursor(UnaryCursor):
    def __init__(self, stream: _SamplingStream, source: Cursor) -> None:
        from everflow.data.source_ops import random_words

        super().__init__(stream, source)
        self.words = random_words(*stream.seeds)
        self.drawn = 0

    def _chance(self) -> float:
        self.drawn += 1
        return float(np.uint32(0x3F800000 | self.words.uint32() & 0x7FFFFF).view(np.float32)) - 1.0

    def next(self) -> Element | None:
        while True:
            element = self.source.next()
            if element is None or self._chance() < self.stream.rate:  # type: ignore[attr-defined]
                return element

    def save(self) -> Any:
        return {"source": self.source.save(), "drawn": self.drawn}

    def restore(self, state: Any) -> None:
        super().restore(state)
        while self.drawn < state["drawn"]:
            self._chance()


@dataset_op("SamplingDataset")
def _sampling(node: Any) -> Callable[..., Stream]:
    from everflow.data.source_ops import chosen_seeds

    types, dims = signature(node)
    return lambda source, rate, seed, seed2: _SamplingStream(
        source, types, dims, float(rate), chosen_seeds(int(seed), int(seed2)))


@dataset_op("ModelDataset", "NonSerializableDataset", "ExperimentalNonSerializableDataset", "WrapDatasetVariant",
            "UnwrapDatasetVariant")
def _same(node: Any) -> Callable[..., Stream]:
    """Tuning of TensorFlow's that changes no element: what it is for, streams do anyway."""
    return lambda source, *_: source
