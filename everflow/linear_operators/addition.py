"""Sums of operators, as few operators as can be."""

from __future__ import annotations

import abc
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.graph.scopes import name_scope
from everflow.linear_operators.base import LinearOperator, broadcast_static
from everflow.linear_operators.dense import LinearOperatorFullMatrix, LinearOperatorLowerTriangular
from everflow.linear_operators.diagonal import LinearOperatorDiag, LinearOperatorIdentity, LinearOperatorScaledIdentity

HOME = "ops.linalg.linear_operator_addition."

# From the simplest on: what can be added as one kind can be added as any that comes later.
_KINDS: tuple[tuple[type, str], ...] = (
    (LinearOperatorIdentity, "identity"),
    (LinearOperatorScaledIdentity, "scaled_identity"),
    (LinearOperatorDiag, "diag"),
    (LinearOperatorLowerTriangular, "tril"),
    (LinearOperatorFullMatrix, "matrix"),
)
_SCALED, _DIAGONAL = {"identity", "scaled_identity"}, {"identity", "scaled_identity", "diag"}


def _kind(operator: Any) -> str:
    for cls, kind in _KINDS:
        if type(operator) is cls:
            return kind
    raise TypeError(f"Operator type unknown: {operator}")


@internal(HOME + "_Hints")
class Hints:
    """What is known of a sum."""

    def __init__(
        self, is_non_singular: bool | None = None, is_positive_definite: bool | None = None, is_self_adjoint: bool | None = None
    ) -> None:
        self.is_non_singular = is_non_singular
        self.is_positive_definite = is_positive_definite
        self.is_self_adjoint = is_self_adjoint


def _hints_of_sum(op1: Any, op2: Any, given: Hints) -> dict[str, bool | None]:
    self_adjoint = given.is_self_adjoint
    if self_adjoint is None and op1.is_self_adjoint and op2.is_self_adjoint:
        self_adjoint = True
    positive = given.is_positive_definite
    if positive is None and op1.is_positive_definite and op2.is_positive_definite:
        positive = True
    non_singular = given.is_non_singular
    if non_singular is None and positive:
        non_singular = True
    return dict(is_non_singular=non_singular, is_self_adjoint=self_adjoint, is_positive_definite=positive)


@internal(HOME + "_Adder")
class Adder(metaclass=abc.ABCMeta):
    """Adds two operators in one way."""

    @property
    def name(self) -> str:
        """The name of the way."""
        return type(self).__name__

    @abc.abstractmethod
    def can_add(self, op1: Any, op2: Any) -> bool:
        """Whether this way will do."""

    @abc.abstractmethod
    def _add(self, op1: Any, op2: Any, operator_name: str, hints: Any) -> Any:
        """The sum."""

    def add(self, op1: Any, op2: Any, operator_name: str, hints: Any = None) -> Any:
        """The sum of two operators."""
        known = Hints(**_hints_of_sum(op1, op2, hints or Hints()))
        with name_scope("Add_" + op1.name.strip("/") + "__" + op2.name.strip("/")):
            return self._add(op1, op2, operator_name, known)


@internal(HOME + "_AddAndReturnScaledIdentity")
class _AddAndReturnScaledIdentity(Adder):
    """Numbers times the identity."""

    def can_add(self, op1: Any, op2: Any) -> bool:
        return {_kind(op1), _kind(op2)} <= _SCALED

    def _add(self, op1: Any, op2: Any, operator_name: str, hints: Any) -> Any:
        numbers = [o.multiplier if _kind(o) == "scaled_identity" else tf.ones(o.batch_shape_tensor(), dtype=o.dtype) for o in (op1, op2)]
        return LinearOperatorScaledIdentity(
            num_rows=op1.range_dimension_tensor(), multiplier=numbers[0] + numbers[1], name=operator_name, **vars(hints)
        )


@internal(HOME + "_AddAndReturnDiag")
class _AddAndReturnDiag(Adder):
    """Diagonals."""

    def can_add(self, op1: Any, op2: Any) -> bool:
        return {_kind(op1), _kind(op2)} <= _DIAGONAL

    def _add(self, op1: Any, op2: Any, operator_name: str, hints: Any) -> Any:
        return LinearOperatorDiag(diag=op1.diag_part() + op2.diag_part(), name=operator_name, **vars(hints))


def _dense_sum(op1: Any, op2: Any) -> Any:
    """The sum as a matrix; the operator that is cheaper to add goes onto the matrix of the other."""
    if _kind(op1) in _DIAGONAL:
        op1, op2 = op2, op1
    dense = op1.to_dense()
    if _kind(op2) in _DIAGONAL:
        known = tf.broadcast_dynamic_shape(op1.batch_shape_tensor(), op2.batch_shape_tensor())
        dense = tf.broadcast_to(dense, tf.concat([known, tf.shape(dense)[-2:]], 0))
    return op2.add_to_tensor(dense)


@internal(HOME + "_AddAndReturnTriL")
class _AddAndReturnTriL(Adder):
    """Lower triangles."""

    def can_add(self, op1: Any, op2: Any) -> bool:
        return {_kind(op1), _kind(op2)} <= _DIAGONAL | {"tril"}

    def _add(self, op1: Any, op2: Any, operator_name: str, hints: Any) -> Any:
        return LinearOperatorLowerTriangular(tril=_dense_sum(op1, op2), name=operator_name, **vars(hints))


@internal(HOME + "_AddAndReturnMatrix")
class _AddAndReturnMatrix(Adder):
    """Matrices."""

    def can_add(self, op1: Any, op2: Any) -> bool:
        return isinstance(op1, LinearOperator) and isinstance(op2, LinearOperator)

    def _add(self, op1: Any, op2: Any, operator_name: str, hints: Any) -> Any:
        return LinearOperatorFullMatrix(matrix=_dense_sum(op1, op2), name=operator_name, **vars(hints))


TIERS: list[list[Adder]] = internal(HOME + "_DEFAULT_ADDITION_TIERS")(
    [[_AddAndReturnScaledIdentity()], [_AddAndReturnDiag()], [_AddAndReturnTriL()], [_AddAndReturnMatrix()]]
)


@internal(HOME + "add_operators")
def add_operators(operators: Any, operator_name: str | None = None, addition_tiers: Any = None, name: str | None = None) -> list[Any]:
    """Operators with the same sum, fewer of them: each tier of adders adds what it can before the next."""
    tiers = TIERS if addition_tiers is None else addition_tiers
    left = list(reversed(list(operators)))
    _check(left)
    with name_scope(name, "add_operators", values=[p for o in left for p in getattr(o, "graph_parents", ())]):
        done: list[Any] = []
        for tier in tiers:
            done = []
            while left:
                op1 = left.pop()
                match = next(((adder, op2) for op2 in left for adder in tier if adder.can_add(op1, op2)), None)
                if match is None:
                    done.append(op1)
                    continue
                adder, op2 = match
                left = [o for o in left if o is not op2]
                left.append(adder.add(op1, op2, operator_name or f"Add/{op2.name}__{op1.name}/"))
            if len(done) == 1:
                return done
            left = list(reversed(done))
        return done


def _check(operators: list[Any]) -> None:
    if not operators:
        raise ValueError(f"Argument 'operators' must contain at least one operator.  Found: {operators}")
    if not all(isinstance(o, LinearOperator) for o in operators):
        raise TypeError(f"Argument 'operators' must contain only LinearOperator instances.  Found: {operators}")
    for which in ("domain", "range"):
        sizes = [(o.name, getattr(o, f"{which}_dimension").value) for o in operators]
        if len({size for _, size in sizes if size is not None}) > 1:
            raise ValueError(f"Operators must have the same {which} dimension. Found: {sizes}")
    broadcast_static([o.batch_shape for o in operators])
