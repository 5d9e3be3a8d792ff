"""Streams that take turns among several others: interleave, parallel interleave, directed interleave."""

from __future__ import annotations

import collections
import os
import weakref
from collections.abc import Callable
from typing import Any

from everflow.data.elements import Element
from everflow.data.parallel_ops import Signal, runs_long
from everflow.data.streams import INFINITE, UNKNOWN, Cursor, Reading, Stream, UnaryCursor, UnaryStream, dataset_op, function_of, signature
from everflow.data.workers import Outcome, start_thread
from everflow.errors import OutOfRangeError, cancelled, invalid_argument

AUTOTUNE = -1


class InterleaveStream(UnaryStream):
    """Turns of `block` elements among `cycle` streams that a function makes of elements."""

    def __init__(self, source: Stream, types: Any, dims: Any, function: Callable[..., Element], cycle: int, block: int) -> None:
        super().__init__(source, types, dims)
        self.function, self.cycle, self.block = function, cycle, block

    def open(self, reading: Reading) -> Cursor:
        return _InterleaveCursor(self, self.source.open(reading), reading)

    def count(self) -> int:
        return UNKNOWN


class _InterleaveCursor(UnaryCursor):
    def __init__(self, stream: InterleaveStream, source: Cursor, reading: Reading) -> None:
        super().__init__(stream, source)
        self.interleave: InterleaveStream = stream
        self.reading = reading
        self.slots: list[Cursor | None] = [None] * stream.cycle
        self.arguments: list[Element | None] = [None] * stream.cycle
        self.index = 0
        self.taken = 0
        self.is_over = False
        self.opened = 0

    def _enter(self, index: int, argument: Element) -> Cursor:
        self.arguments[index] = argument
        found = self.slots[index] = self.interleave.function(*argument)[0].open(self.reading)
        return found

    def _advance(self) -> None:
        self.taken = 0
        self.index = (self.index + 1) % len(self.slots)

    def next(self) -> Element | None:
        while not self.is_over or self.opened:
            slot = self.slots[self.index]
            if slot is not None:
                element = slot.next()
                if element is not None:
                    self.taken += 1
                    if self.taken == self.interleave.block:
                        self._advance()
                    return element
                self.slots[self.index] = None
                self.opened -= 1
                self._advance()
            elif not self.is_over:
                argument = self.source.next()
                if argument is None:
                    self.is_over = True
                    continue
                try:
                    self._enter(self.index, argument)
                except OutOfRangeError:
                    return None
                self.opened += 1
            else:
                self._advance()
        return None

    def save(self) -> Any:
        slots = [None if s is None else {"argument": a, "state": s.save()} for s, a in zip(self.slots, self.arguments)]
        return {"source": self.source.save(), "slots": slots, "index": self.index, "taken": self.taken, "is_over": self.is_over}

    def restore(self, state: Any) -> None:
        super().restore(state)
        self.index, self.taken, self.is_over = state["index"], state["taken"], state["is_over"]
        self.opened = 0
        for i, saved in enumerate(state["slots"]):
            self.slots[i] = None
            if saved is not None:
                self._enter(i, tuple(saved["argument"])).restore(saved["state"])
                self.opened += 1


def _cycle_and_block(cycle: Any, block: Any) -> tuple[int, int]:
    if int(cycle) <= 0 and int(cycle) != AUTOTUNE:
        raise invalid_argument("cycle_length must be greater than zero.")
    if int(block) <= 0:
        raise invalid_argument("block_length must be greater than zero.")
    return int(cycle) if int(cycle) > 0 else os.cpu_count() or 1, int(block)


@dataset_op("InterleaveDataset")
def _interleave(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)
    function = function_of(node)

    def make(source: Stream, *rest: Any) -> Stream:
        return InterleaveStream(source, types, dims, function(rest[:-2]), *_cycle_and_block(*rest[-2:]))

    return make


class ParallelInterleaveStream(InterleaveStream):
    """The same, with a thread for each stream that works ahead; sloppy: whoever has something ready comes first."""

    def __init__(
        self,
        source: Stream,
        types: Any,
        dims: Any,
        function: Callable[..., Element],
        cycle: int,
        block: int,
        is_sloppy: bool,
        buffered: int,
        prefetched: int,
    ) -> None:
        super().__init__(source, types, dims, function, cycle, block)
        self.is_sloppy, self.buffered, self.prefetched = is_sloppy, buffered, prefetched

    def open(self, reading: Reading) -> Cursor:
        return _ParallelInterleaveCursor(self, self.source.open(reading), reading)


class _Worker:
    """A stream read by a thread into a buffer; all workers of a cursor share its condition."""

    def __init__(self, call: Callable[[], Cursor], changed: Any, size: int) -> None:
        self.items: collections.deque[Outcome] = collections.deque()
        self.is_done = False
        self.is_wanted = True
        worker = self

        def run() -> None:
            opened = Outcome.of(call)
            if opened.error is not None:
                worker._finish(changed, opened)
                return
            cursor = opened.result
            while True:
                outcome = Outcome.of(cursor.next)
                if outcome.error is None and outcome.result is None:
                    worker._finish(changed, None)
                    return
                with changed.condition:
                    while len(worker.items) >= size and worker.is_wanted and not changed.is_closed:
                        changed.condition.wait()
                    if changed.is_closed or not worker.is_wanted:
                        return
                    worker.items.append(outcome)
                    changed.condition.notify_all()

        start_thread(run, "everflow-interleave", changed.wake)

    def _finish(self, changed: Any, outcome: Outcome | None) -> None:
        with changed.condition:
            if outcome is not None and not isinstance(outcome.error, OutOfRangeError):
                self.items.append(outcome)
            self.is_done = True
            changed.condition.notify_all()

    @property
    def has_more(self) -> bool:
        return bool(self.items) or not self.is_done


class _ParallelInterleaveCursor(UnaryCursor):
    def __init__(self, stream: ParallelInterleaveStream, source: Cursor, reading: Reading) -> None:
        super().__init__(stream, source)
        self.interleave: ParallelInterleaveStream = stream
        self.reading = reading
        self.changed = Signal()
        reading.watch(self.changed)
        self._end = weakref.finalize(self, self.changed.wake)
        self._end.atexit = False
        self.slots: list[_Worker | None] = [None] * stream.cycle
        # Streams that are read before their turn has come.
        self.staged: collections.deque[_Worker] = collections.deque()
        self.index = 0
        self.taken = 0
        self.is_over = False
        self.produced = 0

    def _hire(self) -> _Worker | None:
        if self.is_over:
            return None
        argument = Outcome.of(self.source.next)
        if argument.error is None and argument.result is None:
            self.is_over = True
            return None
        function, reading = self.interleave.function, self.reading
        # An error of the input takes the place of the stream that it would have made.
        return _Worker(lambda: function(*argument.get())[0].open(reading), self.changed, self.interleave.buffered)

    def _staff(self) -> None:
        """Fills empty places, and those of the streams that come next."""
        for i, slot in enumerate(self.slots):
            if slot is None:
                self.slots[i] = self.staged.popleft() if self.staged else self._hire()
        while len(self.staged) < self.interleave.prefetched and not self.is_over:
            worker = self._hire()
            if worker is not None:
                self.staged.append(worker)

    def _advance(self) -> None:
        self.taken = 0
        self.index = (self.index + 1) % len(self.slots)

    def next(self) -> Element | None:
        while True:
            self._staff()
            if all(s is None for s in self.slots):
                return None
            outcome = self._turn()
            if outcome is not None:
                self.produced += 1
                return outcome.get()

    def _turn(self) -> Outcome | None:
        """An outcome, or None where a place became empty."""
        with self.changed.condition:
            while True:
                for _ in range(len(self.slots) if self.interleave.is_sloppy else 1):
                    slot = self.slots[self.index]
                    if slot is None:
                        self._advance()
                        if not self.interleave.is_sloppy:
                            return None
                        continue
                    if slot.items:
                        outcome = slot.items.popleft()
                        self.taken += 1
                        if self.taken == self.interleave.block:
                            self._advance()
                        self.changed.condition.notify_all()
                        return outcome
                    if slot.is_done:
                        self.slots[self.index] = None
                        self._after_end()
                        return None
                    if self.interleave.is_sloppy:
                        self._advance()
                if self.changed.is_closed:
                    raise cancelled("Iterator was cancelled")
                self.changed.condition.wait()

    def _after_end(self) -> None:
        """The stream that follows one that ended takes its place, and its turn."""
        self._advance()

    def save(self) -> Any:
        return self.produced

    def restore(self, state: Any) -> None:
        self.skip(state - self.produced)


@dataset_op("ParallelInterleaveDataset", "ExperimentalParallelInterleaveDataset")
def _parallel_interleave(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)
    function = function_of(node)

    def make(source: Stream, *rest: Any) -> Stream:
        captured, (cycle, block, sloppy, buffered, prefetched) = rest[:-5], rest[-5:]
        for name, number in (("cycle_length", cycle), ("block_length", block), ("buffer_output_elements", buffered)):
            if int(number) <= 0:
                raise invalid_argument(f"`{name}` must be > 0")
        if int(prefetched) < 0:
            raise invalid_argument("`prefetch_input_elements` must be >= 0")
        return ParallelInterleaveStream(
            source, types, dims, function(captured), int(cycle), int(block), bool(sloppy), int(buffered), int(prefetched)
        )

    return make


@dataset_op("ParallelInterleaveDatasetV2")
def _parallel_interleave_v2(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)
    function, is_sloppy = function_of(node), node.attr("sloppy")
    waits = runs_long(node.context.library(node.attr("f").name))

    def make(source: Stream, *rest: Any) -> Stream:
        captured, (cycle, block, calls) = rest[:-3], rest[-3:]
        turns = _cycle_and_block(cycle, block)
        if int(calls) <= 0 and int(calls) != AUTOTUNE:
            raise invalid_argument("num_parallel_calls must be greater than zero.")
        if int(calls) > turns[0]:
            raise invalid_argument("num_parallel_calls must less than or equal to cycle_length.")
        if not waits:
            return InterleaveStream(source, types, dims, function(captured), *turns)
        return ParallelInterleaveStream(source, types, dims, function(captured), *turns, is_sloppy, 16, 0)

    return make


class _DirectedStream(Stream):
    """The next element of the stream that a selector names."""

    def __init__(self, types: Any, dims: Any, selector: Stream, parts: list[Stream]) -> None:
        super().__init__(types, dims)
        self.selector, self.parts = selector, parts

    def open(self, reading: Reading) -> Cursor:
        return _DirectedCursor(self, reading)

    def count(self) -> int:
        return INFINITE if all(p.count() == INFINITE for p in self.parts) and self.selector.count() == INFINITE else UNKNOWN

    def inputs(self) -> list[Stream]:
        return [self.selector, *self.parts]


class _DirectedCursor(Cursor):
    def __init__(self, stream: _DirectedStream, reading: Reading) -> None:
        super().__init__(stream)
        self.selector = stream.selector.open(reading)
        self.sources: list[Cursor | None] = [p.open(reading) for p in stream.parts]
        self.left = len(self.sources)

    def next(self) -> Element | None:
        while self.left:
            chosen = self.selector.next()
            if chosen is None:
                return None
            index = int(chosen[0])
            if not 0 <= index < len(self.sources):
                raise invalid_argument(f"Selector index out of range: {index} >= {len(self.sources)}")
            source = self.sources[index]
            if source is None:
                continue
            element = source.next()
            if element is not None:
                return element
            self.sources[index] = None
            self.left -= 1
        return None

    def save(self) -> Any:
        return {"selector": self.selector.save(), "sources": [None if s is None else s.save() for s in self.sources]}

    def restore(self, state: Any) -> None:
        self.selector.restore(state["selector"])
        for i, saved in enumerate(state["sources"]):
            source = self.sources[i]
            if saved is None:
                self.sources[i] = None
            elif source is not None:
                source.restore(saved)
        self.left = sum(s is not None for s in self.sources)


@dataset_op("DirectedInterleaveDataset", "ExperimentalDirectedInterleaveDataset")
def _directed(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)
    return lambda selector, *parts: _DirectedStream(types, dims, selector, list(parts))


@dataset_op("ChooseFastestBranchDataset")
def _choose_fastest_branch(node: Any) -> Callable[..., Stream]:
    """Functions that make the same elements of a stream: the first one does."""
    make = node.context.function(node.attr("branches")[0].name)
    count = node.attr("other_arguments_lengths")[0]
    return lambda source, numerator, denominator, *others: make(source, *others[:count])[0]


@dataset_op("ChooseFastestDataset", "ExperimentalChooseFastestDataset")
def _choose_fastest(node: Any) -> Callable[..., Stream]:
    """Streams with the same elements: there is nothing to find out that the first would not do."""
    return lambda *parts: parts[0]
