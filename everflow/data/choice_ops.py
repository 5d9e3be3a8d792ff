"""Streams of some elements of others, chosen by what they are: filter, take_while, unique, ignore_errors and samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.data.elements import Element, dims_of
from everflow.data.source_ops import chosen_seeds, random_words
from everflow.data.streams import UNKNOWN, Cursor, Reading, Stream, UnaryCursor, UnaryStream, dataset_op, function_of, signature
from everflow.errors import OpError, OutOfRangeError, invalid_argument


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
            if chosen.numel() != 1:
                raise invalid_argument("Filter predicate `f` must return a scalar bool.")
            if chosen:
                return element


@dataset_op("FilterDataset")
def _filter(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)
    function = function_of(node, "predicate")
    return lambda source, *captured: FilterStream(source, types, dims, function(captured))


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
        return self.source.count()


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
    types, dims = signature(node)
    return lambda source, rate, seed, seed2: _SamplingStream(source, types, dims, float(rate), chosen_seeds(int(seed), int(seed2)))
