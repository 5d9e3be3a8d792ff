"""Convolutions that normalize outside of training."""

import pytest
from planning import normalized, random, same

import everflow as tf
from everflow.runtime.passes import PASSES
from everflow.runtime.passes.normalized_convolutions import normalize_in_convolutions

pytestmark = pytest.mark.processor


@pytest.mark.parametrize(
    "window,stride,with_bias,with_relu", [(1, 1, False, True), (1, 2, True, False), (3, 2, True, True), (3, 1, False, False)]
)
def test_outside_of_training_convolutions_normalize(window, stride, with_bias, with_relu):
    x = tf.placeholder(tf.float32, [None, 8, 7, 16])
    y = tf.nn.conv2d(x, tf.constant(random(window, window, 16, 32)), [1, stride, stride, 1], "SAME")
    if with_bias:
        y = tf.nn.bias_add(y, tf.constant(random(32)))
    y = normalized(y, training=False)[0]
    found = same([tf.nn.relu(y) if with_relu else y], [x], PASSES, random(2, 8, 7, 16), tolerance=1e-3)
    assert found == ["_ConvNormalized"]


@pytest.mark.parametrize("window,stride,with_relu", [(1, 1, True), (3, 2, False), (3, 1, True)])
def test_where_results_are_fewer_than_filters_have_numbers_they_are_scaled(window, stride, with_relu):
    x = tf.placeholder(tf.float32, [None, 3, 3, 160])
    y = tf.nn.conv2d(x, tf.constant(random(window, window, 160, 128)), [1, stride, stride, 1], "SAME")
    y = normalized(tf.nn.bias_add(y, tf.constant(random(128))), training=False)[0]
    found = same([tf.nn.relu(y) if with_relu else y], [x], PASSES, random(1, 3, 3, 160), tolerance=1e-3)
    assert found == ["_ConvNormalized"]


def test_a_convolution_that_is_used_otherwise_or_trained_is_not_normalized():
    x = tf.placeholder(tf.float32, [None, 8, 7, 16])
    y = tf.nn.conv2d(x, tf.constant(random(1, 1, 16, 32)), [1, 1, 1, 1], "SAME")
    for fetches in ([y, normalized(y, training=False)[0]], [normalized(y)[0]], list(normalized(y, training=False)[:2])):
        assert "_ConvNormalized" not in same(fetches, [x], normalize_in_convolutions, random(2, 8, 7, 16), tolerance=1e-3)


def test_a_normalization_that_is_used_before_relu_too_is_not_rectified():
    x = tf.placeholder(tf.float32, [None, 8, 7, 16])
    y = normalized(tf.nn.conv2d(x, tf.constant(random(1, 1, 16, 32)), [1, 1, 1, 1], "SAME"), training=False)[0]
    found = same([y, tf.nn.relu(y)], [x], normalize_in_convolutions, random(2, 8, 7, 16), tolerance=1e-3)
    assert found == ["_ConvNormalized", "Relu"]


def test_channels_that_come_first_are_normalized_separately():
    x = tf.placeholder(tf.float32, [None, 16, 6, 16])
    y = tf.nn.conv2d(x, tf.constant(random(1, 1, 16, 16)), [1, 1, 1, 1], "SAME", data_format="NCHW")
    for arguments in ({}, {"data_format": "NCHW"}):
        z = normalized(y, training=False, **arguments)[0]
        assert "_ConvNormalized" not in same([z], [x], normalize_in_convolutions, random(2, 16, 6, 16), tolerance=1e-3)
