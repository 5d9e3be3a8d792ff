"""Which function differentiates which op: the op's own meaning, or one that a user registered."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from everflow.api import internal, public
from everflow.graph.operation import Operation
from everflow.ops.core.registry import gradient_of, not_differentiable
from everflow.platform.registry import Registry

Gradient = Callable[..., Any]


class Gradients(Registry):
    """The gradients that programs registered and, behind them, those of the ops' meanings."""

    def register(self, candidate: Any, name: str | None = None) -> None:
        """Adds a gradient function for an op (None: the op is not differentiable)."""
        if name and (found := gradient_of(name)) is not None:
            raise self.taken(name, f"{found.__name__} {found.__module__}")
        super().register(candidate, name)

    def lookup(self, name: str) -> Any:
        """The gradient function for an op or a name in `gradient_override_map`; None where it is not differentiable."""
        if name not in self._entries:
            found = gradient_of(name)
            if found is not None:
                return None if found is not_differentiable else found
        return super().lookup(name)


REGISTERED = internal("framework.ops._gradient_registry")(Gradients("gradient"))


@public("RegisterGradient")
@internal("framework.ops.RegisterGradient")
class RegisterGradient:
    """`@tf.RegisterGradient("MyOp")` on a function of (op, *output gradients) that returns the input gradients."""

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: Gradient) -> Gradient:
        REGISTERED.register(f, self._op_type)
        return f


@public("NotDifferentiable", "NoGradient", "no_gradient")
@internal("framework.ops.NotDifferentiable", "framework.ops.NoGradient", "framework.ops.no_gradient")
def no_gradient(op_type: str) -> None:
    """Says that an op has no gradient: differentiation stops there without an error."""
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    REGISTERED.register(None, op_type)


@internal("framework.ops.get_gradient_function")
def get_gradient_function(op: Operation) -> Gradient | None:
    """The function that differentiates an operation; None where it is not differentiable, LookupError where none is known."""
    if not op.inputs:
        return None
    return REGISTERED.lookup(op.attrs.get("_gradient_op_type") or op.type)


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
