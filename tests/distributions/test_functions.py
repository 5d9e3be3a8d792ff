"""Functions around distributions: the normal distribution function, triangular matrices, weighted sums."""

from __future__ import annotations

import numpy as np
import scipy.special as special

import everflow as tf
from everflow.distributions import normal_functions, tensors
from running import run


def test_the_normal_distribution_function_and_its_inverse():
    x = np.array([-30.0, -12.0, -5.0, -1.0, 0.0, 0.5, 3.0, 9.0])
    np.testing.assert_allclose(run(normal_functions.ndtr(x)), special.ndtr(x), rtol=1e-12)
    np.testing.assert_allclose(run(normal_functions.log_ndtr(x)), special.log_ndtr(x), rtol=1e-6)
    p = np.array([0.0, 1e-300, 1e-20, 1e-5, 0.1, 0.5, 0.8, 0.999, 1.0])
    np.testing.assert_allclose(run(normal_functions.ndtri(p)), special.ndtri(p), rtol=1e-12)
    np.testing.assert_allclose(run(normal_functions.erfinv([0.5, -0.9])), special.erfinv(np.float32([0.5, -0.9])), rtol=1e-5)


def test_gradients_are_finite_far_from_zero():
    x = tf.constant([-100.0, -5.0, 0.0, 100.0])
    found = run(tf.gradients(normal_functions.log_ndtr(x), x)[0])
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found[0], 100.0, rtol=1e-3)


def test_triangular_matrices_from_vectors_and_back():
    x = np.arange(1.0, 7.0)
    np.testing.assert_array_equal(run(tensors.fill_triangular(x)), [[4, 0, 0], [6, 5, 0], [3, 2, 1]])
    np.testing.assert_array_equal(run(tensors.fill_triangular(x, upper=True)), [[1, 2, 3], [0, 5, 6], [0, 0, 4]])
    many = np.arange(2.0 * 28).reshape(2, 28)
    for upper in (False, True):
        np.testing.assert_array_equal(run(tensors.fill_triangular_inverse(tensors.fill_triangular(many, upper), upper)), many)


def test_weighted_sums_of_exponentials():
    logs, weights = np.array([1.0, 2.0, 800.0]), np.array([-1.0, 3.0, 0.0])
    found, sign = run(tensors.reduce_weighted_logsumexp(logs, weights, axis=0, return_sign=True))
    np.testing.assert_allclose(found, np.log(3 * np.exp(2.0) - np.exp(1.0)))
    assert sign == 1.0


def test_softplus_has_an_inverse():
    x = np.array([1e-10, 0.1, 1.0, 60.0])
    np.testing.assert_allclose(run(tf.nn.softplus(tensors.softplus_inverse(x))), x, rtol=1e-9)
