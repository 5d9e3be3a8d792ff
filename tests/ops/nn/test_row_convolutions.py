"""Convolutions with windows as wide as the pictures, against the same with a border of zeros that nothing depends on."""

import numpy as np
import pytest

import everflow as tf


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("height,stride,depth,batch", [(3, 1, 1, 4), (3, 2, 2, None), (1, 1, 3, 4), (5, 3, 1, None)])
def test_windows_of_whole_rows_give_what_others_give(height, stride, depth, batch, dtype):
    rng = np.random.RandomState(0)
    pictures, filters = rng.standard_normal((4, 11, 9, depth)).astype(dtype), rng.standard_normal((height, 9, depth, 6)).astype(dtype)
    x, f = tf.placeholder(dtype, [batch, 11, 9, depth]), tf.placeholder(dtype, [height, 9, depth, 6])
    weights = tf.constant(rng.standard_normal((4, (11 - height) // stride + 1, 1, 6)).astype(dtype))

    def all_of(y):
        return [y, tf.nn.bias_add(y, tf.constant(np.arange(6.0).astype(dtype))), *tf.gradients(tf.reduce_sum(y * weights), [x, f])]

    whole = tf.nn.conv2d(x, f, [1, stride, 1, 1], "VALID")
    # A window that is one column narrower than the picture is none of whole rows; its first result is the same.
    wider = tf.nn.conv2d(tf.pad(x, [[0, 0], [0, 0], [0, 1], [0, 0]]), f, [1, stride, 1, 1], "VALID")[:, :, :1]
    with tf.Session() as sess:
        for found, wanted in zip(*sess.run([all_of(whole), all_of(wider)], {x: pictures, f: filters})):
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


def test_pictures_that_are_too_low_give_the_error_of_others():
    x, f = tf.placeholder(tf.float32, [None, None, 9, 1]), tf.placeholder(tf.float32, [3, 9, 1, 2])
    y = tf.nn.conv2d(x, f, [1, 1, 1, 1], "VALID")
    with tf.Session() as sess:
        assert sess.run(y, {x: np.zeros([2, 2, 9, 1]), f: np.zeros([3, 9, 1, 2])}).shape == (2, 0, 1, 2)
        with pytest.raises(tf.errors.InvalidArgumentError, match="negative"):
            sess.run(y, {x: np.zeros([2, 1, 9, 1]), f: np.zeros([3, 9, 1, 2])})
