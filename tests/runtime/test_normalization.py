"""Batch normalization joined with Relu, with zeros around it, and residual sums made where they are computed."""
import numpy as np
import pytest

import everflow as tf
from everflow.runtime import passes
from everflow.runtime.passes.rectified_normalizations import rectify_normalizations
from tests.runtime.test_passes import compiled, values

pytestmark = pytest.mark.processor


def random(*dims):
    return np.random.RandomState(sum(dims)).randn(*dims).astype(np.float32)


def normalized(x, training=True, **arguments):
    channels = int(x.shape[-1])
    scale, offset = tf.constant(1.0 + 0.1 * random(channels)), tf.constant(0.1 * random(channels))
    statistics = {} if training else {"mean": tf.constant(0.1 * random(channels)), "variance": tf.constant(random(channels) ** 2 + 0.5)}
    return tf.nn.fused_batch_norm(x, scale, offset, is_training=training, **statistics, **arguments)


def types(step):
    return [call.node.type for call in step.calls]


def same(fetches, x, given, rewrites=passes.PASSES, tolerance=2e-4):
    """The step with the passes, which gives the same values as the ops one by one."""
    plain, joined = compiled(fetches, [x], ()), compiled(fetches, [x], rewrites)
    for a, b in zip(values(plain, given), values(joined, given)):
        np.testing.assert_allclose(b, a, rtol=tolerance, atol=tolerance)
    return joined


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("channels", [3, 16, 600])
def test_relu_and_its_gradient_are_part_of_the_normalization(training, channels):
    x = tf.placeholder(tf.float32, [None, 5, 4, channels])
    y, mean, variance = normalized(x, training)
    z = tf.nn.relu(y)
    gradient, = tf.gradients(tf.reduce_sum(z * tf.constant(random(5, 4, channels))), x)
    step = same([z, mean, variance, gradient], x, 3.0 * random(7, 5, 4, channels) + 2.0)
    assert "_NormalizeRectify" in types(step) and "_NormalizeRectifyGradient" in types(step)
    assert "Relu" not in types(step) and "ReluGrad" not in types(step) and "_ReluGradOver" not in types(step)


@pytest.mark.parametrize("version", ["FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"])
def test_all_versions_are_joined(version):
    x = tf.placeholder(tf.float32, [2, 3, 3, 4])
    found = getattr(tf.raw_ops, version)(x=x, scale=tf.ones([4]), offset=tf.zeros([4]), mean=[], variance=[])
    step = same([tf.nn.relu(found.y)], x, random(2, 3, 3, 4))
    assert types(step) == ["_NormalizeRectify"]


@pytest.mark.parametrize("layer", [
    lambda x: tf.layers.batch_normalization(x, training=True),
    lambda x: tf.contrib.layers.batch_norm(x, is_training=True),
    lambda x: tf.contrib.layers.batch_norm(x, is_training=False, scale=True),
    lambda x: tf.keras.layers.BatchNormalization()(x, training=True),
    lambda x: tf.keras.layers.BatchNormalization()(x, training=False),
])
def test_layers_are_joined_with_their_activation(layer):
    x = tf.placeholder(tf.float32, [None, 4, 4, 8])
    y = tf.nn.relu(layer(x))
    gradient, = tf.gradients(y, x, tf.constant(random(6, 4, 4, 8)))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        found = sess.run(y, {x: random(6, 4, 4, 8)})
        ran = types(sess._runner([y, gradient], {x: found}).step)
    assert "_NormalizeRectify" in ran and "_NormalizeRectifyGradient" in ran
    assert found.min() == 0.0 < found.max()


def test_a_normalization_that_is_used_otherwise_keeps_its_own_result():
    x = tf.placeholder(tf.float32, [None, 4, 4, 8])
    y = normalized(x)[0]
    step = same([y, tf.nn.relu(y)], x, random(2, 4, 4, 8), (rectify_normalizations,))
    assert "Relu" in types(step) and "_NormalizeRectify" not in types(step)


def test_a_gradient_that_is_fetched_is_not_written_over():
    x = tf.placeholder(tf.float32, [None, 6, 6, 16])
    z = tf.nn.relu(normalized(x)[0])
    loss = tf.reduce_sum(tf.nn.conv2d(z, tf.constant(random(1, 1, 16, 32)), [1, 1, 1, 1], "SAME") ** 2)
    step = same(tf.gradients(loss, [z, x]), x, random(3, 6, 6, 16), tolerance=1e-3)
    assert "_NormalizeRectifyGradient" in types(step)


def test_a_large_mean_does_not_hide_a_small_variance():
    x = tf.placeholder(tf.float32, [None, 8, 8, 4])
    y, mean, variance = normalized(x)
    given = (random(16, 8, 8, 4) * 0.5 + 3000.0).astype(np.float32)
    exact = given.astype(np.float64)
    with tf.Session() as sess:
        found = sess.run([mean, variance], {x: given})
    np.testing.assert_allclose(found[0], exact.mean((0, 1, 2)), rtol=1e-6)
    np.testing.assert_allclose(found[1], exact.reshape(-1, 4).var(0, ddof=1), rtol=1e-4)


@pytest.mark.parametrize("height,stride,window", [(8, 2, 3), (9, 2, 2), (6, 1, 4)])
def test_convolutions_find_zeros_around_what_was_normalized(height, stride, window):
    x = tf.placeholder(tf.float32, [None, height, 8, 16])
    filter = tf.constant(0.1 * random(window, window, 16, 8))
    y = tf.nn.conv2d(tf.nn.relu(normalized(x)[0]), filter, [1, stride, stride, 1], "SAME")
    step = same([y, *tf.gradients(y, [x, filter])], x, random(3, height, 8, 16), tolerance=1e-3)
    assert "_NormalizeRectifySurrounded" in types(step)


def test_pad_takes_the_zeros_that_were_written():
    x = tf.placeholder(tf.float32, [None, 8, 8, 4])
    z = tf.pad(tf.nn.relu(normalized(x)[0]), [[0, 0], [1, 2], [0, 1], [0, 0]])
    y = tf.nn.conv2d(z, tf.constant(random(3, 3, 4, 8)), [1, 2, 2, 1], "VALID")
    step = same([z, y, *tf.gradients(y, x)], x, random(3, 8, 8, 4), tolerance=1e-3)
    assert "_NormalizeRectifySurrounded" in types(step) and "Pad" not in types(step)


@pytest.mark.parametrize("stride", [1, 2])
def test_branches_are_summed_where_they_are_computed(stride):
    x = tf.placeholder(tf.float32, [None, 8, 6, 16])
    y = tf.nn.relu(normalized(x)[0])
    around, inside, outside = (tf.constant(0.1 * random(*dims)) for dims in ((1, 1, 16, 32), (1, 1, 16, 16), (1, 1, 16, 32)))
    z = tf.nn.relu(normalized(tf.nn.conv2d(y, inside, [1, stride, stride, 1], "SAME"))[0])
    found = tf.nn.conv2d(y, around, [1, stride, stride, 1], "SAME") + tf.nn.conv2d(z, outside, [1, 1, 1, 1], "SAME")
    loss = tf.reduce_sum(tf.square(found))
    step = same([found, *tf.gradients(loss, [x, around, inside, outside])], x, random(4, 8, 6, 16), tolerance=2e-3)
    assert types(step).count("_ConvAdded") == 1 and types(step).count("_ConvInputGradientAdded") == 1


def test_branches_of_different_sizes_are_broadcast():
    x = tf.placeholder(tf.float32, [None, None, None, 16])
    one, other = (tf.constant(random(1, 1, 16, 16)), tf.constant(random(16, 1, 1, 16).reshape(1, 1, 16, 16)))
    y = tf.nn.conv2d(x, one, [1, 1, 1, 1], "SAME") + tf.nn.conv2d(tf.reduce_mean(x, [1, 2], keepdims=True), other, [1, 1, 1, 1], "SAME")
    step = same([y], x, random(2, 3, 5, 16), tolerance=1e-3)
    assert "_ConvAdded" in types(step)


@pytest.mark.parametrize("window,stride,with_bias,with_relu", [
    (1, 1, False, True), (1, 2, True, False), (3, 2, True, True), (3, 1, False, False),
])
def test_outside_of_training_convolutions_normalize(window, stride, with_bias, with_relu):
    x = tf.placeholder(tf.float32, [None, 8, 7, 16])
    y = tf.nn.conv2d(x, tf.constant(random(window, window, 16, 32)), [1, stride, stride, 1], "SAME")
    if with_bias:
        y = tf.nn.bias_add(y, tf.constant(random(32)))
    y = normalized(y, training=False)[0]
    step = same([tf.nn.relu(y) if with_relu else y], x, random(2, 8, 7, 16), tolerance=1e-3)
    assert types(step) == ["_ConvNormalized"]


def test_convolutions_find_zeros_around_the_results_of_convolutions():
    x = tf.placeholder(tf.float32, [None, 8, 8, 16])
    y = tf.nn.relu(normalized(tf.nn.conv2d(x, tf.constant(random(1, 1, 16, 32)), [1, 1, 1, 1], "SAME"), training=False)[0])
    z = tf.nn.relu(normalized(tf.nn.conv2d(y, tf.constant(random(3, 3, 32, 16)), [1, 2, 2, 1], "SAME"), training=False)[0])
    step = same([z], x, random(2, 8, 8, 16), tolerance=2e-3)
    assert types(step) == ["_ConvNormalizedSurrounded", "_ConvNormalized"]


def test_what_is_normalized_outside_of_training_may_be_written_over_but_not_if_it_is_needed():
    x = tf.placeholder(tf.float32, [None, 4, 4, 16])
    filter = tf.constant(random(1, 1, 16, 16))
    y = tf.nn.conv2d(x, filter, [1, 1, 1, 1], "SAME") + tf.nn.conv2d(2.0 * x, filter, [1, 1, 1, 1], "SAME")
    z = tf.nn.relu(normalized(y, training=False)[0])
    given = random(2, 4, 4, 16)
    for fetches in ([z], [z, y]):
        assert "_NormalizeRectify" in types(same(fetches, x, given, tolerance=1e-3))
