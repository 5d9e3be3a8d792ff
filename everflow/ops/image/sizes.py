"""Images of another size: cropped, padded, or resized by any method."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.constants import constant_value
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.ops.core.registry import apply
from everflow.ops.image.checks import after, check_at_least_3d, image_dimensions, is_dynamic, required

_WRONG_RANK = "'image' must have either 3 or 4 dimensions."


def _as_batch(image: Any, wrong_rank: str = _WRONG_RANK) -> tuple[Any, bool]:
    """The image as a batch of one where it is single, and whether it was a batch."""
    if image.dims is None:
        image = tf.expand_dims(image, 0)
        image.set_shape([None] * 4)
        return image, False
    if len(image.dims) == 3:
        return tf.expand_dims(image, 0), False
    if len(image.dims) == 4:
        return image, True
    raise ValueError(wrong_rank)


@public("image.central_crop")
def central_crop(image: Any, central_fraction: Any) -> Any:
    """The middle of an image: that fraction of its height and width."""
    with name_scope(None, "central_crop", [image]):
        image = convert_to_tensor(image, name="image")
        if central_fraction <= 0.0 or central_fraction > 1.0:
            raise ValueError("central_fraction must be within (0, 1]")
        if central_fraction == 1.0:
            return image
        after(check_at_least_3d(image, require_static=False), image)
        rank = len(image.dims) if image.dims is not None else None
        if rank not in (3, 4):
            raise ValueError(f"`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = {rank}.")
        (height, dynamic_height), (width, dynamic_width) = _sizes(image, rank)
        top, left = _start_of_middle(height, central_fraction), _start_of_middle(width, central_fraction)
        rows, columns = height - top * 2, width - left * 2
        leading = [0] if rank == 4 else []
        begin = tf.stack([*leading, top, left, 0])
        size = tf.stack([*[-1 for _ in leading], rows, columns, -1])
        result = tf.slice(image, begin, size)
        known = [None if dynamic else n for n, dynamic in ((rows, dynamic_height), (columns, dynamic_width))]
        result.set_shape([*([image.dims[0]] if rank == 4 else []), *known, image.dims[-1]])
        return result


def _sizes(image: Any, rank: int) -> list[tuple[Any, bool]]:
    found = []
    for axis in (rank - 3, rank - 2):
        size = image.dims[axis]
        found.append((tf.shape(image)[axis], True) if size is None else (size, False))
    return found


def _start_of_middle(size: Any, fraction: float) -> Any:
    if is_dynamic(size):
        wide = tf.cast(size, tf.float64)
        return tf.cast((wide - wide * fraction) / 2, tf.int32)
    return int((float(size) - float(size) * fraction) / 2)


@public("image.pad_to_bounding_box")
def pad_to_bounding_box(image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any) -> Any:
    """The image at a place of a larger black one."""
    with name_scope(None, "pad_to_bounding_box", [image]):
        image = convert_to_tensor(image, name="image")
        image, was_batch = _as_batch(image)
        checks = check_at_least_3d(image, require_static=False)
        batch, height, width, depth = image_dimensions(image, 4)
        after_width = target_width - offset_width - width
        after_height = target_height - offset_height - height
        checks += required(offset_height >= 0, "offset_height must be >= 0")
        checks += required(offset_width >= 0, "offset_width must be >= 0")
        checks += required(after_width >= 0, "width must be <= target - offset")
        checks += required(after_height >= 0, "height must be <= target - offset")
        image = after(checks, image)
        paddings = tf.reshape(tf.stack([0, 0, offset_height, after_height, offset_width, after_width, 0, 0]), [4, 2])
        padded = tf.pad(image, paddings)
        padded.set_shape([None if is_dynamic(n) else n for n in (batch, target_height, target_width, depth)])
        return padded if was_batch else tf.squeeze(padded, axis=[0])


@public("image.crop_to_bounding_box")
def crop_to_bounding_box(image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any) -> Any:
    """The part of an image inside a box."""
    with name_scope(None, "crop_to_bounding_box", [image]):
        image = convert_to_tensor(image, name="image")
        image, was_batch = _as_batch(image)
        checks = check_at_least_3d(image, require_static=False)
        batch, height, width, depth = image_dimensions(image, 4)
        checks += required(offset_width >= 0, "offset_width must be >= 0.")
        checks += required(offset_height >= 0, "offset_height must be >= 0.")
        checks += required(target_width > 0, "target_width must be > 0.")
        checks += required(target_height > 0, "target_height must be > 0.")
        checks += required(width >= (target_width + offset_width), "width must be >= target + offset.")
        checks += required(height >= (target_height + offset_height), "height must be >= target + offset.")
        image = after(checks, image)
        cropped = tf.slice(image, tf.stack([0, offset_height, offset_width, 0]), tf.stack([-1, target_height, target_width, -1]))
        cropped.set_shape([None if is_dynamic(n) else n for n in (batch, target_height, target_width, depth)])
        return cropped if was_batch else tf.squeeze(cropped, axis=[0])


def _larger(x: Any, y: Any) -> Any:
    return tf.maximum(x, y) if is_dynamic(x) or is_dynamic(y) else max(x, y)


def _smaller(x: Any, y: Any) -> Any:
    return tf.minimum(x, y) if is_dynamic(x) or is_dynamic(y) else min(x, y)


def _equal(x: Any, y: Any) -> Any:
    return tf.equal(x, y) if is_dynamic(x) or is_dynamic(y) else x == y


@public("image.resize_with_crop_or_pad", "image.resize_image_with_crop_or_pad")
def resize_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Any:
    """The image at a size, cropped where it is larger and padded where it is smaller, about its middle."""
    with name_scope(None, "resize_image_with_crop_or_pad", [image]):
        image = convert_to_tensor(image, name="image")
        image, was_batch = _as_batch(image)
        checks = check_at_least_3d(image, require_static=False)
        checks += required(target_width > 0, "target_width must be > 0.")
        checks += required(target_height > 0, "target_height must be > 0.")
        image = after(checks, image)
        # Sizes that come from tensors may only be used once they are known to be positive.
        if is_dynamic(target_height):
            target_height = after(checks, target_height)
        if is_dynamic(target_width):
            target_width = after(checks, target_width)
        _, height, width, _ = image_dimensions(image, 4)
        width_more = target_width - width
        crop_left, pad_left = _larger(-width_more // 2, 0), _larger(width_more // 2, 0)
        height_more = target_height - height
        crop_top, pad_top = _larger(-height_more // 2, 0), _larger(height_more // 2, 0)
        cropped = crop_to_bounding_box(image, crop_top, crop_left, _smaller(target_height, height), _smaller(target_width, width))
        resized = pad_to_bounding_box(cropped, pad_top, pad_left, target_height, target_width)
        if resized.dims is None:
            raise ValueError("resized contains no shape.")
        _, new_height, new_width, _ = image_dimensions(resized, 4)
        checks = required(_equal(new_height, target_height), "resized height is not correct.")
        checks += required(_equal(new_width, target_width), "resized width is not correct.")
        resized = after(checks, resized)
        return resized if was_batch else tf.squeeze(resized, axis=[0])


@public("image.ResizeMethod")
@internal("ops.image_ops_impl.ResizeMethodV1")
class ResizeMethod:
    """The methods of `resize_images`."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


@internal("ops.image_ops_impl.ResizeMethod")
class ResizeMethodV2:
    """The methods of the later `resize`."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


def _resize(images: Any, resizer: Any, size: Any, preserve_aspect_ratio: bool, name: str | None, skip_if_same: bool) -> Any:
    """What all ways of resizing share: sizes, aspect ratio, and single images."""
    with name_scope(name, "resize", [images, size]):
        images = convert_to_tensor(images, name="images")
        if images.dims is None:
            raise ValueError("'images' contains no shape.")
        single = len(images.dims) == 3
        if single:
            images = tf.expand_dims(images, 0)
        elif len(images.dims) != 4:
            raise ValueError("'images' must have either 3 or 4 dimensions.")
        height, width = images.dims[1:3]
        try:
            size = convert_to_tensor(size, tf.int32, name="size")
        except (TypeError, ValueError):
            raise ValueError("'size' must be a 1-D int32 Tensor") from None
        if not size.shape.is_compatible_with([2]):
            raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
        if preserve_aspect_ratio:
            size = _with_aspect_ratio(images, size)
        known = constant_value(size)
        new_height, new_width = (None, None) if known is None else (int(n) for n in known)
        same = None not in (width, new_width, height, new_height) and width == new_width and height == new_height
        if not (skip_if_same and same):
            images = resizer(images, size)
            images.set_shape([None, new_height, new_width, None])
        return tf.squeeze(images, axis=[0]) if single else images


def _with_aspect_ratio(images: Any, size: Any) -> Any:
    """The largest size that fits into the given one with the images' aspect ratio."""
    _, height, width, _ = image_dimensions(images, 4)
    known = constant_value(size)
    new_height, new_width = (size[0], size[1]) if known is None else (int(n) for n in known)
    down = tf.cast(new_height, tf.float32) / tf.cast(height, tf.float32)
    across = tf.cast(new_width, tf.float32) / tf.cast(width, tf.float32)
    scale = tf.minimum(down, across)
    scaled_height = tf.cast(tf.round(scale * tf.cast(height, tf.float32)), tf.int32)
    scaled_width = tf.cast(tf.round(scale * tf.cast(width, tf.float32)), tf.int32)
    return convert_to_tensor([scaled_height, scaled_width], tf.int32, name="size")


@public("image.resize_images", "image.resize")
def resize_images(
    images: Any,
    size: Any,
    method: Any = ResizeMethod.BILINEAR,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: str | None = None,
) -> Any:
    """Images of another size by one of the methods of `ResizeMethod`."""

    def resizer(images: Any, size: Any) -> Any:
        if method in (ResizeMethod.BILINEAR, ResizeMethodV2.BILINEAR):
            return tf.image.resize_bilinear(images, size, align_corners=align_corners)
        if method in (ResizeMethod.NEAREST_NEIGHBOR, ResizeMethodV2.NEAREST_NEIGHBOR):
            return tf.image.resize_nearest_neighbor(images, size, align_corners=align_corners)
        if method in (ResizeMethod.BICUBIC, ResizeMethodV2.BICUBIC):
            return tf.image.resize_bicubic(images, size, align_corners=align_corners)
        if method in (ResizeMethod.AREA, ResizeMethodV2.AREA):
            return tf.image.resize_area(images, size, align_corners=align_corners)
        raise ValueError("Resize method is not implemented.")

    return _resize(images, resizer, size, preserve_aspect_ratio, name, skip_if_same=True)


_FILTER_NAMES = {
    ResizeMethodV2.BILINEAR: "triangle",
    ResizeMethodV2.BICUBIC: "keyscubic",
    ResizeMethodV2.LANCZOS3: "lanczos3",
    ResizeMethodV2.LANCZOS5: "lanczos5",
    ResizeMethodV2.GAUSSIAN: "gaussian",
    ResizeMethodV2.MITCHELLCUBIC: "mitchellcubic",
}


@public("compat.v2.image.resize")
@internal("ops.image_ops_impl.resize_images_v2")
def resize_images_v2(
    images: Any,
    size: Any,
    method: str = ResizeMethodV2.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Any:
    """Images of another size, sampled at the centres of pixels, with antialiasing if asked."""

    def filtered(images: Any, size: Any, kind: str) -> Any:
        old = tf.cast(tf.shape(images)[1:3], tf.float32)
        scale = tf.cast(size, tf.float32) / old
        return apply("ScaleAndTranslate", images, size, scale, tf.zeros([2]), kernel_type=kind, antialias=antialias)

    def resizer(images: Any, size: Any) -> Any:
        if method == ResizeMethodV2.BILINEAR and not antialias:
            return tf.image.resize_bilinear(images, size, half_pixel_centers=True)
        if method == ResizeMethodV2.BICUBIC and not antialias:
            return tf.image.resize_bicubic(images, size, half_pixel_centers=True)
        if method in _FILTER_NAMES:
            return filtered(images, size, _FILTER_NAMES[method])
        if method == ResizeMethodV2.NEAREST_NEIGHBOR:
            return tf.image.resize_nearest_neighbor(images, size, half_pixel_centers=True)
        if method == ResizeMethodV2.AREA:
            return tf.image.resize_area(images, size)
        raise ValueError(f"Resize method is not implemented: {method}")

    return _resize(images, resizer, size, preserve_aspect_ratio, name, skip_if_same=False)


def _resize_with_pad(image: Any, target_height: Any, target_width: Any, resize: Any) -> Any:
    with name_scope(None, "resize_image_with_pad", [image]):
        image = convert_to_tensor(image, name="image")
        image, was_batch = _as_batch(image)
        checks = check_at_least_3d(image, require_static=False)
        checks += required(target_width > 0, "target_width must be > 0.")
        checks += required(target_height > 0, "target_height must be > 0.")
        image = after(checks, image)
        _, height, width, _ = image_dimensions(image, 4)
        height, width, tall, wide = (tf.cast(n, tf.float64) for n in (height, width, target_height, target_width))
        ratio = tf.maximum(width / wide, height / tall)
        inner_height, inner_width = height / ratio, width / ratio
        new_height, new_width = tf.cast(tf.floor(inner_height), tf.int32), tf.cast(tf.floor(inner_width), tf.int32)
        above, beside = (tall - inner_height) / 2, (wide - inner_width) / 2
        above, beside = tf.floor(above), tf.floor(beside)
        pad_top = tf.maximum(0, tf.cast(above, tf.int32))
        pad_left = tf.maximum(0, tf.cast(beside, tf.int32))
        resized = resize(image, [new_height, new_width])
        padded = pad_to_bounding_box(resized, pad_top, pad_left, target_height, target_width)
        if padded.dims is None:
            raise ValueError("padded contains no shape.")
        return padded if was_batch else tf.squeeze(padded, axis=[0])


@public("image.resize_image_with_pad")
def resize_image_with_pad(
    image: Any, target_height: Any, target_width: Any, method: Any = ResizeMethod.BILINEAR, align_corners: bool = False
) -> Any:
    """The whole image resized into a frame, with black bars where the aspect ratios differ."""
    return _resize_with_pad(
        image, target_height, target_width, lambda images, size: resize_images(images, size, method, align_corners=align_corners)
    )


@public("compat.v2.image.resize_with_pad")
@internal("ops.image_ops_impl.resize_image_with_pad_v2")
def resize_image_with_pad_v2(
    image: Any, target_height: Any, target_width: Any, method: str = ResizeMethodV2.BILINEAR, antialias: bool = False
) -> Any:
    """The same with the later `resize`."""
    return _resize_with_pad(
        image, target_height, target_width, lambda images, size: resize_images_v2(images, size, method, antialias=antialias)
    )
