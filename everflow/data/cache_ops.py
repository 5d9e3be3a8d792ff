"""Streams that are kept when they are first read: in memory or in files."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from everflow.data.elements import Element
from everflow.data.saving import decoded, encoded
from everflow.data.streams import Cursor, Reading, Stream, UnaryCursor, UnaryStream, dataset_op, signature
from everflow.errors import AlreadyExistsError, already_exists, internal_error
from everflow.io.filesystems import errors_about
from everflow.ops.core.node import Node
from everflow.ops.core.registry import op


class MemoryCache:
    """The elements of a stream, once it was read to its end."""

    def __init__(self) -> None:
        self.elements: list[Element] | None = None
        self.lock = threading.Lock()


class _MemoryStream(UnaryStream):
    def __init__(self, source: Stream, types: Any, dims: Any, cache: MemoryCache) -> None:
        super().__init__(source, types, dims)
        self.cache = cache

    def open(self, reading: Reading) -> Cursor:
        return _MemoryCursor(self, reading)


class _MemoryCursor(Cursor):
    """Reads the cache where it is complete, and fills it otherwise."""

    def __init__(self, stream: _MemoryStream, reading: Reading) -> None:
        super().__init__(stream)
        self.cache = stream.cache
        self.reading = reading
        self.position = 0
        self.source: Cursor | None = None
        self.is_started = False
        self.found: list[Element] = []

    def _start(self) -> None:
        self.is_started = True
        if self.cache.elements is None:
            self.source = self.stream.source.open(self.reading)  # type: ignore[attr-defined]

    def next(self) -> Element | None:
        if not self.is_started:
            self._start()
        if self.source is not None:
            element = self.source.next()
            if element is None:
                with self.cache.lock:
                    if self.cache.elements is None:
                        self.cache.elements = self.found
                self.source = None
                self.position = len(self.found)
                return None
            self.found.append(element)
            return element
        elements = self.cache.elements
        if elements is None or self.position >= len(elements):
            return None
        self.position += 1
        return elements[self.position - 1]

    def save(self) -> Any:
        if not self.is_started:
            self._start()
        source = None if self.source is None else self.source.save()
        return {"position": self.position, "source": source, "found": list(self.found), "cached": self.cache.elements}

    def restore(self, state: Any) -> None:
        self.is_started = True
        self.position, self.found, self.source = state["position"], list(state["found"]), None
        if state["cached"] is not None and self.cache.elements is None:
            self.cache.elements = list(state["cached"])
        if state["source"] is not None:
            self.source = self.stream.source.open(self.reading)  # type: ignore[attr-defined]
            self.source.restore(state["source"])


class _FileStream(UnaryStream):
    """Kept in a file with an index that appears when it is complete; a lock file says that it is being written."""

    def __init__(self, source: Stream, types: Any, dims: Any, prefix: str) -> None:
        super().__init__(source, types, dims)
        self.prefix = prefix

    @property
    def index(self) -> str:
        return self.prefix + ".index"

    @property
    def data(self) -> str:
        return self.prefix + ".data-00000-of-00001"

    @property
    def lock(self) -> str:
        return self.prefix + "_0.lockfile"

    def open(self, reading: Reading) -> Cursor:
        if os.path.exists(self.index):
            return _FileReadingCursor(self)
        return _FileWritingCursor(self, self.source.open(reading))


class _FileWritingCursor(UnaryCursor):
    def __init__(self, stream: _FileStream, source: Cursor) -> None:
        super().__init__(stream, source)
        self.files: _FileStream = stream
        self.found: list[Element] = []
        self.is_writing = False
        self.is_complete = False

    def _begin(self) -> None:
        if os.path.exists(self.files.index):
            raise already_exists(
                f"Existing cache files found: \n{self.files.index}\n{self.files.data}\nTo continue delete the above files."
            )
        try:
            with errors_about(self.files.lock), open(self.files.lock, "x") as lock:
                lock.write("Created at: now")
        except AlreadyExistsError:
            with open(self.files.lock) as lock:
                content = lock.read()
            raise already_exists(
                "There appears to be a concurrent caching iterator running - cache lockfile already exists "
                f"('{self.files.lock}'). If you are sure no other running TF computations are using this cache prefix, delete the lockfile "
                f"and re-initialize the iterator. Lockfile contents: {content}"
            ) from None
        self.is_writing = True

    def next(self) -> Element | None:
        if self.is_complete:
            return None
        if not self.is_writing:
            self._begin()
        element = self.source.next()
        if element is not None:
            self.found.append(element)
            return element
        self._finish()
        return None

    def _finish(self) -> None:
        with open(self.files.data, "wb") as out:
            out.write(encoded([list(e) for e in self.found], self.files.types))
        with open(self.files.index, "wb") as out:
            out.write(str(len(self.found)).encode())
        self.is_complete = True
        os.remove(self.files.lock)

    def __del__(self) -> None:
        if self.is_writing and not self.is_complete and os.path.exists(self.files.lock):
            os.remove(self.files.lock)

    def save(self) -> Any:
        return {"source": self.source.save(), "found": self.found, "is_complete": self.is_complete}

    def restore(self, state: Any) -> None:
        super().restore(state)
        self.found, self.is_complete = list(state["found"]), state["is_complete"]


class _FileReadingCursor(Cursor):
    def __init__(self, stream: _FileStream) -> None:
        super().__init__(stream)
        self.files: _FileStream = stream
        self.elements: list[Element] | None = None
        self.position = 0

    def next(self) -> Element | None:
        if self.elements is None:
            with open(self.files.data, "rb") as file:
                try:
                    self.elements = [tuple(e) for e in decoded(file.read())]
                except ValueError as error:
                    raise internal_error(f"Could not read cache {self.files.prefix}: {error}") from None
        if self.position == len(self.elements):
            return None
        self.position += 1
        return self.elements[self.position - 1]

    def save(self) -> Any:
        return self.position

    def restore(self, state: Any) -> None:
        self.position = state


def _cache(node: Node) -> Callable[..., Stream]:
    types, dims = signature(node)

    def make(source: Stream, filename: Any, cache: Any = None) -> Stream:
        prefix = os.fsdecode(filename.item())
        if prefix:
            return _FileStream(source, types, dims, prefix)
        return _MemoryStream(source, types, dims, cache if isinstance(cache, MemoryCache) else MemoryCache())

    return make


dataset_op("CacheDataset", "CacheDatasetV2")(_cache)
op("AnonymousMemoryCache", kernel=lambda node: lambda: (MemoryCache(), None), shape=lambda o: [(), ()])
op("DeleteMemoryCache", kernel=lambda node: lambda handle, deleter: None, shape=lambda o: [])
