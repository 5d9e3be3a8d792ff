"""Parts of variables at run time: rows and slices that are gathered, set, added to, ... in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.arrays.gathering import check_nd
from everflow.ops.arrays.scattering import as_signed
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.variables.handles import variable_shape
from everflow.ops.variables.variable_ops import apart, may_share, variable_dims
from everflow.values.resources import Storage


def _shown(x: Any) -> str:
    return shapes.describe(tuple(x.shape))


def checked_indices(indices: Any, size: int) -> Any:
    """Row indices in one line, as torch wants them; TensorFlow's error for one that is out of range."""
    flat = indices.reshape(-1).long()
    if flat.numel():
        low, high = torch.aminmax(flat)
        if low < 0 or high >= size:
            bad = int(torch.nonzero((flat < 0) | (flat >= size))[0])
            place = ",".join(map(str, np.unravel_index(bad, tuple(indices.shape))))
            raise invalid_argument(f"indices{f'[{place}]' if place else ''} = {int(flat[bad])} is not in [0, {size})")
    return flat


def _assign_rows(value: Any, rows: Any, updates: Any) -> None:
    if isinstance(value, np.ndarray):
        value[rows.numpy()] = updates
    else:
        as_signed(value).index_copy_(0, rows, as_signed(updates))


def _in_turn(combine: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any], None]:
    """Rows that are named twice are changed twice, one after the other."""

    def change(value: Any, rows: Any, updates: Any) -> None:
        if value.dtype in (torch.uint16, torch.uint32):
            # Torch computes little with these.
            wide = value.long()
            change(wide, rows, updates.long())
            value.copy_(wide)
            return
        if torch.unique(rows).numel() == rows.numel():
            value.index_copy_(0, rows, combine(value.index_select(0, rows), updates))
            return
        for row, update in zip(rows.tolist(), updates):
            value[row] = combine(value[row], update)

    return change


def _divide(x: Any, y: Any) -> Any:
    return torch.div(x, y) if x.is_floating_point() or x.is_complex() else torch.div(x, y, rounding_mode="trunc")


SCATTER = {
    "Update": _assign_rows,
    "Add": lambda value, rows, updates: as_signed(value).index_add_(0, rows, as_signed(updates)),
    "Sub": lambda value, rows, updates: as_signed(value).index_add_(0, rows, as_signed(updates), alpha=-1),
    "Mul": _in_turn(lambda x, y: x * y),
    "Div": _in_turn(_divide),
    "Min": _in_turn(lambda x, y: torch.minimum(x, y)),
    "Max": _in_turn(lambda x, y: torch.maximum(x, y)),
}


def _misshapen(slot: Storage, value: Any, indices: Any, updates: Any) -> Exception:
    if slot.is_ref:
        return invalid_argument(
            "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got updates.shape "
            f"{_shown(updates)}, indices.shape {_shown(indices)}, params.shape {_shown(value)}"
        )
    return invalid_argument(f"shape of indices ({_shown(indices)}) is not compatible with the shape of updates ({_shown(updates)})")


def _filled(updates: Any, dims: tuple[int, ...]) -> Any:
    """One number as updates of this shape."""
    return np.broadcast_to(updates, dims) if isinstance(updates, np.ndarray) else updates.expand(dims)


def _scattering(change: Callable[[Any, Any, Any], Any]) -> Callable[[Any], Any]:
    """A kernel that changes rows of a variable: `change(variable, row indices, rows)`."""

    def make(node: Node) -> Any:
        shares = may_share(node, 2)

        def run(slot: Storage, indices: Any, updates: Any) -> Storage:
            with slot.lock:
                value = slot.held()
                if not value.ndim:
                    raise invalid_argument("params must be at least 1-D, got shape []")
                if updates.ndim and tuple(updates.shape) != (*indices.shape, *value.shape[1:]):
                    raise _misshapen(slot, value, indices, updates)
                rows = checked_indices(indices, value.shape[0])
                count = rows.shape[0]
                if count:
                    dims = (count, *value.shape[1:])
                    updates = updates.reshape(dims) if updates.ndim else _filled(updates, dims)
                    change(value, rows, apart(updates, value) if shares else updates)
            return slot

        return run

    return make


def _is_resource(o: Operation) -> bool:
    return o.type.startswith("Resource")


def _whole_dims(o: Operation) -> Any:
    """The static shape of the variable that an op changes."""
    return variable_dims(o, o.inputs[2].dtype.base_dtype) if _is_resource(o) else o.inputs[0].dims


def _scatter_shape(o: Operation) -> Any:
    whole, indices, updates = _whole_dims(o), o.inputs[1].dims, o.inputs[2].dims
    if whole is not None and indices is not None and updates:
        shapes.merge(updates, indices + shapes.with_rank_at_least(whole, 1)[1:])  # type: ignore[index]
    return [] if _is_resource(o) else whole


for _name, _change in SCATTER.items():
    op(f"Scatter{_name}", kernel=_scattering(_change), shape=_scatter_shape, writes=True, rearranges=True, gradient=not_differentiable)
    op(
        f"ResourceScatter{_name}",
        kernel=_scattering(_change),
        shape=_scatter_shape,
        writes=True,
        rearranges=True,
        gradient=not_differentiable,
    )


def _check_slices(value: Any, indices: Any, updates: Any, depth: int, batch: int) -> None:
    if not value.ndim:
        raise invalid_argument(f"Output must be at least 1-D, got shape: {_shown(value)}")
    empty = [0 in x.shape for x in (value, indices, updates)]
    if any(empty) and not (empty[1] and empty[2]):
        raise invalid_argument(f"Indices and updates specified for empty output.  indices shape: {_shown(indices)}")
    fits = updates.shape[0] == indices.shape[0] if updates.ndim and indices.ndim else indices.ndim != 1
    if not fits:
        raise invalid_argument(
            f"The outermost dimension of updates and indices must match. Got indices.shape {_shown(indices)}, "
            f"updates.shape {_shown(updates)}"
        )
    if not indices.ndim or depth > value.ndim or tuple(updates.shape) != (*indices.shape[:batch], *value.shape[depth:]):
        raise invalid_argument(
            "Must have updates.shape = indices.shape[:batch_dim] + params_shape[slice_dim:], got updates.shape: "
            f"{_shown(updates)}, indices.shape: {_shown(indices)}, params_shape: {_shown(value)}, slice_dim: {depth}, "
            f"and batch_dim: {batch}"
        )


def _put(value: Any, indices: Any, updates: Any, how: str) -> None:
    where = tuple(indices.reshape(-1, indices.shape[-1]).long().unbind(-1))
    rows = updates.reshape((-1, *value.shape[len(where) :]))
    if isinstance(value, np.ndarray):
        at = tuple(w.numpy() for w in where)
        if how == "set":
            value[at] = rows
        else:
            np.add.at(value, at, rows)
        return
    value, rows = as_signed(value), as_signed(rows)
    value.index_put_(where, -rows if how == "subtract" else rows, accumulate=how != "set")


def _scattering_slices(how: str) -> Callable[[Any], Any]:
    """A kernel that sets, adds to or subtracts from slices of a variable at index vectors."""

    def make(node: Node) -> Any:
        shares = may_share(node, 2)

        def run(slot: Storage, indices: Any, updates: Any) -> Storage:
            with slot.lock:
                value = slot.held()
                deep = indices.ndim > 1
                depth = indices.shape[-1] if deep else 1
                _check_slices(value, indices, updates, depth, indices.ndim - 1 if deep else 1)
                if not deep:
                    # A bare vector counts as its first element alone.
                    indices, updates = indices.reshape(-1, 1)[:1], updates[:1]
                check_nd(indices, value.shape, "shape")
                if indices.numel():
                    _put(value, indices, apart(updates, value) if shares else updates, how)
            return slot

        return run

    return make


def _scatter_nd_shape(o: Operation) -> Any:
    whole, indices, updates = _whole_dims(o), o.inputs[1].dims, o.inputs[2].dims
    shapes.with_rank_at_least(indices, 1)
    shapes.with_rank_at_least(updates, 1)
    if indices is not None and updates is not None and whole is not None and indices[-1] is not None:
        outer, inner = len(indices) - 1, len(whole) - indices[-1]
        try:
            shapes.merge(indices[:-1], updates[:outer])
        except ValueError as e:
            raise ValueError(
                f"The outer {outer} dimensions of indices.shape={shapes.describe(indices)} must match the outer "
                f"{outer} dimensions of updates.shape={shapes.describe(updates)}: {e}"
            ) from None
        try:
            shapes.merge(whole[indices[-1] :], updates[outer:])
        except ValueError as e:
            raise ValueError(
                f"The inner {inner} dimensions of input.shape={shapes.describe(whole)} must match the inner "
                f"{len(updates) - outer} dimensions of updates.shape={shapes.describe(updates)}: {e}"
            ) from None
    return [] if _is_resource(o) else whole


for _name, _how in (("Update", "set"), ("Add", "add"), ("Sub", "subtract")):
    op(
        f"ScatterNd{_name}",
        kernel=_scattering_slices(_how),
        shape=_scatter_nd_shape,
        writes=True,
        rearranges=True,
        gradient=not_differentiable,
    )
    op(
        f"ResourceScatterNd{_name}",
        kernel=_scattering_slices(_how),
        shape=_scatter_nd_shape,
        writes=True,
        rearranges=True,
        gradient=not_differentiable,
    )


def _gather(node: Node) -> Any:
    batch = node.attr("batch_dims")

    def run(slot: Storage, indices: Any) -> Any:
        value = slot.held()
        if batch:
            return _gathered_by_batch(value, indices, batch)
        rows = checked_indices(indices, value.shape[0])
        if isinstance(value, np.ndarray):
            return value[rows.numpy()].reshape((*indices.shape, *value.shape[1:]))
        return value.index_select(0, rows).reshape((*indices.shape, *value.shape[1:]))

    return run


def _gathered_by_batch(value: Any, indices: Any, batch: int) -> Any:
    """Rows of each batch element: the leading axes of both are the batch."""
    batch += indices.ndim if batch < 0 else 0
    checked_indices(indices, value.shape[batch])
    lead = [torch.arange(n).reshape([n if i == axis else 1 for i in range(indices.ndim)]) for axis, n in enumerate(value.shape[:batch])]
    return value[(*lead, indices.long())]


def _gather_shape(o: Operation) -> Any:
    params, indices, batch = variable_dims(o, o.attr("dtype")), o.inputs[1].dims, o.attr("batch_dims")
    shapes.with_rank_at_least(params, 1)
    if params is None or indices is None:
        return None
    return indices + params[1 + (batch if batch >= 0 else batch + len(indices)) :]


def _gather_gradient(o: Operation, dy: Any) -> Any:
    """The rows of dy as they are, with the indices of the rows they belong to."""
    handle, indices = o.inputs
    whole: Any = variable_shape(handle)
    count = tf.expand_dims(tf.size(indices), 0)
    values = tf.reshape(dy, tf.concat([count, whole[1:]], 0))
    return tf.IndexedSlices(values, tf.reshape(indices, count), whole), None


op("ResourceGather", kernel=_gather, shape=_gather_shape, gradient=_gather_gradient, pure=True)


def _gather_nd(node: Node) -> Any:
    def run(slot: Storage, indices: Any) -> Any:
        value = slot.held()
        if not indices.ndim:
            raise invalid_argument("indices must be at least a vector")
        depth = indices.shape[-1]
        if depth > value.ndim:
            raise invalid_argument(f"index innermost dimension length must be <= params rank; saw: {depth} vs. {value.ndim}")
        if not depth:
            dims = (*indices.shape[:-1], *value.shape)
            return np.broadcast_to(value, dims).copy() if isinstance(value, np.ndarray) else value.expand(dims).clone()
        check_nd(indices, value.shape, "param shape")
        where = tuple(indices.long().unbind(-1))
        if isinstance(value, np.ndarray):
            return np.asarray(value[tuple(w.numpy() for w in where)], object)
        return value[where]

    return run


def _gather_nd_shape(o: Operation) -> Any:
    params, indices = variable_dims(o, o.attr("dtype")), o.inputs[1].dims
    shapes.with_rank_at_least(indices, 1)
    if params is None or indices is None or indices[-1] is None:
        return None
    if indices[-1] > len(params):
        raise ValueError(
            f"indices.shape[-1] must be <= params.rank, but saw indices shape: {shapes.describe(indices)} and params "
            f"shape: {shapes.describe(params)}"
        )
    return indices[:-1] + params[indices[-1] :]


def _gather_nd_gradient(o: Operation, dy: Any) -> Any:
    handle, indices = o.inputs
    whole = apply("VariableShape", handle, out_type=indices.dtype)
    if indices.dims is not None and len(indices.dims) == 2 and indices.dims[-1] == 1:
        return tf.IndexedSlices(dy, tf.squeeze(indices, axis=-1), whole), None
    return tf.scatter_nd(indices, dy, whole), None


op("ResourceGatherNd", kernel=_gather_nd, shape=_gather_nd_shape, gradient=_gather_nd_gradient)
