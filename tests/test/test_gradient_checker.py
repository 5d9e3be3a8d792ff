"""Gradients beside finite differences."""

import numpy as np
import pytest

import everflow as tf
from everflow.test import gradient_checker_v2

pytestmark = pytest.mark.usefixtures("session")


def test_both_jacobians_have_a_row_for_each_input():
    x = tf.constant([1.0, 2.0, 3.0])
    y = tf.reshape(x[:2] * x[2], [1, 2])
    theoretical, numeric = tf.test.compute_gradient(x, [3], y, [1, 2], x_init_value=np.array([1, 2, 3], np.float32))
    np.testing.assert_allclose(theoretical, [[3, 0], [0, 3], [1, 2]])
    np.testing.assert_allclose(numeric, theoretical, atol=1e-2)


def test_a_wrong_gradient_has_a_large_error():
    x = tf.constant([1.0, 2.0])
    assert tf.test.compute_gradient_error(x, [2], tf.square(x), [2]) < 1e-3
    half = tf.square(x) * 0.5 + tf.stop_gradient(tf.square(x) * 0.5)
    error = tf.test.compute_gradient_error(x, [2], half, [2], x_init_value=np.array([1.0, 2.0]))
    assert error == pytest.approx(2.0, abs=1e-2)


def test_several_inputs():
    a, b = tf.constant([2.0]), tf.constant([3.0])
    (da, _), (db, _) = tf.test.compute_gradient([a, b], [[1], [1]], a * b, [1], x_init_value=[np.array([2.0]), np.array([3.0])])
    assert (da.item(), db.item()) == (3, 2)


def test_complex_numbers_have_two_rows():
    z = tf.constant([1 + 1j], tf.complex64)
    theoretical, _ = tf.test.compute_gradient(z, [1], tf.square(z), [1], x_init_value=np.array([1 + 1j]))
    np.testing.assert_allclose(theoretical, [[2, 2], [-2, 2]])


def test_empty_values():
    x = tf.zeros([0])
    assert tf.test.compute_gradient_error(x, [0], tf.square(x), [0]) == 0


def test_functions_of_several_arguments():
    (da, db), numeric = gradient_checker_v2.compute_gradient(lambda a, b: a * b, [tf.constant([1.0, 2.0]), 3.0])
    np.testing.assert_allclose(da, [[3, 0], [0, 3]])
    np.testing.assert_allclose(db, [[1, 2]])
    assert gradient_checker_v2.max_error((da, db), numeric) < 1e-2
    with pytest.raises(ValueError, match="`x` must be a list of Tensors"):
        gradient_checker_v2.compute_gradient(tf.square, np.array([1.0]))


def test_rows_that_come_as_slices_add_up():
    (jacobian,), (numeric,) = gradient_checker_v2.compute_gradient(lambda table: tf.gather(table, [1, 1]), [np.ones([3], np.float32)])
    np.testing.assert_allclose(jacobian, [[0, 0], [1, 1], [0, 0]])
    np.testing.assert_allclose(numeric, jacobian, atol=1e-3)


def test_reference_variables_can_be_moved(session):
    w = tf.Variable([1.0, 2.0], use_resource=False)
    session.run(w.initializer)
    assert tf.test.compute_gradient_error(w, [2], tf.square(w), [2], x_init_value=np.array([1.0, 2.0])) < 1e-2
