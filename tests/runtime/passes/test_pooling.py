"""Pooling before Relu, together with a first layer's convolution, and its gradient."""

import numpy as np
import pytest
from planning import compiled, random, same, types

import everflow as tf
from everflow.runtime.passes import PASSES
from everflow.runtime.passes.pooling import (
    pool_before_relu,
    pool_convolutions,
    rectify_maxima,
    share_pooling_positions,
    sum_before_spreading,
)

pytestmark = pytest.mark.processor


def layer(x, filter, padding, pool_padding, with_bias, with_relu):
    y = tf.nn.conv2d(x, filter, [1, 1, 1, 1], padding)
    if with_bias:
        y = tf.nn.bias_add(y, tf.constant(random(filter.shape[-1])))
    if with_relu:
        y = tf.nn.relu(y)
    return tf.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], pool_padding)


@pytest.mark.parametrize(
    "height,width,depth,filter_size,channels,padding,pool_padding",
    [
        (28, 28, 1, (5, 5), 32, "SAME", "SAME"),
        (9, 12, 3, (3, 3), 16, "VALID", "VALID"),
        (8, 6, 3, (2, 4), 48, "SAME", "VALID"),
        (7, 5, 2, (3, 3), 16, "SAME", "VALID"),
        (6, 6, 4, (1, 1), 16, "SAME", "SAME"),
    ],
)
@pytest.mark.parametrize("with_bias,with_relu", [(True, True), (True, False), (False, True), (False, False)])
def test_first_layers_give_the_same_as_one_by_one(height, width, depth, filter_size, channels, padding, pool_padding, with_bias, with_relu):
    x = tf.placeholder(tf.float32, [None, height, width, depth])
    y = layer(x, tf.constant(random(*filter_size, depth, channels)), padding, pool_padding, with_bias, with_relu)
    assert same([y], [x], PASSES, random(3, height, width, depth), tolerance=1e-4) == ["_ConvPool"]


@pytest.mark.parametrize(
    "change", [{"depth": 5}, {"channels": 12}, {"pool": 3}, {"stride": 2}, {"dtype": tf.float64}, {"height": None}, {"height": 7}]
)
def test_other_layers_take_the_general_way(change):
    of = {"depth": 1, "channels": 16, "pool": 2, "stride": 1, "dtype": tf.float32, "height": 8, **change}
    x = tf.placeholder(of["dtype"], [None, of["height"], 8, of["depth"]])
    filter = tf.constant(random(3, 3, of["depth"], of["channels"]).astype(of["dtype"].as_numpy_dtype))
    y = tf.nn.conv2d(x, filter, [1, of["stride"], of["stride"], 1], "SAME")
    y = tf.nn.max_pool(y, [1, of["pool"], of["pool"], 1], [1, 2, 2, 1], "SAME")
    assert "_ConvPool" not in types(compiled([y], [x], PASSES))


def test_results_that_are_used_otherwise_are_computed():
    x = tf.placeholder(tf.float32, [None, 8, 8, 1])
    y = tf.nn.conv2d(x, tf.constant(random(3, 3, 1, 16)), [1, 1, 1, 1], "SAME")
    z = tf.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    step = compiled([y, z], [x], (pool_convolutions,))
    assert "_ConvPool" not in types(step)


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
    assert same([y], [x, biases], PASSES, random(2, 4, 4, 1), random(16, 2), tolerance=1e-5)[-1] == "_ConvPool"


def pooled(x, padding="SAME"):
    return tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], padding)


def test_a_relu_works_on_what_pooling_leaves():
    x = tf.placeholder(tf.float32, [None, 5, 5, 2])
    assert same([pooled(tf.nn.relu(x))], [x], pool_before_relu, random(3, 5, 5, 2)) == ["MaxPool", "Relu"]


def test_a_relu_that_is_needed_by_itself_stays_before_pooling():
    x = tf.placeholder(tf.float32, [None, 4, 4, 1])
    h = tf.nn.relu(x)
    assert same([pooled(h, "VALID"), h], [x], pool_before_relu, random(2, 4, 4, 1)) == ["Relu", "MaxPool"]


def test_gradients_use_the_positions_that_pooling_found():
    x = tf.placeholder(tf.float32, [None, 5, 5, 2])
    y = pooled(x)
    first, second = tf.gradients(y, x, 2.0 * y), tf.gradients(y, x, tf.exp(y))
    found = same([*first, *second, y], [x], share_pooling_positions, random(3, 5, 5, 2), tolerance=1e-6)
    assert found.count("_MaxPoolWithPositions") == 1 and found.count("_MaxPoolGradFromPositions") == 2
    assert "MaxPool" not in found and "MaxPoolGrad" not in found


def test_gradients_of_something_else_look_for_positions_themselves():
    x = tf.placeholder(tf.float32, [None, 4, 4, 1])
    y = pooled(x)
    other = tf.raw_ops.MaxPoolGrad(orig_input=2.0 * x, orig_output=y, grad=y, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
    assert "MaxPoolGrad" in same([other], [x], share_pooling_positions, random(2, 4, 4, 1))


@pytest.mark.parametrize("sizes", [(3, 6, 4, 16), (2, 5, 5, 2), (2, 4, 6, 48)])
@pytest.mark.parametrize("windows", [2, 3])
def test_maxima_are_rectified_and_their_gradients(sizes, windows):
    x = tf.placeholder(tf.float32, [None, *sizes[1:]])
    y = tf.nn.max_pool(tf.nn.relu(x), [1, windows, windows, 1], [1, 2, 2, 1], "SAME")
    found = same([y, *tf.gradients(y, x, tf.exp(y))], [x], rectify_maxima, random(*sizes), tolerance=1e-6)
    assert found[:2] == ["_MaxPoolWithPositions", "Relu"] and found[-2:] == ["ReluGrad", "_MaxPoolGradFromPositions"]
    assert "MaxPoolGrad" not in found


def test_of_equal_maxima_the_first_gets_the_gradient_and_none_where_nothing_is_positive():
    x = tf.placeholder(tf.float32, [1, 2, 4, 16])
    given = np.repeat(np.float32([[[[1], [3], [-1], [-2]], [[3], [2], [-5], [-1]]]]), 16, axis=-1)
    y = pooled(tf.nn.relu(x))
    (gradient,) = tf.gradients(y, x)
    with tf.Session() as sess:
        assert sess.run(gradient, {x: given})[0, :, :, 5].tolist() == [[0, 1, 0, 0], [0, 0, 0, 0]]


def test_a_bias_behind_pooling_gets_the_sum_of_what_maxima_get():
    x = tf.placeholder(tf.float32, [None, 6, 6, 16])
    bias = tf.constant(random(16))
    y = pooled(tf.nn.relu(tf.nn.bias_add(x, bias)))
    passes = (rectify_maxima, share_pooling_positions, sum_before_spreading)
    found = same(tf.gradients(y, bias, tf.sin(y)), [x], passes, random(3, 6, 6, 16), tolerance=1e-5)
    assert found[-1] == "BiasAddGrad" and "_MaxPoolGradFromPositions" not in found
