"""ScaleAndTranslate: resampling of images with a choice of filters, with or without antialiasing."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from everflow.errors import invalid_argument
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.core.shape_rules import same_as
from everflow.ops.image.resizing import check_images, checked_size, resized_shape


class Filter(NamedTuple):
    """A filter: how far it reaches, and its weight by distance."""

    radius: float
    weight: Callable[[np.ndarray], np.ndarray]


def _lanczos(radius: float) -> Filter:
    def weight(x: np.ndarray) -> np.ndarray:
        inside = np.maximum(x, 1e-3) * math.pi
        found = radius * np.sin(inside) * np.sin(inside / radius) / (inside * inside)
        return np.where(x > radius, 0, np.where(x <= 1e-3, 1, found))

    return Filter(radius, weight)


def _gaussian(radius: float) -> Filter:
    sigma = radius / 3
    return Filter(radius, lambda x: np.where(x >= radius, 0, np.exp(-x * x / (2 * sigma * sigma))))


def _box(x: np.ndarray) -> np.ndarray:
    return np.where(x < 0.5, 1.0, np.where(x == 0.5, 0.5, 0.0))


def _keys_cubic(x: np.ndarray) -> np.ndarray:
    near, far = (1.5 * x - 2.5) * x * x + 1, ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x >= 2, 0, np.where(x >= 1, far, near))


def _mitchell_cubic(x: np.ndarray) -> np.ndarray:
    near, far = (7 / 6 * x - 2) * x * x + 8 / 9, ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9
    return np.where(x >= 2, 0, np.where(x >= 1, far, near))


FILTERS = {
    "lanczos1": _lanczos(1.0),
    "lanczos3": _lanczos(3.0),
    "lanczos5": _lanczos(5.0),
    "gaussian": _gaussian(1.5),
    "box": Filter(1.0, _box),
    "triangle": Filter(1.0, lambda x: np.maximum(0, 1 - x)),
    "keyscubic": Filter(2.0, _keys_cubic),
    "mitchellcubic": Filter(2.0, _mitchell_cubic),
}


@functools.lru_cache(256)
def _matrix(size: int, new_size: int, scale: float, translation: float, filter_name: str, antialias: bool) -> Any:
    """[new size, size]: what each input pixel adds to each output pixel."""
    chosen = FILTERS[filter_name]
    inverse = np.float32(1) / np.float32(scale)
    shift = -inverse * np.float32(translation)
    widening = max(inverse, np.float32(1)) if antialias else np.float32(1)
    reach = np.float32(chosen.radius) * widening
    centers = ((np.arange(new_size, dtype=np.float32) + np.float32(0.5)) * inverse + shift)[:, None]
    pixels = np.arange(size, dtype=np.float32)[None]
    first, last = np.ceil(centers - reach - np.float32(0.5)), np.floor(centers + reach - np.float32(0.5))
    weights: np.ndarray = chosen.weight(np.abs(pixels + np.float32(0.5) - centers) / widening).astype(np.float32)
    weights = np.where((pixels >= first) & (pixels <= last), weights, np.float32(0))
    total = weights.sum(1, keepdims=True)
    safe = np.abs(total) >= 1000 * np.finfo(np.float32).tiny
    weights = weights / np.where(safe, total, 1)
    # What is sampled outside of the image is black.
    weights = np.where(safe & (centers >= 0) & (centers <= size), weights, np.float32(0))
    return torch.from_numpy(np.ascontiguousarray(weights, np.float32))


def _filter(node: Node) -> Callable[..., Any]:
    name, antialias = node.attr("kernel_type"), node.attr("antialias")
    name = name.decode() if isinstance(name, bytes) else name
    if name not in FILTERS:
        raise invalid_argument("Unrecognized kernel type: " + name)

    def matrices(sizes: Any, new_sizes: Any, scale: Any, translation: Any) -> list[Any]:
        scales, shifts = scale.tolist(), translation.tolist()
        if min(scales) <= 0:
            raise invalid_argument("Scale must be greater than zero.")
        return [_matrix(a, b, s, t, name, antialias) for a, b, s, t in zip(sizes, new_sizes, scales, shifts)]

    return matrices


def _applied(x: Any, rows: Any, columns: Any) -> Any:
    batch, height, width, depth = x.shape
    tall = torch.matmul(rows.to(x.device), x.reshape(batch, height, width * depth))
    wide = torch.matmul(columns.to(x.device), tall.view(batch * rows.shape[0], width, depth))
    return wide.view(batch, rows.shape[0], columns.shape[0], depth)


def _scale(node: Node) -> Callable[..., Any]:
    matrices = _filter(node)

    def run(x: Any, size: Any, scale: Any, translation: Any) -> Any:
        new_sizes = checked_size(size)
        check_images(x, *new_sizes)
        return _applied(x.to(torch.float32), *matrices(x.shape[1:3], new_sizes, scale, translation))

    return run


def _scale_gradient(node: Node) -> Callable[..., Any]:
    matrices = _filter(node)

    def run(dy: Any, image: Any, scale: Any, translation: Any) -> Any:
        rows, columns = matrices(image.shape[1:3], dy.shape[1:3], scale, translation)
        return _applied(dy, rows.t(), columns.t())

    return run


def _differentiate(o: Operation, dy: Any) -> Any:
    image, _, scale, translation = o.inputs
    dx = apply("ScaleAndTranslateGrad", dy, image, scale, translation, kernel_type=o.attr("kernel_type"), antialias=o.attr("antialias"))
    return dx, None, None, None


op("ScaleAndTranslate", kernel=_scale, shape=resized_shape, gradient=_differentiate)
op("ScaleAndTranslateGrad", kernel=_scale_gradient, shape=same_as(1))
