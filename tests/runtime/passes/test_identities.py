"""Nodes that hand on what they are given."""

import numpy as np
from planning import same

import everflow as tf
from everflow.runtime.passes.identities import drop_default_scales, drop_identities, drop_reshapes


def test_identities_go():
    x = tf.placeholder(tf.float32, [2])
    y = tf.identity(tf.stop_gradient(tf.identity(x) * 2.0))
    assert same([y], [x], drop_identities, [1.0, 2.0]) == ["Mul"]


def test_an_identity_that_reads_a_variable_stays():
    v = tf.Variable([1.0, 2.0])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        before = 1.0 * tf.identity(v._ref())
        with tf.control_dependencies([before]):
            change = tf.assign_add(v, [1.0, 1.0])
        old, _ = sess.run([before, change])
        np.testing.assert_array_equal(old, [1.0, 2.0])


def test_what_has_a_shape_is_not_given_it_again():
    x = tf.placeholder(tf.float32, [2, 3])
    assert same([tf.reshape(x, [-1, 3]) * 2.0], [x], drop_reshapes, np.ones((2, 3))) == ["Mul"]
    assert same([tf.reshape(x, [3, 2]) * 2.0], [x], drop_reshapes, np.ones((2, 3))) == ["Reshape", "Mul"]
    of_any_size = tf.placeholder(tf.float32, [None, 3])
    assert same([tf.reshape(of_any_size, [-1, 3]) * 2.0], [of_any_size], drop_reshapes, np.ones((2, 3))) == ["Reshape", "Mul"]


def test_random_numbers_are_not_scaled_by_one():
    assert same([tf.random_normal([3], seed=1)], [], drop_default_scales) == ["RandomStandardNormal"]
    assert same([tf.random_normal([3], stddev=2.0, seed=1)], [], drop_default_scales) == ["RandomStandardNormal", "Mul", "Add"]
    assert same([tf.random_normal([3], mean=1.0, seed=1)], [], drop_default_scales) == ["RandomStandardNormal", "Add"]


def test_other_numbers_are_multiplied_by_one():
    x = tf.placeholder(tf.float32, [2])
    assert same([x * 1.0 + 0.0], [x], drop_default_scales, [-0.0, 1.0]) == ["Mul", "AddV2"]
