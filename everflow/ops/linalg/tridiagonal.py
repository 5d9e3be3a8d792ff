"""Matrices with three diagonals: products, and systems of equations in time linear in their size."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.linalg.matrix_shapes import Kernel, batch_of, check_rank, with_batch


def _solve(node: Node) -> Kernel:
    pivoting = node.attr("partial_pivoting")
    singular = (
        "The matrix is not invertible."
        if pivoting
        else ("The matrix is either not invertible, or requires pivoting. Try setting partial_pivoting = True.")
    )

    def run(diagonals: Any, rhs: Any) -> Any:
        check_rank(diagonals, rhs)
        count, n = diagonals.shape[-2:]
        if count != 3:
            raise invalid_argument(f"Expected diagonals to be provided as a matrix with 3 rows, got {count} rows.")
        if n != rhs.shape[-2]:
            raise invalid_argument(f"Expected the same number of left-hand sides and right-hand sides, got {n} and {rhs.shape[-2]}.")
        if not n:
            return rhs.clone()
        if n == 1 and (diagonals[..., 1, :] == 0).any():
            raise invalid_argument("The matrix is not invertible: it is a scalar with value zero.")
        above, middle, below = ([x.unsqueeze(-1) for x in d.unbind(-1)] for d in diagonals.unbind(-2))
        right = list(rhs.unbind(-2))
        above[-1] = torch.zeros_like(above[-1])
        # Rows may be exchanged with the next, so each reaches one column further.
        beyond = [torch.zeros_like(above[-1])] * n
        for i in range(n - 1):
            if pivoting:
                swap = below[i + 1].abs() > middle[i].abs()
                (middle[i], below[i + 1]), (above[i], middle[i + 1]), (beyond[i], above[i + 1]), (right[i], right[i + 1]) = (
                    (torch.where(swap, b, a), torch.where(swap, a, b))
                    for a, b in ((middle[i], below[i + 1]), (above[i], middle[i + 1]), (beyond[i], above[i + 1]), (right[i], right[i + 1]))
                )
            factor = below[i + 1] / middle[i]
            middle[i + 1] = middle[i + 1] - factor * above[i]
            if pivoting:
                above[i + 1] = above[i + 1] - factor * beyond[i]
            right[i + 1] = right[i + 1] - factor * right[i]
        if (torch.stack(middle) == 0).any():
            raise invalid_argument(singular)
        found = right
        found[-1] = right[-1] / middle[-1]
        for i in range(n - 2, -1, -1):
            rest = right[i] - above[i] * found[i + 1]
            if pivoting and i + 2 < n:
                rest = rest - beyond[i] * found[i + 2]
            found[i] = rest / middle[i]
        return torch.stack(found, -2)

    return run


def _solve_shape(o: Operation) -> Any:
    batch, count, n = batch_of(o.inputs[0].dims)
    rhs_batch, rows, columns = batch_of(o.inputs[1].dims)
    batch = shapes.merge(batch, rhs_batch)
    if count not in (None, 3):
        raise ValueError(f"Dimension must be 3 but is {count}")
    return with_batch(batch, shapes.merge_size(n, rows), columns)


def _shifted(x: Any, by: int, axis: int) -> Any:
    """The elements one place later (1) or earlier (-1) along one of the last two axes, with a zero where none comes from."""
    rank = tf.rank(x) if x.dims is None else len(x.dims)
    edges = [1, 0] if by > 0 else [0, 1]
    inner = [edges, [0, 0]] if axis == -2 else [[0, 0], edges]
    if isinstance(rank, int):
        padding: Any = [[0, 0]] * (rank - 2) + inner
    else:
        padding = tf.concat([tf.zeros(tf.stack([rank - 2, 2]), tf.int32), inner], 0)
    whole = tf.pad(x, padding)
    if axis == -2:
        return whole[..., :-1, :] if by > 0 else whole[..., 1:, :]
    return whole[..., :-1] if by > 0 else whole[..., 1:]


def _adjoint(diagonals: Any) -> Any:
    above, middle, below = (tf.conj(diagonals[..., i, tf.newaxis, :]) for i in range(3))
    return tf.concat([_shifted(below, -1, -1), middle, _shifted(above, 1, -1)], -2)


def _solve_gradient(o: Operation, dx: Any) -> Any:
    x = tf.conj(o.outputs[0])
    d_rhs = apply("TridiagonalSolve", _adjoint(o.inputs[0]), dx, partial_pivoting=o.attr("partial_pivoting"))
    parts = [tf.reduce_sum(d_rhs * beside, -1) for beside in (_shifted(x, -1, -2), x, _shifted(x, 1, -2))]
    return -tf.stack(parts, -2), d_rhs


op("TridiagonalSolve", kernel=_solve, shape=_solve_shape, gradient=_solve_gradient)


def _multiply(node: Node) -> Kernel:
    def run(above: Any, middle: Any, below: Any, rhs: Any) -> Any:
        wanted = (*rhs.shape[:-2], 1, rhs.shape[-2])
        for diagonal, what in ((above, "superdiagonal"), (middle, "main diagonal"), (below, "subdiagonal")):
            if tuple(diagonal.shape) != wanted:
                raise invalid_argument(f"Invalid {what} shape.")
        found = middle.mT * rhs
        found[..., :-1, :] += above.mT[..., :-1, :] * rhs[..., 1:, :]
        found[..., 1:, :] += below.mT[..., 1:, :] * rhs[..., :-1, :]
        return found

    return run


def _multiply_shape(o: Operation) -> Any:
    batch, rows, columns = batch_of(o.inputs[3].dims)
    for t in o.inputs[:3]:
        outer, one, n = batch_of(t.dims)
        batch = shapes.merge(outer, batch)
        if one not in (None, 1):
            raise ValueError(f"Dimension must be 1 but is {one}")
        rows = shapes.merge_size(n, rows)
    return with_batch(batch, rows, columns)


def _multiply_gradient(o: Operation, dy: Any) -> Any:
    above, middle, below, rhs = (tf.conj(t) for t in o.inputs)

    def along(beside: Any) -> Any:
        return tf.expand_dims(tf.reduce_sum(beside * dy, -1), -2)

    def scaled(diagonal: Any) -> Any:
        return tf.linalg.transpose(diagonal) * dy

    d_rhs = scaled(middle) + _shifted(scaled(above), 1, -2) + _shifted(scaled(below), -1, -2)
    return along(_shifted(rhs, -1, -2)), along(rhs), along(_shifted(rhs, 1, -2)), d_rhs


op("TridiagonalMatMul", kernel=_multiply, shape=_multiply_shape, gradient=_multiply_gradient)


def _gathered(matrix: Any, *places: Any) -> list[Any]:
    """Elements of the last two axes: at each of several places, which may have axes of their own."""
    rank = len(matrix.get_shape())
    turned = tf.transpose(matrix, [rank - 2, rank - 1, *range(rank - 2)])
    found = []
    for indices in places:
        count = np.ndim(indices) - 1
        found.append(tf.transpose(tf.gather_nd(turned, indices), [*range(count, count + rank - 2), *range(count)]))
    return found


def _places(n: int) -> tuple[list[list[int]], list[list[int]], list[list[int]]]:
    """Where a matrix of size n has its three diagonals; the ends that don't exist may be any element."""
    return ([[i, i + 1] for i in range(n - 1)] + [[n - 1, 0]], [[i, i] for i in range(n)], [[0, n - 1]] + [[i, i - 1] for i in range(1, n)])


def _solve_compact(diagonals: Any, rhs: Any, transpose_rhs: bool, conjugate_rhs: bool, partial_pivoting: bool, name: str | None) -> Any:
    rank, rhs_rank = len(diagonals.get_shape()), len(rhs.get_shape())
    if rhs_rank not in (rank, rank - 1):
        raise ValueError(f"Expected the rank of rhs to be {rank - 1} or {rank}, got {rhs_rank}")
    if diagonals.get_shape().as_list()[-2] not in (None, 3):
        raise ValueError(f"Expected 3 diagonals got {diagonals.get_shape().as_list()[-2]}")
    n = diagonals.get_shape().as_list()[-1]
    rows = rhs.get_shape().as_list()[-1 if rhs_rank < rank or transpose_rhs else -2]
    if n is not None and rows is not None and n != rows:
        raise ValueError(f"Expected number of left-hand sided and right-hand sides to be equal, got {n} and {rows}")

    def solved(columns: Any) -> Any:
        return apply("TridiagonalSolve", diagonals, columns, partial_pivoting=partial_pivoting, name=name)

    if rhs_rank == rank - 1:
        if conjugate_rhs:
            rhs = tf.conj(rhs)
        return tf.squeeze(solved(tf.expand_dims(rhs, -1)), -1)
    if transpose_rhs:
        return tf.linalg.transpose(solved(tf.linalg.transpose(rhs, conjugate=conjugate_rhs)))
    return solved(tf.conj(rhs) if conjugate_rhs else rhs)


def _padded(diagonal: Any, n: int | None, at_end: bool) -> Any:
    """A diagonal beside the main one with the element that it lacks."""
    length = diagonal.get_shape().as_list()[-1]
    if length == n:
        return diagonal
    if length is None or n is None or length != n - 1:
        what = "first" if at_end else "third"
        raise ValueError(f"Expected {what} diagonal to be as long as the main one, or one shorter; got {length}.")
    edge = [0, 1] if at_end else [1, 0]
    return tf.pad(diagonal, [[0, 0]] * (len(diagonal.get_shape()) - 1) + [edge])


@public("linalg.tridiagonal_solve")
def tridiagonal_solve(
    diagonals: Any,
    rhs: Any,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
) -> Any:
    """Solves systems whose matrices have three diagonals: `compact` in the rows of one tensor, a `sequence`, or a whole `matrix`."""
    if diagonals_format not in ("compact", "sequence", "matrix"):
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    if diagonals_format == "sequence":
        if not isinstance(diagonals, (tuple, list)) or len(diagonals) != 3:
            raise ValueError("Expected diagonals to be a sequence of length 3.")
        above, middle, below = (tf.convert_to_tensor(d) for d in diagonals)
        if not above.get_shape()[:-1].is_compatible_with(middle.get_shape()[:-1]) or not below.get_shape()[:-1].is_compatible_with(
            middle.get_shape()[:-1]
        ):
            raise ValueError(
                f"Tensors representing the three diagonals must have the same shape,except for the last dimension, got "
                f"{above.get_shape()}, {middle.get_shape()}, {below.get_shape()}"
            )
        n = middle.get_shape().as_list()[-1]
        diagonals = tf.stack([_padded(above, n, at_end=True), middle, _padded(below, n, at_end=False)], axis=-2)
    elif diagonals_format == "matrix":
        diagonals = tf.convert_to_tensor(diagonals, name="a") if not tf.is_tensor(diagonals) else diagonals
        rows, columns = diagonals.get_shape().as_list()[-2:]
        if rows is not None and columns is not None and rows != columns:
            raise ValueError(f"Expected last two dimensions of diagonals to be same, got {columns} and {rows}")
        n = rows or columns
        if n is None:
            raise ValueError('The size of the matrix needs to be known for diagonals_format="matrix"')
        (diagonals,) = _gathered(diagonals, _places(n))
    return _solve_compact(
        tf.convert_to_tensor(diagonals, name="diagonals"),
        tf.convert_to_tensor(rhs, name="rhs"),
        transpose_rhs,
        conjugate_rhs,
        partial_pivoting,
        name,
    )


@public("linalg.tridiagonal_matmul")
def tridiagonal_matmul(diagonals: Any, rhs: Any, diagonals_format: str = "compact", name: str | None = None) -> Any:
    """Products of matrices with three diagonals, given as for `tridiagonal_solve`, and matrices."""
    if diagonals_format == "compact":
        above, middle, below = (diagonals[..., i, :] for i in range(3))
    elif diagonals_format == "sequence":
        above, middle, below = diagonals
    elif diagonals_format == "matrix":
        diagonals = tf.convert_to_tensor(diagonals) if not tf.is_tensor(diagonals) else diagonals
        rows, columns = diagonals.get_shape().as_list()[-2:]
        if rows is None or columns is None:
            raise ValueError('The size of the matrix needs to be known for diagonals_format="matrix"')
        if rows != columns:
            raise ValueError(f"Expected last two dimensions of diagonals to be same, got {rows} and {columns}")
        at_above, _, at_below = _places(rows)
        middle = tf.matrix_diag_part(diagonals)
        above, below = _gathered(diagonals, at_above, at_below)
    else:
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    above, middle, below = (tf.expand_dims(d, -2) for d in (above, middle, below))
    return apply("TridiagonalMatMul", above, middle, below, rhs, name=name)
