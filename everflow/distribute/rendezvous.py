"""Where the parts of a step meet: who makes a tensor leaves it under a key, who needs it takes it, whichever comes first."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from everflow import errors


class Parcel(NamedTuple):
    """A tensor that is handed over. A dead one comes from a branch that was not taken."""

    value: Any
    dtype: Any
    is_dead: bool = False


# What a taker is called with: a parcel, or the error that ended the step.
Taker = Callable[[Any], None]


def key_of(node_attr: Callable[[str], Any], frame: int = 0, iteration: int = 0) -> str:
    """What a tensor that is sent or received is called on the wire."""
    incarnation = node_attr("send_device_incarnation") & (2**64 - 1)
    sender, receiver, name = (_text(node_attr(a)) for a in ("send_device", "recv_device", "tensor_name"))
    return f"{sender};{incarnation:016x};{receiver};{name};{frame}:{iteration}"


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else value


class Rendezvous:
    """The tensors of one step that are on their way."""

    def __init__(self) -> None:
        self._parcels: dict[str, list[Parcel]] = {}
        self._takers: dict[str, list[Taker]] = {}
        self._failure: errors.OpError | None = None
        self._lock = threading.Lock()

    def leave(self, key: str, parcel: Parcel) -> None:
        """Hands a tensor to who waits for it, or keeps it for who will come."""
        with self._lock:
            waiting = self._takers.get(key)
            if not waiting:
                self._parcels.setdefault(key, []).append(parcel)
                return
            taker = waiting.pop(0)
        taker(parcel)

    def take(self, key: str, taker: Taker) -> None:
        """Calls `taker` with the tensor of a key as soon as it is there, or with what went wrong."""
        with self._lock:
            found: Any = self._failure
            if kept := self._parcels.get(key):
                found = kept.pop(0)
            elif found is None:
                self._takers.setdefault(key, []).append(taker)
                return
        taker(found)

    def fail(self, error: errors.OpError) -> None:
        """Ends the step for all who wait and will wait."""
        with self._lock:
            self._failure = self._failure or error
            takers = [t for waiting in self._takers.values() for t in waiting]
            self._takers.clear()
        for taker in takers:
            taker(self._failure)


class Meetings:
    """The rendezvous of the steps that a server takes part in. Who receives may come before the step has begun here."""

    def __init__(self) -> None:
        self._steps: dict[int, Rendezvous] = {}
        self._lock = threading.Lock()

    def of(self, step: int) -> Rendezvous:
        """Where the parts of a step meet."""
        with self._lock:
            return self._steps.setdefault(step, Rendezvous())

    def end(self, step: int) -> None:
        """Forgets a step."""
        with self._lock:
            found = self._steps.pop(step, None)
        if found is not None:
            found.fail(errors.AbortedError(None, None, f"Cleanup {step}"))
