"""The life of one version of a servable: START, LOADING, AVAILABLE, UNLOADING, END; and what is due next."""

from __future__ import annotations

import enum
import threading
from collections.abc import Iterable
from typing import Any, NamedTuple


class State(enum.IntEnum):
    """Where a version is in its life. The numbers are those of the status on the wire."""

    START = 10
    LOADING = 20
    AVAILABLE = 30
    UNLOADING = 40
    END = 50


NEXT = {
    State.START: {State.LOADING, State.END},
    State.LOADING: {State.AVAILABLE, State.END},
    State.AVAILABLE: {State.UNLOADING},
    State.UNLOADING: {State.END},
    State.END: set(),
}


class ServableId(NamedTuple):
    """A version of a servable."""

    name: str
    version: int

    def __str__(self) -> str:
        return f"{{name: {self.name} version: {self.version}}}"


class Version:
    """One version: its state, whether it is wanted, and who is using it."""

    def __init__(self, name: str, number: int, loader: Any) -> None:
        self.id = ServableId(name, number)
        self.loader = loader
        self.servable: Any = None
        self.state = State.START
        self.error: Exception | None = None
        self.is_aspired = True
        self._users = 0
        self._lock = threading.Lock()
        self._idle = threading.Event()

    def move(self, state: State, error: Exception | None = None) -> None:
        """Goes on to a state that can follow this one."""
        with self._lock:
            if state not in NEXT[self.state]:
                raise RuntimeError(f"{self.id} cannot go from {self.state.name} to {state.name}")
            self.state, self.error = state, error
            if state is State.UNLOADING and not self._users:
                self._idle.set()

    def enter(self) -> bool:
        """Begins a use, which holds off unloading; False where there is nothing to use."""
        with self._lock:
            if self.state is not State.AVAILABLE:
                return False
            self._users += 1
            return True

    def leave(self) -> None:
        """Ends a use."""
        with self._lock:
            self._users -= 1
            if not self._users and self.state is State.UNLOADING:
                self._idle.set()

    def wait_until_idle(self) -> None:
        """Returns when a version that is unloading has no users left."""
        self._idle.wait()


def due(versions: Iterable[Version]) -> list[tuple[Version, State]]:
    """Which versions of a servable should go on, and where to, so that it stays available: what is wanted is loaded first, and what
    is no longer wanted goes when something wanted serves, or when nothing is wanted."""
    versions = list(versions)
    wanted = [v for v in versions if v.is_aspired]
    replaced = not wanted or any(v.state is State.AVAILABLE for v in wanted)
    found = [(v, State.LOADING) for v in sorted(wanted, key=lambda v: -v.id.version) if v.state is State.START]
    for v in versions:
        if not v.is_aspired and v.state is State.START:
            found.append((v, State.END))
        elif not v.is_aspired and v.state is State.AVAILABLE and replaced:
            found.append((v, State.UNLOADING))
    return found
