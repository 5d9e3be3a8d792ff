"""Catching what is written to a file descriptor, also by native code."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from typing import Any

from everflow.api import internal


@internal("framework.test_util.CapturedWrites")
class CapturedWrites:
    """What was written while the block ran."""

    def __init__(self, capture_location: str) -> None:
        self.capture_location = capture_location

    def contents(self) -> str:
        with open(self.capture_location, newline="") as f:
            return f.read()


@contextlib.contextmanager
def captured(stream: Any, folder: str) -> Iterator[CapturedWrites]:
    """Sends the stream's file descriptor to a file in `folder` while the block runs."""
    descriptor = stream.fileno()
    handle, location = tempfile.mkstemp(dir=folder)
    saved = os.dup(descriptor)
    stream.flush()
    os.dup2(handle, descriptor)
    try:
        yield CapturedWrites(location)
    finally:
        stream.flush()
        os.dup2(saved, descriptor)
        os.close(saved)
        os.close(handle)
