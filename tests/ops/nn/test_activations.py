"""Activation functions: values, first and second derivatives."""

import math

import numpy as np
import pytest

import everflow as tf
from running import run

X = np.array([[-9.0, -7.0, -0.5, -0.1, 0.3], [0.1, 0.7, 3.0, 5.5, 7.0]])

FUNCTIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.minimum(np.maximum(x, 0), 6),
    "elu": lambda x: np.where(x < 0, np.expm1(x), x),
    "selu": lambda x: 1.0507009873554805 * np.where(x < 0, 1.6732632423543772 * np.expm1(x), x),
    "leaky_relu": lambda x: np.where(x > 0, x, 0.2 * x),
    "softplus": lambda x: np.logaddexp(0, x),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "swish": lambda x: x / (1 + np.exp(-x)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_values_are_those_of_the_formula(name, dtype):
    found = run(getattr(tf.nn, name)(X.astype(dtype)))
    assert found.dtype == dtype
    np.testing.assert_allclose(found, FUNCTIONS[name](X), rtol={"float16": 4e-3, "float32": 1e-6, "float64": 1e-9}[dtype])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_are_those_of_finite_differences(name):
    with tf.Graph().as_default(), tf.Session():
        x = tf.constant(X)
        assert tf.test.compute_gradient_error(x, X.shape, getattr(tf.nn, name)(x), X.shape, x_init_value=X) < 1e-6


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n not in ("softsign", "swish")])
def test_second_derivatives_are_those_of_finite_differences(name):
    with tf.Graph().as_default(), tf.Session():
        x = tf.constant(X)
        first = tf.gradients(getattr(tf.nn, name)(x), x)[0]
        assert tf.test.compute_gradient_error(x, X.shape, first, X.shape, x_init_value=X) < 1e-6


def test_relu_works_on_integers_and_bfloat16():
    assert run(tf.nn.relu(np.array([-3, 4], np.int8))).tolist() == [0, 4]
    assert run(tf.nn.relu6(np.array([-3, 9], np.int32))).tolist() == [0, 6]
    assert run(tf.cast(tf.nn.relu(tf.constant([-1.5, 2.5], tf.bfloat16)), tf.float32)).tolist() == [0.0, 2.5]


def test_relu_passes_nan_on_and_its_gradient_at_zero_is_zero():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([math.nan, 0.0, 1.0])
        y, dx = session.run([tf.nn.relu(x), tf.gradients(tf.nn.relu(x), x)[0]])
    assert math.isnan(y[0])
    assert dx[1:].tolist() == [0.0, 1.0]


def test_selu_has_its_positive_slope_at_zero():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([0.0])
        assert session.run(tf.gradients(tf.nn.selu(x), x)[0])[0] == pytest.approx(1.0507010)


def test_leaky_relu_casts_integers_and_takes_any_slope():
    found = run(tf.nn.leaky_relu(np.array([-2, 3], np.int32), alpha=3.0))
    assert found.dtype == np.float32
    assert found.tolist() == [-6.0, 3.0]


def test_softplus_is_linear_for_large_arguments_and_exact_for_small_ones():
    found = run(tf.nn.softplus(np.array([-40.0, 40.0, 700.0])))
    np.testing.assert_allclose(found, [np.exp(-40.0), 40.0, 700.0], rtol=1e-12)


def test_crelu_puts_both_halves_side_by_side():
    assert run(tf.nn.crelu([[1.0, -2.0]])).tolist() == [[1.0, 0.0, 0.0, 2.0]]
    assert run(tf.nn.crelu([[1.0, -2.0]], axis=0)).tolist() == [[1.0, 0.0], [0.0, 2.0]]


def test_functions_name_their_ops_after_themselves():
    with tf.Graph().as_default() as graph:
        tf.nn.relu([1.0])
        tf.nn.relu6([1.0], name="clip")
        assert [op.name for op in graph.get_operations()] == ["Relu/features", "Relu", "clip/features", "clip"]
