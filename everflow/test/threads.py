"""Threads whose errors become errors of the test that started them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class CheckedThread:
    """A thread that keeps what its target raised, and fails the test when it is joined."""

    def __init__(self, testcase: Any, target: Callable[..., Any], args: Any = None, kwargs: dict[str, Any] | None = None) -> None:
        self._testcase = testcase
        self._target, self._args, self._kwargs = target, args or (), kwargs or {}
        self._thread = threading.Thread(target=self._protected_run)
        self._exception: BaseException | None = None
        self._terminated = False

    def _protected_run(self) -> None:
        try:
            self._target(*self._args, **self._kwargs)
        except BaseException as error:
            self._exception = error

    def start(self) -> None:
        self._thread.start()

    def join(self) -> None:
        """Waits for the end of the thread, and fails if it did not end well."""
        self._thread.join()
        self._terminated = True
        if self._exception is not None:
            self._testcase.fail(f"Error in checkedThread: {self._exception}")

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def check_termination(self) -> None:
        """Fails if nobody joined the thread while it still ran."""
        if not self._terminated and self.is_alive():
            self._testcase.fail("A checked thread was not terminated.")
