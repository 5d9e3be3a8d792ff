"""The gradient of If and Case: a choice between the gradients of the branches, on values that the branch hands out."""

from __future__ import annotations

import functools
from typing import Any

from everflow.autodiff.bodies import GradientBody, differentiate, is_differentiable
from everflow.graph import dtypes
from everflow.graph.attrs import FunctionName
from everflow.graph.convert import convert_to_tensor
from everflow.graph.func_graph import FuncGraph
from everflow.graph.functions import add_body, supersede
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.operation import Operation
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.ops.control_flow.bodies import finish
from everflow.ops.control_flow.calls import zeros_dtype, zeros_for
from everflow.ops.control_flow.conditionals import add_choice, branch_names
from everflow.ops.control_flow.toggles import enabled_in
from everflow.ops.core.registry import apply, op


def gradient_of_choice(operation: Operation, *output_gradients: Any) -> list[Any]:
    """The gradients of an If or Case node: a node that chooses between the gradients of the branches."""
    graph = get_default_graph()
    forward = [operation.graph._get_function(name).graph for name in branch_names(operation)]
    given = [None if g is None else convert_to_tensor(g) for g in output_gradients]
    gradient_bodies: list[GradientBody] = []
    found: list[list[Any]] = []
    for index, branch in enumerate(forward):
        body = GradientBody.of(branch, graph, functools.partial(_brought_out, operation, branch, index))
        with body.as_default():
            grad_ys = [None if g is None else body.own(g) for g in given[: len(branch.outputs)]]
            found.append(differentiate(branch, branch.outputs[: len(given)], branch.inputs, grad_ys))
        gradient_bodies.append(body)
    # Version 2 gives a gradient of zeros where there is none, and slices where one of the branches gives them.
    is_version_2 = enabled_in(graph)
    positions = [
        i for i, x in enumerate(forward[0].inputs) if is_differentiable(x) and (is_version_2 or any(dxs[i] is not None for dxs in found))
    ]
    sparse = {i for i in positions if _is_sparse([dxs[i] for dxs in found if dxs[i] is not None], is_version_2)}
    for body, branch, dxs in zip(gradient_bodies, forward, found):
        with body.as_default():
            for i in positions:
                x, dx = branch.inputs[i], dxs[i]
                if i in sparse:
                    body.outputs.extend(slice_parts(x, dx))
                else:
                    body.outputs.append(zeros_for(x) if dx is None else convert_to_tensor(dx))
        body.settle()
    _return_added(operation)
    for body in gradient_bodies:
        finish([body], graph, keeps_effects=False)
    results: list[Any] = [None] * len(operation.inputs)
    if positions:
        name = operation.name.rpartition("/")[2] + "_grad"
        outputs = iter(add_choice(operation.inputs[0], list(gradient_bodies), operation.type, name))
        for i in positions:
            results[i + 1] = IndexedSlices(next(outputs), next(outputs), next(outputs)) if i in sparse else next(outputs)
    return results


def _is_sparse(gradients: list[Any], is_version_2: bool) -> bool:
    found = [isinstance(g, IndexedSlices) for g in gradients]
    return any(found) if is_version_2 else bool(found) and all(found)


def slice_parts(x: Tensor, gradient: Any) -> list[Tensor]:
    """The values, indices and dense shape of a gradient that consists of some rows; of none where there is no gradient."""
    shape = apply("VariableShape", x) if x.dtype.base_dtype is dtypes.resource else apply("Shape", x)
    if isinstance(gradient, Tensor):
        rows = apply("Range", 0, apply("StridedSlice", shape, [0], [1], [1], shrink_axis_mask=1), 1)
        gradient = IndexedSlices(gradient, rows, shape)
    if gradient is None:
        rows = apply("ConcatV2", [[0], apply("Slice", shape, [1], [-1])], 0)
        values = apply("Fill", rows, convert_to_tensor(0, dtype=zeros_dtype(x)))
        return [values, convert_to_tensor([], dtype=dtypes.int64), apply("Cast", shape, DstT=dtypes.int64)]
    dense_shape = shape if gradient.dense_shape is None else gradient.dense_shape
    parts = [gradient.indices, dense_shape]
    return [gradient.values, *(p if p.dtype is dtypes.int64 else apply("Cast", p, DstT=dtypes.int64) for p in parts)]


def _brought_out(operation: Operation, branch: FuncGraph, index: int, t: Tensor) -> Tensor:
    """What stands outside for a value of a branch: an input of the node, or an output that is added for it."""
    place = branch.place_of(t)
    if place is not None:
        return operation.inputs[1 + place]
    added: dict[tuple[int, Tensor], int] = operation.__dict__.get("added_outputs", {})
    if (index, t) in added:
        return operation.outputs[added[index, t]]
    found = Tensor(operation, len(operation.outputs), t.dtype)
    found.dims, found.handle_data = t.dims, t.handle_data
    operation.outputs.append(found)
    # A new table: copies of the operation go on with the old one.
    operation.__dict__["added_outputs"] = {**added, (index, t): found.value_index}
    return found


def _return_added(operation: Operation) -> None:
    """Makes each branch return what the new outputs of the node stand for, and nothing of use for the others."""
    count = len(operation.attrs["Tout"])
    if len(operation.outputs) == count:
        return
    inside = {position: key for key, position in operation.__dict__["added_outputs"].items()}
    functions = []
    for index, name in enumerate(branch_names(operation)):
        branch = operation.graph._get_function(name).graph
        outputs = list(branch.outputs)
        with branch.home.as_default():
            for t in operation.outputs[count:]:
                owner, value = inside[t.value_index]
                outputs.append(value if owner == index else apply("FakeParam", dtype=t.dtype, shape=t.dims))
        functions.append(FunctionName(add_body(operation.graph, branch.variant(outputs), branch.name).name))
        supersede(operation.graph, name)
    if operation.type == "Case":
        operation.attrs["branches"] = functions
    else:
        operation.attrs["else_branch"], operation.attrs["then_branch"] = functions
    operation.attrs["Tout"] = [t.dtype for t in operation.outputs]
    operation.attrs["output_shapes"] = [t.dims for t in operation.outputs]
    operation.graph._changed()


for _name in ("If", "StatelessIf", "Case"):
    op(_name, gradient=gradient_of_choice)
