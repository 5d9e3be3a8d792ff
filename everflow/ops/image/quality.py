"""How images differ and vary: PSNR, SSIM, total variation, gradients and edges."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import control_dependencies, name_scope

_MSSSIM_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


@internal("ops.image_ops_impl._verify_compatible_image_shapes")
def _compatible(first: Any, second: Any) -> tuple[Any, Any, list[Any]]:
    """Both shapes and the assertions that they are images of one size, whose batches broadcast."""
    known_first, known_second = first.shape.with_rank_at_least(3), second.shape.with_rank_at_least(3)
    known_first[-3:].assert_is_compatible_with(known_second[-3:])
    if known_first.ndims is not None and known_second.ndims is not None:
        for a, b in zip(reversed(known_first.dims[:-3]), reversed(known_second.dims[:-3])):
            if not (a == 1 or b == 1 or a.is_compatible_with(b)):
                raise ValueError(f"Two images are not compatible: {known_first} and {known_second}")
    shape1, shape2 = tf.shape_n([first, second])
    checks = [
        tf.Assert(tf.greater_equal(tf.size(shape1), 3), [shape1, shape2], summarize=10),
        tf.Assert(tf.reduce_all(tf.equal(shape1[-3:], shape2[-3:])), [shape1, shape2], summarize=10),
    ]
    return shape1, shape2, checks


@public("image.total_variation")
def total_variation(images: Any, name: str | None = None) -> Any:
    """The sum of the absolute differences of neighbouring pixels: how noisy an image is."""
    with name_scope(name, "total_variation"):
        rank = images.shape.ndims
        if rank not in (3, 4):
            raise ValueError("'images' must be either 3 or 4-dimensional.")

        def shifted(axis: int, part: slice) -> Any:
            return images[tuple(part if d == axis else slice(None) for d in range(rank))]

        steps = [shifted(axis, slice(1, None)) - shifted(axis, slice(None, -1)) for axis in (rank - 3, rank - 2)]
        each = None if rank == 3 else [1, 2, 3]
        down, across = (tf.reduce_sum(tf.abs(step), axis=each) for step in steps)
        return down + across


@public("image.psnr")
def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Any:
    """The peak signal-to-noise ratio of two images in decibels."""
    with name_scope(name, "PSNR", [a, b]):
        peak, first, second = (tf.image.convert_image_dtype(x, tf.float32) for x in (tf.cast(max_val, a.dtype), a, b))
        error = tf.reduce_mean(tf.squared_difference(first, second), [-3, -2, -1])
        signal = 20 * tf.log(peak) / tf.log(10.0)
        ratio = tf.subtract(signal, np.float32(10 / np.log(10)) * tf.log(error), name="psnr")
        with control_dependencies(_compatible(first, second)[2]):
            return tf.identity(ratio)


def _gaussian_window(size: Any, sigma: Any) -> Any:
    """[size, size, 1, 1] weights that sum to 1."""
    size = convert_to_tensor(size, tf.int32)
    sigma = convert_to_tensor(sigma)
    places = tf.cast(tf.range(size), sigma.dtype)
    places -= tf.cast(size - 1, sigma.dtype) / 2.0
    falling = tf.square(places) * (-0.5 / tf.square(sigma))
    together = tf.reshape(falling, [1, -1]) + tf.reshape(falling, [-1, 1])
    return tf.reshape(tf.nn.softmax(tf.reshape(together, [1, -1])), [size, size, 1, 1])


def _ssim_per_channel(
    first: Any, second: Any, max_val: Any, filter_size: int, filter_sigma: float, k1: float, k2: float
) -> tuple[Any, Any]:
    """SSIM, and its part without luminance, of each channel."""
    size, sigma = tf.constant(filter_size, tf.int32), tf.constant(filter_sigma, first.dtype)
    shape1, shape2 = tf.shape_n([first, second])
    checks = [
        tf.Assert(tf.reduce_all(tf.greater_equal(shape1[-3:-1], size)), [shape1, size], summarize=8),
        tf.Assert(tf.reduce_all(tf.greater_equal(shape2[-3:-1], size)), [shape2, size], summarize=8),
    ]
    with control_dependencies(checks):
        first = tf.identity(first)
    window = tf.tile(_gaussian_window(size, sigma), [1, 1, shape1[-1], 1])

    def local_mean(x: Any) -> Any:
        whole = tf.shape(x)
        flat = tf.reshape(x, tf.concat([[-1], whole[-3:]], 0))
        mean = tf.nn.depthwise_conv2d(flat, window, strides=[1, 1, 1, 1], padding="VALID")
        return tf.reshape(mean, tf.concat([whole[:-3], tf.shape(mean)[1:]], 0))

    c1, c2 = (k1 * max_val) ** 2, (k2 * max_val) ** 2
    mean1, mean2 = local_mean(first), local_mean(second)
    twice_product, squares = mean1 * mean2 * 2.0, tf.square(mean1) + tf.square(mean2)
    luminance = (twice_product + c1) / (squares + c1)
    covariance = local_mean(first * second) * 2.0 - twice_product
    variance = local_mean(tf.square(first) + tf.square(second)) - squares
    structure = (covariance + c2) / (variance + c2)
    axes = tf.constant([-3, -2], tf.int32)
    return tf.reduce_mean(luminance * structure, axes), tf.reduce_mean(structure, axes)


def _prepared(img1: Any, img2: Any, max_val: Any) -> tuple[Any, Any, Any]:
    img1, img2 = convert_to_tensor(img1), convert_to_tensor(img2)
    _, _, checks = _compatible(img1, img2)
    with control_dependencies(checks):
        img1 = tf.identity(img1)
    max_val = tf.image.convert_image_dtype(tf.cast(max_val, img1.dtype), tf.float32)
    return tf.image.convert_image_dtype(img1, tf.float32), tf.image.convert_image_dtype(img2, tf.float32), max_val


@public("image.ssim")
def ssim(img1: Any, img2: Any, max_val: Any, filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03) -> Any:
    """The structural similarity of two images, at most 1."""
    img1, img2, max_val = _prepared(img1, img2, max_val)
    found, _ = _ssim_per_channel(img1, img2, max_val, filter_size, filter_sigma, k1, k2)
    return tf.reduce_mean(found, [-1])


@public("image.ssim_multiscale")
def ssim_multiscale(
    img1: Any,
    img2: Any,
    max_val: Any,
    power_factors: Any = _MSSSIM_WEIGHTS,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Any:
    """The structural similarity over several scales, each half as large as the one before."""
    with name_scope(None, "MS-SSIM", [img1, img2]):
        img1, img2, max_val = _prepared(img1, img2, max_val)
        images = [img1, img2]
        shapes_of = tf.shape_n(images)
        heads, tails = [s[:-3] for s in shapes_of], [s[-3:] for s in shapes_of]
        parts = []
        for k in range(len(power_factors)):
            with name_scope(None, f"Scale{k}", images):
                if k > 0:
                    images, tails = _halved(images, heads, tails)
                similarity, structure = _ssim_per_channel(images[0], images[1], max_val, filter_size, filter_sigma, k1, k2)
                parts.append(tf.nn.relu(structure))
        # At the last scale luminance counts too.
        parts[-1] = tf.nn.relu(similarity)
        together = tf.reduce_prod(tf.pow(tf.stack(parts, axis=-1), power_factors), [-1])
        return tf.reduce_mean(together, [-1])


def _halved(images: list[Any], heads: list[Any], tails: list[Any]) -> tuple[list[Any], list[Any]]:
    """Images of half the size; an odd last row or column is repeated."""
    flat = [tf.reshape(x, tf.concat([[-1], t], 0)) for x, t in zip(images, tails)]
    odd = tails[0] % tf.constant([2, 2, 1], tf.int32)
    paddings = tf.pad(tf.stack([tf.zeros_like(odd), odd], axis=1), [[1, 0], [0, 0]])
    flat = tf.cond(tf.reduce_any(tf.not_equal(odd, 0)), lambda: [tf.pad(x, paddings, mode="SYMMETRIC") for x in flat], lambda: list(flat))
    small = [tf.nn.avg_pool(x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID") for x in flat]
    new_tails = [s[1:] for s in tf.shape_n(small)]
    return [tf.reshape(x, tf.concat([h, t], 0)) for x, h, t in zip(small, heads, new_tails)], new_tails


@public("image.image_gradients")
def image_gradients(image: Any) -> Any:
    """The differences to the next row and to the next column, with zeros at the end."""
    if image.shape.ndims != 4:
        raise ValueError(f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {image.shape}.")
    whole = tf.shape(image)
    batch, height, width, depth = tf.unstack(whole)
    dy, dx = image[:, 1:, :, :] - image[:, :-1, :, :], image[:, :, 1:, :] - image[:, :, :-1, :]
    dy = tf.reshape(tf.concat([dy, tf.zeros(tf.stack([batch, 1, width, depth]), image.dtype)], 1), whole)
    dx = tf.reshape(tf.concat([dx, tf.zeros(tf.stack([batch, height, 1, depth]), image.dtype)], 2), whole)
    return dy, dx


@public("image.sobel_edges")
def sobel_edges(image: Any) -> Any:
    """Sobel's edge filters down and across, in a last dimension of two."""
    known, whole = image.shape, tf.shape(image)
    down = [[-1, -2, -1], [0, 0, 0], [1, 2, 1]]
    kernels = np.array([down, np.transpose(down)], np.float32).transpose(1, 2, 0)[:, :, None, :]
    kernels_tensor = tf.constant(kernels, dtype=tf.float32)
    kernels_tensor = tf.tile(kernels_tensor, [1, 1, whole[-1], 1], name="sobel_filters")
    padded = tf.pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    edges = tf.nn.depthwise_conv2d(padded, kernels_tensor, [1, 1, 1, 1], "VALID")
    edges = tf.reshape(edges, tf.concat([whole, [2]], 0))
    edges.set_shape(known.concatenate([2]))
    return edges
