"""Sparse tensors: conversion, layout, arithmetic and reductions."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.sparse.ids import sparse_expand_dims, sparse_eye
from running import run


def matrix(values=(1.0, 2.0, 3.0)):
    """[[1 0 2 0], [0 3 0 0], [0 0 0 0]]"""
    return tf.SparseTensor([[0, 0], [0, 2], [1, 1]], tf.convert_to_tensor(values), [3, 4])


DENSE = np.array([[1, 0, 2, 0], [0, 3, 0, 0], [0, 0, 0, 0]], np.float32)


def dense_of(value):
    found = np.zeros(value.dense_shape, value.values.dtype)
    found[tuple(value.indices.T)] = value.values
    return found


def numeric_gradient(f, x, dy, eps=1e-3):
    """Of sum(f(x) * dy) by central differences; `f` takes and gives arrays."""
    found = np.zeros_like(x)
    for i in range(x.size):
        step = np.zeros_like(x)
        step.flat[i] = eps
        found.flat[i] = ((f(x + step) - f(x - step)) * dy).sum() / (2 * eps)
    return found


@pytest.mark.parametrize(
    "build",
    [
        lambda v: tf.sparse_tensor_to_dense(matrix(v)),
        lambda v: tf.sparse_softmax(matrix(v)).values,
        lambda v: tf.sparse_reduce_sum(matrix(v), 1),
        lambda v: tf.sparse_reduce_sum(matrix(v), [0], keepdims=True),
        lambda v: tf.sparse_tensor_dense_matmul(matrix(v), tf.constant(np.arange(8.0).reshape(4, 2))),
        lambda v: tf.sparse_tensor_dense_matmul(matrix(v), tf.constant(np.arange(6.0).reshape(2, 3)), adjoint_a=True, adjoint_b=True),
        lambda v: tf.sparse_add(matrix(v), tf.SparseTensor([[0, 2], [2, 0]], v[:2] * v[1], [3, 4])).values,
        lambda v: tf.sparse_add(matrix(v), tf.ones([3, 4], tf.float64)),
        lambda v: tf.sparse_reorder(tf.SparseTensor([[1, 1], [0, 0], [0, 2]], v, [3, 4])).values,
        lambda v: tf.sparse_fill_empty_rows(matrix(v), v[0])[0].values,
        lambda v: tf.sparse_slice(matrix(v), [0, 1], [2, 2]).values,
        lambda v: (matrix(v) * tf.stack([v[0], v[1], v[2], v[0]])).values,
        lambda v: (matrix(v) / tf.reshape(v, [3, 1])).values,
    ],
)
def test_gradients_agree_with_differences(build):
    x = tf.placeholder(tf.float64, [3])
    y = build(x)
    at = np.array([1.0, 2.0, 3.0])
    with tf.Session() as session:
        dy = np.random.RandomState(0).rand(*session.run(y, {x: at}).shape)
        exact = session.run(tf.gradients(y, x, grad_ys=tf.constant(dy))[0], {x: at})
        assert np.allclose(exact, numeric_gradient(lambda v: session.run(y, {x: v}), at, dy), atol=1e-6)


def test_dense_and_back():
    assert (run(tf.sparse_tensor_to_dense(matrix())) == DENSE).all()
    back = run(tf.sparse.from_dense(DENSE))
    assert back.indices.tolist() == [[0, 0], [0, 2], [1, 1]] and back.values.tolist() == [1, 2, 3] and back.dense_shape.tolist() == [3, 4]


def test_texts_may_be_sparse():
    texts = tf.SparseTensor([[0, 1], [1, 0]], ["a", "b"], [2, 2])
    assert run(tf.sparse_tensor_to_dense(texts, default_value="-")).tolist() == [[b"-", b"a"], [b"b", b"-"]]
    assert run(tf.sparse_transpose(texts)).values.tolist() == [b"b", b"a"]


@pytest.mark.parametrize(
    ("indices", "message"),
    [
        ([[1, 1], [0, 0]], r"indices\[1\] = \[0,0\] is out of order"),
        ([[0, 0], [0, 0]], r"indices\[1\] = \[0,0\] is repeated"),
        ([[0, 0], [3, 0]], r"indices\[1\] = \[3,0\] is out of bounds: need 0 <= index < \[2,2\]"),
    ],
)
def test_wrong_indices_are_named(indices, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(tf.sparse_tensor_to_dense(tf.SparseTensor(indices, [1, 2], [2, 2])))


def test_layout():
    with tf.Session() as session:
        assert (dense_of(session.run(tf.sparse_transpose(matrix()))) == DENSE.T).all()
        assert (dense_of(session.run(tf.sparse_reshape(matrix(), [2, -1]))) == DENSE.reshape(2, 6)).all()
        assert (dense_of(session.run(tf.sparse_slice(matrix(), [0, 1], [2, 2]))) == DENSE[:2, 1:3]).all()
        assert (dense_of(session.run(tf.sparse_concat(1, [matrix(), matrix()]))) == np.hstack([DENSE, DENSE])).all()
        parts = session.run(tf.sparse_split(sp_input=matrix(), num_split=2, axis=0))
        assert (np.vstack([dense_of(p) for p in parts]) == DENSE).all() and [len(dense_of(p)) for p in parts] == [2, 1]
        assert session.run(tf.sparse_retain(matrix(), [True, False, True])).values.tolist() == [1, 3]
        assert session.run(tf.sparse_reset_shape(matrix())).dense_shape.tolist() == [2, 3]
        assert session.run(sparse_expand_dims(matrix(), 1)).dense_shape.tolist() == [3, 1, 4]
        assert (dense_of(session.run(sparse_eye(2, 3))) == np.eye(2, 3)).all()


def test_shapes_that_differ_may_be_joined_when_asked():
    small = tf.SparseTensor([[0, 0]], [5.0], [1, 1])
    found = run(tf.sparse_concat(1, [matrix(), small], expand_nonconcat_dim=True))
    assert found.dense_shape.tolist() == [3, 5] and dense_of(found)[0, 4] == 5


def test_arithmetic_and_reductions():
    other = tf.SparseTensor([[0, 2], [2, 3]], [-5.0, 1.0], [3, 4])
    theirs = np.zeros((3, 4), np.float32)
    theirs[0, 2], theirs[2, 3] = -5, 1
    with tf.Session() as session:
        assert (dense_of(session.run(tf.sparse_add(matrix(), other))) == DENSE + theirs).all()
        assert len(session.run(tf.sparse_add(matrix(), other, threshold=2.5)).values) == 2
        assert (dense_of(session.run(tf.sparse_maximum(matrix(), other))) == np.maximum(DENSE, theirs)).all()
        assert (dense_of(session.run(tf.sparse_minimum(matrix(), other))) == np.minimum(DENSE, theirs)).all()
        assert session.run(tf.sparse_reduce_sum(matrix())) == 6
        assert session.run(tf.sparse_reduce_max(matrix(), 1)).tolist() == [2, 3, 0]
        assert session.run(tf.sparse_reduce_sum_sparse(matrix(), 0)).values.tolist() == [1, 3, 2]
        right = np.arange(8, dtype=np.float32).reshape(4, 2)
        assert np.allclose(session.run(tf.sparse_tensor_dense_matmul(matrix(), right)), DENSE @ right)


@pytest.mark.parametrize("columns", [1, 3, 16, 37])
@pytest.mark.parametrize("flipped", [False, True])
def test_products_add_multiples_of_rows_wherever_elements_are(columns, flipped):
    rng = np.random.RandomState(0)
    indices = np.stack([rng.randint(0, 20, 200), rng.randint(0, 30, 200)], 1)
    values = rng.standard_normal(200).astype(np.float32)
    dense = np.zeros((20, 30), np.float32)
    np.add.at(dense, tuple(indices.T), values)
    dense, b = dense.T if flipped else dense, rng.standard_normal((20 if flipped else 30, columns)).astype(np.float32)
    a = tf.SparseTensor(tf.constant(indices), values, [20, 30])
    np.testing.assert_allclose(run(tf.sparse_tensor_dense_matmul(a, b, adjoint_a=flipped)), dense @ b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("index,said", [([1, 4], "k \\(4\\) from index\\[1,1\\]"), ([-1, 0], "m \\(-1\\) from index\\[1,0\\]")])
def test_products_refuse_elements_outside(index, said):
    a = tf.SparseTensor(tf.placeholder_with_default(np.int64([[0, 0], index]), [2, 2]), [1.0, 2.0], [3, 4])
    with pytest.raises(tf.errors.InvalidArgumentError, match=said):
        run(tf.sparse_tensor_dense_matmul(a, np.ones((4, 2), np.float32)))


def test_truly_divided_integers_become_floats():
    assert run((matrix([1, 2, 3]) / 2).values).tolist() == [0.5, 1, 1.5]


def test_empty_rows_are_filled():
    filled, empty = run(tf.sparse_fill_empty_rows(matrix(), -1.0))
    assert filled.indices.tolist() == [[0, 0], [0, 2], [1, 1], [2, 0]] and filled.values.tolist() == [1, 2, 3, -1]
    assert empty.tolist() == [False, False, True]


def test_ids_become_indices():
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([7, 2, 5], tf.int64), [2, 2])
    merged = run(tf.sparse_merge(ids, tf.SparseTensor(ids.indices, [1.0, 2.0, 3.0], [2, 2]), 10))
    assert merged.indices.tolist() == [[0, 2], [0, 7], [1, 5]] and merged.values.tolist() == [2, 1, 3]
    assert np.argwhere(run(tf.sparse_to_indicator(ids, 10))).tolist() == [[0, 2], [0, 7], [1, 5]]


def test_sparse_placeholders_take_values():
    fed = tf.sparse_placeholder(tf.float32, [None, 4])
    value = tf.SparseTensorValue(np.array([[0, 3]]), np.array([2.0], np.float32), np.array([2, 4]))
    assert run(tf.sparse_reduce_sum(fed, 0), {fed: value}).tolist() == [0, 0, 0, 2]


def test_crosses():
    texts = tf.constant([["a", "b"], ["c", "d"]])
    numbers = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], tf.constant([7, 8, 9], tf.int64), [2, 2])
    found = run(tf.sparse.cross([numbers, texts]))
    assert found.values.tolist() == [b"7_X_a", b"7_X_b", b"8_X_c", b"8_X_d", b"9_X_c", b"9_X_d"]
    assert found.indices.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1], [1, 2], [1, 3]] and found.dense_shape.tolist() == [2, 4]


def test_hashed_crosses_are_those_of_tensorflow():
    texts, numbers = tf.constant([["x", "y"], ["z", "w"]]), tf.constant([[1], [2]], tf.int64)
    with tf.Session() as session:
        assert session.run(tf.sparse.cross_hashed([texts, numbers], num_buckets=1000)).values.tolist() == [727, 326, 443, 304]
        assert session.run(tf.sparse.cross_hashed([texts, numbers], hash_key=1)).values.tolist() == [
            6563200740165693201,
            2720797636647432329,
            8566258320633682172,
            9088963133291694847,
        ]


@pytest.mark.parametrize("kind", [tf.int32, tf.int64])
@pytest.mark.parametrize("out", [tf.int32, tf.int64])
def test_distinct_integers_are_numbered_as_they_come(kind, out):
    rng = np.random.RandomState(0)
    for size, high in ((0, 5), (1, 5), (300, 7), (300, 1 << 30)):
        x = rng.randint(-high, high, size)
        distinct, numbers, counts = run(tf.unique_with_counts(tf.constant(x, kind), out))
        assert (distinct[numbers] == x).all()
        assert len(set(distinct)) == len(distinct)
        assert list(dict.fromkeys(x.tolist())) == distinct.tolist()
        assert counts.tolist() == [int((x == d).sum()) for d in distinct]
        assert numbers.dtype == counts.dtype == out.as_numpy_dtype


@pytest.mark.parametrize("name", ["sum", "mean", "sqrt_n"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("index_kind", [np.int32, np.int64])
def test_picked_rows_are_combined_and_their_gradients_spread(name, kind, index_kind):
    rng = np.random.RandomState(1)
    data = rng.rand(6, 2, 3).astype(kind)
    indices = np.array([5, 0, 0, 3, 1, 5], index_kind)
    ids = np.array([0, 0, 2, 2, 2, 3], np.int32)
    x = tf.constant(data)
    y = getattr(tf, f"sparse_segment_{name}")(x, indices, ids)
    weights = rng.rand(4, 2, 3).astype(kind)
    (dx,) = tf.gradients(y, x, weights)
    found, gradient = run([y, dx])
    expected, spread = np.zeros((4, 2, 3)), np.zeros(data.shape)
    for segment in range(4):
        rows = indices[ids == segment]
        by = {"sum": 1, "mean": len(rows), "sqrt_n": np.sqrt(len(rows))}[name] or 1
        expected[segment] = data[rows].sum(0) / by
        for row in rows:
            spread[row] += weights[segment] / by
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    np.testing.assert_allclose(gradient, spread, rtol=1e-6)


@pytest.mark.parametrize("strings", [False, True])
def test_empty_rows_are_filled_between_elements_that_come_in_any_order(strings):
    indices = [[4, 1], [1, 0], [4, 0], [2, 3]]
    values = ["a", "b", "c", "d"] if strings else [1, 2, 3, 4]
    default = "-" if strings else -1
    sparse = tf.SparseTensor(indices, values, [6, 4])
    filled, empty = tf.sparse.fill_empty_rows(sparse, default)
    got, empty = run([filled, empty])
    assert got.indices.tolist() == [[0, 0], [1, 0], [2, 3], [3, 0], [4, 1], [4, 0], [5, 0]]
    kept = [v.decode() if strings else int(v) for v in got.values]
    assert kept == [default, values[1], values[3], default, values[0], values[2], default]
    assert empty.tolist() == [True, False, False, True, False, True]


def test_rows_that_are_all_there_stay_as_they_are():
    sparse = tf.SparseTensor([[0, 1], [0, 2], [1, 0]], [1.0, 2.0, 3.0], [2, 3])
    filled, empty = tf.sparse.fill_empty_rows(sparse, 0.0)
    got, empty = run([filled, empty])
    assert got.indices.tolist() == [[0, 1], [0, 2], [1, 0]] and got.values.tolist() == [1, 2, 3]
    assert not empty.any()


def test_elements_in_no_row_are_refused():
    sparse = tf.SparseTensor(tf.placeholder_with_default(np.array([[0, 0], [7, 0]]), [2, 2]), [1, 2], [3, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\(1, 0\) is invalid: 7 >= 3"):
        run(tf.sparse.fill_empty_rows(sparse, 0)[0])


def test_indices_that_are_not_contiguous_are_reshaped():
    dense = np.zeros((40, 6), np.int64)
    dense[::3, 2] = dense[1::2, 5] = 1
    places = tf.where(tf.constant(dense, tf.bool))
    sparse = tf.SparseTensor(places, tf.ones(tf.shape(places)[0]), [40, 6])
    found = run(tf.sparse.reshape(sparse, [20, 12]))
    assert (dense_of(found) == dense.reshape(20, 12)).all()
