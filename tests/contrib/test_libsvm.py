"""tf.contrib.libsvm: lines become labels and sparse features."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib.libsvm import decode_libsvm
from running import run


def test_lines_become_labels_and_features():
    features, labels = decode_libsvm(["1 1:3.5 2:0.5\t4:inf", "  -2 3:nan 0:1e400 ", "7"], 6)
    assert features.dtype == tf.float32 and labels.dtype == tf.int64 and labels.shape == [3]
    found, classes = run([features, labels])
    assert classes.tolist() == [1, -2, 7]
    assert found.indices.tolist() == [[0, 1], [0, 2], [0, 4], [1, 3], [1, 0]]
    np.testing.assert_array_equal(found.values, np.array([3.5, 0.5, np.inf, np.nan, np.inf], np.float32))
    assert found.dense_shape.tolist() == [3, 6]


def test_lines_of_any_shape_and_other_types():
    features, labels = decode_libsvm([[["1.5 2:3"], ["2 1:4"]], [["0"], ["3 0:5"]]], 3, tf.int32, tf.float64)
    found, classes = run([features, labels])
    assert found.values.dtype == np.int32 and classes.tolist() == [[[1.5], [2.0]], [[0.0], [3.0]]]
    assert tf.Session().run(tf.sparse.to_dense(found)).tolist() == [[[[0, 0, 3]], [[0, 4, 0]]], [[[0, 0, 0]], [[5, 0, 0]]]]


def test_one_line_alone_and_none():
    found, label = run(list(decode_libsvm("3 1:2", 4)))
    assert label == 3 and found.indices.tolist() == [[1]] and found.dense_shape.tolist() == [4]
    found, labels = run(list(decode_libsvm(tf.constant([], tf.string), 4)))
    assert labels.shape == (0,) and found.indices.shape == (0, 2)


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (" ", r'No label found for input\[0\]: " "'),
        ("a 1:2", "Label format incorrect: a"),
        ("+1 1:2", r"Label format incorrect: \+1"),
        ("1 2", 'Invalid feature "2"'),
        ("1 -1:2", "Feature index should be >= 0, got -1"),
        ("1 a:2", "Feature format incorrect: a:2"),
        ("1 3:", "Feature format incorrect: 3:"),
        ("1 1:2:3", "Feature format incorrect: 1:2:3"),
    ],
)
def test_what_is_no_such_line_is_told(line, error):
    with pytest.raises(tf.errors.InvalidArgumentError, match=error):
        run(list(decode_libsvm([line], 6)))


def test_there_must_be_features():
    with pytest.raises(ValueError, match="Attr 'num_features' of 'DecodeLibsvm' Op passed 0 less than minimum 1"):
        decode_libsvm(["1"], 0)
