"""Adjoints and inverses of operators that stay what they are."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.linear_operators.base import LinearOperator
from everflow.linear_operators.checks import use_operator_or_provided_hint_unless_contradicting


def _hints(operator: Any, given: dict[str, bool | None], what: str) -> dict[str, bool | None]:
    """What is known of an operator made from another, for properties that both or none of them have."""
    shown = {"is_non_singular": "non-singular", "is_self_adjoint": "self-adjoint", "is_positive_definite": "positive-definite"}
    return {
        hint: use_operator_or_provided_hint_unless_contradicting(
            operator, hint, value, f"An operator is {shown.get(hint, 'square')} if and only if its {what} is {shown.get(hint, 'square')}."
        )
        for hint, value in given.items()
    }


class _Wrapped(LinearOperator):
    """What the two share."""

    _operator: Any

    @property
    def operator(self) -> Any:
        """The operator that this one is made from."""
        return self._operator

    def _assert_non_singular(self) -> Any:
        return self.operator.assert_non_singular()

    def _assert_positive_definite(self) -> Any:
        return self.operator.assert_positive_definite()

    def _assert_self_adjoint(self) -> Any:
        return self.operator.assert_self_adjoint()


def _swapped(shape: Any) -> Any:
    return shape if shape.ndims is None else shape[:-2].concatenate([shape.dims[-1], shape.dims[-2]])


@public("linalg.LinearOperatorAdjoint")
class LinearOperatorAdjoint(_Wrapped):
    """The conjugate transposes of an operator."""

    def __init__(
        self,
        operator: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        self._operator = operator
        given = dict(
            is_square=is_square, is_non_singular=is_non_singular, is_self_adjoint=is_self_adjoint, is_positive_definite=is_positive_definite
        )
        name = name or operator.name + "_adjoint"
        with tf.name_scope(name, values=operator.graph_parents):
            super().__init__(operator.dtype, operator.graph_parents, name=name, **_hints(operator, given, "adjoint"))

    def _conj(self, x: Any) -> Any:
        return tf.conj(x) if self.dtype.is_complex else x

    def _shape(self) -> Any:
        return _swapped(self.operator.shape)

    def _shape_tensor(self) -> Any:
        shape = self.operator.shape_tensor()
        return tf.concat([shape[:-2], [shape[-1], shape[-2]]], 0)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self.operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return self.operator.matvec(x, adjoint=not adjoint)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self.operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs: Any, adjoint: bool = False) -> Any:
        return self.operator.solvevec(rhs, adjoint=not adjoint)

    def _determinant(self) -> Any:
        return self._conj(self.operator.determinant())

    def _log_abs_determinant(self) -> Any:
        return self.operator.log_abs_determinant()

    def _trace(self) -> Any:
        return self._conj(self.operator.trace())

    def _diag_part(self) -> Any:
        return self._conj(self.operator.diag_part())

    def _to_dense(self) -> Any:
        return tf.linalg.adjoint(self.operator.to_dense())


@public("linalg.LinearOperatorInversion")
class LinearOperatorInversion(_Wrapped):
    """The inverses of an operator."""

    def __init__(
        self,
        operator: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        self._operator = operator
        for hint, value in (("is_non_singular", is_non_singular), ("is_square", is_square)):
            found = getattr(operator, hint)
            if found is False or value is False:
                raise ValueError(f"operator and supplied hints must have `{hint}` equal to `True` or `None`.  Found {found}, {value}")
        given = dict(
            is_square=is_square, is_non_singular=is_non_singular, is_self_adjoint=is_self_adjoint, is_positive_definite=is_positive_definite
        )
        name = name or operator.name + "_inv"
        with tf.name_scope(name, values=operator.graph_parents):
            super().__init__(operator.dtype, operator.graph_parents, name=name, **_hints(operator, given, "inverse"))

    def _shape(self) -> Any:
        return self.operator.shape

    def _shape_tensor(self) -> Any:
        return self.operator.shape_tensor()

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self.operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self.operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _determinant(self) -> Any:
        return 1.0 / self.operator.determinant()

    def _log_abs_determinant(self) -> Any:
        return -1.0 * self.operator.log_abs_determinant()
