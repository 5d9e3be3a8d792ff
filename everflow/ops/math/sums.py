"""Sums of many tensors, and polynomials."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.errors import OpError, invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.describe import type_name
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.graph.tensor import Tensor
from everflow.lazy import torch
from everflow.ops.core import symbolic
from everflow.ops.core.families import widened
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op


def _add_all(node: Node) -> Callable[..., Any]:
    if node.inputs[0].dtype is dtypes.variant:
        return _add_lists
    if len(node.inputs) == 1:
        return torch.clone
    if _are_alike(node):
        return torch.add if len(node.inputs) == 2 else _total
    return _checked(node, _total)


def _are_alike(node: Node) -> bool:
    """Whether shapes are known before, so that they were compared when the graph was built."""
    return all(shapes.is_fully_defined(x.dims) for x in node.inputs)


def _checked(node: Node, add: Callable[..., Any]) -> Callable[..., Any]:
    """A sum of tensors whose shapes are compared first: addition itself would broadcast."""

    def run(*inputs: Any) -> Any:
        shape = inputs[0].shape
        for i, x in enumerate(inputs):
            if x.shape != shape:
                raise unequal_parts(node, shape, i, x.shape)
        return add(*inputs)

    return run


def unequal_parts(node: Node, first: Any, i: int, other: Any) -> OpError:
    """The error of a sum whose first and i-th input have different shapes."""
    name, kind = (node.op.name, node.op.type) if node.op is not None else ("", node.type)
    shown = [str(list(shape)).replace(" ", "") for shape in (first, other)]
    return invalid_argument(
        f"Inputs to operation {name} of type {kind} must have the same size and shape.  Input 0: {shown[0]} != input {i}: {shown[1]}"
    )


def _total(first: Any, second: Any, *others: Any) -> Any:
    total = torch.add(first, second)
    for x in others:
        total.add_(x)
    return total


def _add_lists(*lists: Any) -> Any:
    return functools.reduce(lambda x, y: x.plus(y), lists)


def _sum_shape(o: Operation) -> Any:
    if o.inputs[0].dtype is dtypes.variant:
        o.outputs[0].handle_data = _sum_of_lists(o.inputs)
    dims = o.inputs[-1].dims
    for i in range(len(o.inputs) - 2, -1, -1):
        try:
            dims = shapes.merge(o.inputs[i].dims, dims)
        except ValueError as error:
            raise ValueError(f"{error}\n\tFrom merging shape {i} with other shapes.") from None
    return dims


def _sum_of_lists(inputs: Any) -> Any:
    """What is known of the items of a sum of lists."""
    known = [t.handle_data for t in inputs]
    if any(data is None for data in known):
        return None
    dims, dtype = known[0]
    for other_dims, other in known[1:]:
        if other is not dtype:
            kinds = type_name(dtype), type_name(other)
            raise ValueError(f"shapes_and_types[0][0].dtype() == {kinds[0]} != shapes_and_types[0][0].dtype == {kinds[1]}")
        dims = shapes.merge(dims, other_dims)
    return dims, dtype


def _over(add: Callable[..., Any]) -> Callable[[Node], Any]:
    """The sum of two tensors in the memory of one of them."""

    def kernel(node: Node) -> Any:
        if len(node.inputs) != 2:
            return None
        return add if _are_alike(node) else _checked(node, add)

    return kernel


op(
    "AddN",
    kernel=widened(_add_all),
    shape=_sum_shape,
    gradient=lambda o, dy: [dy] * len(o.inputs),
    kind="sum of tensors",
    over={0: _over(lambda x, y: x.add_(y)), 1: _over(lambda x, y: y.add_(x))},
    symbolic=symbolic.all_alike,
)
op("AccumulateNV2", kernel=widened(_add_all), shape=_sum_shape, gradient=lambda o, dy: [dy] * len(o.inputs))


def _listed(inputs: Any, kind: str) -> list[Any]:
    message = f"inputs must be a list of at least one {kind} with the same dtype and shape"
    if isinstance(inputs, Tensor):
        iter(inputs)
    if not hasattr(inputs, "__iter__") or not list(inputs):
        raise ValueError(message)
    return [x if isinstance(x, IndexedSlices) else convert_to_tensor(x) for x in inputs]


@public("add_n", "math.add_n", ragged="elements")
def add_n(inputs: Any, name: str | None = None) -> Any:
    """The sum of all tensors of a list, which have the same shape and type."""
    tensors = _listed(inputs, "Tensor/IndexedSlices")
    if len(tensors) == 1:
        value = tensors[0]
        if isinstance(value, IndexedSlices):
            value = convert_to_tensor(value)
        return tf.identity(value, name=name) if name else value
    return apply("AddN", tensors, name=name)


@public("accumulate_n", "math.accumulate_n")
def accumulate_n(inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: str | None = None) -> Any:
    """The same as `add_n`, which may wait for its inputs one after the other."""
    message = "inputs must be a list of at least one Tensor with the same dtype and shape"
    if not inputs or not isinstance(inputs, (list, tuple)):
        raise ValueError(message)
    tensors = _listed(inputs, "Tensor")
    if not all(isinstance(t, Tensor) for t in tensors) or not all(t.dtype is tensors[0].dtype for t in tensors):
        raise ValueError(message)
    known = tf.TensorShape(shape) if shape is not None else tf.TensorShape(None)
    for t in tensors:
        known = known.merge_with(t.get_shape())
    if tensor_dtype is not None and dtypes.as_dtype(tensor_dtype) is not tensors[0].dtype.base_dtype:
        raise TypeError(f"tensor_dtype is {dtypes.as_dtype(tensor_dtype)}, but input is of type {tensors[0].dtype}")
    if len(tensors) == 1:
        return tensors[0] if name is None else tf.identity(tensors[0], name=name)
    return apply("AccumulateNV2", tensors, shape=known, name=name)


@public("math.polyval")
def polyval(coeffs: Any, x: Any, name: str | None = None) -> Any:
    """The value of a polynomial at x, coefficients from the highest power down."""
    with name_scope(name, "polyval", [*coeffs, x]) as scope:
        x = convert_to_tensor(x, name="x")
        if len(coeffs) < 1:
            return tf.zeros_like(x, name=scope)
        coeffs = [convert_to_tensor(c, name=f"coeff_{i}") for i, c in enumerate(coeffs)]
        total = coeffs[0]
        for c in coeffs[1:]:
            total = c + total * x
        return total
