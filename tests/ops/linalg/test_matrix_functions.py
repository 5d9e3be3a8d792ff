"""Norms, matrix functions and what is made of the decompositions."""

import numpy as np
import pytest
import scipy.linalg

import everflow as tf
from running import run


def matrix(*shape, dtype="float64", seed=0):
    rng = np.random.RandomState(seed)
    x = rng.randn(*shape)
    return (x + 1j * rng.randn(*shape)).astype(dtype) if dtype.startswith("complex") else x.astype(dtype)


def gradient_error(build, value):
    with tf.Graph().as_default(), tf.Session():
        x = tf.constant(value)
        y = build(x)
        return tf.test.compute_gradient_error(x, value.shape, y, y.shape.as_list(), x_init_value=value, delta=1e-6)


@pytest.mark.parametrize("order", ["euclidean", 0.5, 1, 2, 3, np.inf])
@pytest.mark.parametrize("axis", [0, -1, None])
@pytest.mark.parametrize("keep", [False, True])
def test_norms_of_vectors(order, axis, keep):
    x = matrix(3, 4)
    found = run(tf.norm(x, order, axis, keepdims=keep))
    flat, along = (x.reshape(-1), 0) if axis is None else (x, axis)
    wanted = np.linalg.norm(flat, 2 if order == "euclidean" else order, along, keepdims=keep)
    np.testing.assert_allclose(found, wanted.reshape(1, 1) if keep and axis is None else wanted)


@pytest.mark.parametrize("order", ["euclidean", "fro", 1, 2, np.inf])
@pytest.mark.parametrize("axis", [(0, 1), (-1, 0), [2, 1]])
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_norms_of_matrices(order, axis, keep, dtype):
    x = matrix(2, 3, 4, dtype=dtype)
    wanted = np.linalg.norm(x, "fro" if order == "euclidean" else order, tuple(axis), keepdims=keep)
    np.testing.assert_allclose(run(tf.norm(x, order, axis, keepdims=keep)), wanted)
    with tf.Graph().as_default(), tf.Session() as session:
        t = tf.placeholder(dtype)
        np.testing.assert_allclose(session.run(tf.norm(t, order, axis, keep_dims=keep), {t: x}), wanted)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"ord": "fro"}, "'ord' must be a supported vector norm, got fro"),
        ({"ord": 0}, "'ord' must be a supported vector norm, got 0"),
        ({"ord": 3, "axis": [0, 1]}, "'ord' must be a supported matrix norm in"),
        ({"axis": [0, 0]}, "'axis' must be None, an integer, or a tuple of 2 unique integers"),
        ({"axis": [0, 1, 2]}, "'axis' must be None, an integer, or a tuple of 2 unique integers"),
    ],
)
def test_norms_that_do_not_exist(arguments, message):
    with pytest.raises(ValueError, match=message):
        tf.norm([[1.0]], **arguments)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("scale", [0.01, 0.3, 1.0, 1.7, 30.0])
def test_exponential(dtype, scale):
    x = scale * matrix(3, 4, 4, dtype=dtype)
    x *= np.array([0.5, 1, 1])[:, None, None] / np.abs(x).sum(-2).max(-1)[:, None, None] * scale
    wanted = np.stack([scipy.linalg.expm(m.astype("complex128" if np.iscomplexobj(x) else "float64")) for m in x])
    loose = 1e-4 if dtype in ("float32", "complex64") else 1e-10
    np.testing.assert_allclose(run(tf.linalg.expm(x.astype(dtype))), wanted, rtol=loose, atol=loose * np.abs(wanted).max())
    with tf.Graph().as_default(), tf.Session() as session:
        t = tf.placeholder(dtype)
        np.testing.assert_allclose(session.run(tf.linalg.expm(t), {t: x}), wanted, rtol=loose, atol=loose * np.abs(wanted).max())


def test_exponentials_keep_the_outer_dimensions():
    assert run(tf.linalg.expm(np.zeros((2, 0, 3, 3)))).shape == (2, 0, 3, 3)
    assert run(tf.linalg.expm(np.zeros((0, 0)))).shape == (0, 0)


def test_gradient_of_the_exponential():
    assert gradient_error(tf.linalg.expm, 3 * matrix(2, 2)) < 1e-3


@pytest.mark.parametrize(
    "value",
    [
        matrix(4, 4, dtype="complex128"),
        100 * matrix(3, 3, dtype="complex128"),
        [[1, 2], [3, 4]],
        np.eye(3),
        [[1, 1], [0, 1]],
        [[2, 1, 0, 0], [0, 2, 1, 0], [0, 0, 2, 1], [0, 0, 0, 2]],
        [[-1, 0], [0, 5]],
        [[1e-6, 1], [0, 1e6]],
    ],
)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_logarithm(value, dtype):
    value = np.asarray(value, dtype)
    found = run(tf.linalg.logm(value))
    assert found.dtype == dtype
    np.testing.assert_allclose(
        scipy.linalg.expm(found.astype("complex128")), value, atol=(1e-4 if dtype == "complex64" else 1e-6) * np.abs(value).max()
    )


def test_logarithm_of_a_batch_and_of_zero():
    x = matrix(2, 3, 3, dtype="complex128")
    np.testing.assert_allclose(run(tf.linalg.logm(x)), np.stack([scipy.linalg.logm(m) for m in x]))
    assert np.isnan(run(tf.linalg.logm(np.zeros((2, 2), "complex64")))).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_square_root(dtype):
    x = matrix(2, 4, 4, dtype=dtype)
    x = (x @ np.swapaxes(x, -1, -2).conj()).astype(dtype)
    root = run(tf.matrix_square_root(x))
    assert root.dtype == dtype
    np.testing.assert_allclose(root @ root, x, atol=1e-4 if dtype in ("float32", "complex64") else 1e-10)


def test_square_root_of_a_matrix_with_equal_eigenvalues():
    np.testing.assert_allclose(run(tf.linalg.sqrtm(np.array([[4.0, 1.0], [0.0, 4.0]]))), [[2, 0.25], [0, 2]], atol=1e-7)


def test_a_real_matrix_without_a_real_square_root():
    assert np.isnan(run(tf.linalg.sqrtm(np.array([[1.0, 2.0], [3.0, 4.0]])))).all()


def test_gradient_of_the_square_root():
    x = matrix(2, 3, 3)
    assert gradient_error(tf.matrix_square_root, x @ np.swapaxes(x, -1, -2) + np.eye(3)) < 1e-6


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_log_of_the_determinant_and_adjoint(dtype):
    x = matrix(2, 3, 3, dtype=dtype)
    square = x @ np.swapaxes(x, -1, -2).conj()
    np.testing.assert_allclose(run(tf.linalg.logdet(square)), np.linalg.slogdet(square)[1])
    np.testing.assert_array_equal(run(tf.linalg.adjoint(x)), np.swapaxes(x, -1, -2).conj())


def test_rank():
    x = np.stack([np.diag([1.0, 2, 3]), np.diag([1.0, 0, 3]), np.ones((3, 3)), np.zeros((3, 3))])
    assert run(tf.linalg.matrix_rank(x)).tolist() == [3, 2, 1, 0]
    assert run(tf.linalg.matrix_rank(x, tol=1.5)).tolist() == [2, 1, 1, 0]
    with tf.Graph().as_default(), tf.Session() as session:
        t = tf.placeholder(tf.float64)
        assert session.run(tf.linalg.matrix_rank(t, validate_args=True), {t: x}).tolist() == [3, 2, 1, 0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Input `a` must have at least 2 dimensions."):
            session.run(tf.linalg.matrix_rank(t, validate_args=True), {t: [1.0]})
    with pytest.raises(TypeError, match="Input `a` must have `float`-like `dtype` \\(saw int32\\)."):
        tf.linalg.matrix_rank(tf.constant([[1]]))


@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 2), (2, 5)])
def test_pseudo_inverse(shape):
    x = matrix(*shape)
    np.testing.assert_allclose(run(tf.linalg.pinv(x)), np.linalg.pinv(x))
    with tf.Graph().as_default(), tf.Session() as session:
        t = tf.placeholder(tf.float64)
        np.testing.assert_allclose(session.run(tf.linalg.pinv(t, rcond=0.4), {t: x}), np.linalg.pinv(x, rcond=0.4))
