"""tf.contrib.solvers: iterative solutions of linear equations, least squares and bidiagonal forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import everflow as tf
from everflow.api import internal
from everflow.graph.convert import convert_to_tensor

BELOW = "contrib.solvers.python.ops."


class LinearOperator(NamedTuple):
    """A linear map that is known by what it does."""

    shape: Any
    dtype: Any
    apply: Callable[[Any], Any]
    apply_adjoint: Callable[[Any], Any]


class Iterate(NamedTuple):
    """Where an iteration stands: its number, the solution, the residual, the direction and the residual's squared length."""

    i: Any
    x: Any
    r: Any
    p: Any
    gamma: Any


class Bidiagonal(NamedTuple):
    """A bidiagonal form: vectors on both sides, the diagonal and the one below it."""

    u: Any
    v: Any
    alpha: Any
    beta: Any


def _shape(matrix: Any) -> Any:
    return matrix.shape if matrix.shape.is_fully_defined() else tf.shape(matrix)


@internal(BELOW + "util.create_operator")
def create_operator(matrix: Any) -> LinearOperator:
    """The map of a matrix."""
    return LinearOperator(_shape(matrix), matrix.dtype, lambda v: tf.matmul(matrix, v), lambda v: tf.matmul(matrix, v, adjoint_a=True))


@internal(BELOW + "util.identity_operator")
def identity_operator(matrix: Any) -> LinearOperator:
    """The map that changes nothing, of the shape of a matrix."""
    return LinearOperator(_shape(matrix), matrix.dtype, lambda v: v, lambda v: v)


@internal(BELOW + "util.l2norm_squared")
def l2norm_squared(v: Any) -> Any:
    """The squared length of a vector, a matrix of one element."""
    return tf.constant(2, dtype=v.dtype.base_dtype) * tf.nn.l2_loss(v)


@internal(BELOW + "util.l2norm")
def l2norm(v: Any) -> Any:
    """The length of a vector."""
    return tf.sqrt(l2norm_squared(v))


@internal(BELOW + "util.l2normalize")
def l2normalize(v: Any) -> tuple[Any, Any]:
    """A vector of length 1, and the length that it had."""
    norm = l2norm(v)
    return v / norm, norm


@internal(BELOW + "util.dot")
def dot(x: Any, y: Any) -> Any:
    """The product of two vectors."""
    return tf.reduce_sum(tf.conj(x) * y)


@internal(BELOW + "linear_equations.conjugate_gradient")
def conjugate_gradient(
    operator: Any,
    rhs: Any,
    preconditioner: Any = None,
    x: Any = None,
    tol: float = 1e-4,
    max_iter: int = 20,
    name: str = "conjugate_gradient",
) -> Iterate:
    """Solves A x = rhs for a Hermitian positive definite A, until the residual is `tol` of rhs or after `max_iter` steps."""
    with tf.name_scope(name):
        rhs = tf.expand_dims(convert_to_tensor(rhs), -1)
        precondition = preconditioner.apply if preconditioner is not None else lambda r: r
        if x is None:
            x, r = tf.expand_dims(tf.zeros(rhs.shape[:1], dtype=rhs.dtype.base_dtype), -1), rhs
        else:
            x = tf.expand_dims(convert_to_tensor(x), -1)
            r = rhs - operator.apply(x)
        p = precondition(r)
        limit = tol * l2norm(rhs)

        def step(i: Any, x: Any, r: Any, p: Any, gamma: Any) -> Iterate:
            z = operator.apply(p)
            alpha = gamma / dot(p, z)
            x, r = x + alpha * p, r - alpha * z
            q = precondition(r)
            before, gamma = gamma, dot(r, q)
            return Iterate(i + 1, x, r, q + gamma / before * p, gamma)

        start = Iterate(tf.constant(0, dtype=tf.int32), x, r, p, dot(r, p))
        found = tf.while_loop(lambda i, x, r, p, gamma: tf.logical_and(i < max_iter, l2norm(r) > limit), step, start)
        return Iterate(found[0], tf.squeeze(found[1]), tf.squeeze(found[2]), tf.squeeze(found[3]), found[4])


@internal(BELOW + "least_squares.cgls")
def cgls(operator: Any, rhs: Any, tol: float = 1e-6, max_iter: int = 20, name: str = "cgls") -> Iterate:
    """The x for which |A x - rhs| is least, by conjugate gradients of the normal equations."""
    with tf.name_scope(name):
        rhs = tf.expand_dims(convert_to_tensor(rhs), -1)
        s = operator.apply_adjoint(rhs)
        gamma = l2norm_squared(s)
        limit = tol * tol * gamma

        def step(i: Any, x: Any, r: Any, p: Any, gamma: Any) -> Iterate:
            q = operator.apply(p)
            alpha = gamma / l2norm_squared(q)
            x, r = x + alpha * p, r - alpha * q
            s = operator.apply_adjoint(r)
            before, gamma = gamma, l2norm_squared(s)
            return Iterate(i + 1, x, r, s + gamma / before * p, gamma)

        start = Iterate(tf.constant(0, dtype=tf.int32), tf.zeros_like(s), rhs, s, gamma)
        found = tf.while_loop(lambda i, x, r, p, gamma: tf.logical_and(i < max_iter, gamma > limit), step, start)
        return Iterate(found[0], tf.squeeze(found[1]), tf.squeeze(found[2]), tf.squeeze(found[3]), found[4])


@internal(BELOW + "lanczos.lanczos_bidiag")
def lanczos_bidiag(
    operator: Any, k: Any, orthogonalize: bool = True, starting_vector: Any = None, name: str = "lanczos_bidiag"
) -> Bidiagonal:
    """k steps of Golub and Kahan: A V = U B with B lower bidiagonal; fewer where the vectors end in a subspace of A."""
    with tf.name_scope(name):
        dtype = tf.as_dtype(operator.dtype).base_dtype
        epsilon = 1e-6 if dtype == tf.float32 else 1e-12
        if starting_vector is None:
            starting_vector = tf.random_uniform(operator.shape[:1], -1, 1, dtype=dtype)
        first, _ = l2normalize(tf.reshape(starting_vector, [-1, 1]))

        def orthogonal(vectors: Any, v: Any, length: Any) -> tuple[Any, Any]:
            """What of a vector is new, of length 1, and how long it was."""
            if not orthogonalize:
                return l2normalize(v)
            for _ in range(2):
                v = v - tf.matmul(vectors, tf.matmul(vectors, v, adjoint_a=True))
            norm = l2norm(v)
            tiny = norm < epsilon * length
            return tf.where(tiny, tf.zeros_like(v), v / tf.where(tiny, tf.ones_like(norm), norm)), tf.where(tiny, tf.zeros_like(norm), norm)

        def step(i: Any, us: Any, vs: Any, alphas: Any, betas: Any, u: Any, v: Any, beta: Any, going: Any) -> Any:
            raw = operator.apply_adjoint(u) - beta * v
            v, alpha = orthogonal(vs, raw, l2norm(raw) + beta)
            raw = operator.apply(v) - alpha * u
            u, beta = orthogonal(us, raw, l2norm(raw) + alpha)
            return (
                i + 1, tf.concat([us, u], 1), tf.concat([vs, v], 1), tf.concat([alphas, [alpha]], 0), tf.concat([betas, [beta]], 0),
                u, v, beta, tf.logical_and(alpha > 0, beta > 0),
            )  # fmt: skip

        n = operator.shape[1]
        columns = tf.zeros(tf.stack([n, 0]), dtype)
        nothing = tf.zeros([0], dtype)
        scalar, nobody = tf.TensorShape([]), tf.zeros(tf.stack([n, 1]), dtype)
        start = (tf.constant(0), first, columns, nothing, nothing, first, nobody, tf.zeros([], dtype), tf.constant(True))
        left, right = first.shape[0], columns.shape[0]
        vectors = [tf.TensorShape([left, None]), tf.TensorShape([right, None]), tf.TensorShape([None]), tf.TensorShape([None])]
        invariants = (scalar, *vectors, tf.TensorShape([left, 1]), tf.TensorShape([right, 1]), scalar, scalar)
        found = tf.while_loop(lambda i, *rest: tf.logical_and(i < k, rest[-1]), step, start, shape_invariants=invariants)
        return Bidiagonal(found[1], found[2], found[3], found[4])


@internal(BELOW + "lanczos.bidiag_matmul")
def bidiag_matmul(matrix: Any, alpha: Any, beta: Any, adjoint_b: bool = False, name: str = "bidiag_matmul") -> Any:
    """The product of a matrix and the lower bidiagonal one of `alpha` (diagonal) and `beta` (below), or its adjoint."""
    with tf.name_scope(name):
        alpha, beta = tf.expand_dims(alpha, 0), tf.expand_dims(beta, 0)
        if not adjoint_b:
            return matrix[:, :-1] * alpha + matrix[:, 1:] * beta
        zeros = tf.zeros([tf.shape(matrix)[0], 1], dtype=matrix.dtype)
        return tf.concat([matrix * alpha, zeros], 1) + tf.concat([zeros, matrix * beta], 1)
