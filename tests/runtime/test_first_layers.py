"""Convolution, bias, pooling and Relu of a network's first layer as one node."""
import numpy as np
import pytest

import everflow as tf
from everflow.runtime import passes
from everflow.runtime.passes.pooling import pool_convolutions
from tests.runtime.test_passes import compiled, values

pytestmark = pytest.mark.processor


def random(*dims):
    return np.random.RandomState(sum(dims)).randn(*dims).astype(np.float32)


def layer(x, filter, padding, pool_padding, with_bias, with_relu):
    y = tf.nn.conv2d(x, filter, [1, 1, 1, 1], padding)
    if with_bias:
        y = tf.nn.bias_add(y, tf.constant(random(filter.shape[-1])))
    if with_relu:
        y = tf.nn.relu(y)
    return tf.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], pool_padding)


@pytest.mark.parametrize("height,width,depth,filter_size,channels,padding,pool_padding", [
    (28, 28, 1, (5, 5), 32, "SAME", "SAME"),
    (9, 12, 3, (3, 3), 16, "VALID", "VALID"),
    (8, 6, 3, (2, 4), 48, "SAME", "VALID"),
    (7, 5, 2, (3, 3), 16, "SAME", "VALID"),
    (6, 6, 4, (1, 1), 16, "SAME", "SAME"),
])
@pytest.mark.parametrize("with_bias,with_relu", [(True, True), (True, False), (False, True), (False, False)])
def test_first_layers_give_the_same_as_one_by_one(height, width, depth, filter_size, channels, padding, pool_padding, with_bias, with_relu):
    x = tf.placeholder(tf.float32, [None, height, width, depth])
    y = layer(x, tf.constant(random(*filter_size, depth, channels)), padding, pool_padding, with_bias, with_relu)
    given = random(3, height, width, depth)
    plain, joined = compiled([y], [x], ()), compiled([y], [x], passes.PASSES)
    np.testing.assert_allclose(values(joined, given)[0], values(plain, given)[0], rtol=1e-4, atol=1e-4)
    assert [c.node.type for c in joined.calls] == ["_ConvPool"]


@pytest.mark.parametrize("change", [
    {"depth": 5}, {"channels": 12}, {"pool": 3}, {"stride": 2}, {"dtype": tf.float64}, {"height": None}, {"height": 7},
])
def test_other_layers_take_the_general_way(change):
    of = {"depth": 1, "channels": 16, "pool": 2, "stride": 1, "dtype": tf.float32, "height": 8, **change}
    x = tf.placeholder(of["dtype"], [None, of["height"], 8, of["depth"]])
    filter = tf.constant(random(3, 3, of["depth"], of["channels"]).astype(of["dtype"].as_numpy_dtype))
    y = tf.nn.conv2d(x, filter, [1, of["stride"], of["stride"], 1], "SAME")
    y = tf.nn.max_pool(y, [1, of["pool"], of["pool"], 1], [1, 2, 2, 1], "SAME")
    assert "_ConvPool" not in [c.node.type for c in compiled([y], [x], passes.PASSES).calls]


def test_results_that_are_used_otherwise_are_computed():
    x = tf.placeholder(tf.float32, [None, 8, 8, 1])
    y = tf.nn.conv2d(x, tf.constant(random(3, 3, 1, 16)), [1, 1, 1, 1], "SAME")
    z = tf.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    step = compiled([y, z], [x], (pool_convolutions,))
    assert "_ConvPool" not in [c.node.type for c in step.calls]


def test_not_a_number_is_not_lost():
    x = tf.placeholder(tf.float32, [1, 4, 4, 1])
    y = layer(x, tf.constant(np.ones((1, 1, 1, 16), np.float32)), "SAME", "SAME", False, True)
    given = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1) - 8
    for at in [(0, 0), (0, 3), (3, 0), (3, 3)]:
        given[0, at[0], at[1]] = np.nan
    with tf.Session() as sess:
        assert np.isnan(sess.run(y, {x: given})).all()
        assert sess.run(y, {x: np.nan_to_num(given)})[0, :, :, 0].tolist() == [[0, 0], [5, 6]]


def test_a_bias_may_be_part_of_something_larger():
    x = tf.placeholder(tf.float32, [None, 4, 4, 1])
    biases = tf.placeholder(tf.float32, [16, 2])
    y = tf.nn.conv2d(x, tf.constant(random(1, 1, 1, 16)), [1, 1, 1, 1], "SAME")
    y = tf.nn.max_pool(tf.nn.bias_add(y, tf.unstack(biases, axis=1)[1]), [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    given = random(2, 4, 4, 1), random(16, 2)
    plain, joined = compiled([y], [x, biases], ()), compiled([y], [x, biases], passes.PASSES)
    np.testing.assert_allclose(values(joined, *given)[0], values(plain, *given)[0], rtol=1e-5, atol=1e-5)
