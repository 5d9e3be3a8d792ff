"""Comparisons, logic, and choosing between two tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.lazy import torch
from everflow.ops.core import host_sizes, rows, run_time_checks, symbolic
from everflow.ops.core.broadcasting import checked, incompatible, sums_along
from everflow.ops.core.families import binary, unary
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.core.shape_rules import broadcast, merged

_UNSIGNED = ("uint16", "quint16", "uint32", "uint64")


def comparison(name: str) -> Callable[[Any], Callable[..., Any]]:
    """A comparison of numbers by torch, of unsigned words and of strings by numpy."""

    def make(node: Node) -> Callable[..., Any]:
        kind = node.inputs[0].dtype.base_dtype.name
        in_numpy: Any = getattr(
            np, {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal"}[name]
        )
        if kind == "string":
            return lambda x, y: torch.from_numpy(np.asarray(in_numpy(x, y), dtype=bool))
        if kind in _UNSIGNED:
            return lambda x, y: torch.from_numpy(np.asarray(in_numpy(x.numpy(), y.numpy())))
        return getattr(torch, name)

    return make


less = binary("Less", comparison("lt"), not_differentiable, "less", "math.less", widen=False, host=host_sizes.comparison(operator.lt))
less_equal = binary(
    "LessEqual", comparison("le"), not_differentiable, "less_equal", "math.less_equal", widen=False, host=host_sizes.comparison(operator.le)
)
greater = binary(
    "Greater", comparison("gt"), not_differentiable, "greater", "math.greater", widen=False, host=host_sizes.comparison(operator.gt)
)
greater_equal = binary(
    "GreaterEqual",
    comparison("ge"),
    not_differentiable,
    "greater_equal",
    "math.greater_equal",
    widen=False,
    host=host_sizes.comparison(operator.ge),
)


def _equality_kernel(name: str, unequal: bool) -> Callable[[Any], Callable[..., Any]]:
    def make(node: Node) -> Callable[..., Any]:
        compare = comparison(name)(node)
        if node.attr("incompatible_shape_error"):
            return checked(node, compare)

        def run(x: Any, y: Any) -> Any:
            return compare(x, y) if incompatible(x, y) is None else torch.tensor(unequal)

        return run

    return make


def _equality_shape(o: Operation) -> Any:
    if o.attr("incompatible_shape_error"):
        return broadcast(o)
    try:
        dims = broadcast(o)
    except ValueError:
        return ()
    a, b = (t.dims for t in o.inputs)
    if a is not None and b is not None and any(None in pair and 1 not in pair for pair in zip(a[::-1], b[::-1])):
        return None
    return dims


def _equality_sizes(symbols: Any, node: Node, value: Any) -> symbolic.Sizes:
    return symbolic.broadcast(*map(symbols.of, node.inputs)) if node.attr("incompatible_shape_error") else None


op(
    "Equal",
    kernel=_equality_kernel("eq", False),
    shape=_equality_shape,
    gradient=not_differentiable,
    host=host_sizes.comparison(operator.eq),
    symbolic=_equality_sizes,
)
op(
    "NotEqual",
    kernel=_equality_kernel("ne", True),
    shape=_equality_shape,
    gradient=not_differentiable,
    host=host_sizes.comparison(operator.ne),
    symbolic=_equality_sizes,
)


@public("equal", "math.equal", ragged="pairs")
def equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Whether corresponding elements are equal; shapes broadcast."""
    return apply("Equal", x, y, name=name)


@public("not_equal", "math.not_equal", ragged="pairs")
def not_equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Whether corresponding elements differ; shapes broadcast."""
    return apply("NotEqual", x, y, name=name)


def _approximately_equal(node: Node) -> Callable[..., Any]:
    # Among whole numbers the tolerance is one too: less than none apart is nobody.
    tolerance = node.attr("tolerance") if node.inputs[0].dtype.is_floating else int(node.attr("tolerance"))
    return lambda x, y: torch.abs(x - y) < tolerance


def _of_other_shapes(x: Any, y: Any) -> str | None:
    if x.shape == y.shape:
        return None
    return f"x and y must be of the same shape. x shape: {shapes.describe(x.shape)}. y shape: {shapes.describe(y.shape)}"


op("ApproximateEqual", kernel=run_time_checks.checked(_approximately_equal, _of_other_shapes), shape=merged, gradient=not_differentiable)

logical_and = binary(
    "LogicalAnd",
    lambda n: torch.logical_and,
    not_differentiable,
    "logical_and",
    "math.logical_and",
    host=host_sizes.comparison(operator.and_),
)
logical_or = binary(
    "LogicalOr", lambda n: torch.logical_or, not_differentiable, "logical_or", "math.logical_or", host=host_sizes.comparison(operator.or_)
)
logical_not = unary(
    "LogicalNot",
    lambda n: torch.logical_not,
    not_differentiable,
    "logical_not",
    "math.logical_not",
    host=host_sizes.comparison(operator.not_),
)


@public("logical_xor", "math.logical_xor", ragged="pairs")
def logical_xor(x: Any, y: Any, name: str = "LogicalXor") -> Any:
    """Whether exactly one of two booleans is true."""
    either, both = logical_or(x, y), logical_and(x, y)
    return logical_and(either, logical_not(both), name=name)


def and_dispatch(x: Any, y: Any, name: str | None = None) -> Any:
    """`x & y` of booleans."""
    return logical_and(x, y, name)


def or_dispatch(x: Any, y: Any, name: str | None = None) -> Any:
    """`x | y` of booleans."""
    return logical_or(x, y, name)


def xor_dispatch(x: Any, y: Any, name: str | None = None) -> Any:
    """`x ^ y` of booleans."""
    with name_scope(name, "xor", [x, y]) as scope:
        return logical_xor(x, y, name=scope)


def invert_dispatch(x: Any, name: str | None = None) -> Any:
    """`~x` of booleans."""
    return logical_not(x, name)


def _choose(condition: Any, x: Any, y: Any) -> Any:
    if isinstance(x, np.ndarray):
        return np.where(condition.numpy(), x, y)
    return torch.where(condition, x, y)


def _select(node: Node) -> Callable[..., Any]:
    """A scalar condition chooses a whole tensor, a vector chooses rows, any other chooses elements."""

    def run(condition: Any, x: Any, y: Any) -> Any:
        if condition.ndim == 0:
            if x.shape != y.shape:
                raise invalid_argument(
                    f"'then' and 'else' must have the same size.  but received: {shapes.describe(tuple(x.shape))} vs. "
                    f"{shapes.describe(tuple(y.shape))}"
                )
        elif condition.ndim == 1 and x.ndim > 1:
            if condition.shape[0] != x.shape[0]:
                raise invalid_argument(
                    f"Number of batches of 'then' must match size of 'cond', but saw: {x.shape[0]} vs. {condition.shape[0]}"
                )
            if x.shape != y.shape:
                raise mismatch(1, x, 2, y)
            condition = condition.reshape(-1, *[1] * (x.ndim - 1))
        elif tuple(condition.shape) != tuple(x.shape):
            raise mismatch(0, condition, 1, x)
        elif tuple(condition.shape) != tuple(y.shape):
            raise mismatch(0, condition, 2, y)
        return _choose(condition, x, y)

    def mismatch(i: int, a: Any, j: int, b: Any) -> Exception:
        return invalid_argument(
            f"Inputs to operation {node.name} of type {node.type} must have the same size and shape.  "
            f"Input {i}: {shapes.describe(tuple(a.shape))} != input {j}: {shapes.describe(tuple(b.shape))}"
        )

    condition, x, y = node.inputs
    if shapes.is_fully_defined(x.dims) and condition.dims == x.dims == y.dims and node.outputs[0].dtype.base_dtype.name != "string":
        return torch.where
    return run


def _select_shape(o: Operation) -> Any:
    condition, x, y = (t.dims for t in o.inputs)
    found = shapes.merge(x, y)
    if condition is None or found is None or len(condition) == 0:
        return found
    if len(condition) == 1 and found:
        # A row of each must exist, but its number is taken from the rows alone.
        shapes.merge(condition, found[:1])
        return found
    return shapes.merge(found, condition)


def _select_gradient(o: Operation, dz: Any) -> Any:
    condition, x, _ = o.inputs
    zeros = tf.zeros_like(x)
    return None, apply("Select", condition, dz, zeros), apply("Select", condition, zeros, dz)


op(
    "Select",
    kernel=_select,
    shape=_select_shape,
    gradient=_select_gradient,
    symbolic=lambda symbols, node, value: symbolic.agreed([symbols.of(v) for v in node.inputs[1:]]),
    rows=rows.chosen,
    kind="choice",
)


def _select_v2(node: Node) -> Callable[..., Any]:
    return _choose if node.outputs[0].dtype.base_dtype.name == "string" else torch.where


def _select_v2_shape(o: Operation) -> Any:
    condition, x, y = (t.dims for t in o.inputs)
    return shapes.broadcast(condition, shapes.broadcast(x, y))


def _select_v2_gradient(o: Operation, dz: Any) -> Any:
    condition, x, y = o.inputs
    zeros = tf.zeros([], dtype=dz.dtype.base_dtype)
    dx = apply("SelectV2", condition, dz, zeros)
    shape_x, shape = tf.shape(x), tf.shape(o.outputs[0])
    dx = sums_along(shape_x, shape)[0](dx)
    dy = apply("SelectV2", condition, zeros, dz)
    return None, dx, sums_along(tf.shape(y), shape)[0](dy)


op("SelectV2", kernel=_select_v2, shape=_select_v2_shape, gradient=_select_v2_gradient)


@public("where", ragged="arrays.where")
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Elements of x where the condition holds and of y elsewhere; without x and y, the positions where it holds."""
    if x is None and y is None:
        with name_scope(name, "Where", [condition]) as scope:
            condition = convert_to_tensor(condition, name="condition", preferred_dtype=tf.bool)
            return apply("Where", condition, name=scope)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return apply("Select", condition, x, y, name=name)


@public("where_v2", ragged="arrays.where")
def where_v2(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """The same with broadcasting."""
    if x is None and y is None:
        return where(condition, name=name)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return apply("SelectV2", condition, x, y, name=name)
