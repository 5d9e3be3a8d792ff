"""Parts of images: boxes resized to one size (CropAndResize) and glimpses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import _native
from everflow.api import internal, public
from everflow.errors import failed_precondition, invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.constants import dims_of
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.arrays.reshaping import renamed_argument
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.core.shape_rules import same_as
from everflow.ops.image.checks import exactly
from everflow.ops.image.resizing import checked_size, resized_shape
from everflow.values.philox import Philox
from everflow.values.tensors import torch_dtype

Kernel = Callable[..., Any]


class _Samples:
    """Where the crops of some boxes sample their images: positions along one axis, [boxes, crop size]."""

    def __init__(self, start: Any, end: Any, size: int, count: int) -> None:
        if count > 1:
            steps = torch.arange(count, dtype=torch.float32, device=start.device)
            self.where = start[:, None] * (size - 1) + steps * ((end - start) * (size - 1) / (count - 1))[:, None]
        else:
            self.where = (0.5 * (start + end) * (size - 1))[:, None]
        self.inside = (self.where >= 0) & (self.where <= size - 1)
        safe = torch.where(self.inside, self.where, 0)
        self.below, self.above = safe.floor().long(), safe.ceil().long()
        self.share = safe - self.below
        # Halves are rounded away from zero.
        self.nearest = (safe + 0.5).floor().long()


def _check_boxes(image: Any, boxes: Any, owners: Any) -> None:
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise invalid_argument(f"boxes must have 4 columns{list(boxes.shape)}")
    if owners.shape[0] != boxes.shape[0]:
        raise invalid_argument(f"box_index has incompatible shape{list(owners.shape)}")
    if owners.numel() and (int(owners.min()) < 0 or int(owners.max()) >= image):
        raise invalid_argument("box_index has values outside [0, batch_size)")


def _both_axes(boxes: Any, image_size: Any, crop_size: Any) -> tuple[_Samples, _Samples]:
    top, left, bottom, right = boxes.unbind(1)
    return _Samples(top, bottom, image_size[0], crop_size[0]), _Samples(left, right, image_size[1], crop_size[1])


def _corners(image: Any, owners: Any, rows: _Samples, columns: _Samples) -> list[Any]:
    """The pixels around each sample: top left, top right, bottom left, bottom right."""
    return [_pixels(image, owners, y, x) for y in (rows.below, rows.above) for x in (columns.below, columns.above)]


def _pixels(image: Any, owners: Any, rows: Any, columns: Any) -> Any:
    """[boxes, rows, columns, depth]: pixels picked as rows of a matrix, which is faster than by three indices."""
    batch, height, width, depth = image.shape
    flat = (owners.long()[:, None] * height + rows)[:, :, None] * width + columns[:, None, :]
    return image.reshape(batch * height * width, depth).index_select(0, flat.reshape(-1)).view(*flat.shape, depth)


def _crop(node: Node) -> Kernel:
    nearest, outside = node.attr("method") in (b"nearest", "nearest"), node.attr("extrapolation_value")

    def run(image: Any, boxes: Any, owners: Any, crop_size: Any) -> Any:
        height, width = checked_size(crop_size)
        if image.shape[1] < 1 or image.shape[2] < 1:
            raise invalid_argument("image dimensions must be positive")
        _check_boxes(image.shape[0], boxes, owners)
        if not boxes.shape[0]:
            return torch.empty((0, height, width, image.shape[3]), dtype=torch.float32, device=image.device)
        image = image.to(torch.float32)
        if image.device.type == "cpu":
            crops = torch.empty((boxes.shape[0], height, width, image.shape[3]), dtype=torch.float32)
            pictures, areas, numbers = (t.contiguous().numpy() for t in (image, boxes, owners))
            _native.crop_and_resize(pictures, areas, numbers, crops.numpy(), nearest, outside, torch.get_num_threads())
            return crops
        rows, columns = _both_axes(boxes, image.shape[1:3], (height, width))
        if nearest:
            crops = _pixels(image, owners, rows.nearest, columns.nearest)
        else:
            top_left, top_right, bottom_left, bottom_right = _corners(image, owners, rows, columns)
            across, down = columns.share[:, None, :, None], rows.share[:, :, None, None]
            top = top_left + (top_right - top_left) * across
            crops = top + (bottom_left + (bottom_right - bottom_left) * across - top) * down
        inside = (rows.inside[:, :, None] & columns.inside[:, None, :])[..., None]
        return torch.where(inside, crops, outside)

    return run


def _image_gradient(node: Node) -> Kernel:
    nearest, dtype = node.attr("method") in (b"nearest", "nearest"), torch_dtype(node.attr("T"))
    compute = torch.float64 if dtype == torch.float64 else torch.float32

    def run(dy: Any, boxes: Any, owners: Any, image_size: Any) -> Any:
        dims = image_size.tolist()
        _check_boxes(dims[0], boxes, owners)
        dx = torch.zeros(dims, dtype=compute, device=dy.device)
        rows, columns = _both_axes(boxes, dims[1:3], dy.shape[1:3])
        inside = (rows.inside[:, :, None] & columns.inside[:, None, :])[..., None]
        dy = torch.where(inside, dy.to(compute), 0)
        owner = owners.long()[:, None, None]

        def give(y: Any, x: Any, part: Any) -> None:
            dx.index_put_((owner, y[:, :, None], x[:, None, :]), part, accumulate=True)

        if nearest:
            give(rows.nearest, columns.nearest, dy)
        else:
            across, down = columns.share[:, None, :, None].to(compute), rows.share[:, :, None, None].to(compute)
            for y, tall in ((rows.below, dy * (1 - down)), (rows.above, dy * down)):
                give(y, columns.below, tall * (1 - across))
                give(y, columns.above, tall * across)
        return dx.to(dtype)

    return run


def _box_gradient(node: Node) -> Kernel:
    def run(dy: Any, image: Any, boxes: Any, owners: Any) -> Any:
        _check_boxes(image.shape[0], boxes, owners)
        sizes, counts = image.shape[1:3], dy.shape[1:3]
        rows, columns = _both_axes(boxes, sizes, counts)
        top_left, top_right, bottom_left, bottom_right = _corners(image.to(torch.float32), owners, rows, columns)
        across, down = columns.share[:, None, :, None], rows.share[:, :, None, None]
        inside = (rows.inside[:, :, None] & columns.inside[:, None, :])[..., None]
        dy = torch.where(inside, dy, 0)
        by_y = (dy * ((1 - across) * (bottom_left - top_left) + across * (bottom_right - top_right))).sum((2, 3))
        by_x = (dy * ((1 - down) * (top_right - top_left) + down * (bottom_right - bottom_left))).sum((1, 3))
        found = []
        for moved, size, count in ((by_y, sizes[0], counts[0]), (by_x, sizes[1], counts[1])):
            if count > 1:
                toward_end = torch.arange(count, dtype=torch.float32, device=dy.device) * ((size - 1) / (count - 1))
                found.append(((moved * (size - 1 - toward_end)).sum(1), (moved * toward_end).sum(1)))
            else:
                half = moved.sum(1) * (0.5 * (size - 1))
                found.append((half, half))
        (top, bottom), (left, right) = found
        return torch.stack([top, left, bottom, right], 1)

    return run


def _crop_shape(o: Operation) -> Any:
    image, boxes = shapes.with_rank(o.inputs[0].dims, 4), shapes.with_rank(o.inputs[1].dims, 2)
    owners = shapes.with_rank(o.inputs[2].dims, 1)
    exactly(boxes[1], 4)
    exactly(shapes.with_rank(o.inputs[3].dims, 1)[0], 2)
    height, width = dims_of(o.inputs[3]) or (None, None)
    return (shapes.merge_size(boxes[0], owners[0]), height, width, image[3])


def _differentiate(o: Operation, dy: Any) -> Any:
    image, boxes, owners, _ = o.inputs
    dims = image.dims
    size = list(dims) if dims is not None and None not in dims else tf.shape(image)
    kind = image.dtype.base_dtype
    to_image = apply("CropAndResizeGradImage", dy, boxes, owners, size, T=kind, method=o.attr("method")) if kind.is_floating else None
    # The kernel of the boxes knows bilinear sampling alone.
    return to_image, apply("CropAndResizeGradBoxes", dy, image, boxes, owners), None, None


op("CropAndResize", kernel=_crop, shape=_crop_shape, gradient=_differentiate)
op("CropAndResizeGradImage", kernel=_image_gradient, shape=lambda o: shapes.with_rank(dims_of(o.inputs[3]), 4))
op("CropAndResizeGradBoxes", kernel=_box_gradient, shape=same_as(2))


@public("image.crop_and_resize")
def crop_and_resize(
    image: Any,
    boxes: Any,
    box_ind: Any = None,
    crop_size: Any = None,
    method: str = "bilinear",
    extrapolation_value: float = 0,
    name: str | None = None,
    box_indices: Any = None,
) -> Any:
    """Boxes of images, given by corners between 0 and 1, all resized to one size."""
    owners = renamed_argument("box_indices", box_indices, "box_ind", box_ind)
    return apply("CropAndResize", image, boxes, owners, crop_size, method=method, extrapolation_value=extrapolation_value, name=name)


@internal("ops.image_ops_impl.crop_and_resize_v2")
def crop_and_resize_v2(
    image: Any,
    boxes: Any,
    box_indices: Any,
    crop_size: Any,
    method: str = "bilinear",
    extrapolation_value: float = 0,
    name: str | None = None,
) -> Any:
    """The same, with later names."""
    return crop_and_resize(image, boxes, box_indices, crop_size, method, extrapolation_value, name)


def _glimpse(node: Node) -> Kernel:
    centered, normalized = node.attr("centered"), node.attr("normalized")
    noise = node.attr("noise")
    noise = noise.decode() if isinstance(noise, bytes) else noise
    random = node.context.state(node, lambda: Philox(0, 0)) if noise != "zero" else None

    def run(image: Any, size: Any, offsets: Any) -> Any:
        height, width = size.tolist()
        batch, rows, columns, depth = image.shape
        if offsets.shape[0] != batch:
            raise invalid_argument(f"offset should have {batch} rows")
        place = offsets.clone()
        limits = torch.tensor([rows, columns], dtype=torch.float32, device=image.device)
        if normalized:
            place *= limits
        if centered:
            place /= 2
            place += limits / 2
        # Offsets are those of the middle of a glimpse.
        place -= torch.tensor([height, width], dtype=torch.float32, device=image.device) / 2
        start = place.trunc().long()
        y = start[:, :1] + torch.arange(height, device=image.device)
        x = start[:, 1:] + torch.arange(width, device=image.device)
        inside = (((y >= 0) & (y < rows))[:, :, None] & ((x >= 0) & (x < columns))[:, None, :])[..., None]
        owner = torch.arange(batch, device=image.device)[:, None, None]
        found = image[owner, y.clamp(0, rows - 1)[:, :, None], x.clamp(0, columns - 1)[:, None, :]]
        return torch.where(inside, found, _outside(image, tuple(found.shape), noise, random)) if found.numel() else found

    return run


def _outside(image: Any, dims: tuple[int, ...], noise: str, random: Any) -> Any:
    """What a glimpse sees beyond the image: numbers within the image's range, distributed evenly or as its own are."""
    if noise == "zero":
        return 0.0
    low, high = image.amin((1, 2, 3), keepdim=True), image.amax((1, 2, 3), keepdim=True)
    if noise == "uniform":
        return low + random.uniform(dims, dtypes.float32).to(image.device) * (high - low)
    deviation, mean = torch.std_mean(image, (1, 2, 3), correction=0, keepdim=True)
    drawn = mean + random.normal(dims, dtypes.float32).to(image.device) * deviation
    return torch.minimum(torch.maximum(drawn, low), high)


def _glimpse_shape(o: Operation) -> Any:
    offsets = shapes.with_rank(o.inputs[2].dims, 2)
    exactly(offsets[1], 2)
    dims = resized_shape(o)
    return (shapes.merge_size(dims[0], offsets[0]), *dims[1:])


def _random_crop(node: Node) -> Kernel:
    random = node.context.state(node, lambda: Philox(node.attr("seed"), node.attr("seed2")))

    def run(image: Any, size: Any) -> Any:
        if image.dim() != 3:
            raise invalid_argument(f"input must be 3-dimensional{shapes.describe(image.shape)}")
        if size.dim() != 1 or size.numel() != 2:
            raise invalid_argument(f"size must be a 1-D vector of two elements: {shapes.describe(size.shape)}")
        height, width = size.tolist()
        for name, whole, part in (("height", image.shape[0], height), ("width", image.shape[1], width)):
            if whole < part:
                raise failed_precondition(f"{name} must be >= target_{name}: {name} = {whole}, target_{name} = {part}")
            if part < 0:
                raise invalid_argument(f"target_{name} must be >= 0, not {part}")
        words = random.words(1)
        # TensorFlow draws the column first, and nothing where there is no choice.
        left, top = (words.uint32() % (spare + 1) if spare else 0 for spare in (image.shape[1] - width, image.shape[0] - height))
        return image[top : top + height, left : left + width].clone()

    return run


def _random_crop_shape(o: Operation) -> Any:
    image, size = shapes.with_rank(o.inputs[0].dims, 3), shapes.with_rank(o.inputs[1].dims, 1)
    shapes.merge_size(size[0], 2)
    return (*(dims_of(o.inputs[1]) or (None, None)), image[2])


op("RandomCrop", kernel=_random_crop, shape=_random_crop_shape, gradient=not_differentiable)
op("ExtractGlimpse", kernel=_glimpse, shape=_glimpse_shape, gradient=not_differentiable)


@public("image.extract_glimpse")
def extract_glimpse(
    input: Any, size: Any, offsets: Any, centered: bool = True, normalized: bool = True, uniform_noise: bool = True, name: str | None = None
) -> Any:
    """Windows of one size from images, each with its own place; noise stands where a window leaves its image."""
    return apply("ExtractGlimpse", input, size, offsets, centered=centered, normalized=normalized, uniform_noise=uniform_noise, name=name)


@public("compat.v2.image.extract_glimpse")
@internal("ops.image_ops_impl.extract_glimpse_v2")
def extract_glimpse_v2(
    input: Any, size: Any, offsets: Any, centered: bool = True, normalized: bool = True, noise: str = "uniform", name: str | None = None
) -> Any:
    """The same, with the noise by name: uniform, gaussian or zero."""
    return apply(
        "ExtractGlimpse", input, size, offsets, centered=centered, normalized=normalized, noise=noise, uniform_noise=False, name=name
    )
