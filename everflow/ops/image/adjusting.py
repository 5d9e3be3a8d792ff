"""Brightness, contrast, gamma, hue, saturation and JPEG quality of images, as given or at random."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.ops.core.registry import apply
from everflow.ops.image.checks import after, check_at_least_3d, required


def _is_half_or_float(kind: Any) -> bool:
    return kind in (tf.float16, tf.float32)


@public("image.adjust_brightness")
def adjust_brightness(image: Any, delta: Any) -> Any:
    """Adds a number between -1 and 1 to all pixels, on the scale of floats."""
    with name_scope(None, "adjust_brightness", [image, delta]) as scope:
        image = convert_to_tensor(image, name="image")
        kind = image.dtype
        floats = image if _is_half_or_float(kind) else tf.image.convert_image_dtype(image, tf.float32)
        brighter = tf.add(floats, tf.cast(delta, floats.dtype), name=scope)
        return tf.image.convert_image_dtype(brighter, kind, saturate=True)


@public("image.adjust_contrast")
def adjust_contrast(images: Any, contrast_factor: Any) -> Any:
    """Moves each channel's values away from their mean by a factor."""
    with name_scope(None, "adjust_contrast", [images, contrast_factor]) as scope:
        images = convert_to_tensor(images, name="images")
        kind = images.dtype
        floats = images if _is_half_or_float(kind) else tf.image.convert_image_dtype(images, tf.float32)
        adjusted = apply("AdjustContrastv2", floats, contrast_factor, name=scope)
        return tf.image.convert_image_dtype(adjusted, kind, saturate=True)


@public("image.adjust_gamma")
def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Any:
    """`gain * image ** gamma`, on the scale of floats."""
    with name_scope(None, "adjust_gamma", [image, gamma, gain]):
        image = convert_to_tensor(image, name="image")
        kind = image.dtype
        floats = image if _is_half_or_float(kind) else tf.image.convert_image_dtype(image, tf.float32)
        checks = required(gamma >= 0, "Gamma should be a non-negative real number.")
        if checks:
            gamma = after(checks, gamma)
        return tf.image.convert_image_dtype(gain * floats**gamma, kind, saturate=True)


@public("image.adjust_hue")
def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Any:
    """Turns the hue by a part of the circle, between -1 and 1."""
    with name_scope(name, "adjust_hue", [image]):
        image = convert_to_tensor(image, name="image")
        kind = image.dtype
        floats = image if _is_half_or_float(kind) else tf.image.convert_image_dtype(image, tf.float32)
        return tf.image.convert_image_dtype(apply("AdjustHue", floats, delta), kind)


@public("image.adjust_saturation")
def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Any:
    """Multiplies the saturation of the colours."""
    with name_scope(name, "adjust_saturation", [image]):
        image = convert_to_tensor(image, name="image")
        kind = image.dtype
        floats = image if _is_half_or_float(kind) else tf.image.convert_image_dtype(image, tf.float32)
        return tf.image.convert_image_dtype(apply("AdjustSaturation", floats, saturation_factor), kind)


@public("image.adjust_jpeg_quality")
def adjust_jpeg_quality(image: Any, jpeg_quality: Any, name: str | None = None) -> Any:
    """The image after it has been a JPEG of that quality."""
    with name_scope(name, "adjust_jpeg_quality", [image]):
        image = convert_to_tensor(image, name="image")
        kind = image.dtype
        channels = image.dims[-1] if image.dims else None
        image = tf.image.convert_image_dtype(image, tf.uint8)
        if not hasattr(jpeg_quality, "dtype"):
            jpeg_quality = tf.constant(jpeg_quality, dtype=tf.int32)
        encoded = apply("EncodeJpegVariableQuality", image, jpeg_quality)
        return tf.image.convert_image_dtype(apply("DecodeJpeg", encoded, channels=channels), kind)


def _check_range(lower: Any, upper: Any) -> None:
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")


@public("image.random_brightness")
def random_brightness(image: Any, max_delta: Any, seed: int | None = None) -> Any:
    """Brightness moved by a random amount up to a largest."""
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_brightness(image, tf.random_uniform([], -max_delta, max_delta, seed=seed))


@public("image.random_contrast")
def random_contrast(image: Any, lower: Any, upper: Any, seed: int | None = None) -> Any:
    """Contrast changed by a random factor."""
    _check_range(lower, upper)
    return adjust_contrast(image, tf.random_uniform([], lower, upper, seed=seed))


@public("image.random_hue")
def random_hue(image: Any, max_delta: Any, seed: int | None = None) -> Any:
    """Hue turned by a random amount up to a largest."""
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_hue(image, tf.random_uniform([], -max_delta, max_delta, seed=seed))


@public("image.random_saturation")
def random_saturation(image: Any, lower: Any, upper: Any, seed: int | None = None) -> Any:
    """Saturation changed by a random factor."""
    _check_range(lower, upper)
    return adjust_saturation(image, tf.random_uniform([], lower, upper, seed=seed))


@public("image.random_jpeg_quality")
def random_jpeg_quality(image: Any, min_jpeg_quality: Any, max_jpeg_quality: Any, seed: int | None = None) -> Any:
    """The image after it has been a JPEG of a random quality."""
    if min_jpeg_quality < 0 or max_jpeg_quality < 0 or min_jpeg_quality > 100 or max_jpeg_quality > 100:
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if min_jpeg_quality >= max_jpeg_quality:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    quality = tf.random_uniform([], min_jpeg_quality, max_jpeg_quality, seed=seed, dtype=tf.int32)
    return adjust_jpeg_quality(image, quality)


@public("image.per_image_standardization")
def per_image_standardization(image: Any) -> Any:
    """Each image with mean 0 and deviation 1; nearly uniform images are not blown up."""
    with name_scope(None, "per_image_standardization", [image]) as scope:
        image = convert_to_tensor(image, name="image")
        image = after(check_at_least_3d(image, require_static=False), image)
        kind = image.dtype
        if kind not in (tf.float16, tf.float32):
            image = tf.image.convert_image_dtype(image, tf.float32)
        count = tf.reduce_prod(tf.shape(image)[-3:])
        mean = tf.reduce_mean(image, axis=[-1, -2, -3], keepdims=True)
        deviation = tf.math.reduce_std(image, axis=[-1, -2, -3], keepdims=True)
        floor = tf.rsqrt(tf.cast(count, image.dtype))
        floor = tf.maximum(deviation, floor)
        image -= mean
        image = tf.divide(image, floor, name=scope)
        return tf.image.convert_image_dtype(image, kind, saturate=True)
