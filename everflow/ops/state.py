"""Variables at run time: storage, reads, assignments and scattered updates, for references and for resources."""
from __future__ import annotations

from typing import Any, Callable

from everflow.errors import invalid_argument, not_found, out_of_range
from everflow.graph import dtypes, shapes
from everflow.lazy import torch
from everflow.ops.registry import apply, not_differentiable, op
from everflow.ops.shape_rules import from_attr, same_as_input, scalar
from everflow.runtime.resources import Slot


def slot_of(node: Any, is_ref: bool) -> Slot:
    """The variable that a node stands for, one for each session and name."""
    name = node.attr("shared_name") or node.name
    dtype, dims = node.attr("dtype"), node.attr("shape")
    return node.context.resources.get(node.attr("container"), "variable", name, lambda: Slot(name, dtype, dims, is_ref))


def _variable(is_ref: bool) -> Callable[[Any], Any]:
    def make(node: Any) -> Any:
        slot = slot_of(node, is_ref)
        return lambda: slot

    return make


op("VariableV2", kernel=_variable(True), shape=from_attr(), gradient=not_differentiable)
op("Variable", kernel=_variable(True), shape=lambda o: o.attr("shape") or None, gradient=not_differentiable)


def _handle_shape(o: Any) -> Any:
    o.outputs[0].handle_data = (o.attr("shape"), o.attr("dtype"))
    return ()


op("VarHandleOp", kernel=_variable(False), shape=_handle_shape, gradient=not_differentiable)


def _temporary(node: Any) -> Any:
    name = node.attr("var_name") or node.name
    dtype, dims = node.attr("dtype"), node.attr("shape")

    def run() -> Slot:
        from everflow.runtime.values import torch_dtype

        slot = Slot(name, dtype, dims, True)
        slot.value = torch.zeros(dims, dtype=torch_dtype(dtype))
        return slot

    return run


op("TemporaryVariable", kernel=_temporary, shape=from_attr())
op("DestroyTemporaryVariable", kernel=lambda n: lambda slot: slot.read(), shape=same_as_input, writes=True)


def _assign(node: Any) -> Any:
    validate = node.attr("validate_shape")

    def run(slot: Slot, value: Any) -> Slot:
        if validate and slot.dims is not None and (len(slot.dims) != value.ndim or any(
                d is not None and d != s for d, s in zip(slot.dims, value.shape))):
            raise invalid_argument(
                "Assign requires shapes of both tensors to match. lhs shape= "
                f"{shapes.describe(slot.dims)} rhs shape= {shapes.describe(tuple(value.shape))}")
        slot.store(value)
        return slot

    return run


def _assign_shape(o: Any) -> Any:
    ref, value = o.inputs
    return shapes.merge(ref.dims, value.dims) if o.attr("validate_shape") else value.dims


op("Assign", kernel=_assign, shape=_assign_shape, gradient=not_differentiable, writes=True)


def updating(change: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """A kernel that changes a variable in place with a value of its shape."""

    def make(node: Any) -> Any:
        def run(slot: Slot, value: Any) -> Slot:
            current = slot.read()
            if current.shape != value.shape:
                raise invalid_argument(
                    f"{node.type}: shapes of the variable and the value differ: "
                    f"{shapes.describe(tuple(current.shape))} vs. {shapes.describe(tuple(value.shape))}")
            change(current, value)
            return slot

        return run

    return make


op("AssignAdd", kernel=updating(lambda v, x: v.add_(x)), shape=lambda o: shapes.merge(o.inputs[0].dims, o.inputs[1].dims),
   gradient=not_differentiable, writes=True)
op("AssignSub", kernel=updating(lambda v, x: v.sub_(x)), shape=lambda o: shapes.merge(o.inputs[0].dims, o.inputs[1].dims),
   gradient=not_differentiable, writes=True)


def _resource_shape(o: Any) -> Any:
    data = o.inputs[0].handle_data
    return None if data is None else data[0]


op("ReadVariableOp", kernel=lambda n: lambda slot: slot.read(), shape=_resource_shape, gradient=lambda o, dy: dy)


def _assign_variable(node: Any) -> Any:
    def run(slot: Slot, value: Any) -> None:
        slot.store(value)

    return run


def _checked_value(o: Any) -> list[Any]:
    data = o.inputs[0].handle_data
    if data is not None:
        shapes.merge(data[0], o.inputs[1].dims)
    return []


op("AssignVariableOp", kernel=_assign_variable, shape=_checked_value, writes=True)
op("AssignAddVariableOp", kernel=updating(lambda v, x: v.add_(x)), shape=_checked_value, writes=True, gradient=not_differentiable)
op("AssignSubVariableOp", kernel=updating(lambda v, x: v.sub_(x)), shape=_checked_value, writes=True, gradient=not_differentiable)
op("VarIsInitializedOp", kernel=lambda n: lambda slot: torch.tensor(slot.value is not None), shape=scalar, gradient=not_differentiable)
op("IsVariableInitialized", kernel=lambda n: lambda slot: torch.tensor(slot.value is not None), shape=scalar, gradient=not_differentiable)


def _variable_shape(node: Any) -> Any:
    dtype = torch.int64 if node.attr("out_type") is dtypes.int64 else torch.int32
    return lambda slot: torch.tensor(slot.read().shape, dtype=dtype)


op("VariableShape", kernel=_variable_shape, gradient=not_differentiable,
   shape=lambda o: (None,) if not o.inputs[0].handle_data or o.inputs[0].handle_data[0] is None else (len(o.inputs[0].handle_data[0]),))


def _destroy(node: Any) -> Any:
    ignore = node.attr("ignore_lookup_error")

    def run(slot: Slot) -> None:
        if slot.value is None and not ignore:
            raise not_found(f"Resource localhost/{slot.name}/N10tensorflow3VarE does not exist.")
        slot.value = None

    return run


op("DestroyResourceOp", kernel=_destroy, shape=lambda o: [], writes=True)


def _count_up_to(node: Any) -> Any:
    limit = node.attr("limit")

    def run(slot: Slot) -> Any:
        with slot.lock:
            value = slot.read()
            if value >= limit:
                raise out_of_range(f"Reached limit of {limit}")
            before = value.clone()
            value.add_(1)
            return before

    return run


op("CountUpTo", kernel=_count_up_to, shape=scalar, writes=True, gradient=not_differentiable)
op("ResourceCountUpTo", kernel=_count_up_to, shape=scalar, writes=True, gradient=not_differentiable)


def checked_indices(indices: Any, size: int) -> Any:
    """Row indices as torch wants them; TensorFlow's error for one that is out of range."""
    flat = indices.reshape(-1).long()
    if flat.numel():
        low, high = torch.aminmax(flat)
        if low < 0 or high >= size:
            bad = int(torch.nonzero((flat < 0) | (flat >= size))[0])
            position = ", ".join(str(int(i)) for i in torch.unravel_index(torch.tensor(bad), indices.shape)) if indices.ndim else ""
            raise invalid_argument(f"indices{f'[{position}]' if indices.ndim else ''} = {int(flat[bad])} is not in [0, {size})")
    return flat


def _scattering(change: Callable[[Any, Any, Any], Any]) -> Callable[[Any], Any]:
    """A kernel that changes rows of a variable: `change(variable, row indices, rows)`."""

    def make(node: Any) -> Any:
        def run(slot: Slot, indices: Any, updates: Any) -> Slot:
            value = slot.read()
            rows = checked_indices(indices, value.shape[0])
            tail = tuple(value.shape[1:])
            if updates.ndim == 0:
                updates = updates.expand(rows.shape[0], *tail)
            elif tuple(updates.shape) != (*indices.shape, *tail):
                raise invalid_argument(
                    "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got updates.shape "
                    f"{shapes.describe(tuple(updates.shape))}, indices.shape {shapes.describe(tuple(indices.shape))}, params.shape "
                    f"{shapes.describe(tuple(value.shape))}")
            if rows.numel():
                change(value, rows, updates.reshape(rows.shape[0], *tail))
            return slot

        return run

    return make


def _in_turn(combine: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any], None]:
    """Rows that are named twice are changed twice, one after the other."""

    def change(value: Any, rows: Any, updates: Any) -> None:
        if torch.unique(rows).numel() == rows.numel():
            value[rows] = combine(value[rows], updates)
            return
        for i, row in enumerate(rows.tolist()):
            value[row] = combine(value[row], updates[i])

    return change


def _assign_rows(value: Any, rows: Any, updates: Any) -> None:
    value[rows] = updates


def _divide(x: Any, y: Any) -> Any:
    return torch.div(x, y) if x.is_floating_point() or x.is_complex() else torch.div(x, y, rounding_mode="trunc")


SCATTER = {
    "Update": _assign_rows,
    "Add": lambda value, rows, updates: value.index_add_(0, rows, updates),
    "Sub": lambda value, rows, updates: value.index_add_(0, rows, updates, alpha=-1),
    "Mul": _in_turn(lambda x, y: x * y),
    "Div": _in_turn(_divide),
    "Min": _in_turn(lambda x, y: torch.minimum(x, y)),
    "Max": _in_turn(lambda x, y: torch.maximum(x, y)),
}


def _scatter_shape(o: Any) -> Any:
    ref, indices, updates = (t.dims for t in o.inputs)
    if o.type.startswith("Resource"):
        data = o.inputs[0].handle_data
        ref = data[0] if data is not None else None
    if ref is not None and indices is not None and updates:
        shapes.merge((*indices, *ref[1:]), updates)
    return [] if o.type.startswith("Resource") else ref


for _name, _change in SCATTER.items():
    op(f"Scatter{_name}", kernel=_scattering(_change), shape=_scatter_shape, writes=True, gradient=not_differentiable)
    op(f"ResourceScatter{_name}", kernel=_scattering(_change), shape=_scatter_shape, writes=True, gradient=not_differentiable)


def _resource_gather(node: Any) -> Any:
    def run(slot: Slot, indices: Any) -> Any:
        value = slot.read()
        rows = checked_indices(indices, value.shape[0])
        return value.index_select(0, rows).reshape(*indices.shape, *value.shape[1:])

    return run


def _gather_shape(o: Any) -> Any:
    params, indices = _resource_shape(o), o.inputs[1].dims
    return None if params is None or indices is None else (*indices, *params[1:])


def _gather_gradient(o: Any, dy: Any) -> Any:
    from everflow.graph.indexed_slices import IndexedSlices

    handle, indices = o.inputs
    params_shape = apply("VariableShape", handle)
    size = apply("ExpandDims", apply("Size", indices), 0)
    tail = apply("StridedSlice", params_shape, [1], [0], [1], end_mask=1)
    values = apply("Reshape", dy, apply("ConcatV2", [size, tail], 0))
    return IndexedSlices(values, apply("Reshape", indices, size), params_shape), None


op("ResourceGather", kernel=_resource_gather, shape=_gather_shape, gradient=_gather_gradient)
