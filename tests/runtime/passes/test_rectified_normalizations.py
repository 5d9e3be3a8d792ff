"""Batch normalization with Relu, and their gradient."""

import numpy as np
import pytest
from planning import normalized, random, same, types

import everflow as tf
from everflow.runtime.passes import PASSES
from everflow.runtime.passes.rectified_normalizations import rectify_normalizations

pytestmark = pytest.mark.processor


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("channels", [3, 16, 600])
def test_relu_and_its_gradient_are_part_of_the_normalization(training, channels):
    x = tf.placeholder(tf.float32, [None, 5, 4, channels])
    y, mean, variance = normalized(x, training)
    z = tf.nn.relu(y)
    (gradient,) = tf.gradients(tf.reduce_sum(z * tf.constant(random(5, 4, channels))), x)
    found = same([z, mean, variance, gradient], [x], PASSES, 3.0 * random(7, 5, 4, channels) + 2.0, tolerance=2e-4)
    assert "_NormalizeRectify" in found and "_NormalizeRectifyGradient" in found
    assert "Relu" not in found and "ReluGrad" not in found and "_ReluGradOver" not in found


@pytest.mark.parametrize("version", ["FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"])
def test_all_versions_are_joined(version):
    x = tf.placeholder(tf.float32, [2, 3, 3, 4])
    found = getattr(tf.raw_ops, version)(x=x, scale=tf.ones([4]), offset=tf.zeros([4]), mean=[], variance=[])
    found = same([tf.nn.relu(found.y)], [x], PASSES, random(2, 3, 3, 4), tolerance=2e-4)
    assert found == ["_NormalizeRectify"]


@pytest.mark.parametrize(
    "layer",
    [
        lambda x: tf.layers.batch_normalization(x, training=True),
        lambda x: tf.contrib.layers.batch_norm(x, is_training=True),
        lambda x: tf.contrib.layers.batch_norm(x, is_training=False, scale=True),
        lambda x: tf.keras.layers.BatchNormalization()(x, training=True),
        lambda x: tf.keras.layers.BatchNormalization()(x, training=False),
    ],
)
def test_layers_are_joined_with_their_activation(layer):
    x = tf.placeholder(tf.float32, [None, 4, 4, 8])
    y = tf.nn.relu(layer(x))
    (gradient,) = tf.gradients(y, x, tf.constant(random(6, 4, 4, 8)))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        found = sess.run(y, {x: random(6, 4, 4, 8)})
        ran = types(sess._runner([y, gradient], {x: found}).step)
    assert "_NormalizeRectify" in ran and "_NormalizeRectifyGradient" in ran
    assert found.min() == 0.0 < found.max()


def test_a_normalization_that_is_used_otherwise_keeps_its_own_result():
    x = tf.placeholder(tf.float32, [None, 4, 4, 8])
    y = normalized(x)[0]
    found = same([y, tf.nn.relu(y)], [x], (rectify_normalizations,), random(2, 4, 4, 8), tolerance=2e-4)
    assert "Relu" in found and "_NormalizeRectify" not in found


def test_a_gradient_that_is_fetched_is_not_written_over():
    x = tf.placeholder(tf.float32, [None, 6, 6, 16])
    z = tf.nn.relu(normalized(x)[0])
    loss = tf.reduce_sum(tf.nn.conv2d(z, tf.constant(random(1, 1, 16, 32)), [1, 1, 1, 1], "SAME") ** 2)
    found = same(tf.gradients(loss, [z, x]), [x], PASSES, random(3, 6, 6, 16), tolerance=1e-3)
    assert "_NormalizeRectifyGradient" in found


def test_a_large_mean_does_not_hide_a_small_variance():
    x = tf.placeholder(tf.float32, [None, 8, 8, 4])
    y, mean, variance = normalized(x)
    given = (random(16, 8, 8, 4) * 0.5 + 3000.0).astype(np.float32)
    exact = given.astype(np.float64)
    with tf.Session() as sess:
        found = sess.run([mean, variance], {x: given})
    np.testing.assert_allclose(found[0], exact.mean((0, 1, 2)), rtol=1e-6)
    np.testing.assert_allclose(found[1], exact.reshape(-1, 4).var(0, ddof=1), rtol=1e-4)


def test_what_is_normalized_outside_of_training_may_be_written_over_but_not_if_it_is_needed():
    x = tf.placeholder(tf.float32, [None, 4, 4, 16])
    filter = tf.constant(random(1, 1, 16, 16))
    y = tf.nn.conv2d(x, filter, [1, 1, 1, 1], "SAME") + tf.nn.conv2d(2.0 * x, filter, [1, 1, 1, 1], "SAME")
    z = tf.nn.relu(normalized(y, training=False)[0])
    given = random(2, 4, 4, 16)
    for fetches in ([z], [z, y]):
        assert "_NormalizeRectify" in (same(fetches, [x], PASSES, given, tolerance=1e-3))
