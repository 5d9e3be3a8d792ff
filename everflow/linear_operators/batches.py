"""Batches of matrices that are broadcast against each other, and systems of equations among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.tensor import Tensor
from everflow.module import Module
from everflow.ops.variables.variables import Variable

HOME = "ops.linalg.linear_operator_util."


@internal(HOME + "is_ref")
def is_ref(x: Any) -> bool:
    """Whether `x` is something whose value can change: a variable, or a module that stands for a tensor."""
    if isinstance(x, Variable):
        return True
    return isinstance(x, Module) and hasattr(x, "dtype") and hasattr(x, "shape") and not isinstance(x, Tensor)


@internal(HOME + "assert_not_ref_type")
def assert_not_ref_type(x: Any, arg_name: str) -> None:
    """Raises TypeError for variables."""
    if is_ref(x):
        raise TypeError(f"Argument {arg_name} cannot be reference type. Found: {type(x)}")


@internal(HOME + "base_dtype")
def base_dtype(dtype: Any) -> Any:
    """A dtype that is no reference."""
    return tf.as_dtype(dtype).base_dtype


@internal(HOME + "dtype_name")
def dtype_name(dtype: Any) -> str:
    """The name of a dtype, TensorFlow's or numpy's."""
    return str(tf.as_dtype(dtype).name)


@internal(HOME + "convert_nonref_to_tensor")
def convert_nonref_to_tensor(value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None) -> Any:
    """The value as a tensor; None and variables stay what they are, so that a variable is read where it is used."""
    if value is None:
        return None
    if not is_ref(value):
        return convert_to_tensor(value, dtype=dtype, preferred_dtype=dtype_hint, name=name)
    found = base_dtype(value.dtype)
    if dtype is not None and found != base_dtype(dtype):
        raise TypeError(f'Mutable type must be of dtype "{dtype_name(dtype)}" but is "{dtype_name(found)}".')
    return value


@internal(HOME + "shape_tensor")
def shape_tensor(shape: Any, name: str | None = None) -> Any:
    """A shape as a tensor of int32, or of int64 if that is what it holds."""
    dtype = tf.int32 if isinstance(shape, (tuple, list)) and all(d is None or isinstance(d, int) for d in shape) else None
    return convert_to_tensor(shape, dtype=dtype, name=name)


@internal(HOME + "assert_is_batch_matrix")
def assert_is_batch_matrix(tensor: Any) -> None:
    """Raises ValueError for a tensor known to have fewer than two dimensions."""
    if tensor.shape.ndims is not None and tensor.shape.ndims < 2:
        raise ValueError(f"Expected [batch] matrix to have at least two dimensions.  Found: {tensor}")


@internal(HOME + "broadcast_matrix_batch_dims")
def broadcast_matrix_batch_dims(batch_matrices: Any, name: str | None = None) -> list[Any]:
    """The matrices with batch dimensions that all of them share."""
    with name_scope(name or "broadcast_matrix_batch_dims", values=batch_matrices):
        if not batch_matrices:
            return []
        matrices = [convert_to_tensor(m) for m in batch_matrices]
        for m in matrices:
            assert_is_batch_matrix(m)
        if len(matrices) == 1:
            return matrices
        known = matrices[0].shape[:-2]
        for m in matrices[1:]:
            known = tf.broadcast_static_shape(known, m.shape[:-2])
        if known.is_fully_defined():
            batch = known.as_list()
        else:
            batch = tf.shape(matrices[0])[:-2]
            for m in matrices[1:]:
                batch = tf.broadcast_dynamic_shape(batch, tf.shape(m)[:-2])
        return [_with_batch(m, batch, known) for m in matrices]


def _with_batch(matrix: Any, batch: Any, known: Any) -> Any:
    if known.is_fully_defined() and matrix.shape.ndims is not None and matrix.shape[:-2].as_list() == batch:
        return matrix
    spread = tf.broadcast_to(matrix, tf.concat([batch, tf.shape(matrix)[-2:]], 0))
    if known.ndims is not None and matrix.shape.ndims is not None:
        spread.set_shape(known.concatenate(matrix.shape[-2:]))
    return spread


def _solve_folded(solve: Callable[[Any, Any], Any], matrix: Any, rhs: Any) -> Any:
    """Solves with the leading dimensions that only `rhs` has turned into more columns: each matrix is decomposed once."""
    rank, rhs_rank = matrix.shape.ndims, rhs.shape.ndims
    if rank is None or rhs_rank is None or rhs_rank <= rank:
        matrix, rhs = broadcast_matrix_batch_dims([matrix, rhs])
        return solve(matrix, rhs)
    extra = rhs_rank - rank
    folded = tf.transpose(rhs, [*range(extra, rhs_rank), *range(extra)])
    columns = tf.shape(folded)[rank - 1 :]
    known = rhs.shape[extra:-1].concatenate(_product([*rhs.shape[:extra].as_list(), rhs.shape.as_list()[-1]]))
    folded = tf.reshape(folded, tf.concat([tf.shape(folded)[: rank - 1], [-1]], 0))
    folded.set_shape(known)
    matrix, folded = broadcast_matrix_batch_dims([matrix, folded])
    solved = solve(matrix, folded)
    unfolded = tf.reshape(solved, tf.concat([tf.shape(solved)[:-1], columns], 0))
    unfolded.set_shape(solved.shape[:-1].concatenate(rhs.shape[-1:]).concatenate(rhs.shape[:extra]))
    return tf.transpose(unfolded, [*range(rank, rhs_rank), *range(rank)])


def _product(sizes: list[int | None]) -> list[int | None]:
    total = 1
    for size in sizes:
        if size is None:
            return [None]
        total *= size
    return [total]


@internal(HOME + "cholesky_solve_with_broadcast")
def cholesky_solve_with_broadcast(chol: Any, rhs: Any, name: str | None = None) -> Any:
    """tf.linalg.cholesky_solve of batches that are broadcast."""
    with name_scope(name, "CholeskySolveWithBroadcast", [chol, rhs]):
        return _solve_folded(tf.linalg.cholesky_solve, convert_to_tensor(chol), convert_to_tensor(rhs))


@internal(HOME + "matrix_solve_with_broadcast")
def matrix_solve_with_broadcast(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Any:
    """tf.linalg.solve of batches that are broadcast."""
    with name_scope(name, "MatrixSolveWithBroadcast", [matrix, rhs]):
        matrix = convert_to_tensor(matrix, name="matrix")
        rhs = convert_to_tensor(rhs, name="rhs", dtype=matrix.dtype)
        return _solve_folded(lambda a, b: tf.linalg.solve(a, b, adjoint=adjoint), matrix, rhs)


@internal(HOME + "matrix_triangular_solve_with_broadcast")
def matrix_triangular_solve_with_broadcast(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Any:
    """tf.linalg.triangular_solve of batches that are broadcast."""
    with name_scope(name, "MatrixTriangularSolve", [matrix, rhs]):
        matrix = convert_to_tensor(matrix, name="matrix")
        rhs = convert_to_tensor(rhs, name="rhs", dtype=matrix.dtype)
        return _solve_folded(lambda a, b: tf.linalg.triangular_solve(a, b, lower=lower, adjoint=adjoint), matrix, rhs)
