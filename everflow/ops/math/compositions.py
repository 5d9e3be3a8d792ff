"""Chains of element-wise functions as one op, which TensorFlow's graph optimizer makes of them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from everflow.errors import invalid_argument
from everflow.ops.core.node import Node, kernel_of
from everflow.ops.core.registry import op
from everflow.ops.core.shape_rules import same_as_input

FUNCTIONS = frozenset(
    """Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Elu Exp Expm1 Floor Inv Log Log1p Neg Reciprocal Relu Relu6 Rint Round Rsqrt
    Selu Sigmoid Sin Sinh Sqrt Square Tan Tanh""".split()
)


def _composition(node: Node) -> Callable[[Any], Any]:
    names = node.attr("op_names")
    if not names:
        raise invalid_argument("Unary op composition must have at least one op")
    return functools.reduce(_then, [_one(node, name) for name in names])


def _one(node: Node, name: str) -> Callable[[Any], Any]:
    if name not in FUNCTIONS:
        raise invalid_argument(f"Do not have a compute function registered for op: {name}")
    found = Node(name, node.name, {"T": node.attr("T")}, node.inputs, None, node.context)
    found.add_output(node.outputs[0].dtype, node.outputs[0].dims)
    return kernel_of(found)


def _then(first: Callable[[Any], Any], second: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: second(first(x))


op("_UnaryOpsComposition", kernel=_composition, shape=same_as_input)
