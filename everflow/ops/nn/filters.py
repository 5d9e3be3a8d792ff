"""Filters of convolutions between TensorFlow's axes (sizes of the window, input channels, output channels) and torch's (output channels,
input channels, sizes).

Where channels are the last axis of pictures, libraries have the input channels last in filters too: that is the transposed matrix of
TensorFlow's order in memory. Copying it so is several times faster than copying number by number in another order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow import _native
from everflow.lazy import torch
from everflow.ops.nn.windows import Layout

ORDERS = {4: (3, 2, 0, 1), 5: (4, 3, 0, 1, 2)}
BACK = {4: (2, 3, 1, 0), 5: (2, 3, 4, 1, 0)}

# Fewer numbers are copied by torch.
FEWEST = 1 << 13


def for_torch(layout: Layout) -> Callable[[Any], Any]:
    """What brings a filter into torch's order of axes, and a large one into the order of memory in which it is read."""
    order = ORDERS[layout.rank]

    def run(filter: Any) -> Any:
        if not _is_plain(filter):
            return filter.permute(order)
        *inner, channels = filter.shape
        found = transposed(filter.view(-1, channels)).view(channels, *inner)
        return found.permute(0, len(inner), *range(1, len(inner)))

    return run if layout.channels_last else lambda filter: filter.permute(order)


def from_torch(layout: Layout) -> Callable[[Any], Any]:
    """What brings a filter's gradient back. Optimizers read it many times, so it lies in TensorFlow's order in memory, too."""
    back = BACK[layout.rank]
    channels_last = (0, *range(2, layout.rank), 1)

    def run(found: Any) -> Any:
        places = found.permute(channels_last)
        if not _is_plain(places):
            return found.permute(back).contiguous()
        channels, *inner = places.shape
        return transposed(places.view(channels, -1)).view(*inner, channels)

    return run


def _is_plain(x: Any) -> bool:
    return x.dtype is torch.float32 and x.is_cpu and x.numel() >= FEWEST and x.is_contiguous()


def transposed(x: Any) -> Any:
    """A transposed copy of a matrix of float32 whose rows follow each other."""
    rows, columns = x.shape
    found = torch.empty((columns, rows))
    _native.transpose(x.data_ptr(), rows, columns, found.data_ptr(), torch.get_num_threads())
    return found
