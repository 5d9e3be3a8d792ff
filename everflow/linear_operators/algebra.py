"""Adjoints, inverses, factors, products and quotients of operators that are operators, chosen by their classes."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

from everflow.api import internal
from everflow.graph.scopes import name_scope

HOME = "ops.linalg.linear_operator_algebra."
Rules = dict[tuple[type, ...], Callable[..., Any]]

ADJOINTS: Rules = {}
CHOLESKY_DECOMPOSITIONS: Rules = {}
INVERSES: Rules = {}
PRODUCTS: Rules = {}
SOLUTIONS: Rules = {}


def _with_ours() -> None:
    """Our own rules are there before those of programs are added or looked up."""
    importlib.import_module("everflow.linear_operators.registrations")


def registered(types: tuple[type, ...], rules: Rules) -> Callable[..., Any] | None:
    """The rule for the nearest classes that the types derive from."""
    _with_ours()
    lines = [list(inspect.getmro(t)) for t in types]
    known = [k for k in rules if all(c in line for c, line in zip(k, lines))]
    return rules[min(known, key=lambda k: sum(line.index(c) for c, line in zip(k, lines)))] if known else None


class _Register:
    """A decorator that adds a rule for some classes."""

    rules: Rules
    operation: str
    argument: str

    def __init__(self, *classes: type) -> None:
        self._key = classes

    def __call__(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        _with_ours()
        if not callable(rule):
            raise TypeError(f"{self.argument} must be callable, received: {rule}")
        if self._key in self.rules:
            known = f" to: {self.rules[self._key]}" if len(self._key) == 1 else "."
            names = ", ".join(c.__name__ for c in self._key)
            raise ValueError(f"{self.operation}({names}) has already been registered{known}")
        self.rules[self._key] = rule
        return rule


@internal(HOME + "RegisterAdjoint")
class RegisterAdjoint(_Register):
    """`@RegisterAdjoint(A)` on a function of an operator that gives its adjoint."""

    rules, operation, argument = ADJOINTS, "Adjoint", "adjoint_fn"

    def __init__(self, lin_op_cls_a: type) -> None:
        super().__init__(lin_op_cls_a)


@internal(HOME + "RegisterCholesky")
class RegisterCholesky(_Register):
    """`@RegisterCholesky(A)` on a function of an operator that gives its Cholesky factor."""

    rules, operation, argument = CHOLESKY_DECOMPOSITIONS, "Cholesky", "cholesky_fn"

    def __init__(self, lin_op_cls_a: type) -> None:
        super().__init__(lin_op_cls_a)


@internal(HOME + "RegisterInverse")
class RegisterInverse(_Register):
    """`@RegisterInverse(A)` on a function of an operator that gives its inverse."""

    rules, operation, argument = INVERSES, "Inverse", "inverse_fn"

    def __init__(self, lin_op_cls_a: type) -> None:
        super().__init__(lin_op_cls_a)


@internal(HOME + "RegisterMatmul")
class RegisterMatmul(_Register):
    """`@RegisterMatmul(A, B)` on a function of two operators that gives their product."""

    rules, operation, argument = PRODUCTS, "Matmul", "matmul_fn"

    def __init__(self, lin_op_cls_a: type, lin_op_cls_b: type) -> None:
        super().__init__(lin_op_cls_a, lin_op_cls_b)


@internal(HOME + "RegisterSolve")
class RegisterSolve(_Register):
    """`@RegisterSolve(A, B)` on a function of two operators that gives the inverse of the first times the second."""

    rules, operation, argument = SOLUTIONS, "Solve", "solve_fn"

    def __init__(self, lin_op_cls_a: type, lin_op_cls_b: type) -> None:
        super().__init__(lin_op_cls_a, lin_op_cls_b)


def _of_one(operator: Any, rules: Rules, what: str, scope: str, name: str | None) -> Any:
    rule = registered((type(operator),), rules)
    if rule is None:
        raise ValueError(f"No {what} registered for {type(operator)}")
    with name_scope(name, scope):
        return rule(operator)


def _of_two(a: Any, b: Any, rules: Rules, what: str, scope: str, name: str | None) -> Any:
    rule = registered((type(a), type(b)), rules)
    if rule is None:
        raise ValueError(f"No {what} registered for {type(a)}.{what}({type(b)})")
    with name_scope(name, scope):
        return rule(a, b)


@internal(HOME + "adjoint")
def adjoint(lin_op_a: Any, name: str | None = None) -> Any:
    """The adjoint of an operator."""
    return _of_one(lin_op_a, ADJOINTS, "adjoint", "Adjoint", name)


@internal(HOME + "cholesky")
def cholesky(lin_op_a: Any, name: str | None = None) -> Any:
    """The Cholesky factor of an operator."""
    return _of_one(lin_op_a, CHOLESKY_DECOMPOSITIONS, "cholesky decomposition", "Cholesky", name)


@internal(HOME + "inverse")
def inverse(lin_op_a: Any, name: str | None = None) -> Any:
    """The inverse of an operator."""
    return _of_one(lin_op_a, INVERSES, "inverse", "Inverse", name)


@internal(HOME + "matmul")
def matmul(lin_op_a: Any, lin_op_b: Any, name: str | None = None) -> Any:
    """The product of two operators."""
    return _of_two(lin_op_a, lin_op_b, PRODUCTS, "matmul", "Matmul", name)


@internal(HOME + "solve")
def solve(lin_op_a: Any, lin_op_b: Any, name: str | None = None) -> Any:
    """The inverse of the first operator times the second."""
    return _of_two(lin_op_a, lin_op_b, SOLUTIONS, "solve", "Solve", name)
