"""bias_add and its gradients."""

import numpy as np
import pytest

import everflow as tf
from running import run


@pytest.mark.parametrize("shape", [(2, 3), (2, 4, 3), (2, 4, 5, 3), (1, 2, 2, 2, 3)])
def test_a_vector_is_added_to_the_channels(shape):
    x, b = np.random.RandomState(0).randn(*shape), np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(run(tf.nn.bias_add(x, b)), x + b)
    if len(shape) > 2:
        first = np.moveaxis(x, -1, 1)
        np.testing.assert_allclose(run(tf.nn.bias_add(first, b, data_format="NCHW")), np.moveaxis(x + b, -1, 1))


@pytest.mark.parametrize(("data_format", "shape"), [("NHWC", (2, 4, 3)), ("NCHW", (2, 3, 4))])
def test_gradients_are_those_of_finite_differences(data_format, shape):
    x, b = np.random.RandomState(0).randn(*shape), np.array([1.0, 2.0, 3.0])
    with tf.Graph().as_default(), tf.Session():
        bt, dy = tf.constant(b), tf.constant(x)
        y = tf.nn.bias_add(x, bt, data_format=data_format)
        assert tf.test.compute_gradient_error(bt, [3], y, shape) < 1e-8
        db = tf.gradients(y, bt, dy)[0]
        assert tf.test.compute_gradient_error(dy, shape, db, [3]) < 1e-8


def test_the_number_of_biases_must_fit():
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(ValueError, match="Dimensions must be equal, but are 4 and 3"):
            tf.nn.bias_add(tf.zeros([2, 4]), tf.zeros([3]))
        with pytest.raises(ValueError, match="must be at least rank 2"):
            tf.nn.bias_add(tf.zeros([4]), tf.zeros([4]))
        with pytest.raises(ValueError, match="data_format must be of the form"):
            tf.nn.bias_add(tf.zeros([2, 4]), tf.zeros([4]), data_format="HWC")
        x, b = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
        y = tf.nn.bias_add(x, b)
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"as many biases as the last dimension of the input tensor: \[1\] vs. \[2,4\]"
        ):
            session.run(y, {x: np.zeros((2, 4)), b: [1.0]})


def test_layers_of_one_line():
    x, w, b = np.array([[1.0, -2.0]]), np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0.5, 20.0])
    assert run(tf.nn.xw_plus_b(x, w, b)).tolist() == [[-4.5, 14.0]]
    assert run(tf.nn.relu_layer(x, w, b)).tolist() == [[0.0, 14.0]]


def test_sums_of_gradients_keep_their_type():
    for layout in ("NHWC", "NCHW"):
        found = run(tf.raw_ops.BiasAddGrad(out_backprop=np.ones((2, 3, 3), np.int32), data_format=layout))
        assert (found.dtype, found.tolist()) == (np.int32, [6, 6, 6])


def test_words_without_sign():
    x = np.array([[65535, 3]], np.uint16)
    assert run(tf.raw_ops.BiasAdd(value=x, bias=np.array([2, 3], np.uint16))).tolist() == [[1, 6]]
    assert run(tf.raw_ops.BiasAddGrad(out_backprop=x)).tolist() == [65535, 3]
