"""Confusion matrices, and the weights of losses and metrics."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.math.weights_broadcast import assert_broadcastable, broadcast_weights
from running import run


def test_rows_are_labels_and_columns_predictions():
    assert run(tf.confusion_matrix([0, 2, 2], [1, 2, 0])).tolist() == [[0, 1, 0], [0, 0, 0], [1, 0, 1]]
    weighted = tf.confusion_matrix([0, 1], [[1], [1]], num_classes=2, weights=[0.5, 2.0], dtype=tf.float32)
    assert run(weighted).tolist() == [[0, 0.5], [0, 2]]


def test_classes_must_be_in_range():
    for labels, message in (([0, 5], "`labels` out of bound"), ([0, -1], "`labels` contains negative values")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            run(tf.confusion_matrix(tf.placeholder_with_default(labels, [2]), [0, 1], num_classes=3))


@pytest.mark.parametrize("shape", [(), (2, 3), (2, 1), (1, 3), (1, 1)])
def test_weights_that_fit_are_spread(shape):
    given, weights = np.arange(np.prod(shape), dtype=np.float32).reshape(shape), tf.placeholder(tf.float32)
    want = np.broadcast_to(given, (2, 3)).tolist()
    assert run(broadcast_weights(given, np.ones((2, 3), np.float32))).tolist() == want
    assert run(broadcast_weights(weights, np.ones((2, 3), np.float32)), {weights: given}).tolist() == want


@pytest.mark.parametrize("shape", [(3,), (3, 1), (2, 2), (1, 2, 3)])
def test_weights_that_do_not_fit_are_refused(shape):
    with pytest.raises(ValueError, match="weights can not be broadcast to values"):
        assert_broadcastable(np.ones(shape), np.ones((2, 3)))
    weights = tf.placeholder(tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="weights can not be broadcast to values"):
        run(assert_broadcastable(weights, np.ones((2, 3))), {weights: np.ones(shape)})
