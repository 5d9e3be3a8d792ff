"""Gradients of sums, which are few numbers until they meet a tensor of the whole shape."""

import numpy as np
import pytest
from planning import random, same

import everflow as tf
from everflow.runtime.passes.broadcast_gradients import find_broadcast_axes
from everflow.runtime.passes.constants import fold_constants
from everflow.runtime.passes.late_spreading import spread_late

PASSES = (fold_constants, find_broadcast_axes, spread_late)


def rewritten(fetches, feeds, *arguments):
    return same(fetches, feeds, PASSES, *arguments, tolerance=1e-6)


@pytest.mark.parametrize("rows", [6, None])
@pytest.mark.parametrize("axis", [0, 1, [0, 1], None])
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("reduce", [tf.reduce_sum, tf.reduce_mean])
def test_the_gradient_of_a_sum_is_not_written_out(rows, axis, keep, reduce):
    x = tf.placeholder(tf.float32, [rows, 5])
    gradient = tf.gradients(tf.square(reduce(x * x, axis, keepdims=keep)), x)[0]
    assert "Tile" not in rewritten([gradient], [x], random(6, 5))


def test_a_repeated_addend_is_added_to_the_sum_of_the_others():
    x, y, few = tf.placeholder(tf.float32, [None, 5]), tf.placeholder(tf.float32, [None, 5]), tf.placeholder(tf.float32, [1, 1])
    repeated = tf.tile(few, tf.shape(x))
    for others in ([x], [x, x * 2.0]):
        after = rewritten([tf.add_n([*others, repeated])], [x, few], random(6, 5), random(1, 1))
        assert "Tile" not in after and "AddV2" in after
    assert "Tile" in rewritten([tf.add_n([y, repeated])], [x, y, few], random(6, 5), random(6, 5), random(1, 1))


def test_what_is_fetched_or_has_nothing_beside_it_is_written_out():
    x = tf.placeholder(tf.float32, [3, 1])
    repeated = tf.tile(x, [1, 4])
    after = rewritten([repeated, repeated * 2.0, repeated * repeated], [x], random(3, 1))
    assert after.count("Tile") >= 1
    assert "Tile" in rewritten([tf.tile(x, [2, 4]) * random(6, 4)], [x], random(3, 1))


def test_no_rows_at_all_have_a_gradient_too():
    x = tf.placeholder(tf.float32, [None, 5])
    gradient = tf.gradients(tf.reduce_mean(tf.square(x), 1), x)[0]
    with tf.Session() as sess:
        assert sess.run(gradient, {x: np.zeros([0, 5])}).shape == (0, 5)


def test_a_reshape_to_the_shape_that_is_there_goes():
    x = tf.placeholder(tf.float32, [None, 5])
    assert "Reshape" not in rewritten([tf.reshape(x * 2.0, tf.shape(x))], [x], random(6, 5))
    assert "Reshape" in rewritten([tf.reshape(x * 2.0, [-1, 10])], [x], random(6, 5))
    unknown = tf.placeholder(tf.float32)
    assert "Reshape" in rewritten([tf.reshape(unknown, tf.shape(x))], [x, unknown], random(6, 5), random(30))


def test_a_sum_whose_axis_is_put_back_keeps_it():
    x = tf.placeholder(tf.float32, [None, 5, 4])
    shape = tf.shape(tf.reduce_max(x, 1, keepdims=True))
    total = tf.reduce_sum(x, 1)
    assert "Reshape" not in rewritten([tf.reshape(total, shape)], [x], random(6, 5, 4))
    assert "Reshape" in rewritten([total, tf.reshape(total, shape)], [x], random(6, 5, 4))
    assert "Reshape" in rewritten([tf.reshape(total, [-1, 4, 1])], [x], random(6, 5, 4))


def test_repeated_numbers_are_chosen_and_added_up_as_they_are():
    x, few = tf.placeholder(tf.float32, [6, 5]), tf.placeholder(tf.float32, [6, 1])
    repeated = tf.tile(few, [1, 5])
    chosen = [tf.where(x > 0.1, repeated, x), tf.where(x > 0.1, tf.zeros([6, 5]), repeated), tf.where(x > 0.1, repeated, repeated)]
    for y in chosen:
        after = rewritten([y], [x, few], random(6, 5), random(6, 1))
        assert "SelectV2" in after and "Tile" not in after
    total = tf.add_n([repeated, tf.negative(repeated), repeated]) * x
    after = rewritten([total], [x, few], random(6, 5), random(6, 1))
    assert "AddN" in after and "Tile" not in after
    rows = tf.placeholder(tf.bool, [6])
    assert "Select" in rewritten([tf.where(rows, repeated, x)], [x, few, rows], random(6, 5), random(6, 1), np.arange(6) > 2)
