"""The run-time side of a session on a server of this process: the resources are the server's, and those of its cluster."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable
from typing import Any

from everflow import errors
from everflow.graph.graph import Graph
from everflow.runtime.context import Context
from everflow.runtime.tasks import Task
from everflow.values.waiting import running


class ServerContext(Context):
    """A context whose tasks outlive it. `over()` says whether it was the last that has its handle, and with it the names of its own."""

    is_shared = True

    def __init__(
        self,
        server: Any,
        graph: Graph,
        config: Any,
        tasks: list[Task],
        is_isolated: bool,
        handle: str = "",
        over: Callable[[], bool] = lambda: True,
    ) -> None:
        super().__init__(graph, config, tasks)
        self.server = server
        self.handle = handle or secrets.token_hex(8)
        self.is_aborted = False
        self._is_isolated = is_isolated
        self._over = over
        # What servers of other processes hold for this session.
        self.remote_parts: list[Any] = []

    def own_name(self, name: str) -> str:
        """Such that no other session has it, whose graph may have an op of the same name."""
        return f"_{self.handle}_{name}"

    @contextlib.contextmanager
    def until(self, deadline: float | None) -> Any:
        """Sets the deadline of this thread's runs, and says whose runs they are."""
        if self.is_aborted:
            raise errors.AbortedError(None, None, f"Session {self.handle} is not found.")
        before, deadline_before = getattr(running, "context", None), self.deadline
        running.context, self._runs.deadline = self, deadline
        try:
            yield
        except errors.CancelledError as e:
            if self.cancelled.is_set():
                raise errors.CancelledError(None, None, "Step was cancelled by an explicit call to `Session::Close()`.") from e
            raise
        finally:
            running.context, self._runs.deadline = before, deadline_before

    def close(self) -> None:
        """Cancels the runs under way. The resources stay, unless they are this session's alone."""
        self.cancelled.set()
        for part in self.remote_parts:
            part.release()
        is_over = self._over()
        for task in self.placer.tasks:
            if task.is_remote:
                task.end_session()  # type: ignore[attr-defined]
                continue
            task.resources.wake()
            if self._is_isolated:
                task.resources.clear()
            elif is_over:
                task.resources.remove_beginning(self.own_name(""))
