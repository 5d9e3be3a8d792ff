"""Cholesky, QR, LU, singular values and eigenvectors: factors multiply to the matrix, gradients are those of finite differences."""

import numpy as np
import pytest

import everflow as tf
from running import run

KINDS = ["float32", "float64", "complex64", "complex128"]


def matrix(*shape, dtype="float64", seed=0):
    rng = np.random.RandomState(seed)
    x = rng.randn(*shape)
    return (x + 1j * rng.randn(*shape)).astype(dtype) if dtype.startswith("complex") else x.astype(dtype)


def positive(*shape, dtype="float64"):
    x = matrix(*shape, dtype=dtype)
    return (x @ np.swapaxes(x, -1, -2).conj() + 3 * np.eye(shape[-1])).astype(dtype)


def adjoint(x):
    return np.swapaxes(x, -1, -2).conj()


def tolerance(dtype):
    return 1e-4 if dtype in ("float32", "complex64", "float16") else 1e-10


def gradient_error(build, value):
    """How far the gradient of the sum of a function's outputs, each weighted at random, is from finite differences."""
    with tf.Graph().as_default(), tf.Session():
        x = tf.constant(value)
        outputs = build(x)
        total = tf.add_n([tf.reduce_sum(tf.abs(y) ** 2 * np.random.RandomState(i).rand(*y.shape.as_list())) for i, y in enumerate(outputs)])
        return tf.test.compute_gradient_error(x, value.shape, total, [], x_init_value=value, delta=1e-6)


@pytest.mark.parametrize("dtype", [*KINDS, "float16"])
@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
def test_cholesky(dtype, batch):
    a = positive(*batch, 4, 4, dtype=dtype if dtype != "float16" else "float32").astype(dtype)
    # Nothing above the diagonal is read.
    l = run(tf.cholesky(a + (100 * np.triu(np.ones((4, 4)), 1)).astype(dtype)))
    assert l.dtype == dtype and not np.triu(l, 1).any()
    np.testing.assert_allclose(l @ adjoint(l), a, atol=5e-2 if dtype == "float16" else 10 * tolerance(dtype))


def test_cholesky_needs_positive_definite_matrices():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cholesky decomposition was not successful. The input might not be valid."):
        run(tf.cholesky([[-1.0]]))
    assert np.isnan(run(tf.cholesky([[np.nan]])))
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 2 and 3 for 'Cholesky_2'"):
        run(tf.cholesky(np.ones((2, 3))))
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Input matrix must be square."):
            session.run(tf.cholesky(x), {x: np.ones((2, 3))})
        with pytest.raises(tf.errors.InvalidArgumentError, match="Input tensor 0 must have rank >= 2, got 1"):
            session.run(tf.cholesky(x), {x: np.ones(2)})


def test_cholesky_grad_is_what_the_gradient_of_cholesky_computes():
    a, dl = positive(2, 3, 3), np.tril(matrix(2, 3, 3, seed=1))
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(a)
        l = tf.cholesky(x)
        from everflow.ops.core.registry import apply

        composed, single = session.run([tf.gradients(l, x, dl)[0], apply("CholeskyGrad", l, dl)])
    np.testing.assert_allclose(single, composed, rtol=1e-9)


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3)])
def test_gradient_of_cholesky(shape):
    assert gradient_error(lambda x: [tf.cholesky(tf.matmul(x, x, adjoint_b=True))], matrix(*shape)) < 1e-6


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 5, 3), (0, 3), (3, 0)])
@pytest.mark.parametrize("full", [False, True])
def test_qr(dtype, shape, full):
    a = matrix(*shape, dtype=dtype)
    q, r = run(tf.qr(a, full_matrices=full))
    inner = shape[-2] if full else min(shape[-2:])
    assert q.shape == (*shape[:-1], inner) and r.shape == (*shape[:-2], inner, shape[-1])
    np.testing.assert_allclose(q @ r, a, atol=tolerance(dtype))
    np.testing.assert_allclose(adjoint(q) @ q, np.broadcast_to(np.eye(inner), (*shape[:-2], inner, inner)), atol=tolerance(dtype))
    assert not np.tril(r, -1).any()


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 3)])
def test_gradient_of_qr(shape):
    assert gradient_error(lambda x: tf.qr(x), matrix(*shape)) < 1e-6


def test_the_columns_of_a_full_q_have_no_gradient():
    with tf.Graph().as_default(), pytest.raises(NotImplementedError, match="full_matrices is true and ncols != nrows"):
        x = tf.constant(matrix(4, 2))
        tf.gradients(tf.qr(x, full_matrices=True).q, x)


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("shape", [(4, 4), (2, 3, 5, 5), (0, 0), (0, 2, 2)])
def test_lu(dtype, shape):
    a = matrix(*shape, dtype=dtype)
    lu, p = run(tf.linalg.lu(a, output_idx_type=tf.int64))
    assert p.dtype == np.int64 and p.shape == shape[:-1]
    product = (np.tril(lu, -1) + np.eye(shape[-1])) @ np.triu(lu)
    np.testing.assert_allclose(product, np.take_along_axis(a, p[..., None], -2), atol=tolerance(dtype))


def test_singular_matrices_have_no_lu():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Input is not invertible."):
        run(tf.linalg.lu(np.ones((2, 2))))


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 4), (0, 0)])
def test_eigenvectors_of_self_adjoint_matrices(dtype, shape):
    a = matrix(*shape, dtype=dtype)
    a = a + adjoint(a)
    e, v = run(tf.self_adjoint_eig(np.tril(a)))
    np.testing.assert_allclose(v * e[..., None, :] @ adjoint(v), a, atol=10 * tolerance(dtype))
    assert e.dtype == dtype and (np.diff(e.real) >= 0).all()
    np.testing.assert_allclose(run(tf.self_adjoint_eigvals(a)), e, atol=10 * tolerance(dtype))


def test_eigenvectors_of_what_is_no_number():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Self-adjoint eigen decomposition was not successful."):
        run(tf.self_adjoint_eigvals([[np.nan]]))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("vectors", [False, True])
def test_gradient_of_eigenvectors(dtype, vectors):
    def build(x):
        a = x + tf.linalg.adjoint(x)
        return [tf.self_adjoint_eigvals(a)] if not vectors else tf.self_adjoint_eig(a)

    assert gradient_error(build, matrix(2, 3, 3, dtype=dtype)) < 1e-6


def test_equal_eigenvalues_have_a_finite_gradient():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(np.eye(3))
        assert np.isfinite(session.run(tf.gradients(tf.self_adjoint_eig(x)[1], x)[0])).all()


@pytest.mark.parametrize("dtype", [*KINDS, "float16"])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 5), (0, 2)])
@pytest.mark.parametrize("full", [False, True])
def test_singular_values(dtype, shape, full):
    a = matrix(*shape, dtype=dtype)
    s, u, v = run(tf.svd(a, full_matrices=full))
    k, (rows, columns) = min(shape[-2:]), shape[-2:]
    assert u.shape == (*shape[:-1], rows if full else k) and v.shape == (*shape[:-2], columns, columns if full else k)
    loose = 1e-2 if dtype == "float16" else tolerance(dtype)
    np.testing.assert_allclose(u[..., :k] * s[..., None, :] @ adjoint(v[..., :k]), a, atol=loose)
    assert not np.iscomplexobj(s) and (np.diff(s) <= 0).all()
    np.testing.assert_allclose(run(tf.svd(a, compute_uv=False)), s, atol=loose)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 3), (2, 4, 3)])
@pytest.mark.parametrize("options", [{"compute_uv": False}, {}, {"full_matrices": True}])
def test_gradient_of_singular_values(dtype, shape, options):
    def build(x):
        found = tf.svd(x, **options)
        # Directions that belong to no singular value may turn: only what they span together has a gradient.
        k = min(shape[-2:])
        return [found] if not isinstance(found, tuple) else [found[0], found[1][..., :k], found[2][..., :k]]

    assert gradient_error(build, matrix(*shape, dtype=dtype)) < 1e-6


def test_gradient_of_the_one_direction_without_a_singular_value():
    assert gradient_error(lambda x: tf.svd(x, full_matrices=True), matrix(3, 2)) < 1e-6


def test_static_shapes():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 5, 3])
        assert [t.shape.as_list() for t in tf.qr(x)] == [[None, 5, 3], [None, 3, 3]]
        assert [t.shape.as_list() for t in tf.qr(x, full_matrices=True)] == [[None, 5, 5], [None, 5, 3]]
        assert [t.shape.as_list() for t in tf.svd(x)] == [[None, 3], [None, 5, 3], [None, 3, 3]]
        assert [t.shape.as_list() for t in tf.svd(x, full_matrices=True)] == [[None, 3], [None, 5, 5], [None, 3, 3]]
        y = tf.placeholder(tf.float32, [None, 4, None])
        assert [t.shape.as_list() for t in tf.linalg.lu(y)] == [[None, 4, 4], [None, 4]]
        assert [t.shape.as_list() for t in tf.self_adjoint_eig(y)] == [[None, 4], [None, 4, 4]]


def test_a_matrix_that_is_not_finite_has_no_singular_values_and_spoils_no_other():
    x = np.array([[[1.0, 2.0], [3.0, np.nan]], [[3.0, 0.0], [0.0, 4.0]]])
    s, u, v = run(tf.linalg.svd(x))
    assert np.isnan(s[0]).all() and np.allclose(s[1], [4, 3])
    np.testing.assert_allclose(u[1] * s[1] @ v[1].T, x[1], atol=1e-12)
    assert np.allclose(run(tf.linalg.svd(x, compute_uv=False)), s, equal_nan=True)
