"""Memory that a step frees is there for the next: handing it back to the system and asking for it again costs a page fault a page.

It lies on large pages where the system has them: the tables of small ones for hundreds of megabytes don't fit into a processor's caches.

The C library maps results of 32 megabytes and more by themselves, and gives them back at once. Where a step is seen to ask for them and
to give them back in its runs, they come from the heap as well, which is given back when a session ends.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import platform

try:
    import resource
except ImportError:  # Windows, whose C library is not told anything here
    resource = None  # type: ignore[assignment]

# mallopt's names for: how much free memory at the end of the heap is kept, how much more than needed is asked for, from which
# size on memory is mapped by itself, and how often.
TRIM_THRESHOLD, TOP_PAD, MMAP_THRESHOLD, MMAP_MAX = -1, -2, -3, -4
KEPT, RESERVED, MAPPED = 128 << 20, 256 << 20, 32 << 20
# What is kept may fit together worse than what is mapped: a process that has taken more than this share of all memory keeps to mapping.
MOST = 0.7
# After so many runs of a step its memory has found its place; so many are watched. So many bytes that pass through one run are enough.
SETTLING, WATCHED = 2, 64
MUCH = 1 << 30
# So many bytes between what is in use are given back.
HOLES = 16 << 20
# madvise's name for large pages, and their size.
LARGE_PAGES, LARGE_PAGE = 14, 2 << 20


@functools.cache
def _is_ours() -> bool:
    """Whether the C library is one that can be told what to keep, and its user has not told it otherwise."""
    return platform.libc_ver()[0] == "glibc" and not any(name.startswith("MALLOC_") for name in os.environ)


@functools.cache
def keep_freed_memory() -> None:
    """Tells the C library to keep what steps free."""
    if not _is_ours():
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
    """Gives the system what is free between what is in use, where that is much. Large tensors leave holes of their size;
    small ones that come to lie there make these too small for the next large one, which lies elsewhere: so a first run may leave what no
    later one uses."""
    library = _glibc()
    if library is not None:
        use = library.mallinfo2()
        if use.fordblks - use.keepcost > HOLES:
            library.malloc_trim(KEPT)


def passing() -> int:
    """The bytes that the system gave this process so far and has got back."""
    if not _is_ours():
        return 0
    with open("/proc/self/statm", "rb", buffering=0) as sizes:
        return mmap.PAGESIZE * (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - int(sizes.read().split()[1]))


class Settling:
    """The first runs of a step, by which its memory finds its place."""

    __slots__ = ("_runs",)

    def __init__(self) -> None:
        self._runs = 0

    def ran(self, passed: int) -> bool:
        """Takes notice of a run that was given so many bytes and gave them back; tells whether it was the last to be watched."""
        self._runs += 1
        if passed > (MAPPED if self._runs > 1 else MUCH):
            keep_large_blocks()
            return True
        if self._runs <= SETTLING and not _kept:
            give_back_holes()
        return self._runs == WATCHED


# Holds something once large blocks are kept.
_kept: list[bool] = []


def keep_large_blocks() -> None:
    """Has what is large come from the heap too, and the heap never shrink by itself."""
    if _kept or not _is_ours():
        return
    total = os.sysconf("SC_PHYS_PAGES") * mmap.PAGESIZE
    library = ctypes.CDLL(None)
    if (
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 < MOST * total
        and library.mallopt(MMAP_MAX, 0)
        and library.mallopt(TRIM_THRESHOLD, -1)
    ):
        _kept.append(True)


def give_back_large_blocks() -> None:
    """Gives the system what of the heap is free, if large blocks are kept."""
    if _kept:
        ctypes.CDLL(None).malloc_trim(KEPT)
