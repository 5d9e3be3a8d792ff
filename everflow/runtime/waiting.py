"""Resources that make steps wait: for room, for elements, for each other."""
from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from everflow.errors import cancelled, deadline_exceeded


class Waited:
    """A resource with a condition on which steps wait. Closing the session, or a deadline of the run, ends the waiting."""

    def __init__(self, context: Any) -> None:
        self.context = context
        self.condition = threading.Condition()
        self.gone = False

    def wait(self, ready: Callable[[], bool], message: str) -> None:
        """Waits, with the condition held, until `ready()`. `message` is that of the error when the session ends."""
        while not ready():
            if self.gone or self.context.cancelled.is_set():
                raise cancelled(message)
            deadline = self.context.deadline
            if deadline is None:
                self.condition.wait()
            else:
                rest = deadline - time.monotonic()
                if rest <= 0:
                    raise deadline_exceeded("Timed out waiting for notification")
                self.condition.wait(rest)

    def dispose(self) -> None:
        """Sends all who wait away."""
        with self.condition:
            self.gone = True
            self.condition.notify_all()
