"""Sums of products, and matrices that many products take transposed."""

import numpy as np
import pytest
from planning import random, same

import everflow as tf
from everflow.runtime.passes.matrix_products import add_products, sum_products, transpose_matrices_once


def transposed_products(count):
    xs = [tf.placeholder(tf.float32, [4, 3]) for _ in range(count)]
    return xs, [tf.matmul(x, tf.constant(random(4, 2)), transpose_a=True) for x in xs]


def test_a_sum_of_products_is_added_up_in_place():
    xs, products = transposed_products(3)
    given = [random(4, 3) * i for i in range(3)]
    assert same([tf.add_n(products)], xs, sum_products, *given, tolerance=1e-5) == ["_SumOfProducts"]


def test_a_sum_with_another_term_or_a_product_that_is_fetched_stays():
    xs, products = transposed_products(3)
    given = [random(4, 3) * i for i in range(3)]
    straight = [tf.matmul(x, x, transpose_b=True) for x in xs]
    for fetches in ([tf.add_n([*products, tf.ones([3, 2])])], [tf.add_n(products), products[1]], [tf.add_n(straight)]):
        assert "_SumOfProducts" not in same(fetches, xs, sum_products, *given, tolerance=1e-5)


def test_two_products_are_added_as_they_are_computed():
    a, b = tf.placeholder(tf.float32, [2, 3]), tf.placeholder(tf.float32, [4, 2])
    first, second = tf.matmul(a, tf.ones([3, 5])), tf.matmul(b, tf.fill([4, 5], 2.0), transpose_a=True)
    given = np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(8, dtype=np.float32).reshape(4, 2)
    found = same([first + second], [a, b], add_products, *given)
    assert "_TwoProducts" in found and "MatMul" not in found


def test_a_product_that_is_used_otherwise_is_computed_for_itself():
    a = tf.placeholder(tf.float32, [2, 3])
    product = tf.matmul(a, tf.ones([3, 5]))
    found = same([product + tf.matmul(a, tf.ones([3, 5])), product], [a], add_products, np.ones((2, 3), "f"))
    assert "_TwoProducts" not in found


def test_products_with_another_number_of_rows_are_broadcast():
    a, b = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 3])
    total = tf.matmul(a, tf.ones([3, 5])) + tf.matmul(b, tf.ones([3, 5]))
    found = same([total], [a, b], add_products, np.ones((1, 3), "f"), np.ones((4, 3), "f"))
    assert "_TwoProducts" in found


def test_a_matrix_that_is_often_transposed_is_so_once():
    x, w = tf.placeholder(tf.float32, [2, 3]), tf.placeholder(tf.float32, [5, 3])
    products = [tf.matmul(factor * x, w, transpose_b=True) for factor in (1.0, 2.0, 3.0)]
    found = same(products, [x, w], transpose_matrices_once, random(2, 3), random(5, 3), tolerance=1e-5)
    assert found.count("_Transposed") == 1 and found.count("_MatMulTurned") == 3
    assert "_Transposed" not in same(products[:2], [x, w], transpose_matrices_once, random(2, 3), random(5, 3), tolerance=1e-5)


def test_three_terms_whole_numbers_and_a_second_product_that_is_fetched_are_not_added_to():
    x, n = tf.placeholder(tf.float32, [2, 2]), tf.placeholder(tf.int32, [2, 2])
    first, second = tf.matmul(x, x), tf.matmul(x, x, transpose_a=True)
    for fetches in ([tf.add_n([first, second, x])], [first + second, second]):
        assert "_TwoProducts" not in same(fetches, [x], add_products, random(2, 2))
    assert "_TwoProducts" not in same([tf.matmul(n, n) + tf.matmul(n, n, transpose_a=True)], [n], add_products, [[1, 2], [3, 4]])


@pytest.mark.parametrize("sizes", [(1, 3), (3, 1), (2, 3)])
def test_sums_of_products_do_not_broadcast(session, sizes):
    a, b = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 2])
    total = tf.add_n([tf.matmul(a, [[1.0], [2.0]]), tf.matmul(b, [[3.0], [4.0]])], name="total")
    feeds = {a: np.ones((sizes[0], 2)), b: np.ones((sizes[1], 2))}
    wanted = rf"operation total of type AddN must have the same size and shape.  Input 0: \[{sizes[0]},1\] != input 1: \[{sizes[1]},1\]"
    with pytest.raises(tf.errors.InvalidArgumentError, match=wanted):
        session.run(total, feeds)
