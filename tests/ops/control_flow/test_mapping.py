"""Functions of the rows of tensors: map_fn, foldl, foldr, scan."""

from __future__ import annotations

import numpy as np
import pytest

import everflow as tf
from running import run


def test_map_applies_the_function_to_each_row():
    rows = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    found = tf.map_fn(lambda r: tf.reduce_sum(r) * 2.0, rows)
    assert found.name == "map/TensorArrayStack/TensorArrayGatherV3:0" and found.shape == [2]
    np.testing.assert_array_equal(run(found), [6.0, 14.0])


def test_map_takes_and_returns_nested_structures():
    found = tf.map_fn(
        lambda r: {"sum": r[0] + r[1], "half": tf.cast(r[0], tf.float32) / 2.0},
        (tf.constant([1, 2]), tf.constant([10, 20])),
        dtype={"sum": tf.int32, "half": tf.float32},
    )
    values = run(found)
    np.testing.assert_array_equal(values["sum"], [11, 22])
    np.testing.assert_array_equal(values["half"], [0.5, 1.0])


def test_map_of_an_unknown_number_of_rows():
    rows = tf.placeholder(tf.float32, [None, 2])
    found = tf.map_fn(lambda r: r + 1.0, rows)
    assert found.shape.as_list() == [None, 2]
    with tf.Session() as session:
        for n in (1, 4):
            np.testing.assert_array_equal(session.run(found, {rows: np.zeros((n, 2))}), np.ones((n, 2)))


def test_map_has_gradients_for_rows_and_for_what_the_function_uses():
    rows = tf.constant([1.0, 2.0, 3.0])
    w = tf.Variable(2.0)
    loss = tf.reduce_sum(tf.map_fn(lambda r: r * r * w, rows))
    d_rows, d_w = run(tf.gradients(loss, [rows, w]))
    np.testing.assert_allclose(d_rows, [4.0, 8.0, 12.0])
    np.testing.assert_allclose(d_w, 14.0)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: tf.map_fn(3, [1]), TypeError, "fn must be callable"),
        (lambda: tf.map_fn(lambda x: x, tf.constant(1.0)), ValueError, "not a scalar"),
        (lambda: tf.map_fn(lambda x: x, [1, 2]), ValueError, "not scalars"),
        (lambda: tf.map_fn(lambda x: x, (tf.zeros([1]), tf.zeros([2]))), ValueError, "Dimensions 1 and 2 are not compatible"),
        (lambda: tf.scan(lambda a, x: (a, x), tf.zeros([2])), ValueError, "same nested structure"),
    ],
)
def test_what_can_not_be_mapped(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_folds_go_from_left_and_from_right():
    rows = tf.constant([1.0, 2.0, 4.0])
    left = tf.foldl(lambda a, x: a * 10.0 + x, rows)
    right = tf.foldr(lambda a, x: a * 10.0 + x, rows, initializer=7.0)
    assert run([left, right]) == [124.0, 7421.0]
    np.testing.assert_allclose(run(tf.gradients(left, rows)[0]), [100.0, 10.0, 1.0])


def test_scan_keeps_all_that_a_fold_has_on_its_way():
    rows = tf.constant([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(run(tf.scan(lambda a, x: a + x, rows)), [1.0, 3.0, 6.0])
    np.testing.assert_array_equal(run(tf.scan(lambda a, x: a + x, rows, initializer=1.0, reverse=True)), [7.0, 6.0, 4.0])
    np.testing.assert_array_equal(run(tf.scan(lambda a, x: a * x, rows, reverse=True)), [6.0, 6.0, 3.0])


def test_scan_gradient_goes_back_through_all_steps():
    rows = tf.constant([2.0, 3.0, 4.0])
    products = tf.scan(lambda a, x: a * x, rows)
    np.testing.assert_allclose(run(tf.gradients(products, rows)[0]), [1 + 3 + 12, 2 + 8, 6])
