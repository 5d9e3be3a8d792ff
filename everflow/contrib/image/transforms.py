"""Projective transforms of images: rotation, translation and any other, given by eight numbers.

The numbers [a0, a1, a2, b0, b1, b2, c0, c1] say where in the input the output's pixel (x, y) is found: at
((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) with k = c0 x + c1 y + 1. Outside of the input all is zero.
"""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope


def _as_batch(images: Any) -> tuple[Any, int]:
    if images.dims is None:
        raise TypeError("image rank must be statically known")
    rank = len(images.dims)
    if rank == 2:
        return images[None, :, :, None], rank
    if rank == 3:
        return images[None], rank
    if rank == 4:
        return images, rank
    raise TypeError("Images should have rank between 2 and 4.")


def _as_given(images: Any, rank: int) -> Any:
    return images[0, :, :, 0] if rank == 2 else images[0] if rank == 3 else images


@public("contrib.image.transform")
def transform(images: Any, transforms: Any, interpolation: str = "NEAREST", output_shape: Any = None, name: str | None = None) -> Any:
    """Images under projective transforms, one for all or one for each."""
    with name_scope(name, "transform"):
        batch, rank = _as_batch(convert_to_tensor(images, name="images"))
        size = tf.shape(batch)[1:3] if output_shape is None else convert_to_tensor(output_shape, tf.int32, name="output_shape")
        transforms = convert_to_tensor(transforms, tf.float32, name="transforms")
        if transforms.dims is None:
            raise TypeError("transforms rank must be statically known")
        if len(transforms.dims) not in (1, 2):
            raise TypeError("Transforms should have rank 1 or 2.")
        rows = transforms[None] if len(transforms.dims) == 1 else transforms
        if interpolation not in ("NEAREST", "BILINEAR"):
            raise ValueError(f"Interpolation must be NEAREST or BILINEAR, got {interpolation}")
        x, y = _sources(rows, size)
        found = (_nearest if interpolation == "NEAREST" else _bilinear)(batch, x, y)
        if output_shape is None:
            found.set_shape(batch.shape)
        return _as_given(found, rank)


def _sources(transforms: Any, size: Any) -> tuple[Any, Any]:
    """Where the pixels of the output are found: two tensors [transforms, height, width]."""
    x = tf.cast(tf.range(size[1]), tf.float32)[None, None, :]
    y = tf.cast(tf.range(size[0]), tf.float32)[None, :, None]
    a0, a1, a2, b0, b1, b2, c0, c1 = (n[:, None, None] for n in tf.unstack(transforms, num=8, axis=1))
    k = c0 * x + c1 * y + 1.0
    return (a0 * x + a1 * y + a2) / k, (b0 * x + b1 * y + b2) / k


def _pixels(images: Any, x: Any, y: Any) -> Any:
    """The pixels at whole places, zero where there are none."""
    height, width = tf.shape(images)[1], tf.shape(images)[2]
    x, y = tf.cast(x, tf.int32), tf.cast(y, tf.int32)
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    flat = tf.clip_by_value(y, 0, height - 1) * width + tf.clip_by_value(x, 0, width - 1)
    count = tf.shape(images)[0]
    dims = tf.concat([[count], tf.shape(flat)[1:]], 0)
    flat, inside = tf.broadcast_to(flat, dims), tf.broadcast_to(inside, dims)
    rows = tf.reshape(images, tf.stack([count, height * width, tf.shape(images)[3]]))
    found = tf.gather(rows, flat, batch_dims=1)
    return found * tf.cast(inside, images.dtype)[..., None]


def _nearest(images: Any, x: Any, y: Any) -> Any:
    def nearest(v: Any) -> Any:
        # Halves are rounded away from zero.
        return tf.sign(v) * tf.floor(tf.abs(v) + 0.5)

    return _pixels(images, nearest(x), nearest(y))


def _bilinear(images: Any, x: Any, y: Any) -> Any:
    left, top = tf.floor(x), tf.floor(y)
    kind = images.dtype
    across, down = (x - left)[..., None], (y - top)[..., None]
    compute = kind if kind in (tf.float32, tf.float64) else tf.float32
    across, down = tf.cast(across, compute), tf.cast(down, compute)

    def corner(dx: float, dy: float) -> Any:
        return tf.cast(_pixels(images, left + dx, top + dy), compute)

    upper = (1 - across) * corner(0, 0) + across * corner(1, 0)
    lower = (1 - across) * corner(0, 1) + across * corner(1, 1)
    return tf.cast((1 - down) * upper + down * lower, kind)


@public("contrib.image.rotate")
def rotate(images: Any, angles: Any, interpolation: str = "NEAREST", name: str | None = None) -> Any:
    """Images turned counter-clockwise by angles in radians, about their middle."""
    with name_scope(name, "rotate"):
        images = convert_to_tensor(images)
        batch, _ = _as_batch(images)
        height, width = (tf.cast(tf.shape(batch)[i], tf.float32)[None] for i in (1, 2))
        return transform(images, angles_to_projective_transforms(angles, height, width), interpolation)


@public("contrib.image.translate")
def translate(images: Any, translations: Any, interpolation: str = "NEAREST", name: str | None = None) -> Any:
    """Images moved by [dx, dy]."""
    with name_scope(name, "translate"):
        return transform(images, translations_to_projective_transforms(translations), interpolation)


@public("contrib.image.angles_to_projective_transforms")
def angles_to_projective_transforms(angles: Any, image_height: Any, image_width: Any, name: str | None = None) -> Any:
    """The transforms of rotations about the middle of images of a size."""
    with name_scope(name, "angles_to_projective_transforms"):
        angles = convert_to_tensor(angles, tf.float32, name="angles")
        if len(angles.dims) not in (0, 1):
            raise TypeError("Angles should have rank 0 or 1.")
        angles = angles[None] if len(angles.dims) == 0 else angles
        cos, sin = tf.cos(angles), tf.sin(angles)
        right, bottom = image_width - 1, image_height - 1
        x_offset = (right - (cos * right - sin * bottom)) / 2.0
        y_offset = (bottom - (sin * right + cos * bottom)) / 2.0
        zeros = tf.zeros_like(angles)
        return tf.stack([cos, -sin, x_offset, sin, cos, y_offset, zeros, zeros], 1)


@public("contrib.image.translations_to_projective_transforms")
def translations_to_projective_transforms(translations: Any, name: str | None = None) -> Any:
    """The transforms of movements by [dx, dy]."""
    with name_scope(name, "translations_to_projective_transforms"):
        moves = convert_to_tensor(translations, tf.float32, name="translations")
        if moves.dims is None:
            raise TypeError("translations rank must be statically known")
        if len(moves.dims) not in (1, 2):
            raise TypeError("Translations should have rank 1 or 2.")
        moves = moves[None] if len(moves.dims) == 1 else moves
        one, zero = tf.ones_like(moves[:, 0]), tf.zeros_like(moves[:, 0])
        return tf.stack([one, zero, -moves[:, 0], zero, one, -moves[:, 1], zero, zero], 1)


@public("contrib.image.compose_transforms")
def compose_transforms(*transforms: Any) -> Any:
    """The transform of one transform after the other."""
    if not transforms:
        raise ValueError("transforms cannot be empty")
    with name_scope("compose_transforms"):
        composed = flat_transforms_to_matrices(transforms[0])
        for following in transforms[1:]:
            composed = tf.matmul(composed, flat_transforms_to_matrices(following))
        return matrices_to_flat_transforms(composed)


@public("contrib.image.flat_transforms_to_matrices")
def flat_transforms_to_matrices(transforms: Any) -> Any:
    """Transforms of eight numbers as matrices of three by three."""
    with name_scope("flat_transforms_to_matrices"):
        flat = tf.reshape(convert_to_tensor(transforms, name="transforms"), [-1, 8])
        ones = tf.ones(tf.stack([tf.shape(flat)[0], 1]), flat.dtype)
        return tf.reshape(tf.concat([flat, ones], 1), [-1, 3, 3])


@public("contrib.image.matrices_to_flat_transforms")
def matrices_to_flat_transforms(transform_matrices: Any) -> Any:
    """The way back: the last number of each matrix becomes 1 and is left out."""
    with name_scope("matrices_to_flat_transforms"):
        flat = tf.reshape(convert_to_tensor(transform_matrices, name="matrices"), [-1, 9])
        flat /= flat[:, 8:9]
        return flat[:, :8]
