"""Tensors put together: concat and stack."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.errors import internal_error, invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.constants import known
from everflow.graph.convert import constant, convert_to_tensor
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.graph.tensor import Tensor
from everflow.lazy import torch
from everflow.ops.arrays.reshaping import cast, is_text, shown
from everflow.ops.core import host_sizes, rows, symbolic
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, fused_op, not_differentiable, op
from everflow.ops.core.shape_rules import from_attr, same_as_input
from everflow.values.tensors import torch_dtype

Kernel = Callable[..., Any]


def _joined(xs: Any, axis: int, text: bool) -> Any:
    try:
        if text:
            return np.concatenate(xs, axis)
        # torch.cat lets empty vectors pass among tensors of any rank; TensorFlow only where all ranks agree.
        return torch.cat(xs, axis)
    except (RuntimeError, ValueError, IndexError):
        raise _cannot_join(xs, axis) from None


def _joined_pair(axis: int) -> Kernel:
    cat = torch.cat

    def run(x: Any, y: Any, _: Any) -> Any:
        try:
            return cat((x, y), axis)
        except (RuntimeError, IndexError):
            raise _cannot_join((x, y), axis) from None

    return run


def _cannot_join(xs: Any, axis: int) -> Exception:
    first = xs[0]
    if not -first.ndim <= axis < first.ndim:
        return invalid_argument(f"ConcatOp : Expected concatenating dimensions in the range [{-first.ndim}, {first.ndim}), but got {axis}")
    for i, x in enumerate(xs):
        if x.ndim != first.ndim:
            return invalid_argument(
                f"ConcatOp : Ranks of all input tensors should match: shape[0] = {shown(first.shape)} vs. shape[{i}] = {shown(x.shape)}"
            )
        if any(d != axis % first.ndim and m != n for d, (m, n) in enumerate(zip(x.shape, first.shape))):
            return invalid_argument(
                f"ConcatOp : Dimensions of inputs should match: shape[0] = {shown(first.shape)} vs. shape[{i}] = {shown(x.shape)}"
            )
    return internal_error("ConcatOp : inputs can't be concatenated")


def _one_axis(name: str, axis: Any) -> int:
    if axis.ndim:
        raise invalid_argument(f"{name} tensor should be a scalar integer, but got shape {shown(axis.shape)}")
    return int(axis)


def _concat_kernel(axis_first: bool) -> Callable[[Any], Kernel]:
    def make(node: Node) -> Kernel:
        at = 0 if axis_first else len(node.inputs) - 1
        text = is_text(node, 1 if axis_first else 0)
        axis = node.constant(at)
        if axis is None:
            if axis_first:
                return lambda axis, *xs: _joined(xs, _one_axis("concat_dim", axis), text)
            return lambda *xs: _joined(xs[:-1], _one_axis("axis", xs[-1]), text)
        fixed = int(axis.reshape(-1)[0])
        if axis_first:
            return lambda axis, *xs: _joined(xs, fixed, text)
        if len(node.inputs) == 3 and not text:
            return _joined_pair(fixed)
        return lambda *xs: _joined(xs[:-1], fixed, text)

    return make


def _concat_shape(axis_first: bool) -> Callable[[Any], Any]:
    def rule(o: Operation) -> Any:
        axis_tensor = o.inputs[0] if axis_first else o.inputs[-1]
        parts = o.inputs[1:] if axis_first else o.inputs[:-1]
        if axis_tensor.dims not in (None, ()):
            raise ValueError(f"Shape must be rank 0 but is rank {len(axis_tensor.dims)}")
        axis = known(axis_tensor)
        return joined_dims([t.dims for t in parts], None if axis is None else int(axis))

    return rule


def joined_dims(parts: list[Any], axis: int | None) -> Any:
    """The dims of tensors concatenated along an axis, which may not be known."""
    rank_of: Any = next((len(d) for d in parts if d is not None), None)
    if axis is None:
        if rank_of == 0:
            raise ValueError("Can't concatenate scalars (use tf.stack instead)")
        for d in parts:
            if d is not None:
                shapes.with_rank(d, rank_of)
        return None if rank_of is None else (None,) * rank_of
    if rank_of == 0:
        raise ValueError("Can't concatenate scalars (use tf.stack instead)")
    least = axis + 1 if axis >= 0 else -axis
    for d in parts:
        if d is not None:
            shapes.with_rank(d, rank_of)
            shapes.with_rank_at_least(d, least)
    if rank_of is None:
        return None
    at = axis % rank_of
    size: int | None = 0
    before: Any = (None,) * at
    after: Any = (None,) * (rank_of - at - 1)
    for d in parts:
        if d is None:
            size = None
        else:
            before, after = shapes.merge(before, d[:at]), shapes.merge(after, d[at + 1 :])
            size = None if size is None or d[at] is None else size + d[at]
    return (*before, size, *after)


def _parts_gradient(o: Operation, dy: Any, axis_first: bool) -> Any:
    """Each input of a concatenation gets its part of dy."""
    axis = o.inputs[0] if axis_first else o.inputs[-1]
    parts = list(o.inputs[1:] if axis_first else o.inputs[:-1])
    if len(parts) == 1:
        found = [dy]
    elif isinstance(dy, IndexedSlices):
        found = _indexed_parts(dy, axis, parts)
    else:
        at = axis % tf.rank(parts[0])
        sizes = _sizes(parts)
        if len(parts) > 16:
            lengths = tf.squeeze(tf.slice(stack(sizes, axis=1), [at, 0], [1, -1]))
            found = tf.split(dy, lengths, at, num=len(parts))
        else:
            offsets = apply("ConcatOffset", at, sizes)
            found = [tf.slice(dy, begin, size) for begin, size in zip(offsets, sizes)]
    return [None, *found] if axis_first else [*found, None]


def _sizes(tensors: list[Any]) -> list[Any]:
    """The shapes of tensors: constants if all are known."""
    found = []
    for t in tensors:
        found.append(tf.shape(t))
        if not found[-1].is_eager and found[-1].op.type != "Const":
            return list(tf.shape_n(tensors))
    return found


def _indexed_parts(dy: Any, axis: Any, parts: list[Any]) -> list[Any]:
    """The parts of a gradient of which only some rows are there."""
    position = known(axis)
    if position is None:
        raise ValueError("Can only compute IndexedSlices gradient with statically-known concat_dim")
    at = int(position)
    if at < 0:
        if parts[0].dims is None:
            raise ValueError("Can only compute IndexedSlices gradient with negative concat_dim when first value rank is statically-known.")
        at += len(parts[0].dims)
    sizes = [tf.shape(t) for t in parts]
    found = []
    if at > 0:
        offsets = apply("ConcatOffset", axis, sizes)
        for begin, size in zip(offsets, sizes):
            # The rows are chosen already: only the other dimensions are sliced.
            values = tf.slice(dy.values, concat([[0], tf.slice(begin, [1], [-1])], 0), concat([[-1], tf.slice(size, [1], [-1])], 0))
            found.append(IndexedSlices(values, dy.indices, size))
        return found
    start = constant(0, dtype=dy.indices.dtype)
    for size in sizes:
        end = start + cast(tf.slice(size, [0], [1]), dy.indices.dtype)
        end = tf.squeeze(end, [0])
        rows = tf.squeeze(tf.where(tf.logical_and(tf.greater_equal(dy.indices, start), tf.less(dy.indices, end))), [1])
        found.append(IndexedSlices(tf.gather(dy.values, rows), tf.gather(dy.indices, rows) - start, size))
        start = end
    return found


op("Concat", kernel=_concat_kernel(True), shape=_concat_shape(True), gradient=lambda o, dy: _parts_gradient(o, dy, True))
op(
    "ConcatV2",
    kernel=_concat_kernel(False),
    shape=_concat_shape(False),
    gradient=lambda o, dy: _parts_gradient(o, dy, False),
    host=host_sizes.joined,
    symbolic=symbolic.joined,
    holds=symbolic.holds_joined,
    rows=rows.joined,
)


def _concat_offset(node: Node) -> Kernel:
    def run(axis: Any, *sizes: Any) -> Any:
        at = _one_axis("Concat dim", axis)
        for i, s in enumerate(sizes):
            if s.ndim != 1:
                raise invalid_argument(f"input {i} should be a vector, but got shape {shown(s.shape)}")
        rank_of = len(sizes[0])
        if not -rank_of <= at < rank_of:
            raise invalid_argument(f"Concat dim is out of range: {at} vs. {rank_of}")
        at %= rank_of
        first = sizes[0].tolist()
        start = 0
        found = []
        for i, s in enumerate(sizes):
            mine = s.tolist()
            if len(mine) != rank_of:
                raise invalid_argument(f"input {i} should contain {rank_of} elements, but got {len(mine)}")
            for d in range(rank_of):
                if d != at and mine[d] != first[d]:
                    raise invalid_argument(
                        f"All dimensions except {at} must match. Input {i} has shape [{' '.join(map(str, mine))}] and "
                        f"doesn't match input 0 with shape [{' '.join(map(str, first))}]."
                    )
            offset = [0] * rank_of
            offset[at] = start
            start += mine[at]
            found.append(torch.tensor(offset, dtype=torch.int32))
        return tuple(found)

    return run


op("ConcatOffset", kernel=_concat_offset, shape=lambda o: [t.dims for t in o.inputs[1:]], gradient=not_differentiable)


def _part(node: Node) -> Any:
    """Of what was joined along an axis, what begins at a known place."""
    axis, start, length = node.attr("axis"), node.attr("start"), node.attr("length")
    return lambda x: x.narrow(axis, start, length)


fused_op("_Part", kernel=_part, view=True, symbolic=symbolic.part, rows=rows.part)


@public("concat", ragged="arrays.concat")
def concat(values: Any, axis: Any, name: str = "concat") -> Any:
    """Tensors joined along a dimension they have."""
    parts = values if isinstance(values, (list, tuple)) else [values]
    if len(parts) != 1:
        return apply("ConcatV2", parts, axis, name=name)
    with name_scope(name):
        at = convert_to_tensor(axis, name="concat_dim", dtype=dtypes.int32)
        if at.dims not in (None, ()):
            raise ValueError(f"Shape {at.get_shape()} must have rank 0")
        return tf.identity(parts[0], name=name)


def _pack(node: Node) -> Kernel:
    axis = node.attr("axis")
    if is_text(node):
        return lambda *xs: np.stack(xs, axis)

    def run(*xs: Any) -> Any:
        try:
            return torch.stack(xs, axis)
        except (IndexError, RuntimeError):
            most = xs[0].ndim + 1
            if not -most <= axis < most:
                raise invalid_argument(f"axis = {axis} not in [{-most}, {most})") from None
            for i, x in enumerate(xs):
                if x.shape != xs[0].shape:
                    raise invalid_argument(
                        f"Shapes of all inputs must match: values[0].shape = {shown(xs[0].shape)} != values[{i}].shape = {shown(x.shape)}"
                    ) from None
            raise

    return run


def _pack_shape(o: Operation) -> Any:
    if o.inputs[0].dtype is dtypes.variant:
        o.outputs[0].handle_data = o.inputs[0].handle_data
    dims = None
    for i, t in enumerate(o.inputs):
        try:
            dims = shapes.merge(dims, t.dims)
        except ValueError as e:
            raise ValueError(f"{e}\n\tFrom merging shape {i - 1} with other shapes.") from None
    if dims is None:
        return None
    axis = o.attr("axis")
    if not -len(dims) - 1 <= axis <= len(dims):
        raise ValueError(f"Invalid axis: {axis}; must be in [{-len(dims) - 1},{len(dims) + 1})")
    at = axis % (len(dims) + 1)
    return dims[:at] + (len(o.inputs),) + dims[at:]


op(
    "Pack",
    kernel=_pack,
    shape=_pack_shape,
    gradient=lambda o, dy: apply("Unpack", dy, num=o.attr("N"), axis=o.attr("axis"), name="unstack"),
    host=host_sizes.packed,
    holds=symbolic.holds_numbers,
)


@public("stack", ragged="arrays.stack")
def stack(values: Any, axis: int = 0, name: str = "stack") -> Any:
    """Tensors of one shape joined along a new dimension."""
    if axis == 0:
        with contextlib.suppress(TypeError, ValueError):
            return convert_to_tensor(values, name=name)
    dims = convert_to_tensor(values[0], name=name).dims
    if dims is not None and not -len(dims) - 1 <= axis <= len(dims):
        raise ValueError(f"axis = {axis} not in [{-len(dims) - 1}, {len(dims) + 1})")
    return apply("Pack", values, axis=axis, name=name)


def packed(values: Any, dtype: dtypes.DTypeLike, name: str) -> Any:
    """Nested lists that hold tensors, as one tensor: `tf.convert_to_tensor([x, 1.0])`."""
    found = _packed(values, dtype, name)
    return found if isinstance(found, Tensor) else NotImplemented


def _packed(values: Any, dtype: dtypes.DTypeLike, name: str) -> Any:
    with name_scope(name) as scope:
        elements = []
        for i, value in enumerate(values):
            if isinstance(value, (list, tuple)):
                value = _packed(value, dtype, str(i))
            elif holds_tensor(value):
                value = convert_to_tensor(value)
                if value.dtype.base_dtype is not dtype:
                    raise TypeError(
                        f"Cannot convert a list containing a tensor of dtype {value.dtype!r} to {dtype!r} (Tensor is: {value!r})"
                    )
            elements.append(value)
        if not any(isinstance(e, Tensor) for e in elements):
            return elements
        tensors = [e if isinstance(e, Tensor) else constant(e, dtype, name=str(i)) for i, e in enumerate(elements)]
        return apply("Pack", tensors, name=scope)


def holds_tensor(value: Any) -> bool:
    """Whether a value is a tensor or stands for one."""
    return isinstance(value, Tensor) or hasattr(value, "_as_graph_element")


def _cast_nested(values: Any, dtype: dtypes.DTypeLike) -> Any:
    if isinstance(values, (list, tuple)):
        return [_cast_nested(v, dtype) for v in values]
    return cast(convert_to_tensor(values), dtype) if holds_tensor(values) else values


def _first_dtype(values: Any) -> Any:
    for value in values:
        if isinstance(value, (list, tuple)):
            found = _first_dtype(value)
            if found is not None:
                return found
        elif holds_tensor(value):
            return value.dtype.base_dtype
    return None


def pack_nested(values: Any, dtype: Any, name: str | None) -> Any:
    """Converts a list in which tensors may stand; NotImplemented where none does."""
    inferred = _first_dtype(values)
    if inferred is None:
        return NotImplemented
    wanted = inferred if dtype is None else dtype.base_dtype
    if wanted is not inferred:
        values = _cast_nested(values, wanted)
    return packed(values, wanted, name or "packed")


def _parallel_concat_shape(o: Operation) -> Any:
    dims = o.attr("shape")
    if dims is None or None in dims:
        raise ValueError("shape attr must be fully defined.")
    return dims


op(
    "ParallelConcat",
    kernel=lambda node: (lambda *xs: np.concatenate(xs)) if is_text(node) else lambda *xs: torch.cat(xs),
    shape=_parallel_concat_shape,
)


def _whole(node: Node) -> Kernel:
    dims, kind = node.attr("shape"), torch_dtype(node.attr("dtype"))
    return lambda: torch.empty(dims, dtype=kind)


def _row(node: Node) -> Kernel:
    """Writes a row into the memory that others fill as well."""
    place = node.attr("loc")

    def run(whole: Any, row: Any) -> Any:
        if whole.dim() != row.dim():
            raise invalid_argument(f"value and update shape doesn't match: {shapes.describe(whole.shape)} vs. {shapes.describe(row.shape)}")
        if whole.shape[1:] != row.shape[1:]:
            raise invalid_argument(f"value and update shape doesn't match {shapes.describe(whole.shape)} vs. {shapes.describe(row.shape)}")
        if row.shape[0] != 1:
            raise invalid_argument(f"update shape doesn't match: {shapes.describe(row.shape)}")
        whole[place % whole.shape[0]] = row[0]
        return whole

    return run


op("_ParallelConcatStart", kernel=_whole, shape=from_attr(), folds=False)
op("_ParallelConcatUpdate", kernel=_row, shape=same_as_input, view=True, writes=True)


@public("parallel_stack")
def parallel_stack(values: Any, name: str = "parallel_stack") -> Any:
    """Tensors of one static shape joined along a new first dimension."""
    with name_scope(name):
        first = convert_to_tensor(values[0])
        dims = first.get_shape()
        whole = shapes.TensorShape([len(values)]).concatenate(dims)
        return apply("ParallelConcat", [tf.expand_dims(v, 0) for v in values], shape=whole)
