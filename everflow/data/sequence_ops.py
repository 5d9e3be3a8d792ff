"""Streams that rearrange whole sequences: take, skip, repeat, concatenate, zip and shard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from everflow.data.elements import Element, dims_of, joined
from everflow.data.streams import INFINITE, UNKNOWN, Cursor, Reading, Stream, Table, UnaryCursor, UnaryStream, dataset_op, signature
from everflow.errors import invalid_argument


class TakeStream(UnaryStream):
    """The first elements; all of them for a negative number."""

    def __init__(self, source: Stream, types: Any, dims: Any, size: int) -> None:
        super().__init__(source, types, dims)
        self.size = size

    def open(self, reading: Reading) -> Cursor:
        return self.source.open(reading) if self.size < 0 else _TakeCursor(self, self.source.open(reading))

    def count(self) -> int:
        n = self.source.count()
        if n == UNKNOWN:
            return n
        if self.size < 0:
            # As 1.15 says it, whatever there is.
            return INFINITE
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
            return INFINITE
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
            if self.position < stream.shards:
                raise invalid_argument(
                    "There aren't enough elements in this dataset for each shard to have at least one element (# elems = "
                    f"{self.position}, # shards = {stream.shards}). If you are using datasets with distribution strategy, considering "
                    "setting the auto sharding policy to either DATA or OFF using the `experimental_distribute.auto_shard_policy` option "
                    "of `tf.data.Options()`."
                )
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
