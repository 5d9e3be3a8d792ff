"""tf.contrib.nn: formulas by numpy, sampled losses against those of tf.nn."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib.nn.functions import fwd_gradients
from running import run

nn = tf.contrib.nn


def test_alpha_dropout_keeps_mean_and_variance():
    x = tf.constant(np.random.RandomState(0).randn(200, 100), tf.float32)
    found = run(nn.alpha_dropout(x, 0.7, seed=1))
    assert abs(found.mean()) < 0.05 and abs(found.std() - 1) < 0.05
    # Three of ten numbers have the lowest value.
    values, counts = np.unique(found.round(4), return_counts=True)
    assert abs(counts.max() / found.size - 0.3) < 0.02
    assert nn.alpha_dropout(x, 1.0) is x


def test_alpha_dropout_refuses_probabilities_and_shapes_that_can_not_be():
    x = tf.ones([4, 3])
    for keep_prob in (0.0, 1.5, [0.5, 0.5]):
        with pytest.raises(ValueError):
            nn.alpha_dropout(x, keep_prob)
    for shape in ([4, 5], [4, 3, 2], [4]):
        with pytest.raises(ValueError):
            nn.alpha_dropout(x, 0.5, noise_shape=shape)
    assert nn.alpha_dropout(x, 0.5, noise_shape=[1, 3]).shape == (4, 3)


def test_scaled_softplus_is_clipped():
    x = np.linspace(-3, 3, 7).astype(np.float32)
    expected = np.minimum(0.5 * np.log1p(np.exp(x / 0.5)), 2.0)
    np.testing.assert_allclose(run(nn.scaled_softplus(x, 0.5, 2.0)), expected, rtol=1e-5)
    np.testing.assert_allclose(run(nn.scaled_softplus(x, 0.5)), 0.5 * np.log1p(np.exp(x / 0.5)), rtol=1e-5)


def test_flipped_losses_take_logits_first():
    logits, labels = tf.constant([[1.0, 2.0]]), tf.constant([[0.0, 1.0]])
    expected = np.log(1 + np.exp(-1.0))
    np.testing.assert_allclose(run(nn.deprecated_flipped_softmax_cross_entropy_with_logits(logits, labels)), [expected], rtol=1e-6)
    sparse = nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits, tf.constant([1]))
    np.testing.assert_allclose(run(sparse), [expected], rtol=1e-6)
    np.testing.assert_allclose(
        run(nn.deprecated_flipped_sigmoid_cross_entropy_with_logits(logits, labels)), [[np.log1p(np.e), np.log1p(np.exp(-2.0))]], rtol=1e-6
    )


def test_forward_gradients_say_how_results_change():
    x = tf.constant([1.0, 2.0])
    (change,) = fwd_gradients([tf.square(x) * x[0]], [x], [tf.constant([1.0, 10.0])], assert_unused=True)
    # x0³ and x0·x1² change by 3·x0² and x1² + 10·2·x0·x1.
    assert run(change).tolist() == [3, 44]


WEIGHTS = np.arange(50).reshape(10, 5).astype(np.float32) / 50


def test_ranked_samples_are_those_that_the_batch_finds_likeliest():
    inputs, labels = tf.constant([[0.0, 1, 2, 3, 4], [1, 1, 1, 1, 1]]), tf.constant([[0], [1]], tf.int64)
    given = {
        "weights": tf.constant(WEIGHTS),
        "biases": tf.zeros([10]),
        "labels": labels,
        "inputs": inputs,
        "num_classes": 10,
        "num_true": 1,
    }
    ranked = nn.rank_sampled_softmax_loss(
        **given,
        num_sampled=4,
        num_resampled=2,
        sampled_values=([3, 7, 5, 4], [[0.5], [0.5]], [0.5] * 4),
        resampling_temperature=1.0,
        remove_accidental_hits=False,
        partition_strategy="div",
    )
    plain = tf.nn.sampled_softmax_loss(
        **given, num_sampled=2, sampled_values=([5, 7], [[0.5], [0.5]], [0.5] * 2), remove_accidental_hits=False, partition_strategy="div"
    )
    np.testing.assert_allclose(run(ranked), run(plain), rtol=1e-5)
    with pytest.raises(ValueError, match=r"num_resampled \(4\) must be less than num_sampled \(4\)"):
        nn.rank_sampled_softmax_loss(
            **given,
            num_sampled=4,
            num_resampled=4,
            sampled_values=None,
            resampling_temperature=1.0,
            remove_accidental_hits=False,
            partition_strategy="div",
        )


def test_sampled_losses_of_one_class_take_its_number():
    inputs, labels = tf.constant([[0.0, 1, 2, 3, 4]]), tf.constant([[2]], tf.int64)
    given = {
        "weights": tf.constant(WEIGHTS),
        "biases": tf.zeros([10]),
        "labels": labels,
        "inputs": inputs,
        "num_sampled": 2,
        "num_classes": 10,
    }
    sampled = ([5, 7], [[0.5]], [0.5, 0.5])
    found, plain = (
        nn.sampled_sparse_softmax_loss(**given, sampled_values=sampled),
        tf.nn.sampled_softmax_loss(**given, sampled_values=sampled),
    )
    np.testing.assert_allclose(run(found), run(plain), rtol=1e-5)
