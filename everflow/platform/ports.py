"""Ports of this machine."""

from __future__ import annotations

import contextlib
import socket


def free_ports(count: int = 1) -> list[int]:
    """Ports that nobody listens at; held all at once, so that no two are the same."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("localhost", 0))
        return [one.getsockname()[1] for one in sockets]
