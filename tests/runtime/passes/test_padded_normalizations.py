"""Zeros around what was normalized."""

import pytest
from planning import normalized, random, same

import everflow as tf
from everflow.runtime.passes import PASSES

pytestmark = pytest.mark.processor


@pytest.mark.parametrize("height,stride,window", [(8, 2, 3), (9, 2, 2), (6, 1, 4)])
def test_convolutions_find_zeros_around_what_was_normalized(height, stride, window):
    x = tf.placeholder(tf.float32, [None, height, 8, 16])
    filter = tf.constant(0.1 * random(window, window, 16, 8))
    y = tf.nn.conv2d(tf.nn.relu(normalized(x)[0]), filter, [1, stride, stride, 1], "SAME")
    found = same([y, *tf.gradients(y, [x, filter])], [x], PASSES, random(3, height, 8, 16), tolerance=1e-3)
    assert "_NormalizeRectifySurrounded" in found


def test_pad_takes_the_zeros_that_were_written():
    x = tf.placeholder(tf.float32, [None, 8, 8, 4])
    z = tf.pad(tf.nn.relu(normalized(x)[0]), [[0, 0], [1, 2], [0, 1], [0, 0]])
    y = tf.nn.conv2d(z, tf.constant(random(3, 3, 4, 8)), [1, 2, 2, 1], "VALID")
    found = same([z, y, *tf.gradients(y, x)], [x], PASSES, random(3, 8, 8, 4), tolerance=1e-3)
    assert "_NormalizeRectifySurrounded" in found and "Pad" not in found


def test_convolutions_find_zeros_around_the_results_of_convolutions():
    x = tf.placeholder(tf.float32, [None, 8, 8, 16])
    y = tf.nn.relu(normalized(tf.nn.conv2d(x, tf.constant(random(1, 1, 16, 32)), [1, 1, 1, 1], "SAME"), training=False)[0])
    z = tf.nn.relu(normalized(tf.nn.conv2d(y, tf.constant(random(3, 3, 32, 16)), [1, 2, 2, 1], "SAME"), training=False)[0])
    found = same([z], [x], PASSES, random(2, 8, 8, 16), tolerance=2e-3)
    assert found == ["_ConvNormalizedSurrounded", "_ConvNormalized"]


def test_what_others_need_without_gaps_stays_as_it_is():
    x = tf.placeholder(tf.float32, [None, 8, 8, 16])
    z = tf.nn.relu(normalized(x)[0])
    y = tf.nn.conv2d(z, tf.constant(0.1 * random(3, 3, 16, 8)), [1, 2, 2, 1], "SAME")
    assert "_NormalizeRectifySurrounded" not in same([y, z], [x], PASSES, random(3, 8, 8, 16), tolerance=1e-3)


def test_zeros_on_all_sides_are_left_to_the_convolution():
    x = tf.placeholder(tf.float32, [None, 9, 9, 16])
    y = tf.nn.conv2d(normalized(x)[0], tf.constant(0.1 * random(3, 3, 16, 8)), [1, 1, 1, 1], "SAME")
    assert "_NormalizeSurrounded" not in same([y], [x], PASSES, random(3, 9, 9, 16), tolerance=1e-3)


def test_normalizations_without_relu_write_zeros_too():
    x = tf.placeholder(tf.float32, [None, 8, 8, 16])
    y = tf.nn.conv2d(normalized(x)[0], tf.constant(0.1 * random(3, 3, 16, 8)), [1, 2, 2, 1], "SAME")
    assert "_NormalizeSurrounded" in same([y], [x], PASSES, random(3, 8, 8, 16), tolerance=1e-3)
