"""Memory that a step frees is there for the next: handing it back to the system and asking for it again costs a page fault a page.

It lies on large pages where the system has them: the tables of small ones for hundreds of megabytes don't fit into a processor's caches.
"""

from __future__ import annotations

import ctypes
import functools
import os
import platform

# mallopt's names for: how much free memory at the end of the heap is kept, how much more than needed is asked for, and from which
# size on memory is mapped by itself.
TRIM_THRESHOLD, TOP_PAD, MMAP_THRESHOLD = -1, -2, -3
KEPT, RESERVED, MAPPED = 128 << 20, 256 << 20, 32 << 20
# So many bytes between what is in use are given back.
HOLES = 16 << 20
# madvise's name for large pages, and their size.
LARGE_PAGES, LARGE_PAGE = 14, 2 << 20


@functools.cache
def keep_freed_memory() -> None:
    """Tells the C library, where it is glibc and its user has not told it otherwise, to keep what steps free."""
    if platform.libc_ver()[0] != "glibc" or any(name.startswith("MALLOC_") for name in os.environ):
        return
    library = ctypes.CDLL(None)
    library.mallopt(TRIM_THRESHOLD, KEPT)
    library.mallopt(MMAP_THRESHOLD, MAPPED)
    if platform.system() == "Linux":
        _reserve_large_pages(library)


def _reserve_large_pages(library: ctypes.CDLL) -> None:
    """Lets the heap grow once, in addresses only, and asks for large pages there. A system without them says no, and nothing is lost."""
    library.sbrk.restype = library.malloc.restype = ctypes.c_void_p
    library.sbrk.argtypes = [ctypes.c_ssize_t]
    library.malloc.argtypes = [ctypes.c_size_t]
    library.free.argtypes = [ctypes.c_void_p]
    library.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    begin = library.sbrk(0)
    library.mallopt(TOP_PAD, RESERVED)
    library.free(library.malloc(MAPPED - LARGE_PAGE))
    begin, end = -(-begin // LARGE_PAGE) * LARGE_PAGE, library.sbrk(0) // LARGE_PAGE * LARGE_PAGE
    if end > begin:
        library.madvise(begin, end - begin, LARGE_PAGES)


class _Use(ctypes.Structure):
    """What glibc's mallinfo2 tells of the heap; `fordblks`: free bytes, `keepcost`: those at its end."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")
    ]


@functools.cache
def _glibc() -> ctypes.CDLL | None:
    """The C library, where it is a glibc that can tell what is free."""
    library = ctypes.CDLL(None) if platform.libc_ver()[0] == "glibc" else None
    if library is None or not hasattr(library, "mallinfo2"):
        return None
    library.mallinfo2.restype = _Use
    return library


def give_back_holes() -> None:
    """Gives the system what is free between what is in use, where that is much. Large tensors leave holes of their size; small ones that
    come to lie there make these too small for the next large one, which lies elsewhere: so a first run may leave what no later one uses."""
    library = _glibc()
    if library is not None:
        use = library.mallinfo2()
        if use.fordblks - use.keepcost > HOLES:
            library.malloc_trim(KEPT)
