"""top_k, nth_element and in_top_k."""

import numpy as np
import pytest

import everflow as tf
from running import run


@pytest.mark.parametrize("k", [0, 1, 3, 7])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8", "uint16"])
def test_top_k_is_sorted_and_takes_the_first_of_equals(k, dtype):
    x = np.random.RandomState(0).randint(0, 5, (3, 2, 7)).astype(dtype)
    values, indices = run(tf.nn.top_k(x, k))
    want = np.argsort(-x.astype(int), -1, kind="stable")[..., :k]
    assert (values.dtype, indices.dtype) == (np.dtype(dtype), np.int32)
    np.testing.assert_array_equal(indices, want)
    np.testing.assert_array_equal(values, np.take_along_axis(x, want, -1))


def test_top_k_of_different_values_is_exact():
    x = np.random.RandomState(0).permutation(1000).reshape(2, 500).astype(np.float32)
    values, _ = run(tf.nn.top_k(x, 10))
    np.testing.assert_array_equal(values, -np.sort(-x, -1)[:, :10])


@pytest.mark.parametrize("columns", [63, 64, 65, 200, 256])
@pytest.mark.parametrize("order", [lambda x: x, lambda x: np.sort(x, -1), lambda x: -np.sort(-x, -1)])
def test_top_k_of_long_rows_takes_the_first_of_equals(columns, order):
    x = order(np.random.RandomState(columns).randint(0, 40, (3, columns)).astype(np.float32))
    values, indices = run(tf.nn.top_k(x, 5))
    want = np.argsort(-x, -1, kind="stable")[:, :5]
    np.testing.assert_array_equal(indices, want)
    np.testing.assert_array_equal(values, np.take_along_axis(x, want, -1))


@pytest.mark.parametrize("place", [7, 130, 299])
@pytest.mark.parametrize("k", [5, 200])
def test_top_k_puts_nan_first(k, place):
    x = np.random.RandomState(0).permutation(600).reshape(2, 300).astype(np.float32)
    x[1, place] = np.nan
    values, indices = run(tf.nn.top_k(x, k))
    assert np.isnan(values[1, 0]) and indices[1, 0] == place
    np.testing.assert_array_equal(values[0], -np.sort(-x[0])[:k])


def test_top_k_sends_gradients_to_where_values_came_from():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([[3.0, 1.0, 2.0], [5.0, 9.0, 7.0]])
        dx = session.run(tf.gradients(tf.nn.top_k(x, 2)[0], x, tf.constant([[1.0, 2.0], [3.0, 4.0]]))[0])
    assert dx.tolist() == [[1.0, 0.0, 2.0], [0.0, 3.0, 4.0]]


def test_top_k_needs_enough_columns():
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(ValueError, match="input must have last dimension >= k = 4 but is 3"):
            tf.nn.top_k(tf.zeros([2, 3]), 4)
        with pytest.raises(ValueError, match="must be non-negative but is -1"):
            tf.nn.top_k(tf.zeros([2, 3]), -1)
        k = tf.placeholder(tf.int32, [])
        top = tf.nn.top_k(tf.zeros([2, 3]), k)
        with pytest.raises(tf.errors.InvalidArgumentError, match="input must have at least k columns. Had 3, needed 4"):
            session.run(top, {k: 4})
        with pytest.raises(tf.errors.InvalidArgumentError, match="Need k >= 0, got -1"):
            session.run(top, {k: -1})


def test_nth_element_counts_from_either_end():
    x = [[3.0, 1.0, 2.0], [6.0, 9.0, 7.0]]
    assert run(tf.contrib.nn.nth_element(x, 1)).tolist() == [2.0, 7.0]
    assert run(tf.contrib.nn.nth_element(x, 0, reverse=True)).tolist() == [3.0, 9.0]
    with tf.Graph().as_default(), tf.Session() as session:
        tied = tf.constant([[1.0, 2.0, 2.0]])
        assert session.run(tf.gradients(tf.contrib.nn.nth_element(tied, 1), tied)[0]).tolist() == [[0.0, 0.5, 0.5]]


def test_in_top_k_counts_better_classes():
    predictions = [[0.1, 0.3, 0.2, 0.4], [0.1, 0.2, 0.3, 0.4], [0.3, 0.3, 0.1, 0.3]]
    assert run(tf.nn.in_top_k(predictions, [1, 0, 1], 1)).tolist() == [False, False, True]
    assert run(tf.nn.in_top_k(predictions, np.array([1, 1, 2]), 2)).tolist() == [True, False, False]
    assert run(tf.nn.in_top_k([[0.1, np.nan], [np.inf, 0.2], [0.1, 0.2]], [0, 1, 7], 2)).tolist() == [False, False, False]
