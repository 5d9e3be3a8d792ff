"""A lock for short pieces of work that several threads of Python do in turns."""

from __future__ import annotations

import threading
import time
from typing import Any

# How long a thread sleeps before it looks again, at first and at most.
SHORTEST, LONGEST = 1e-5, 1e-3


class TurnLock:
    """An RLock whose waiting threads look again from time to time.

    A thread that is woken by the release of an ordinary lock owns it before it has the interpreter. The thread that has the interpreter
    meets the lock again at once and has to wait for the other one: from then on each turn costs two changes of threads. A thread that
    looks again has the interpreter when it gets the lock.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._try = self._lock.acquire
        self.release = self._lock.release

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Takes the lock, as an RLock's method does."""
        if self._try(False):
            return True
        if not blocking:
            return False
        end = time.monotonic() + timeout if timeout >= 0 else None
        pause = SHORTEST
        while not self._try(False):
            if end is not None and time.monotonic() >= end:
                return False
            time.sleep(pause)
            pause = min(2 * pause, LONGEST)
        return True

    def __enter__(self) -> bool:
        return self._try(False) or self.acquire()

    def __exit__(self, *_: Any) -> None:
        self.release()

    # What threading.Condition asks of a lock that one thread may hold several times.
    def _is_owned(self) -> bool:
        return self._lock._is_owned()  # type: ignore[attr-defined]

    def _release_save(self) -> int:
        depth = 0
        while self._is_owned():
            self.release()
            depth += 1
        return depth

    def _acquire_restore(self, depth: int) -> None:
        for _ in range(depth):
            self.acquire()
