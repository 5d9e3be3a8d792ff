"""Convolutions that halve pictures with windows of 4 × 4, and their gradients, one of which doubles pictures: generators and discriminators
are made of them. Winograd's algorithm needs 2.56 times fewer multiplications than the library that torch asks."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from everflow import _native
from everflow.graph import dtypes
from everflow.graph.shapes import is_fully_defined
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.nn.window_convolutions import GROUP, are_finite, may_be_tiled
from everflow.ops.nn.windows import pads_of

Kernel = Callable[..., Any]

# The matrices that a filter becomes have to stay near the processor.
LARGEST = 256 * 256


class Halving:
    """A Conv2D op, or one of its gradients, with windows of 4 x 4 that move by two."""

    def __init__(self, padding: str, filter: tuple[int, ...]) -> None:
        self.padding, self.filter = padding, filter
        # The sizes that come along with a step are nearly always the same ones.
        self.fit = functools.lru_cache(maxsize=64)(self._fit)

    @classmethod
    def find(cls, node: Node) -> Halving | None:
        """What is known of such a node; None for any other, and where other kernels do it better."""
        filter = node.outputs[0].dims if node.type == "Conv2DBackpropFilter" else node.inputs[1].dims
        if filter is None or len(filter) != 4 or filter[:2] != (4, 4) or not is_fully_defined(filter):
            return None
        _, _, depth, channels = filter
        if depth % GROUP or channels % GROUP or not 0 < depth * channels <= LARGEST:
            return None
        if (
            node.outputs[0].dtype is not dtypes.float32
            or node.attr("data_format") != "NHWC"
            or node.attr("padding") not in ("SAME", "VALID")
            or node.attr("strides") != [1, 2, 2, 1]
            or node.attr("dilations") != [1, 1, 1, 1]
            or _native.processor() == "baseline"
            or not may_be_tiled()
        ):
            return None
        return cls(node.attr("padding"), filter)

    def _fit(self, shape: Any) -> tuple[int, ...] | None:
        """For the shape of pictures, what native code wants to know; None for what does not fit."""
        _, _, depth, channels = self.filter
        if len(shape) != 4 or shape[3] != depth or 0 in shape:
            return None
        (top, bottom), (left, right) = pads_of(self.padding, shape[1:3], (4, 4), (2, 2), (1, 1))
        height, width = (shape[1] + top + bottom - 2) // 2, (shape[2] + left + right - 2) // 2
        return (*shape, channels, top, left, height, width) if height > 0 and width > 0 else None

    def _fit_gradient(self, shape: Any, dy: Any) -> tuple[int, ...] | None:
        sizes = self.fit(tuple(shape))
        return sizes if sizes is not None and dy.is_cpu and tuple(dy.shape) == (sizes[0], *sizes[7:], sizes[4]) else None

    def forward(self, general: Kernel) -> Kernel:
        """The kernel (x, filter, bias=None) of Conv2D; `general` does what comes in another form."""

        def run(x: Any, filter: Any, *bias: Any) -> Any:
            sizes = self.fit(x.shape)
            if sizes is None or not x.is_cpu:
                return general(x, filter, *bias)
            y = torch.empty((sizes[0], *sizes[7:], sizes[4]))
            x, filter, add = x.contiguous(), filter.contiguous(), [b.contiguous() for b in bias]
            start = add[0].data_ptr() if add else 0
            _native.halve(x.data_ptr(), filter.data_ptr(), start, y.data_ptr(), sizes, torch.get_num_threads())
            return y if are_finite(y) else general(x, filter, *bias)

        return run

    def input_gradient(self, general: Kernel, read: Callable[[Any], Any]) -> Kernel:
        """The kernel of Conv2DBackpropInput; `read` turns the sizes that it is given into a list."""

        def run(shape: Any, filter: Any, dy: Any) -> Any:
            sizes = self._fit_gradient(read(shape), dy)
            if sizes is None:
                return general(shape, filter, dy)
            dx = torch.zeros(sizes[:4])
            dy, filter = dy.contiguous(), filter.contiguous()
            _native.input_gradient_of_halving(dy.data_ptr(), filter.data_ptr(), dx.data_ptr(), sizes, torch.get_num_threads())
            return dx if are_finite(dx) else general(shape, filter, dy)

        return run

    def filter_gradient(self, general: Kernel, read: Callable[[Any], Any]) -> Kernel:
        """The kernel of Conv2DBackpropFilter."""

        def run(x: Any, shape: Any, dy: Any) -> Any:
            sizes = self._fit_gradient(x.shape, dy)
            if sizes is None or tuple(read(shape)) != self.filter:
                return general(x, shape, dy)
            found = torch.empty(self.filter)
            x, dy = x.contiguous(), dy.contiguous()
            _native.filter_gradient_of_halving(x.data_ptr(), dy.data_ptr(), found.data_ptr(), sizes, torch.get_num_threads())
            return found if are_finite(found) else general(x, shape, dy)

        return run
