"""Ops that hand their input on if it is as promised (finite, of a shape)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.lazy import torch
from everflow.ops.arrays.reshaping import shown
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.core.shape_rules import same_as_input

Kernel = Callable[..., Any]


def _message(node: Node) -> str:
    message = node.attr("message")
    return message.decode() if isinstance(message, bytes) else message


def _check_numerics(node: Node) -> Kernel:
    message = _message(node)

    def run(x: Any) -> Any:
        if not bool(torch.isfinite(x).all()):
            infinite, nan = bool(torch.isinf(x).any()), bool(torch.isnan(x).any())
            found = "Inf and NaN" if infinite and nan else "Inf" if infinite else "NaN"
            raise invalid_argument(f"{message} : Tensor had {found} values")
        return x

    return run


op(
    "CheckNumerics",
    kernel=_check_numerics,
    shape=same_as_input,
    view=True,
    gradient=lambda o, dy: check_numerics(dy, f"Not a number (NaN) or infinity (Inf) values detected in gradient. {_message(o)}"),
    checks=True,
)


@public("check_numerics", "debugging.check_numerics", ragged="elements")
def check_numerics(tensor: Any, message: str | None, name: str | None = None) -> Any:
    """The tensor, after making sure that no element is infinite or not a number."""
    return apply("CheckNumerics", tensor, message=message, name=name)


def _ensure_shape(node: Node) -> Kernel:
    dims = node.attr("shape")
    name = node.inputs[0].node.name

    def run(x: Any) -> Any:
        if not shapes.is_compatible(tuple(x.shape), dims):
            raise invalid_argument(
                f"Shape of tensor {name} {shown(x.shape)} is not compatible with expected shape {shapes.describe(dims)}."
            )
        return x

    return run


op(
    "EnsureShape",
    kernel=_ensure_shape,
    shape=lambda o: shapes.merge(o.attr("shape"), o.inputs[0].dims),
    gradient=lambda o, dy: dy,
    view=True,
    checks=True,
)


@public("ensure_shape")
def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Any:
    """The tensor, which fails to run if it has not this shape."""
    if not isinstance(shape, shapes.TensorShape):
        shape = shapes.TensorShape(shape)
    return apply("EnsureShape", x, shape=shape, name=name)
