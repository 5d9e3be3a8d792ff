"""Complex numbers."""

import numpy as np
import pytest

import everflow as tf
from running import run

Z = np.array([1 + 2j, -3 + 0.5j, -1 - 1j])


@pytest.mark.parametrize("name", ["real", "imag", "angle", "conj", "abs"])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_parts_are_numpys(name, dtype):
    z = Z.astype(dtype)
    found = run(getattr(tf, name)(z))
    expected = getattr(np, name)(z)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_real_numbers_are_their_own_real_part():
    x = tf.constant([1.0, -2.0])
    assert tf.real(x) is x and tf.conj(x) is x
    assert run(tf.imag([1.0, -2.0])).tolist() == [0, 0]
    with pytest.raises(TypeError, match="Expected numeric or variant tensor, got dtype tf.string"):
        tf.conj("a")


def test_complex_numbers_are_made_of_two_floats_of_one_type():
    assert run(tf.complex([1.0, 2.0], 3.0)).tolist() == [1 + 3j, 2 + 3j]
    assert tf.complex(np.float64(1), np.float64(2)).dtype == tf.complex128
    with pytest.raises(TypeError, match="real and imag have incorrect types: int32 int32"):
        tf.complex(1, 2)


@pytest.mark.parametrize(
    "function",
    [
        tf.real,
        tf.imag,
        tf.abs,
        tf.angle,
        lambda z: tf.real(tf.exp(z)),
        lambda z: tf.real(z * tf.conj(z) * z),
        lambda z: tf.imag(tf.sqrt(z)),
        lambda z: tf.abs(tf.square(z) / (z + 1)),
        lambda z: tf.real(tf.log(z) * tf.sin(z)),
        lambda z: tf.real(tf.tanh(z)),
    ],
)
def test_gradients_by_both_parts_are_those_of_finite_differences(function):
    with tf.Graph().as_default(), tf.Session():
        parts = [Z.real.copy(), Z.imag.copy()]
        re, im = map(tf.constant, parts)
        y = function(tf.complex(re, im))
        for t, value in zip((re, im), parts):
            assert tf.test.compute_gradient_error(t, value.shape, y, value.shape, x_init_value=value, delta=1e-5) < 1e-6


def test_the_gradient_of_a_magnitude_is_zero_at_zero():
    with tf.Graph().as_default(), tf.Session() as session:
        z = tf.constant([0j, 3 + 4j], tf.complex64)
        np.testing.assert_allclose(session.run(tf.gradients(tf.abs(z), z)[0]), [0, 0.6 + 0.8j], rtol=1e-6)
