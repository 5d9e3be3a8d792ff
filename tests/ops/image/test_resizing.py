"""Resizing of images, and parts of them resized."""

import numpy as np
import pytest

import everflow as tf
from running import run

pytestmark = pytest.mark.processor

ROW = np.array([0.0, 10.0, 20.0, 30.0], np.float32).reshape(1, 1, 4, 1)
RANDOM = np.random.RandomState(3)


def widened(method, **options):
    return run(getattr(tf.image, method)(ROW, [1, 8], **options)).ravel().tolist()


def test_bilinear_places_samples_in_three_ways():
    assert widened("resize_bilinear") == [0, 5, 10, 15, 20, 25, 30, 30]
    np.testing.assert_allclose(widened("resize_bilinear", align_corners=True), np.linspace(0, 30, 8), rtol=1e-6)
    assert widened("resize_bilinear", half_pixel_centers=True) == [0, 2.5, 7.5, 12.5, 17.5, 22.5, 27.5, 30]


def test_nearest_places_samples_in_three_ways():
    assert widened("resize_nearest_neighbor") == [0, 0, 10, 10, 20, 20, 30, 30]
    assert widened("resize_nearest_neighbor", align_corners=True) == [0, 0, 10, 10, 20, 20, 30, 30]
    small = run(tf.image.resize_nearest_neighbor(ROW, [1, 2], half_pixel_centers=True))
    assert small.ravel().tolist() == [10, 30]


def test_bicubic_keeps_pixels_and_overshoots_between_them():
    found = widened("resize_bicubic")
    assert found[::2] == [0, 10, 20, 30]
    np.testing.assert_allclose(found[1:7:2], [4.0625, 15.0, 25.9375], rtol=1e-6)


def test_area_is_the_mean_of_what_is_covered():
    assert run(tf.image.resize_area(ROW, [1, 2])).ravel().tolist() == [5, 25]
    np.testing.assert_allclose(run(tf.image.resize_area(ROW, [1, 3])).ravel(), [2.5, 15, 27.5], rtol=1e-6)


def test_samples_are_aligned_or_centred_but_not_both():
    with pytest.raises(tf.errors.InvalidArgumentError, match="align_corners must be False"):
        widened("resize_bilinear", align_corners=True, half_pixel_centers=True)


def test_sizes_are_positive():
    with pytest.raises(tf.errors.InvalidArgumentError, match="output dimensions must be positive"):
        run(tf.image.resize_bilinear(ROW, [0, 3]))


def largest_error(build, x):
    with tf.Graph().as_default(), tf.Session():
        t = tf.constant(x)
        y = build(t)
        return tf.test.compute_gradient_error(t, x.shape, y, y.shape.as_list(), x_init_value=x)


@pytest.mark.parametrize("method", ["resize_bilinear", "resize_bicubic", "resize_nearest_neighbor"])
@pytest.mark.parametrize("options", [{}, {"align_corners": True}, {"half_pixel_centers": True}])
@pytest.mark.parametrize("size", [(2, 2), (5, 7)])
def test_gradients_are_those_of_finite_differences(method, options, size):
    x = RANDOM.rand(1, 3, 4, 1).astype(np.float32)
    assert largest_error(lambda t: getattr(tf.image, method)(t, size, **options), x) < 2e-3


def test_antialiasing_weighs_all_pixels():
    steps = np.tile([0.0, 1.0], 8).astype(np.float32).reshape(1, 1, 16, 1)
    sharp = run(tf.compat.v2.image.resize(steps, [1, 4])).ravel()
    smooth = run(tf.compat.v2.image.resize(steps, [1, 4], antialias=True)).ravel()
    np.testing.assert_allclose(sharp, [0.5] * 4)
    np.testing.assert_allclose(smooth[1:3], [0.5, 0.5], atol=1e-6)
    assert not np.allclose(smooth[[0, 3]], 0.5)


def test_a_size_that_is_already_there_makes_no_op():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2, 4, 5, 3])
        assert tf.image.resize_images(x, [4, 5]) is x
        assert [o.type for o in graph.get_operations()] == ["Placeholder", "Const"]


def test_aspect_ratio_is_kept_inside_the_size():
    x = np.zeros((2, 40, 50, 3), np.float32)
    assert run(tf.image.resize_images(x, [20, 100], preserve_aspect_ratio=True)).shape == (2, 20, 25, 3)
    assert run(tf.image.resize_images(x[0], [400, 100], method=1, preserve_aspect_ratio=True)).shape == (80, 100, 3)


def test_crop_or_pad_works_about_the_middle():
    x = np.arange(16.0).reshape(4, 4, 1)
    found = run(tf.image.resize_with_crop_or_pad(x, 2, 6))[..., 0]
    assert found.tolist() == [[0, 4, 5, 6, 7, 0], [0, 8, 9, 10, 11, 0]]


def test_boxes_are_checked_before_running():
    x = np.zeros((4, 5, 3))
    with pytest.raises(ValueError, match="width must be >= target"):
        run(tf.image.crop_to_bounding_box(x, 0, 1, 2, 5))
    with pytest.raises(ValueError, match="height must be <= target"):
        run(tf.image.pad_to_bounding_box(x, 1, 1, 4, 9))


def test_central_crop_of_sizes_known_only_when_running():
    x = np.arange(20.0).reshape(4, 5, 1)
    with tf.Graph().as_default(), tf.Session() as session:
        image = tf.placeholder(tf.float64, [None, None, 1])
        found = session.run(tf.image.central_crop(image, 0.5), {image: x})
    assert found[..., 0].tolist() == [[6, 7, 8], [11, 12, 13]]


def test_crops_of_boxes_interpolate_and_extrapolate():
    image = np.arange(9.0, dtype=np.float32).reshape(1, 3, 3, 1)
    boxes = np.array([[0, 0, 1, 1], [0.5, 0.5, 1.5, 1]], np.float32)
    found = run(tf.image.crop_and_resize(image, boxes, [0, 0], [2, 2], extrapolation_value=-1))
    assert found[0, ..., 0].tolist() == [[0, 2], [6, 8]]
    assert found[1, ..., 0].tolist() == [[4, 5], [-1, -1]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="box_index has values outside"):
        run(tf.image.crop_and_resize(image, boxes, [0, 1], [2, 2]))


def test_crops_of_boxes_have_gradients():
    x, boxes = RANDOM.rand(2, 4, 5, 2).astype(np.float32), np.array([[0.1, 0.2, 0.83, 0.9], [0.05, 0.6, 0.7, 0.07]], np.float32)
    for method in ("bilinear", "nearest"):
        assert largest_error(lambda t, method=method: tf.image.crop_and_resize(t, boxes, [1, 0], [3, 2], method=method), x) < 2e-3
    assert largest_error(lambda t: tf.image.crop_and_resize(x, t, [1, 0], [3, 2]), boxes) < 1e-2


def test_a_glimpse_is_placed_by_its_middle():
    image = np.arange(25.0, dtype=np.float32).reshape(1, 5, 5, 1)
    found = run(tf.compat.v2.image.extract_glimpse(image, [3, 3], [[0.0, 0.0]], noise="zero"))
    assert found[0, ..., 0].tolist() == [[6, 7, 8], [11, 12, 13], [16, 17, 18]]
    corner = run(tf.compat.v2.image.extract_glimpse(image, [2, 2], [[0.0, 0.0]], centered=False, normalized=False, noise="zero"))
    assert corner[0, ..., 0].tolist() == [[0, 0], [0, 0]]


def test_a_glimpse_beyond_the_image_sees_noise_of_its_range():
    image = np.array([2.0, 3.0], np.float32).reshape(1, 1, 2, 1)
    found = run(tf.image.extract_glimpse(image, [9, 9], [[0.0, 0.0]]))
    assert found.min() >= 2 and found.max() <= 3 and len(np.unique(found)) > 50


@pytest.mark.parametrize("method", ["resize_bilinear", "resize_bicubic", "resize_area"])
def test_a_batch_of_large_images_is_resized_as_each_of_them(method):
    x = RANDOM.rand(3, 9, 7, 3).astype(np.float32)
    whole, single = run([getattr(tf.image, method)(x, [130, 110]), getattr(tf.image, method)(x[1:2], [130, 110])])
    np.testing.assert_array_equal(whole[1:2], single)
    assert not np.allclose(whole[0], whole[1])
