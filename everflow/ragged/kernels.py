"""The ops of ragged tensors: ranges, gathering rows, and the ways to and from sparse tensors and variants."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.errors import invalid_argument
from everflow.graph.operation import Operation
from everflow.graph.shapes import is_fully_defined
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op

_INTEGERS = ("int32", "int64")


def _torch_type(name: str) -> Any:
    return getattr(torch, name)


def _rows(values: Any, picked: np.ndarray) -> Any:
    """Rows of a tensor or of an array of strings, by number."""
    if isinstance(values, np.ndarray):
        return values[picked]
    return values.index_select(0, torch.as_tensor(picked, dtype=torch.int64, device=values.device))


def _array(t: Any) -> np.ndarray:
    return t.cpu().numpy()


# -- ranges


def _range_kernel(node: Node) -> Callable[..., Any]:
    split_type = _torch_type(node.attr("Tsplits").name)

    def run(starts: Any, limits: Any, deltas: Any) -> Any:
        for t, name in ((starts, "starts"), (limits, "limits"), (deltas, "deltas")):
            if t.dim() > 1:
                raise invalid_argument(f"{name} must be a scalar or vector")
        sizes = {len(t) for t in (starts, limits, deltas) if t.dim() == 1}
        if len(sizes) > 1:
            raise invalid_argument("starts, limits, and deltas must have the same shape")
        n = sizes.pop() if sizes else 1
        kind = starts.dtype
        starts, limits, deltas = (t.expand(n) for t in (starts, limits, deltas))
        if bool((deltas == 0).any()):
            raise invalid_argument("Requires delta != 0")
        if kind.is_floating_point:
            counts = torch.ceil(((limits.double() - starts.double()) / deltas.double()).abs()).to(torch.int64)
        else:
            reach = (limits - starts).abs().to(torch.int64)
            step = deltas.abs().to(torch.int64)
            counts = (reach + step - 1) // step
        empty = ((deltas > 0) & (starts > limits)) | ((deltas < 0) & (starts < limits))
        counts = torch.where(empty, torch.zeros_like(counts), counts)
        splits = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        within = torch.arange(int(splits[-1]), device=starts.device) - splits[:-1].repeat_interleave(counts)
        values = starts.repeat_interleave(counts) + within.to(kind) * deltas.repeat_interleave(counts)
        return splits.to(split_type), values.to(kind)

    return run


def _range_shape(o: Operation) -> list[Any]:
    dims = [t.dims for t in o.inputs]
    for d in dims:
        if d is not None and len(d) > 1:
            raise ValueError(f"Shape must be at most rank 1 but is rank {len(d)}")
    sizes = list(dict.fromkeys(d[0] for d in dims if d and d[0] is not None))
    if len(sizes) > 1:
        raise ValueError(f"Dimensions must be equal, but are {sizes[1]} and {sizes[0]}")
    if sizes:
        return [(sizes[0] + 1,), (None,)]
    return [(2,) if all(d == () for d in dims) else (None,), (None,)]


op("RaggedRange", kernel=_range_kernel, shape=_range_shape, gradient=not_differentiable)


# -- rows by number


def _gather_kernel(node: Node) -> Callable[..., Any]:
    depth = node.attr("PARAMS_RAGGED_RANK")
    split_type = _torch_type(node.attr("Tsplits").name)

    def run(*inputs: Any) -> Any:
        splits, values, indices = inputs[:depth], inputs[depth], inputs[depth + 1]
        nested = [_array(s) for s in splits]
        numbers = _array(indices)
        nrows = len(nested[0]) - 1
        wrong = (numbers < 0) | (numbers >= nrows)
        if wrong.any():
            at = tuple(np.argwhere(wrong)[0])
            where = f"[{','.join(str(i) for i in at)}]" if at else ""
            raise invalid_argument(f"indices{where} = {numbers[at]} is not in [0, {nrows})")
        found: list[Any] = []
        # The dimensions of the indices are rows of equal lengths.
        for axis in range(1, numbers.ndim):
            outer = int(np.prod(numbers.shape[:axis]))
            found.append(np.arange(outer + 1) * numbers.shape[axis])
        picked: np.ndarray = numbers.reshape(-1)
        for s in nested:
            starts, lengths = s[:-1][picked], (s[1:] - s[:-1])[picked]
            ends = np.concatenate([[0], np.cumsum(lengths)])
            found.append(ends)
            picked = np.repeat(starts - ends[:-1], lengths) + np.arange(ends[-1])
        # One number alone picks what is in a row, not a row.
        found = found if numbers.ndim else found[1:]
        rows = _rows(values, picked)
        return (*(torch.as_tensor(f, dtype=split_type, device=indices.device) for f in found), rows) if found else rows

    return run


def _gather_shape(o: Operation) -> list[Any]:
    *splits, values, indices = o.inputs
    count = o.attr("OUTPUT_RAGGED_RANK")
    if indices.dims is not None and count != len(splits) + len(indices.dims) - 1:
        raise ValueError("OUTPUT_RAGGED_RANK must be equal to rank(indices) + PARAMS_RAGGED_RANK - 1")
    inner = None if values.dims is None else (None, *values.dims[1:])
    return [*[(None,)] * count, inner]


def _gather_gradient(o: Operation, *dys: Any) -> Any:
    *splits, values, indices = o.inputs
    *outer, dy = dys
    if o.attr("OUTPUT_RAGGED_RANK") < 1 or indices.dims is None:
        raise ValueError("rank(indices) must be known statically")
    # Which row of the values each row of the result came from: the op run again on their numbers.
    count = tf.shape(values, out_type=tf.int64)[0]
    places = apply("RaggedGather", list(splits), tf.range(count), indices, OUTPUT_RAGGED_RANK=o.attr("OUTPUT_RAGGED_RANK"))[1]
    return [*([None] * len(splits)), tf.IndexedSlices(dy, places, tf.shape(values)), None]


op("RaggedGather", kernel=_gather_kernel, shape=_gather_shape, gradient=_gather_gradient)


# -- sparse tensors


def _to_sparse_kernel(node: Node) -> Callable[..., Any]:
    depth = node.attr("RAGGED_RANK")

    def run(*inputs: Any) -> Any:
        nested = [_array(s).astype(np.int64) for s in inputs[:depth]]
        values = inputs[depth]
        _check_splits(nested, values.shape[0])
        shape = [len(nested[0]) - 1]
        columns: list[np.ndarray] = [np.arange(shape[0])]
        for s in nested:
            lengths = s[1:] - s[:-1]
            shape.append(int(lengths.max()) if len(lengths) else 0)
            columns = [np.repeat(c, lengths) for c in columns]
            columns.append(np.arange(s[-1]) - np.repeat(s[:-1], lengths))
        inner = tuple(values.shape[1:])
        if inner:
            size = int(np.prod(inner))
            below = np.indices(inner).reshape(len(inner), -1)
            columns = [*(np.repeat(c, size) for c in columns), *(np.tile(b, values.shape[0]) for b in below)]
        indices = torch.as_tensor(np.stack(columns, axis=1).astype(np.int64))
        return indices, values.reshape(-1), torch.as_tensor([*shape, *inner], dtype=torch.int64)

    return run


def _check_splits(nested: list[np.ndarray], count: int) -> None:
    for i, s in enumerate(nested):
        if len(s) == 0:
            raise invalid_argument("ragged splits may not be empty.")
        if s[0] != 0:
            raise invalid_argument("First value of ragged splits must be 0.")
        if (s[1:] < s[:-1]).any():
            raise invalid_argument("Ragged splits should be non decreasing, but we got " + " followed by ".join(map(str, s[:2])))
        if i and nested[i - 1][-1] != len(s) - 1:
            raise invalid_argument("Final value of ragged splits must match the length the corresponding ragged values.")
    if nested[-1][-1] != count:
        raise invalid_argument("Final value of ragged splits must match the length the corresponding ragged values.")


def _to_sparse_shape(o: Operation) -> list[Any]:
    *splits, values = o.inputs
    rank = None if values.dims is None else len(splits) + len(values.dims)
    count = math.prod(values.dims) if is_fully_defined(values.dims) else None
    return [(count, rank), (count,), (rank,)]


def _to_sparse_gradient(o: Operation, *dys: Any) -> Any:
    return [*([None] * o.attr("RAGGED_RANK")), tf.reshape(dys[1], tf.shape(o.inputs[-1]))]


op("RaggedTensorToSparse", kernel=_to_sparse_kernel, shape=_to_sparse_shape, gradient=_to_sparse_gradient)


# -- variants


class RaggedVariant:
    """A ragged tensor as one value: the splits of its dimensions, and the innermost values."""

    __slots__ = ("splits", "values")

    def __init__(self, splits: list[Any], values: Any) -> None:
        self.splits, self.values = splits, values


def _to_variant_kernel(node: Node) -> Callable[..., Any]:
    depth, batched = node.attr("RAGGED_RANK"), node.attr("batched_input")

    def run(*inputs: Any) -> Any:
        splits, values = list(inputs[:depth]), inputs[depth]
        if not batched:
            return RaggedVariant(splits, values)
        rows = np.empty(len(splits[0]) - 1, dtype=object)
        for i in range(len(rows)):
            start, stop = int(splits[0][i]), int(splits[0][i + 1])
            inner = []
            for s in splits[1:]:
                cut = s[start : stop + 1]
                start, stop = int(cut[0]), int(cut[-1])
                inner.append(cut - start)
            rows[i] = RaggedVariant(inner, values[start:stop])
        return rows

    return run


def _from_variant_kernel(node: Node) -> Callable[..., Any]:
    depth, inner_depth = node.attr("output_ragged_rank"), node.attr("input_ragged_rank")
    split_type, value_type = _torch_type(node.attr("Tsplits").name), node.attr("Tvalues")

    def run(encoded: Any) -> Any:
        if isinstance(encoded, np.ndarray) and encoded.ndim == 0:
            encoded = encoded.item()
        if isinstance(encoded, RaggedVariant):
            if len(encoded.splits) != depth:
                raise invalid_argument(
                    f"Encoded input RaggedTensorVariant has ragged_rank={len(encoded.splits)}.  Expected ragged_rank={depth}."
                )
            return (*encoded.splits, encoded.values)
        parts = np.array(encoded, dtype=object) if not isinstance(encoded, np.ndarray) else encoded
        rank = depth - parts.ndim if inner_depth < 0 else inner_depth
        if rank + parts.ndim != depth:
            raise invalid_argument(
                "output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.dims(); output_ragged_rank: "
                f"{depth}, input_ragged_rank: {rank}, encoded_ragged.dims(): {parts.ndim}."
            )
        splits = [np.arange(int(np.prod(parts.shape[:axis])) + 1) * parts.shape[axis] for axis in range(1, parts.ndim)]
        flat = list(parts.reshape(-1))
        if flat and len(flat[0].splits) != rank:
            raise invalid_argument(
                f"Encoded input RaggedTensorVariant has ragged_rank={len(flat[0].splits)}.  Expected ragged_rank={rank}."
            )
        counts = [len(p.splits[0]) - 1 if rank else p.values.shape[0] for p in flat]
        splits.append(np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]))
        for level in range(rank):
            lengths = [np.diff(_array(p.splits[level])) for p in flat]
            splits.append(np.concatenate([[0], np.cumsum(np.concatenate(lengths) if lengths else [], dtype=np.int64)]))
        return (*(torch.as_tensor(s, dtype=split_type) for s in splits), _joined([p.values for p in flat], value_type))

    return run


def _joined(parts: list[Any], dtype: Any) -> Any:
    if dtype.name == "string":
        return np.concatenate(parts) if parts else np.empty(0, dtype=object)
    return torch.cat(parts) if parts else torch.empty(0, dtype=_torch_type(dtype.name))


def _from_variant_shape(o: Operation) -> list[Any]:
    depth, inner = o.attr("output_ragged_rank"), o.attr("input_ragged_rank")
    dims = o.inputs[0].dims
    if dims is not None and inner >= 0 and inner + len(dims) != depth:
        raise ValueError(
            "output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.rank; output_ragged_rank: "
            f"{depth}, input_ragged_rank: {inner}, encoded_ragged.rank: {len(dims)}."
        )
    return [*[(None,)] * depth, None]


def _to_variant_shape(o: Operation) -> Any:
    if not o.attr("batched_input"):
        return ()
    dims = o.inputs[0].dims
    return (None if dims is None or dims[0] is None else dims[0] - 1,)


op("RaggedTensorToVariant", kernel=_to_variant_kernel, shape=_to_variant_shape)
op("RaggedTensorFromVariant", kernel=_from_variant_kernel, shape=_from_variant_shape)
