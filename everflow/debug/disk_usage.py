"""How many bytes of tensors this process has dumped to files, and the limit to it.

The limit is 100 GiB, or what TFDBG_DISK_BYTES_LIMIT says; 0 or less is none.
"""

from __future__ import annotations

import os
import threading

DEFAULT_LIMIT = 100 * 2**30

_lock = threading.Lock()
_used = 0


def reset() -> None:
    """Counts from nothing."""
    global _used
    with _lock:
        _used = 0


def take(size: int) -> None:
    """Counts bytes that are to be written; ValueError if that is more than the limit."""
    global _used
    text = os.environ.get("TFDBG_DISK_BYTES_LIMIT", "")
    limit = int(text) if text.strip().isdigit() else DEFAULT_LIMIT
    with _lock:
        if 0 < limit < _used + size:
            raise ValueError(
                f"Dumping {size} more bytes of tensors would exceed the debugger's limit of {limit} bytes. The environment variable "
                "TFDBG_DISK_BYTES_LIMIT sets another limit."
            )
        _used += size
