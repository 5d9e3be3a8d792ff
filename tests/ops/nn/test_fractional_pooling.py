"""Fractional pooling."""

import numpy as np
import pytest

import everflow as tf
from running import run

RANDOM = np.random.RandomState(6)
X = RANDOM.randn(1, 11, 13, 2)


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("pseudo_random", [False, True])
@pytest.mark.parametrize(("function", "reduce"), [("fractional_max_pool", np.max), ("fractional_avg_pool", np.mean)])
def test_windows_lie_between_the_edges(function, reduce, pseudo_random, overlapping):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(X)
        y, rows, columns = getattr(tf.nn, function)(x, [1, 1.5, 1.7, 1], pseudo_random, overlapping, True, 5, 9)
        assert y.shape.as_list() == [1, 7, 7, 2]
        found, row_edges, column_edges, dx = session.run([y, rows, columns, tf.gradients(y, x)[0]])
        assert tf.test.compute_gradient_error(x, X.shape, y, [1, 7, 7, 2], x_init_value=X, delta=1e-5) < 1e-6
    assert (row_edges[0], row_edges[-1], column_edges[-1]) == (0, 11, 13)
    assert set(np.diff(row_edges)) <= {1, 2}
    for i in range(7):
        for j in range(7):
            window = X[:, row_edges[i] : row_edges[i + 1] + overlapping, column_edges[j] : column_edges[j + 1] + overlapping]
            np.testing.assert_allclose(found[:, i, j], reduce(window, (1, 2)))
    assert dx.sum() == pytest.approx(98)


def test_seeds_give_the_edges_of_tensorflow():
    """Recorded from TensorFlow 1.15.5."""
    _, rows, columns = run(tf.nn.fractional_max_pool(X, [1, 1.5, 1.7, 1], False, False, True, 5, 9))
    assert (rows.tolist(), columns.tolist()) == ([0, 1, 3, 5, 6, 7, 9, 11], [0, 2, 4, 6, 8, 9, 11, 13])


def test_ratios_are_for_height_and_width():
    with pytest.raises(tf.errors.InvalidArgumentError, match="not yet supported on the batch nor channel dimension"):
        run(tf.nn.fractional_max_pool(X, [1, 1.5, 1.5, 1.5]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Pooling ratio is higher than input dimension size for dimension 1"):
        run(tf.nn.fractional_avg_pool(X[:, :1], [1, 1.5, 1.5, 1]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="should be 0 if deterministic is false"):
        run(tf.nn.fractional_avg_pool(X, [1, 1.5, 1.5, 1], seed=3))


@pytest.mark.parametrize(("pseudo_random", "columns"), [(False, [0, 1, 2, 4, 5, 6]), (True, [0, 1, 3, 4, 5, 6])])
def test_rows_of_one_size_take_numbers_too(pseudo_random, columns):
    """Recorded from TensorFlow 1.15.5."""
    x = np.arange(36).reshape(1, 6, 6, 1)
    means, rows, found = run(tf.nn.fractional_avg_pool(tf.constant(x, tf.int32), [1, 1, 1.2, 1], pseudo_random, False, True, 5, 7))
    assert (rows.tolist(), found.tolist()) == (list(range(7)), columns)
    assert means.shape == (1, 6, 5, 1)
