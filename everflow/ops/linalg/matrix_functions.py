"""Functions of whole matrices: exponential, logarithm and square root."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.linalg.matrix_shapes import Kernel, check_square, in_full_precision, square

# Coefficients of the numerators of the diagonal Padé approximants to exp, whose highest is 1, and the norms up to which each
# is exact in single and double precision (Higham, "The scaling and squaring method for the matrix exponential revisited").
_PADE = {
    3: (120.0, 60.0, 12.0),
    5: (30240.0, 15120.0, 3360.0, 420.0, 30.0),
    7: (17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0),
    9: (17643225600.0, 8821612800.0, 2075673600.0, 302702400.0, 30270240.0, 2162160.0, 110880.0, 3960.0, 90.0),
    13: (
        64764752532480000.0,
        32382376266240000.0,
        7771770303897600.0,
        1187353796428800.0,
        129060195264000.0,
        10559470521600.0,
        670442572800.0,
        33522128640.0,
        1323241920.0,
        40840800.0,
        960960.0,
        16380.0,
        182.0,
    ),
}
_SINGLE = {3: 4.258730016922831e-001, 5: 1.880152677804762e000, 7: 3.925724783138660}
_DOUBLE = {3: 1.495585217958292e-002, 5: 2.539398330063230e-001, 7: 9.504178996162932e-001, 9: 2.097847961257068e000, 13: 5.371920351148152}


def _pade(matrix: Any, degree: int) -> tuple[Any, Any]:
    """(odd, even): the parts of the numerator with odd and with even powers of the matrix."""
    b = [tf.constant(c, matrix.dtype) for c in _PADE[degree]]
    identity = tf.eye(tf.shape(matrix)[-2], batch_shape=tf.shape(matrix)[:-2], dtype=matrix.dtype)
    powers = {0: identity, 2: tf.matmul(matrix, matrix)}
    for power in range(4, 8 if degree == 13 else degree, 2):
        powers[power] = tf.matmul(powers[power - 2], powers[2])

    def polynomial(coefficients: dict[int, Any]) -> Any:
        total = None
        for power, c in sorted(coefficients.items(), reverse=True):
            term = powers[power] if c is None else c * powers[power]
            total = term if total is None else total + term
        return total

    if degree < 13:
        odd = polynomial({degree - 1: None, **{k: b[k + 1] for k in range(0, degree - 1, 2)}})
        return tf.matmul(matrix, odd), polynomial({k: b[k] for k in range(0, degree, 2)})
    high = polynomial({6: None, 4: b[11], 2: b[9]})
    odd = _plus(tf.matmul(powers[6], high), powers, {k: b[k + 1] for k in (6, 4, 2, 0)})
    odd = tf.matmul(matrix, odd)
    high = polynomial({6: b[12], 4: b[10], 2: b[8]})
    return odd, _plus(tf.matmul(powers[6], high), powers, {k: b[k] for k in (6, 4, 2, 0)})


def _plus(total: Any, powers: dict[int, Any], coefficients: dict[int, Any]) -> Any:
    for power, c in coefficients.items():
        total += c * powers[power]
    return total


@public("linalg.expm")
def matrix_exponential(input: Any, name: str | None = None) -> Any:
    """The exponentials of square matrices, by scaling and squaring of Padé approximants."""
    with name_scope(name, "matrix_exponential", [input]):
        matrix = tf.convert_to_tensor(input, name="input")
        dims = matrix.dims
        if dims is not None and dims[-2:] == (0, 0):
            return matrix
        known = dims is not None and None not in dims
        outer = None if known else tf.shape(matrix)[:-2]
        matrix = tf.reshape(matrix, tf.concat([[-1], tf.shape(matrix)[-2:]], 0))
        norm = tf.reduce_max(tf.reduce_sum(tf.abs(matrix), axis=tf.size(tf.shape(matrix)) - 2), axis=-1)
        limits = dict(_SINGLE if matrix.dtype in (tf.float16, tf.float32, tf.complex64) else _DOUBLE)
        largest = max(limits)
        doublings = tf.log(norm / tf.constant(limits.pop(largest), norm.dtype)) / tf.log(tf.constant(2.0, norm.dtype))
        squarings = tf.maximum(tf.floor(doublings), 0)
        parts = [_pade(matrix, degree) for degree in limits]
        scale = tf.pow(tf.constant(2.0, matrix.dtype), tf.cast(squarings, matrix.dtype))
        parts.append(_pade(matrix / scale[..., tf.newaxis, tf.newaxis], largest))

        def chosen(which: int, bounds: list[float], cases: list[Any]) -> Any:
            fits = tf.less(norm, tf.constant(bounds[0], norm.dtype))
            rest = chosen(which, bounds[1:], cases[1:]) if bounds[1:] else cases[1][which]
            return tf.where(fits, cases[0][which], rest)

        odd, even = (chosen(which, list(limits.values()), parts) for which in (0, 1))
        numerator, denominator = odd + even, -odd + even
        result = tf.matrix_solve(denominator, numerator)
        most = tf.reduce_max(squarings)
        _, result = tf.while_loop(
            lambda i, r: tf.less(i, most),
            lambda i, r: (tf.add(i, 1), tf.where(tf.less(i, squarings), tf.matmul(r, r), r)),
            [tf.constant(0.0, norm.dtype), result],
        )
        if known:
            return tf.reshape(result, dims)
        found = tf.reshape(result, tf.concat([outer, tf.shape(result)[-2:]], 0))
        found.set_shape(input.get_shape())
        return found


def _exponential(node: Node) -> Kernel:
    def run(x: Any) -> Any:
        check_square(x)
        return torch.linalg.matrix_exp(x)

    return run


op("MatrixExponential", kernel=in_full_precision(_exponential), shape=square)


def schur(x: Any) -> tuple[Any, Any]:
    """(q, t): a unitary matrix and an upper triangular one with x = q·t·adjoint(q), of a complex matrix."""
    n = x.shape[-1]
    q, _ = torch.linalg.qr(torch.linalg.eig(x).eigenvectors)
    t = q.mH @ x @ q
    if n and torch.linalg.norm(t.tril(-1)) > 1e-13 * n * torch.linalg.norm(x):
        # Eigenvectors that almost coincide don't span enough: take one at a time from what the others leave.
        q = torch.eye(n, dtype=x.dtype, device=x.device)
        for i in range(n - 1):
            rest = (q.mH @ x @ q)[i:, i:]
            first = torch.linalg.eig(rest).eigenvectors[:, :1]
            turned = torch.linalg.qr(torch.cat([first, torch.eye(n - i, dtype=x.dtype, device=x.device)], 1)).Q
            q[:, i:] = q[:, i:] @ turned
        t = q.mH @ x @ q
    return q, t.triu()


def _triangular_root(t: Any) -> Any:
    """The square root of an upper triangular matrix, a diagonal at a time (Björck and Hammarling)."""
    n = t.shape[-1]
    root = torch.diag(t.diagonal().sqrt())
    for k in range(1, n):
        for i in range(n - k):
            j = i + k
            known = root[i, i + 1 : j] @ root[i + 1 : j, j]
            root[i, j] = (t[i, j] - known) / (root[i, i] + root[j, j])
    return root


def _triangular_log(t: Any) -> Any:
    """The logarithm of an upper triangular matrix: square roots until it is close to 1, then Gauss-Legendre quadrature of
    the integral of x/(1 + s·x), which is the diagonal Padé approximant."""
    n = t.shape[-1]
    identity = torch.eye(n, dtype=t.dtype, device=t.device)
    values = t.diagonal().log()
    squarings = 0
    while torch.linalg.matrix_norm(t - identity, 1) > 0.25 and squarings < 100:
        t = _triangular_root(t)
        squarings += 1
    x = t - identity
    total = torch.zeros_like(t)
    for node, weight in _gauss_legendre(8):
        total += weight * torch.linalg.solve_triangular(identity + node * x, x, upper=True)
    total = total * 2.0**squarings
    total.diagonal().copy_(values)
    return total


def _gauss_legendre(count: int) -> list[tuple[float, float]]:
    """Nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return [((1 + float(a)) / 2, float(w) / 2) for a, w in zip(nodes, weights)]


def _by_schur(of_triangular: Callable[[Any], Any]) -> Callable[[Any], Kernel]:
    """A function of matrices from one of complex triangular matrices; real matrices give real results, or not-a-numbers
    where there is none."""

    def make(node: Node) -> Kernel:
        def run(x: Any) -> Any:
            check_square(x)
            return torch.stack([one(m) for m in x.reshape(-1, *x.shape[-2:])]).reshape(x.shape) if x.numel() else x.clone()

        def nothing(matrix: Any) -> Any:
            return torch.full_like(matrix, complex(torch.nan, torch.nan) if matrix.is_complex() else torch.nan)

        def one(matrix: Any) -> Any:
            if not matrix.isfinite().all():
                return nothing(matrix)
            q, t = schur(matrix.to(torch.complex128))
            found = q @ of_triangular(t) @ q.mH
            if not found.isfinite().all():
                return nothing(matrix)
            if not matrix.is_complex():
                if found.imag.abs().max() > 1e-6 * found.abs().max():
                    return nothing(matrix)
                found = found.real
            return found.to(matrix.dtype)

        return run

    return make


def _root_gradient(o: Operation, dy: Any) -> Any:
    """A small change dr of the root r changes its square by r·dr + dr·r, as one matrix that acts on dr laid out in a row."""
    r = o.outputs[0]
    n = tf.shape(r)[-1]
    outer = tf.shape(r)[:-2]
    identity = tf.eye(n, batch_shape=outer, dtype=r.dtype)
    square_dims = tf.concat([outer, [n * n, n * n]], 0)

    def kronecker(a: Any, b: Any) -> Any:
        return tf.reshape(a[..., :, tf.newaxis, :, tf.newaxis] * b[..., tf.newaxis, :, tf.newaxis, :], square_dims)

    acting = kronecker(r, identity) + kronecker(identity, tf.linalg.transpose(r))
    column = tf.reshape(dy, tf.concat([outer, [n * n, 1]], 0))
    return tf.reshape(tf.matrix_solve(acting, column, adjoint=True), tf.shape(r))


op("MatrixLogarithm", kernel=_by_schur(_triangular_log), shape=square)
op("MatrixSquareRoot", kernel=in_full_precision(_by_schur(_triangular_root)), shape=square, gradient=_root_gradient)


@public("linalg.logm")
@internal("ops.linalg_impl.matrix_logarithm")
def logm(input: Any, name: str | None = None) -> Any:
    """The principal logarithms of complex square matrices."""
    return apply("MatrixLogarithm", input, name=name)


@public("matrix_square_root", "linalg.sqrtm")
def matrix_square_root(input: Any, name: str | None = None) -> Any:
    """The matrices whose squares the inputs are."""
    return apply("MatrixSquareRoot", input, name=name)
