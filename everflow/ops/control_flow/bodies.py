"""What conditionals and loops share: finishing bodies, giving them the same captures, handing structures in and out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from everflow import nest
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.func_graph import VARIABLE_OPS, FuncGraph, function_targets
from everflow.graph.functions import called_functions, written_variables
from everflow.graph.graph import Graph
from everflow.graph.keys import GraphKeys
from everflow.graph.operation import Operation
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.lazy import torch
from everflow.ops.core.registry import apply
from everflow.ops.lists.list_objects import TensorList
from everflow.values.tensors import is_numeric, torch_dtype

# Stateful ops that do nothing by themselves.
WITHOUT_EFFECT = ("Placeholder", "VarHandleOp", "VariableV2")
# Ops that take a reference and do not write through it.
READING = ("Identity", "IsVariableInitialized")


def is_tensor_array(value: Any) -> bool:
    """Whether a value is a TensorArray: in loops and branches its flow stands for it."""
    return hasattr(value, "flow") and hasattr(value, "handle") and hasattr(value, "scatter")


def flatten(structure: Any) -> list[Any]:
    """The leaves of a structure, sparse and ragged tensors taken apart."""
    return nest.flatten(structure, expand_composites=True)


def packed(structure: Any, tensors: Iterable[Tensor]) -> Any:
    """Tensors in the places of a structure's leaves; a TensorArray gets its new flow."""
    leaves = []
    for leaf, t in zip(flatten(structure), tensors):
        leaves.append(with_flow(leaf, t) if is_tensor_array(leaf) else t)
    return nest.pack_sequence_as(structure, leaves, expand_composites=True)


def with_flow(array: Any, flow: Tensor) -> Any:
    """The same TensorArray, with another flow."""
    from everflow.ops.lists.tensor_array_functions import build_ta_with_new_flow

    return build_ta_with_new_flow(array, flow)


def as_output(value: Any, stand_in: Callable[[Operation], Tensor]) -> Tensor:
    """What a body returns, as a tensor: an operation becomes `stand_in` of it, a TensorArray its flow."""
    if isinstance(value, Operation):
        return stand_in(value)
    if is_tensor_array(value):
        value = value.flow
    # A variable's own read is outside of the body.
    t = get_default_graph().own(convert_to_tensor(value))
    # A reference is read when the body ends.
    return apply("Identity", t) if t.dtype._is_ref_dtype else t


def share_captures(bodies: list[FuncGraph], keep: int = 0) -> list[Tensor]:
    """Gives all bodies the same captured inputs, after their first `keep` inputs; returns what is captured."""
    captured = list(dict.fromkeys(t for body in bodies for t in body.captures))
    for body in bodies:
        arguments = body.inputs[:keep]
        for t in captured:
            if t not in body.captures:
                body.add_capture(t)
        body.inputs = arguments + [body.captures[t] for t in captured]
    return captured


def control_captures(bodies: list[FuncGraph]) -> list[Operation]:
    """The ops outside that the ops of the bodies wait for."""
    return list(dict.fromkeys(op for body in bodies for op in body.control_captures))


def and_its_summaries(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a body's function returns, once the summaries are written that it makes with a writer: nobody else can ask for those."""
    made = get_default_graph().get_collection_ref(GraphKeys._SUMMARY_COLLECTION)
    count = len(made)
    found = function(*arguments)
    written = made[count:]
    if not written or found is None:
        return found
    del made[count:]

    def later(value: Any) -> Any:
        if isinstance(value, Operation):
            return apply("NoOp")
        return value if is_tensor_array(value) else apply("Identity", convert_to_tensor(value))

    with get_default_graph().control_dependencies([*written, *(v for v in nest.flatten(found) if isinstance(v, Operation))]):
        return nest.map_structure(later, found, expand_composites=True)


def finish(parts: list[FuncGraph], outer: Graph, keeps_effects: bool) -> None:
    """Ends the building of a branch, or of a loop's condition and body.

    Ops with effects that no output needs run only where the caller keeps them. Reference variables that none of the parts
    writes are read once, outside.
    """
    for body in parts:
        if keeps_effects:
            operations = body.get_operations()
            body.control_outputs = [o for o in operations if o.op_def_.is_stateful and o.type not in WITHOUT_EFFECT]
        else:
            body.drop_unused()
        body.prunes_effects = not keeps_effects
        outer._version = max(outer._version, body._version)
    written = {key for body in parts for key in _written(body)}
    for body in parts:
        body.settle_reads(lambda variable: variable_key(variable) in written)


def inputs_behind(body: FuncGraph, outputs: Iterable[Tensor]) -> list[int]:
    """The positions of the inputs that some outputs of a body, and the effects that always happen, depend on."""
    position = {t.op: k for k, t in enumerate(body.inputs)}
    seen: set[Operation] = set()
    stack = [*(t.op for t in outputs), *function_targets(body)]
    while stack:
        op = stack.pop()
        if op not in seen:
            seen.add(op)
            stack.extend(t.op for t in op.inputs)
            stack.extend(op.control_inputs)
    return [k for op, k in position.items() if op in seen]


def variable_key(operation: Operation) -> tuple[str, str]:
    """The container and the name by which a variable is found at run time."""
    return operation.attrs.get("container") or "", operation.attrs.get("shared_name") or operation.name


def _written(body: FuncGraph) -> Iterator[tuple[str, str]]:
    for operation in body.get_operations():
        yield from written_variables(body, called_functions(operation))
        for t in operation.inputs:
            if t.dtype._is_ref_dtype and t.op.type in VARIABLE_OPS and operation.type not in READING:
                yield variable_key(t.op)


def is_stateful(bodies: list[FuncGraph]) -> bool:
    """Whether any op of the bodies has state or effects."""
    return any(op.op_def_.is_stateful or any(a.is_ref for a in op.op_def_.inputs) for body in bodies for op in body.get_operations())


def truth(value: Any) -> bool:
    """Whether a run-time predicate counts as true: a nonzero number, a string or array that is not empty."""
    if hasattr(value, "numel"):
        return bool(value) if value.ndim == 0 else value.numel() > 0
    if hasattr(value, "ndim"):
        return bool(value.item()) if value.ndim == 0 else value.size > 0
    return bool(value)


def merged_dims(dims: list[Any]) -> Any:
    """What is known of a shape that is one of several."""
    if any(d is None for d in dims) or len({len(d) for d in dims}) != 1:
        return None
    return tuple(sizes[0] if all(s == sizes[0] for s in sizes) else None for sizes in zip(*dims))


def placeholder_value(dtype: dtypes.DType) -> Any:
    """A run-time value for an output that nobody will look at."""
    if is_numeric(dtype):
        return torch.empty((0,), dtype=torch_dtype(dtype))
    if dtype.base_dtype is dtypes.variant:
        return TensorList([], dtypes.float32, None)
    return np.empty((0,), dtype=object) if dtype.base_dtype is dtypes.string else None


def is_within(inner: Any, outer: Any) -> bool:
    """Whether a shape says at least as much as another."""
    if outer is None:
        return True
    return inner is not None and len(inner) == len(outer) and all(o is None or i == o for i, o in zip(inner, outer))
