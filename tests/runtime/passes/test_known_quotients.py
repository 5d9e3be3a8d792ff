"""Counts of elements that are divided by each other."""

import numpy as np
import pytest
from planning import random, same

import everflow as tf
from everflow.runtime.passes.constants import fold_constants
from everflow.runtime.passes.known_quotients import find_known_quotients


def gradient(dims, axis, keep):
    x = tf.placeholder(tf.float32, dims)
    return x, tf.gradients(tf.reduce_mean(tf.square(x), axis, keepdims=keep), x)[0]


@pytest.mark.parametrize("keep", [False, True])
def test_the_divisor_of_a_mean_is_known_where_the_axis_is(keep):
    x, found = gradient([None, 5, 4], [1, 2], keep)
    assert "FloorDiv" in same([found], [x], fold_constants, random(6, 5, 4))
    for rows in (6, 0):
        after = same([found], [x], (find_known_quotients, fold_constants), random(rows, 5, 4))
        assert "Prod" not in after


def test_the_divisor_of_a_mean_over_an_unknown_axis_is_found_when_running():
    x, found = gradient([None, 5], 0, False)
    assert "Prod" in same([found], [x], find_known_quotients, random(6, 5))


def test_sizes_that_are_fed_are_what_they_are():
    shape = tf.placeholder(tf.int32, [2])
    found = tf.reduce_prod(shape) // tf.maximum(tf.reduce_prod(shape[1:]), 1)
    assert "FloorDiv" in same([found], [shape], find_known_quotients, np.int32([6, 5]))
