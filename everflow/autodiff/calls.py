"""The gradient of a call of a function: a call of the gradient's function, on values that the first call hands out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow import errors
from everflow.api import internal
from everflow.autodiff.bodies import GradientBody, differentiate, is_differentiable
from everflow.autodiff.branches import slice_parts
from everflow.autodiff.gradients import gradients
from everflow.autodiff.search import is_trainable
from everflow.graph import dtypes
from everflow.graph.attrs import FunctionName
from everflow.graph.convert import convert_to_tensor
from everflow.graph.func_graph import FuncGraph
from everflow.graph.functions import LibraryFunction, add_body, inline, supersede
from everflow.graph.graph import Graph
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.operation import Operation
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.ops.control_flow.bodies import finish
from everflow.ops.control_flow.calls import unpacked, zeros_dtype, zeros_for
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op


def _gradient_of_traced_call(operation: Operation, output_gradients: Any) -> list[Any]:
    """The gradients with respect to a call's arguments. The function that is called runs once."""
    graph = get_default_graph()
    forward: FuncGraph = operation.graph._get_function(operation.attr("f").name).graph
    given = [None if g is None else convert_to_tensor(g) for g in output_gradients]
    added: dict[Tensor, Tensor] = operation.__dict__.setdefault("added_outputs", {})

    def bring_out(t: Tensor) -> Tensor:
        place = forward.place_of(t)
        if place is not None:
            return operation.inputs[place]
        if t not in added:
            found = Tensor(operation, len(operation.outputs), t.dtype)
            found.dims, found.handle_data = t.dims, t.handle_data
            operation.outputs.append(found)
            added[t] = found
        return added[t]

    body = GradientBody.of(forward, graph, bring_out)
    with body.as_default():
        grad_ys = [None if g is None else body.own(g) for g in given]
        found = differentiate(forward, forward.outputs[: len(given)], forward.inputs, grad_ys)
        positions = [i for i, x in enumerate(forward.inputs) if found[i] is not None and is_differentiable(x)]
        for i in positions:
            dx = found[i]
            body.outputs.extend(slice_parts(forward.inputs[i], dx) if isinstance(dx, IndexedSlices) else [convert_to_tensor(dx)])
    body.settle()
    if len(operation.outputs) > len(forward.outputs):
        outputs = [*forward.outputs, *(t for t, outside in added.items() if outside.value_index >= len(forward.outputs))]
        supersede(operation.graph, operation.attrs["f"].name)
        operation.attrs["f"] = FunctionName(add_body(operation.graph, forward.variant(outputs), forward.name).name)
        operation.attrs["Tout"] = [t.dtype for t in operation.outputs]
        operation.graph._changed()
    finish([body], graph, keeps_effects=False)
    results: list[Any] = [None] * len(operation.inputs)
    if positions:
        called = apply(
            "PartitionedCall",
            body.external_captures,
            Tout=[t.dtype for t in body.outputs],
            f=FunctionName(add_body(graph, body, body.name).name),
        )
        for t, inside in zip(called, body.outputs):
            t.dims, t.handle_data = inside.dims, inside.handle_data
        outputs_left = iter(called)
        for i in positions:
            is_sparse = isinstance(found[i], IndexedSlices)
            results[i] = IndexedSlices(next(outputs_left), next(outputs_left), next(outputs_left)) if is_sparse else next(outputs_left)
    return results


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
    return apply("SymbolicGradient", [*inputs, *given], Tout=[zeros_dtype(t) for t in inputs], f=FunctionName(function_name))


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
    with graph.as_default():
        body = FuncGraph(f"SymbolicGradient_{entry.name}")
    body._functions = graph._functions
    with body.as_default():
        arguments = [body.add_input(t.dtype, t.dims, f"x{i}", t.handle_data) for i, t in enumerate(entry.graph.inputs)]
        given = [body.add_input(t.dtype, t.dims, f"dy{i}") for i, t in enumerate(entry.graph.outputs)]
        outputs = inline(entry.graph, arguments)
        pairs = [(y, dy) for y, dy in zip(outputs, given) if is_trainable(y)]
        sources = [x for x in arguments if is_trainable(x)]
        found = dict(zip(sources, gradients([y for y, _ in pairs], sources, [dy for _, dy in pairs]))) if pairs and sources else {}
        body.outputs = [zeros_for(x) if found.get(x) is None else convert_to_tensor(found[x]) for x in arguments]
    return body


def _symbolic_gradient(node: Node) -> Callable[..., Any]:
    name = node.attr("f").name
    entry = gradient_function(node.context.graph, name)
    return unpacked(node, node.context.compile(entry.graph))


def _symbolic_gradient_shapes(operation: Operation) -> list[Any]:
    inputs = operation.inputs[: len(operation.outputs)]
    return [t.handle_data[0] if t.dtype.base_dtype is dtypes.resource and t.handle_data else t.dims for t in inputs]


def _gradient_of_symbolic_gradient(operation: Operation, *output_gradients: Any) -> list[Any]:
    entry = gradient_function(operation.graph, operation.attr("f").name)
    operation.graph._add_function(entry)
    return _symbolic(operation, entry.name, operation.inputs, output_gradients)


def _gradient_of_partitioned_call(operation: Operation, *output_gradients: Any) -> list[Any]:
    if isinstance(operation, Operation):
        return _gradient_of_traced_call(operation, output_gradients)
    return _symbolic(operation, operation.attr("f").name, operation.inputs, output_gradients)


for _name in ("PartitionedCall", "StatefulPartitionedCall"):
    op(_name, gradient=_gradient_of_partitioned_call)
op("SymbolicGradient", kernel=_symbolic_gradient, shape=_symbolic_gradient_shapes, gradient=_gradient_of_symbolic_gradient, view=True)


@internal("ops.functional_ops.symbolic_gradient", "ops.gen_functional_ops.symbolic_gradient")
def symbolic_gradient(input: Any, Tout: Any, f: Any, name: str | None = None) -> list[Tensor]:
    """The gradients of function `f`; `input` holds its arguments and then its output gradients."""
    return apply("SymbolicGradient", input, Tout=Tout, f=f, name=name)
