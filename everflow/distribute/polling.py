"""Has gRPC read and write in the threads that wait for it, where its version can. It is told so before it is imported first."""

from __future__ import annotations

import importlib.metadata
import os

# Later versions hand each event from a thread of their own to the one that waits, unless they are told not to; those after these were
# not tried, and complain of words that they don't know.
_FIRST, _LAST = (1, 63), (1, 85)


def settings(version: str) -> str | None:
    """What `GRPC_EXPERIMENTS` says for a version of grpcio."""
    numbers = tuple(int(n) for n in version.split(".")[:2])
    return "-event_engine_client,-event_engine_listener" if _FIRST <= numbers <= _LAST else None


if (_found := settings(importlib.metadata.version("grpcio"))) is not None:
    os.environ.setdefault("GRPC_EXPERIMENTS", _found)
