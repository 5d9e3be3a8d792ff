"""Resizing single images without making batches of them."""

import numpy as np
import pytest
from planning import same

import everflow as tf
from everflow.runtime.passes.constants import fold_constants
from everflow.runtime.passes.overwritten_inputs import overwrite_inputs
from everflow.runtime.passes.resized_images import resize_single_images

METHODS = tf.image.ResizeMethod
PICTURE = np.random.RandomState(0).randint(0, 256, (12, 17, 3)).astype(np.uint8)


@pytest.mark.parametrize("method", [METHODS.BILINEAR, METHODS.BICUBIC, METHODS.AREA])
@pytest.mark.parametrize("size", [(7, 9), (12, 17), (30, 40)])
def test_single_pictures_are_resized_the_same(method, size):
    picture = tf.placeholder(tf.uint8, [None, None, 3])
    resized = tf.image.resize_images(picture, size, method=method) / 255.0
    found = same([resized], [picture], (fold_constants, resize_single_images, overwrite_inputs), PICTURE)
    if size != (12, 17):
        assert "_ResizedPicture" in found and not {"ExpandDims", "RealDiv", "_RealDivOver", "Mul"} & set(found)


def resized(picture):
    return tf.squeeze(tf.image.resize_bilinear(tf.expand_dims(picture, 0), [4, 5]), [0])


def test_a_divisor_and_a_factor_are_part_of_it_but_not_two_divisors():
    picture = tf.placeholder(tf.uint8, [None, None, 3])
    assert same([resized(picture) / 255.0 * 2.0], [picture], resize_single_images, PICTURE) == ["_ResizedPicture"]
    assert same([resized(picture) / 255.0 / 3.0], [picture], resize_single_images, PICTURE) == ["_ResizedPicture", "RealDiv"]
    assert same([resized(picture) * 2.0 / 3.0], [picture], resize_single_images, PICTURE) == ["_ResizedPicture", "RealDiv"]


def test_images_of_floats_and_batches_that_others_need_stay_as_they_are():
    floats, picture = tf.placeholder(tf.float32, [None, None, 3]), tf.placeholder(tf.uint8, [None, None, 3])
    assert "_ResizedPicture" not in same([resized(floats)], [floats], resize_single_images, PICTURE.astype(np.float32))
    batch = tf.image.resize_bilinear(tf.expand_dims(picture, 0), [4, 5])
    assert "_ResizedPicture" not in same([tf.squeeze(batch, [0]), batch], [picture], resize_single_images, PICTURE)


def test_other_axes_stay_as_they_are():
    picture = tf.placeholder(tf.uint8, [None, 5, 3])
    resized = tf.image.resize_bilinear(tf.expand_dims(picture, 3), [4, 4])
    assert "_ResizedPicture" not in same([resized], [picture], (fold_constants, resize_single_images), PICTURE[:, :5])


def test_pictures_that_have_no_pixels_are_refused(session):
    picture = tf.placeholder(tf.uint8, [None, None, 3])
    resized = tf.image.resize_images(picture, [4, 4])
    with pytest.raises(tf.errors.InvalidArgumentError, match="input image must be of non-zero size"):
        session.run(resized, {picture: np.zeros((0, 5, 3), np.uint8)})


def test_other_scales_and_results_that_others_need_keep_their_nodes():
    picture, scale = tf.placeholder(tf.uint8, [None, None, 3]), tf.placeholder(tf.float32, [3])
    image = resized(picture)
    scales = np.float32([1, 2, 3])
    assert same([image / scale], [picture, scale], resize_single_images, PICTURE, scales) == ["_ResizedPicture", "RealDiv"]
    assert same([image * scale], [picture, scale], resize_single_images, PICTURE, scales) == ["_ResizedPicture", "Mul"]
    assert same([image / 255.0, image], [picture], resize_single_images, PICTURE) == ["_ResizedPicture", "RealDiv"]


def test_what_else_squeeze_may_take_away_is_not_known():
    picture = tf.placeholder(tf.uint8, [None, None, None])
    batch = tf.expand_dims(picture, 0)
    assert "_ResizedPicture" not in same([tf.squeeze(tf.image.resize_bilinear(batch, [1, 5]))], [picture], resize_single_images, PICTURE)
