"""Accumulators of gradients."""

import threading

import numpy as np
import pytest

import everflow as tf


def test_gradients_are_taken_as_their_mean_or_sum(session):
    mean, total = (tf.ConditionalAccumulator(tf.float32, [2], reduction_type=kind) for kind in ("MEAN", "SUM"))
    for value in ([1.0, 2.0], [3.0, 6.0]):
        session.run([mean.apply_grad(value), total.apply_grad(value)])
    assert session.run(mean.num_accumulated()) == 2
    assert session.run(mean.take_grad(2)).tolist() == [2, 4] and session.run(total.take_grad(1)).tolist() == [4, 8]
    assert session.run(mean.num_accumulated()) == 0


def test_stale_gradients_are_dropped(session):
    accumulator = tf.ConditionalAccumulator(tf.float32, [])
    session.run(accumulator.set_global_step(3))
    session.run(accumulator.apply_grad(1.0, local_step=2))
    assert session.run(accumulator.num_accumulated()) == 0
    session.run(accumulator.apply_grad(1.0, local_step=3))
    session.run(accumulator.take_grad(1))
    session.run(accumulator.apply_grad(1.0, local_step=3))
    assert session.run(accumulator.num_accumulated()) == 0


def test_taking_waits_for_enough_gradients(session):
    accumulator = tf.ConditionalAccumulator(tf.float32, [])
    take, give, found = accumulator.take_grad(2), accumulator.apply_grad(5.0), []
    thread = threading.Thread(target=lambda: found.append(session.run(take)))
    thread.start()
    session.run(give)
    thread.join(0.05)
    assert thread.is_alive()
    session.run(give)
    thread.join(300)
    assert found == [5]


def test_slices_are_averaged_by_index(session):
    accumulator = tf.SparseConditionalAccumulator(tf.float32, [None, 2])
    session.run(accumulator.apply_grad([0, 2], np.array([[1, 1], [2, 2]], np.float32)))
    session.run(accumulator.apply_indexed_slices_grad(tf.IndexedSlices(tf.constant([[3.0, 5.0]]), tf.constant([0]))))
    found = session.run(accumulator.take_indexed_slices_grad(2))
    assert found.indices.tolist() == [0, 2] and found.values.tolist() == [[2, 3], [2, 2]] and found.dense_shape.tolist() == [-1, 2]


def test_shapes_are_checked(session):
    with pytest.raises(ValueError, match=r"Shapes \(2,\) and \(1,\) are incompatible"):
        tf.ConditionalAccumulator(tf.float32, [1]).apply_grad([1.0, 2.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="index of slice 0 exceeded limits of shape; index is 5 exceeded 3"):
        session.run(tf.SparseConditionalAccumulator(tf.float32, [3]).apply_grad([5], [1.0]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="num_required must be positive, but was 0"):
        session.run(tf.ConditionalAccumulator(tf.float32).take_grad(0))


def test_gradients_given_before_another_op_are_given(session):
    accumulator = tf.SparseConditionalAccumulator(tf.float32)
    given = accumulator.apply_indexed_slices_grad(tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([1, 1])))
    with tf.control_dependencies([given]):
        after = tf.random_uniform([])
    session.run(after)
    assert session.run(accumulator.num_accumulated()) == 1
