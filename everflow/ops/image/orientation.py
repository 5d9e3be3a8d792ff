"""Flipping, turning and transposing images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.ops.image.checks import after, check_at_least_3d

_WRONG_RANK = "'image' must have either 3 or 4 dimensions."


def _as_image(image: Any) -> Any:
    image = convert_to_tensor(image, name="image")
    return after(check_at_least_3d(image, require_static=False), image)


def _same_as_single(result: Any, image: Any) -> Any:
    """An image of unknown rank is a single one."""
    if image.dims is None:
        result.set_shape([None] * 3)
    return result


def _flip(image: Any, axis: int, name: str) -> Any:
    with name_scope(None, name, [image]):
        image = _as_image(image)
        if image.dims is None or len(image.dims) == 3:
            return _same_as_single(tf.reverse(image, [axis]), image)
        if len(image.dims) == 4:
            return tf.reverse(image, [axis + 1])
        raise ValueError(_WRONG_RANK)


@public("image.flip_left_right")
def flip_left_right(image: Any) -> Any:
    """The image as in a mirror."""
    return _flip(image, 1, "flip_left_right")


@public("image.flip_up_down")
def flip_up_down(image: Any) -> Any:
    """The image upside down."""
    return _flip(image, 0, "flip_up_down")


def _flip_at_random(image: Any, axis: int, seed: int | None, name: str) -> Any:
    with name_scope(None, name, [image]) as scope:
        image = _as_image(image)
        if image.dims is None or len(image.dims) == 3:
            flip = tf.random_uniform([], 0, 1.0, seed=seed) < 0.5
            result = tf.cond(flip, lambda: tf.reverse(image, [axis]), lambda: image, name=scope)
            return _same_as_single(result, image)
        if len(image.dims) == 4:
            batch = tf.shape(image)[0]
            chance = tf.random_uniform([batch], 0, 1.0, seed=seed)
            flips = tf.round(tf.reshape(chance, [batch, 1, 1, 1]))
            flips = tf.cast(flips, image.dtype)
            flipped = tf.reverse(image, [axis + 1])
            return flips * flipped + (1 - flips) * image
        raise ValueError(_WRONG_RANK)


@public("image.random_flip_left_right")
def random_flip_left_right(image: Any, seed: int | None = None) -> Any:
    """The image, or half of the time its mirror image; each image of a batch by itself."""
    return _flip_at_random(image, 1, seed, "random_flip_left_right")


@public("image.random_flip_up_down")
def random_flip_up_down(image: Any, seed: int | None = None) -> Any:
    """The image, half of the time upside down; each image of a batch by itself."""
    return _flip_at_random(image, 0, seed, "random_flip_up_down")


@public("image.rot90")
def rot90(image: Any, k: Any = 1, name: str | None = None) -> Any:
    """The image turned counter-clockwise by so many right angles."""
    with name_scope(name, "rot90", [image, k]) as scope:
        image = _as_image(image)
        k = convert_to_tensor(k, tf.int32, name="k")
        k.shape.assert_has_rank(0)
        k = tf.mod(k, 4)
        if image.dims is None or len(image.dims) == 3:
            return _turned(image, k, 0, [1, 0, 2], scope)
        if len(image.dims) == 4:
            return _turned(image, k, 1, [0, 2, 1, 3], scope)
        raise ValueError(_WRONG_RANK)


def _turned(image: Any, k: Any, rows: int, swapped: list[int], name: str) -> Any:
    turns: list[tuple[Any, Callable[[], Any]]] = [
        (tf.equal(k, 1), lambda: tf.transpose(tf.reverse(image, [rows + 1]), swapped)),
        (tf.equal(k, 2), lambda: tf.reverse(image, [rows, rows + 1])),
        (tf.equal(k, 3), lambda: tf.reverse(tf.transpose(image, swapped), [rows + 1])),
    ]
    result = tf.case(turns, default=lambda: image, exclusive=True, name=name)
    dims = [None] * 3 if image.dims is None else list(image.dims)
    result.set_shape([*dims[:rows], None, None, dims[-1]])
    return result


@public("image.transpose", "image.transpose_image")
def transpose(image: Any, name: str | None = None) -> Any:
    """The image with rows and columns exchanged."""
    with name_scope(name, "transpose", [image]):
        image = _as_image(image)
        if image.dims is None or len(image.dims) == 3:
            return tf.transpose(image, [1, 0, 2], name="transpose")
        if len(image.dims) == 4:
            return tf.transpose(image, [0, 2, 1, 3], name="transpose")
        raise ValueError(_WRONG_RANK)
