"""Rows of tensors by number, and sums of two products: what the bodies of loops are made of."""
import numpy as np
import pytest

import everflow as tf
from everflow.runtime.passes.matrix_products import add_products
from everflow.runtime.passes.single_rows import take_rows
from tests.runtime.test_passes import same_with_and_without, types


def test_a_row_is_taken_without_vectors_of_bounds():
    x, i = tf.placeholder(tf.float32, [3, 2]), tf.placeholder(tf.int32, [])
    given = np.arange(6, dtype=np.float32).reshape(3, 2)
    for at in (0, 2, -1):
        plain, rewritten = same_with_and_without([x[i]], [x, i], take_rows, given, np.int32(at))
        assert "StridedSlice" in types(plain) and types(rewritten) == ["_Row"]


@pytest.mark.parametrize("part", [lambda x, i: x[i:], lambda x, i: x[:, i], lambda x, i: x[i:i + 2], lambda x, i: x[i, 1:]])
def test_other_parts_are_slices(part):
    x, i = tf.placeholder(tf.float32, [3, 3]), tf.placeholder(tf.int32, [])
    given = np.arange(9, dtype=np.float32).reshape(3, 3)
    _, rewritten = same_with_and_without([part(x, i)], [x, i], take_rows, given, np.int32(1))
    assert "_Row" not in types(rewritten)


def test_a_row_that_is_not_there_is_named(session):
    x, i = tf.placeholder(tf.float32, [3, 2]), tf.placeholder(tf.int32, [])
    with pytest.raises(tf.errors.InvalidArgumentError, match="slice index 3 of dimension 0 out of bounds"):
        session.run(x[i], {x: np.zeros((3, 2)), i: 3})


def test_two_products_are_added_as_they_are_computed():
    a, b = tf.placeholder(tf.float32, [2, 3]), tf.placeholder(tf.float32, [4, 2])
    first, second = tf.matmul(a, tf.ones([3, 5])), tf.matmul(b, tf.fill([4, 5], 2.0), transpose_a=True)
    given = np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(8, dtype=np.float32).reshape(4, 2)
    _, rewritten = same_with_and_without([first + second], [a, b], add_products, *given)
    assert "_TwoProducts" in types(rewritten) and "MatMul" not in types(rewritten)


def test_a_product_that_is_used_otherwise_is_computed_for_itself():
    a = tf.placeholder(tf.float32, [2, 3])
    product = tf.matmul(a, tf.ones([3, 5]))
    _, rewritten = same_with_and_without([product + tf.matmul(a, tf.ones([3, 5])), product], [a], add_products, np.ones((2, 3), "f"))
    assert "_TwoProducts" not in types(rewritten)


def test_products_with_another_number_of_rows_are_broadcast():
    a, b = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 3])
    total = tf.matmul(a, tf.ones([3, 5])) + tf.matmul(b, tf.ones([3, 5]))
    _, rewritten = same_with_and_without([total], [a, b], add_products, np.ones((1, 3), "f"), np.ones((4, 3), "f"))
    assert "_TwoProducts" in types(rewritten)
