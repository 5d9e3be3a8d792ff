"""Convolutions with stride one as products of matrices, where our own kernels are faster than the library that torch asks.

Windows of 3 × 3 and 5 × 5 pixels take Winograd's algorithm, which needs three times fewer multiplications."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable
from typing import Any

from everflow import _native
from everflow.graph import dtypes
from everflow.graph.shapes import is_fully_defined
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.nn.windows import pads_of

Kernel = Callable[..., Any]

# The results of so many channels are computed side by side.
GROUP = 16
# A filter of more numbers does not stay near the processor while a picture passes by.
LARGEST = 9 * 256 * 256
# Where AVX-512 can be used, oneDNN is the faster one but for the gradients of filters with windows of so many pixels.
SMALL_WINDOW = 9
# Winograd's algorithm has windows of these sizes. Its matrices are larger than the filter: up to here they stay near the processor too.
TILED = ((3, 3), (5, 5))
LARGEST_TILED = 128 * 128
# Larger ones are worth computing for so many tiles; where they leave the last cache, too, for more, but for their gradients.
FEWEST_TILES, MORE_TILES = 12, 48
LARGE_TILED, LARGEST_SHARED = 256 * 256, 1024 * 1024
# A tile is so many pixels wide, of which some are its neighbours'.
SPAN = 6


def are_finite(x: Any) -> bool:
    """Whether all numbers of a result are. Several windows go through Winograd's algorithm together, so one infinity or NaN spoils the
    results of all, even where it is in none; such pictures are left to others. Sums that are too large only cost time."""
    return math.isfinite(x.sum().item())


class Windows:
    """A Conv2D op, or one of its gradients, whose windows hold several pixels and move by one."""

    def __init__(self, padding: str, filter: tuple[int, ...]) -> None:
        self.padding, self.filter = padding, filter
        tiled = _is_tiled(filter)
        area = filter[2] * filter[3]
        self.is_tiled, self.is_shared = tiled, tiled and area > LARGEST_TILED
        self.fewest = FEWEST_TILES if LARGEST_TILED < area <= LARGE_TILED else MORE_TILES
        self.convolve = _native.convolve_tiles if tiled else _native.convolve
        self.collect = _native.filter_gradient_of_tiles if tiled else _native.filter_gradient
        # The sizes that come along with a step are nearly always the same ones.
        self.fit = functools.lru_cache(maxsize=64)(self._fit)

    @classmethod
    def find(cls, node: Node) -> Windows | None:
        """What is known of such a node; None for any other, and where other kernels do it better."""
        gradient = node.type == "Conv2DBackpropFilter"
        filter = node.outputs[0].dims if gradient else node.inputs[1].dims
        if filter is None or len(filter) != 4 or not is_fully_defined(filter) or not _is_served(filter, gradient):
            return None
        if (
            node.outputs[0].dtype is not dtypes.float32
            or node.attr("data_format") != "NHWC"
            or node.attr("padding") not in ("SAME", "VALID")
            or [*node.attr("strides"), *node.attr("dilations")] != [1] * 8
        ):
            return None
        return cls(node.attr("padding"), filter)

    def _fit(self, shape: Any, threads: int) -> tuple[int, ...] | None:
        """For the shape of pictures: zeros before their rows and columns, and how many windows there are; None for what does not fit."""
        rows, columns, depth, _ = self.filter
        if len(shape) != 4 or shape[3] != depth or (shape[0] < threads and not self.is_tiled):
            return None
        (top, bottom), (left, right) = pads_of(self.padding, shape[1:3], (rows, columns), (1, 1), (1, 1))
        height, width = shape[1] + top + bottom - rows + 1, shape[2] + left + right - columns + 1
        return (top, left, height, width) if height > 0 and width > 0 else None

    def _pays(self, pictures: Any, threads: int, is_gradient: bool = False) -> bool:
        """Whether there are tiles enough in so many pictures, rows and columns of results, where threads share them."""
        if not self.is_tiled or (not self.is_shared and pictures[0] >= threads):
            return True
        side = SPAN + 1 - self.filter[0]
        return pictures[0] * -(-pictures[1] // side) * -(-pictures[2] // side) >= (FEWEST_TILES if is_gradient else self.fewest)

    def forward(self, general: Kernel) -> Kernel:
        """The kernel (x, filter, bias=None) of Conv2D; `general` does what comes in another form."""
        rows, columns, _, channels = self.filter

        def run(x: Any, filter: Any, *bias: Any) -> Any:
            threads = torch.get_num_threads()
            fitted = self.fit(x.shape, threads)
            if fitted is None or not x.is_cpu or not self._pays((x.shape[0], *fitted[2:]), threads):
                return general(x, filter, *bias)
            top, left, height, width = fitted
            y = torch.empty((x.shape[0], height, width, channels))
            x, filter, add = x.contiguous(), filter.contiguous(), [b.contiguous() for b in bias]
            sizes = (*x.shape, rows, columns, channels, top, left, height, width)
            start = add[0].data_ptr() if add else 0
            self.convolve(x.data_ptr(), filter.data_ptr(), start, y.data_ptr(), sizes, False, threads)
            return y if not self.is_tiled or are_finite(y) else general(x, filter, *bias)

        return run

    def input_gradient(self, general: Kernel, read: Callable[[Any], Any]) -> Kernel:
        """The kernel of Conv2DBackpropInput; `read` turns the sizes that it is given into a list."""
        rows, columns, depth, channels = self.filter

        def run(sizes: Any, filter: Any, dy: Any) -> Any:
            threads, shape = torch.get_num_threads(), read(sizes)
            fitted = self.fit(tuple(shape), threads)
            if fitted is None or not dy.is_cpu or tuple(dy.shape) != (shape[0], *fitted[2:], channels):
                return general(sizes, filter, dy)
            if not self._pays(shape, threads):
                return general(sizes, filter, dy)
            top, left, height, width = fitted
            dx = torch.empty(shape)
            dy, filter = dy.contiguous(), filter.contiguous()
            # Every pixel of the input is reached from the windows around it: those before it begin a window's length earlier.
            begins = (*dy.shape, rows, columns, depth, rows - 1 - top, columns - 1 - left, shape[1], shape[2])
            self.convolve(dy.data_ptr(), filter.data_ptr(), 0, dx.data_ptr(), begins, True, threads)
            return dx if not self.is_tiled or are_finite(dx) else general(sizes, filter, dy)

        return run

    def filter_gradient(self, general: Kernel, read: Callable[[Any], Any]) -> Kernel:
        """The kernel of Conv2DBackpropFilter."""
        rows, columns, _, channels = self.filter

        def run(x: Any, sizes: Any, dy: Any) -> Any:
            threads = torch.get_num_threads()
            fitted = self.fit(x.shape, threads)
            if (
                fitted is None
                or not x.is_cpu
                or tuple(dy.shape) != (x.shape[0], *fitted[2:], channels)
                or tuple(read(sizes)) != self.filter
                or not self._pays((x.shape[0], *fitted[2:]), threads, True)
            ):
                return general(x, sizes, dy)
            found = torch.empty(self.filter)
            x, dy = x.contiguous(), dy.contiguous()
            begins = (*x.shape, rows, columns, channels, *fitted)
            self.collect(x.data_ptr(), dy.data_ptr(), found.data_ptr(), begins, threads)
            return found if not self.is_tiled or are_finite(found) else general(x, sizes, dy)

        return run


def _is_served(filter: Any, gradient: bool) -> bool:
    rows, columns, depth, channels = filter
    kind = _native.processor()
    if rows * columns < 2 or depth % GROUP or channels % GROUP or not depth * channels or kind == "baseline":
        return False
    if _is_tiled(filter):
        return True
    return rows * columns * depth * channels <= LARGEST and (kind == "avx2" or (gradient and rows * columns <= SMALL_WINDOW))


def _is_tiled(filter: Any) -> bool:
    rows, columns, depth, channels = filter
    return (rows, columns) in TILED and depth * channels <= LARGEST_SHARED and may_be_tiled()


def may_be_tiled() -> bool:
    """Whether Winograd's algorithm may be used. TensorFlow's switch for it, made for GPUs, turns it off here too."""
    return os.environ.get("TF_ENABLE_WINOGRAD_NONFUSED", "1").lower() not in ("0", "false")
