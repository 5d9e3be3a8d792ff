"""Division, remainders, powers."""

import numpy as np
import pytest

import everflow as tf
from running import run

INTEGERS = np.array([7, -7, 7, -7]), np.array([2, 2, -2, -2])


@pytest.mark.parametrize(
    "name, expected",
    [
        ("floordiv", [3, -4, -4, 3]),
        ("truncatediv", [3, -3, -3, 3]),
        ("div", [3, -4, -4, 3]),
        ("truediv", [3.5, -3.5, -3.5, 3.5]),
        ("floormod", [1, 1, -1, -1]),
        ("truncatemod", [1, -1, 1, -1]),
        ("mod", [1, 1, -1, -1]),
    ],
)
def test_each_division_rounds_integers_its_own_way(name, expected):
    assert run(getattr(tf, name)(*INTEGERS)).tolist() == expected


@pytest.mark.parametrize(
    "dtype, result", [("int8", "float32"), ("uint16", "float32"), ("int32", "float64"), ("int64", "float64"), ("float16", "float16")]
)
def test_true_division_of_integers_gives_floats(dtype, result):
    assert (tf.constant([3], dtype) / tf.constant([2], dtype)).dtype == result


def test_true_division_refuses_mixed_types():
    with pytest.raises(TypeError, match="x and y must have the same dtype, got tf.float32 != tf.int32"):
        tf.truediv(tf.constant(1.0), tf.constant(2))


@pytest.mark.parametrize("operation", [lambda x, y: x // y, lambda x, y: x % y, tf.truncatediv, tf.truncatemod])
def test_integer_division_by_zero_is_an_error(operation):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero"):
        run(operation(tf.constant([1, 2]), tf.constant([1, 0])))


def test_division_that_is_zero_where_the_divisor_is():
    x, y = np.array([1.0, 0.0, np.inf]), np.array([0.0, 0.0, 2.0])
    assert run(tf.div_no_nan(x, y)).tolist() == [0, 0, np.inf]
    assert run(tf.math.multiply_no_nan(np.array([np.inf, np.nan, 3.0]), y)).tolist() == [0, 0, 6]
    assert run(tf.math.reciprocal_no_nan(y)).tolist() == [0, 0, 0.5]


@pytest.mark.parametrize("operation", [tf.truediv, tf.div_no_nan, tf.math.multiply_no_nan, tf.floormod])
def test_gradients_are_those_of_finite_differences(operation):
    x, y = np.array([[1.3, -2.2, 0.4]]), np.array([[0.7], [-1.9]])
    with tf.Graph().as_default(), tf.Session():
        a, b = tf.constant(x), tf.constant(y)
        z = operation(a, b)
        assert tf.test.compute_gradient_error(a, x.shape, z, (2, 3), x_init_value=x, delta=1e-5) < 1e-6
        assert tf.test.compute_gradient_error(b, y.shape, z, (2, 3), x_init_value=y, delta=1e-5) < 1e-6


def test_powers_of_negative_numbers_have_no_slope_by_the_exponent():
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.constant([-2.0, 0.0, 2.0]), tf.constant([2.0, 2.0, 2.0])
        dx, dy = session.run(tf.gradients(x**y, [x, y]))
    np.testing.assert_allclose(dx, [-4, 0, 4])
    np.testing.assert_allclose(dy, [0, 0, 4 * np.log(2)], rtol=1e-6)


def test_powers_are_rounded_from_what_they_truly_are():
    rng = np.random.RandomState(0)
    x, y = np.exp(rng.uniform(-5, 5, 4000)).astype(np.float32), rng.uniform(-6, 6, 4000).astype(np.float32)
    true = np.power(x.astype(np.float64), y.astype(np.float64)).astype(np.float32)
    # Where the true power lies in the middle between two numbers, nearly, either will do.
    assert np.count_nonzero(run(tf.pow(x, y)) != true) < 20
    np.testing.assert_array_equal(
        run(tf.pow(x[:6].reshape(2, 1, 3), y[:2].reshape(2, 1))),
        run(tf.pow(x[:6].reshape(2, 1, 3) * np.ones((1, 2, 1), np.float32), np.broadcast_to(y[:2].reshape(2, 1), (2, 2, 3)))),
    )
    assert run(tf.pow(256.0, y[:5])).tolist() == run(tf.pow(np.full(5, 256, np.float32), y[:5])).tolist()
    assert run(tf.pow(x[:0], 1.5)).shape == (0,)
    assert run(tf.pow(-8.0, [2.0, 3.0])).tolist() == [64.0, -512.0]


def test_integers_have_no_negative_powers():
    assert run(tf.pow([2, -3], [3, 3])).tolist() == [8, -27]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Integers to negative integer powers are not allowed"):
        run(tf.pow([2], [-1]))


def test_the_magnitude_of_complex_numbers_is_real():
    with tf.Graph().as_default(), tf.Session() as session:
        magnitude = abs(tf.constant([3 + 4j], tf.complex64))
        assert magnitude.op.type == "ComplexAbs" and session.run(magnitude).tolist() == [5]


def test_scalar_mul_takes_slices_and_refuses_vectors():
    with tf.Graph().as_default(), tf.Session() as session:
        scaled = tf.scalar_mul(2.0, tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([3])))
        assert isinstance(scaled, tf.IndexedSlices) and session.run(scaled.values).tolist() == [[2, 4]]
    with pytest.raises(ValueError, match=r"Only scalar multiply works, got shape \(2,\)"):
        tf.scalar_mul(tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0]))
