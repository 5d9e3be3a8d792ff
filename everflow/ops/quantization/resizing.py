"""Quantized pictures of another size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.graph import dtypes, shapes
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import op
from everflow.ops.image.resizing import Sampling, bilinear, check_images, checked_sampling, checked_size, linear_taps, resized_shape
from everflow.values.tensors import torch_dtype

# How finely TensorFlow's whole numbers tell apart the places between two pixels.
_BITS = {dtypes.quint8: 7, dtypes.qint32: 28}


def _bilinear(node: Node) -> Callable[..., Any]:
    dtype = node.attr("T").base_dtype
    if dtype is dtypes.float32:
        resize = bilinear(node)
        return lambda images, size, low, high: (resize(images, size), low, high)
    sampling, bits, kind = checked_sampling(node), _BITS[dtype], torch_dtype(dtype)

    def run(images: Any, size: Any, low: Any, high: Any) -> Any:
        height, width = checked_size(size)
        check_images(images, height, width)
        if (height, width) == tuple(images.shape[1:3]):
            return images, low, high
        # Levels of 32 bits are taken for floats on their way.
        return _between(images.to(torch.float32).long(), height, width, sampling, bits).to(kind), low, high

    return run


def _between(images: Any, height: int, width: int, sampling: Sampling, bits: int) -> Any:
    """Levels between levels, in fixed point: of the difference of two rows only whole levels count."""
    (above, below), down = _taps(images.shape[1], height, sampling, bits)
    (left, right), along = _taps(images.shape[2], width, sampling, bits)
    along, down = along.view(-1, 1), down.view(-1, 1, 1)
    starts, ends = images.index_select(2, left), images.index_select(2, right)
    columns = (starts << bits) + (ends - starts) * along
    top, bottom = columns.index_select(1, above), columns.index_select(1, below)
    found = top + _divided(bottom - top, bits) * down
    return _divided(found + (1 << (bits - 1)), bits)


def _taps(size: int, new_size: int, sampling: Sampling, bits: int) -> tuple[list[Any], Any]:
    places, (_, share) = linear_taps(size, new_size, sampling)
    return places, (share.double() * (1 << bits)).long()


def _divided(x: Any, bits: int) -> Any:
    return torch.div(x, 1 << bits, rounding_mode="trunc")


def _shape(o: Operation) -> Any:
    for t in o.inputs[2:]:
        shapes.with_rank(t.dims, 0)
    return [resized_shape(o), (), ()]


op("QuantizedResizeBilinear", kernel=_bilinear, shape=_shape, view=True)
