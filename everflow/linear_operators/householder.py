"""Reflections at planes."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.scopes import name_scope
from everflow.linear_operators.base import LinearOperator, adjoint_if
from everflow.linear_operators.batches import convert_nonref_to_tensor
from everflow.linear_operators.checks import at_least, settled


@public("linalg.LinearOperatorHouseholder")
class LinearOperatorHouseholder(LinearOperator):
    """I - 2 v v^H, with v of length one: the reflection at the plane that v stands on."""

    def __init__(
        self,
        reflection_axis: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorHouseholder",
    ) -> None:
        with name_scope(name, values=[reflection_axis]):
            self._reflection_axis = convert_nonref_to_tensor(reflection_axis, name="reflection_axis")
            at_least(self._reflection_axis, "reflection_axis", 1)
            adjoint, definite, square = (
                settled(given, truth, f"A Householder operator is always {kind}.")
                for given, truth, kind in (
                    (is_self_adjoint, True, "self adjoint"),
                    (is_positive_definite, False, "non-positive definite"),
                    (is_square, True, "square"),
                )
            )
            super().__init__(self._reflection_axis.dtype, [self._reflection_axis], is_non_singular, adjoint, definite, square, name)

    @property
    def reflection_axis(self) -> Any:
        """The vectors that the planes stand on, of any length."""
        return self._reflection_axis

    def _unit(self) -> Any:
        axis = tf.convert_to_tensor(self._reflection_axis)
        return axis / tf.cast(tf.norm(axis, axis=-1, keepdims=True), self.dtype)

    def _shape(self) -> Any:
        shape = self._reflection_axis.shape
        return shape.concatenate(shape[-1:])

    def _shape_tensor(self) -> Any:
        shape = tf.shape(self._reflection_axis)
        return tf.concat((shape, [shape[-1]]), axis=0)

    def _assert_non_singular(self) -> Any:
        return tf.no_op("assert_non_singular")

    def _assert_positive_definite(self) -> Any:
        raise tf.errors.InvalidArgumentError(None, None, "Householder operators are always non-positive definite.")

    def _assert_self_adjoint(self) -> Any:
        return tf.no_op("assert_self_adjoint")

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_if(adjoint_arg, x)
        column = tf.expand_dims(self._unit(), -1)
        return x - 2 * column * tf.matmul(column, x, adjoint_a=True)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _ones_in_batch(self) -> Any:
        shape = self.batch_shape.as_list() if self.batch_shape.is_fully_defined() else self.batch_shape_tensor()
        return tf.ones(shape=shape, dtype=self.dtype)

    # One direction is turned round, the others stay.

    def _determinant(self) -> Any:
        return -self._ones_in_batch()

    def _log_abs_determinant(self) -> Any:
        return tf.zeros_like(self._ones_in_batch())

    def _trace(self) -> Any:
        return (tf.cast(self.domain_dimension_tensor(), self.dtype) - 2) * self._ones_in_batch()

    def _diag_part(self) -> Any:
        unit = self._unit()
        return 1 - 2 * unit * tf.conj(unit)

    def _to_dense(self) -> Any:
        column = tf.expand_dims(self._unit(), -1)
        dense = -2 * tf.matmul(column, column, adjoint_b=True)
        return tf.linalg.set_diag(dense, 1 + tf.linalg.diag_part(dense))
