"""Control flow as graphs of version 1 hold it: Switch and Merge, and the frames of loops between Enter and Exit.

The runtime (everflow.runtime.frames) gives these ops their meaning when a plan is made; here are their shapes, and the functions
with which programs build such graphs by hand.
"""

from __future__ import annotations

import os
from typing import Any

from everflow.api import internal
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor, internal_convert_to_tensor
from everflow.graph.graph import Graph
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.operation import Operation
from everflow.graph.scopes import colocate_with, name_scope
from everflow.graph.shapes import with_rank
from everflow.graph.sparse_tensor import SparseTensor
from everflow.graph.tensor import Tensor
from everflow.ops.control_flow.bodies import merged_dims
from everflow.ops.control_flow.frame_op_types import BACK_EDGES, ENTERS, EXITS, FRAME_OPS, MANY_WAYS, MERGES, SWITCHES
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op


def _handed_on(operation: Operation) -> Any:
    operation.outputs[0].handle_data = operation.inputs[0].handle_data
    return operation.inputs[0].dims


def _entered(operation: Operation) -> Any:
    # What varies from one iteration to the next may change its shape.
    operation.outputs[0].handle_data = operation.inputs[0].handle_data
    return operation.inputs[0].dims if operation.attr("is_constant") else None


def _switched(operation: Operation) -> list[Any]:
    data, pred = operation.inputs
    if pred.dims is not None and pred.dims != ():
        raise ValueError(f"Shape must be rank 0 but is rank {len(pred.dims)}")
    for t in operation.outputs:
        t.handle_data = data.handle_data
    return [data.dims, data.dims]


def _switched_ways(operation: Operation) -> list[Any]:
    data, index = operation.inputs
    with_rank(index.dims, 0)
    for t in operation.outputs:
        t.handle_data = data.handle_data
    return [data.dims] * len(operation.outputs)


def _merged(operation: Operation) -> list[Any]:
    operation.outputs[0].handle_data = operation.inputs[0].handle_data
    return [merged_dims([t.dims for t in operation.inputs]), ()]


def _merge_gradient(operation: Operation, gradient: Any, *_: Any) -> list[Any]:
    if any(t is not operation.inputs[0] for t in operation.inputs):
        raise LookupError(f"No gradient defined for operation '{operation.name}' (op type: {operation.type})")
    return [gradient, *[None] * (len(operation.inputs) - 1)]


def _switch_gradient(operation: Operation, no: Any, yes: Any) -> list[Any]:
    """Of the output that is alive. (A conditional with a Merge is an If node by the time it is differentiated.)"""
    pred = operation.inputs[1]
    return [merge([switch(no, pred)[0], switch(yes, pred)[1]])[0], None]


def _first(node: Node) -> Any:
    return lambda x, *_: x


for _name in SWITCHES:
    op(_name, shape=_switched, gradient=_switch_gradient, by_runtime=True)
op(MANY_WAYS, shape=_switched_ways, by_runtime=True)
for _name in MERGES:
    # Both inputs of a Merge are the same where its conditional has been made an If node.
    op(_name, shape=_merged, gradient=_merge_gradient, by_runtime=True)
for _name in ENTERS:
    op(_name, shape=_entered, by_runtime=True)
for _name in EXITS:
    op(_name, shape=_handed_on, by_runtime=True)
for _name in BACK_EDGES:
    op(_name, shape=_handed_on, by_runtime=True)
op("LoopCond", kernel=_first, shape=lambda o: (), view=True)
op("ControlTrigger", kernel=lambda n: lambda: None)


def _abort(node: Node) -> Any:
    message, quietly = node.attr("error_msg"), node.attr("exit_without_error")

    def run() -> None:
        if quietly:
            os._exit(0)
        print(message, flush=True)
        os.abort()

    return run


op("Abort", kernel=_abort)


# -- the functions


def _as_is(value: Any, dtype: dtypes.DTypeLike | None = None, name: str | None = None) -> Any:
    """A tensor, a reference or a composite of tensors."""
    if isinstance(value, (IndexedSlices, SparseTensor)):
        return value
    return internal_convert_to_tensor(value, dtype, name, as_ref=True)


def _mapped(value: Any, function: Any) -> Any:
    """A composite of what a function makes of each of its tensors, with a word for the part."""
    if isinstance(value, SparseTensor):
        indices, values = function(value.indices, "indices"), function(value.values, "values")
        return SparseTensor(indices, values, function(value.dense_shape, "dense_shape"))
    shape = None if value.dense_shape is None else function(value.dense_shape, "dense_shape")
    return IndexedSlices(function(value.values, "values"), function(value.indices, "indices"), shape)


@internal("ops.control_flow_ops.switch")
def switch(data: Any, pred: Any, dtype: dtypes.DTypeLike | None = None, name: str | None = None) -> Any:
    """Hands `data` on to the second output where `pred` is true, to the first one otherwise; the other one stays dead."""
    with name_scope(name, "Switch", [data, pred]) as scope:
        data = _as_is(data, dtype, "data")
        pred = convert_to_tensor(pred, name="pred")
        if isinstance(data, Tensor):
            return apply("Switch", data, pred, name=scope)
        pairs: dict[str, Any] = {}
        first = _mapped(data, lambda t, part: pairs.setdefault(part, apply("Switch", t, pred, name=part))[0])
        return first, _mapped(data, lambda t, part: pairs[part][1])


@internal("ops.control_flow_ops._SwitchRefOrTensor")
def switch_reference(data: Any, pred: Any, name: str = "Switch") -> Any:
    """Like `switch`; a reference stays one."""
    data = _as_is(data)
    with colocate_with(data, ignore_existing=True):
        if isinstance(data, Tensor) and data.dtype._is_ref_dtype:
            return apply("RefSwitch", data, pred, name=name)
        return switch(data, pred, name=name)


@internal("ops.control_flow_ops.merge")
def merge(inputs: Any, name: str | None = None) -> Any:
    """The first of the inputs that is not dead, and which one it is."""
    if any(v is None for v in inputs):
        raise ValueError(f"At least one of the merge inputs is None: {inputs}")
    with name_scope(name, "Merge", inputs) as scope:
        inputs = [_as_is(v) for v in inputs]
        if all(isinstance(v, Tensor) for v in inputs):
            kind = "RefMerge" if all(v.dtype._is_ref_dtype for v in inputs) else "Merge"
            return apply(kind, inputs, name=scope)
        parts: dict[str, list[Tensor]] = {}

        def note(t: Tensor, part: str) -> Tensor:
            parts.setdefault(part, []).append(t)
            return t

        for v in _with_same_indices(inputs):
            _mapped(v, note)
        found = {part: apply("Merge", tensors, name=part) for part, tensors in parts.items()}
        chosen = _mapped(inputs[0], lambda t, part: found[part].output)
        return type(found["values"])(chosen, found["values"].value_index)


def _with_same_indices(inputs: list[Any]) -> list[Any]:
    """Slices of which all have indices of 64 bits where some have."""
    slices = [v for v in inputs if isinstance(v, IndexedSlices)]
    if len({v.indices.dtype for v in slices}) < 2:
        return inputs
    return [IndexedSlices(v.values, apply("Cast", v.indices, DstT=dtypes.int64), v.dense_shape) for v in slices]


@internal("ops.control_flow_ops._Enter")
def enter(
    data: Any,
    frame_name: str,
    is_constant: bool = False,
    parallel_iterations: int = 10,
    use_ref: bool = True,
    use_input_shape: bool = True,
    name: str | None = None,
) -> Any:
    """Hands `data` into a frame: at its first iteration, or at all of them where it is constant."""
    data = _as_is(data)

    def one(t: Tensor, name: str | None) -> Tensor:
        kind = "RefEnter" if t.dtype._is_ref_dtype and use_ref else "Enter"
        found = apply(kind, t, frame_name=frame_name, is_constant=is_constant, parallel_iterations=parallel_iterations, name=name)
        if use_input_shape:
            found.set_shape(t.get_shape())
        return found

    return one(data, name) if isinstance(data, Tensor) else _mapped(data, one)


def _one_to_one(data: Any, kind: str, name: str | None) -> Any:
    """An op that hands on a tensor, a reference, or each part of a composite."""

    def one(t: Tensor, name: str | None) -> Tensor:
        return apply(f"Ref{kind}" if t.dtype._is_ref_dtype else kind, t, name=name)

    data = _as_is(data)
    return one(data, name) if isinstance(data, Tensor) else _mapped(data, one)


@internal("ops.control_flow_ops.exit", "ops.control_flow_ops._Exit")
def exit(data: Any, name: str | None = None) -> Any:
    """Hands `data` out of its frame."""
    return _one_to_one(data, "Exit", name)


@internal("ops.control_flow_ops._NextIteration")
def next_iteration(data: Any, name: str | None = None) -> Any:
    """Hands `data` to the next iteration of its frame."""
    return _one_to_one(data, "NextIteration", name)


@internal("ops.control_flow_ops._Identity")
def identity(data: Any, name: str | None = None) -> Any:
    """The same tensor; a reference stays one."""
    return _one_to_one(data, "Identity", name)


def has_frames(graph: Graph) -> bool:
    """Whether a graph holds control flow of version 1."""
    if graph.building_function:
        return any(o.type in FRAME_OPS for o in graph._ops)
    # Ops are only ever added to a graph: what was looked at once need not be looked at again.
    count, found = graph.__dict__.get("looked_for_frames", (0, False))
    found = found or any(o.type in FRAME_OPS for o in graph._ops[count:])
    graph.__dict__["looked_for_frames"] = (len(graph._ops), found)
    return found
