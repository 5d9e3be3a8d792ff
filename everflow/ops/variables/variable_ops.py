"""Variables at run time: storage, reads and assignments, for references and for resources."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

from everflow.errors import already_exists, failed_precondition, invalid_argument, not_found, out_of_range
from everflow.graph import dtypes, shapes
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import fused_op, not_differentiable, op
from everflow.ops.core.shape_rules import from_attr, same_as_input, scalar
from everflow.values.resources import Storage, copied
from everflow.values.tensors import torch_dtype


def slot_of(node: Node, is_ref: bool) -> Storage:
    """The variable that a node stands for, one for each session and name."""
    name, container = node.attr("shared_name") or node.name, node.attr("container")
    dtype, dims = node.attr("dtype"), node.attr("shape")
    if node.type == "Variable" and not dims:
        dims = None
    if is_ref and dims is not None and None in dims:
        raise invalid_argument(f"Shape {shapes.describe(dims)} is not fully defined")
    return _slot(node.context.resources, container, name, dtype, dims, is_ref)


def _slot(resources: Any, container: str, name: str, dtype: dtypes.DType, dims: Any, is_ref: bool) -> Storage:
    slot = resources.get(container, "variable", name, lambda: Storage(name, dtype, dims, is_ref, container, resources))
    if slot.dtype != dtype:
        raise invalid_argument(f"Trying to share variable {name}, but specified dtype {dtype.name} and found dtype {slot.dtype.name}.")
    return slot


def _variable(is_ref: bool) -> Callable[[Any], Any]:
    def make(node: Node) -> Any:
        slot = slot_of(node, is_ref)
        return lambda: slot

    return make


op("VariableV2", kernel=_variable(True), shape=from_attr(), gradient=not_differentiable, pure=True, variable=True, bound=True)
op(
    "Variable",
    kernel=_variable(True),
    shape=lambda o: o.attr("shape") or None,
    gradient=not_differentiable,
    pure=True,
    variable=True,
    bound=True,
)


def _handle_shape(o: Operation) -> Any:
    o.outputs[0].handle_data = (o.attr("shape"), o.attr("dtype"))
    return ()


op("VarHandleOp", kernel=_variable(False), shape=_handle_shape, gradient=not_differentiable, pure=True, variable=True, bound=True)


def _variables(node: Node) -> Any:
    described = zip(node.attr("containers"), node.attr("shared_names"), node.attr("dtypes"), node.attr("shapes"))
    slots = [_slot(node.context.resources, *one, is_ref=False) for one in described]
    return lambda: slots[0] if len(slots) == 1 else slots


def _handle_shapes(o: Operation) -> Any:
    for t, *data in zip(o.outputs, o.attr("shapes"), o.attr("dtypes")):
        t.handle_data = tuple(data)
    return [()] * len(o.outputs)


op("_VarHandlesOp", kernel=_variables, shape=_handle_shapes, pure=True)


# The temporary variables of the steps under way, by thread and name. A step that fails lets go of its own.
_temporaries: weakref.WeakValueDictionary[tuple[int, str], Storage] = weakref.WeakValueDictionary()


def _temporary(node: Node) -> Any:
    name = node.attr("var_name") or node.name
    dtype, dims = node.attr("dtype"), node.attr("shape")

    def run() -> Storage:
        key = (threading.get_ident(), name)
        if key in _temporaries:
            raise already_exists(f"TemporaryVariable {name} already exists in this step")
        slot = _temporaries[key] = Storage(name, dtype, dims, True)
        slot.value = torch.zeros(dims, dtype=torch_dtype(dtype))
        return slot

    return run


def _destroy_temporary(node: Node) -> Any:
    name = node.attr("var_name")

    def run(slot: Storage) -> Any:
        if _temporaries.pop((threading.get_ident(), name), None) is None:
            raise not_found(f"Could not find temporary variable {name}")
        return slot.read()

    return run


op("TemporaryVariable", kernel=_temporary, shape=from_attr(), variable=True)
op("DestroyTemporaryVariable", kernel=_destroy_temporary, shape=same_as_input, writes=True)


def may_share(node: Node, index: int) -> bool:
    """Whether an input may be a view of a variable's memory, other than the whole of it."""
    meaning = node.inputs[index].node.meaning
    return meaning is None or meaning.view


def apart(value: Any, current: Any) -> Any:
    """The value, copied where it lies in the memory that is about to change."""
    if hasattr(current, "copy_") and value is not current:
        if value.untyped_storage().data_ptr() == current.untyped_storage().data_ptr():
            return value.clone()
    return value


def _storing(node: Node) -> Callable[[Storage, Any], None]:
    if not may_share(node, 1):
        return Storage.store
    return lambda slot, value: slot.store(apart(value, slot.value))


def _assign(node: Node) -> Any:
    return _assigning(node, _storing(node))


def _assigning(node: Node, store: Callable[[Storage, Any], None]) -> Any:
    if not node.attr("validate_shape"):

        def run_unchecked(slot: Storage, value: Any) -> Storage:
            store(slot, value)
            return slot

        return run_unchecked

    def run(slot: Storage, value: Any) -> Storage:
        dims = slot.dims if slot.value is None else tuple(slot.value.shape)
        if dims is not None and dims != tuple(value.shape):
            raise invalid_argument(
                f"Assign requires shapes of both tensors to match. lhs shape= {shapes.describe(dims)} rhs shape= "
                f"{shapes.describe(tuple(value.shape))}"
            )
        store(slot, value)
        return slot

    return run


def _assign_shape(o: Operation) -> Any:
    ref, value = o.inputs
    return shapes.merge(ref.dims, value.dims) if o.attr("validate_shape") else value.dims


op(
    "Assign",
    kernel=_assign,
    shape=_assign_shape,
    gradient=not_differentiable,
    writes=True,
    taking="_AssignRestored",
    beginning="_AssignComputed",
)
fused_op("_AssignRestored", kernel=lambda node: _assigning(node, Storage.take), writes=True)
fused_op("_AssignComputed", kernel=lambda node: _assigning(node, Storage.begin), writes=True)


SIGNED = {"uint16": "int16", "uint32": "int32", "uint64": "int64"}


def updating(change: Callable[[Any, Any], Any], is_apart: bool = False) -> Callable[[Any], Any]:
    """A kernel that changes a variable in place with a value of its shape, of which may be known that it is no part of a variable."""

    def make(node: Node) -> Any:
        shares = not is_apart and may_share(node, 1)

        # Torch hardly computes with unsigned words, and sums of signed ones have the same bits.
        signed = SIGNED.get(node.inputs[1].dtype.base_dtype.name)

        def run(slot: Storage, value: Any) -> Storage:
            with slot.lock:
                current = slot.held()
                if signed is not None:
                    current, value = current.view(getattr(torch, signed)), value.view(getattr(torch, signed))
                if current.shape != value.shape:
                    raise invalid_argument(
                        "Parameters and update must be the same size"
                        if slot.is_ref
                        else f"Cannot update variable with shape {shapes.describe(tuple(current.shape))} using a Tensor "
                        f"with shape {shapes.describe(tuple(value.shape))}, shapes must be equal."
                    )
                change(current, apart(value, current) if shares else value)
            return slot

        return run

    return make


def _merged(o: Operation) -> Any:
    return shapes.merge(o.inputs[0].dims, o.inputs[1].dims)


op("AssignAdd", kernel=updating(lambda v, x: v.add_(x)), shape=_merged, gradient=not_differentiable, writes=True, adds=1.0)
op("AssignSub", kernel=updating(lambda v, x: v.sub_(x)), shape=_merged, gradient=not_differentiable, writes=True, adds=-1.0)


def _adding_scaled(node: Node) -> Any:
    """Adds a value, which is no part of a variable, times a number."""
    alpha = node.attr("alpha")
    return updating(lambda v, x: v.add_(x, alpha=alpha), is_apart=True)(node)


fused_op("_AssignScaled", kernel=_adding_scaled, writes=True)


# As shape errors spell types.
_SPELLED = {"float16": "half", "float32": "float", "float64": "double"}


def variable_dims(o: Operation, dtype: Any, index: int = 0) -> Any:
    """The static shape of the variable behind an op's handle, which must hold elements of this type."""
    data = o.inputs[index].handle_data
    if data is None:
        return None
    dims, held = data
    if held != dtype:
        expected, got = (_SPELLED.get(t.name, t.name) for t in (held, dtype))
        raise ValueError(f"Trying to read variable with wrong dtype. Expected {expected} got {got}")
    return dims


op(
    "ReadVariableOp",
    kernel=lambda n: lambda slot: slot.read(),
    shape=lambda o: variable_dims(o, o.attr("dtype")),
    gradient=lambda o, dy: dy,
    pure=True,
    views_variable=True,
)


def _read_several(node: Node) -> Any:
    def run(*slots: Storage) -> Any:
        empty = [slot.name for slot in slots if slot.value is None]
        if empty:
            raise failed_precondition(f"In ReadVariablesOp the following variables were found uninitialized: {', '.join(empty)}")
        # Each as it is now, whatever is written while the others are read.
        found = [copied(slot.read()) for slot in slots]
        return found[0] if len(found) == 1 else found

    return run


op(
    "_ReadVariablesOp",
    kernel=_read_several,
    shape=lambda o: [variable_dims(o, dtype, i) for i, dtype in enumerate(o.attr("dtypes"))],
    pure=True,
)


def _fits_variable(o: Operation) -> list[Any]:
    shapes.merge(variable_dims(o, o.inputs[1].dtype.base_dtype), o.inputs[1].dims)
    return []


op(
    "AssignVariableOp",
    kernel=_storing,
    shape=_fits_variable,
    writes=True,
    taking="_AssignVariableOpRestored",
    beginning="_AssignVariableOpComputed",
)
fused_op("_AssignVariableOpRestored", kernel=lambda node: Storage.take, writes=True)
fused_op("_AssignVariableOpComputed", kernel=lambda node: Storage.begin, writes=True)
op("AssignAddVariableOp", kernel=updating(lambda v, x: v.add_(x)), shape=_fits_variable, writes=True, gradient=not_differentiable, adds=1.0)
op(
    "AssignSubVariableOp",
    kernel=updating(lambda v, x: v.sub_(x)),
    shape=_fits_variable,
    writes=True,
    gradient=not_differentiable,
    adds=-1.0,
)


def _has_value(node: Node) -> Any:
    return lambda slot: torch.tensor(slot.value is not None)


op("VarIsInitializedOp", kernel=_has_value, shape=scalar, gradient=not_differentiable, pure=True)
op("IsVariableInitialized", kernel=_has_value, shape=scalar, gradient=not_differentiable, pure=True)


def _variable_shape(node: Node) -> Any:
    dtype = torch.int64 if node.attr("out_type") is dtypes.int64 else torch.int32
    return lambda slot: torch.tensor(slot.held().shape, dtype=dtype)


def _shape_of_shape(o: Operation) -> Any:
    data = o.inputs[0].handle_data
    return (None,) if data is None or data[0] is None else (len(data[0]),)


op("VariableShape", kernel=_variable_shape, gradient=not_differentiable, shape=_shape_of_shape, pure=True)


def _destroy(node: Node) -> Any:
    ignore = node.attr("ignore_lookup_error")

    def run(slot: Storage) -> None:
        if not ignore and slot.value is None:
            message = slot.missing().replace("N10tensorflow3VarE", "<unknown>")
            raise not_found(message.partition(" (Could")[0])
        slot.forget()

    return run


op("DestroyResourceOp", kernel=_destroy, shape=lambda o: [], writes=True)


def _count_up_to(node: Node) -> Any:
    limit = node.attr("limit")

    def run(slot: Storage) -> Any:
        with slot.lock:
            value = slot.held()
            if value >= limit:
                raise out_of_range(f"Reached limit of {limit}")
            before = copied(value)
            value.add_(1)
            return before

    return run


def _counter_shape(o: Operation) -> Any:
    shapes.with_rank(o.inputs[0].dims if o.type == "CountUpTo" else variable_dims(o, o.attr("T")), 0)
    return ()


op("CountUpTo", kernel=_count_up_to, shape=_counter_shape, writes=True, gradient=not_differentiable)
op("ResourceCountUpTo", kernel=_count_up_to, shape=_counter_shape, writes=True, gradient=not_differentiable)
