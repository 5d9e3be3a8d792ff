"""Products and convolutions with their bias."""

import pytest
from planning import random, same

import everflow as tf
from everflow.runtime.passes.biases import fuse_biases, sum_small_gradients


@pytest.mark.parametrize("add", [lambda y, b: y + b, lambda y, b: b + y, tf.nn.bias_add, lambda y, b: tf.raw_ops.Add(x=y, y=b)])
@pytest.mark.parametrize("flips", [{}, {"transpose_a": True}, {"transpose_b": True}])
def test_a_product_and_its_bias_are_one_node(add, flips):
    x, w = tf.placeholder(tf.float32, [3, 3]), tf.constant(random(3, 3))
    assert same([add(tf.matmul(x, w, **flips), tf.constant(random(3)))], [x], fuse_biases, random(3, 3), tolerance=1e-6) == ["_MatMulBias"]


@pytest.mark.parametrize("add", [lambda y, b: y + b, lambda y, b: b + y, tf.nn.bias_add])
def test_a_convolution_and_its_bias_are_one_node(add):
    x = tf.placeholder(tf.float32, [None, 4, 5, 2])
    y = tf.nn.conv2d(x, tf.constant(random(3, 3, 2, 4)), [1, 2, 2, 1], "SAME")
    assert same([add(y, tf.constant(random(4)))], [x], fuse_biases, random(2, 4, 5, 2), tolerance=1e-5) == ["_ConvBias"]


def test_a_product_that_is_used_otherwise_has_its_own_node():
    x = tf.placeholder(tf.float32, [2, 3])
    y = tf.matmul(x, tf.constant(random(3, 4)))
    assert same([y + tf.constant(random(4)), y], [x], fuse_biases, random(2, 3)) == ["MatMul", "AddV2"]


@pytest.mark.parametrize("dims", [(2, 1), (1,), ()])
def test_what_is_no_vector_of_the_last_axis_is_no_bias(dims):
    x = tf.placeholder(tf.float32, [2, 3])
    y = tf.matmul(x, tf.constant(random(3, 4))) + tf.constant(random(*dims))
    assert same([y], [x], fuse_biases, random(2, 3)) == ["MatMul", "AddV2"]


def test_whole_numbers_and_references_are_left_alone():
    x, v = tf.placeholder(tf.int32, [2, 2]), tf.get_variable("v", [2], initializer=tf.ones_initializer())
    assert same([tf.matmul(x, x) + [1, 2]], [x], fuse_biases, [[1, 2], [3, 4]]) == ["MatMul", "AddV2"]
    with tf.Session() as session:
        session.run(v.initializer)
        product = tf.matmul(tf.ones([2, 2]), tf.ones([2, 2]))
        total = tf.raw_ops.AddV2(x=product, y=v._ref())
        assert session.run(total).tolist() == [[3, 3], [3, 3]]


def test_a_convolution_that_is_used_otherwise_has_its_own_node():
    x = tf.placeholder(tf.float32, [None, 4, 5, 2])
    y = tf.nn.conv2d(x, tf.constant(random(3, 3, 2, 4)), [1, 1, 1, 1], "SAME")
    assert same([y, tf.nn.bias_add(y, tf.constant(random(4)))], [x], fuse_biases, random(2, 4, 5, 2)) == ["Conv2D", "BiasAdd"]


@pytest.mark.parametrize("convolution,bias", [("NHWC", "NCHW"), ("NCHW", "NHWC"), ("NCHW", "NCHW")])
def test_channels_that_come_first_get_their_bias_separately(convolution, bias):
    x = tf.placeholder(tf.float32, [None, 4, 4, 4])
    y = tf.nn.conv2d(x, tf.constant(random(1, 1, 4, 4)), [1, 1, 1, 1], "SAME", data_format=convolution)
    y = tf.nn.bias_add(y, tf.constant(random(4)), data_format=bias)
    assert same([y], [x], fuse_biases, random(2, 4, 4, 4), tolerance=1e-5) == ["Conv2D", "BiasAdd"]


def test_the_gradient_of_a_small_bias_is_summed_up_with_what_it_is_computed_of():
    x = tf.placeholder(tf.float32, [6, 4])
    y = tf.raw_ops.BiasAddGrad(out_backprop=x * 2.0)
    assert same([y], [x], sum_small_gradients, random(6, 4), tolerance=1e-6) == ["Mul", "Sum"]
    pictures = tf.placeholder(tf.float32, [2, 3, 3, 4])
    y = tf.raw_ops.BiasAddGrad(out_backprop=tf.square(pictures))
    assert same([y], [pictures], sum_small_gradients, random(2, 3, 3, 4), tolerance=1e-6) == ["Square", "Sum"]


def test_other_gradients_of_biases_stay():
    x, large, pictures = (tf.placeholder(tf.float32, dims) for dims in ([None, 4], [300, 64], [2, 4, 3, 3]))
    for dy, fed, layout in ((x * 2.0, random(6, 4), "NHWC"), (large * 2.0, random(300, 64), "NHWC"), (x, random(6, 4), "NHWC")):
        y = tf.raw_ops.BiasAddGrad(out_backprop=dy, data_format=layout)
        assert same([y], [dy.op.inputs[0] if dy is not x else x], sum_small_gradients, fed, tolerance=1e-4)[-1] == "BiasAddGrad"
    y = tf.raw_ops.BiasAddGrad(out_backprop=pictures * 2.0, data_format="NCHW")
    assert same([y], [pictures], sum_small_gradients, random(2, 4, 3, 3), tolerance=1e-6)[-1] == "BiasAddGrad"
