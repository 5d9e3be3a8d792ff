"""tf.contrib.image: transforms and warps."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib.image.colors import adjust_hsv_in_yiq, random_hsv_in_yiq
from running import run

image = tf.contrib.image
PICTURE = np.arange(12.0, dtype=np.float32).reshape(1, 3, 4, 1)


def test_right_angles_turn_counter_clockwise():
    square = np.arange(9.0, dtype=np.float32).reshape(3, 3)
    np.testing.assert_array_equal(run(image.rotate(square, np.pi / 2)), np.rot90(square))
    both = run(image.rotate(np.stack([square, square])[..., None], [0.0, np.pi]))[..., 0]
    np.testing.assert_array_equal(both, [square, np.rot90(square, 2)])


def test_translations_move_and_fill_with_zeros():
    assert run(image.translate(PICTURE, [1, 0]))[0, 0, :, 0].tolist() == [0, 0, 1, 2]
    halfway = run(image.translate(PICTURE, [0.5, 0], "BILINEAR"))
    assert halfway[0, 0, :, 0].tolist() == [0, 0.5, 1.5, 2.5]


def test_transforms_give_another_size_and_compose():
    assert run(image.transform(PICTURE, [1, 0, 0, 0, 1, 0, 0, 0], output_shape=[2, 6])).shape == (1, 2, 6, 1)
    twice = run(image.compose_transforms([1, 0, 2, 0, 1, 3, 0, 0.0], [1, 0, 5, 0, 1, 7, 0, 0.0]))
    np.testing.assert_allclose(twice, [[1, 0, 7, 0, 1, 10, 0, 0]])
    with pytest.raises(TypeError, match="Images should have rank between 2 and 4"):
        run(image.rotate(np.zeros(3, np.float32), 1.0))


def test_transforms_have_gradients():
    with tf.Graph().as_default(), tf.Session():
        x = tf.constant(PICTURE)
        for interpolation in ("NEAREST", "BILINEAR"):
            assert tf.test.compute_gradient_error(x, PICTURE.shape, image.rotate(x, 0.3, interpolation), PICTURE.shape) < 1e-2


def test_a_flow_says_where_pixels_come_from():
    flow = np.zeros((1, 3, 4, 2), np.float32)
    flow[..., 1] = 1
    assert run(image.dense_image_warp(PICTURE, flow))[0, 0, :, 0].tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_splines_go_through_their_points(order):
    points, values = np.random.RandomState(1).rand(1, 7, 2), np.random.RandomState(2).rand(1, 7, 3)
    np.testing.assert_allclose(run(image.interpolate_spline(points, values, points, order)), values, atol=1e-5)


def test_a_sparse_warp_moves_its_points_and_holds_the_border():
    picture = np.zeros((1, 9, 9, 1), np.float32)
    picture[0, 4, 4] = 1
    warped, flow = run(
        image.sparse_image_warp(picture, np.array([[[4.0, 4.0]]], np.float32), np.array([[[4.0, 5.0]]], np.float32), num_boundary_points=2)
    )
    np.testing.assert_allclose(warped[0, 4, 5], 1, atol=1e-3)
    np.testing.assert_allclose(flow[0, 0, 0], [0, 0], atol=1e-3)


def test_colors_turn_in_the_plane_of_television():
    # Measured on 1.15.5.
    picture = np.uint8([[[10, 200, 30]]])
    assert run(adjust_hsv_in_yiq(picture, 0.2, 1.3, 0.9)).tolist() == [[[250, 202, 213]]]
    grey = np.full((1, 1, 3), 0.5, np.float32)
    np.testing.assert_allclose(run(adjust_hsv_in_yiq(grey, 1.0, 3.0, 0.5)), grey / 2, atol=1e-5)
    eye = np.eye(3, dtype=np.float32)[None]
    np.testing.assert_allclose(run(adjust_hsv_in_yiq(eye, 2 * np.pi)), eye, atol=1e-5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="input must have 3 channels but instead has 4 channels"):
        run(adjust_hsv_in_yiq(tf.placeholder_with_default(np.zeros((2, 2, 4), np.float32), [2, 2, None])))


def test_drawn_changes_of_color_have_ranges():
    image = tf.ones([2, 2, 3])
    np.testing.assert_allclose(run(random_hsv_in_yiq(image, lower_value=0.5, upper_value=0.5)), 0.5, atol=1e-5)
    with pytest.raises(ValueError, match="max_delta must be non-negative"):
        random_hsv_in_yiq(image, -1)
    with pytest.raises(ValueError, match="lower_saturation must be < upper_saturation"):
        random_hsv_in_yiq(image, 0, 2)
