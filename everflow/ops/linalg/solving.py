"""Inverses, determinants and systems of linear equations."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.linalg.matrix_shapes import (
    Kernel,
    batch_of,
    check_rank,
    check_square,
    finite,
    in_full_precision,
    only_where,
    square,
    square_batch_of,
    with_batch,
)
from everflow.platform.dispatch import add_dispatch_support


def _inverse(node: Node) -> Kernel:
    adjoint = node.attr("adjoint")

    def run(x: Any) -> Any:
        check_square(x)
        found, failed = torch.linalg.inv_ex(x.mH if adjoint else x)
        if failed.any() or x.isnan().any():
            raise invalid_argument("Input is not invertible.")
        return found

    return run


def _inverse_gradient(o: Operation, dy: Any) -> Any:
    inverse = o.outputs[0]
    if o.attr("adjoint"):
        return -tf.matmul(inverse, tf.matmul(dy, inverse, adjoint_a=True))
    return -tf.matmul(inverse, tf.matmul(dy, inverse, adjoint_b=True), adjoint_a=True)


def _determinant(node: Node) -> Kernel:
    def run(x: Any) -> Any:
        check_square(x)
        return torch.linalg.det(x)

    return run


def _determinant_shape(o: Operation) -> Any:
    return square_batch_of(o.inputs[0].dims)[0]


def _per_matrix(x: Any) -> Any:
    """A number for each matrix, ready to be multiplied with its elements."""
    return tf.reshape(x, tf.concat([tf.shape(x), [1, 1]], 0))


def _determinant_gradient(o: Operation, dy: Any) -> Any:
    return _per_matrix(dy * tf.conj(o.outputs[0])) * tf.matrix_inverse(o.inputs[0], adjoint=True)


def _log_determinant(node: Node) -> Kernel:
    def run(x: Any) -> Any:
        check_square(x)
        sign, size = torch.linalg.slogdet(x)
        return sign, size.to(x.dtype)

    return run


def _log_determinant_shape(o: Operation) -> Any:
    batch, _ = square_batch_of(o.inputs[0].dims)
    return [batch, batch]


def _log_determinant_gradient(o: Operation, _: Any, dy: Any) -> Any:
    return _per_matrix(dy) * tf.matrix_inverse(o.inputs[0], adjoint=True)


op("LogMatrixDeterminant", kernel=in_full_precision(_log_determinant), shape=_log_determinant_shape, gradient=_log_determinant_gradient)


def _check_system(matrix: Any, rhs: Any, is_square: bool = True) -> None:
    check_rank(matrix, rhs)
    if is_square and matrix.shape[-1] != matrix.shape[-2]:
        raise invalid_argument("First input (lhs) must be a square matrix.")
    if matrix.shape[-2] != rhs.shape[-2]:
        raise invalid_argument("Input matrix and rhs are incompatible.")


def _solve(node: Node) -> Kernel:
    adjoint = node.attr("adjoint")

    def run(matrix: Any, rhs: Any) -> Any:
        _check_system(matrix, rhs)
        found, failed = torch.linalg.solve_ex(matrix.mH if adjoint else matrix, rhs)
        if failed.any():
            raise invalid_argument("Input matrix is not invertible.")
        return found

    return run


def _solve_shape(o: Operation) -> Any:
    batch, n = square_batch_of(o.inputs[0].dims)
    return _solution_shape(o, batch, n, n)


def _solution_shape(o: Operation, batch: Any, rows: Any, columns: Any) -> Any:
    rhs_batch, rhs_rows, rhs_columns = batch_of(o.inputs[1].dims)
    batch = shapes.merge(batch, rhs_batch)
    rows = shapes.merge_size(rows, rhs_rows)
    if o.type not in ("MatrixSolveLs", "BatchMatrixSolveLs"):
        columns = rows
    return with_batch(batch, columns, rhs_columns)


def _of_matrix(o: Operation, d_rhs: Any) -> Any:
    """The gradient of a system's matrix from that of its right-hand side."""
    solution = o.outputs[0]
    if o.attr("adjoint"):
        return -tf.matmul(solution, d_rhs, adjoint_b=True)
    return -tf.matmul(d_rhs, solution, adjoint_b=True)


def _solve_gradient(o: Operation, dy: Any) -> Any:
    d_rhs = tf.matrix_solve(o.inputs[0], dy, adjoint=not o.attr("adjoint"))
    return _of_matrix(o, d_rhs), d_rhs


def _triangular_solve(node: Node) -> Kernel:
    lower, adjoint = node.attr("lower"), node.attr("adjoint")

    def run(matrix: Any, rhs: Any) -> Any:
        _check_system(matrix, rhs)
        if not matrix.diagonal(0, -2, -1).all():
            raise invalid_argument("Input matrix is not invertible.")
        return torch.linalg.solve_triangular(matrix.mH if adjoint else matrix, rhs, upper=lower == adjoint)

    return run


def _triangular_solve_gradient(o: Operation, dy: Any) -> Any:
    lower = o.attr("lower")
    d_rhs = tf.matrix_triangular_solve(o.inputs[0], dy, lower=lower, adjoint=not o.attr("adjoint"))
    d_matrix = _of_matrix(o, d_rhs)
    return tf.matrix_band_part(d_matrix, -1, 0) if lower else tf.matrix_band_part(d_matrix, 0, -1), d_rhs


def _least_squares(node: Node) -> Kernel:
    fast = node.attr("fast")

    def run(matrix: Any, rhs: Any, l2_regularizer: Any) -> Any:
        _check_system(matrix, rhs, is_square=False)
        rows, columns = matrix.shape[-2:]
        if not rows or not columns or not rhs.shape[-1]:
            return rhs.new_zeros((*matrix.shape[:-2], columns, rhs.shape[-1]))
        if not fast:
            whole = finite(matrix) & finite(rhs)
            found = torch.linalg.lstsq(only_where(whole, matrix), only_where(whole, rhs), driver="gelsd").solution
            return only_where(whole, found, torch.nan)
        adjoint = matrix.mH
        gram = torch.matmul(adjoint, matrix) if rows >= columns else torch.matmul(matrix, adjoint)
        gram.diagonal(0, -2, -1).add_(l2_regularizer.item())
        factor, failed = torch.linalg.cholesky_ex(gram)
        if failed.any():
            raise invalid_argument(
                "Input matrix was rank deficient or ill-conditioned. Try setting fast=False or provide a larger l2_regularizer > 0."
            )
        if rows >= columns:
            return torch.cholesky_solve(torch.matmul(adjoint, rhs), factor)
        return torch.matmul(adjoint, torch.cholesky_solve(rhs, factor))

    return run


def _least_squares_shape(o: Operation) -> Any:
    shapes.with_rank(o.inputs[2].dims, 0)
    return _solution_shape(o, *batch_of(o.inputs[0].dims))


def regularized_gram(matrix: Any, l2_regularizer: Any, of_columns: bool) -> Any:
    """The Cholesky factor of the inner products of a matrix's columns, or rows, with a number added to the diagonal."""
    gram = tf.matmul(matrix, matrix, adjoint_a=of_columns, adjoint_b=not of_columns)
    if l2_regularizer is not None:
        sizes = tf.shape(matrix)
        gram += l2_regularizer * tf.eye(sizes[-1] if of_columns else sizes[-2], batch_shape=sizes[:-2], dtype=matrix.dtype)
    return tf.cholesky(gram)


def _least_squares_gradient(o: Operation, dx: Any) -> Any:
    a, b, l2 = o.inputs
    x, l2 = o.outputs[0], tf.cast(l2, a.dtype)

    def tall() -> Any:
        z = tf.cholesky_solve(regularized_gram(a, l2, True), dx)
        across = tf.matmul(x, z, adjoint_b=True)
        da = -tf.matmul(a, across + tf.linalg.transpose(across, conjugate=True)) + tf.matmul(b, z, adjoint_b=True)
        return da, tf.matmul(a, z)

    def wide() -> Any:
        chol = regularized_gram(a, l2, False)
        y, db = tf.cholesky_solve(chol, b), tf.cholesky_solve(chol, tf.matmul(a, dx))
        beside = dx - tf.matmul(a, db, adjoint_a=True)
        return tf.matmul(y, beside, adjoint_b=True) - tf.matmul(db, x, adjoint_b=True), db

    _, rows, columns = batch_of(a.dims)
    if rows is not None and columns is not None:
        da, db = tall() if rows >= columns else wide()
    else:
        sizes = tf.shape(a)
        da, db = tf.cond(sizes[-2] >= sizes[-1], tall, wide)
    return da, db, None


for _prefix in ("", "Batch"):
    op(_prefix + "MatrixInverse", kernel=in_full_precision(_inverse), shape=square, gradient=_inverse_gradient)
    op(_prefix + "MatrixDeterminant", kernel=in_full_precision(_determinant), shape=_determinant_shape, gradient=_determinant_gradient)
    op(_prefix + "MatrixSolve", kernel=in_full_precision(_solve), shape=_solve_shape, gradient=_solve_gradient)
    op(
        _prefix + "MatrixTriangularSolve",
        kernel=in_full_precision(_triangular_solve),
        shape=_solve_shape,
        gradient=_triangular_solve_gradient,
    )
    op(_prefix + "MatrixSolveLs", kernel=in_full_precision(_least_squares), shape=_least_squares_shape, gradient=_least_squares_gradient)


@public("matrix_inverse", "linalg.inv")
@add_dispatch_support
def matrix_inverse(input: Any, adjoint: bool = False, name: str | None = None) -> Any:
    """The inverses of square matrices, or of their adjoints."""
    return apply("MatrixInverse", input, adjoint=adjoint, name=name)


@public("matrix_determinant", "linalg.det")
@add_dispatch_support
def matrix_determinant(input: Any, name: str | None = None) -> Any:
    """The determinants of square matrices."""
    return apply("MatrixDeterminant", input, name=name)


@public("linalg.slogdet")
def slogdet(input: Any, name: str | None = None) -> Any:
    """(sign, log of the size) of the determinants of square matrices."""
    return apply("LogMatrixDeterminant", input, name=name)


@public("matrix_solve", "linalg.solve")
@add_dispatch_support
def matrix_solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Any:
    """What the matrix, or its adjoint, has to be multiplied with to give `rhs`."""
    return apply("MatrixSolve", matrix, rhs, adjoint=adjoint, name=name)


@public("matrix_triangular_solve", "linalg.triangular_solve")
def matrix_triangular_solve(matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None) -> Any:
    """The same for a triangular matrix, of which nothing but that triangle is read."""
    return apply("MatrixTriangularSolve", matrix, rhs, lower=lower, adjoint=adjoint, name=name)


@public("cholesky_solve", "linalg.cholesky_solve")
def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Any:
    """Solves a system whose matrix is given by its Cholesky factor."""
    with tf.name_scope(name, "cholesky_solve", [chol, rhs]):
        return matrix_triangular_solve(chol, matrix_triangular_solve(chol, rhs, lower=True), lower=True, adjoint=True)


@public("matrix_solve_ls", "linalg.lstsq")
def matrix_solve_ls(matrix: Any, rhs: Any, l2_regularizer: Any = 0.0, fast: bool = True, name: str | None = None) -> Any:
    """Solutions with the least squared error, and of these the smallest; `fast` solves the normal equations."""
    matrix = tf.convert_to_tensor(matrix, name="matrix")
    if not fast:
        return apply("MatrixSolveLs", matrix, rhs, l2_regularizer, fast=False, name=name)
    l2 = None if l2_regularizer == 0 else l2_regularizer

    def tall() -> Any:
        chol = regularized_gram(matrix, l2, True)
        return cholesky_solve(chol, tf.matmul(matrix, rhs, adjoint_a=True))

    def wide() -> Any:
        return tf.matmul(matrix, cholesky_solve(regularized_gram(matrix, l2, False), rhs), adjoint_a=True)

    with tf.name_scope(name, "matrix_solve_ls", [matrix, rhs, l2_regularizer]):
        _, rows, columns = batch_of(matrix.dims)
        if rows is not None and columns is not None:
            return tall() if rows >= columns else wide()
        sizes = tf.shape(matrix)[-2:]
        return tf.cond(sizes[0] >= sizes[1], tall, wide)
