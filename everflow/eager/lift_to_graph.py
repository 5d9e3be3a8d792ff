"""Copying a part of one graph into another, such as what initializes a variable out of the function that makes it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.graph.func_graph import FuncGraph
from everflow.graph.functions import called_functions, with_called
from everflow.graph.graph import Graph
from everflow.graph.operation import Operation
from everflow.graph.stacks import graphs
from everflow.graph.tensor import Tensor
from everflow.platform.identity import ObjectIdentityDictionary

_PLACEHOLDERS = ("Placeholder", "PlaceholderV2", "PlaceholderWithDefault")


@internal("eager.lift_to_graph.UnliftableError", "ops.op_selector.UnliftableError")
class UnliftableError(Exception):
    """A part of a graph needs something that no one gives it."""


@internal("eager.lift_to_graph.lift_to_graph")
def lift_to_graph(
    tensors: Any,
    graph: Graph,
    sources: Any = None,
    disallowed_placeholders: Any = None,
    add_sources: bool = False,
    handle_captures: bool = False,
    base_graph: Graph | None = None,
    op_map: Any = None,
) -> Any:
    """Copies tensors and all they are computed from into a graph; returns which ops and tensors became which.

    `sources` become placeholders there; so do placeholders with `add_sources`, and captured ones are captured anew with `handle_captures`.
    """
    wanted = [t for t in tensors if t is not None]
    copies = ObjectIdentityDictionary() if op_map is None else op_map
    base = base_graph or (wanted[0].graph if wanted else None)
    if base is None:
        return copies
    given = {id(t.op) for t in sources or ()}
    placed: list[Tensor] = [t for t in sources or () if t not in copies]
    needed: set[Operation] = set()
    for t in wanted:
        if t not in copies:
            needed |= _needed(t, given, copies, disallowed_placeholders, add_sources)
    ordered = [op for op in base.get_operations() if op in needed]
    added = {id(t) for t in placed}
    placed += [op.outputs[0] for op in ordered if op.type in _PLACEHOLDERS and id(op.outputs[0]) not in added]
    captured = {id(inside): outside for outside, inside in base.captures.items()} if isinstance(base, FuncGraph) else {}
    # Captures keep their order.
    added = {id(t) for t in placed}
    kept = base.internal_captures if isinstance(base, FuncGraph) else []
    placed = [t for t in kept if id(t) in added] + [t for t in placed if id(t) not in captured]
    with graphs.get_controller(graph):
        for t in placed:
            outside = captured.get(id(t)) if handle_captures and isinstance(graph, FuncGraph) else None
            copies[t] = _placeholder(graph, t, outside)
            copies[t.op] = copies[t].op
        for op in ordered:
            if op not in copies:
                copy_op(op, graph, copies)
    return copies


def _needed(tensor: Any, given: set[int], copies: Any, disallowed: Any, add_sources: bool) -> set[Operation]:
    """The ops that a tensor is computed by, up to what is given."""
    start = tensor if isinstance(tensor, Operation) else tensor.op
    came_from: dict[Operation, Operation | None] = {start: None}
    stack = [start]
    while stack:
        op = stack.pop()
        if id(op) in given or op in copies:
            continue
        refused = op.type in _PLACEHOLDERS[:2] if disallowed is None else op in disallowed
        if refused and not add_sources:
            raise UnliftableError(
                f"Unable to lift tensor {tensor!r} because it depends transitively on placeholder {op!r} via at least one path, e.g.: "
                + _path(op, came_from)
            )
        for before in _inputs(op):
            if before not in came_from:
                came_from[before] = op
                stack.append(before)
    return {op for op in came_from if id(op) not in given}


def _inputs(op: Operation) -> Iterable[Operation]:
    return [*(t.op for t in op.inputs), *op.control_inputs]


def _path(op: Operation, came_from: dict[Operation, Operation | None]) -> str:
    steps: list[str] = []
    at: Operation | None = op
    while at is not None:
        steps.append(f"{at.name} ({at.type})")
        at = came_from[at]
    return " <- ".join(reversed(steps))


def _placeholder(graph: Graph, tensor: Tensor, outside: Tensor | None) -> Tensor:
    """What stands in the graph for a tensor that comes from elsewhere."""
    if outside is not None and isinstance(graph, FuncGraph):
        found = graph.placeholder(tensor.dtype.base_dtype, tensor.dims, tensor.op.name, tensor.handle_data)
        graph.inputs.append(found)
        graph.captures[outside] = found
        return found
    with graph.waiting_for_nothing(), graph.name_scope(None):
        found = tf.placeholder(tensor.dtype.base_dtype, tensor.shape, name=tensor.op.name)
    found.handle_data = tensor.handle_data
    return found


def copy_op(op: Operation, graph: Graph, copies: Any) -> None:
    """Adds the same op to another graph, with the copies of its inputs; notes the copies of its outputs."""
    attrs = {key: value for key, value in op.attrs.items() if key != "_class"}
    with graph.waiting_for_nothing():
        copied = graph.add(
            op.op_def_,
            graph.unique_name(op.name),
            tuple(copies[t] for t in op.inputs),
            attrs,
            [t.dtype for t in op.outputs],
            infer_shapes=False,
        )
    copied._device = op._device or copied._device
    copied._add_control_inputs([copies[c] for c in op.control_inputs if c in copies])
    for name in called_functions(op):
        entry = op.graph._get_function(name)
        for inner_name, inner in with_called([entry] if entry is not None else []).items():
            graph._functions.setdefault(inner_name, inner)
    copies[op] = copied
    for t, c in zip(op.outputs, copied.outputs):
        c.dims, c.handle_data = t.dims, t.handle_data
        copies[t] = c
