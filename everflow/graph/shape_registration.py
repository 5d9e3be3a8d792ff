"""What programs of old register shapes with. The shape rule of an op is part of its meaning; these are accepted and not used."""

from __future__ import annotations

from typing import Any

from everflow.api import internal
from everflow.graph.shapes import TensorShape


@internal("framework.ops.RegisterShape")
class RegisterShape:
    """`@ops.RegisterShape("MyOp")`: TensorFlow 1.15 does not use the function either."""

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")

    def __call__(self, f: Any) -> Any:
        return f


@internal("framework.ops._set_call_cpp_shape_fn")
def set_call_cpp_shape_fn(call_cpp_shape_fn: Any) -> None:
    """There is one way to infer shapes."""


@internal("framework.common_shapes.call_cpp_shape_fn")
def call_cpp_shape_fn(op: Any, require_shape_fn: bool = True) -> dict[str, Any]:
    """The shapes that the op's own rule found."""
    return {"shapes": [t.get_shape() for t in op.outputs], "handle_data": [None] * len(op.outputs)}


@internal("framework.common_shapes.unknown_shape")
def unknown_shape(op: Any) -> list[TensorShape]:
    """An unknown shape for each output."""
    return [TensorShape(None) for _ in op.outputs]


@internal("framework.common_shapes.scalar_shape")
def scalar_shape(op: Any) -> list[TensorShape]:
    """A scalar."""
    return [TensorShape([])]


@internal("framework.common_shapes.unchanged_shape")
def unchanged_shape(op: Any) -> list[TensorShape]:
    """The shape of the input."""
    return [op.inputs[0].get_shape()]


@internal("framework.common_shapes.no_outputs")
def no_outputs(op: Any) -> list[TensorShape]:
    """No shapes, for an op without outputs."""
    return []


@internal("framework.common_shapes.has_fully_defined_shape")
def has_fully_defined_shape(tensor: Any) -> bool:
    """Whether every size of a tensor is known."""
    return tensor.get_shape().is_fully_defined()


@internal("framework.common_shapes.rank")
def rank(tensor: Any) -> int | None:
    """The number of a tensor's dimensions, or None."""
    return tensor.get_shape().ndims
