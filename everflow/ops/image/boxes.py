"""Boxes on images: drawing them, and random boxes that cover enough of given ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.image.checks import exactly
from everflow.ops.random.numbers import generator
from everflow.values.tensors import torch_dtype

Kernel = Callable[..., Any]

# The colours of boxes, in turn, where none are given: red, green, blue and alpha.
DEFAULT_COLOURS = [
    (1, 1, 0, 1),
    (0, 0, 1, 1),
    (1, 0, 0, 1),
    (0, 1, 0, 1),
    (0.5, 0, 0.5, 1),
    (0.5, 0.5, 0, 1),
    (0.5, 0, 0, 1),
    (0, 0, 0.5, 1),
    (0, 1, 1, 1),
    (1, 0, 1, 1),
]


def _draw(node: Node) -> Kernel:
    def run(images: Any, boxes: Any, colours: Any = None) -> Any:
        batch, height, width, depth = images.shape
        if depth not in (1, 3, 4):
            raise invalid_argument("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)")
        if colours is None or not colours.numel():
            # Pictures without colour get boxes in white.
            colours = torch.tensor(DEFAULT_COLOURS) if depth > 1 else torch.ones(1, 1)
        if boxes.shape[0] != batch:
            raise invalid_argument("The batch sizes should be the same")
        if colours.shape[1] < depth:
            raise invalid_argument(f"colors must have equal or more channels than the image provided: {shapes.describe(colours.shape)}")
        palette = colours[:, :depth].to(images)
        out = images.clone()
        places = np.trunc(boxes.cpu().numpy().astype(np.float32) * np.array([height - 1, width - 1] * 2, np.float32)).astype(np.int64)
        for b in range(batch):
            for i, (top, left, bottom, right) in enumerate(places[b].tolist()):
                outside = top >= height or bottom < 0 or left >= width or right < 0
                if top > bottom or left > right or outside:
                    continue
                colour = palette[i % palette.shape[0]]
                rows = slice(max(top, 0), min(bottom, height - 1) + 1)
                columns = slice(max(left, 0), min(right, width - 1) + 1)
                for row in (top, bottom):
                    if 0 <= row < height:
                        out[b, row, columns] = colour
                for column in (left, right):
                    if 0 <= column < width:
                        out[b, rows, column] = colour
        return out

    return run


def _draw_shape(o: Operation) -> Any:
    dims = shapes.with_rank(o.inputs[0].dims, 4)
    boxes = shapes.with_rank(o.inputs[1].dims, 3)
    exactly(boxes[2], 4)
    return dims


op("DrawBoundingBoxes", kernel=_draw, shape=_draw_shape, gradient=not_differentiable)
op("DrawBoundingBoxesV2", kernel=_draw, shape=_draw_shape)


@public("image.draw_bounding_boxes")
def draw_bounding_boxes(images: Any, boxes: Any, name: str | None = None, colors: Any = None) -> Any:
    """The images with boxes drawn on them; corners lie between 0 and 1."""
    if colors is None:
        return apply("DrawBoundingBoxes", images, boxes, name=name)
    return apply("DrawBoundingBoxesV2", images, boxes, colors, name=name)


@internal("ops.image_ops_impl.draw_bounding_boxes_v2")
def draw_bounding_boxes_v2(images: Any, boxes: Any, colors: Any, name: str | None = None) -> Any:
    """The same, with colours first."""
    return draw_bounding_boxes(images, boxes, name, colors)


class _Draws:
    """Random numbers as TensorFlow takes them for boxes: one 32-bit word each."""

    def __init__(self, words: Any) -> None:
        self._words = words

    def fraction(self) -> np.float32:
        """A float32 in [0, 1) of 23 random bits."""
        bits = (self._words.uint32() & 0x7FFFFF) | (127 << 23)
        return np.uint32(bits).view(np.float32) - np.float32(1)

    def below(self, count: int) -> int:
        """An integer in [0, count), each as likely."""
        if count & (count - 1) == 0:
            return self._words.uint32() & (count - 1)
        surplus = (2**32 - 1) % count + 1
        word = self._words.uint32()
        while word > 2**32 - 1 - surplus:
            word = self._words.uint32()
        return word % count


def _nearest(x: Any) -> int:
    return int(np.rint(np.float32(x)))


def _random_crop(width: int, height: int, areas: tuple[Any, Any], aspect: np.float32, random: _Draws) -> tuple[int, int, int, int] | None:
    """A box (left, top, right, bottom) of an aspect ratio whose share of the area lies between two bounds; None if the draw failed."""
    least, most = (np.float32(a) * np.float32(width) * np.float32(height) for a in areas)
    tall = _nearest(math.sqrt(least / aspect))
    tallest = _nearest(math.sqrt(most / aspect))
    if _nearest(np.float32(tallest) * aspect) > width:
        tallest = int((width + 0.5 - 1e-7) / float(aspect))
        if _nearest(np.float32(tallest) * aspect) > width:
            tallest -= 1
    tallest = min(tallest, height)
    tall = min(tall, tallest)
    if tall < tallest:
        tall += random.below(tallest - tall + 1)
    wide = _nearest(np.float32(tall) * aspect)
    if wide * tall < least:
        tall += 1
        wide = _nearest(np.float32(tall) * aspect)
    if wide * tall > most:
        tall -= 1
        wide = _nearest(np.float32(tall) * aspect)
    if not least <= wide * tall <= most or not 0 < wide <= width or not 0 < tall <= height:
        return None
    top = random.below(height - tall) if tall < height else 0
    left = random.below(width - wide) if wide < width else 0
    return left, top, left + wide, top + tall


def _covers(crop: tuple[int, int, int, int], least: float, boxes: np.ndarray) -> bool:
    """Whether a crop holds a share of at least one of the boxes."""
    left, top, right, bottom = crop
    if least < 1e-3:
        return True
    across = np.minimum(right, boxes[:, 2]) - np.maximum(left, boxes[:, 0])
    down = np.minimum(bottom, boxes[:, 3]) - np.maximum(top, boxes[:, 1])
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    shared = np.where((across > 0) & (down > 0), across * down, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return bool(np.any((areas > 0) & (shared.astype(np.float32) / areas.astype(np.float32) >= np.float32(least))))


def _sample(node: Node) -> Kernel:
    random, dtype, attempts = generator(node), torch_dtype(node.attr("T")), node.attr("max_attempts")
    aspects, areas = node.attr("aspect_ratio_range"), node.attr("area_range")
    whole_if_none = node.attr("use_image_if_no_bounding_boxes")
    given_least = node.attr("min_object_covered") if "min_object_covered" in node.attrs else None
    if len(aspects) != 2:
        raise invalid_argument("Aspect ratio range field must specify 2 dimensions")
    if min(aspects) <= 0:
        raise invalid_argument("Aspect ratio range must be positive: [" + str(aspects[0]) + "," + str(aspects[1]) + "]")
    if len(areas) != 2:
        raise invalid_argument("Area range field must specify 2 dimensions")
    if min(areas) < 0 or areas[0] > areas[1] or areas[1] > 1:
        raise invalid_argument("Area range must be non-negative: [" + str(areas[0]) + "," + str(areas[1]) + "]")
    if attempts <= 0:
        raise invalid_argument(f"Max attempts must be non-negative: {attempts}")

    def run(image_size: Any, boxes: Any, least: Any = None) -> Any:
        least = given_least if least is None else float(least)
        if least < 0 or least > 1:
            raise invalid_argument(f"Min object covered must be in [0.0, 1.0], got: {least}")
        height, width, _ = image_size.tolist()
        found = boxes.cpu().numpy().reshape(-1, 4).astype(np.float32)
        if found.shape[0] and (found.min() < 0 or found.max() > 1):
            worst = found.max() if found.max() > 1 else found.min()
            raise invalid_argument(f"All bounding box coordinates must be in [0.0, 1.0]: {worst}")
        if not found.shape[0]:
            if not whole_if_none:
                raise invalid_argument(
                    "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if you "
                    "wish to not provide any bounding boxes."
                )
            found = np.array([[0, 0, 1, 1]], np.float32)
        scale = np.array([width, height, width, height], np.float32)
        pixels = (found[:, [1, 0, 3, 2]] * scale).astype(np.int64)
        draws = _Draws(random.words(-(-4 * attempts // 4)))
        low, high = np.float32(aspects[0]), np.float32(aspects[1])
        crop: tuple[int, int, int, int] | None = None
        for _ in range(attempts):
            aspect = draws.fraction() * (high - low) + low
            tried = _random_crop(width, height, (areas[0], areas[1]), aspect, draws)
            if tried is not None and _covers(tried, least, pixels):
                crop = tried
                break
        left, top, right, bottom = crop or (0, 0, width, height)
        corners = np.array([top / np.float32(height), left / np.float32(width), bottom / np.float32(height), right / np.float32(width)])
        return (
            torch.tensor([top, left, 0], dtype=dtype),
            torch.tensor([bottom - top, right - left, -1], dtype=dtype),
            torch.tensor(corners.astype(np.float32)).view(1, 1, 4),
        )

    return run


def _sample_shape(o: Operation) -> Any:
    exactly(shapes.with_rank(o.inputs[0].dims, 1)[0], 3)
    exactly(shapes.with_rank(o.inputs[1].dims, 3)[2], 4)
    return [(3,), (3,), (1, 1, 4)]


op("SampleDistortedBoundingBox", kernel=_sample, shape=_sample_shape, gradient=not_differentiable)
op("SampleDistortedBoundingBoxV2", kernel=_sample, shape=_sample_shape, gradient=not_differentiable)


@public("image.sample_distorted_bounding_box")
def sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: int | None = None,
    seed2: Any = None,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: Any = None,
    use_image_if_no_bounding_boxes: Any = None,
    name: str | None = None,
) -> Any:
    """A random box for augmentation that covers enough of one of the boxes: where it begins, its size, and its corners."""
    with name_scope(name, "sample_distorted_bounding_box"):
        return apply(
            "SampleDistortedBoundingBoxV2",
            image_size,
            bounding_boxes,
            min_object_covered,
            seed=seed,
            seed2=seed2,
            aspect_ratio_range=aspect_ratio_range,
            area_range=area_range,
            max_attempts=max_attempts,
            use_image_if_no_bounding_boxes=use_image_if_no_bounding_boxes,
            name=name,
        )


@internal("ops.image_ops_impl.sample_distorted_bounding_box_v2")
def sample_distorted_bounding_box_v2(
    image_size: Any,
    bounding_boxes: Any,
    seed: int = 0,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: Any = None,
    use_image_if_no_bounding_boxes: Any = None,
    name: str | None = None,
) -> Any:
    """The same, with one seed."""
    first, second = tf.get_seed(seed) if seed else (0, 0)
    return sample_distorted_bounding_box(
        image_size,
        bounding_boxes,
        first,
        second,
        min_object_covered,
        aspect_ratio_range,
        area_range,
        max_attempts,
        use_image_if_no_bounding_boxes,
        name,
    )
