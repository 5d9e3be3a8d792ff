"""Calls of library functions: by an op of their name, by PartitionedCall, for gradients by SymbolicGradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.graph import dtypes, shapes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.func_graph import FuncGraph
from everflow.graph.functions import inline
from everflow.graph.graph import Graph
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op


def call_function(node: Node, function_name: str) -> Callable[..., Any]:
    """The kernel of a node that calls a library function with its inputs."""
    entry = node.context.library(function_name)
    fits = entry is None or all(
        inside.dtype.base_dtype is dtypes.resource or shapes.is_within(given.dims, inside.dims)
        for given, inside in zip(node.inputs, entry.graph.inputs)
    )
    return unpacked(node, node.context.function(function_name, any_shape=not fits))


def unpacked(node: Node, call: Callable[..., Any]) -> Callable[..., Any]:
    """A step's outputs as a kernel's: one value for one output."""
    if len(node.outputs) == 1:
        return lambda *arguments: call(*arguments)[0]
    return call


def _remote_call(node: Node) -> Callable[..., Any]:
    context, name = node.context, node.attr("f").name
    return unpacked(node, lambda target, *arguments: context.on(target.reshape(-1)[0].decode()).function(name)(*arguments))


def output_dims(operation: Operation, function_name: str) -> list[Any]:
    """What a function's body says of the shapes of its outputs."""
    entry = operation.graph._get_function(function_name)
    if entry is None:
        return [None] * len(operation.outputs)
    body = entry.graph
    given = tuple(t.dims if _says_more(t.dims, inside.dims) else inside.dims for t, inside in zip(operation.inputs, body.inputs))
    general = tuple(t.dims for t in body.inputs)
    if given == general:
        return [t.dims for t in body.outputs]
    if given not in entry.dims_by_arguments:
        # For a function that calls itself, what it says in general has to do.
        entry.dims_by_arguments[given] = [t.dims for t in body.outputs]
        entry.dims_by_arguments[given] = _dims_for(body, given)
    return entry.dims_by_arguments[given]


def _says_more(dims: shapes.Dims, general: Any) -> bool:
    if general is None:
        return dims is not None
    return dims is not None and len(dims) == len(general) and any(g is None and d is not None for d, g in zip(dims, general))


def _dims_for(body: FuncGraph, given: Any) -> list[Any]:
    """The shapes of a body's outputs, where more is known of those of its inputs."""
    scratch = Graph()
    scratch._functions = body._functions
    with scratch.as_default():
        arguments = []
        for inside, dims in zip(body.inputs, given):
            t = apply("Placeholder", dtype=inside.dtype.base_dtype, shape=dims)
            t.handle_data = inside.handle_data
            arguments.append(t)
        try:
            return [t.dims for t in inline(body, arguments)]
        except ValueError:
            # Such shapes don't go together; that is found out when the function runs.
            return [t.dims for t in body.outputs]


def zeros_dtype(t: Tensor) -> dtypes.DType:
    """The dtype of a tensor's gradient: for a variable's handle, that of the variable."""
    if t.dtype.base_dtype is dtypes.resource and t.handle_data is not None:
        return t.handle_data[1]
    return t.dtype.base_dtype


def zeros_for(t: Tensor) -> Tensor:
    """A gradient of zeros for a tensor, or for the variable behind a handle."""
    if t.dtype.base_dtype is dtypes.variant:
        return apply("ZerosLike", t)
    is_handle = t.dtype.base_dtype is dtypes.resource and t.handle_data is not None
    dims = t.handle_data[0] if is_handle else t.dims
    if shapes.is_fully_defined(dims):
        # What is known need not be handed in from outside.
        return apply("Fill", convert_to_tensor(dims, dtype=dtypes.int32), convert_to_tensor(0, dtype=zeros_dtype(t)))
    if is_handle:
        return apply("Fill", apply("VariableShape", t), convert_to_tensor(0, dtype=t.handle_data[1]))
    return apply("ZerosLike", t)


for _name in ("PartitionedCall", "StatefulPartitionedCall"):
    op(_name, kernel=lambda n: call_function(n, n.attr("f").name), shape=lambda o: output_dims(o, o.attr("f").name), view=True, writes=True)
op("RemoteCall", kernel=_remote_call, shape=lambda o: output_dims(o, o.attr("f").name), view=True, writes=True, first_argument=1)
