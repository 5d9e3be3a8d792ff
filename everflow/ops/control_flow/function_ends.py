"""Ops with which TensorFlow's runtime hands values into functions and out of them, and lists into its older loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.errors import internal_error, invalid_argument
from everflow.graph.describe import type_name
from everflow.ops.core.node import Node
from everflow.ops.core.registry import op

Kernel = Callable[..., Any]


def _argument(node: Node) -> Kernel:
    raise invalid_argument(f"GetArg {node.attr('index')} is not within [0, 0)")


def _result(node: Node) -> Kernel:
    raise invalid_argument(f"SetRetval {node.attr('index')} is not within [0, 0)")


def _as_they_are(node: Node) -> Kernel:
    if len(node.inputs) != len(node.outputs):
        raise internal_error(f"#inputs != #outputs : {len(node.inputs)} vs. {len(node.outputs)}")
    for taken, given in zip(node.inputs, node.outputs):
        if taken.dtype.base_dtype is not given.dtype.base_dtype:
            raise invalid_argument(f"Type mismatch: actual {type_name(taken.dtype)} vs. expect {type_name(given.dtype)}")
    return (lambda x: x) if len(node.inputs) == 1 else lambda *values: values


# Bodies of functions have placeholders and outputs of their own; outside of bodies these ops have nothing to hand on.
for _name in ("_Arg", "_DeviceArg"):
    op(_name, kernel=_argument, shape=lambda o: None)
for _name in ("_Retval", "_DeviceRetval"):
    op(_name, kernel=_result, shape=lambda o: [])
for _name in ("_ListToArray", "_ArrayToList"):
    op(_name, kernel=_as_they_are, shape=lambda o: [None] * len(o.outputs), view=True)
