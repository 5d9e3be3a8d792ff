"""Moments, norms and dropout."""

import numpy as np
import pytest

import everflow as tf
from running import run

RANDOM = np.random.RandomState(4)
X = RANDOM.randn(3, 4, 5)


@pytest.mark.parametrize("keep", [False, True])
def test_moments_are_mean_and_variance(keep):
    mean, variance = run(tf.nn.moments(tf.constant(X), [0, 2], keep_dims=keep))
    np.testing.assert_allclose(mean, X.mean((0, 2), keepdims=keep))
    np.testing.assert_allclose(variance, X.var((0, 2), keepdims=keep))


def test_weighted_moments_count_by_weight():
    weights = RANDOM.randint(0, 4, (3, 4, 1)).astype(float)
    mean, variance = run(tf.nn.weighted_moments(X, [0, 1], weights))
    repeated = np.repeat(X.reshape(12, 5), weights.reshape(12).astype(int), 0)
    np.testing.assert_allclose(mean, repeated.mean(0))
    np.testing.assert_allclose(variance, repeated.var(0))


@pytest.mark.parametrize("shift", [None, np.float64(0.5)])
def test_statistics_are_enough_for_moments(shift):
    def build():
        return tf.nn.normalize_moments(*tf.nn.sufficient_statistics(X, [0, 1], shift=shift))

    mean, variance = run(build())
    np.testing.assert_allclose(mean, X.mean((0, 1)))
    np.testing.assert_allclose(variance, X.var((0, 1)))


def test_the_count_of_sufficient_statistics_may_be_known_late():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float64, [None, 4, 5])
        assert session.run(tf.nn.sufficient_statistics(x, [0, 1])[0], {x: X}) == 12


def lrn(x, radius, bias, alpha, beta):
    squares = np.stack([(x[..., max(0, i - radius) : i + radius + 1] ** 2).sum(-1) for i in range(x.shape[-1])], -1)
    return x / (bias + alpha * squares) ** beta


@pytest.mark.parametrize("radius", [0, 1, 2, 7])
def test_response_normalization_looks_at_neighbouring_channels(radius):
    x = RANDOM.randn(1, 2, 2, 6).astype(np.float32)
    np.testing.assert_allclose(run(tf.nn.lrn(x, radius, 2.0, 0.5, 0.75)), lrn(x, radius, 2.0, 0.5, 0.75), rtol=1e-5)
    with tf.Graph().as_default(), tf.Session():
        xt = tf.constant(x)
        assert (
            tf.test.compute_gradient_error(xt, x.shape, tf.nn.lrn(xt, radius, 2.0, 0.5, 0.75), x.shape, x_init_value=x, delta=1e-2) < 5e-3
        )


def test_l2_normalize_gives_length_one():
    found = run(tf.nn.l2_normalize(X, axis=[0, 2]))
    np.testing.assert_allclose((found**2).sum((0, 2)), np.ones(4))
    assert run(tf.nn.l2_normalize([0.0, 0.0], axis=0)).tolist() == [0.0, 0.0]


def test_l2_loss_is_half_the_sum_of_squares():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(X)
        loss, dx = session.run([tf.nn.l2_loss(x), tf.gradients(tf.nn.l2_loss(x), x)[0]])
    assert loss == pytest.approx((X**2).sum() / 2)
    np.testing.assert_array_equal(dx, X)


def test_zero_fraction_counts_zeros():
    assert run(tf.nn.zero_fraction([[0.0, 1.0], [0.0, 0.0]])) == 0.75


def test_dropout_keeps_the_mean_and_drops_the_rate():
    x = np.ones((200, 200), np.float32)
    for arguments in ({"rate": 0.3}, {"keep_prob": 0.7}, {"rate": tf.constant}):
        with tf.Graph().as_default(), tf.Session() as session:
            if arguments == {"rate": tf.constant}:
                arguments = {"rate": tf.placeholder_with_default(0.3, [])}
            found = session.run(tf.nn.dropout(x, seed=1, **arguments))
        assert set(np.unique(found).round(5)) == {0.0, np.float32(1 / 0.7).round(5)}
        assert (found == 0).mean() == pytest.approx(0.3, abs=0.02)


def test_dropout_masks_may_be_shared():
    found = run(tf.nn.dropout(np.ones((6, 50)), rate=0.5, noise_shape=[1, None], seed=2))
    assert (found == found[:1]).all()
    assert 0 < (found[0] == 0).mean() < 1


def test_dropout_of_nothing_adds_no_ops():
    with tf.Graph().as_default() as graph:
        x = tf.ones([3])
        before = len(graph.get_operations())
        assert tf.nn.dropout(x, rate=0.0) is x
        assert tf.nn.dropout(x, keep_prob=1.0) is x
        assert len(graph.get_operations()) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "You must provide a rate to dropout."),
        ({"rate": 1.5}, r"in the range \[0, 1\), got 1.5"),
        ({"keep_prob": 1.5}, r"in the range \[0, 1\), got -0.5"),
        ({"keep_prob": 0.5, "rate": 0.5}, "Cannot specify both 'keep_prob' and 'rate'"),
    ],
)
def test_dropout_checks_its_rate(arguments, message):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        tf.nn.dropout([1.0], **arguments)


def test_dropout_is_for_floats():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="x has to be a floating point tensor"):
        tf.nn.dropout([1, 2], rate=0.5)
