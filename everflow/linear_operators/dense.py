"""Operators that hold all elements of their matrices, or those of a triangle."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.scopes import name_scope
from everflow.linear_operators.base import LinearOperator, adjoint_if
from everflow.linear_operators.batches import convert_nonref_to_tensor, matrix_triangular_solve_with_broadcast
from everflow.linear_operators.checks import assert_no_entries_with_modulus_zero, at_least, settled

_NUMBERS = (tf.float16, tf.float32, tf.float64, tf.complex64, tf.complex128)


@public("linalg.LinearOperatorFullMatrix")
class LinearOperatorFullMatrix(LinearOperator):
    """Matrices as they are."""

    def __init__(
        self,
        matrix: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorFullMatrix",
    ) -> None:
        with name_scope(name, values=[matrix]):
            self._matrix = convert_nonref_to_tensor(matrix, name="matrix")
            self._check_matrix(self._matrix)
            hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
            super().__init__(self._matrix.dtype, [self._matrix], *hints, name=name)

    def _check_matrix(self, matrix: Any) -> None:
        dtype = matrix.dtype.base_dtype
        if dtype not in _NUMBERS:
            known = ", ".join(f"tf.{d.name}" for d in _NUMBERS)
            raise TypeError(f"Argument matrix must have dtype in [{known}].  Found: {dtype!r}")
        at_least(matrix, "matrix", 2)

    def _shape(self) -> Any:
        return self._matrix.shape

    def _shape_tensor(self) -> Any:
        return tf.shape(self._matrix)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return tf.matmul(self._matrix, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _to_dense(self) -> Any:
        return self._matrix


@public("linalg.LinearOperatorLowerTriangular")
class LinearOperatorLowerTriangular(LinearOperator):
    """The lower triangles of matrices; what is above the diagonal is not read."""

    def __init__(
        self,
        tril: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowerTriangular",
    ) -> None:
        square = settled(is_square, True, "Only square lower triangular operators supported at this time.")
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, square)
        with name_scope(name, values=[tril]):
            self._tril = convert_nonref_to_tensor(tril, name="tril")
            at_least(self._tril, "tril", 2)
            super().__init__(self._tril.dtype, [self._tril], *hints, name=name)

    def _get_tril(self) -> Any:
        return tf.linalg.band_part(self._tril, -1, 0)

    def _get_diag(self) -> Any:
        return tf.linalg.diag_part(self._tril)

    def _shape(self) -> Any:
        return self._tril.shape

    def _shape_tensor(self) -> Any:
        return tf.shape(self._tril)

    def _assert_non_singular(self) -> Any:
        return assert_no_entries_with_modulus_zero(self._get_diag(), message="Singular operator:  Diagonal contained zero values.")

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return tf.matmul(self._get_tril(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return matrix_triangular_solve_with_broadcast(self._get_tril(), adjoint_if(adjoint_arg, rhs), lower=True, adjoint=adjoint)

    def _determinant(self) -> Any:
        return tf.reduce_prod(self._get_diag(), axis=[-1])

    def _log_abs_determinant(self) -> Any:
        return tf.cast(tf.reduce_sum(tf.log(tf.abs(self._get_diag())), axis=[-1]), self.dtype)

    def _diag_part(self) -> Any:
        return self._get_diag()

    def _to_dense(self) -> Any:
        return self._get_tril()
