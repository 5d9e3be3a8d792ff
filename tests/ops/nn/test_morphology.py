"""Grayscale dilation and erosion."""

import numpy as np
import pytest

import everflow as tf
from running import run

RANDOM = np.random.RandomState(5)


def test_dilation_takes_the_largest_sum():
    x = np.array([[0.1, 0.2], [0.3, 0.4]]).reshape(1, 2, 2, 1)
    kernel = np.array([[0.4, 0.3], [0.1, 0.0]]).reshape(2, 2, 1)
    np.testing.assert_allclose(run(tf.nn.dilation2d(x, kernel, [1, 1, 1, 1], [1, 1, 1, 1], "VALID")).ravel(), [0.5])
    np.testing.assert_allclose(run(tf.nn.dilation2d(x, kernel, [1, 1, 1, 1], [1, 1, 1, 1], "SAME")).ravel(), [0.5, 0.6, 0.7, 0.8])


def test_erosion_is_dilation_of_the_negative():
    x, kernel = RANDOM.randn(1, 5, 5, 2), RANDOM.randn(2, 3, 2)
    eroded, dilated = run(
        [
            tf.nn.erosion2d(x, kernel, [1, 1, 1, 1], [1, 1, 1, 1], "VALID"),
            tf.nn.dilation2d(-x, kernel[::-1, ::-1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID"),
        ]
    )
    np.testing.assert_allclose(eroded, -dilated)


@pytest.mark.parametrize(("strides", "rates", "padding"), [((1, 1), (1, 1), "SAME"), ((2, 1), (1, 1), "VALID"), ((1, 1), (2, 2), "SAME")])
def test_gradients_are_those_of_finite_differences(strides, rates, padding):
    x, kernel = RANDOM.randn(1, 6, 5, 2), RANDOM.randn(2, 3, 2)
    with tf.Graph().as_default(), tf.Session():
        xt, kt = tf.constant(x), tf.constant(kernel)
        y = tf.nn.dilation2d(xt, kt, [1, *strides, 1], [1, *rates, 1], padding)
        for t, value in ((xt, x), (kt, kernel)):
            assert tf.test.compute_gradient_error(t, value.shape, y, y.shape.as_list(), x_init_value=value, delta=1e-5) < 1e-5


def test_borders_are_below_all_integers():
    x, kernel = np.array([[-5, 3]], np.int32).reshape(1, 1, 2, 1), np.array([-2, -7, -1], np.int32).reshape(1, 3, 1)
    assert run(tf.nn.dilation2d(x, kernel, [1, 1, 1, 1], [1, 1, 1, 1], "SAME")).ravel().tolist() == [2, -4]
    small = np.array([1, 2], np.uint16).reshape(1, 1, 2, 1)
    assert run(tf.nn.dilation2d(small, small[0], [1, 1, 1, 1], [1, 1, 1, 1], "VALID")).ravel().tolist() == [4]
    steps = {"strides": [1, 0, 1, 1], "rates": [1, 1, 1, 1], "padding": "SAME"}
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be positive"):
        run(tf.raw_ops.Dilation2DBackpropFilter(input=x, filter=kernel, out_backprop=x, **steps))
