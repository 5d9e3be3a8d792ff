"""Batch normalization, fused and from its parts."""

import numpy as np
import pytest

import everflow as tf
from running import run

pytestmark = pytest.mark.processor

RANDOM = np.random.RandomState(3)
X = (RANDOM.randn(3, 4, 5, 2) * 2 + 1).astype(np.float32)
SCALE, OFFSET = np.array([1.5, 0.5], np.float32), np.array([0.1, -0.2], np.float32)
MEAN, VARIANCE = np.array([0.3, -0.1], np.float32), np.array([2.0, 0.7], np.float32)


def normalized(x, mean, variance, epsilon=0.001):
    return (x - mean) / np.sqrt(variance + epsilon) * SCALE + OFFSET


def test_training_normalizes_by_the_batch_and_reports_the_unbiased_variance():
    y, mean, variance = run(tf.nn.fused_batch_norm(X, SCALE, OFFSET))
    np.testing.assert_allclose(y, normalized(X, X.mean((0, 1, 2)), X.var((0, 1, 2))), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(mean, X.mean((0, 1, 2)), rtol=1e-5)
    np.testing.assert_allclose(variance, X.reshape(-1, 2).var(0, ddof=1), rtol=1e-5)


@pytest.mark.parametrize("shape", [(32, 16, 16, 3), (32, 8, 8, 4), (2, 3, 3, 20), (1, 1, 1, 2)])
def test_few_numbers_are_rounded_one_after_the_other_as_tensorflow_does(shape):
    x = np.random.RandomState(5).rand(*shape).astype(np.float32)
    rows, channels, one = x.reshape(-1, shape[-1]), shape[-1], np.float32(1)
    count = np.float32(len(rows))
    mean = np.cumsum(rows, 0, dtype=np.float32)[-1] * (one / count)
    variance = np.cumsum((rows - mean) ** 2, 0, dtype=np.float32)[-1] * (one / count)
    expected = (rows - mean) * (one / np.sqrt(variance + np.float32(0.001))) + np.float32(0.5)
    y, found_mean, found_variance = run(tf.nn.fused_batch_norm(x, np.ones(channels, "f"), np.full(channels, 0.5, "f")))
    assert (found_mean == mean).all()
    assert (found_variance == variance * (count / max(one, count - one))).all()
    assert (y.reshape(rows.shape) == expected).all()


def test_many_numbers_keep_their_digits():
    x = (np.random.RandomState(5).rand(64, 32, 32, 2) + 100).astype(np.float32)
    _, mean, variance = run(tf.nn.fused_batch_norm(x, SCALE, OFFSET))
    np.testing.assert_allclose(mean, x.mean((0, 1, 2), dtype=np.float64), rtol=1e-7)
    np.testing.assert_allclose(variance, x.var((0, 1, 2), dtype=np.float64), rtol=3e-5)


def test_inference_uses_what_it_is_given():
    y, _, _ = run(tf.nn.fused_batch_norm(X, SCALE, OFFSET, MEAN, VARIANCE, is_training=False))
    np.testing.assert_allclose(y, normalized(X, MEAN, VARIANCE), rtol=1e-4, atol=1e-5)
    first = run(tf.nn.fused_batch_norm(X.transpose(0, 3, 1, 2), SCALE, OFFSET, MEAN, VARIANCE, is_training=False, data_format="NCHW"))
    np.testing.assert_allclose(first[0].transpose(0, 2, 3, 1), y, rtol=1e-5, atol=1e-6)
    parts = run(tf.nn.batch_normalization(tf.constant(X), MEAN, VARIANCE, OFFSET, SCALE, 0.001))
    np.testing.assert_allclose(parts, y, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_fused_gradients_are_those_of_the_parts(training, data_format):
    axes, wide = ([0, 1, 2], [1, 1, 1, 2]) if data_format == "NHWC" else ([0, 2, 3], [1, 2, 1, 1])
    x = X if data_format == "NHWC" else X.transpose(0, 3, 1, 2)
    dy = RANDOM.randn(*x.shape).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        xt, scale, offset = tf.constant(x), tf.constant(SCALE), tf.constant(OFFSET)
        statistics = {} if training else {"mean": MEAN, "variance": VARIANCE}
        fused = tf.nn.fused_batch_norm(xt, scale, offset, is_training=training, data_format=data_format, **statistics)[0]
        if training:
            # Unlike tf.nn.moments, this lets gradients through the mean inside the variance: they cancel.
            mean = tf.reduce_mean(xt, axes, keepdims=True)
            variance = tf.reduce_mean(tf.square(xt - mean), axes, keepdims=True)
        else:
            mean, variance = MEAN.reshape(wide), VARIANCE.reshape(wide)
        parts = tf.nn.batch_normalization(xt, mean, variance, tf.reshape(offset, wide), tf.reshape(scale, wide), 0.001)
        ours, theirs = session.run([tf.gradients(y, [xt, scale, offset], dy) for y in (fused, parts)])
        for a, b in zip(ours, theirs):
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)
        second, want = session.run(
            [tf.gradients(tf.square(tf.gradients(y, xt, dy)[0]), [xt, scale] if training else [scale]) for y in (fused, parts)]
        )
        for a, b in zip(second, want):
            np.testing.assert_allclose(a, b, rtol=1e-2, atol=1e-3)


def test_short_types_keep_their_statistics_in_float32():
    y, mean, _ = run(tf.nn.fused_batch_norm(X.astype(np.float16), SCALE, OFFSET))
    assert (y.dtype, mean.dtype) == (np.float16, np.float32)
    np.testing.assert_allclose(y, normalized(X, X.mean((0, 1, 2)), X.var((0, 1, 2))), atol=0.02)


def test_empty_batches_have_no_statistics():
    y, mean, _ = run(tf.nn.fused_batch_norm(X[:0], SCALE, OFFSET))
    assert y.shape == (0, 4, 5, 2)
    assert np.isnan(mean).all()


def test_statistics_are_not_for_training():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="must be None if is_training is True"):
        tf.nn.fused_batch_norm(X, SCALE, OFFSET, MEAN, VARIANCE)


def test_global_normalization_has_gradients():
    random = np.random.RandomState(0)
    x = random.randn(2, 3, 2, 2)
    with tf.Graph().as_default() as graph, tf.Session():
        graph.graph_def_versions.producer = 8
        starts = [x, random.randn(2), 1 + random.rand(2), random.randn(2), random.randn(2)]
        values = [tf.constant(start) for start in starts]
        y = tf.raw_ops.BatchNormWithGlobalNormalization(
            **dict(zip(("t", "m", "v", "beta", "gamma"), values)), variance_epsilon=0.01, scale_after_normalization=True
        )
        for t, start in zip(values, starts):
            assert tf.test.compute_gradient_error(t, start.shape, y, x.shape, x_init_value=start, delta=1e-5) < 1e-4
