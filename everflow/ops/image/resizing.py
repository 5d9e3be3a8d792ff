"""Resizing of images: nearest, bilinear, bicubic and area, with TensorFlow 1's three ways to place the samples.

Every method works along one axis after the other. For an axis, `Taps` holds the input positions that each output position is
made of, and their weights; they depend on sizes alone and are kept for the next step. On the processor, native code goes through
the pictures row by row; elsewhere torch does.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import everflow as tf
from everflow import _native
from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.constants import dims_of, known
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node, kernel_of
from everflow.ops.core.registry import apply, fused_op, op
from everflow.ops.image.checks import exactly

Kernel = Callable[..., Any]


class Sampling(NamedTuple):
    """How output positions map to input positions."""

    align_corners: bool
    half_pixel_centers: bool

    @classmethod
    def of(cls, node: Node) -> Sampling:
        half = "half_pixel_centers" in node.attrs and node.attr("half_pixel_centers")
        return cls(node.attr("align_corners"), half)

    def scale(self, size: int, new_size: int) -> np.float32:
        """How far one step of the output reaches in the input."""
        if self.align_corners and new_size > 1:
            return np.float32(size - 1) / np.float32(new_size - 1)
        return np.float32(size) / np.float32(new_size)

    def positions(self, size: int, new_size: int) -> np.ndarray:
        """Where in the input the output's samples lie."""
        steps = np.arange(new_size, dtype=np.float32)
        if self.half_pixel_centers:
            return (steps + np.float32(0.5)) * self.scale(size, new_size) - np.float32(0.5)
        return steps * self.scale(size, new_size)


class Taps(NamedTuple):
    """The input positions [k][new size] that an axis' output is made of, and their weights."""

    places: Any
    weights: Any


def _tensors(places: list[np.ndarray], weights: list[np.ndarray]) -> Taps:
    return Taps([torch.from_numpy(np.asarray(p, np.int64)) for p in places], [torch.from_numpy(np.asarray(w, np.float32)) for w in weights])


@functools.lru_cache(256)
def _nearest_taps(size: int, new_size: int, sampling: Sampling) -> Taps:
    steps, scale = np.arange(new_size, dtype=np.float32), sampling.scale(size, new_size)
    if sampling.half_pixel_centers:
        steps += np.float32(0.5)
    # Halves are rounded away from zero, which for what is never negative is up.
    found = np.floor(steps * scale + np.float32(0.5) if sampling.align_corners else steps * scale)
    return _tensors([np.clip(found, 0, size - 1)], [])


@functools.lru_cache(256)
def linear_taps(size: int, new_size: int, sampling: Sampling) -> Taps:
    """The two pixels on both sides of each new one, and what each has to say."""
    where = sampling.positions(size, new_size)
    below = np.floor(where)
    share = where - below
    return _tensors([np.maximum(below, 0), np.minimum(np.ceil(where), size - 1)], [1 - share, share])


# Bicubic weights are looked up at this many steps between two pixels.
_CUBIC_STEPS = 1024


@functools.cache
def _cubic_table(sharpness: float) -> tuple[np.ndarray, np.ndarray]:
    """Weights of the two inner and of the two outer pixels, by distance from the nearer inner one."""
    a = np.float32(sharpness)
    x = np.arange(_CUBIC_STEPS + 1, dtype=np.float32) / np.float32(_CUBIC_STEPS)
    far = x + 1
    inner = ((a + 2) * x - (a + 3)) * x * x + 1
    outer = ((a * far - 5 * a) * far + 8 * a) * far - 4 * a
    return inner.astype(np.float32), outer.astype(np.float32)


@functools.lru_cache(256)
def _cubic_taps(size: int, new_size: int, sampling: Sampling) -> Taps:
    where = sampling.positions(size, new_size)
    below = np.floor(where)
    step = np.rint((where - below) * _CUBIC_STEPS).astype(np.int64)
    inner, outer = _cubic_table(-0.5 if sampling.half_pixel_centers else -0.75)
    weights = np.stack([outer[step], inner[step], inner[_CUBIC_STEPS - step], outer[_CUBIC_STEPS - step]])
    places = below.astype(np.int64) + np.arange(-1, 3)[:, None]
    if sampling.half_pixel_centers:
        # Pixels outside of the image take no part; the others share what is left.
        weights = np.where((places >= 0) & (places < size), weights, np.float32(0))
        total = weights.sum(0)
        safe = np.abs(total) >= 1000 * np.finfo(np.float32).tiny
        weights = np.where(safe, weights / np.where(safe, total, 1), weights)
    return _tensors(list(np.clip(places, 0, size - 1)), list(weights))


@functools.lru_cache(256)
def _area_taps(size: int, new_size: int, sampling: Sampling) -> Taps:
    """How much of each input pixel lies under each output pixel."""
    scale = sampling.scale(size, new_size)
    steps = np.arange(new_size + 1, dtype=np.float32) * scale
    start, end = steps[:-1], steps[1:]
    first = np.floor(start)
    pixels = first + np.arange(int(np.max(np.ceil(end) - first, initial=1)), dtype=np.float32)[:, None]
    covered = np.clip(np.minimum(pixels + 1, end) - np.maximum(pixels, start), 0, 1) / scale
    return _tensors(list(np.minimum(pixels, size - 1)), list(covered))


@functools.lru_cache(256)
def _per_number(taps_of: Callable[..., Any], size: int, new_size: int, sampling: Sampling, depth: int) -> Taps:
    """The taps of columns for each number of a pixel: rows of numbers are picked from much faster than rows of pixels."""
    places, weights = taps_of(size, new_size, sampling)
    channels = torch.arange(depth)
    return Taps([(p[:, None] * depth + channels).reshape(-1) for p in places], [w.repeat_interleave(depth) for w in weights])


def _picked(x: Any, taps: Taps, last: Any) -> Any:
    """The output along the middle of three dimensions. Two taps are interpolated, which is exact where both are equal."""
    parts = [x.index_select(1, p.to(x.device)) for p in taps.places]
    if not taps.weights:
        return parts[0]
    weights = [w.to(x).view(-1, *last) for w in taps.weights]
    if len(parts) == 2:
        return torch.addcmul(parts[0], parts[1].sub_(parts[0]), weights[1])
    total = parts[0].mul_(weights[0])
    for part, weight in zip(parts[1:], weights[1:]):
        total.addcmul_(part, weight)
    return total


def _sampled(x: Any, height: int, width: int, taps_of: Callable[..., Any], sampling: Sampling) -> Any:
    """Images of another size, from the taps of both axes."""
    batch, old_height, old_width, depth = x.shape
    rows, columns = taps_of(old_height, height, sampling), _per_number(taps_of, old_width, width, sampling, depth)

    def tall(x: Any) -> Any:
        return _picked(x.reshape(batch, x.shape[1], -1), rows, (1,)).view(batch, height, -1, depth)

    def wide(x: Any) -> Any:
        return _picked(x.reshape(-1, old_width * depth), columns, ()).view(batch, -1, width, depth)

    return wide(tall(x)) if height <= old_height else tall(wide(x))


@functools.lru_cache(256)
def _native_axis(taps_of: Callable[..., Any], size: int, new_size: int, sampling: Sampling) -> tuple[np.ndarray, np.ndarray]:
    """The taps of an axis as native code takes them: places and weights, [taps, new size]."""
    places, weights = taps_of(size, new_size, sampling)
    return np.stack([p.numpy() for p in places]).astype(np.int32), np.stack([w.numpy() for w in weights])


def _resampled(x: Any, height: int, width: int, taps_of: Callable[..., Any], sampling: Sampling) -> Any:
    """Images of another size in float32."""
    if not x.numel():
        return x.new_empty((x.shape[0], height, width, x.shape[3]), dtype=torch.float32)
    if x.device.type != "cpu":
        return _sampled(x.to(torch.float32), height, width, taps_of, sampling)
    out = torch.empty((x.shape[0], height, width, x.shape[3]), dtype=torch.float32)
    pictures = x.contiguous() if x.dtype == torch.uint8 else x.to(torch.float32).contiguous()
    rows, columns = _native_axis(taps_of, x.shape[1], height, sampling), _native_axis(taps_of, x.shape[2], width, sampling)
    _native.resample(pictures.numpy(), out.numpy(), *rows, *columns, torch.get_num_threads())
    return out


def _given_back(dy: Any, size: int, taps: Taps, last: Any) -> Any:
    """What `_picked` took from the input."""
    dx = dy.new_zeros((dy.shape[0], size, *dy.shape[2:]))
    for i, places in enumerate(taps.places):
        part = dy * taps.weights[i].to(dy).view(-1, *last) if taps.weights else dy
        dx.index_add_(1, places.to(dy.device), part)
    return dx


def _spread(dy: Any, height: int, width: int, taps_of: Callable[..., Any], sampling: Sampling) -> Any:
    """The gradient of `_sampled` with respect to images of that height and width."""
    batch, new_height, new_width, depth = dy.shape
    rows, columns = taps_of(height, new_height, sampling), _per_number(taps_of, width, new_width, sampling, depth)

    def tall(dy: Any) -> Any:
        return _given_back(dy.reshape(batch, new_height, -1), height, rows, (1,)).view(batch, height, -1, depth)

    def wide(dy: Any) -> Any:
        return _given_back(dy.reshape(-1, new_width * depth), width * depth, columns, ()).view(batch, -1, width, depth)

    return wide(tall(dy)) if height <= new_height else tall(wide(dy))


def checked_size(size: Any) -> tuple[int, int]:
    """The height and width that a size input asks for."""
    found = size.tolist()
    if not isinstance(found, list) or len(found) != 2:
        raise invalid_argument(f"shape_t must have two elements[{len(found) if isinstance(found, list) else 0}]")
    if min(found) <= 0:
        raise invalid_argument("output dimensions must be positive")
    return found[0], found[1]


def check_images(x: Any, height: int = 1, width: int = 1) -> None:
    """Raises unless the value is a batch of images with pixels, of which there may be so many."""
    if x.ndim != 4:
        raise invalid_argument(f"input must be 4-dimensional{list(x.shape)}")
    if x.shape[1] < 1 or x.shape[2] < 1:
        raise invalid_argument("input image must be of non-zero size")
    if x.shape[0] * height * width * x.shape[3] >= 1 << 63:
        raise invalid_argument(f"Encountered overflow when multiplying {x.shape[0] * height} with {width}, result: -1")


def resizing(taps_of: Callable[..., Taps]) -> Callable[[Any], Kernel]:
    """The kernel factory of ops that resize batches of images with such taps."""

    def make(node: Node) -> Kernel:
        sampling = checked_sampling(node)

        def run(x: Any, size: Any) -> Any:
            height, width = checked_size(size)
            check_images(x, height, width)
            if (height, width) == tuple(x.shape[1:3]) and not sampling.half_pixel_centers:
                return x.to(torch.float32)
            return _resampled(x, height, width, taps_of, sampling)

        return run

    return make


bilinear = resizing(linear_taps)


def checked_sampling(node: Node) -> Sampling:
    """Where an op's new pixels are taken from."""
    sampling = Sampling.of(node)
    if sampling.align_corners and sampling.half_pixel_centers:
        raise invalid_argument("If half_pixel_centers is True, align_corners must be False.")
    return sampling


def _resize_gradient(taps_of: Callable[..., Taps]) -> Callable[[Any], Kernel]:
    def make(node: Node) -> Kernel:
        sampling = checked_sampling(node)

        def run(dy: Any, image: Any) -> Any:
            height, width = image.shape[1:3]
            compute = torch.float64 if image.dtype == torch.float64 else torch.float32
            return _spread(dy.to(compute), height, width, taps_of, sampling).to(image.dtype)

        return run

    return make


def _nearest(node: Node) -> Kernel:
    sampling = checked_sampling(node)

    def run(x: Any, size: Any) -> Any:
        height, width = checked_size(size)
        check_images(x, height, width)
        if x.dtype == torch.uint16:
            return _sampled(x.view(torch.int16), height, width, _nearest_taps, sampling).view(torch.uint16)
        return _sampled(x, height, width, _nearest_taps, sampling)

    return run


def _nearest_gradient(node: Node) -> Kernel:
    sampling = checked_sampling(node)

    def run(dy: Any, size: Any) -> Any:
        height, width = checked_size(size)
        compute = dy.to(torch.float32) if dy.dtype == torch.float16 else dy
        return _spread(compute, height, width, _nearest_taps, sampling).to(dy.dtype)

    return run


def resized_shape(o: Operation) -> Any:
    """Batch and depth stay; the size input says the rest."""
    dims = shapes.with_rank(o.inputs[0].dims, 4)
    size = o.inputs[1]
    if size.dims is not None:
        exactly(shapes.with_rank(size.dims, 1)[0], 2)
    height, width = (dims_of(size) if known(size) is not None or size.dims == (2,) else None) or (None, None)
    return (dims[0], height, width, dims[3])


def _nearest_gradient_shape(o: Operation) -> Any:
    dims = shapes.with_rank(o.inputs[0].dims, 4)
    height, width = dims_of(o.inputs[1]) or (None, None)
    return (dims[0], height, width, dims[3])


def _gradient_shape(o: Operation) -> Any:
    grads, image = shapes.with_rank(o.inputs[0].dims, 4), shapes.with_rank(o.inputs[1].dims, 4)
    return (grads[0], image[1], image[2], grads[3])


def _differentiate(grad_op: str, allowed: tuple[str, ...]) -> Callable[..., Any]:
    def gradient(o: Operation, dy: Any) -> Any:
        image = o.inputs[0]
        if image.dtype.base_dtype.name not in allowed:
            return None, None
        return apply(grad_op, dy, image, align_corners=o.attr("align_corners"), half_pixel_centers=o.attr("half_pixel_centers")), None

    return gradient


def _differentiate_nearest(o: Operation, dy: Any) -> Any:
    dims = o.inputs[0].dims
    # A static size saves an op at each step.
    size = list(dims[1:3]) if dims is not None and None not in dims[1:3] else tf.shape(o.inputs[0])[1:3]
    return apply(
        "ResizeNearestNeighborGrad", dy, size, align_corners=o.attr("align_corners"), half_pixel_centers=o.attr("half_pixel_centers")
    ), None


# Which taps an op resizes with.
RESIZES = {"ResizeBilinear": linear_taps, "ResizeBicubic": _cubic_taps, "ResizeArea": _area_taps}


def _single_picture(node: Node) -> Kernel:
    """One of these ops on a picture of bytes instead of a batch; what comes out is divided by a number, or multiplied."""
    resize, divisor, factor = node.attr("resize"), node.attr("divisor"), node.attr("factor")
    whole, taps_of, sampling = kernel_of(resize), RESIZES[resize.type], checked_sampling(resize)

    def run(picture: Any, size: Any) -> Any:
        height, width = checked_size(size)
        tall, wide, depth = picture.shape
        if picture.device.type != "cpu" or not picture.numel() or (height, width) == (tall, wide):
            found = whole(picture[None], size)[0]
            found = found / divisor if divisor != 1 else found
            return found * factor if factor != 1 else found
        out = torch.empty((1, height, width, depth), dtype=torch.float32).numpy()
        _native.resample(
            picture.contiguous().numpy()[None],
            out,
            *_native_axis(taps_of, tall, height, sampling),
            *_native_axis(taps_of, wide, width, sampling),
            torch.get_num_threads(),
            divisor,
            factor,
        )
        return torch.from_numpy(out[0])

    return run


fused_op("_ResizedPicture", kernel=_single_picture, fresh=True)
op(
    "ResizeBilinear",
    kernel=bilinear,
    shape=resized_shape,
    view=True,
    kind="resizing",
    gradient=_differentiate("ResizeBilinearGrad", ("float32", "bfloat16", "float16", "float64")),
)
op(
    "ResizeBicubic",
    kernel=resizing(_cubic_taps),
    shape=resized_shape,
    view=True,
    kind="resizing",
    gradient=_differentiate("ResizeBicubicGrad", ("float32", "float64")),
)
op("ResizeNearestNeighbor", kernel=_nearest, shape=resized_shape, gradient=_differentiate_nearest)
op("ResizeArea", kernel=resizing(_area_taps), shape=resized_shape, view=True, kind="resizing")
op("ResizeBilinearGrad", kernel=_resize_gradient(linear_taps), shape=_gradient_shape)
op("ResizeBicubicGrad", kernel=_resize_gradient(_cubic_taps), shape=_gradient_shape)
op("ResizeNearestNeighborGrad", kernel=_nearest_gradient, shape=_nearest_gradient_shape)


@public("image.resize_area")
def resize_area(images: Any, size: Any, align_corners: bool = False, name: str | None = None) -> Any:
    """Images of another size, each pixel the mean of what it covers."""
    return apply("ResizeArea", images, size, align_corners=align_corners, name=name)


@public("image.resize_nearest_neighbor")
def resize_nearest_neighbor(
    images: Any, size: Any, align_corners: bool = False, name: str | None = None, half_pixel_centers: bool = False
) -> Any:
    """Images of another size, each pixel the nearest of the old ones."""
    return apply("ResizeNearestNeighbor", images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name)


@public("image.resize_bilinear")
def resize_bilinear(images: Any, size: Any, align_corners: bool = False, name: str | None = None, half_pixel_centers: bool = False) -> Any:
    """Images of another size, interpolated linearly in both directions."""
    return apply("ResizeBilinear", images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name)


@public("image.resize_bicubic")
def resize_bicubic(images: Any, size: Any, align_corners: bool = False, name: str | None = None, half_pixel_centers: bool = False) -> Any:
    """Images of another size, interpolated by cubics in both directions."""
    return apply("ResizeBicubic", images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name)
