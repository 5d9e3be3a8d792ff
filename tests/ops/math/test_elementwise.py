"""Elementwise functions: values against numpy, gradients of first and second order against finite differences."""

import numpy as np
import pytest

import everflow as tf
from running import run

ANY = np.array([[-1.7, -0.4, 0.3], [0.9, 1.2, 2.5]])
POSITIVE = np.abs(ANY) + 0.2
UNIT = ANY / 3
ABOVE_ONE = POSITIVE + 1.1

UNARY = {
    "negative": (np.negative, ANY),
    "abs": (np.abs, ANY),
    "sign": (np.sign, ANY),
    "exp": (np.exp, ANY),
    "expm1": (np.expm1, ANY),
    "log": (np.log, POSITIVE),
    "log1p": (np.log1p, POSITIVE),
    "square": (np.square, ANY),
    "sqrt": (np.sqrt, POSITIVE),
    "rsqrt": (lambda x: 1 / np.sqrt(x), POSITIVE),
    "reciprocal": (np.reciprocal, ANY),
    "sin": (np.sin, ANY),
    "cos": (np.cos, ANY),
    "tan": (np.tan, UNIT),
    "sinh": (np.sinh, ANY),
    "cosh": (np.cosh, ANY),
    "tanh": (np.tanh, ANY),
    "asin": (np.arcsin, UNIT),
    "acos": (np.arccos, UNIT),
    "atan": (np.arctan, ANY),
    "asinh": (np.arcsinh, ANY),
    "acosh": (np.arccosh, ABOVE_ONE),
    "atanh": (np.arctanh, UNIT),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), ANY),
    "log_sigmoid": (lambda x: -np.log1p(np.exp(-x)), ANY),
}
WITHOUT_SLOPE = {"floor": np.floor, "ceil": np.ceil, "rint": np.rint, "round": np.round}
BINARY = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "squared_difference": lambda x, y: (x - y) ** 2,
    "truediv": np.divide,
    "pow": np.power,
}


def gradient_error(build, *values):
    """The largest difference between the gradient of build(*tensors) by any of them and finite differences."""
    with tf.Graph().as_default(), tf.Session():
        tensors = [tf.constant(v) for v in values]
        y = build(*tensors)
        return max(
            tf.test.compute_gradient_error(x, v.shape, y, y.shape.as_list(), x_init_value=v, delta=1e-5) for x, v in zip(tensors, values)
        )


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_functions_of_one_tensor_have_numpys_values(name, dtype):
    reference, x = UNARY[name]
    found = run(getattr(tf, name)(tf.constant(x, dtype)))
    assert found.dtype == dtype
    tolerance = {"float16": 1e-2, "float32": 1e-5, "float64": 1e-12}[dtype]
    np.testing.assert_allclose(found, reference(x.astype(dtype).astype("float64")), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", UNARY)
def test_gradients_of_functions_of_one_tensor_are_those_of_finite_differences(name):
    _, x = UNARY[name]
    assert gradient_error(getattr(tf, name), x) < 1e-6
    if name not in ("abs", "sign"):
        assert gradient_error(lambda t: tf.gradients(getattr(tf, name)(t), t)[0] + 0 * t, x) < 1e-4


@pytest.mark.parametrize("name", WITHOUT_SLOPE)
def test_rounding_has_no_gradient(name):
    x = np.array([-1.5, -0.5, 0.5, 1.5, 2.5, 2.7])
    np.testing.assert_array_equal(run(getattr(tf, name)(x)), WITHOUT_SLOPE[name](x))
    t = tf.constant(x)
    assert tf.gradients(getattr(tf, name)(t), t) == [None]


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("shape", [(2, 3), (3,), (2, 1), ()])
def test_functions_of_two_tensors_broadcast_both_ways(name, shape):
    x, y = POSITIVE, np.array([[1.5, 0.7, 2.1], [0.6, 1.1, 0.8]])[tuple(slice(n) for n in shape) if len(shape) == 2 else 0]
    y = y[..., 0] if shape == () else y
    function, reference = getattr(tf, name), BINARY[name]
    np.testing.assert_allclose(run(function(x, y)), reference(x, y), rtol=1e-12)
    np.testing.assert_allclose(run(function(y, x)), reference(y, x), rtol=1e-12)
    assert gradient_error(function, x, np.asarray(y)) < 1e-6
    assert gradient_error(function, np.asarray(y), x) < 1e-6


def test_gradients_of_unknown_shapes_are_summed_when_they_run():
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
        dx, dy = tf.gradients(x * y, [x, y])
        found = session.run([dx, dy], {x: np.ones((2, 3)), y: [1.0, 2.0, 3.0]})
    np.testing.assert_array_equal(found[0], [[1, 2, 3]] * 2)
    np.testing.assert_array_equal(found[1], [2, 2, 2])


def test_shapes_that_do_not_broadcast_are_refused_when_built_and_when_run():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="Dimensions must be equal, but are 2 and 3 for 'add'"):
        tf.zeros([2]) + tf.zeros([3])
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Incompatible shapes: \[2\] vs. \[3\]"):
            session.run(x * tf.zeros([3]), {x: [1, 2]})


def test_the_gradient_of_an_extreme_goes_to_the_first_of_equals():
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.constant([1.0, 2.0, 3.0]), tf.constant([1.0, 5.0, 0.0])
        dx, dy = session.run(tf.gradients(tf.maximum(x, y), [x, y]))
    assert dx.tolist() == [1, 0, 1] and dy.tolist() == [0, 1, 0]


def test_functions_that_keep_zeros_take_sparse_tensors():
    with tf.Graph().as_default(), tf.Session() as session:
        sparse = tf.SparseTensor([[0, 1], [2, 0]], [-4.0, 9.0], [3, 2])
        found = session.run(tf.sqrt(tf.abs(sparse)))
    assert found.values.tolist() == [2, 3] and found.indices.tolist() == [[0, 1], [2, 0]]


@pytest.mark.parametrize(
    "build, names",
    [
        (lambda: tf.add(1, 2), ["Add/x", "Add/y", "Add"]),
        (lambda: tf.constant(1.0) + 2, ["Const", "add/y", "add"]),
        (lambda: 2 * tf.constant(1.0), ["Const", "mul/x", "mul"]),
        (lambda: tf.log_sigmoid(1.0), ["LogSigmoid/x", "LogSigmoid/Neg", "LogSigmoid/Softplus", "LogSigmoid"]),
    ],
)
def test_ops_have_tensorflows_names(build, names):
    with tf.Graph().as_default() as graph:
        build()
    assert [op.name for op in graph.get_operations()] == names


@pytest.mark.parametrize("dtype, largest", [(np.float32, 89.4), (np.float64, 710.4)])
def test_sinh_and_cosh_end_where_their_values_do(dtype, largest):
    x = np.full(16, largest, dtype)
    np.testing.assert_allclose(run(tf.sinh(-x)), -np.sinh(x), rtol=1e-5)
    np.testing.assert_allclose(run(tf.cosh(-x)), np.cosh(x), rtol=1e-5)
    beyond = np.concatenate([x + 1, [-np.inf, np.nan]]).astype(dtype)
    np.testing.assert_array_equal(run(tf.sinh(beyond)), [*[np.inf] * 16, -np.inf, np.nan])
