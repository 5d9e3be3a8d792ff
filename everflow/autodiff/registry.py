"""Which function differentiates which op: the op's own meaning, or one that a user registered."""
from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from everflow.api import internal, public
from everflow.graph.operation import Operation
from everflow.ops.registry import meaning, not_differentiable

Gradient = Callable[..., Any]
_registered: dict[str, Gradient] = {}


@public("RegisterGradient")
@internal("framework.ops.RegisterGradient")
class RegisterGradient:
    """`@tf.RegisterGradient("MyOp")` on a function of (op, *output gradients) that returns the input gradients."""

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: Gradient) -> Gradient:
        _register(self._op_type, f)
        return f


def _register(op_type: str, f: Gradient) -> None:
    found = meaning(op_type)
    if op_type in _registered or (found is not None and found.gradient is not None):
        raise KeyError(f"Registering two gradient with name '{op_type}'! (Previous registration was in the library or the program)")
    _registered[op_type] = f


@public("NotDifferentiable", "NoGradient", "no_gradient")
@internal("framework.ops.NotDifferentiable", "framework.ops.NoGradient", "framework.ops.no_gradient")
def no_gradient(op_type: str) -> None:
    """Says that an op has no gradient: differentiation stops there without an error."""
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    _register(op_type, not_differentiable)


def registered(name: str) -> Gradient | None:
    """The gradient registered under a name, or None."""
    found = _registered.get(name)
    if found is None:
        entry = meaning(name)
        found = entry.gradient if entry is not None else None
    return found


@internal("framework.ops.get_gradient_function")
def get_gradient_function(op: Operation) -> Gradient | None:
    """The function that differentiates an operation; None where it is not differentiable, LookupError where none is known."""
    if not op.inputs:
        return None
    name = op.attrs.get("_gradient_op_type") or op.type
    found = registered(name)
    if found is None:
        raise LookupError(f"gradient registry has no entry for: {name}")
    return None if found is not_differentiable else found


@public("AggregationMethod")
class AggregationMethod:
    """How the gradients that reach a tensor on several ways are added up."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


@public("UnconnectedGradients")
class UnconnectedGradients(enum.Enum):
    """What the gradient is with respect to something that the result does not depend on: None or zeros."""

    NONE = "none"
    ZERO = "zero"
