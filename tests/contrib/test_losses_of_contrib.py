"""tf.contrib.losses: weights of any type and of fewer dimensions than the losses. Numbers are 1.15.5's."""

import numpy as np
import pytest

import everflow as tf
from running import run

losses = tf.contrib.losses
P = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
Y = np.array([[0, 2, 2], [5, 9, 4]], np.float32)[..., None] * np.ones(2, np.float32)


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        (2.0, 2 * P.mean()),
        ([1, 0], P[0].mean()),
        ([[3], [2]], (3 * P[0].sum() + 2 * P[1].sum()) / 12),
        ([[1, 0, 0], [0, 0, 2]], (P[0, 0].sum() + 2 * P[1, 2].sum()) / 4),
        ([0, 0], 0),
    ],
)
@pytest.mark.parametrize("dtype", [tf.float32, tf.int32, tf.float64])
def test_losses_are_means_over_what_has_a_weight(weights, expected, dtype):
    loss = losses.compute_weighted_loss(tf.constant(P), tf.cast(tf.constant(weights), dtype))
    assert run(loss) == pytest.approx(expected, rel=1e-5)
    assert tf.get_collection("losses") == [loss]


def test_pairs_within_examples_are_compared():
    apart = (P - Y).reshape(2, 6)
    expected = sum(2 * (row**2).mean() - 2 * row.mean() ** 2 for row in apart)
    assert run(losses.mean_pairwise_squared_error(tf.constant(P), tf.constant(Y))) == pytest.approx(expected, rel=1e-5)


def test_columns_of_weights_fit_losses_of_examples():
    logits, labels = tf.constant([[1.0, 2.0], [3.0, 1.0]]), tf.constant([[0, 1], [0, 1]])
    one, two = np.log1p(np.exp(-1.0)), np.log1p(np.exp(2.0))
    loss = losses.softmax_cross_entropy(logits, labels, weights=tf.constant([[1.0], [2.0]]))
    assert run(loss) == pytest.approx((one + 2 * two) / 2, rel=1e-5)
    sparse = losses.sparse_softmax_cross_entropy(logits, tf.constant([[1], [1]]), weights=tf.constant([[0.0], [1.0]]))
    assert run(sparse) == pytest.approx(two, rel=1e-5)


def test_a_scope_may_keep_losses_out_of_the_collection():
    with tf.contrib.framework.arg_scope([losses.add_loss], loss_collection=None):
        losses.absolute_difference(tf.constant(P), tf.constant(Y))
    assert tf.get_collection("losses") == []


def test_shapes_are_known():
    with pytest.raises(ValueError, match=r"weights.get_shape\(\).ndims cannot be None"):
        losses.mean_squared_error(tf.constant(P), tf.constant(Y), tf.placeholder(tf.float32))
    with pytest.raises(ValueError, match="You must specify 'axis'"):
        losses.cosine_distance(tf.constant(P), tf.constant(Y))
