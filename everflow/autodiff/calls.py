"""The gradient of a call of a function: a call of the gradient's function, on values that the first call hands out."""
from __future__ import annotations

from typing import Any

from everflow.autodiff.bodies import GradientBody, differentiate, is_differentiable
from everflow.autodiff.branches import slice_parts
from everflow.graph.attrs import FunctionName
from everflow.graph.convert import convert_to_tensor
from everflow.graph.func_graph import FuncGraph
from everflow.graph.functions import add_body, supersede
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.operation import Operation
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.ops.control_flow.bodies import finish
from everflow.ops.core.registry import apply


def gradient_of_partitioned_call(operation: Operation, output_gradients: Any) -> list[Any]:
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
        called = apply("PartitionedCall", body.external_captures, Tout=[t.dtype for t in body.outputs],
                       f=FunctionName(add_body(graph, body, body.name).name))
        for t, inside in zip(called, body.outputs):
            t.dims, t.handle_data = inside.dims, inside.handle_data
        outputs_left = iter(called)
        for i in positions:
            is_sparse = isinstance(found[i], IndexedSlices)
            results[i] = IndexedSlices(next(outputs_left), next(outputs_left), next(outputs_left)) if is_sparse else next(outputs_left)
    return results
