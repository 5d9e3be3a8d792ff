"""Sparse tensors as bytes, as variants and under handles."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.sparse import serialization
from running import run


def sparse(indices, values, shape):
    return tf.SparseTensor(indices, tf.constant(values), shape)


def test_bytes_are_those_of_tensorflow():
    found = run(tf.serialize_sparse(sparse([[0, 1]], ["abc"], [2, 3]))).tolist()
    assert found[1] == b'\x08\x07\x12\x04\x12\x02\x08\x01"\x04\x03abc'
    assert found[2] == b'\x08\t\x12\x04\x12\x02\x08\x02"\x10' + np.array([2, 3], "<i8").tobytes()


@pytest.mark.parametrize("values", [[1.0, 2.0, 3.0], [1, 2, 3], ["a", "", "x" * 200]])
def test_what_is_written_is_read(values):
    given = sparse([[0, 1], [2, 0], [2, 2]], values, [4, 3])
    found, want = run((tf.deserialize_many_sparse(tf.serialize_many_sparse(given), given.dtype, rank=2), given))
    assert all((a == b).all() for a, b in zip(found, want))


def test_batches_are_as_large_as_the_largest():
    small, large = sparse([[0, 0]], [1.0], [1, 2]), sparse([[1, 2]], [2.0], [3, 3])
    for out_type in (tf.string, tf.variant):
        rows = tf.stack([tf.serialize_sparse(s, out_type=out_type) for s in (small, large)])
        found = run(serialization.deserialize_sparse(rows, tf.float32))
        assert found.indices.tolist() == [[0, 0, 0], [1, 1, 2]] and found.dense_shape.tolist() == [2, 3, 3]


def test_another_type_is_refused():
    rows = tf.serialize_many_sparse(sparse([[0, 0]], [1.0], [1, 1]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Requested SparseTensor of type int32 but"):
        run(tf.deserialize_many_sparse(rows, tf.int32))


def test_handles_are_good_for_one_use():
    handles = serialization.add_many_sparse_to_tensors_map(sparse([[0, 1], [1, 0]], [1, 2], [2, 3]))
    given = tf.placeholder(tf.int64, [None])
    taken = serialization.take_many_sparse_from_tensors_map(handles.op, given, rank=2)
    with tf.Session() as session:
        kept = session.run(handles)
        assert session.run(taken, {given: kept}).values.tolist() == [1, 2]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to find SparseTensor"):
            session.run(taken, {given: kept})
