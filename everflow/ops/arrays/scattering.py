"""Updates written to elements and slices chosen by index vectors: scatter_nd, tensor_scatter_update, ..."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.constants import dims_of
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.arrays.gathering import check_nd
from everflow.ops.arrays.reshaping import as_signed, is_text, shown
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op

Kernel = Callable[..., Any]


def _flat_index(indices: Any, dims: Any) -> Any:
    """Index vectors as positions in the leading dimensions taken together."""
    at, *rest = indices.long().reshape(-1, indices.shape[-1]).unbind(-1)
    for coordinate, size in zip(rest, dims[1:]):
        at = at * size + coordinate
    return at


def _check_scatter(indices: Any, updates: Any, dims: tuple[int, ...]) -> None:
    if not math.prod(dims) and (indices.numel() or updates.numel()):
        raise invalid_argument("Indices and updates specified for empty output shape")
    depth = indices.shape[-1] if indices.ndim else 1
    outer = tuple(indices.shape[:-1])
    if updates.ndim < len(outer) or tuple(updates.shape[: len(outer)]) != outer:
        raise invalid_argument(
            f"Outer dimensions of indices and update must match. Indices shape: {shown(indices.shape)}, updates shape:"
            f"{shown(updates.shape)}"
        )
    if len(dims) - depth != updates.ndim - len(outer):
        raise invalid_argument(
            f"Inner dimensions of output shape must match inner dimensions of updates shape. Output: {shown(dims)} "
            f"updates: {shown(updates.shape)}"
        )
    if tuple(updates.shape[len(outer) :]) != dims[depth:]:
        inner = len(dims) - depth
        raise invalid_argument(
            f"The inner {inner} dimensions of output.shape={shown(dims)} must match the inner {inner} dimensions of "
            f"updates.shape={shown(updates.shape)}"
        )
    check_nd(indices, dims, "shape")


def put(into: Any, indices: Any, updates: Any, how: str) -> Any:
    """Writes updates into a fresh contiguous tensor at index vectors: sets, adds or subtracts them."""
    dims = tuple(into.shape)
    if not indices.ndim:
        indices = indices.reshape(1)
    _check_scatter(indices, updates, dims)
    if isinstance(into, np.ndarray):
        for at, value in zip(indices.reshape(-1, indices.shape[-1]).tolist(), updates.reshape((-1, *dims[indices.shape[-1] :]))):
            into[tuple(at)] = value if how == "set" else into[tuple(at)] + value
        return into
    if not updates.numel():
        return into
    depth = indices.shape[-1]
    inner = dims[depth:]
    target = as_signed(into).reshape((-1, *inner)) if depth else as_signed(into).unsqueeze(0)
    rows = as_signed(updates).reshape((-1, *inner))
    at = _flat_index(indices, dims) if depth else torch.zeros(len(rows), dtype=torch.int64, device=into.device)
    if how == "set":
        target.index_copy_(0, at, rows)
    else:
        target.index_add_(0, at, rows if rows.dtype is target.dtype else rows.to(target.dtype), alpha=1 if how == "add" else -1)
    return into


def _scatter_nd(node: Node) -> Kernel:
    text = is_text(node, 1)

    def run(indices: Any, updates: Any, sizes: Any) -> Any:
        dims = sizes.tolist()
        return put(np.full(dims, b"", object) if text else updates.new_zeros(dims), indices, updates, "add")

    return run


def scattered_dims(indices: Any, updates: Any, whole: Any) -> Any:
    """The dims of a tensor into which is scattered, after checking what is known of the three shapes."""
    if shapes.num_elements(whole) == 0 and (shapes.num_elements(indices) or shapes.num_elements(updates)):
        raise ValueError("Indices and updates specified for empty output shape")
    if whole is None or updates is None or not indices or indices[-1] is None:
        return whole
    outer, inner = len(indices) - 1, len(whole) - indices[-1]
    shown_updates = shapes.describe(updates)
    try:
        shapes.merge(indices[:-1], updates[:outer])
    except ValueError as e:
        raise ValueError(
            f"The outer {outer} dimensions of indices.shape={shapes.describe(indices)} must match the "
            f"outer {outer} dimensions of updates.shape={shown_updates}: {e}"
        ) from None
    try:
        shapes.merge(whole[indices[-1] :], updates[outer:])
    except ValueError as e:
        raise ValueError(
            f"The inner {inner} dimensions of output.shape={shapes.describe(whole)} must match the inner "
            f"{len(updates) - outer} dimensions of updates.shape={shown_updates}: {e}"
        ) from None
    return whole


op(
    "ScatterNd",
    kernel=_scatter_nd,
    shape=lambda o: scattered_dims(o.inputs[0].dims, o.inputs[1].dims, dims_of(o.inputs[2])),
    gradient=lambda o, dy: [None, tf.gather_nd(dy, o.inputs[0]), None],
    sizes=(2,),
)


@public("scatter_nd", "manip.scatter_nd")
def scatter_nd(indices: Any, updates: Any, shape: Any, name: str | None = None) -> Any:
    """A tensor of zeros to which updates are added at index vectors."""
    return apply("ScatterNd", indices, updates, shape, name=name)


def _tensor_scatter(how: str) -> Callable[[Any], Kernel]:
    def make(node: Node) -> Kernel:
        if is_text(node):
            return lambda x, indices, updates: put(x.copy(), indices, updates, how)
        return lambda x, indices, updates: put(x.clone(memory_format=torch.contiguous_format), indices, updates, how)

    return make


def _tensor_scatter_shape(o: Operation) -> Any:
    return scattered_dims(o.inputs[1].dims, o.inputs[2].dims, o.inputs[0].dims)


def _update_gradient(o: Operation, dy: Any) -> Any:
    indices, updates = o.inputs[1], o.inputs[2]
    of_updates = tf.gather_nd(dy, indices)
    of_tensor = apply("TensorScatterUpdate", tf.identity(dy), indices, tf.zeros_like(updates, dtype=dy.dtype))
    return [of_tensor, None, of_updates]


def _subtract_gradient(o: Operation, dy: Any) -> Any:
    of_updates = tf.gather_nd(dy, o.inputs[1])
    return [tf.identity(dy), None, -of_updates]


def _add_gradient(o: Operation, dy: Any) -> Any:
    of_updates = tf.gather_nd(dy, o.inputs[1])
    return [tf.identity(dy), None, of_updates]


op("TensorScatterUpdate", kernel=_tensor_scatter("set"), shape=_tensor_scatter_shape, gradient=_update_gradient)
op("TensorScatterAdd", kernel=_tensor_scatter("add"), shape=_tensor_scatter_shape, gradient=_add_gradient)
op("TensorScatterSub", kernel=_tensor_scatter("subtract"), shape=_tensor_scatter_shape, gradient=_subtract_gradient)
op(
    "ScatterNdNonAliasingAdd",
    kernel=_tensor_scatter("add"),
    shape=_tensor_scatter_shape,
    gradient=lambda o, dy: [dy, None, tf.gather_nd(dy, o.inputs[1])],
)


@public("tensor_scatter_update", "tensor_scatter_nd_update")
def tensor_scatter_update(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
    """A copy of the tensor, with updates written at index vectors."""
    return apply("TensorScatterUpdate", tensor, indices, updates, name=name)


@public("tensor_scatter_add", "tensor_scatter_nd_add")
def tensor_scatter_add(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
    """A copy of the tensor, with updates added at index vectors."""
    return apply("TensorScatterAdd", tensor, indices, updates, name=name)


@public("tensor_scatter_sub", "tensor_scatter_nd_sub")
def tensor_scatter_sub(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
    """A copy of the tensor, with updates subtracted at index vectors."""
    return apply("TensorScatterSub", tensor, indices, updates, name=name)
