"""What is computed once."""

from planning import same

import everflow as tf
from everflow.runtime.passes.subexpressions import share_subexpressions


def test_equal_subexpressions_are_computed_once():
    x = tf.placeholder(tf.float32, [2])
    assert same([tf.exp(x) * tf.exp(x)], [x], share_subexpressions, [0.5, 1.5]) == ["Exp", "Mul"]


def test_other_attributes_make_other_expressions():
    x = tf.placeholder(tf.float32, [2, 2])
    products = [tf.matmul(x, x, transpose_a=turn) for turn in (True, False)]
    assert same(products, [x], share_subexpressions, [[1.0, 2.0], [3.0, 4.0]]) == ["MatMul", "MatMul"]


def test_random_ops_are_not_shared():
    a, b = tf.random_uniform([4]), tf.random_uniform([4])
    with tf.Session() as sess:
        x, y = sess.run([a, b])
    assert (x != y).any()
