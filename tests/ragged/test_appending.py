"""Sparse and ragged batches one after the other. The values are TensorFlow 1.15.5's."""

import numpy as np
import pytest
from plain import computed, plain, refused
from rows import R, deep, rows

import everflow as tf
from everflow.ragged.appending import append_composite_tensor, is_composite_or_composite_value

SPARSE = tf.SparseTensorValue([[0, 1]], [7], [1, 2])
RAGGED = R.RaggedTensorValue(np.array([1, 2, 3]), np.array([0, 1, 3]))
DEEP = R.RaggedTensorValue(RAGGED, np.array([0, 2]))


def test_tensors_and_values_are_appended():
    both = {"indices": [[0, 1], [1, 1]], "values": [7, 7], "dense_shape": [2, 2]}
    assert plain(append_composite_tensor(SPARSE, SPARSE)) == both
    assert computed(append_composite_tensor(*[tf.SparseTensor.from_value(SPARSE)] * 2)) == both
    assert append_composite_tensor(RAGGED, RAGGED).to_list() == [[1], [2, 3], [1], [2, 3]]
    assert append_composite_tensor(DEEP, DEEP).to_list() == [[[1], [2, 3]], [[1], [2, 3]]]
    assert computed(append_composite_tensor(rows(), rows())) == [[3, 1], [], [2, 5, 4]] * 2


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (RAGGED, SPARSE, "Unable to concatenate <class"),
        (RAGGED, DEEP, "Unable to concatenate <tf.RaggedTensorValue [[1], [2, 3]]> and"),
        (SPARSE, SPARSE._replace(dense_shape=[1, 3]), "Unable to concatenate SparseTensorValue"),
        (np.array([1]), np.array([2]), "Attempted to concatenate unsupported object <class 'numpy.ndarray'>."),
    ],
)
def test_things_of_different_kinds_are_not(first, second, message):
    assert refused(lambda: append_composite_tensor(first, second)).startswith(f"RuntimeError: {message}")


def test_what_is_made_of_several_tensors():
    assert all(map(is_composite_or_composite_value, [SPARSE, RAGGED, deep(), tf.SparseTensor.from_value(SPARSE)]))
    assert not any(map(is_composite_or_composite_value, [np.array([1]), tf.constant(1)]))
