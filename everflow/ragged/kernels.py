"""The ops of ragged tensors: ranges, gathering rows, and the ways to and from sparse tensors and variants."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.errors import internal_error, invalid_argument
from everflow.graph import dtypes
from everflow.graph.constants import dims_of, known
from everflow.graph.operation import Operation
from everflow.graph.shapes import is_fully_defined, with_rank_at_most
from everflow.lazy import torch
from everflow.ops.core.broadcasting import sums_along
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
        if deltas.dim() == 0 and int(deltas) == 1 and not kind.is_floating_point:
            # A step of one, as rows of other tensors are counted by.
            counts = (limits - starts).to(torch.int64).clamp(min=0).expand(n)
            splits = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
            total = int(splits[-1])
            values = torch.arange(total, device=starts.device) + (starts - splits[:-1]).repeat_interleave(counts, output_size=total)
            return splits.to(split_type), values.to(kind)
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


# -- dense tensors


def _partition_types(types: Any) -> list[str]:
    """How the rows are told, from the outermost; an error for ways that there are not."""
    names = [t.decode() if isinstance(t, bytes) else t for t in types]
    for name in names:
        if name not in ("FIRST_DIM_SIZE", "VALUE_ROWIDS", "ROW_SPLITS"):
            known = name in ("ROW_LENGTHS", "ROW_LIMITS", "ROW_STARTS")
            raise ValueError(f"Unsupported partition type: {name}" if known else f"Unknown string for partition info type: {name}")
    if names[0] == "VALUE_ROWIDS":
        raise ValueError("VALUE_ROWIDS cannot be first")
    if names[0] == "FIRST_DIM_SIZE" and names[1:2] != ["VALUE_ROWIDS"]:
        raise ValueError("FIRST_DIM_SIZE must be followed by VALUE_ROWIDS")
    if "FIRST_DIM_SIZE" in names[1:]:
        raise ValueError("FIRST_DIM_SIZE must be first")
    return names


def _to_dense_dims(wanted: Any, values: Any, ragged_rank: int) -> list[int | None]:
    """The dims of the dense tensor as far as they are known: those asked for, the inner ones of the values."""
    known = [None] * (ragged_rank + 1) + list(values[1:])
    if wanted is None:
        return known
    if not values or len(wanted) != len(known):
        raise ValueError(
            f"Value shape ({_listed(values)}), ragged_rank({ragged_rank}) and shape({_listed(wanted)}) do not have a consistent "
            "number of dimensions"
        )
    if any(w is not None and k is not None and w != k for w, k in zip(wanted, known)):
        raise ValueError("Value and shape dimension are inconsistent.")
    return [k if w is None else w for w, k in zip(wanted, known)]


def _listed(dims: Any) -> str:
    return "".join(f"dim {{\n  size: {-1 if d is None else d}\n}}\n" for d in dims)


def _wanted_dims(shape: Any) -> list[int | None] | None:
    """What the shape of a dense tensor is asked to be; None for anything."""
    with_rank_at_most(shape.shape, 1)
    if shape.ndim == 0:
        if shape != -1:
            raise ValueError(f"Received an invalid shape scalar with a static value that is not '-1': {shape}")
        return None
    if (shape < -1).any():
        raise ValueError(f"Invalid value in tensor used for shape: {shape[shape < -1][0]}")
    return [None if n == -1 else int(n) for n in shape]


def _to_dense_kernel(node: Node) -> Callable[..., Any]:
    try:
        types = _partition_types(node.attr("row_partition_types"))
    except ValueError as error:
        raise invalid_argument(str(error)) from None
    has_count = types[0] == "FIRST_DIM_SIZE"
    depth = len(types) - has_count

    def run(shape: Any, values: Any, default: Any, *parts: Any) -> Any:
        try:
            dims: Any = _to_dense_dims(_wanted_dims(_array(shape)), tuple(values.shape), depth)
        except ValueError as error:
            raise invalid_argument(str(error)) from None
        count = int(parts[0]) if has_count else parts[0].shape[0] - 1
        if count < 0:
            raise invalid_argument("Invalid number of rows")
        dims[0] = count if dims[0] is None else dims[0]
        places = torch.arange(count, device=parts[0].device)
        dropped = dims[0] < count
        if dropped:
            places[dims[0] :] = -1
        for axis, (kind, part) in enumerate(zip(types[has_count:], parts[has_count:]), start=1):
            starts, lengths = _starts_and_lengths(kind, part, len(places))
            longest = int(lengths.max()) if len(lengths) else 0
            dims[axis] = width = longest if dims[axis] is None else dims[axis]
            total = int(lengths.sum())
            numbers = torch.arange(total, device=part.device)
            dropped = dropped or longest > width
            if not dropped:
                places = (places * width - starts).repeat_interleave(lengths, output_size=total) + numbers
                continue
            rows = places.repeat_interleave(lengths, output_size=total)
            columns = numbers - starts.repeat_interleave(lengths, output_size=total)
            places = torch.where((rows < 0) | (columns >= width), -1, rows * width + columns)
        if len(places) != values.shape[0]:
            raise internal_error("Values and indices must be equal")
        if dropped:
            kept = places >= 0
            places, values = places[kept], values[kept.numpy() if isinstance(values, np.ndarray) else kept]
        outer, inner = dims[: depth + 1], tuple(values.shape[1:])
        return _filled(values, default, places, math.prod(outer), inner).reshape(*outer, *inner)

    return run


def _starts_and_lengths(kind: str, part: Any, count: int) -> tuple[Any, Any]:
    part = part.long()
    if kind == "ROW_SPLITS":
        lengths = part.diff()
        if not len(part) or len(lengths) != count or int(part[0]) or bool((lengths < 0).any()):
            raise internal_error("Values and indices must be equal")
        return part[:-1], lengths
    if len(part) and (int(part[0]) < 0 or int(part[-1]) >= count or bool((part.diff() < 0).any())):
        raise invalid_argument(f"value_rowids must rise, and be at least 0 and less than {count}")
    lengths = torch.bincount(part, minlength=count)
    return lengths.cumsum(0) - lengths, lengths


def _filled(values: Any, default: Any, places: Any, count: int, inner: tuple[int, ...]) -> Any:
    """`count` rows, the values at their places and the default everywhere else."""
    try:
        if isinstance(values, np.ndarray):
            strings = np.broadcast_to(default, (count, *inner)).copy()
            strings[places.numpy()] = values
            return strings
        found = default.expand(count, *inner).clone(memory_format=torch.contiguous_format)
    except (ValueError, RuntimeError):
        raise invalid_argument(f"default_value of shape {list(default.shape)} cannot be broadcast to {list(inner)}") from None
    return found.index_copy_(0, places, values)


def _to_dense_shape(o: Operation) -> Any:
    shape, values, default, *parts = o.inputs
    types = _partition_types(o.attr("row_partition_types"))
    if len(types) != len(parts):
        raise ValueError(f"Number of row partition tensors ({len(parts)}) does not equal the number of row partition types({len(types)}).")
    with_rank_at_most(shape.dims, 1)
    given = known(shape)
    wanted = _wanted_dims(given) if given is not None else None if shape.dims == () else dims_of(shape)
    if values.dims is None:
        return wanted
    for i, (d, v) in enumerate(zip(reversed(default.dims or ()), reversed(values.dims[1:]))):
        if d is not None and v is not None and d not in (1, v):
            raise ValueError(f"default_value_shape and value_shape do not match on dimension {len(default.dims or ()) - 1 - i}")
    return tuple(_to_dense_dims(wanted, values.dims, len(types) - (types[0] == "FIRST_DIM_SIZE")))


def _to_dense_gradient(o: Operation, dy: Any) -> Any:
    shape, values, default, *parts = o.inputs
    types = o.attr("row_partition_types")
    outer = len(types) + (types[0] not in ("FIRST_DIM_SIZE", b"FIRST_DIM_SIZE"))
    # Which value each place was given, -1 where it got the default: the op run again on the numbers of the values.
    count = tf.shape(values, out_type=dtypes.int64)[0]
    sizes = tf.shape(dy, out_type=dtypes.int64)
    numbers = apply("RaggedTensorToTensor", sizes[:outer], tf.range(count), tf.constant(-1, dtypes.int64), parts, row_partition_types=types)
    numbers = tf.reshape(numbers, [-1])
    rows = tf.reshape(dy, tf.concat([tf.shape(numbers, out_type=dtypes.int64), sizes[outer:]], 0))
    to_values = tf.math.unsorted_segment_sum(rows, numbers, count)
    to_default = tf.reduce_sum(tf.boolean_mask(rows, numbers < 0), 0)
    to_default = sums_along(tf.shape(default), tf.shape(values)[1:])[0](to_default)
    return [None, to_values, to_default, *([None] * len(parts))]


op("RaggedTensorToTensor", kernel=_to_dense_kernel, shape=_to_dense_shape, gradient=_to_dense_gradient)


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


op("RaggedTensorToVariant", kernel=_to_variant_kernel, shape=_to_variant_shape, gradient=not_differentiable)
op("RaggedTensorFromVariant", kernel=_from_variant_kernel, shape=_from_variant_shape)
