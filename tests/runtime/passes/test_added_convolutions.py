"""Sums of branches."""

import pytest
from planning import normalized, random, same

import everflow as tf
from everflow.runtime.passes import PASSES
from everflow.runtime.passes.added_convolutions import add_convolutions

pytestmark = pytest.mark.processor


@pytest.mark.parametrize("stride", [1, 2])
def test_branches_are_summed_where_they_are_computed(stride):
    x = tf.placeholder(tf.float32, [None, 8, 6, 16])
    y = tf.nn.relu(normalized(x)[0])
    around, inside, outside = (tf.constant(0.1 * random(*dims)) for dims in ((1, 1, 16, 32), (1, 1, 16, 16), (1, 1, 16, 32)))
    z = tf.nn.relu(normalized(tf.nn.conv2d(y, inside, [1, stride, stride, 1], "SAME"))[0])
    found = tf.nn.conv2d(y, around, [1, stride, stride, 1], "SAME") + tf.nn.conv2d(z, outside, [1, 1, 1, 1], "SAME")
    loss = tf.reduce_sum(tf.square(found))
    found = same([found, *tf.gradients(loss, [x, around, inside, outside])], [x], PASSES, random(4, 8, 6, 16), tolerance=2e-3)
    assert found.count("_ConvAdded") == 1 and found.count("_ConvInputGradientAdded") == 1


def test_branches_of_different_sizes_are_broadcast():
    x = tf.placeholder(tf.float32, [None, None, None, 16])
    one, other = (tf.constant(random(1, 1, 16, 16)), tf.constant(random(16, 1, 1, 16).reshape(1, 1, 16, 16)))
    y = tf.nn.conv2d(x, one, [1, 1, 1, 1], "SAME") + tf.nn.conv2d(tf.reduce_mean(x, [1, 2], keepdims=True), other, [1, 1, 1, 1], "SAME")
    found = same([y], [x], PASSES, random(2, 3, 5, 16), tolerance=1e-3)
    assert "_ConvAdded" in found


def test_a_branch_that_is_used_otherwise_is_added_to_as_little_as_a_window_of_many_pixels():
    x = tf.placeholder(tf.float32, [None, 6, 6, 16])
    base = tf.exp(0.1 * x)
    one = tf.nn.conv2d(x, tf.constant(random(1, 1, 16, 16)), [1, 1, 1, 1], "SAME")
    nine = tf.nn.conv2d(x, tf.constant(random(3, 3, 16, 16)), [1, 1, 1, 1], "SAME")
    for fetches in ([base + one, base], [base + one, one], [base + nine]):
        assert "_ConvAdded" not in same(fetches, [x], add_convolutions, random(2, 6, 6, 16), tolerance=1e-3)
    assert "_ConvAdded" in same([base + one], [x], add_convolutions, random(2, 6, 6, 16), tolerance=1e-3)


def test_a_sum_of_three_terms_is_left_to_itself():
    x = tf.placeholder(tf.float32, [None, 6, 6, 16])
    one = tf.nn.conv2d(x, tf.constant(random(1, 1, 16, 16)), [1, 1, 1, 1], "SAME")
    assert "_ConvAdded" not in same([tf.add_n([tf.exp(x), one, x])], [x], add_convolutions, random(2, 6, 6, 16), tolerance=1e-3)
