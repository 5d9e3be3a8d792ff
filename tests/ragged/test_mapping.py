"""Functions of the rows of ragged tensors. The values are TensorFlow 1.15.5's."""

import pytest
from plain import computed, plain, refused
from rows import R

import everflow as tf
from everflow.ragged.mapping import RaggedTensorType, map_fn


def ragged(rank, dtype=tf.int32):
    return RaggedTensorType(dtype, rank)


@pytest.mark.parametrize(
    ("fn", "elems", "dtype", "expected"),
    [
        (tf.reduce_sum, lambda: R.constant([[1, 2, 3], [4, 5]]), None, [6, 9]),
        (lambda x: x + 1, lambda: R.constant([[1, 2, 3], [4, 5]]), ragged(1), [[2, 3, 4], [5, 6]]),
        (lambda x: x + 1, lambda: R.constant([[[1, 2]], [], [[5, 6], [7, 8]]], ragged_rank=1), ragged(1), [[[2, 3]], [], [[6, 7], [8, 9]]]),
        (lambda x: tf.reduce_sum(x, axis=1), lambda: R.constant([[[1, 2, 3]], [[4, 5], [6, 7]]]), ragged(1), [[6], [9, 13]]),
        (lambda x: x + 1, lambda: R.constant([[[1, 2, 3]], [[4, 5], []]]), ragged(2), [[[2, 3, 4]], [[5, 6], []]]),
        (tf.range, lambda: tf.constant([3, 0, 1]), ragged(1), [[0, 1, 2], [], [0]]),
        (lambda x: tf.ragged.range(tf.range(x)), lambda: tf.constant([2, 0]), ragged(2), [[[], [0]], []]),
        (lambda x: x, lambda: tf.constant([3, 1]), None, [3, 1]),
    ],
)
@pytest.mark.parametrize("mode", ["graph", "eager"])
def test_rows_may_come_and_go_with_any_length(fn, elems, dtype, expected, mode, request):
    if mode == "eager":
        request.getfixturevalue("eager")
    found = map_fn(fn, elems(), dtype)
    assert (computed(found) if mode == "graph" else plain(found if hasattr(found, "to_list") else found.numpy())) == expected


def test_structures_of_tensors_come_and_go():
    elems = {"x": R.constant([[1, 2], [3]]), "y": tf.constant([10, 20])}
    found = map_fn(lambda e: (e["x"] * e["y"], tf.size(e["x"])), elems, (ragged(1), tf.int32))
    assert computed(list(found)) == [[[10, 20], [60]], [2, 1]]


@pytest.mark.parametrize(
    ("fn", "dtype", "message"),
    [
        (lambda x: x, ragged(2), "The declared ragged rank (2) mismatches the result (1)"),
        (lambda x: x, ragged(1, tf.int64), "The declared dtype (<dtype: 'int64'>) mismatches the result"),
        (None, None, "fn must be callable."),
    ],
)
def test_results_must_be_what_they_are_declared_to_be(fn, dtype, message):
    assert message in refused(lambda: map_fn(fn, R.constant([[1, 2], [3]]), dtype))


def test_gradients_pass_through_the_rows():
    values = tf.constant([1.0, 2.0, 3.0])
    squares = map_fn(lambda x: x * x, tf.RaggedTensor.from_row_splits(values, [0, 2, 3]), ragged(1, tf.float32))
    assert computed(tf.gradients(squares.flat_values, values)[0]) == [2, 4, 6]
