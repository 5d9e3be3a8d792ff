"""Gradients of what was broadcast."""

import numpy as np
from planning import compiled, random, same, types

import everflow as tf
from everflow.runtime.passes.broadcast_gradients import find_broadcast_axes, sum_to_shape
from everflow.runtime.passes.constants import fold_constants


def test_axes_that_shapes_tell_are_known_before_running():
    x, row = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [3])
    gradients = tf.gradients(tf.exp(x + row), [x, row])
    assert "BroadcastGradientArgs" in types(compiled(gradients, [x, row], ()))
    found = same(gradients, [x, row], (fold_constants, find_broadcast_axes), random(4, 3), random(3), tolerance=1e-6)
    assert "BroadcastGradientArgs" not in found and found.count("Sum") == 1


def test_an_unknown_size_that_is_the_same_on_both_sides_needs_no_sum():
    x = tf.placeholder(tf.float32, [None, 3])
    (gradient,) = tf.gradients(tf.exp(x) * tf.sin(x), [x])
    found = same([gradient], [x], find_broadcast_axes, random(4, 3), tolerance=1e-6)
    assert "BroadcastGradientArgs" not in found and "Sum" not in found


def test_gradients_of_sizes_known_only_at_run_time_are_summed_by_one_node():
    x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 2])
    gradients = tf.gradients(x * y, [x, y])
    for other in ([[5.0, 6.0], [7.0, 8.0]], [[5.0, 6.0]]):
        found = same(gradients, [x, y], sum_to_shape, [[1.0, 2.0], [3.0, 4.0]], other)
        assert found.count("_SumToShape") == 2 and "Sum" not in found


def test_a_sum_that_a_program_asks_for_stays():
    x = tf.placeholder(tf.float32, [None, 2])
    y = tf.reshape(tf.reduce_sum(x, tf.range(1)), tf.shape(x)[1:])
    assert "_SumToShape" not in same([y], [x], sum_to_shape, [[1.0, 2.0], [3.0, 4.0]])


def test_unknown_sizes_that_may_differ_are_broadcast_at_run_time():
    x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 3])
    grads = tf.gradients(x * y, [x, y])
    a, b = np.ones((1, 3), np.float32), np.full((4, 3), 2.0, np.float32)
    with tf.Session() as sess:
        dx, dy = sess.run(grads, {x: a, y: b})
        np.testing.assert_array_equal(dx, np.full((1, 3), 8.0))
        np.testing.assert_array_equal(dy, np.ones((4, 3)))
        dx, dy = sess.run(grads, {x: b, y: a})
        np.testing.assert_array_equal(dx, np.ones((4, 3)))
        np.testing.assert_array_equal(dy, np.full((1, 3), 8.0))


def test_chains_of_unknown_sizes_may_be_longer_than_pythons_stack():
    x = tf.placeholder(tf.float32, [None, 2])
    y = x
    for _ in range(1000):
        y = tf.nn.relu(y)
    dx, db = tf.gradients(y + (b := tf.constant([[1.0, 2.0]])), [x, b])
    with tf.Session() as session:
        found = session.run([dx, db], {x: [[1.0, -1.0], [2.0, 3.0]]})
    assert [value.tolist() for value in found] == [[[1, 0], [1, 1]], [[2, 2]]]


def test_gradients_of_batches_of_matrices_are_summed_by_one_node():
    x, y = tf.placeholder(tf.float32, [None, 3, 4]), tf.placeholder(tf.float32, [None, 4, 5])
    gradients = tf.gradients(tf.matmul(x, y), [x, y])
    for batch in (2, 1):
        after = same(gradients, [x, y], sum_to_shape, random(2, 3, 4), random(batch, 4, 5))
        assert after.count("_SumToShape") == 2 and "Sum" not in after
