"""Checks that kernels make of values whose shapes nobody knew before they came."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.ops.core.node import Node

Factory = Callable[[Any], Callable[..., Any]]


def checked(kernel: Factory, check: Callable[..., str | None]) -> Factory:
    """The kernel, where shapes are not known beforehand with a check before it: `check(*values)` says what is wrong with them."""

    def make(node: Node) -> Callable[..., Any]:
        run = kernel(node)
        if all(v.dims is not None and None not in v.dims for v in node.inputs):
            return run

        def run_checked(*values: Any) -> Any:
            fault = check(*values)
            if fault is not None:
                raise invalid_argument(fault)
            return run(*values)

        return run_checked

    return make


def alike(kernel: Factory) -> Factory:
    """The kernel of an op whose two inputs must be of one shape."""

    def make(node: Node) -> Callable[..., Any]:
        run = kernel(node)
        dims = [v.dims for v in node.inputs]
        if dims[0] == dims[1] and shapes.is_fully_defined(dims[0]):
            return run

        def run_checked(a: Any, b: Any) -> Any:
            if a.shape != b.shape:
                raise invalid_argument(
                    f"Inputs to operation {node.name} of type {node.type} must have the same size and shape.  "
                    f"Input 0: {shapes.describe(tuple(a.shape))} != input 1: {shapes.describe(tuple(b.shape))}"
                )
            return run(a, b)

        return run_checked

    return make
