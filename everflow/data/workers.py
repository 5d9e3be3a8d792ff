"""Threads that work ahead of a cursor and end with it: they hold what they share with it, never the cursor itself."""

from __future__ import annotations

import atexit
import collections
import queue
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from everflow.errors import cancelled
from everflow.runtime.threads import use
from everflow.values.tensors import without_autograd


def _prepared(run: Callable[[], None]) -> None:
    """What runs in a thread of its own computes without autograd, on one processor."""
    guard = without_autograd()
    use(1)
    try:
        run()
    finally:
        del guard


# Threads under way, with what tells each to end.
_running: dict[threading.Thread, Callable[[], None]] = {}
# For how many seconds the end of a program waits for them.
PATIENCE = 5.0


def start_thread(run: Callable[[], None], name: str, stop: Callable[[], None]) -> threading.Thread:
    """Starts a thread that does not keep the program from ending; `stop` tells it to end."""

    def registered() -> None:
        try:
            _prepared(run)
        finally:
            _running.pop(thread, None)

    thread = threading.Thread(target=registered, name=name, daemon=True)
    _running[thread] = stop
    thread.start()
    return thread


@atexit.register
def _end_all() -> None:
    """Ends all threads before the interpreter does: one that it ends within a computation takes the process down with it."""
    threads = list(_running.items())
    for _, stop in threads:
        stop()
    deadline = time.monotonic() + PATIENCE
    for thread, _ in threads:
        thread.join(max(0.0, deadline - time.monotonic()))


class Outcome:
    """What a call gave: a result, or an error to raise where the result is wanted."""

    __slots__ = ("error", "result")

    def __init__(self, result: Any = None, error: BaseException | None = None) -> None:
        self.result = result
        self.error = error

    def get(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.result

    @classmethod
    def of(cls, call: Callable[..., Any], *arguments: Any) -> Outcome:
        try:
            return cls(call(*arguments))
        except Exception as error:  # it is raised where the result is wanted
            return cls(error=error)


class Channel:
    """A bounded buffer between threads that either side may close."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.items: collections.deque[Any] = collections.deque()
        self.changed = threading.Condition()
        self.is_closed = False

    def has_room(self) -> bool:
        """Waits for room; False where nobody wants items any more."""
        with self.changed:
            while len(self.items) >= self.size and not self.is_closed:
                self.changed.wait()
            return not self.is_closed

    def put(self, item: Any) -> bool:
        """Waits for room; False where nobody wants items any more."""
        with self.changed:
            while len(self.items) >= self.size and not self.is_closed:
                self.changed.wait()
            if self.is_closed:
                return False
            self.items.append(item)
            self.changed.notify_all()
            return True

    def get(self) -> Any:
        """Waits for an item."""
        with self.changed:
            while not self.items:
                if self.is_closed:
                    raise cancelled("Iterator was cancelled")
                self.changed.wait()
            item = self.items.popleft()
            self.changed.notify_all()
            return item

    def wake(self) -> None:
        """Closes the channel."""
        with self.changed:
            self.is_closed = True
            self.changed.notify_all()


class Ahead:
    """Calls a function again and again in a thread, at most `size` results ahead, until it gives None."""

    def __init__(self, produce: Callable[[], Any], size: int, name: str) -> None:
        self.channel = channel = Channel(size)
        self._end = weakref.finalize(self, channel.wake)
        self._end.atexit = False

        # What was made after nobody wanted it any more.
        self._late: list[Outcome] = []
        late = self._late

        def run() -> None:
            # Nothing is made before there is room for it.
            while channel.has_room():
                outcome = Outcome.of(produce)
                if not channel.put(outcome):
                    late.append(outcome)
                    break
                if outcome.error is None and outcome.result is None:
                    break

        self._thread = start_thread(run, name, channel.wake)
        self.is_over = False

    def next(self) -> Any:
        """The next result, or None at the end."""
        if self.is_over:
            return None
        found = self.channel.get().get()
        self.is_over = found is None
        return found

    def wake(self) -> None:
        self.channel.wake()

    def stop(self) -> list[Outcome]:
        """Ends the thread; returns what it made and nobody took."""
        self._end()
        self._thread.join()
        return [*self.channel.items, *self._late]


class Pool:
    """Threads for calls, started when there is work for them."""

    def __init__(self, size: int, name: str) -> None:
        self.size = size
        self.name = name
        self.started = 0
        self.work: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._end = weakref.finalize(self, Pool._stop, self.work, size)
        self._end.atexit = False

    @staticmethod
    def _stop(work: Any, size: int) -> None:
        for _ in range(size):
            work.put(None)

    def submit(self, call: Callable[[], None]) -> None:
        """Has a thread make a call."""
        self.work.put(call)
        if self.started < self.size:
            self.started += 1
            work, size = self.work, self.size

            def run() -> None:
                while (job := work.get()) is not None:
                    job()
                    del job

            start_thread(run, self.name, lambda: Pool._stop(work, size))

    def close(self) -> None:
        """Ends the threads."""
        self._end()
