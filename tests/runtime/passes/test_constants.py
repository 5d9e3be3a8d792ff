"""What is known before running."""

import numpy as np
import pytest
from planning import same

import everflow as tf
from everflow.runtime.passes.constants import fold_constants


def test_constants_fold_through_chains_and_shapes():
    x = tf.placeholder(tf.float32, [2, 3])
    y = tf.reshape(x, tf.concat([tf.shape(x)[1:], [tf.constant(1) + 1]], 0))
    assert same([y], [x], fold_constants, np.arange(6, dtype=np.float32).reshape(2, 3)) == ["Reshape"]


def test_what_depends_on_a_feed_or_would_be_large_is_computed_in_each_run():
    x = tf.placeholder(tf.float32, [None, 3])
    assert same([tf.shape(x) + 1], [x], fold_constants, [[1.0, 2.0, 3.0]]) == ["Shape", "AddV2"]
    assert same([tf.fill([300, 300], 2.0)], [], fold_constants) == ["Fill"]


def test_an_error_in_a_constant_is_raised_when_it_runs():
    x = tf.constant(1) // tf.constant(0)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="[Dd]ivision by zero"):
        sess.run(x)
