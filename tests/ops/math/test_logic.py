"""Comparisons, logic, and choosing between tensors."""

import numpy as np
import pytest

import everflow as tf
from running import run


@pytest.mark.parametrize("name", ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"])
@pytest.mark.parametrize("dtype", ["float16", "float64", "int8", "uint8", "int64"])
def test_comparisons_are_numpys(name, dtype):
    x, y = np.array([1, 2, 3], dtype), np.array([[2], [3]], dtype)
    np.testing.assert_array_equal(run(getattr(tf, name)(x, y)), getattr(np, name)(x, y))


def test_large_unsigned_numbers_compare_as_unsigned():
    x, y = np.array([2**63 + 5, 1], np.uint64), np.array([1, 2**63 + 5], np.uint64)
    assert run(tf.less(x, y)).tolist() == [False, True]


def test_strings_are_equal_or_not():
    assert run(tf.equal(["a", "b"], [["a"], ["c"]])).tolist() == [[True, False], [False, False]]
    assert run(tf.not_equal(["a", "b"], "b")).tolist() == [True, False]


def test_the_operators_of_booleans():
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.constant([True, True, False, False]), tf.constant([True, False, True, False])
        found = session.run([x & y, x | y, x ^ y, ~x])
    assert [f.tolist() for f in found] == [
        [True, False, False, False],
        [True, True, True, False],
        [False, True, True, False],
        [False, False, True, True],
    ]
    with pytest.raises(TypeError, match="has type int32 that does not match expected type of bool"):
        tf.constant(1) & tf.constant(2)


def test_a_vector_condition_chooses_rows():
    x, y = np.zeros((3, 2)), np.ones((3, 2))
    assert run(tf.where([True, False, True], x, y)).tolist() == [[0, 0], [1, 1], [0, 0]]
    assert run(tf.where(False, x, y)).tolist() == y.tolist()


def test_where_v2_broadcasts_all_three():
    found = run(tf.where_v2([[True], [False]], [1, 2, 3], -1))
    assert found.tolist() == [[1, 2, 3], [-1, -1, -1]]


def test_where_chooses_strings():
    assert run(tf.where([True, False], ["a", "b"], ["c", "d"])).tolist() == [b"a", b"d"]


@pytest.mark.parametrize("choose", [tf.where, tf.where_v2])
def test_gradients_go_to_what_was_chosen(choose):
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
        dx, dy = session.run(tf.gradients(choose([True, False], x, y), [x, y]))
    assert dx.tolist() == [1, 0] and dy.tolist() == [0, 1]


def test_where_says_which_shapes_do_not_fit():
    with pytest.raises(ValueError, match="Dimension 0 in both shapes must be equal, but are 2 and 3"):
        tf.where([True, False], [1, 2, 3], [1, 2, 3])
    with tf.Graph().as_default(), tf.Session() as session:
        condition = tf.placeholder(tf.bool)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Input 0: \[2\] != input 1: \[3\]"):
            session.run(tf.where(condition, [1, 2, 3], [4, 5, 6]), {condition: [True, False]})
    with pytest.raises(ValueError, match="x and y must both be non-None or both be None"):
        tf.where([True], x=[1])


def test_integers_are_less_than_a_tolerance_apart_or_not():
    x, y = np.array([1, 2]), np.array([1, 4])
    assert run(tf.raw_ops.ApproximateEqual(x=x, y=y)).tolist() == [False, False]
    assert run(tf.raw_ops.ApproximateEqual(x=x, y=y, tolerance=1.5)).tolist() == [True, False]
