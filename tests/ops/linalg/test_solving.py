"""Inverses, determinants and systems of linear equations."""

import numpy as np
import pytest

import everflow as tf
from running import run

KINDS = ["float32", "float64", "complex64", "complex128"]


def matrix(*shape, dtype="float64", seed=0):
    rng = np.random.RandomState(seed)
    x = rng.randn(*shape)
    return (x + 1j * rng.randn(*shape)).astype(dtype) if dtype.startswith("complex") else x.astype(dtype)


def adjoint(x):
    return np.swapaxes(x, -1, -2).conj()


def close(found, wanted):
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-3 if found.dtype in (np.float32, np.complex64) else 1e-9)


def gradient_errors(build, *values):
    """How far the gradient of a function of several matrices is from finite differences, for each of them."""
    with tf.Graph().as_default(), tf.Session():
        tensors = [tf.constant(v) for v in values]
        y = build(*tensors)
        return max(
            tf.test.compute_gradient_error(x, v.shape, y, y.shape.as_list(), x_init_value=v, delta=1e-6) for x, v in zip(tensors, values)
        )


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 4), (0, 0)])
def test_inverses_and_determinants(dtype, shape):
    a = matrix(*shape, dtype=dtype)
    close(run(tf.matrix_inverse(a)), np.linalg.inv(a))
    close(run(tf.matrix_inverse(a, adjoint=True)), np.linalg.inv(adjoint(a)))
    close(run(tf.matrix_determinant(a)), np.linalg.det(a))
    sign, size = run(tf.linalg.slogdet(a))
    close(sign * np.exp(size), np.linalg.det(a))


def test_singular_matrices():
    ones = np.ones((2, 2))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Input is not invertible."):
        run(tf.matrix_inverse(ones))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Input matrix is not invertible."):
        run(tf.matrix_solve(ones, ones))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Input matrix is not invertible."):
        run(tf.matrix_triangular_solve(np.zeros((2, 2)), ones))
    assert run(tf.linalg.slogdet(ones)) == (0.0, -np.inf)
    assert run(tf.matrix_determinant(ones)) == 0


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize(
    "build",
    [
        tf.matrix_inverse,
        lambda x: tf.matrix_inverse(x, adjoint=True),
        tf.matrix_determinant,
        lambda x: tf.real(tf.linalg.slogdet(x).log_abs_determinant),
    ],
)
def test_gradients_of_inverses_and_determinants(dtype, build):
    assert gradient_errors(build, matrix(2, 3, 3, dtype=dtype)) < 1e-5


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_systems_of_equations(dtype, flip, lower, batch):
    a, b = matrix(*batch, 3, 3, dtype=dtype), matrix(*batch, 3, 2, dtype=dtype, seed=1)
    op = adjoint(a) if flip else a
    close(run(tf.matrix_solve(a, b, adjoint=flip)), np.linalg.solve(op, b))
    for lower in (True, False):
        triangle = np.tril(a) if lower else np.triu(a)
        close(run(tf.matrix_triangular_solve(a, b, lower=lower, adjoint=flip)), np.linalg.solve(adjoint(triangle) if flip else triangle, b))
    close(run(tf.cholesky_solve(np.tril(a), b)), np.linalg.solve(np.tril(a) @ adjoint(np.tril(a)), b))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("lower", [False, True])
def test_gradients_of_systems_of_equations(dtype, flip, lower):
    a, b = matrix(2, 3, 3, dtype=dtype), matrix(2, 3, 2, dtype=dtype, seed=1)
    assert gradient_errors(lambda x, y: tf.matrix_solve(x, y, adjoint=flip), a, b) < 1e-5
    assert gradient_errors(lambda x, y, lower=lower: tf.matrix_triangular_solve(x, y, lower=lower, adjoint=flip), a, b) < 1e-4


def test_systems_that_do_not_fit():
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
        x = tf.matrix_solve(a, b)
        for sizes, message in (
            (((2, 3), (2, 1)), "First input \\(lhs\\) must be a square matrix."),
            (((2, 2), (3, 1)), "Input matrix and rhs are incompatible."),
            (((2, 2), (2,)), "All input tensors must have the same rank."),
            (((3, 2, 2), (4, 2, 1)), "All input tensors must have the same outer dimensions."),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                session.run(x, {a: np.ones(sizes[0]), b: np.ones(sizes[1])})
        with pytest.raises(ValueError, match="Dimensions must be equal, but are 2 and 3 for 'MatrixSolve_1'"):
            tf.matrix_solve(np.ones((2, 2)), np.ones((3, 1)))


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (2, 5, 3), (3, 3)])
@pytest.mark.parametrize("l2", [0.0, 0.5])
def test_least_squares(dtype, shape, l2):
    a, b = matrix(*shape, dtype=dtype), matrix(*shape[:-1], 2, dtype=dtype, seed=1)
    gram = adjoint(a) @ a if shape[-2] >= shape[-1] else a @ adjoint(a)
    inverse = np.linalg.inv(gram + l2 * np.eye(gram.shape[-1])).astype(dtype)
    wanted = inverse @ adjoint(a) @ b if shape[-2] >= shape[-1] else adjoint(a) @ inverse @ b
    close(run(tf.matrix_solve_ls(a, b, l2)), wanted)
    if not l2:
        close(run(tf.matrix_solve_ls(a, b, fast=False)), wanted)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(dtype)
        close(session.run(tf.matrix_solve_ls(x, b, l2), {x: a}), wanted)


def test_the_smallest_solution_of_a_matrix_without_full_rank():
    found = run(tf.matrix_solve_ls(np.ones((3, 2)), np.ones((3, 1)), fast=False))
    np.testing.assert_allclose(found, [[0.5], [0.5]])


@pytest.mark.parametrize("shape", [(4, 2), (2, 4)])
@pytest.mark.parametrize("fast", [True, False])
def test_gradient_of_least_squares(shape, fast):
    a, b = matrix(*shape), matrix(shape[0], 2, seed=1)
    assert gradient_errors(lambda x, y: tf.matrix_solve_ls(x, y, 0.0, fast=fast), a, b) < 1e-5
    if fast:
        assert gradient_errors(lambda x, y: tf.matrix_solve_ls(x, y, 0.5), a, b) < 1e-5


def band(diagonals):
    above, middle, below = diagonals
    return np.diag(middle) + np.diag(above[:-1], 1) + np.diag(below[1:], -1)


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("pivoting", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_systems_with_three_diagonals(dtype, pivoting, n):
    diagonals, b = matrix(2, 3, n, dtype=dtype), matrix(2, n, 2, dtype=dtype, seed=1)
    wanted = np.stack([np.linalg.solve(band(d), r) for d, r in zip(diagonals, b)])
    close(run(tf.linalg.tridiagonal_solve(tf.constant(diagonals), tf.constant(b), partial_pivoting=pivoting)), wanted)
    whole = np.stack([band(d) for d in diagonals])
    close(run(tf.linalg.tridiagonal_solve(tf.constant(whole), tf.constant(b), "matrix")), wanted)
    close(run(tf.linalg.tridiagonal_matmul(diagonals, b)), whole @ b)


def test_pivots_of_three_diagonals():
    diagonals, rhs = np.array([[1.0, 0.0], [0.0, 3.0], [0.0, 2.0]]), np.array([1.0, 2.0])
    np.testing.assert_allclose(run(tf.linalg.tridiagonal_solve(diagonals, rhs)), [-0.5, 1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Try setting partial_pivoting = True"):
        run(tf.linalg.tridiagonal_solve(diagonals, rhs, partial_pivoting=False))
    with pytest.raises(tf.errors.InvalidArgumentError, match="The matrix is not invertible."):
        run(tf.linalg.tridiagonal_solve(tf.ones([3, 2]), tf.ones([2, 1])))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_gradients_of_three_diagonals(dtype):
    diagonals, b = matrix(2, 3, 4, dtype=dtype), matrix(2, 4, 2, dtype=dtype, seed=1)
    assert gradient_errors(tf.linalg.tridiagonal_solve, diagonals, b) < 1e-5
    assert gradient_errors(tf.linalg.tridiagonal_matmul, diagonals, b) < 1e-5


def test_least_squares_of_what_is_not_finite_are_none():
    matrix = np.array([[[1.0, np.inf], [0.0, 1.0]], [[2.0, 0.0], [0.0, 4.0]]])
    found = run(tf.matrix_solve_ls(matrix, np.ones((2, 2, 1)), fast=False))
    assert np.isnan(found[0]).all() and np.allclose(found[1, :, 0], [0.5, 0.25])
