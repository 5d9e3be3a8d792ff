"""Second derivatives."""

import numpy as np
import pytest

import everflow as tf
from everflow.autodiff.hessians import hessian_vector_product

rng = np.random.RandomState(1)
MATRIX = rng.randn(4, 4).astype(np.float32)


def quadratic(x):
    return tf.reduce_sum(x[:, None] * MATRIX * x[None, :])


@pytest.mark.parametrize("shape", [[4], [None]])
def test_of_a_vector_whether_its_size_is_known_or_not(shape):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, shape)
        (found,) = tf.hessians(quadratic(x), x)
        np.testing.assert_allclose(session.run(found, {x: rng.randn(4)}), MATRIX + MATRIX.T, rtol=1e-5)


def test_of_a_matrix_and_of_several():
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.constant(rng.randn(2, 3).astype(np.float32)), tf.constant([1.0, 2.0])
        found = tf.hessians(tf.reduce_sum(x**3) + tf.reduce_prod(y), [x, y])
        first, second = session.run(found)
        expected = np.diag(6 * session.run(x).reshape(-1)).reshape(2, 3, 2, 3)
    np.testing.assert_allclose(first, expected, rtol=1e-5)
    np.testing.assert_allclose(second, [[0, 1], [1, 0]], atol=1e-6)


def test_a_gradient_that_does_not_depend_on_x():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="does not depend on it: its Hessian is zero"):
        x = tf.placeholder(tf.float32, [3])
        tf.hessians(x, x)


def test_the_product_with_a_vector():
    vector = rng.randn(4).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(rng.randn(4).astype(np.float32))
        (found,) = hessian_vector_product(quadratic(x), [x], [tf.constant(vector)])
        np.testing.assert_allclose(session.run(found), (MATRIX + MATRIX.T) @ vector, rtol=1e-4)
