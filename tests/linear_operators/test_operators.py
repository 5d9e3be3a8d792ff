"""Every operator does what its dense matrix does."""

import numpy as np
import pytest
import scipy.linalg

import everflow as tf
from running import run

linalg = tf.linalg
RANDOM = np.random.RandomState(7)
A = RANDOM.randn(3, 3)
SYMMETRIC = A @ A.T + 3 * np.eye(3)
TRIANGLE = np.tril(RANDOM.randn(2, 3, 3)) + 3 * np.eye(3)
COMPLEX = RANDOM.randn(3) + 1j * RANDOM.randn(3)
UNIT = np.array([1.0, 2.0, 2.0]) / 3
SPECTRUM = np.array([[4.0, 1.0], [2.0, 1.0]])


def full(matrix, **hints):
    return linalg.LinearOperatorFullMatrix(matrix, **hints)


def circulant_2d(spectrum):
    """F^H diag(spectrum) F with the transform of two dimensions."""
    size = spectrum.size
    fourier = np.stack([np.fft.fft2(e.reshape(spectrum.shape)).ravel() for e in np.eye(size)], 1)
    return np.linalg.inv(fourier) @ np.diag(spectrum.ravel()) @ fourier


OPERATORS = {
    "full": (lambda: full(A), A),
    "positive definite": (lambda: full(SYMMETRIC, is_self_adjoint=True, is_positive_definite=True), SYMMETRIC),
    "triangle": (lambda: linalg.LinearOperatorLowerTriangular(TRIANGLE + np.triu(A, 1)), TRIANGLE),
    "diagonal": (lambda: linalg.LinearOperatorDiag(COMPLEX), np.diag(COMPLEX)),
    "identity": (lambda: linalg.LinearOperatorIdentity(3, batch_shape=[2], dtype=tf.float64), np.stack([np.eye(3)] * 2)),
    "scaled": (lambda: linalg.LinearOperatorScaledIdentity(3, np.array([2.0, -3.0])), np.stack([2 * np.eye(3), -3 * np.eye(3)])),
    "householder": (lambda: linalg.LinearOperatorHouseholder(5 * UNIT), np.eye(3) - 2 * np.outer(UNIT, UNIT)),
    "toeplitz": (
        lambda: linalg.LinearOperatorToeplitz(np.array([4.0, 1.0, 2.0]), np.array([4.0, -1.0, 3.0])),
        scipy.linalg.toeplitz([4.0, 1.0, 2.0], [4.0, -1.0, 3.0]),
    ),
    "circulant": (
        lambda: linalg.LinearOperatorCirculant(np.fft.fft([4.0, 1.0, 2.0]), input_output_dtype=tf.float64),
        scipy.linalg.circulant([4.0, 1.0, 2.0]),
    ),
    "circulant of blocks": (lambda: linalg.LinearOperatorCirculant2D(SPECTRUM, input_output_dtype=tf.complex128), circulant_2d(SPECTRUM)),
    "composition": (lambda: linalg.LinearOperatorComposition([full(A), full(SYMMETRIC)]), A @ SYMMETRIC),
    "kronecker": (
        lambda: linalg.LinearOperatorKronecker([full(A), full(TRIANGLE)]),
        np.stack([np.kron(A, triangle) for triangle in TRIANGLE]),
    ),
    "blocks": (
        lambda: linalg.LinearOperatorBlockDiag([full(A), full(TRIANGLE)]),
        np.stack([scipy.linalg.block_diag(A, triangle) for triangle in TRIANGLE]),
    ),
    "low rank": (
        lambda: linalg.LinearOperatorLowRankUpdate(full(SYMMETRIC), A[:, :2], np.array([2.0, -1.0]), A[:, 1:]),
        SYMMETRIC + A[:, :2] @ np.diag([2.0, -1.0]) @ A[:, 1:].T,
    ),
    "low rank, positive definite": (
        lambda: linalg.LinearOperatorLowRankUpdate(
            full(SYMMETRIC, is_self_adjoint=True, is_positive_definite=True), A[:, :2], np.array([2.0, 1.0]), is_diag_update_positive=True
        ),
        SYMMETRIC + A[:, :2] @ np.diag([2.0, 1.0]) @ A[:, :2].T,
    ),
    "adjoint": (lambda: linalg.LinearOperatorAdjoint(full(A)), A.T),
    "inverse": (lambda: linalg.LinearOperatorInversion(full(A)), np.linalg.inv(A)),
}


@pytest.fixture(params=OPERATORS)
def pair(request):
    make, matrix = OPERATORS[request.param]
    return make(), matrix


def adjoint(matrix):
    return np.conj(np.swapaxes(matrix, -1, -2))


def test_shape_and_elements(pair):
    operator, matrix = pair
    assert operator.shape.as_list() == list(matrix.shape)
    assert operator.is_square
    dense, shape, diagonal, trace = run([operator.to_dense(), operator.shape_tensor(), operator.diag_part(), operator.trace()])
    np.testing.assert_allclose(dense, matrix, atol=1e-12)
    assert shape.tolist() == list(matrix.shape)
    np.testing.assert_allclose(diagonal, np.diagonal(matrix, axis1=-2, axis2=-1), atol=1e-12)
    np.testing.assert_allclose(trace, np.trace(matrix, axis1=-2, axis2=-1), atol=1e-12)


def test_products(pair):
    operator, matrix = pair
    x = RANDOM.randn(2, matrix.shape[-1], 4).astype(matrix.dtype)
    found = [
        operator.matmul(x),
        operator.matmul(x, adjoint=True),
        operator.matmul(adjoint(x), adjoint_arg=True),
        operator.matvec(x[0, :, 0]),
    ]
    assert found[0].shape.as_list() == [2, matrix.shape[-2], 4]
    wanted = [matrix @ x, adjoint(matrix) @ x, matrix @ x, matrix @ x[0, :, 0]]
    for a, b in zip(run(found), wanted):
        np.testing.assert_allclose(a, b, atol=1e-10)


def test_solutions(pair):
    operator, matrix = pair
    x = RANDOM.randn(2, matrix.shape[-1], 4).astype(matrix.dtype)
    found = [
        operator.solve(x),
        operator.solve(x, adjoint=True),
        operator.solve(adjoint(x), adjoint_arg=True),
        operator.solvevec(x[0, :, 0]),
    ]
    inverse = np.linalg.inv(matrix)
    wanted = [inverse @ x, adjoint(inverse) @ x, inverse @ x, inverse @ x[0, :, 0]]
    for a, b in zip(run(found), wanted):
        np.testing.assert_allclose(a, b, atol=1e-10)
    np.testing.assert_allclose(run(operator.inverse().to_dense()), inverse, atol=1e-10)


def test_determinants(pair):
    operator, matrix = pair
    determinant, log = run([operator.determinant(), operator.log_abs_determinant()])
    np.testing.assert_allclose(determinant, np.linalg.det(matrix), rtol=1e-9)
    np.testing.assert_allclose(log, np.linalg.slogdet(matrix)[1], rtol=1e-9, atol=1e-12)


def test_sums_and_adjoints(pair):
    operator, matrix = pair
    x = np.full(matrix.shape[-2:], 2.0).astype(matrix.dtype)
    if operator.name != "LinearOperatorIdentity":
        np.testing.assert_allclose(run(operator.add_to_tensor(x)) - matrix, np.broadcast_to(x, matrix.shape), atol=1e-12)
    np.testing.assert_allclose(run(operator.adjoint().to_dense()), adjoint(matrix), atol=1e-12)


def test_zeros():
    operator = linalg.LinearOperatorZeros(2, 3, is_square=False, is_self_adjoint=None, dtype=tf.float64)
    assert run(operator.matmul(np.ones((5, 3, 4)))).shape == (5, 2, 4)
    assert run(operator.matmul(np.ones((5, 2, 4)), adjoint=True)).shape == (5, 3, 4)
    with pytest.raises(NotImplementedError, match="expected to be singular"):
        operator.solve(np.ones((2, 1)))


def test_shapes_that_are_known_only_when_it_runs():
    matrix = tf.placeholder(tf.float64)
    triangle = linalg.LinearOperatorLowerTriangular(matrix)
    product = linalg.LinearOperatorKronecker([linalg.LinearOperatorDiag(np.array([1.0, 2.0])), triangle])
    blocks = linalg.LinearOperatorBlockDiag([triangle, linalg.LinearOperatorIdentity(2, dtype=tf.float64)])
    found = run([product.to_dense(), product.matmul(tf.ones([6, 1], tf.float64)), blocks.to_dense()], {matrix: TRIANGLE[0]})
    np.testing.assert_allclose(found[0], np.kron(np.diag([1.0, 2.0]), TRIANGLE[0]))
    np.testing.assert_allclose(found[1][:, 0], np.kron(np.diag([1.0, 2.0]), TRIANGLE[0]).sum(1))
    np.testing.assert_allclose(found[2], scipy.linalg.block_diag(TRIANGLE[0], np.eye(2)))


def test_gradients_go_through_variables_that_are_read_when_used(eager):
    diagonal = tf.Variable([2.0, 4.0])
    operator = linalg.LinearOperatorDiag(diagonal)
    assert operator.variables == (diagonal,)
    with tf.GradientTape() as tape:
        log = operator.log_abs_determinant()
    np.testing.assert_allclose(tape.gradient(log, diagonal), [0.5, 0.25])
    diagonal.assign([1.0, 1.0])
    assert operator.determinant().numpy() == 1.0


def test_empty_operators():
    assert run(linalg.LinearOperatorCirculant2D(np.ones((3, 0, 0))).to_dense()).shape == (3, 0, 0)
