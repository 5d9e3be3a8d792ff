"""Sparse tensors of dense ones, and tensors of fewer dimensions."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib.layers.flattening import inner_flatten
from everflow.contrib.layers.sparse_forms import dense_to_sparse_tensor, indicators_to_sparse_ids, sparse_row_envelope
from running import run


def test_elements_that_are_not_zero():
    found = run(dense_to_sparse_tensor([[1.5, 0.0], [0.0, 2.0]]))
    assert found.indices.tolist() == [[0, 0], [1, 1]] and found.values.tolist() == [1.5, 2.0]
    assert run(dense_to_sparse_tensor(["a", ""])).values.tolist() == [b"a"]
    assert run(dense_to_sparse_tensor([[1, -1, 0]], ignore_value=-1)).indices.tolist() == [[0, 0], [0, 2]]


def test_places_of_indicators_move_to_the_front():
    found = run(indicators_to_sparse_ids([[0, 0, 1, 0], [1, 0, 0, 1]], dtype=tf.int32))
    assert found.indices.tolist() == [[0, 0], [1, 0], [1, 1]] and found.values.tolist() == [2, 0, 3]
    assert found.values.dtype == np.int32 and found.dense_shape.tolist() == [2, 2]
    assert run(indicators_to_sparse_ids(["x", "A", "x"], ignore_value="x")).values.tolist() == [1]
    assert run(indicators_to_sparse_ids([[0, 0]])).dense_shape.tolist() == [1, 0]


def test_rows_reach_to_their_last_column():
    given = tf.SparseTensor([[2, 0], [2, 2], [2, 1], [0, 0]], [0, 1, 2, 3], [4, 3])
    assert run(sparse_row_envelope(given)).tolist() == [1, 0, 3, 0]
    assert run(sparse_row_envelope(given, row_axis=1, col_axis=0)).tolist() == [3, 3, 3]


def test_inner_dimensions_are_joined():
    dense = inner_flatten(tf.ones([2, 3, 4]), 2)
    assert dense.shape == (2, 12) and dense.op.name == "InnerFlatten/Reshape"
    assert inner_flatten(tf.placeholder(tf.int32, [2, None, 4, 5]), 3).shape.as_list() == [2, None, 20]
    found = run(inner_flatten(tf.SparseTensor([[0, 0, 1], [1, 2, 3]], [5, 6], [2, 3, 4]), 2))
    assert found.indices.tolist() == [[0, 1], [1, 11]] and found.dense_shape.tolist() == [2, 12]
    with pytest.raises(ValueError, match="inputs has rank less than new_rank"):
        inner_flatten(tf.ones([2]), 2)
    with pytest.raises(ValueError, match="Inputs has rank less than new_rank"):
        inner_flatten(tf.SparseTensor([[0]], [1], [2]), 2)
