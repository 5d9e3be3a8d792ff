"""Resources that make steps wait: for room, for elements, for each other."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from everflow.errors import cancelled, deadline_exceeded
from everflow.values.locks import TurnLock

# The context of the run under way in a thread, where runs of several sessions may wait for one resource.
running = threading.local()


class Waited:
    """A resource with a condition on which steps wait. Closing the session, or a deadline of the run, ends the waiting."""

    def __init__(self, context: Any) -> None:
        self.context = context
        self.lock = TurnLock()
        self.condition = threading.Condition(self.lock)  # type: ignore[arg-type]
        self.gone = False

    def wait(self, ready: Callable[[], bool], message: str, condition: threading.Condition | None = None) -> None:
        """Waits, with the lock held, until `ready()`. `message` is that of the error when the session ends; `condition` is what the
        waiting thread is woken by, where that is not the resource's own."""
        condition = condition or self.condition
        while not ready():
            context = getattr(running, "context", None) or self.context
            if self.gone or context.cancelled.is_set():
                raise cancelled(message)
            deadline = context.deadline
            if deadline is None:
                condition.wait()
            else:
                rest = deadline - time.monotonic()
                if rest <= 0:
                    raise deadline_exceeded("Timed out waiting for notification")
                condition.wait(rest)

    def wake(self) -> None:
        """Makes all who wait look again at what they wait for."""
        with self.condition:
            self.condition.notify_all()

    def dispose(self) -> None:
        """Sends all who wait away."""
        self.gone = True
        self.wake()
