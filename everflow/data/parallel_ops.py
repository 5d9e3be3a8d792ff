"""Streams that work ahead: prefetch, and map with several calls at once.

Threads are worth their price only where making an element takes long: what is quick is made when it is asked for.
"""

from __future__ import annotations

import collections
import os
import threading
import time
from collections.abc import Callable, Collection
from typing import Any

from everflow.data.elements import Element
from everflow.data.map_ops import MapCursor, MapStream, check_early_end, is_seen_outside
from everflow.data.streams import Cursor, Reading, Stream, UnaryCursor, UnaryStream, dataset_op, every_op, function_of, signature
from everflow.data.vectorizing import batched_form
from everflow.data.workers import Ahead, Outcome, Pool
from everflow.errors import OutOfRangeError, cancelled, invalid_argument

AUTOTUNE = -1
# An element that takes longer than this many seconds is made ahead, in a thread.
WORTH_A_THREAD = 2e-4
# How many elements are looked at before an average decides.
TRIALS = 3


class PrefetchStream(UnaryStream):
    """The same elements, made ahead of time."""

    # Told, for statistics, how many elements were ready and how many may be.
    tell: Callable[[int, int], None] | None = None

    def __init__(self, source: Stream, types: Any, dims: Any, size: int) -> None:
        super().__init__(source, types, dims)
        self.size = size

    def open(self, reading: Reading) -> Cursor:
        return _PrefetchCursor(self, self.source.open(reading), reading, _is_seen_outside(self.source))


def _is_seen_outside(stream: Stream) -> bool:
    """Whether making elements can be noticed by others: then it has to happen ahead, however quick it is."""
    return getattr(stream, "is_seen_outside", False) or any(_is_seen_outside(s) for s in stream.inputs())


class _PrefetchCursor(UnaryCursor):
    def __init__(self, stream: PrefetchStream, source: Cursor, reading: Reading, must_run_ahead: bool) -> None:
        super().__init__(stream, source)
        self.reading = reading
        self.must_run_ahead = must_run_ahead
        self.size = stream.size if stream.size > 0 else 4 if stream.size == AUTOTUNE else 0
        self.ahead: Ahead | None = None
        self.trials = 0
        self.seconds = 0.0
        # Elements that were made ahead of a saved position.
        self.restored: collections.deque[Element] = collections.deque()

    def next(self) -> Element | None:
        if self.restored:
            return self.restored.popleft()
        if self.ahead is None and self.must_run_ahead and self.size:
            self._start()
        if self.ahead is not None:
            buffered = len(self.ahead.channel.items)
            element = self.ahead.next()
            self._tell(element, buffered)
            return element
        if not self.size:
            return self.source.next()
        start = time.perf_counter()
        element = self.source.next()
        self._judge(time.perf_counter() - start)
        self._tell(element, 1)
        return element

    def _judge(self, seconds: float) -> None:
        # The first element also pays for what is prepared once.
        if self.trials:
            self.seconds += seconds
        self.trials += 1
        if self.trials > TRIALS and self.seconds > WORTH_A_THREAD * (self.trials - 1):
            self._start()
        elif self.trials > 8 * TRIALS:
            self.trials, self.seconds = 1, 0.0

    def _start(self) -> None:
        self.ahead = Ahead(self.source.next, self.size, "everflow-prefetch")
        self.reading.watch(self.ahead)

    def _tell(self, element: Element | None, buffered: int) -> None:
        tell = self.stream.tell  # type: ignore[attr-defined]
        if tell is not None and element is not None:
            tell(max(1, min(buffered, self.size)), self.size)

    def save(self) -> Any:
        if self.ahead is not None:
            # What is made already belongs to the position too.
            found = [outcome.get() for outcome in self.ahead.stop()]
            self.restored.extend(element for element in found if element is not None)
            self.ahead, self.trials, self.seconds = None, 0, 0.0
        return {"source": self.source.save(), "buffer": list(self.restored)}

    def restore(self, state: Any) -> None:
        super().restore(state)
        self.restored = collections.deque(state["buffer"])


@dataset_op("PrefetchDataset")
def _prefetch(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)

    def make(source: Stream, size: Any) -> Stream:
        if int(size) < 0 and int(size) != AUTOTUNE:
            raise invalid_argument("buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning")
        return PrefetchStream(source, types, dims, int(size))

    return make


def runs_long(entry: Any) -> bool:
    """Whether a function does what may take time or wait for others: anything with state or effects."""
    return any(op.op_def_.is_stateful and op.type not in ("Placeholder", "VarHandleOp") for op in every_op(entry))


class ParallelMapStream(MapStream):
    """A function of each element, several at once; in order, or as they become ready."""

    def __init__(
        self,
        source: Stream,
        types: Any,
        dims: Any,
        function: Any,
        keeps_count: bool,
        batched: Any,
        calls: int,
        is_sloppy: bool,
        runs_long: bool,
    ) -> None:
        super().__init__(source, types, dims, function, keeps_count, batched)
        self.calls, self.is_sloppy, self.runs_long = calls, is_sloppy, runs_long

    def open(self, reading: Reading) -> Cursor:
        calls = reading.threads or (self.calls if self.calls != AUTOTUNE else os.cpu_count() or 1)
        source = self.source.open(reading)
        if calls == 1 and not self.runs_long:
            return MapCursor(self, source)
        return _ParallelMapCursor(self, source, reading, calls)


class _ParallelMapCursor(MapCursor):
    """Calls are made here until they turn out to take long; then they are made by threads."""

    def __init__(self, stream: ParallelMapStream, source: Cursor, reading: Reading, calls: int) -> None:
        super().__init__(stream, source)
        self.reading = reading
        self.calls = calls
        # Threads find the next call waiting when one is done, unless others would notice that elements are made so early.
        self.most_pending = calls if stream.is_seen_outside or stream.runs_long else 2 * calls
        # For those who ask for many elements, as many calls wait, and enough of the next ones to do until they ask again.
        self.spare = None if stream.runs_long or _is_seen_outside(stream) else 4 * calls
        self.pool: Pool | None = None
        self.pending: collections.deque[_Call] = collections.deque()
        self.is_over = False
        self.trials = 0
        self.seconds = 0.0
        self.changed = Signal()
        if stream.runs_long:
            self._start()

    def _start(self) -> None:
        self.pool = Pool(self.calls, "everflow-map")
        self.reading.watch(self.changed)

    def next(self) -> Element | None:
        while True:
            if self.pool is None:
                element = self.pull()
                if element is None:
                    return None
                start = time.perf_counter()
                found = Outcome.of(self.function, *element)
                self._judge(time.perf_counter() - start)
            else:
                self._fill(self.most_pending)
                if not self.pending:
                    return None
                found = self._ready()
            try:
                return found.get()
            except OutOfRangeError as error:
                check_early_end(error, self.stream.keeps_count)  # type: ignore[attr-defined]
                return None

    def rows(self, n: int) -> Element | None:
        if self.batched is not None and not self.pending:
            return super().rows(n)
        return Cursor.rows(self, n)

    def several(self, n: int) -> list[Element]:
        self.expect(n)
        return super().several(n)

    def expect(self, n: int) -> None:
        if self.pool is None or self.spare is None:
            return
        self._fill(n + self.spare)
        if self.pending and not self.stream.is_sloppy:  # type: ignore[attr-defined]
            # Waiting for the last one first, this thread does not stop the others at each element.
            self.changed.wait_for(self.pending[min(n, len(self.pending)) - 1])

    def _judge(self, seconds: float) -> None:
        if self.trials:
            self.seconds += seconds
        self.trials += 1
        if self.trials > TRIALS and self.seconds > WORTH_A_THREAD * (self.trials - 1):
            self._start()
        elif self.trials > 8 * TRIALS:
            self.trials, self.seconds = 1, 0.0

    def _fill(self, most: int) -> None:
        assert self.pool is not None
        while not self.is_over and len(self.pending) < most:
            outcome = Outcome.of(self.pull)
            if outcome.error is None and outcome.result is None:
                self.is_over = True
                return
            call = _Call(outcome, self.function, self.changed)
            self.pending.append(call)
            if outcome.error is None:
                self.pool.submit(call.run)
            else:
                call.outcome = outcome

    def _ready(self) -> Outcome:
        if self.stream.is_sloppy:  # type: ignore[attr-defined]
            call = self.changed.wait_for_any(self.pending)
            self.pending.remove(call)
        else:
            call = self.pending[0]
            self.changed.wait_for(call)
            self.pending.popleft()
        assert call.outcome is not None
        return call.outcome

    def save(self) -> Any:
        for call in self.pending:
            self.changed.wait_for(call)
        results = [c.outcome.get() for c in self.pending if c.outcome is not None]
        return {**super().save(), "results": results, "is_over": self.is_over}

    def restore(self, state: Any) -> None:
        super().restore(state)
        self.is_over = state["is_over"]
        for result in state["results"]:
            call = _Call(Outcome(), self.function, self.changed)
            call.outcome = Outcome(result)
            self.pending.append(call)
        if self.pending and self.pool is None:
            self._start()


class Signal:
    """Where one thread waits for calls of others. It ends for good when the iterator is given up."""

    def __init__(self) -> None:
        self.condition = threading.Condition()
        self.is_closed = False
        # The calls whose end is waited for: calls that end otherwise wake nobody.
        self.awaited: Collection[_Call] = ()

    def wait_for(self, call: _Call) -> None:
        """Returns when a call has an outcome."""
        if call.outcome is None:
            self.wait_for_any((call,))

    def wait_for_any(self, calls: Collection[_Call]) -> _Call:
        """Returns one of these calls that has an outcome."""
        with self.condition:
            self.awaited = calls
            try:
                while True:
                    for call in calls:
                        if call.outcome is not None:
                            return call
                    if self.is_closed:
                        raise cancelled("Iterator was cancelled")
                    self.condition.wait()
            finally:
                self.awaited = ()

    def wake(self) -> None:
        with self.condition:
            self.is_closed = True
            self.condition.notify_all()


class _Call:
    """A call under way."""

    __slots__ = ("argument", "changed", "function", "outcome")

    def __init__(self, argument: Outcome, function: Callable[..., Element], changed: Signal) -> None:
        self.argument, self.function, self.changed = argument, function, changed
        self.outcome: Outcome | None = None

    def run(self) -> None:
        # Who waits says so before looking at the outcome: either the outcome is seen there, or the waiting here.
        self.outcome = Outcome.of(self.function, *self.argument.result)
        if self in self.changed.awaited:
            with self.changed.condition:
                self.changed.condition.notify_all()


@dataset_op("ParallelMapDataset")
def _parallel_map(node: Any) -> Callable[..., Stream]:
    types, dims = signature(node)
    function, keeps_count, is_sloppy = function_of(node), node.attr("preserve_cardinality"), node.attr("sloppy")
    entry = node.context.library(node.attr("f").name)
    takes_long, seen_outside = runs_long(entry), is_seen_outside(entry)

    def make(source: Stream, *rest: Any) -> Stream:
        captured, calls = rest[:-1], int(rest[-1])
        if calls <= 0 and calls != AUTOTUNE:
            raise invalid_argument("num_parallel_calls must be greater than zero.")
        call = function(captured)
        batched = batched_form(node.context, entry, source.dims, captured)
        stream = ParallelMapStream(source, types, dims, call, keeps_count, batched, calls, is_sloppy, takes_long)
        stream.is_seen_outside = seen_outside
        return stream

    return make
