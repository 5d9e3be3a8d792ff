"""Sizes as Python's numbers."""

import numpy as np
import pytest
from planning import random, same

import everflow as tf
from everflow.runtime.passes.constants import fold_constants
from everflow.runtime.passes.host_sizes import keep_sizes_on_host


def test_sizes_are_computed_in_python():
    x = tf.placeholder(tf.float32, [None, 4])
    y = tf.reshape(x, tf.stack([tf.shape(x)[0] * 2, 2]))
    found = same([y], [x], keep_sizes_on_host, np.ones((3, 4), "f"))
    assert found == ["_HostShape", "_HostStridedSlice", "_HostMul", "_HostPack", "Reshape"]


def test_a_mean_is_divided_by_the_number_itself():
    x = tf.placeholder(tf.float32, [None])
    mean = tf.reduce_sum(x) / tf.cast(tf.size(tf.stack([tf.shape(x)[0]])) * tf.shape(x)[0], tf.float32)
    assert "_DivideBySize" in same([mean], [x], keep_sizes_on_host, [1.0, 2.0, 4.0])


def test_what_a_program_fetches_or_feeds_is_a_tensor():
    x, n = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.int32, [])
    found = same([tf.shape(x), n * 2], [x, n], keep_sizes_on_host, np.ones((3, 4), "f"), np.int32(7))
    assert found == ["_HostShape", "Mul", "_AsTensor"]


def test_counters_of_loops_and_their_conditions_are_plain_numbers():
    n, x = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [3])
    i, total, last = tf.while_loop(
        lambda i, t, _: i < n, lambda i, t, _: (i + 2, t + x[tf.minimum(i, 2)], tf.cast(i, tf.float32)), [0, 0.0, 0.0]
    )
    with tf.Session() as sess:
        assert sess.run([i, total, last], {n: 5, x: [1, 10, 100]}) == [6, 201, 4]
        assert sess.run([i, total, last], {n: 0, x: [1, 10, 100]}) == [0, 0, 0]
        assert sess.run(i, {n: 3, x: [0, 0, 0]}).dtype == np.int32
        loops = [steps for loop in sess._context.loops.values() for steps in loop.compiled.values()]
    # One with all variables, and one that only counts.
    assert [loop.truth is bool for loop in loops] == [True, True]
    assert [[c.node.type for c in loop.condition.calls] for loop in loops] == [["_HostLess"]] * 2


def test_sizes_of_sums_over_some_axes_are_put_together_in_python():
    x = tf.placeholder(tf.float32, [None, 3, None])
    dx = tf.gradients(tf.reduce_sum(x, [1, 2]), x)
    after = same(dx, [x], (fold_constants, keep_sizes_on_host), random(2, 3, 4))
    assert "DynamicStitch" not in after and "FloorDiv" not in after and "_HostDynamicStitch" in after


def test_sizes_divided_by_none_are_an_error_that_names_the_op():
    x = tf.placeholder(tf.float32, [None, 2])
    y = tf.floordiv(tf.shape(x), tf.shape(x)[0], name="quotient")
    with tf.Session() as sess:
        assert sess.run(y + 0, {x: np.zeros((2, 2))}).tolist() == [1, 1]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero[^$]*quotient"):
            sess.run(y + 0, {x: np.zeros((0, 2))})
