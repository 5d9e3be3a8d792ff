"""Convolutions whose windows are single pixels: products of each pixel's channels with a matrix, without a library's detours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow._native import multiply_by_pixel, sum_products
from everflow.graph import dtypes
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.linalg.matrix_products import limits, put_product

Kernel = Callable[..., Any]

# A filter of more numbers does not stay near the processor while pixels pass by: general products of matrices cut it into pieces then.
LARGEST = 128 * 128
# The results of so many channels are computed side by side.
GROUP = 16


class Pointwise:
    """A Conv2D op, or one of its gradients, with a window of one pixel: its strides and how many channels there are on both sides."""

    def __init__(self, strides: tuple[int, int], depth: int, channels: int) -> None:
        self.strides, self.depth, self.channels = strides, depth, channels
        self.is_large = depth * channels > LARGEST

    @classmethod
    def find(cls, node: Node) -> Pointwise | None:
        """What is known of such a node; None for any other, and where other kernels do it."""
        filter = node.outputs[0].dims if node.type == "Conv2DBackpropFilter" else node.inputs[1].dims
        if filter is None or len(filter) != 4 or filter[:2] != (1, 1):
            return None
        _, _, depth, channels = filter
        if not depth or not channels:
            return None
        if depth * channels > LARGEST:
            if limits() is None:
                return None
        elif depth % GROUP or channels % GROUP:
            return None
        strides = node.attr("strides")
        if (
            node.outputs[0].dtype is not dtypes.float32
            or node.attr("data_format") != "NHWC"
            or node.attr("padding") == "EXPLICIT"
            or strides[0] != 1
            or strides[3] != 1
            or min(strides) < 1
            or node.attr("dilations") != [1, 1, 1, 1]
        ):
            return None
        return cls((strides[1], strides[2]), depth, channels)

    def seen(self, x: Any) -> Any:
        """The pixels that count."""
        down, right = self.strides
        return x if down == right == 1 else x[:, ::down, ::right]

    def multiply(self, x: Any, filter: Any, y: Any, add: bool, bias: Any = None, rectify: bool = False) -> None:
        """y = x filter, or y += x filter, for the pixels that are given."""
        if self.is_large:
            self._multiply_matrices(x, filter, y, add, bias, rectify)
            return
        filter = filter.contiguous()
        depth, channels = filter.shape
        multiply_by_pixel(
            x.data_ptr(),
            places(x),
            filter.data_ptr(),
            y.data_ptr(),
            places(y),
            depth,
            channels,
            add,
            0 if bias is None else bias.data_ptr(),
            rectify,
            torch.get_num_threads(),
        )

    def _multiply_matrices(self, x: Any, filter: Any, y: Any, add: bool, bias: Any, rectify: bool) -> None:
        pixels, (depth, channels) = x.reshape(-1, x.shape[3]), filter.shape
        if depth == 1 or channels == 1:
            filter = filter.contiguous()
        if y.is_contiguous():
            put_product(pixels, filter, y.view(-1, channels), bias, add, rectify)
            return
        found = torch.empty(y.shape)
        put_product(pixels, filter, found.view(-1, channels), bias, False, rectify)
        if add:
            y.add_(found)
        else:
            y.copy_(found)

    def forward(self, general: Kernel) -> Kernel:
        """The kernel of Conv2D; `general` does what comes in another form."""

        def run(x: Any, filter: Any, *bias: Any) -> Any:
            return self.convolve(x, filter, *bias) if self.fits(x, self.depth) else general(x, filter, *bias)

        return run

    def convolve(self, x: Any, filter: Any, bias: Any = None, rectify: bool = False, y: Any = None) -> Any:
        """The convolution, put into `y` if that is given."""
        seen = self.seen(x)
        y = torch.empty((*seen.shape[:3], self.channels)) if y is None else y
        self.multiply(seen, filter.view(self.depth, self.channels), y, False, bias, rectify)
        return y

    def input_gradient(self, general: Kernel, read: Callable[[Any], Any]) -> Kernel:
        """The kernel of Conv2DBackpropInput; `read` turns the sizes that it is given into a list."""

        def run(sizes: Any, filter: Any, dy: Any) -> Any:
            shape = read(sizes)
            if not self.fits(dy, self.channels) or not self.agree(shape, dy.shape):
                return general(sizes, filter, dy)
            dx = torch.empty(shape) if self.strides == (1, 1) else torch.zeros(shape)
            self.multiply(dy, filter.view(self.depth, self.channels).t(), self.seen(dx), False)
            return dx

        return run

    def filter_gradient(self, general: Kernel, read: Callable[[Any], Any]) -> Kernel:
        """The kernel of Conv2DBackpropFilter."""

        def run(x: Any, sizes: Any, dy: Any) -> Any:
            if (
                not self.fits(x, self.depth)
                or not self.fits(dy, self.channels)
                or not self.agree(x.shape, dy.shape)
                or list(read(sizes)) != [1, 1, self.depth, self.channels]
            ):
                return general(x, sizes, dy)
            seen = self.seen(x)
            found = torch.empty((1, 1, self.depth, self.channels))
            if self.is_large:
                rows, columns = seen.reshape(-1, self.depth), dy.reshape(-1, self.channels)
                put_product(rows.t(), columns, found.view(self.depth, self.channels))
                return found
            sum_products(
                seen.data_ptr(),
                places(seen),
                dy.data_ptr(),
                places(dy),
                found.data_ptr(),
                self.depth,
                self.channels,
                torch.get_num_threads(),
            )
            return found

        return run

    def result_shape(self, x: Any) -> tuple[int, ...]:
        return x.shape[0], -(-x.shape[1] // self.strides[0]), -(-x.shape[2] // self.strides[1]), self.channels

    def fits(self, x: Any, channels: int) -> bool:
        """Whether these are pictures in the processor's memory with so many channels, one beside the other."""
        return x.is_cpu and x.dim() == 4 and x.shape[3] == channels and x.stride(3) == 1 and x.numel() > 0

    def agree(self, x: Any, y: Any) -> bool:
        """Whether the sizes of a result follow from those of what is convolved."""
        return (
            len(x) == 4
            and x[0] == y[0]
            and x[3] == self.depth
            and y[3] == self.channels
            and all(-(-size // stride) == found for size, stride, found in zip(x[1:3], self.strides, y[1:3]))
        )


def places(x: Any) -> tuple[int, ...]:
    """How many pixels there are, and how far apart."""
    return *x.shape[:3], *x.stride()[:3]


def added_forward(node: Node, general: Kernel) -> Kernel:
    """The kernel (base, x, filter) that adds what a Conv2D node computes to a tensor that nothing else needs."""
    of = Pointwise.find(node)
    assert of is not None

    def run(base: Any, x: Any, filter: Any) -> Any:
        if of.fits(x, of.depth) and of.fits(base, of.channels) and of.agree(x.shape, base.shape):
            of.multiply(of.seen(x), filter.view(of.depth, of.channels), base, True)
            return base
        return base + general(x, filter)

    return run


def added_input_gradient(node: Node, general: Kernel, read: Callable[[Any], Any]) -> Kernel:
    """As above, for a Conv2DBackpropInput node: (base, sizes, filter, dy)."""
    of = Pointwise.find(node)
    assert of is not None

    def run(base: Any, sizes: Any, filter: Any, dy: Any) -> Any:
        shape = read(sizes)
        if of.fits(dy, of.channels) and of.fits(base, of.depth) and list(base.shape) == list(shape) and of.agree(shape, dy.shape):
            of.multiply(dy, filter.view(of.depth, of.channels).t(), of.seen(base), True)
            return base
        return base + general(sizes, filter, dy)

    return run
