"""Rows and elements chosen by index, and put back."""

import numpy as np
import pytest

import everflow as tf
from running import run

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("indices", [1, [1, 0], [[0, 1], [1, 1]], np.zeros((2, 0), np.int32)])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_gather_takes_slices_along_an_axis(axis, indices, dtype):
    indices = np.array(indices, dtype)
    for static in ((2, 3, 4), None):
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.float32, static)
            y = tf.gather(x, indices, axis=axis)
            found, dx = session.run([y, tf.convert_to_tensor(tf.gradients(y, x)[0])], {x: X})
        expected = np.take(X, indices, axis)
        assert found.shape == expected.shape and (found == expected).all()
        counts = np.bincount(indices.ravel(), minlength=X.shape[axis]).astype(np.float32)
        assert (dx == np.broadcast_to(np.moveaxis(counts[:, None, None], 0, axis), X.shape)).all()


def test_gather_for_each_entry_of_a_batch():
    indices = np.array([[2, 0], [1, 1]])
    for build in (
        lambda x: tf.gather(x, indices, batch_dims=1),
        lambda x: tf.batch_gather(x, indices),
        lambda x: tf.gather(x, indices, axis=1, batch_dims=-1),
    ):
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.constant(X)
            found, dx = session.run([build(x), tf.gradients(build(x), x)[0]])
        assert (found == np.stack([X[0][[2, 0]], X[1][[1, 1]]])).all()
        assert dx[:, :, 0].tolist() == [[1.0, 0.0, 1.0], [0.0, 2.0, 0.0]]


def test_gather_for_a_batch_along_a_later_axis():
    indices = np.array([[3], [0]])
    assert (run(tf.gather(X, indices, batch_dims=1, axis=2)) == np.stack([X[0][:, [3]], X[1][:, [0]]])).all()


def test_the_gradient_of_gather_names_the_rows_that_were_used():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [5, 2])
        rows = tf.gradients(tf.gather(x, [3, 1, 3]) * 2.0, x)[0]
        assert isinstance(rows, tf.IndexedSlices)
        found = session.run(rows, {x: np.zeros((5, 2))})
    assert found.indices.tolist() == [3, 1, 3] and found.values.tolist() == [[2.0, 2.0]] * 3
    assert found.dense_shape.tolist() == [5, 2]


@pytest.mark.parametrize(
    "indices, message",
    [
        ([0, 7], r"indices\[1\] = 7 is not in \[0, 2\)"),
        ([[0], [-1]], r"indices\[1,0\] = -1 is not in \[0, 2\)"),
        (7, r"indices = 7 is not in \[0, 2\)"),
    ],
)
def test_gather_says_which_index_is_wrong(indices, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(tf.gather(X, indices))
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(tf.gather(X.astype(str).astype(object), indices))


@pytest.mark.parametrize("indices", [[[1, 2], [0, 0]], [[1]], [1, 2, 3], [[[0, 1, 2]], [[1, 0, 3]]], np.zeros((2, 0), np.int32)])
def test_gather_nd_takes_elements_or_slices_at_index_vectors(indices):
    indices = np.array(indices, np.int32)
    expected = X[tuple(np.moveaxis(indices, -1, 0))] if indices.shape[-1] else np.stack([X, X])
    for static in ((2, 3, 4), None):
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.float32, static)
            y = tf.gather_nd(x, indices)
            found, dx = session.run([y, tf.convert_to_tensor(tf.gradients(y, x)[0])], {x: X})
        assert found.shape == expected.shape and (found == expected).all()
        wanted = np.zeros_like(X)
        np.add.at(wanted, tuple(np.moveaxis(indices, -1, 0)) if indices.shape[-1] else (...,), 1.0 if indices.shape[-1] else 2.0)
        assert (dx == wanted).all()


def test_gather_nd_for_each_entry_of_a_batch():
    found = run(tf.gather_nd(X, [[[2, 0], [0, 1]], [[1, 1], [1, 3]]], batch_dims=1))
    assert found.tolist() == [[X[0, 2, 0], X[0, 0, 1]], [X[1, 1, 1], X[1, 1, 3]]]


def test_gather_nd_says_which_index_is_wrong():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\] = \[0, 7\] does not index into param shape \[2,3,4\]"):
        run(tf.gather_nd(X, [[0, 0], [0, 7]]))
    with pytest.raises(ValueError, match=r"indices.shape\[-1\] must be <= params.rank"):
        run(tf.gather_nd(X, [[0, 0, 0, 0]]))


def test_scatter_nd_adds_what_falls_on_the_same_place():
    assert run(tf.scatter_nd([[1], [3], [1]], [1.0, 2.0, 4.0], [5])).tolist() == [0.0, 5.0, 0.0, 2.0, 0.0]
    found = run(tf.scatter_nd([[1]], [[[7, 8], [9, 1]]], [2, 2, 2]))
    assert found.tolist() == [[[0, 0], [0, 0]], [[7, 8], [9, 1]]]
    assert run(tf.scatter_nd([[1, 0]], np.array([5], np.uint16), [2, 2])).tolist() == [[0, 0], [5, 0]]


@pytest.mark.parametrize(
    "function, expected",
    [(tf.tensor_scatter_update, [9.0, 1.0, 8.0]), (tf.tensor_scatter_add, [9.0, 1.0, 10.0]), (tf.tensor_scatter_sub, [-9.0, 1.0, -6.0])],
)
def test_tensor_scatter_leaves_its_input_alone(function, expected):
    with tf.Graph().as_default(), tf.Session() as session:
        x, u = tf.constant([0.0, 1.0, 2.0]), tf.constant([9.0, 8.0])
        y = function(x, [[0], [2]], u)
        found, before = session.run([y, x])
        dx, du = session.run(tf.gradients(y * [1.0, 2.0, 3.0], [x, u]))
    assert found.tolist() == expected and before.tolist() == [0.0, 1.0, 2.0]
    assert du.tolist() == ([-1.0, -3.0] if function is tf.tensor_scatter_sub else [1.0, 3.0])
    assert dx.tolist() == ([0.0, 2.0, 0.0] if function is tf.tensor_scatter_update else [1.0, 2.0, 3.0])


def test_scatter_nd_says_what_is_wrong():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] = \[7\] does not index into shape \[5\]"):
        run(tf.scatter_nd([[7]], [1.0], [5]))
    with pytest.raises(ValueError, match="The outer 1 dimensions of indices.shape"):
        run(tf.scatter_nd([[0], [1]], [1.0], [5]))


def test_sparse_mask_drops_rows():
    with tf.Graph().as_default(), tf.Session() as session:
        rows = tf.IndexedSlices(tf.constant([[1.0], [2.0], [3.0]]), tf.constant([4, 5, 6]))
        kept = session.run(tf.sparse_mask(rows, [5]))
    assert kept.indices.tolist() == [4, 6] and kept.values.tolist() == [[1.0], [3.0]]


@pytest.mark.parametrize(
    ("params", "axis", "message"),
    [
        (3.0, 0, "params must be at least 1 dimensional"),
        (3.0, 1, "at least 1"),
        ([3.0], 1, r"Expected axis in the range \[-1, 1\), but got 1"),
    ],
)
def test_what_can_not_be_gathered_from_is_told_at_run_time(params, axis, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(tf.gather(tf.placeholder_with_default(params, None), [0], axis=axis))


def test_what_is_taken_from_nothing_is_nothing():
    assert run(tf.gather(np.ones((3, 0, 0), np.float32), [[0, 0], [0, 0]], axis=-1)).shape == (3, 0, 2, 2)


def test_words_without_sign_are_gathered():
    assert run(tf.gather(np.array([1, 2**64 - 1], np.uint64), [1, 1])).tolist() == [2**64 - 1] * 2
