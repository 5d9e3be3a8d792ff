"""Rows and elements chosen by index: gather, gather_nd, and their counterparts that put them back."""
from __future__ import annotations

from typing import Any, Callable

import numpy as np

from everflow import errors
from everflow.api import internal, public
from everflow.graph import dtypes, shapes
from everflow.graph.constants import dims_of, known
from everflow.graph.convert import constant, convert_to_tensor
from everflow.graph.scopes import colocate_with, name_scope
from everflow.graph.tensor import Tensor
from everflow.lazy import torch
from everflow.ops.arrays import cast, expand_dims, is_text, rank, reshape, shape, size
from everflow.ops.registry import apply, not_differentiable, op

Kernel = Callable[..., Any]


def _check_range(indices: Any, limit: int) -> None:
    """Raises for the first index that is not in [0, limit)."""
    wrong = (indices < 0) | (indices >= limit)
    if not bool(wrong.any()):
        return
    where = np.argwhere(wrong.numpy())[0].tolist()
    found = indices[tuple(where)].item()
    place = f"[{','.join(map(str, where))}]" if where else ""
    raise errors.invalid_argument(f"indices{place} = {found} is not in [0, {limit})")


def _rows(params: Any, indices: Any, axis: int, text: bool) -> Any:
    """params taken at indices along an axis."""
    limit = params.shape[axis]
    if text:
        _check_range(indices, limit)
        return np.take(params, indices.numpy(), axis)
    if indices.ndim == 1:
        try:
            return params.index_select(axis, indices)
        except (IndexError, RuntimeError):
            _check_range(indices, limit)
            raise
    if indices.ndim == 0:
        at = indices.item()
        if not 0 <= at < limit:
            raise errors.invalid_argument(f"indices = {at} is not in [0, {limit})")
        return params.select(axis, at)
    try:
        found = params.index_select(axis, indices.reshape(-1))
    except (IndexError, RuntimeError):
        _check_range(indices, limit)
        raise
    return found.reshape(params.shape[:axis] + indices.shape + params.shape[axis + 1:])


def _batch_rows(params: Any, indices: Any, axis: int, batch: int, text: bool) -> Any:
    """The same for each position of the leading `batch` dimensions, which both share."""
    lead = params.shape[:batch]
    count = int(np.prod(lead))
    flat, chosen = params.reshape((count, *params.shape[batch:])), indices.reshape((count, *indices.shape[batch:]))
    _check_range(indices, params.shape[axis])
    parts = [_rows(p, i, axis - batch, text) for p, i in zip(flat, chosen)]
    if not parts:
        dims = tuple(params.shape[:axis]) + tuple(indices.shape[batch:]) + tuple(params.shape[axis + 1:])
        return np.empty(dims, object) if text else params.new_empty(dims)
    found = np.stack(parts) if text else torch.stack(parts)
    return found.reshape(tuple(lead) + tuple(found.shape[1:]))


def _gather(node: Any) -> Kernel:
    text = is_text(node)
    return lambda params, indices: _rows(params, indices, 0, text)


def _gather_v2(node: Any) -> Kernel:
    text = is_text(node)
    batch = node.attr("batch_dims")
    axis = node.constant(2)
    if batch == 0 and axis is not None:
        at = int(axis.reshape(-1)[0])
        if at >= 0 and node.inputs[0].dims is not None:
            return lambda params, indices, axis: _rows(params, indices, at, text)

    def run(params: Any, indices: Any, axis: Any) -> Any:
        at = int(axis)
        if not -params.ndim <= at < params.ndim:
            raise errors.invalid_argument(f"Expected axis in the range [{-params.ndim}, {params.ndim}), but got {at}")
        at %= params.ndim
        lead = batch
        if lead:
            if not -indices.ndim <= lead <= indices.ndim:
                raise errors.invalid_argument(f"Expected batch_dims in the range [{-indices.ndim}, {indices.ndim}], but got {lead}")
            lead += indices.ndim if lead < 0 else 0
            if lead > at:
                raise errors.invalid_argument(f"batch_dims ({lead}) must be less than or equal to axis ({at}).")
            for i in range(lead):
                if params.shape[i] != indices.shape[i]:
                    raise errors.invalid_argument(
                        f"params.shape[{i}]: {params.shape[i]} should be equal to indices.shape[{i}]: {indices.shape[i]}")
        if lead:
            return _batch_rows(params, indices, at, lead, text)
        return _rows(params, indices, at, text)

    return run


def _gather_shape(o: Any) -> Any:
    params, indices = o.inputs[0].dims, o.inputs[1].dims
    shapes.with_rank_at_least(params, 1)
    if params is None or indices is None:
        return None
    return indices + params[1:]


def _gather_v2_shape(o: Any) -> Any:
    params, indices = o.inputs[0].dims, o.inputs[1].dims
    axis, batch = known(o.inputs[2]), o.attr("batch_dims")
    if o.inputs[2].dims not in (None, ()):
        raise ValueError(f"Shape must be rank 0 but is rank {len(o.inputs[2].dims)}")
    if axis is None:
        if params is None or indices is None:
            return None
        lead = batch + len(indices) if batch < 0 else batch
        return (None,) * (len(params) + len(indices) - 1 - lead)
    at = int(axis)
    shapes.with_rank_at_least(params, at + 1 if at >= 0 else -at)
    if batch and indices is not None:
        if not -len(indices) <= batch <= len(indices):
            raise ValueError(f"Expected batch_dims in the range [{-len(indices)}, {len(indices)}], but got {batch}")
        batch += len(indices) if batch < 0 else 0
    if params is None or indices is None:
        return None
    at += len(params) if at < 0 else 0
    if batch > at:
        raise ValueError(f"batch_dims ({batch}) must be less than or equal to axis ({at}).")
    lead = shapes.merge(params[:batch], indices[:batch])
    return lead + params[batch:at] + indices[batch:] + params[at + 1:]


op("Gather", kernel=_gather, shape=_gather_shape, view=True)
op("GatherV2", kernel=_gather_v2, shape=_gather_v2_shape, view=True)


@public("gather")
def gather(params: Any, indices: Any, validate_indices: Any = None, name: str | None = None, axis: Any = None, batch_dims: int = 0) -> Any:
    """The slices of `params` at `indices` along an axis."""
    if axis is None:
        axis = batch_dims
    if known_axis(axis) != 0:
        return apply("GatherV2", params, indices, axis, batch_dims=batch_dims, name=name)
    read = getattr(params, "sparse_read", None)
    if read is not None:
        return read(indices, name=name)
    return apply("GatherV2", params, indices, axis, name=name)


def known_axis(axis: Any) -> Any:
    """An axis as a number, or None where it is a tensor that must be computed."""
    if isinstance(axis, Tensor):
        value = known(axis)
        return None if value is None else int(value)
    return axis
