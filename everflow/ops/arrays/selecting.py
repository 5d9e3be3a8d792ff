"""Elements chosen by what they are: where, boolean_mask, unique, setdiff1d, searchsorted, and partitions by number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow import _native
from everflow.api import internal, public
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.constants import known
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.lazy import torch
from everflow.ops.arrays.reshaping import as_signed, is_text, shown
from everflow.ops.core import host_sizes, symbolic
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.values.tensors import from_numpy, to_numpy, torch_dtype

Kernel = Callable[..., Any]


def _where(node: Node) -> Kernel:
    if is_text(node):
        return lambda x: torch.from_numpy(np.argwhere(x != b"").astype(np.int64))
    return lambda x: as_signed(x).nonzero()


op("Where", kernel=_where, shape=lambda o: (None, None if o.inputs[0].dims is None else len(o.inputs[0].dims)))


@public("boolean_mask")
def boolean_mask(tensor: Any, mask: Any, name: str = "boolean_mask", axis: Any = None) -> Any:
    """The elements of a tensor where a mask over its first dimensions (or those from `axis` on) is true."""
    with name_scope(name, "boolean_mask", [tensor, mask]):
        tensor = convert_to_tensor(tensor, name="tensor")
        mask = convert_to_tensor(mask, name="mask")
        if mask.dims is None:
            raise ValueError(
                "Number of mask dimensions must be specified, even if some dimensions are None.  E.g. shape=[None] is "
                "ok, but shape=None is not."
            )
        count = len(mask.dims)
        if count == 0:
            raise ValueError("mask cannot be scalar.")
        start: Any = known(axis) if isinstance(axis, tf.Tensor) else axis
        at = 0 if axis is None else int(start)
        whole = tensor.get_shape()
        whole[at : at + count].assert_is_compatible_with(mask.get_shape())
        if at < 0 and tensor.dims is not None:
            at += len(tensor.dims)
        elements = tf.reduce_prod(tf.shape(tensor)[at : at + count], [0])
        flat = tf.reshape(tensor, tf.concat([tf.shape(tensor)[:at], [elements], tf.shape(tensor)[at + count :]], 0))
        size = whole[at : at + count].num_elements() if tensor.dims is not None else None
        flat.set_shape(shapes.TensorShape(whole[:at]).concatenate([size]).concatenate(whole[at + count :]))
        indices = tf.squeeze(tf.where(tf.reshape(mask, [-1])), axis=[1])
        return tf.gather(flat, indices, axis=at)


def _numbered(x: Any, kind: Any, counted: bool) -> tuple[Any, ...]:
    """Distinct integers, the number of each element, and how often each occurs if that is asked for."""
    x, size = x.contiguous(), len(x)
    places = torch.empty(size, dtype=torch.int64)
    numbers = torch.empty(size, dtype=kind)
    counts = torch.empty(size, dtype=kind) if counted else None
    found = _native.unique(
        x.data_ptr(),
        size,
        x.dtype is torch.int64,
        places.data_ptr(),
        numbers.data_ptr(),
        kind is torch.int64,
        0 if counts is None else counts.data_ptr(),
    )
    distinct = x.index_select(0, places[:found])
    return (distinct, numbers) if counts is None else (distinct, numbers, counts[:found])


def _sorted_unique(array: np.ndarray, axis: int | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the distinct elements first occur, in that order, the number of each element, and how often each occurs."""
    if array.dtype == object and axis is not None:
        rows = np.moveaxis(array, axis, 0)
        array, axis = np.empty(len(rows), object), None
        array[:] = [tuple(row.reshape(-1).tolist()) for row in rows]
    if array.dtype == object:
        first: dict[Any, int] = {}
        places: list[int] = []
        numbers = np.empty(len(array), np.int64)
        for i, value in enumerate(array):
            number = first.setdefault(value, len(first))
            if number == len(places):
                places.append(i)
            numbers[i] = number
        return np.array(places, np.int64), numbers, np.bincount(numbers, minlength=len(first))
    _, index, inverse, counts = np.unique(array, return_index=True, return_inverse=True, return_counts=True, axis=axis, equal_nan=False)
    order = np.argsort(index, kind="stable")
    rank_of = np.empty_like(order)
    rank_of[order] = np.arange(len(order))
    return index[order], rank_of[inverse.reshape(-1)], counts[order]


def _unique(node: Node) -> Kernel:
    dtype = node.inputs[0].dtype.base_dtype
    kind = torch_dtype(node.attr("out_idx"))
    text = is_text(node)
    counted = len(node.outputs) == 3
    has_axis = len(node.inputs) == 2
    integers = dtype in (dtypes.int32, dtypes.int64) and kind in (torch.int32, torch.int64)

    def run(x: Any, axis: Any = None) -> Any:
        at = None
        if has_axis and axis.numel():
            if axis.numel() > 1:
                raise invalid_argument("axis does not have more than one dim")
            at = int(axis.reshape(-1)[0])
            if not -x.ndim <= at < x.ndim:
                raise invalid_argument(f"axis has to be between [{-x.ndim}, {x.ndim})")
            at %= x.ndim
        elif x.ndim != 1:
            raise invalid_argument("unique expects a 1D vector.")
        if integers and x.ndim == 1 and x.is_cpu:
            return _numbered(x, kind, counted)
        array = x if text else x.float().cpu().numpy() if dtype is dtypes.bfloat16 else to_numpy(x, dtype)
        places, numbers, counts = _sorted_unique(array, None if at in (None, 0) and x.ndim == 1 else at)
        if text:
            found = np.take(x, places, at or 0)
        else:
            found = x.index_select(at or 0, torch.from_numpy(places).to(x.device))
        told = tuple(torch.from_numpy(a).to("cpu" if text else x.device, kind) for a in (numbers, counts))
        return (found, *told) if counted else (found, told[0])

    return run


def _unique_shape(o: Operation) -> Any:
    dims = shapes.with_rank(o.inputs[0].dims, 1) if o.type == "Unique" else o.inputs[0].dims
    return [(None,), dims] + [(None,)] * (len(o.outputs) - 2)


def _unique_v2_shape(o: Operation) -> Any:
    dims, axis = o.inputs[0].dims, known(o.inputs[1])
    more = [(None,)] * (len(o.outputs) - 2)
    if axis is None or dims is None:
        return [None, (None,), *more]
    if axis.size == 0:
        return [(None,), (None,) if len(dims) != 1 else dims, *more]
    at = int(axis.reshape(-1)[0])
    if not -len(dims) <= at < len(dims):
        raise ValueError(f"axis expects to be in the range [{-len(dims)}, {len(dims)})")
    at %= len(dims)
    return [dims[:at] + (None,) + dims[at + 1 :], (dims[at],), *more]


op("Unique", kernel=_unique, shape=_unique_shape)
op("UniqueWithCounts", kernel=_unique, shape=_unique_shape)
op("UniqueV2", kernel=_unique, shape=_unique_v2_shape)
op("UniqueWithCountsV2", kernel=_unique, shape=_unique_v2_shape)


@public("unique")
def unique(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Any:
    """The distinct elements in the order of their first occurrence, and for each element its number among them."""
    return apply("Unique", x, out_idx=out_idx, name=name)


@public("unique_with_counts")
def unique_with_counts(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Any:
    """The same, and how often each distinct element occurs."""
    return apply("UniqueWithCounts", x, out_idx=out_idx, name=name)


def _list_diff(node: Node) -> Kernel:
    dtype = node.inputs[0].dtype.base_dtype
    kind = torch_dtype(node.attr("out_idx"))
    text = is_text(node)

    def run(x: Any, y: Any) -> Any:
        for name, value in (("x", x), ("y", y)):
            if value.ndim != 1:
                raise invalid_argument(f"{name} should be a 1D vector.")
        if text:
            gone = set(y)
            places = np.array([i for i, value in enumerate(x) if value not in gone], np.int64)
            return x[places], torch.from_numpy(places).to(kind)
        places = np.flatnonzero(~np.isin(to_numpy(x, dtype), to_numpy(y, dtype)))
        return from_numpy(to_numpy(x, dtype)[places], dtype).to(x.device), torch.from_numpy(places).to(x.device, kind)

    return run


op("ListDiff", kernel=_list_diff, shape=lambda o: [(None,), (None,)], gradient=not_differentiable)


@internal("ops.array_ops.listdiff")
def listdiff(x: Any, y: Any, out_idx: Any = None, name: str | None = None) -> Any:
    """The elements of x that are not in y, and where they were."""
    return apply("ListDiff", x, y, out_idx=out_idx, name=name)


@public("setdiff1d")
def setdiff1d(x: Any, y: Any, index_dtype: Any = dtypes.int32, name: str | None = None) -> Any:
    """The elements of x that are not in y, and where they were."""
    return apply("ListDiff", x, y, out_idx=index_dtype, name=name)


def _bound(right: bool) -> Callable[[Any], Kernel]:
    def make(node: Node) -> Kernel:
        dtype = node.inputs[0].dtype.base_dtype
        kind = torch_dtype(node.attr("out_type"))
        plain = dtype.name not in ("uint16", "uint32", "uint64", "bool", "string")

        def run(ordered: Any, values: Any) -> Any:
            if ordered.ndim != 2 or values.ndim != 2:
                raise invalid_argument("sorted input argument must be a matrix")
            if len(ordered) != len(values):
                raise invalid_argument("Leading dim_size of both tensors must match.")
            if plain:
                return torch.searchsorted(ordered.contiguous(), values.contiguous(), right=right, out_int32=kind is torch.int32)
            rows = [np.searchsorted(a, b, "right" if right else "left") for a, b in zip(to_numpy(ordered, dtype), to_numpy(values, dtype))]
            return torch.from_numpy(np.array(rows, np.int64).reshape(values.shape)).to(kind)

        return run

    return make


def _bound_shape(o: Operation) -> Any:
    shapes.with_rank(o.inputs[0].dims, 2)
    return shapes.with_rank(o.inputs[1].dims, 2) if o.inputs[1].dims is not None else None


op("LowerBound", kernel=_bound(False), shape=_bound_shape)
op("UpperBound", kernel=_bound(True), shape=_bound_shape)


@public("searchsorted")
def searchsorted(
    sorted_sequence: Any, values: Any, side: str = "left", out_type: dtypes.DTypeLike = dtypes.int32, name: str | None = None
) -> Any:
    """Where values would be inserted into sorted rows: before equal elements, or after them if `side` is "right"."""
    columns, width = tf.shape(sorted_sequence)[-1], tf.shape(values)[-1]
    ordered = tf.reshape(sorted_sequence, [-1, columns])
    flat = tf.reshape(values, [-1, width])
    if side not in ("left", "right"):
        raise ValueError(f"side must be either 'right' or 'left'.  Saw: {side}.")
    found = apply("UpperBound" if side == "right" else "LowerBound", ordered, flat, out_type=out_type, name=name)
    return tf.reshape(found, tf.shape(values))


def _check_numbers(numbers: Any, limit: int) -> None:
    wrong = np.argwhere(((numbers < 0) | (numbers >= limit)).numpy())
    if len(wrong):
        at = tuple(wrong[0].tolist())
        place = f"[{','.join(map(str, at))}]" if at else ""
        raise invalid_argument(f"partitions{place} = {int(numbers[at])} is not in [0, {limit})")


def _dynamic_partition(node: Node) -> Kernel:
    count = node.attr("num_partitions")
    text = is_text(node)

    def run(data: Any, numbers: Any) -> Any:
        lead = numbers.ndim
        if tuple(data.shape[:lead]) != tuple(numbers.shape):
            raise invalid_argument(
                f"data.shape must start with partitions.shape, got data.shape = {shown(data.shape)}, partitions.shape "
                f"= {shown(numbers.shape)}"
            )
        _check_numbers(numbers, count)
        flat = numbers.reshape(-1).long()
        rows = data.reshape((flat.numel(), *data.shape[lead:]))
        order = torch.argsort(flat, stable=True)
        sizes = torch.bincount(flat, minlength=count).tolist()
        if text:
            found = tuple(np.split(rows[order.numpy()], np.cumsum(sizes)[:-1]))
        else:
            found = rows.index_select(0, order).split(sizes)
        return found[0] if count == 1 else found

    return run


def _dynamic_partition_shape(o: Operation) -> Any:
    data, numbers = o.inputs[0].dims, o.inputs[1].dims
    count = o.attr("num_partitions")
    if data is None or numbers is None:
        return [None] * count
    shapes.with_rank_at_least(data, len(numbers))
    for d, n in zip(data, numbers):
        shapes.merge_size(d, n)
    return [(None, *data[len(numbers) :])] * count


def _dynamic_partition_gradient(o: Operation, *dys: Any) -> Any:
    data, numbers = o.inputs
    sizes = tf.shape(numbers)
    places = tf.reshape(tf.range(tf.reduce_prod(sizes)), sizes)
    back = dynamic_partition(places, numbers, o.attr("num_partitions"))
    return [tf.reshape(dynamic_stitch(back, list(dys)), tf.shape(data)), None]


op("DynamicPartition", kernel=_dynamic_partition, shape=_dynamic_partition_shape, gradient=_dynamic_partition_gradient)


@public("dynamic_partition", ragged="arrays.dynamic_partition")
def dynamic_partition(data: Any, partitions: Any, num_partitions: int, name: str | None = None) -> Any:
    """The slices of `data` sorted into tensors by their numbers in `partitions`."""
    return apply("DynamicPartition", data, partitions, num_partitions=num_partitions, name=name)


def _dynamic_stitch(node: Node) -> Kernel:
    count = node.attr("N")
    text = is_text(node, count)

    def run(*arguments: Any) -> Any:
        indices, data = arguments[:count], arguments[count:]
        inner: Any = None
        for i, (where, what) in enumerate(zip(indices, data)):
            if tuple(what.shape[: where.ndim]) != tuple(where.shape):
                raise invalid_argument(
                    f"data[{i}].shape = {shown(what.shape)} does not start with indices[{i}].shape = {shown(where.shape)}"
                )
            mine = tuple(what.shape[where.ndim :])
            if inner is None:
                inner = mine
            elif inner != mine:
                first = indices[0].ndim
                raise invalid_argument(
                    f"Need data[0].shape[{first}:] = data[{i}].shape[{where.ndim}:], got data[0].shape = "
                    f"{shown(data[0].shape)}, data[{i}].shape = {shown(what.shape)}, indices[0].shape = "
                    f"{shown(indices[0].shape)}, indices[{i}].shape = {shown(where.shape)}"
                )
        rows = max((int(w.max()) + 1 for w in indices if w.numel()), default=0)
        found: Any = np.full((rows, *inner), b"", np.dtype(object)) if text else data[0].new_zeros((rows, *inner))
        for where, what in zip(indices, data):
            flat = where.reshape(-1)
            if flat.numel() and int(flat.min()) < 0:
                at = int((flat < 0).nonzero()[0])
                raise invalid_argument(f"indices[{at}] is out of range")
            if text:
                found[flat.numpy()] = what.reshape((-1, *inner))
            else:
                as_signed(found).index_copy_(0, flat.long(), as_signed(what).reshape((flat.numel(), *inner)))
        return found

    return run


def _dynamic_stitch_shape(o: Operation) -> Any:
    count = o.attr("N")
    inner: Any = None
    rows: int | None = 0
    for where, what in zip(o.inputs[:count], o.inputs[count:]):
        value = known(where)
        if value is None:
            rows = None
        elif rows is not None and value.size:
            rows = max(rows, int(value.max()) + 1)
        if where.dims is None or what.dims is None:
            continue
        shapes.with_rank_at_least(what.dims, len(where.dims))
        for a, b in zip(what.dims, where.dims):
            shapes.merge_size(a, b)
        inner = shapes.merge(inner, what.dims[len(where.dims) :])
    return None if inner is None else (rows, *inner)


op(
    "DynamicStitch",
    kernel=_dynamic_stitch,
    shape=_dynamic_stitch_shape,
    gradient=lambda o, dy: [None] * o.attr("N") + [tf.gather(dy, i) for i in o.inputs[: o.attr("N")]],
    host=host_sizes.stitched,
    holds=symbolic.holds_stitched,
)
op(
    "ParallelDynamicStitch",
    kernel=_dynamic_stitch,
    shape=_dynamic_stitch_shape,
    gradient=lambda o, dy: [None] * o.attr("N") + [tf.gather(dy, i) for i in o.inputs[: o.attr("N")]],
)


@public("dynamic_stitch")
def dynamic_stitch(indices: Any, data: Any, name: str | None = None) -> Any:
    """The slices of several tensors interleaved into one, each at its index; later ones win."""
    return apply("DynamicStitch", indices, data, name=name)
