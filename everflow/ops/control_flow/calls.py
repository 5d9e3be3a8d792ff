"""Calls of library functions: by an op of their name, by PartitionedCall, for gradients by SymbolicGradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow import errors
from everflow.api import internal
from everflow.graph import dtypes, shapes
from everflow.graph.attrs import FunctionName
from everflow.graph.convert import convert_to_tensor
from everflow.graph.func_graph import FuncGraph
from everflow.graph.functions import LibraryFunction, inline
from everflow.graph.graph import Graph
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import apply, op


def call_function(node: Any, function_name: str) -> Callable[..., Any]:
    """The kernel of a node that calls a library function with its inputs."""
    return _unpacked(node, node.context.function(function_name))


def _unpacked(node: Any, call: Callable[..., Any]) -> Callable[..., Any]:
    """A step's outputs as a kernel's: one value for one output."""
    if len(node.outputs) == 1:
        return lambda *arguments: call(*arguments)[0]
    return call


def _remote_call(node: Any) -> Callable[..., Any]:
    call = call_function(node, node.attr("f").name)
    return lambda _target, *arguments: call(*arguments)


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


def _says_more(dims: Any, general: Any) -> bool:
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


def gradient_of_call(operation: Operation, *output_gradients: Any) -> list[Any]:
    """The gradients of a call: as the function itself says, or by differentiating its body."""
    entry = operation.graph._get_function(operation.type)
    python_function = entry.python_grad_func if entry is not None else None
    if "defun" in operation.__dict__:
        python_function = operation.__dict__["defun"].python_grad_func
    if python_function is not None:
        found = python_function(operation, *output_gradients)
        return list(found) if isinstance(found, (list, tuple)) else [found]
    return _symbolic(operation, operation.type, operation.inputs, output_gradients)


def _symbolic(operation: Operation, function_name: str, inputs: Any, output_gradients: Any) -> list[Any]:
    given = [zeros_for(t) if g is None else convert_to_tensor(g) for t, g in zip(operation.outputs, output_gradients)]
    return apply(
        "SymbolicGradient", [*inputs, *given], Tout=[zeros_dtype(t) for t in inputs], f=FunctionName(function_name)
    )


def gradient_function(graph: Graph, function_name: str) -> LibraryFunction:
    """The library function that computes a function's gradients from its arguments and its output gradients."""
    entry = graph._get_function(function_name)
    if entry is None:
        raise errors.NotFoundError(None, None, f"Function {function_name} is not defined.")
    if entry.grad_func_name:
        found = graph._get_function(entry.grad_func_name)
        wanted = len(entry.graph.inputs)
        if len(found.graph.outputs) != wanted:
            raise errors.InvalidArgumentError(
                None,
                None,
                (
                    f"SymGrad expects to return {wanted} (1 for each input), but get {len(found.graph.outputs)} "
                    "values instead, from the "
                    f"gradient function {entry.grad_func_name}."
                ),
            )
        return found
    if entry.gradient is None:
        entry.gradient = LibraryFunction(f"SymbolicGradient_{function_name}", graph=_differentiated(graph, entry))
    return entry.gradient


def _differentiated(graph: Graph, entry: LibraryFunction) -> FuncGraph:
    from everflow.autodiff.gradients import gradients
    from everflow.autodiff.search import is_trainable

    with graph.as_default():
        body = FuncGraph(f"SymbolicGradient_{entry.name}")
    body._functions = graph._functions
    with body.as_default():
        arguments = [body.add_input(t.dtype, t.dims, f"x{i}", t.handle_data) for i, t in enumerate(entry.graph.inputs)]
        given = [body.add_input(t.dtype, t.dims, f"dy{i}") for i, t in enumerate(entry.graph.outputs)]
        outputs = inline(entry.graph, arguments)
        pairs = [(y, dy) for y, dy in zip(outputs, given) if is_trainable(y)]
        sources = [x for x in arguments if is_trainable(x)]
        found = (
            dict(zip(sources, gradients([y for y, _ in pairs], sources, [dy for _, dy in pairs])))
            if pairs and sources
            else {}
        )
        body.outputs = [zeros_for(x) if found.get(x) is None else convert_to_tensor(found[x]) for x in arguments]
    return body


def _symbolic_gradient(node: Any) -> Callable[..., Any]:
    name = node.attr("f").name
    entry = gradient_function(node.context.graph, name)
    return _unpacked(node, node.context.compile(entry.graph))


def _symbolic_gradient_shapes(operation: Operation) -> list[Any]:
    inputs = operation.inputs[: len(operation.outputs)]
    return [t.handle_data[0] if t.dtype.base_dtype is dtypes.resource and t.handle_data else t.dims for t in inputs]


def _gradient_of_symbolic_gradient(operation: Operation, *output_gradients: Any) -> list[Any]:
    entry = gradient_function(operation.graph, operation.attr("f").name)
    operation.graph._add_function(entry)
    return _symbolic(operation, entry.name, operation.inputs, output_gradients)


def _gradient_of_partitioned_call(operation: Operation, *output_gradients: Any) -> list[Any]:
    if isinstance(operation, Operation):
        from everflow.autodiff.calls import gradient_of_partitioned_call

        return gradient_of_partitioned_call(operation, output_gradients)
    return _symbolic(operation, operation.attr("f").name, operation.inputs, output_gradients)


for _name in ("PartitionedCall", "StatefulPartitionedCall"):
    op(
        _name,
        kernel=lambda n: call_function(n, n.attr("f").name),
        shape=lambda o: output_dims(o, o.attr("f").name),
        gradient=_gradient_of_partitioned_call,
        view=True,
        writes=True,
    )
op("RemoteCall", kernel=_remote_call, shape=lambda o: output_dims(o, o.attr("f").name), view=True, writes=True)
op(
    "SymbolicGradient",
    kernel=_symbolic_gradient,
    shape=_symbolic_gradient_shapes,
    gradient=_gradient_of_symbolic_gradient,
    view=True,
)


@internal("ops.functional_ops.symbolic_gradient", "ops.gen_functional_ops.symbolic_gradient")
def symbolic_gradient(input: Any, Tout: Any, f: Any, name: str | None = None) -> list[Tensor]:
    """The gradients of function `f`; `input` holds its arguments and then its output gradients."""
    return apply("SymbolicGradient", input, Tout=Tout, f=f, name=name)
