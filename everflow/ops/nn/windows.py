"""The geometry of sliding windows, which convolutions and pooling share."""

from __future__ import annotations

from typing import Any

Pads = tuple[tuple[int, int], ...]


class Layout:
    """Where a data format such as NHWC or NCDHW has its batch, channels and spatial axes."""

    def __init__(self, data_format: str) -> None:
        self.format = data_format
        self.rank = len(data_format)
        self.channel = data_format.index("C")
        self.batch = data_format.index("N")
        self.spatial = [i for i, letter in enumerate(data_format) if letter not in "NC"]
        # Axis orders from this format to the one that torch computes in, and back.
        self.to_torch = (self.batch, self.channel, *self.spatial)
        self.from_torch = tuple(self.to_torch.index(i) for i in range(self.rank))
        self.channels_last = self.channel == self.rank - 1

    def window(self, values: Any) -> list[int]:
        """The spatial part of an attribute with a value for each axis."""
        return [values[i] for i in self.spatial]

    def dims(self, batch: Any, channels: Any, spatial: Any) -> tuple[Any, ...]:
        """A shape in this format."""
        found = [None] * self.rank
        found[self.batch], found[self.channel] = batch, channels
        for i, size in zip(self.spatial, spatial):
            found[i] = size
        return tuple(found)


def reach(window: int, dilation: int) -> int:
    """How far a dilated window extends."""
    return (window - 1) * dilation + 1


def window_output(
    size: int | None, window: int | None, stride: int, padding: str, dilation: int = 1, explicit: tuple[int, int] = (0, 0)
) -> int | None:
    """How many windows fit along an axis; ValueError if not even one does."""
    if stride <= 0:
        raise ValueError(f"Stride must be > 0, but got {stride}")
    if dilation < 1:
        raise ValueError(f"Dilation rate must be >= 1, but got {dilation}")
    if size is None:
        return None
    if padding == "SAME":
        return -(-size // stride)
    if window is None:
        return None
    padded = size + sum(explicit) if padding == "EXPLICIT" else size
    extent = reach(window, dilation)
    if padded < extent:
        raise ValueError(f"Negative dimension size caused by subtracting {extent} from {padded}")
    return (padded - extent) // stride + 1


def same_pads(size: int, window: int, stride: int, dilation: int = 1) -> tuple[int, int]:
    """What SAME adds before and after an axis; the odd one comes after."""
    total = max(0, (-(-size // stride) - 1) * stride + reach(window, dilation) - size)
    return total // 2, total - total // 2


def pads_of(padding: str, sizes: Any, windows: Any, strides: Any, dilations: Any, explicit: Any = ()) -> Pads:
    """The padding before and after each spatial axis."""
    if padding == "SAME":
        return tuple(same_pads(*axis) for axis in zip(sizes, windows, strides, dilations))
    if padding == "EXPLICIT":
        return tuple(explicit)
    return ((0, 0),) * len(strides)


def symmetric(pads: Pads) -> list[int] | None:
    """The padding as torch's kernels take it, or None where the two sides differ."""
    return [before for before, _ in pads] if all(before == after for before, after in pads) else None
