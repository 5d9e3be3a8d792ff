"""Special functions: known values, identities, gradients."""

import math

import numpy as np
import pytest

import everflow as tf
from running import run

X = np.array([0.3, 0.9, 1.7, 3.2, 6.5])


def gradient_error(build, values, by):
    with tf.Graph().as_default(), tf.Session():
        tensors = [tf.constant(v) for v in values]
        x, value = tensors[by], values[by]
        return tf.test.compute_gradient_error(x, value.shape, build(*tensors), X.shape, x_init_value=value, delta=1e-5)


@pytest.mark.parametrize("name, reference", [("erf", math.erf), ("erfc", math.erfc), ("lgamma", math.lgamma)])
def test_values_of_pythons_math(name, reference):
    np.testing.assert_allclose(run(getattr(tf, name)(X)), [reference(x) for x in X], rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize(
    "name", ["erf", "erfc", "lgamma", "digamma", "math.bessel_i0e", "math.bessel_i1e", "math.bessel_i0", "math.bessel_i1"]
)
def test_gradients_of_functions_of_one_argument(name):
    function = getattr(tf.math, name.removeprefix("math.")) if name.startswith("math.") else getattr(tf, name)
    assert gradient_error(function, [X], 0) < 1e-5


def test_digamma_is_infinite_at_its_poles():
    assert run(tf.digamma([0.0, -1.0])).tolist() == [np.inf, np.inf]
    assert run(tf.digamma(1.0)) == pytest.approx(-np.euler_gamma)


def test_bessel_functions_at_zero_and_their_slope():
    assert run(tf.math.bessel_i0(0.0)) == pytest.approx(1) and run(tf.math.bessel_i1(0.0)) == 0
    x = tf.constant(0.0)
    with tf.Session() as session:
        assert session.run(tf.gradients(tf.math.bessel_i1e(x), x)[0]) == 0.5


def test_incomplete_gamma_functions():
    # P(1, x) = 1 - exp(-x), and the two halves make 1.
    np.testing.assert_allclose(run(tf.igamma(np.ones(5), X)), 1 - np.exp(-X), rtol=1e-10)
    np.testing.assert_allclose(run(tf.igamma(X, X) + tf.igammac(X, X)), np.ones(5), rtol=1e-10)
    assert np.isnan(run(tf.igamma([0.0, -1.0, 1.0], [1.0, 1.0, -1.0]))).all()
    assert run(tf.igamma([0.0, 2.0], [0.0, 0.0])).tolist() == [0, 0]


@pytest.mark.parametrize("function", [tf.igamma, tf.igammac])
@pytest.mark.parametrize("by", [0, 1])
@pytest.mark.parametrize("scale", [0.5, 1.0, 4.0])
def test_gradients_of_the_incomplete_gamma_functions(function, by, scale):
    assert gradient_error(function, [X[::-1].copy(), X * scale], by) < 1e-6


def test_the_derivative_of_a_gamma_sample_keeps_its_quantile():
    from everflow.ops.core.registry import apply

    alpha, sample, step = 2.5, 3.1, 1e-6
    slope = run(apply("RandomGammaGrad", tf.constant([alpha], tf.float64), tf.constant([sample], tf.float64)))[0]
    before = run(tf.igamma(np.float64(alpha), np.float64(sample)))
    after = run(tf.igamma(np.float64(alpha + step), np.float64(sample + slope * step)))
    assert after == pytest.approx(before, abs=1e-11)


def test_incomplete_beta_function():
    # I_x(1, b) = 1 - (1 - x)^b, I_x(a, 1) = x^a, and mirrored arguments make 1.
    x = np.array([0.05, 0.2, 0.5, 0.8, 0.99])
    np.testing.assert_allclose(run(tf.betainc(np.ones(5), X, x)), 1 - (1 - x) ** X, rtol=1e-10)
    np.testing.assert_allclose(run(tf.betainc(X, np.ones(5), x)), x**X, rtol=1e-10)
    np.testing.assert_allclose(run(tf.betainc(X, 2 * X, x) + tf.betainc(2 * X, X, 1 - x)), np.ones(5), rtol=1e-10)
    assert run(tf.betainc([2.0, 2.0], [3.0, 3.0], [0.0, 1.0])).tolist() == [0, 1]
    assert np.isnan(run(tf.betainc([0.0, 1.0, 1.0], [1.0, -1.0, 1.0], [0.5, 0.5, 1.5]))).all()
    assert gradient_error(tf.betainc, [X, X[::-1].copy(), x], 2) < 1e-5


def test_zeta_and_polygamma():
    assert run(tf.zeta(2.0, 1.0)) == pytest.approx(math.pi**2 / 6)
    np.testing.assert_allclose(run(tf.polygamma(np.zeros(5), X)), run(tf.digamma(X)), rtol=1e-10)
    assert run(tf.polygamma(1.0, 1.0)) == pytest.approx(math.pi**2 / 6)
    assert np.isnan(run(tf.polygamma([0.5, -1.0], [1.0, 1.0]))).all()
    assert gradient_error(tf.zeta, [X + 1, X], 1) < 1e-3
    assert gradient_error(lambda x: tf.polygamma(tf.constant(np.full(5, 2.0)), x), [X + 0.5], 0) < 1e-4


def test_products_that_are_zero_with_their_first_factor():
    assert run(tf.math.xlogy([0.0, 0.0, 2.0], [0.0, np.nan, 1.0])).tolist() == [0, 0, 0]
    assert run(tf.math.xdivy([0.0, 0.0, 2.0], [0.0, np.nan, 4.0])).tolist() == [0, 0, 0.5]
    for function in (tf.math.xlogy, tf.math.xdivy):
        assert max(gradient_error(function, [X - 2, X], by) for by in (0, 1)) < 1e-5


def test_lbeta_of_vectors():
    assert run(tf.lbeta([[1.0, 1.0], [2.0, 3.0]])) == pytest.approx([0, math.log(1 / 12)])
    assert run(tf.lbeta(np.zeros(0, np.float32))) == -np.inf
