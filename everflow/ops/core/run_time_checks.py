"""Checks that kernels make of values whose shapes nobody knew before they came."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.errors import invalid_argument
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
