"""Python's operators on tensors: `a + b`, `-a`, `a[1:]`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.compat import forward_compatible
from everflow.graph.convert import convert_to_tensor
from everflow.graph.dtypes import string
from everflow.graph.stacks import get_default_graph, in_eager_mode
from everflow.graph.tensor import Tensor
from everflow.ops.arrays import slicing
from everflow.ops.core.registry import apply
from everflow.ops.linalg import products as linalg_products
from everflow.ops.math import division, logic


def _named(x: Tensor, op_name: str) -> str:
    current = get_default_graph()
    return (current if current.building_function or x.is_eager else x.graph).unique_name(op_name) + "/"


def _named_at_once(op_name: str, *operands: Any) -> str:
    """The same where ops run at once: what takes a tensor of a graph becomes an op of that graph."""
    for t in operands:
        if isinstance(t, Tensor) and not t.is_eager:
            return t.graph.unique_name(op_name) + "/"
    return op_name + "/"


def _converted(value: Any, like: Tensor, name: str, role: str, hint: bool) -> Tensor:
    """The other operand as a tensor, named below the operation's own name."""
    current = get_default_graph()
    graph = current if current.building_function or like.is_eager else like.graph
    with graph.as_default():
        state = graph._stacks()
        outer = state.name_stack
        state.name_stack = name[:-1]
        try:
            dtype = like.dtype.base_dtype
            return convert_to_tensor(value, preferred_dtype=dtype, name=role) if hint else convert_to_tensor(value, dtype, role)
        finally:
            state.name_stack = outer


def overload(operator: str, op_name: str, function: Callable[..., Any]) -> None:
    """Makes a binary operator of Tensor, and its reflected form, call a function of (x, y, name)."""

    def method(x: Any, y: Any) -> Any:
        if in_eager_mode():
            try:
                y = y if isinstance(y, Tensor) or _is_sparse(y) else convert_to_tensor(y, preferred_dtype=x.dtype)
            except TypeError:
                if hasattr(type(y), f"__r{operator}__"):
                    return NotImplemented
                raise
            return function(x, y, name=_named_at_once(op_name, x, y))
        name = _named(x, op_name)
        if type(y) is not Tensor and not _is_sparse(y):
            try:
                y = _converted(y, x, name, "y", hint=True)
            except TypeError:
                if hasattr(type(y), f"__r{operator}__"):
                    return NotImplemented
                raise
        return function(x, y, name=name)

    def reflected(y: Any, x: Any) -> Any:
        if in_eager_mode():
            return function(convert_to_tensor(x, y.dtype), y, name=_named_at_once(op_name, y))
        name = _named(y, op_name)
        return function(_converted(x, y, name, "x", hint=False), y, name=name)

    Tensor._override_operator(f"__{operator}__", method)
    Tensor._override_operator(f"__r{operator}__", reflected)


def _is_sparse(value: Any) -> bool:
    return type(value).__name__ in ("SparseTensor", "SparseTensorValue")


def _sum(x: Any, y: Any, name: str) -> Any:
    is_new = x.dtype.base_dtype is not string and forward_compatible(2019, 6, 25)
    return apply("AddV2" if is_new else "Add", x, y, name=name)


def _load() -> None:
    """Everything that operators stand for."""
    overload("add", "add", _sum)
    overload("sub", "sub", tf.subtract)
    overload("mul", "mul", division.multiply_dispatch)
    overload("truediv", "truediv", division.truediv_dispatch)
    overload("div", "div", division.div_dispatch)
    overload("floordiv", "floordiv", division.floordiv)
    overload("mod", "mod", division.floormod)
    overload("pow", "pow", division.power)
    overload("matmul", "matmul", linalg_products.matmul)
    overload("and", "and", logic.and_dispatch)
    overload("or", "or", logic.or_dispatch)
    overload("xor", "xor", logic.xor_dispatch)
    for operator, compare in (("lt", logic.less), ("le", logic.less_equal), ("gt", logic.greater), ("ge", logic.greater_equal)):
        Tensor._override_operator(f"__{operator}__", lambda x, y, compare=compare: compare(x, y))
    Tensor._override_operator("__invert__", logic.invert_dispatch)
    Tensor._override_operator("__neg__", lambda x: apply("Neg", x))
    Tensor._override_operator("__abs__", division.absolute)
    Tensor._override_operator("__getitem__", slicing.getitem)


_load()
