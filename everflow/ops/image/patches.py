"""Patches of images and volumes laid side by side in the depth: extract_image_patches, extract_volume_patches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.errors import unimplemented
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.arrays.reshaping import renamed_argument
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op

Kernel = Callable[..., Any]


def _window(node: Node | Operation) -> tuple[list[int], list[int], list[int], str]:
    """Sizes, strides and rates over space, and the padding."""
    sizes, strides = node.attr("ksizes"), node.attr("strides")
    rates = node.attr("rates") if "rates" in node.attrs else [1] * len(sizes)
    padding = node.attr("padding")
    padding = padding.decode() if isinstance(padding, bytes) else padding
    return list(sizes[1:-1]), list(strides[1:-1]), list(rates[1:-1]), padding


def _extent(size: int, window: int, stride: int, same: bool) -> tuple[int, int, int]:
    """How many windows fit along a dimension, and the padding before and after it."""
    if not same:
        return max(0, (size - window + stride) // stride), 0, 0
    count = -(-size // stride)
    needed = max(0, (count - 1) * stride + window - size)
    return count, needed // 2, needed - needed // 2


def _extract(node: Node) -> Kernel:
    sizes, strides, rates, padding = _window(node)
    for label, attr in (("ksizes", "ksizes"), ("strides", "strides"), ("rates", "rates")):
        if attr in node.attrs and (node.attr(attr)[0] != 1 or node.attr(attr)[-1] != 1):
            return _failing(f"Only support {label} across space.")
    same = padding == "SAME"
    windows = [(size - 1) * rate + 1 for size, rate in zip(sizes, rates)]

    def run(x: Any) -> Any:
        extents = [_extent(n, w, s, same) for n, w, s in zip(x.shape[1:-1], windows, strides)]
        flat = [0, 0] + [n for _, before, after in reversed(extents) for n in (before, after)]
        x = torch.nn.functional.pad(x, flat) if any(flat) else x.contiguous()
        counts = [count for count, _, _ in extents]
        batch, *space, depth = x.stride()
        view = x.as_strided(
            (x.shape[0], *counts, *sizes, x.shape[-1]),
            (batch, *(n * s for n, s in zip(space, strides)), *(n * r for n, r in zip(space, rates)), depth),
        )
        return view.reshape((x.shape[0], *counts, int(np.prod(sizes)) * x.shape[-1]))

    return run


def _failing(message: str) -> Kernel:
    def run(x: Any) -> Any:
        raise unimplemented(message)

    return run


def _extract_shape(o: Operation) -> Any:
    sizes, strides, rates, padding = _window(o)
    if min(strides) <= 0:
        raise ValueError(f"Stride must be > 0, but got {min(strides)}")
    dims = shapes.with_rank(o.inputs[0].dims, len(sizes) + 2)
    space = [
        None if n is None else _extent(n, (k - 1) * r + 1, s, padding == "SAME")[0] for n, k, s, r in zip(dims[1:-1], sizes, strides, rates)
    ]
    return (dims[0], *space, None if dims[-1] is None else int(np.prod(sizes)) * dims[-1])


def _summed_back(o: Operation, dy: Any) -> Any:
    """Adds each patch to the places it was taken from: patches of numbered places say which those are."""
    x = o.inputs[0]
    sizes, _, _, _ = _window(o)
    whole = tf.shape(x)
    batch, depth = whole[0], whole[-1]
    space = whole[1:-1]
    places = tf.reduce_prod(space)
    # Places count from 1, so that padding is 0 and then, less 1, a number that the sum leaves out.
    numbered = tf.reshape(tf.range(1, places + 1), tf.concat([[1], space, [1]], 0))
    attrs = {name: o.attr(name) for name in ("ksizes", "strides", "rates", "padding") if name in o.attrs}
    taken = tf.reshape(apply(o.type, numbered, **attrs), [-1]) - 1
    rows = tf.reshape(dy, tf.stack([batch, -1, depth]))
    rows = tf.reshape(tf.transpose(rows, [1, 0, 2]), tf.stack([-1, batch * depth]))
    sums = apply("UnsortedSegmentSum", rows, taken, places)
    back = tf.transpose(tf.reshape(sums, tf.stack([places, batch, depth])), [1, 0, 2])
    return tf.reshape(back, whole)


op("ExtractImagePatches", kernel=_extract, shape=_extract_shape, gradient=_summed_back)
op("ExtractVolumePatches", kernel=_extract, shape=_extract_shape, gradient=_summed_back)


@public("extract_image_patches", "image.extract_image_patches")
def extract_image_patches(
    images: Any, ksizes: Any = None, strides: Any = None, rates: Any = None, padding: Any = None, name: str | None = None, sizes: Any = None
) -> Any:
    """The patches under a window that moves over images, each laid out in the depth."""
    ksizes = renamed_argument("sizes", sizes, "ksizes", ksizes)
    return apply("ExtractImagePatches", images, ksizes=ksizes, strides=strides, rates=rates, padding=padding, name=name)


@public("image.extract_patches")
@internal("ops.array_ops.extract_image_patches_v2")
def extract_patches(images: Any, sizes: Any, strides: Any, rates: Any, padding: Any, name: str | None = None) -> Any:
    """The same as `extract_image_patches`."""
    return apply("ExtractImagePatches", images, ksizes=sizes, strides=strides, rates=rates, padding=padding, name=name)


@public("extract_volume_patches")
def extract_volume_patches(input: Any, ksizes: Any, strides: Any, padding: Any, name: str | None = None) -> Any:
    """The patches under a window that moves over volumes, each laid out in the depth."""
    return apply("ExtractVolumePatches", input, ksizes=ksizes, strides=strides, padding=padding, name=name)
