"""Colour spaces: HSV, YIQ, YUV, grayscale, and the ops that adjust hue, saturation and contrast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import _native
from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import control_dependencies, name_scope
from everflow.lazy import torch
from everflow.ops.arrays.reshaping import shown
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.core.run_time_checks import checked

Kernel = Callable[..., Any]

# So many pixels, and all that is computed of them on the way, stay in a processor's cache.
_BLOCK = 1 << 14


def _to_hsv(x: Any) -> tuple[Any, Any, Any]:
    """Hue, saturation and value, each a plane. Masks are multiplied, not branched on: which colour leads changes from pixel to pixel."""
    red, green, blue = (plane.contiguous() for plane in x.unbind(-1))
    value = torch.maximum(torch.maximum(red, green), blue)
    spread = value - torch.minimum(torch.minimum(red, green), blue)
    tiny = torch.finfo(x.dtype).tiny
    saturation = spread * (value > 0) / value.clamp(min=tiny)
    red_leads = (red == value).to(x.dtype)
    green_leads = (green == value) * (1 - red_leads)
    blue_leads = 1 - red_leads - green_leads
    hue = red_leads * (green - blue) + green_leads * (blue - red + 2 * spread) + blue_leads * (red - green + 4 * spread)
    hue = hue / (6 * spread).clamp_(min=tiny)
    return hue - hue.floor(), saturation, value


def _to_rgb(hue: Any, saturation: Any, value: Any) -> Any:
    sixth = hue * 6
    pure = ((sixth - 3).abs_() - 1, 2 - (sixth - 2).abs_(), 2 - (sixth - 4).abs_())
    rest = 1 - saturation
    return torch.stack([(rest + saturation * colour.clamp_(0, 1)) * value for colour in pure], -1)


def _checked(compute: Callable[..., Any]) -> Callable[[Any], Kernel]:
    """A kernel over images of three channels, computed in float32 where the type is smaller."""

    def make(node: Node) -> Kernel:
        def run(x: Any, *factors: Any) -> Any:
            if x.ndim < 1 or x.shape[-1] != 3:
                raise invalid_argument(f"input must have 3 channels but instead has {x.shape[-1] if x.ndim else 0} channels.")
            small = x.dtype in (torch.float16, torch.bfloat16)
            pixels = x.reshape(-1, 3)
            if pixels.shape[0] <= _BLOCK:
                return compute(pixels.float() if small else pixels, *factors).to(x.dtype).view(x.shape)
            out = torch.empty_like(pixels)
            for block, result in zip(pixels.split(_BLOCK), out.split(_BLOCK)):
                result.copy_(compute(block.float() if small else block, *factors))
            return out.view(x.shape)

        return run

    return make


def _hue_moved(x: Any, delta: Any) -> Any:
    hue, saturation, value = _to_hsv(x)
    return _to_rgb((hue + delta) % 1, saturation, value)


def _saturated(x: Any, scale: Any) -> Any:
    hue, saturation, value = _to_hsv(x)
    return _to_rgb(hue, (saturation * scale).clamp(0, 1), value)


def _turned(compute: Callable[..., Any], factors: Callable[[float], tuple[float, float]]) -> Callable[[Any], Kernel]:
    """Native code on the processor, given how far hues move and by what saturations are multiplied; elsewhere torch."""
    elsewhere = _checked(compute)

    def make(node: Node) -> Kernel:
        general = elsewhere(node)

        def run(x: Any, factor: Any) -> Any:
            if x.device.type != "cpu" or x.dtype != torch.float32 or not x.ndim or x.shape[-1] != 3:
                return general(x, factor)
            out = torch.empty(x.shape, dtype=torch.float32)
            _native.turn_colours(
                x.reshape(-1, 3).contiguous().numpy(), out.view(-1, 3).numpy(), *factors(float(factor)), torch.get_num_threads()
            )
            return out

        return run

    return make


def _contrast(node: Node) -> Kernel:
    def run(x: Any, factor: Any) -> Any:
        if x.ndim < 3:
            raise invalid_argument(f"input must be at least 3-D, got shape{list(x.shape)}")
        if factor.ndim:
            raise invalid_argument(f"contrast_factor must be scalar: {shown(factor.shape)}")
        wide = x.to(torch.float32)
        mean = wide.mean((-3, -2), keepdim=True)
        return ((wide - mean) * factor + mean).to(x.dtype)

    return run


def _clamped_contrast(node: Node) -> Kernel:
    def run(x: Any, factor: Any, low: Any, high: Any) -> Any:
        wide = x.to(torch.float32)
        mean = wide.mean((-3, -2), keepdim=True)
        return ((wide - mean) * factor + mean).clamp(low, high)

    return run


def _of_colours(o: Operation) -> Any:
    dims = shapes.with_rank_at_least(o.inputs[0].dims, 1)
    if dims is None:
        return None
    return (*dims[:-1], shapes.merge_size(dims[-1], 3))


def _of_images(o: Operation) -> Any:
    for factor in o.inputs[1:]:
        shapes.with_rank(factor.dims, 0)
    return shapes.with_rank_at_least(o.inputs[0].dims, 3)


def _hsv_gradient(o: Operation, dy: Any) -> Any:
    """Each of value, spread and hue is linear in the colours that are largest and smallest."""
    rgb = o.inputs[0]
    red, green, blue = tf.unstack(rgb, axis=-1)
    of_hue, of_saturation, of_value = tf.unstack(dy, axis=-1)
    kind = rgb.dtype

    def one(condition: Any) -> Any:
        return tf.cast(condition, kind)

    largest = [one((red >= green) & (red >= blue)), one((green > red) & (green >= blue)), one((blue > red) & (blue > green))]
    smallest = [one((red < green) & (red < blue)), one((green <= red) & (green < blue)), one((blue <= red) & (blue <= green))]
    value = tf.reduce_max(rgb, -1)
    spread = value - tf.reduce_min(rgb, -1)
    safe_value, safe_spread = (tf.where(v > 0, v, tf.ones_like(v)) for v in (value, spread))
    colours = [red, green, blue]
    # Where a colour is largest, the hue is the difference of the two that follow it, over the spread.
    difference = sum(largest[i] * (colours[(i + 1) % 3] - colours[(i + 2) % 3]) for i in range(3))
    found = []
    for i in range(3):
        by_spread = largest[i] - smallest[i]
        by_difference = largest[(i + 2) % 3] - largest[(i + 1) % 3]
        hue = (by_difference * safe_spread - difference * by_spread) / (6 * safe_spread * safe_spread)
        saturation = by_spread / safe_value - spread * largest[i] / (safe_value * safe_value)
        found.append(of_value * largest[i] + of_saturation * saturation * one(value > 0) + of_hue * hue * one(spread > 0))
    return tf.stack(found, -1)


op("RGBToHSV", kernel=_checked(lambda x: torch.stack(_to_hsv(x), -1)), shape=_of_colours, gradient=_hsv_gradient)
op("HSVToRGB", kernel=_checked(lambda x: _to_rgb(*x.unbind(-1))), shape=_of_colours, gradient=not_differentiable)


def _of_any_colours(make: Callable[[Any], Kernel]) -> Callable[[Any], Kernel]:
    """A turn of hues keeps the largest and the smallest colour of a pixel. Where one is below zero, what is above it is turned."""

    def factory(node: Node) -> Kernel:
        turn = make(node)

        def run(x: Any, delta: Any) -> Any:
            if not x.numel() or x.amin() >= 0:
                return turn(x, delta)
            lowest = x.amin(-1, keepdim=True).clamp_(max=0)
            return turn(x - lowest, delta) + lowest

        return run

    return factory


def _no_image(x: Any, _: Any) -> str | None:
    return None if x.ndim >= 3 else f"input must be at least 3-D, got shape{shown(x.shape)}"


op("AdjustHue", kernel=checked(_of_any_colours(_turned(_hue_moved, lambda delta: (delta, 1.0))), _no_image), shape=_of_images)
op("AdjustSaturation", kernel=checked(_turned(_saturated, lambda scale: (0.0, scale)), _no_image), shape=_of_images)
op("AdjustContrastv2", kernel=_contrast, shape=_of_images)
op("AdjustContrast", kernel=_clamped_contrast, shape=_of_images)


@public("image.rgb_to_hsv")
def rgb_to_hsv(images: Any, name: str | None = None) -> Any:
    """Red, green and blue as hue, saturation and value."""
    return apply("RGBToHSV", images, name=name)


@public("image.hsv_to_rgb")
def hsv_to_rgb(images: Any, name: str | None = None) -> Any:
    """Hue, saturation and value as red, green and blue."""
    return apply("HSVToRGB", images, name=name)


_GRAY_WEIGHTS = [0.2989, 0.5870, 0.1140]


@public("image.rgb_to_grayscale")
def rgb_to_grayscale(images: Any, name: str | None = None) -> Any:
    """How bright each pixel looks, in one channel."""
    with name_scope(name, "rgb_to_grayscale", [images]) as scope:
        images = convert_to_tensor(images, name="images")
        kind = images.dtype
        floats = tf.image.convert_image_dtype(images, tf.float32)
        gray = tf.expand_dims(tf.tensordot(floats, _GRAY_WEIGHTS, [-1, -1]), -1)
        return tf.image.convert_image_dtype(gray, kind, name=scope)


@public("image.grayscale_to_rgb")
def grayscale_to_rgb(images: Any, name: str | None = None) -> Any:
    """Three equal channels of one."""
    with name_scope(name, "grayscale_to_rgb", [images]) as scope:
        images = _gray_images(images)
        images = convert_to_tensor(images, name="images")
        before = tf.expand_dims(tf.rank(images) - 1, 0)
        multiples = tf.concat([tf.ones(before, dtype=tf.int32), tf.expand_dims(3, 0)], 0)
        rgb = tf.tile(images, multiples, name=scope)
        if images.dims is not None:
            rgb.set_shape([*images.dims[:-1], 3])
        return rgb


def _gray_images(images: Any) -> Any:
    images = convert_to_tensor(images, name="images")
    if images.dims is not None and len(images.dims) < 2:
        raise ValueError("A grayscale image must be at least two-dimensional.")
    if images.dims is not None and images.dims[-1] is not None:
        if images.dims[-1] != 1:
            raise ValueError("Last dimension of a grayscale image should be size 1.")
        checks = []
    else:
        checks = [tf.assert_equal(tf.shape(images)[-1], 1, message="Last dimension of a grayscale image should be size 1.")]
    with control_dependencies(checks):
        return tf.identity(images, name="control_dependency")


_RGB_TO_YIQ = [[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]]
_YIQ_TO_RGB = [[1, 1, 1], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]]
_RGB_TO_YUV = [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026]]
_YUV_TO_RGB = [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]]


def _mixed(images: Any, matrix: Any) -> Any:
    images = convert_to_tensor(images, name="images")
    kernel = convert_to_tensor(matrix, images.dtype, name="kernel")
    rank = len(images.dims)
    return tf.tensordot(images, kernel, axes=[[rank - 1], [0]])


@public("image.rgb_to_yiq")
def rgb_to_yiq(images: Any) -> Any:
    """Colours as luma and two chroma values of NTSC."""
    return _mixed(images, _RGB_TO_YIQ)


@public("image.yiq_to_rgb")
def yiq_to_rgb(images: Any) -> Any:
    """The way back from YIQ."""
    return _mixed(images, _YIQ_TO_RGB)


@public("image.rgb_to_yuv")
def rgb_to_yuv(images: Any) -> Any:
    """Colours as luma and two chroma values of PAL."""
    return _mixed(images, _RGB_TO_YUV)


@public("image.yuv_to_rgb")
def yuv_to_rgb(images: Any) -> Any:
    """The way back from YUV."""
    return _mixed(images, _YUV_TO_RGB)
