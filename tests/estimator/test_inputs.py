"""Input functions from arrays."""

from __future__ import annotations

import numpy as np
import pytest

import everflow as tf


def everything(input_fn):
    with tf.Graph().as_default():
        tensors = input_fn()
        found = []
        with tf.train.MonitoredSession() as session:
            while not session.should_stop():
                found.append(session.run(tensors))
        return found


def test_rows_come_in_order_for_each_epoch():
    found = everything(
        tf.estimator.inputs.numpy_input_fn({"a": np.arange(5)}, np.arange(5) * 10, batch_size=4, num_epochs=2, shuffle=False)
    )
    np.testing.assert_array_equal(np.concatenate([f["a"] for f, _ in found]), [0, 1, 2, 3, 4] * 2)
    assert [len(labels) for _, labels in found] == [4, 4, 2]


def test_shuffled_rows_are_all_there():
    found = everything(tf.estimator.inputs.numpy_input_fn(np.arange(50), batch_size=7, shuffle=True))
    rows = np.concatenate(found)
    np.testing.assert_array_equal(np.sort(rows), np.arange(50))
    assert rows.tolist() != list(range(50))


def test_lengths_have_to_agree():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="Length of tensors in x and y is mismatched"):
        tf.estimator.inputs.numpy_input_fn({"a": np.arange(3)}, np.arange(2), shuffle=False)()
    with pytest.raises(ValueError, match="shuffle must be provided"):
        tf.estimator.inputs.numpy_input_fn({"a": np.arange(3)})
