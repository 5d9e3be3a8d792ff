"""Streams of groups: windows of elements with the same key, and reductions by key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.data.elements import Element
from everflow.data.source_ops import ListStream
from everflow.data.streams import UNKNOWN, Cursor, Reading, Stream, UnaryCursor, UnaryStream, dataset_op, function_of, signature
from everflow.errors import OutOfRangeError, invalid_argument
from everflow.lazy import torch


def _split(captured: tuple[Any, ...], node: Any, names: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """What each function captures."""
    found = []
    start = 0
    for name in names:
        size = len(node.attr(f"T{name}_other_arguments"))
        found.append(captured[start : start + size])
        start += size
    return found


def _key(found: Element) -> int:
    if len(found) != 1 or found[0].dtype.itemsize != 8 or found[0].numel() != 1:
        raise invalid_argument("`key_func` must return a scalar int64.")
    return int(found[0])


class _WindowsStream(UnaryStream):
    """For each key, windows of elements, each reduced to a stream."""

    def __init__(self, source: Stream, types: Any, dims: Any, key: Any, reduce: Any, size: Any) -> None:
        super().__init__(source, types, dims)
        self.key, self.reduce, self.size = key, reduce, size

    def open(self, reading: Reading) -> Cursor:
        return _WindowsCursor(self, self.source.open(reading), reading)

    def count(self) -> int:
        return UNKNOWN


class _WindowsCursor(UnaryCursor):
    def __init__(self, stream: _WindowsStream, source: Cursor, reading: Reading) -> None:
        super().__init__(stream, source)
        self.windows: _WindowsStream = stream
        self.reading = reading
        self.groups: dict[int, list[Element]] = {}
        self.sizes: dict[int, int] = {}
        self.is_over = False
        self.inner: Cursor | None = None
        self.flushed: tuple[int, list[Element]] | None = None

    def next(self) -> Element | None:
        while True:
            if self.inner is not None:
                element = self.inner.next()
                if element is not None:
                    return element
                self.inner = self.flushed = None
            if self.is_over:
                if not self.groups:
                    return None
                self._flush(min(self.groups))
                continue
            element = self.source.next()
            if element is None:
                self.is_over = True
                continue
            self._add(element)

    def _add(self, element: Element) -> None:
        key = _key(self.windows.key(*element))
        if key not in self.sizes:
            found = self.windows.size(_number(key))
            if len(found) != 1 or found[0].numel() != 1:
                raise invalid_argument("`window_size_func` must return a scalar int64.")
            size = int(found[0])
            if size <= 0:
                raise invalid_argument("Window size must be greater than zero, but got " + str(size) + ".")
            self.sizes[key] = size
        group = self.groups.setdefault(key, [])
        group.append(element)
        if len(group) == self.sizes[key]:
            self._flush(key)

    def _flush(self, key: int) -> None:
        group = self.groups.pop(key)
        self.sizes.pop(key)
        self._enter(key, group)

    def _enter(self, key: int, group: list[Element]) -> Cursor:
        source = self.windows.source
        self.flushed = key, group
        found = self.windows.reduce(_number(key), ListStream(source.types, source.dims, group))
        if len(found) != 1 or not isinstance(found[0], Stream):
            raise invalid_argument("`reduce_func` must return a single scalar of dtype DT_VARIANT.")
        self.inner = found[0].open(self.reading)
        return self.inner

    def save(self) -> Any:
        inner = None
        if self.inner is not None and self.flushed is not None:
            inner = {"key": self.flushed[0], "group": self.flushed[1], "state": self.inner.save()}
        return {
            "source": self.source.save(),
            "groups": [[k, v, self.sizes[k]] for k, v in self.groups.items()],
            "is_over": self.is_over,
            "inner": inner,
        }

    def restore(self, state: Any) -> None:
        super().restore(state)
        self.groups = {k: list(v) for k, v, _ in state["groups"]}
        self.sizes = {k: size for k, _, size in state["groups"]}
        self.is_over = state["is_over"]
        self.inner = self.flushed = None
        if state["inner"] is not None:
            self._enter(state["inner"]["key"], list(state["inner"]["group"])).restore(state["inner"]["state"])


def _number(value: int) -> Any:
    return torch.tensor(value, dtype=torch.int64)


@dataset_op("GroupByWindowDataset", "ExperimentalGroupByWindowDataset")
def _group_by_window(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)
    names = ("key_func", "reduce_func", "window_size_func")
    functions = [function_of(node, name) for name in names]

    def make(source: Stream, *captured: Any) -> Stream:
        bound = [f(c) for f, c in zip(functions, _split(captured, node, names))]
        return _WindowsStream(source, types, dims, *bound)

    return make


class _ReducedStream(UnaryStream):
    """For each key, the end result of a reduction of its elements, keys in order."""

    def __init__(self, source: Stream, types: Any, dims: Any, key: Any, start: Any, reduce: Any, finish: Any) -> None:
        super().__init__(source, types, dims)
        self.key, self.start, self.reduce, self.finish = key, start, reduce, finish

    def open(self, reading: Reading) -> Cursor:
        return _ReducedCursor(self, self.source.open(reading))

    def count(self) -> int:
        return UNKNOWN


class _ReducedCursor(UnaryCursor):
    def __init__(self, stream: _ReducedStream, source: Cursor) -> None:
        super().__init__(stream, source)
        self.reduced: _ReducedStream = stream
        self.memories: dict[int, Element] = {}
        self.is_over = False

    def next(self) -> Element | None:
        stream = self.reduced
        while not self.is_over:
            element = self.source.next()
            if element is None:
                self.is_over = True
                break
            found = stream.key(*element)
            key = _key(found)
            if key not in self.memories:
                self.memories[key] = stream.start(*found)
            self.memories[key] = stream.reduce(*self.memories[key], *element)
        if not self.memories:
            return None
        try:
            return stream.finish(*self.memories.pop(min(self.memories)))
        except OutOfRangeError:
            return None

    def save(self) -> Any:
        return {"source": self.source.save(), "memories": [[k, v] for k, v in self.memories.items()], "is_over": self.is_over}

    def restore(self, state: Any) -> None:
        super().restore(state)
        self.memories = {k: tuple(v) for k, v in state["memories"]}
        self.is_over = state["is_over"]


@dataset_op("GroupByReducerDataset", "ExperimentalGroupByReducerDataset")
def _group_by_reducer(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)
    names = ("key_func", "init_func", "reduce_func", "finalize_func")
    functions = [function_of(node, name) for name in names]

    def make(source: Stream, *captured: Any) -> Stream:
        bound = [f(c) for f, c in zip(functions, _split(captured, node, names))]
        return _ReducedStream(source, types, dims, *bound)

    return make
