"""Operators and a few more dimensions: L + U D V^H."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.scopes import name_scope
from everflow.linear_operators.base import LinearOperator, broadcast_dynamic, broadcast_static
from everflow.linear_operators.batches import cholesky_solve_with_broadcast, convert_nonref_to_tensor, is_ref, matrix_solve_with_broadcast
from everflow.linear_operators.diagonal import LinearOperatorDiag, LinearOperatorIdentity


@public("linalg.LinearOperatorLowRankUpdate")
class LinearOperatorLowRankUpdate(LinearOperator):
    """L + U D V^H, with an operator L that is solved cheaply, a diagonal D, and U and V that have few columns."""

    def __init__(
        self,
        base_operator: Any,
        u: Any,
        diag_update: Any = None,
        v: Any = None,
        is_diag_update_positive: bool | None = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowRankUpdate",
    ) -> None:
        dtype = base_operator.dtype
        if diag_update is not None and is_diag_update_positive and dtype.is_complex:
            tf.logging.warn("Note: setting is_diag_update_positive with a complex dtype means that diagonal is real and positive.")
        if diag_update is None:
            if is_diag_update_positive is False:
                raise ValueError(
                    "Default diagonal is the identity, which is positive.  However, user set 'is_diag_update_positive' to False."
                )
            is_diag_update_positive = True
        self._use_cholesky = base_operator.is_self_adjoint and base_operator.is_positive_definite and is_diag_update_positive and v is None
        if base_operator.is_self_adjoint and v is None and not dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError(
                    "A = L + UDU^H, with L self-adjoint and D real diagonal.  Since UDU^H is self-adjoint, this must be a "
                    "self-adjoint operator."
                )
            is_self_adjoint = True
        if self._use_cholesky:
            if is_positive_definite is False or is_self_adjoint is False or is_non_singular is False:
                raise ValueError("Arguments imply this is self-adjoint positive-definite operator.")
            is_positive_definite = is_self_adjoint = True
        with name_scope(name):
            self._u = convert_nonref_to_tensor(u, name="u")
            self._v = self._u if v is None else convert_nonref_to_tensor(v, name="v")
            self._diag_update = convert_nonref_to_tensor(diag_update, name="diag_update")
            self._base_operator = base_operator
            parents = [*base_operator.graph_parents, self._u, *([] if diag_update is None else [self._diag_update])]
            parents += [] if v is None else [self._v]
            super().__init__(dtype, parents, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)
            self._set_diag_operators(self._diag_update, is_diag_update_positive)
            self._is_diag_update_positive = is_diag_update_positive
            self._check_shapes()

    def _check_shapes(self) -> None:
        uv = tf.broadcast_static_shape(self._u.shape, self._v.shape)
        batch = tf.broadcast_static_shape(self._base_operator.batch_shape, uv[:-2])
        if uv.ndims is not None:
            self._base_operator.domain_dimension.assert_is_compatible_with(uv.dims[-2])
        if self._diag_update is not None and uv.ndims is not None and self._diag_update.shape.ndims is not None:
            uv.dims[-1].assert_is_compatible_with(self._diag_update.shape.dims[-1])
            tf.broadcast_static_shape(batch, self._diag_update.shape[:-1])

    def _set_diag_operators(self, diag_update: Any, is_diag_update_positive: bool | None) -> None:
        if diag_update is not None:
            self._diag_operator: Any = LinearOperatorDiag(diag_update, is_positive_definite=is_diag_update_positive)
            return
        columns = self._u.shape.dims[-1].value if self._u.shape.ndims is not None else None
        self._diag_operator = LinearOperatorIdentity(num_rows=tf.shape(self._u)[-1] if columns is None else columns, dtype=self.dtype)

    @property
    def u(self) -> Any:
        """The columns on the left."""
        return self._u

    @property
    def v(self) -> Any:
        """The columns on the right."""
        return self._v

    @property
    def is_diag_update_positive(self) -> bool | None:
        """Whether D is known to be positive."""
        return self._is_diag_update_positive

    @property
    def diag_update(self) -> Any:
        """The diagonal of D; None for ones."""
        return self._diag_update

    @property
    def diag_operator(self) -> Any:
        """D as an operator."""
        return self._diag_operator

    @property
    def base_operator(self) -> Any:
        """L."""
        return self._base_operator

    def _shape(self) -> Any:
        batch = broadcast_static([self.base_operator.batch_shape, self.diag_operator.batch_shape, self.u.shape[:-2], self.v.shape[:-2]])
        return batch.concatenate(self.base_operator.shape[-2:])

    def _shape_tensor(self) -> Any:
        batch = broadcast_dynamic(
            [self.base_operator.batch_shape_tensor(), self.diag_operator.batch_shape_tensor(), tf.shape(self.u)[:-2], tf.shape(self.v)[:-2]]
        )
        return tf.concat([batch, self.base_operator.shape_tensor()[-2:]], axis=0)

    def _sides(self, adjoint: bool) -> tuple[Any, Any]:
        """The columns on the left and on the right, of this operator or of its adjoint."""
        u = tf.convert_to_tensor(self.u)
        v = tf.convert_to_tensor(self.v) if is_ref(self.v) or self.v is not self.u else u
        return (v, u) if adjoint else (u, v)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        left, right = self._sides(adjoint)
        straight = self.base_operator.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        inner = self.diag_operator.matmul(tf.matmul(right, x, adjoint_a=True, adjoint_b=adjoint_arg), adjoint=adjoint)
        return straight + tf.matmul(left, inner)

    # det(L + U D V^H) = det(L) det(D) det(C), with the small C = D^-1 + V^H L^-1 U; so for the inverse:
    # L^-1 - L^-1 U C^-1 V^H L^-1 (Woodbury).

    def _make_capacitance(self) -> Any:
        u, v = self._sides(adjoint=False)
        inner = tf.matmul(v, self.base_operator.solve(u), adjoint_a=True)
        return self.diag_operator.inverse().add_to_tensor(inner)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        if self.base_operator.is_non_singular is False:
            raise ValueError("Solve not implemented unless this is a perturbation of a non-singular LinearOperator.")
        left, right = self._sides(adjoint)
        straight = self.base_operator.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        inner = tf.matmul(right, straight, adjoint_a=True)
        capacitance = self._make_capacitance()
        if self._use_cholesky:
            inner = cholesky_solve_with_broadcast(tf.linalg.cholesky(capacitance), inner)
        else:
            inner = matrix_solve_with_broadcast(capacitance, inner, adjoint=adjoint)
        return straight - self.base_operator.solve(tf.matmul(left, inner), adjoint=adjoint)

    def _determinant(self) -> Any:
        if self._use_cholesky:
            return tf.exp(self.log_abs_determinant())
        return tf.linalg.det(self._make_capacitance()) * self.diag_operator.determinant() * self.base_operator.determinant()

    def _log_abs_determinant(self) -> Any:
        capacitance = self._make_capacitance()
        if self._use_cholesky:
            inner = 2.0 * tf.reduce_sum(tf.log(tf.linalg.diag_part(tf.linalg.cholesky(capacitance))), axis=[-1])
        else:
            inner = tf.linalg.slogdet(capacitance)[1]
        return inner + self.diag_operator.log_abs_determinant() + self.base_operator.log_abs_determinant()

    def _diag_part(self) -> Any:
        u, v = self._sides(adjoint=False)
        scaled = self.diag_operator.matmul(tf.linalg.transpose(u))
        return tf.reduce_sum(tf.linalg.transpose(scaled) * tf.conj(v), -1) + self.base_operator.diag_part()
