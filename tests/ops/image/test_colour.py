"""Colours, dtypes, flips and measures of images."""

import colorsys

import numpy as np
import pytest

import everflow as tf
from running import run

RANDOM = np.random.RandomState(4)
RGB = RANDOM.rand(2, 3, 4, 3).astype(np.float32)


def test_hsv_there_and_back():
    hsv, back = run([tf.image.rgb_to_hsv(RGB), tf.image.hsv_to_rgb(tf.image.rgb_to_hsv(RGB))])
    expected = [colorsys.rgb_to_hsv(*pixel) for pixel in RGB.reshape(-1, 3)]
    np.testing.assert_allclose(hsv.reshape(-1, 3), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(back, RGB, rtol=1e-5)


def test_black_and_gray_have_no_hue():
    assert run(tf.image.rgb_to_hsv([[0.0, 0, 0], [0.5, 0.5, 0.5]])).tolist() == [[0, 0, 0], [0, 0, 0.5]]


def test_hsv_has_gradients():
    x = np.array([[0.1, 0.5, 0.9], [0.7, 0.2, 0.4], [0.3, 0.8, 0.6]])
    with tf.Graph().as_default(), tf.Session():
        t = tf.constant(x)
        assert tf.test.compute_gradient_error(t, x.shape, tf.image.rgb_to_hsv(t), x.shape, x_init_value=x, delta=1e-6) < 1e-4


def test_adjusting_in_hsv():
    hue, saturated = run([tf.image.adjust_hue(RGB, 1 / 3), tf.image.adjust_saturation(RGB, 0.0)])
    np.testing.assert_allclose(hue, RGB[..., [2, 0, 1]], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(saturated, np.repeat(RGB.max(-1, keepdims=True), 3, -1), rtol=1e-5)


def test_contrast_moves_away_from_the_mean():
    found = run(tf.image.adjust_contrast(RGB, 2.0))
    mean = RGB.mean((1, 2), keepdims=True)
    np.testing.assert_allclose(found, (RGB - mean) * 2 + mean, rtol=1e-5, atol=1e-6)


def test_colours_need_three_channels():
    with pytest.raises(ValueError, match="must be equal"):
        run(tf.image.rgb_to_hsv(np.zeros((2, 2, 4), np.float32)))


def test_integers_saturate():
    bright = run(tf.image.adjust_brightness(np.array([[[250, 0, 100]]], np.uint8), 0.1))
    assert bright.tolist() == [[[255, 25, 125]]]


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [(np.uint8(255), tf.float32, 1.0), (np.float32(1), tf.uint8, 255), (np.uint8(7), tf.uint16, 7 * 256), (np.int16(256), tf.uint8, 2)],
)
def test_dtypes_scale_values(value, dtype, expected):
    assert run(tf.image.convert_image_dtype([value], dtype))[0] == expected


def test_flips_and_turns():
    x = np.arange(6).reshape(2, 3, 1)
    assert run(tf.image.flip_left_right(x))[..., 0].tolist() == [[2, 1, 0], [5, 4, 3]]
    assert run(tf.image.flip_up_down(x))[..., 0].tolist() == [[3, 4, 5], [0, 1, 2]]
    assert run(tf.image.transpose_image(x))[..., 0].tolist() == [[0, 3], [1, 4], [2, 5]]
    for k in range(-1, 5):
        np.testing.assert_array_equal(run(tf.image.rot90(x, k)), np.rot90(x, k))


def test_each_image_of_a_batch_is_flipped_by_chance():
    x = np.tile(np.arange(2.0).reshape(1, 1, 2, 1), (64, 1, 1, 1))
    tf.set_random_seed(5)
    flipped = run(tf.image.random_flip_left_right(tf.constant(x, tf.float32), seed=1))[:, 0, 0, 0]
    assert 10 < flipped.sum() < 54


def test_images_have_three_dimensions():
    with pytest.raises(ValueError, match="at least three-dimensional"):
        run(tf.image.flip_left_right(np.zeros((2, 2))))


def test_standardization():
    found = run(tf.image.per_image_standardization(RGB))
    np.testing.assert_allclose(found.mean((1, 2, 3)), 0, atol=1e-6)
    np.testing.assert_allclose(found.std((1, 2, 3)), 1, rtol=1e-5)
    assert run(tf.image.per_image_standardization(np.full((2, 2, 1), 3.0, np.float32))).tolist() == np.zeros((2, 2, 1)).tolist()


def test_measures_of_equal_and_unequal_images():
    x = RANDOM.rand(1, 16, 16, 1).astype(np.float32)
    same, opposite, psnr = run(
        [
            tf.image.ssim(tf.constant(x), tf.constant(x), 1.0),
            tf.image.ssim(tf.constant(x), tf.constant(1 - x), 1.0),
            tf.image.psnr(tf.constant(x), tf.constant(x + np.float32(0.1)), 1.0),
        ]
    )
    np.testing.assert_allclose(same, [1], rtol=1e-5)
    assert opposite[0] < 0
    np.testing.assert_allclose(psnr, [20], rtol=1e-4)


def test_multiscale_similarity_of_odd_sizes():
    x = RANDOM.rand(1, 177, 181, 1).astype(np.float32)
    same, other = run([tf.image.ssim_multiscale(tf.constant(x), tf.constant(y), 1.0) for y in (x, x * np.float32(0.5))])
    np.testing.assert_allclose(same, [1], rtol=1e-5)
    assert 0 < other[0] < 0.9


def test_variation_gradients_and_edges():
    ramp = np.tile(np.arange(4.0, dtype=np.float32)[None, :, None], (3, 1, 1))[None]
    variation, (down, across), edges = run(
        [tf.image.total_variation(tf.constant(ramp)), tf.image.image_gradients(tf.constant(ramp)), tf.image.sobel_edges(tf.constant(ramp))]
    )
    assert variation.tolist() == [9]
    assert not down.any() and across[0, 0, :, 0].tolist() == [1, 1, 1, 0]
    assert edges.shape == (1, 3, 4, 1, 2) and edges[0, 1, 1, 0].tolist() == [0, 8]


def test_colours_of_many_pixels_are_those_of_few():
    x = RANDOM.rand(200, 100, 3).astype(np.float32)
    whole, part = run([tf.image.adjust_hue(x, 0.3), tf.image.adjust_hue(x[170:], 0.3)])
    np.testing.assert_array_equal(whole[170:], part)


def test_hues_of_colours_below_zero():
    """Recorded from TensorFlow 1.15.5."""
    pixels = np.array([[[-0.5, 0.25, 1.0], [0.2, -0.4, -0.1]]], np.float32)
    found = run(tf.image.adjust_hue(pixels, 0.25))
    shifted = run(tf.image.adjust_hue(pixels + 1, 0.25)) - 1
    np.testing.assert_allclose(found, shifted, atol=1e-6)
    np.testing.assert_allclose(np.sort(found)[..., [0, 2]], np.sort(pixels)[..., [0, 2]], atol=1e-6)
