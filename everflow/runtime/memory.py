"""Memory that a step frees is there for the next: handing it back to the system and asking for it again costs a page fault a page."""
from __future__ import annotations

import ctypes
import functools
import os
import platform

# mallopt's names for: how much free memory at the end of the heap is kept, and from which size on memory is mapped by itself.
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
KEPT, MAPPED = 128 << 20, 32 << 20


@functools.cache
def keep_freed_memory() -> None:
    """Tells the C library, where it is glibc and its user has not told it otherwise, to keep what steps free."""
    if platform.libc_ver()[0] != "glibc" or any(name.startswith("MALLOC_") for name in os.environ):
        return
    library = ctypes.CDLL(None)
    library.mallopt(TRIM_THRESHOLD, KEPT)
    library.mallopt(MMAP_THRESHOLD, MAPPED)
