"""Losses: values by hand, weights, reductions and the collection of losses."""

import numpy as np
import pytest

import everflow as tf
from running import run

LABELS = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]], np.float32)
GUESSES = np.array([[0.8, 0.3, 0.6], [0.1, 0.5, 0.9]], np.float32)


def pairwise(labels, guesses):
    errors = guesses - labels
    of_examples = []
    for row in errors:
        pairs = [(a - b) ** 2 for i, a in enumerate(row) for b in row[i + 1 :]]
        of_examples.append(sum(pairs) / len(pairs))
    return sum(of_examples)


@pytest.mark.parametrize(
    ("loss", "want"),
    [
        (tf.losses.absolute_difference, np.abs(LABELS - GUESSES).mean()),
        (tf.losses.mean_squared_error, ((LABELS - GUESSES) ** 2).mean()),
        (tf.losses.hinge_loss, np.maximum(0, 1 - (2 * LABELS - 1) * GUESSES).mean()),
        (
            lambda a, b: tf.losses.huber_loss(a, b, delta=0.3),
            np.where(abs(LABELS - GUESSES) <= 0.3, 0.5 * (LABELS - GUESSES) ** 2, 0.3 * abs(LABELS - GUESSES) - 0.045).mean(),
        ),
        (tf.losses.log_loss, -(LABELS * np.log(GUESSES) + (1 - LABELS) * np.log(1 - GUESSES)).mean()),
        (tf.losses.sigmoid_cross_entropy, (np.log1p(np.exp(GUESSES)) - LABELS * GUESSES).mean()),
        (lambda a, b: tf.losses.cosine_distance(a, b, axis=1), 1 - (LABELS * GUESSES).sum(1).mean()),
        (tf.losses.mean_pairwise_squared_error, pairwise(LABELS, GUESSES)),
        (
            lambda a, b: tf.losses.sparse_softmax_cross_entropy([[0], [2]], b),
            -np.log(np.exp(GUESSES)[[0, 1], [0, 2]] / np.exp(GUESSES).sum(1)).mean(),
        ),
        (
            lambda a, b: tf.losses.softmax_cross_entropy(np.eye(3)[[0, 2]], b, label_smoothing=0.3),
            -((0.7 * np.eye(3)[[0, 2]] + 0.1) * np.log(np.exp(GUESSES) / np.exp(GUESSES).sum(1, keepdims=True))).sum(1).mean(),
        ),
    ],
)
def test_values(loss, want):
    assert np.allclose(run(loss(LABELS, GUESSES)), want, atol=1e-6)


def test_reductions():
    weights = np.array([[2.0], [0.0]], np.float32)
    errors = np.abs(LABELS - GUESSES)
    total = 2 * errors[0].sum()
    for reduction, want in (
        ("none", errors * weights),
        ("weighted_sum", total),
        ("weighted_mean", total / 6),
        ("weighted_sum_by_nonzero_weights", total / 3),
        ("weighted_sum_over_batch_size", total / 6),
    ):
        found = run(tf.losses.absolute_difference(LABELS, GUESSES, weights, reduction=reduction))
        assert np.allclose(found, want), reduction
    with pytest.raises(ValueError, match="Invalid Reduction Key x."):
        tf.losses.absolute_difference(LABELS, GUESSES, reduction="x")


def test_weights_of_zero_give_no_loss():
    assert run(tf.losses.mean_squared_error(LABELS, GUESSES, 0.0)) == 0


def test_losses_are_collected_and_summed():
    with tf.Graph().as_default(), tf.Session() as session:
        first = tf.losses.mean_squared_error(LABELS, GUESSES)
        with tf.name_scope("inner"):
            second = tf.losses.absolute_difference(LABELS, GUESSES)
        tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.constant(2.0))
        assert tf.losses.get_losses() == [first, second] and tf.losses.get_losses("inner") == [second]
        total, parts = session.run((tf.losses.get_total_loss(), (first, second)))
        assert np.isclose(total, sum(parts) + 2)
        assert session.run(tf.losses.get_regularization_loss()) == 2


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="labels must not be None"):
        tf.losses.mean_squared_error(None, GUESSES)
    with pytest.raises(ValueError, match="weights can not be broadcast to values"):
        tf.losses.mean_squared_error(LABELS, GUESSES, weights=[1.0, 2.0])
    with pytest.raises(ValueError, match="incompatible"):
        tf.losses.mean_squared_error(LABELS, GUESSES[:, :2])


@pytest.mark.parametrize(
    "losses, weights, size, average",
    [
        ([2.5, 6.0], None, None, 4.25),
        ([[2.5, 6.0], [1.0, 2.0]], [0.2, 0.8], 10, 0.41),
        ([2.5, 6.0], [[0.2], [0.8]], None, 2.65),
        ([2.5, 6.0], 2, 10, 1.7),
    ],
)
def test_an_average_loss_weighs_examples(losses, weights, size, average):
    assert run(tf.nn.compute_average_loss(losses, weights, size)) == pytest.approx(average)


def test_an_average_loss_is_of_examples_with_weights_that_fit():
    with pytest.raises(ValueError, match="Expected a tensor with at least rank 1"):
        tf.nn.compute_average_loss(2.0)
    with pytest.raises(ValueError, match="weights can not be broadcast to values"):
        tf.nn.compute_average_loss([2.5, 6.0, 5.0], [0.2, 0.8])
    losses = tf.placeholder(tf.float32)
    average = tf.nn.compute_average_loss(losses)
    assert run(average, {losses: [2.0, 4.0]}) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected a tensor with at least rank 1\.\].*\(Cast/x:0\)"):
        run(average, {losses: 2.0})
