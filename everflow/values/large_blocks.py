"""Memory for results so large that the C library finds no place for them twice: what is smaller comes to lie where they were, so they
wander through its heap, or are mapped anew each time, a page fault a page. Here a block is mapped once, and kept for the next one."""

from __future__ import annotations

import collections
import mmap
import weakref
from typing import Any

import numpy as np

from everflow.lazy import torch

# From so many bytes on, glibc maps what doesn't fit into its heap, whatever it is told.
LARGE = 32 << 20

_spare: collections.defaultdict[int, list[mmap.mmap]] = collections.defaultdict(list)


def empty_like(tensor: Any) -> Any:
    """What torch.empty_like gives for a tensor without gaps in the processor's memory, of float32."""
    size = tensor.nbytes
    if size < LARGE:
        return torch.empty_like(tensor)
    try:
        block = _spare[size].pop()
    except IndexError:
        # Other sizes are wanted than before: those may not come again.
        _spare.clear()
        block = _mapped(size)
    numbers = np.frombuffer(block, np.float32)
    weakref.finalize(numbers, _keep, block).atexit = False
    return torch.from_numpy(numbers).view(tensor.shape)


def _keep(block: mmap.mmap) -> None:
    _spare[len(block)].append(block)


def _mapped(size: int) -> mmap.mmap:
    if not hasattr(mmap, "MAP_PRIVATE"):
        return mmap.mmap(-1, size)
    block = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        try:
            block.madvise(mmap.MADV_HUGEPAGE)
        except OSError:  # A system without large pages says no, and nothing is lost.
            pass
    return block
