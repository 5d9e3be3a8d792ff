"""Sets along the last dimension."""

import pytest

import everflow as tf
from running import run

A, B = [[3, 1, 1], [5, 6, 6]], [[1, 2], [7, 8]]


@pytest.mark.parametrize(
    ("operation", "indices", "values", "width"),
    [
        (tf.sets.union, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2], [1, 3]], [1, 2, 3, 5, 6, 7, 8], 4),
        (tf.sets.intersection, [[0, 0]], [1], 1),
        (tf.sets.difference, [[0, 0], [1, 0], [1, 1]], [3, 5, 6], 2),
        (lambda a, b: tf.sets.difference(a, b, aminusb=False), [[0, 0], [1, 0], [1, 1]], [2, 7, 8], 2),
    ],
)
def test_dense_and_sparse_sets_give_the_same(operation, indices, values, width):
    def sparse(rows):
        return tf.SparseTensor([[i, j] for i in range(2) for j in range(len(rows[0]))], sum(rows, []), [2, len(rows[0])])

    dense_a, dense_b = tf.constant(A), tf.constant(B)
    for a, b in ((dense_a, dense_b), (dense_a, sparse(B)), (sparse(A), dense_b), (sparse(A), sparse(B))):
        found = run(operation(a, b))
        assert found.indices.tolist() == indices and found.values.tolist() == values and found.dense_shape.tolist() == [2, width]


def test_texts_are_in_order():
    assert run(tf.sets.union([["b", "a"]], [["c", "a"]])).values.tolist() == [b"a", b"b", b"c"]


def test_sizes_count_different_elements():
    sets = tf.SparseTensor([[0, 0], [2, 0], [2, 1], [2, 2]], [4, 5, 5, 6], [3, 3])
    assert run(tf.sets.size(sets)).tolist() == [1, 0, 2]


def test_bad_sets_are_refused():
    with pytest.raises(TypeError, match="Types don't match"):
        tf.sets.union(tf.constant([[1]]), tf.constant([[1]], tf.int64))
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of order"):
        run(tf.sets.size(tf.SparseTensor([[1, 0], [0, 0]], [1, 2], [2, 2])))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Mismatched shapes \[2\] vs \[3\]"):
        run(tf.sets.union(tf.SparseTensor([[0, 0]], [1], [2, 2]), tf.SparseTensor([[0, 0]], [1], [3, 2])))
