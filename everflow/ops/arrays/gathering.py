"""Rows and elements chosen by index: gather, gather_nd, and their counterparts that put them back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.constants import known
from everflow.graph.convert import convert_to_tensor
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.operation import Operation
from everflow.graph.scopes import colocate_with, name_scope
from everflow.graph.tensor import Tensor
from everflow.lazy import torch
from everflow.ops.arrays.reshaping import as_signed, cast, is_text, shown
from everflow.ops.core import host_sizes
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op

Kernel = Callable[..., Any]


def _check_range(indices: Any, limit: int) -> None:
    """Raises for the first index that is not in [0, limit)."""
    wrong = (indices < 0) | (indices >= limit)
    if not bool(wrong.any()):
        return
    where = np.argwhere(wrong.numpy())[0].tolist()
    found = indices[tuple(where)].item()
    place = f"[{','.join(map(str, where))}]" if where else ""
    raise invalid_argument(f"indices{place} = {found} is not in [0, {limit})")


def _rows(params: Any, indices: Any, axis: int, text: bool) -> Any:
    """params taken at indices along an axis."""
    limit = params.shape[axis]
    if text:
        _check_range(indices, limit)
        return np.asarray(np.take(params, indices.numpy(), axis), object)
    if indices.ndim == 1:
        try:
            return params.index_select(axis, indices)
        except (IndexError, RuntimeError, NotImplementedError):
            return _rows_with_care(params, indices, axis)
    if indices.ndim == 0:
        at = indices.item()
        if not 0 <= at < limit:
            raise invalid_argument(f"indices = {at} is not in [0, {limit})")
        return params.select(axis, at)
    try:
        found = params.index_select(axis, indices.reshape(-1))
    except (IndexError, RuntimeError, NotImplementedError):
        found = _rows_with_care(params, indices, axis)
    return found.reshape(params.shape[:axis] + indices.shape + params.shape[axis + 1 :])


def _rows_with_care(params: Any, indices: Any, axis: int) -> Any:
    """What torch refuses to take: for indices out of range, unless nothing is taken, or because it has no kernel for the type."""
    if 0 not in (*params.shape[:axis], *params.shape[axis + 1 :]):
        _check_range(indices, params.shape[axis])
        return as_signed(params).index_select(axis, indices.reshape(-1)).view(params.dtype)
    return params.new_empty((*params.shape[:axis], indices.numel(), *params.shape[axis + 1 :]))


def _batch_rows(params: Any, indices: Any, axis: int, batch: int, text: bool) -> Any:
    """The same for each position of the leading `batch` dimensions, which both share."""
    lead = params.shape[:batch]
    count = int(np.prod(lead))
    flat, chosen = params.reshape((count, *params.shape[batch:])), indices.reshape((count, *indices.shape[batch:]))
    _check_range(indices, params.shape[axis])
    parts = [_rows(p, i, axis - batch, text) for p, i in zip(flat, chosen)]
    if not parts:
        dims = tuple(params.shape[:axis]) + tuple(indices.shape[batch:]) + tuple(params.shape[axis + 1 :])
        return np.empty(dims, object) if text else params.new_empty(dims)
    found = np.stack(parts) if text else torch.stack(parts)
    return found.reshape(tuple(lead) + tuple(found.shape[1:]))


def _gather(node: Node) -> Kernel:
    text = is_text(node)
    return lambda params, indices: _rows(params, indices, 0, text)


def _table_rows(params: Any, indices: Any, axis: Any = None) -> Any:
    """The rows of a matrix at indices of any shape."""
    try:
        return torch.embedding(params, indices)
    except (IndexError, RuntimeError):
        _check_range(indices, params.shape[0])
        raise


def _gather_v2(node: Node) -> Kernel:
    text = is_text(node)
    batch = node.attr("batch_dims")
    axis = node.constant(2)
    if batch == 0 and axis is not None:
        at = int(axis.reshape(-1)[0])
        dims = node.inputs[0].dims
        if at == 0 and dims is not None and len(dims) == 2 and not text:
            return _table_rows
        if dims is not None and 0 <= at < len(dims):
            return lambda params, indices, axis: _rows(params, indices, at, text)

    def run(params: Any, indices: Any, axis: Any) -> Any:
        at = int(axis)
        if params.ndim == 0:
            raise invalid_argument("params must be at least 1 dimensional")
        if not -params.ndim <= at < params.ndim:
            raise invalid_argument(f"Expected axis in the range [{-params.ndim}, {params.ndim}), but got {at}")
        at %= params.ndim
        lead = batch
        if lead:
            if not -indices.ndim <= lead <= indices.ndim:
                raise invalid_argument(f"Expected batch_dims in the range [{-indices.ndim}, {indices.ndim}], but got {lead}")
            lead += indices.ndim if lead < 0 else 0
            if lead > at:
                raise invalid_argument(f"batch_dims ({lead}) must be less than or equal to axis ({at}).")
            for i in range(lead):
                if params.shape[i] != indices.shape[i]:
                    raise invalid_argument(
                        f"params.shape[{i}]: {params.shape[i]} should be equal to indices.shape[{i}]: {indices.shape[i]}"
                    )
        if lead:
            return _batch_rows(params, indices, at, lead, text)
        return _rows(params, indices, at, text)

    return run


def _gather_shape(o: Operation) -> Any:
    params, indices = o.inputs[0].dims, o.inputs[1].dims
    shapes.with_rank_at_least(params, 1)
    if params is None or indices is None:
        return None
    return indices + params[1:]


def _gather_v2_shape(o: Operation) -> Any:
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
    lead = shapes.merge(params[:batch], indices[:batch]) or ()
    return lead + params[batch:at] + indices[batch:] + params[at + 1 :]


def _gather_gradient(o: Operation, dy: Any) -> Any:
    """The rows of dy as they are, with the indices of the rows they belong to."""
    params, indices = o.inputs[0], o.inputs[1]
    with colocate_with(params):
        whole = cast(tf.shape(params, out_type=dtypes.int64), dtypes.int32)
    count = tf.expand_dims(tf.size(indices), 0)
    values = tf.reshape(dy, tf.concat([count, whole[1:]], 0))
    return IndexedSlices(values, tf.reshape(indices, count), whole)


def _gather_v2_gradient(o: Operation, dy: Any) -> Any:
    params, indices, axis = o.inputs
    if known_axis(axis) == 0 and not o.attr("batch_dims"):
        return [_gather_gradient(o, dy), None, None]
    batch = o.attr("batch_dims")
    if batch < 0:
        if indices.dims is None:
            raise ValueError("The rank of indices must be known where batch_dims is negative.")
        batch += len(indices.dims)
    whole = tf.shape(params)
    at = axis % tf.rank(params)
    lead, tail = whole[:batch], tf.slice(whole, [at + 1], [-1])
    count = tf.size(indices[(0,) * batch]) if batch == 0 else tf.reduce_prod(tf.shape(indices)[batch:])
    # dy has the shape lead + middle + indices + tail; the indexed dimension comes to the front, next to the batch.
    middle = tf.slice(whole, [batch], [at - batch])
    flat = tf.reshape(dy, tf.stack([tf.reduce_prod(lead), tf.reduce_prod(middle), count, tf.reduce_prod(tail)]))
    rows = tf.reshape(tf.transpose(flat, [0, 2, 1, 3]), tf.stack([-1, tf.reduce_prod(middle), tf.reduce_prod(tail)]))
    limit = whole[at]
    first = tf.range(tf.reduce_prod(lead)) * limit
    chosen = tf.reshape(indices, tf.stack([-1, count])) + cast(tf.expand_dims(first, 1), indices.dtype.base_dtype)
    sums = apply("UnsortedSegmentSum", rows, tf.reshape(chosen, [-1]), tf.reduce_prod(lead) * limit)
    sums = tf.reshape(sums, tf.stack([tf.reduce_prod(lead), limit, tf.reduce_prod(middle), tf.reduce_prod(tail)]))
    found = tf.reshape(tf.transpose(sums, [0, 2, 1, 3]), whole)
    found.set_shape(params.get_shape())
    return [found, None, None]


op(
    "Gather",
    kernel=_gather,
    shape=_gather_shape,
    gradient=lambda o, dy: [_gather_gradient(o, dy), None],
    view=True,
    host=host_sizes.gathered,
)
op("GatherV2", kernel=_gather_v2, shape=_gather_v2_shape, gradient=_gather_v2_gradient, view=True, host=host_sizes.gathered)


@public("gather", ragged="gathering.gather")
def gather(params: Any, indices: Any, validate_indices: Any = None, name: str | None = None, axis: Any = None, batch_dims: int = 0) -> Any:
    """The slices of `params` at `indices` along an axis."""
    axis = batch_dims if axis is None else axis
    if known_axis(axis) == 0:
        # Variables that can read rows without reading all have a method for it.
        try:
            return params.sparse_read(indices, name=name)
        except AttributeError:
            batch_dims = 0
    return apply("GatherV2", params, indices, axis, batch_dims=batch_dims, name=name)


def known_axis(axis: Any) -> Any:
    """An axis as a number, or None where it is a tensor that must be computed."""
    if isinstance(axis, Tensor):
        value = known(axis)
        return None if value is None or value.size != 1 else int(value.reshape(-1)[0])
    return axis


@public("batch_gather", ragged="gathering.batch_gather")
def batch_gather(params: Any, indices: Any, name: str | None = None) -> Any:
    """gather for each position of the leading dimensions that both share: all but the last one of `indices`."""
    with name_scope(name, "BatchGather", [params, indices]):
        indices = convert_to_tensor(indices, name="indices")
        params = convert_to_tensor(params, name="params")
        if indices.dims is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        batch = len(indices.dims) - 1
        return apply("GatherV2", params, indices, batch, batch_dims=batch)


def check_nd(indices: Any, dims: Any, what: str) -> None:
    """Raises for the first index vector that lies outside of a shape."""
    depth = indices.shape[-1]
    if not indices.numel():
        return
    lowest, highest = torch.aminmax(indices.reshape(-1, depth), dim=0)
    if all(0 <= low and high < size for low, high, size in zip(lowest.tolist(), highest.tolist(), dims)):
        return
    limits = torch.tensor(tuple(dims[: indices.shape[-1]]), device=indices.device)
    wrong = ((indices < 0) | (indices >= limits)).any(-1)
    if not bool(wrong.any()):
        return
    where = np.argwhere(wrong.numpy())[0].tolist()
    place = f"[{','.join(map(str, where))}]" if where else ""
    found = ", ".join(map(str, indices[tuple(where)].tolist()))
    raise invalid_argument(f"indices{place} = [{found}] does not index into {what} {shown(dims)}")


def _gather_nd(node: Node) -> Kernel:
    text = is_text(node)
    given, dims = node.constant(1), node.inputs[0].dims
    if given is not None and dims is not None and not text and given.size and given.shape[-1] <= len(dims):
        indexed = dims[: given.shape[-1]]
        if None not in indexed and (given >= 0).all() and (given < np.array(indexed)).all():
            index = torch.from_numpy(given.astype(np.int64)).unbind(-1)
            return lambda params, indices: params[index]

    def run(params: Any, indices: Any) -> Any:
        if not params.ndim:
            raise invalid_argument("params must be at least a vector")
        if not indices.ndim:
            raise invalid_argument("indices must be at least a vector")
        depth = indices.shape[-1]
        if depth > params.ndim:
            raise invalid_argument(f"index innermost dimension length must be <= params rank; saw: {depth} vs. {params.ndim}")
        outer = tuple(indices.shape[:-1])
        if 0 in params.shape and 0 not in outer:
            raise invalid_argument(f"Requested more than 0 entries, but params is empty.  Params shape: {shown(params.shape)}")
        if depth == 0:
            return np.broadcast_to(params, outer + params.shape) if text else params.expand(outer + tuple(params.shape))
        check_nd(indices, params.shape, "param shape")
        if text:
            return np.asarray(params[tuple(np.moveaxis(indices.numpy(), -1, 0))], object)
        return params[indices.long().unbind(-1)]

    return run


def _gather_nd_shape(o: Operation) -> Any:
    params, indices = o.inputs[0].dims, o.inputs[1].dims
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
    params, indices = o.inputs
    whole = tf.shape(params, out_type=indices.dtype)
    if indices.dims is not None and len(indices.dims) == 2 and indices.dims[-1] == 1:
        return [IndexedSlices(dy, tf.squeeze(indices, axis=-1), whole), None]
    return [tf.scatter_nd(indices, dy, whole), None]


op("GatherNd", kernel=_gather_nd, shape=_gather_nd_shape, gradient=_gather_nd_gradient, view=True)


@public("gather_nd", "manip.gather_nd", ragged="gathering.gather_nd")
def gather_nd(params: Any, indices: Any, name: str | None = None, batch_dims: int = 0) -> Any:
    """The elements or slices of `params` at index vectors."""
    if known_axis(batch_dims) == 0:
        try:
            return params.gather_nd(indices, name=name)
        except AttributeError:
            return apply("GatherNd", params, indices, name=name)
    return batch_gather_nd(params, indices, known_axis(batch_dims), name)


@internal("ops.array_ops.batch_gather_nd")
def batch_gather_nd(params: Any, indices: Any, batch_dims: Any, name: str | None = None) -> Any:
    """gather_nd for each position of the leading `batch_dims` dimensions, which both share."""
    with name_scope(name, "BatchGatherND", [params, indices]):
        indices = convert_to_tensor(indices, name="indices")
        params = convert_to_tensor(params, name="params")
        if not isinstance(batch_dims, (int, np.integer)):
            raise TypeError(f"batch_dims must be an int; got {type(batch_dims).__name__}")
        if batch_dims < 0:
            raise ValueError(f"tf.gather_nd does not allow negative batch_dims, but got {batch_dims}")
        for label, t in (("indices", indices), ("params", params)):
            if t.dims is not None and batch_dims >= len(t.dims):
                raise ValueError(f"batch_dims = {batch_dims} must be less than rank({label}) = {len(t.dims)}")
        if batch_dims == 0:
            return apply("GatherNd", params, indices)
        sizes = tf.shape(indices)
        whole = tf.concat([sizes[:-1], [1]], 0)
        columns = []
        for i in range(batch_dims):
            numbers = cast(tf.range(sizes[i]), indices.dtype.base_dtype)
            # The batch's own coordinates come before those that the caller gives.
            column = tf.reshape(numbers, tf.concat([[-1], tf.ones([tf.rank(indices) - 1 - i], dtypes.int32)], 0))
            columns.append(tf.broadcast_to(column, whole))
        return apply("GatherNd", params, tf.concat([*columns, indices], -1))


@public("sparse_mask", "sparse.mask")
def sparse_mask(a: Any, mask_indices: Any, name: str | None = None) -> Any:
    """IndexedSlices without the rows whose indices are masked."""
    with name_scope(name, "sparse_mask", [a, mask_indices]) as scope:
        kept, places = tf.setdiff1d(a.indices, mask_indices)
        return IndexedSlices(gather(a.values, places, name=scope), kept, a.dense_shape)
