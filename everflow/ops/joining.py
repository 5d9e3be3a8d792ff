"""Tensors put together and taken apart: concat, stack, unstack, split, tile, meshgrid, repeat."""
from __future__ import annotations

import contextlib
from typing import Any, Callable

import numpy as np

from everflow import errors
from everflow.api import internal, public
from everflow.graph import dtypes, shapes
from everflow.graph.constants import dims_of, known
from everflow.graph.convert import constant, convert_list, convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.tensor import Tensor
from everflow.lazy import torch
from everflow.ops.arrays import cast, expand_dims, identity, is_text, rank, reshape, shape, shape_n, size, squeeze
from everflow.ops.registry import apply, not_differentiable, op

Kernel = Callable[..., Any]


def _shown(dims: Any) -> str:
    return "[" + ",".join(map(str, dims)) + "]"


def _joined(xs: Any, axis: int, text: bool) -> Any:
    try:
        if text:
            return np.concatenate(xs, axis)
        # torch.cat lets empty vectors pass among tensors of any rank; TensorFlow only where all ranks agree.
        return torch.cat(xs, axis)
    except (RuntimeError, ValueError, IndexError):
        raise _cannot_join(xs, axis) from None


def _cannot_join(xs: Any, axis: int) -> Exception:
    first = xs[0]
    if not -first.ndim <= axis < first.ndim:
        return errors.invalid_argument(
            f"ConcatOp : Expected concatenating dimensions in the range [{-first.ndim}, {first.ndim}), but got {axis}")
    for i, x in enumerate(xs):
        if x.ndim != first.ndim:
            return errors.invalid_argument(
                f"ConcatOp : Ranks of all input tensors should match: shape[0] = {_shown(first.shape)} vs. shape[{i}] = {_shown(x.shape)}")
        if any(d != axis % first.ndim and m != n for d, (m, n) in enumerate(zip(x.shape, first.shape))):
            return errors.invalid_argument(
                f"ConcatOp : Dimensions of inputs should match: shape[0] = {_shown(first.shape)} vs. shape[{i}] = {_shown(x.shape)}")
    return errors.internal_error("ConcatOp : inputs can't be concatenated")


def _concat_kernel(axis_first: bool) -> Callable[[Any], Kernel]:
    def make(node: Any) -> Kernel:
        at = 0 if axis_first else len(node.inputs) - 1
        text = is_text(node, 1 if axis_first else 0)
        axis = node.constant(at)
        if axis is None:
            if axis_first:
                return lambda axis, *xs: _joined(xs, int(axis), text)
            return lambda *xs: _joined(xs[:-1], int(xs[-1]), text)
        fixed = int(axis.reshape(-1)[0])
        if axis_first:
            return lambda axis, *xs: _joined(xs, fixed, text)
        if len(node.inputs) == 3 and not text:
            return lambda x, y, axis: _joined((x, y), fixed, False)
        return lambda *xs: _joined(xs[:-1], fixed, text)

    return make


def _concat_shape(axis_first: bool) -> Callable[[Any], Any]:
    def rule(o: Any) -> Any:
        axis_tensor = o.inputs[0] if axis_first else o.inputs[-1]
        parts = o.inputs[1:] if axis_first else o.inputs[:-1]
        if axis_tensor.dims not in (None, ()):
            raise ValueError(f"Shape must be rank 0 but is rank {len(axis_tensor.dims)}")
        axis = known(axis_tensor)
        return joined_dims([t.dims for t in parts], None if axis is None else int(axis))

    return rule


def joined_dims(parts: list[Any], axis: int | None) -> Any:
    """The dims of tensors concatenated along an axis, which may not be known."""
    ranks = {len(d) for d in parts if d is not None}
    if axis is None:
        if not ranks:
            return None
        found = next(d for d in parts if d is not None)
        for d in parts:
            if d is not None and len(d) != len(found):
                raise ValueError(f"Shapes must be equal rank, but are {len(found)} and {len(d)}")
        return (None,) * len(found)
    least = axis + 1 if axis >= 0 else -axis
    for d in parts:
        if d is not None and len(d) < least:
            raise ValueError(f"Shape must be at least rank {least} but is rank {len(d)}")
    if not ranks:
        return None
    total: int | None = 0
    others: Any = None
    for i, d in enumerate(parts):
        if d is None:
            total = None
            continue
        at = axis % len(d)
        total = None if total is None or d[at] is None else total + d[at]
        rest = d[:at] + (None,) + d[at + 1:]
        try:
            others = rest if others is None else shapes.merge(others, rest)
        except ValueError as e:
            shown = ", ".join(shapes.describe(p) for p in parts)
            raise ValueError(f"{e}\n\tFrom merging shape {i - 1} with other shapes.") from None
    at = axis % len(others)
    return others[:at] + (total,) + others[at + 1:]


def _parts_gradient(o: Any, dy: Any, axis_first: bool) -> Any:
    """Each input of a concatenation gets its part of dy."""
    from everflow.graph.indexed_slices import IndexedSlices
    from everflow.ops.slicing import slice_

    axis = o.inputs[0] if axis_first else o.inputs[-1]
    parts = list(o.inputs[1:] if axis_first else o.inputs[:-1])
    if len(parts) == 1:
        found = [dy]
    elif isinstance(dy, IndexedSlices):
        found = _indexed_parts(dy, axis, parts)
    else:
        from everflow.ops.division import floormod

        at = floormod(axis, rank(parts[0]), name="mod")
        sizes = _sizes(parts)
        if len(parts) > 16:
            lengths = squeeze(slice_(stack(sizes, axis=1), [at, 0], [1, -1]))
            found = split(dy, lengths, at)
        else:
            offsets = apply("ConcatOffset", at, sizes)
            found = [slice_(dy, begin, size) for begin, size in zip(offsets, sizes)]
    return [None, *found] if axis_first else [*found, None]


def _sizes(tensors: list[Any]) -> list[Any]:
    """The shapes of tensors: constants if all are known."""
    found = []
    for t in tensors:
        found.append(shape(t))
        if found[-1].op.type != "Const":
            return list(shape_n(tensors))
    return found


def _indexed_parts(dy: Any, axis: Any, parts: list[Any]) -> list[Any]:
    """The parts of a gradient of which only some rows are there."""
    from everflow.graph.indexed_slices import IndexedSlices
    from everflow.ops.selecting import where
    from everflow.ops.gathering import gather
    from everflow.ops.slicing import slice_

    position = known(axis)
    if position is None:
        raise ValueError("Can only compute IndexedSlices gradient with statically-known concat_dim")
    at = int(position)
    if at < 0:
        at = int(known(rank(parts[0]))) + at  # type: ignore[arg-type]
    sizes = [shape(t) for t in parts]
    found = []
    if at > 0:
        offsets = apply("ConcatOffset", axis, sizes)
        for begin, size in zip(offsets, sizes):
            # The rows are chosen already: only the other dimensions are sliced.
            values = slice_(dy.values, concat([[0], slice_(begin, [1], [-1])], 0), concat([[-1], slice_(size, [1], [-1])], 0))
            found.append(IndexedSlices(values, dy.indices, size))
        return found
    start = constant(0, dtype=dy.indices.dtype)
    for size in sizes:
        end = start + cast(slice_(size, [0], [1]), dy.indices.dtype)
        end = squeeze(end, [0])
        rows = squeeze(where(apply("LogicalAnd", apply("GreaterEqual", dy.indices, start), apply("Less", dy.indices, end))), [1])
        found.append(IndexedSlices(gather(dy.values, rows), gather(dy.indices, rows) - start, size))
        start = end
    return found


op("Concat", kernel=_concat_kernel(True), shape=_concat_shape(True), gradient=lambda o, dy: _parts_gradient(o, dy, True))
op("ConcatV2", kernel=_concat_kernel(False), shape=_concat_shape(False), gradient=lambda o, dy: _parts_gradient(o, dy, False))


def _concat_offset(node: Any) -> Kernel:
    def run(axis: Any, *sizes: Any) -> Any:
        at = int(axis)
        rank_of = len(sizes[0])
        if not -rank_of <= at < rank_of:
            raise errors.invalid_argument(f"Concat dim is out of range: {at} vs. {rank_of}")
        at %= rank_of
        first = sizes[0].tolist()
        start = 0
        found = []
        for i, s in enumerate(sizes):
            mine = s.tolist()
            if len(mine) != rank_of:
                raise errors.invalid_argument(f"input {i} should contain {rank_of} elements, but got {len(mine)}")
            for d in range(rank_of):
                if d != at and mine[d] != first[d]:
                    raise errors.invalid_argument(
                        f"All dimensions except {at} must match. Input {i} has shape [{' '.join(map(str, mine))}] and doesn't match "
                        f"input 0 with shape [{' '.join(map(str, first))}].")
            offset = [0] * rank_of
            offset[at] = start
            start += mine[at]
            found.append(torch.tensor(offset, dtype=torch.int32))
        return tuple(found)

    return run


op("ConcatOffset", kernel=_concat_offset, shape=lambda o: [t.dims for t in o.inputs[1:]], gradient=not_differentiable)


@public("concat")
def concat(values: Any, axis: Any, name: str = "concat") -> Any:
    """Tensors joined along a dimension they have."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    if len(values) == 1:
        with name_scope(name) as scope:
            at = convert_to_tensor(axis, name="concat_dim", dtype=dtypes.int32)
            if at.dims not in (None, ()):
                raise ValueError(f"Shape {at.get_shape()} must have rank 0")
            return identity(values[0], name=name)
    return apply("ConcatV2", values, axis, name=name)


def _pack(node: Any) -> Kernel:
    axis = node.attr("axis")
    if is_text(node):
        return lambda *xs: np.stack(xs, axis)

    def run(*xs: Any) -> Any:
        try:
            return torch.stack(xs, axis)
        except RuntimeError:
            for i, x in enumerate(xs):
                if x.shape != xs[0].shape:
                    raise errors.invalid_argument(
                        f"Shapes of all inputs must match: values[0].shape = {_shown(xs[0].shape)} != values[{i}].shape = {_shown(x.shape)}"
                    ) from None
            raise

    return run


def _pack_shape(o: Any) -> Any:
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


op("Pack", kernel=_pack, shape=_pack_shape,
   gradient=lambda o, dy: apply("Unpack", dy, num=o.attr("N"), axis=o.attr("axis"), name="unstack"))


@public("stack")
def stack(values: Any, axis: int = 0, name: str = "stack") -> Any:
    """Tensors of one shape joined along a new dimension."""
    if axis == 0:
        with contextlib.suppress(TypeError, ValueError):
            return convert_to_tensor(values, name=name)
    dims = convert_to_tensor(values[0], name=name).dims
    if dims is not None and not -len(dims) - 1 <= axis <= len(dims):
        raise ValueError(f"axis = {axis} not in [{-len(dims) - 1}, {len(dims) + 1})")
    return apply("Pack", values, axis=axis, name=name)


def packed(values: Any, dtype: Any, name: str) -> Any:
    """Nested lists that hold tensors, as one tensor: `tf.convert_to_tensor([x, 1.0])`."""
    found = _packed(values, dtype, name)
    return found if isinstance(found, Tensor) else NotImplemented


def _packed(values: Any, dtype: Any, name: str) -> Any:
    with name_scope(name) as scope:
        elements = []
        for i, value in enumerate(values):
            if isinstance(value, (list, tuple)):
                value = _packed(value, dtype, str(i))
            elif holds_tensor(value):
                value = convert_to_tensor(value)
                if value.dtype.base_dtype is not dtype:
                    raise TypeError(f"Cannot convert a list containing a tensor of dtype {value.dtype!r} to {dtype!r} (Tensor is: {value!r})")
            elements.append(value)
        if not any(isinstance(e, Tensor) for e in elements):
            return elements
        tensors = [e if isinstance(e, Tensor) else constant(e, dtype, name=str(i)) for i, e in enumerate(elements)]
        return apply("Pack", tensors, name=scope)


def holds_tensor(value: Any) -> bool:
    """Whether a value is a tensor or stands for one."""
    return isinstance(value, Tensor) or hasattr(value, "_as_graph_element")


def _cast_nested(values: Any, dtype: Any) -> Any:
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


def _unpack(node: Any) -> Kernel:
    axis, num = node.attr("axis"), node.attr("num")
    text = is_text(node)

    def run(x: Any) -> Any:
        if not -x.ndim <= axis < x.ndim:
            raise errors.invalid_argument(f"axis = {axis} not in [{-x.ndim}, {x.ndim})")
        if x.shape[axis] != num:
            raise errors.invalid_argument(f"Input shape axis {axis % x.ndim} must equal {num}, got shape {_shown(x.shape)}")
        if text:
            found = tuple([np.asarray(part, object) for part in np.moveaxis(x, axis, 0)])
        else:
            found = x.unbind(axis)
        return found[0] if num == 1 else found

    dims = node.inputs[0].dims
    if dims is not None and not text and num != 1 and dims[axis] == num:
        return lambda x: x.unbind(axis)
    return run


def _unpack_shape(o: Any) -> Any:
    dims, axis, num = o.inputs[0].dims, o.attr("axis"), o.attr("num")
    if dims is None:
        return [None] * num
    if not -len(dims) <= axis < len(dims):
        raise ValueError(f"Invalid axis: {axis}; must be in [{-len(dims)},{len(dims)})")
    at = axis % len(dims)
    if dims[at] not in (None, num):
        raise ValueError(f"Dimension must be {num} but is {dims[at]}")
    return [dims[:at] + dims[at + 1:]] * num


op("Unpack", kernel=_unpack, shape=_unpack_shape, gradient=lambda o, *dys: stack(list(dys), axis=o.attr("axis")), view=True)


@public("unstack")
def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = "unstack") -> Any:
    """The tensors along a dimension, as a list."""
    if num is None:
        value = convert_to_tensor(value)
        dims = value.dims
        if dims is not None:
            if not -len(dims) <= axis < len(dims):
                raise ValueError(f"axis = {axis} not in [{-len(dims)}, {len(dims)})")
            num = dims[axis]
    if num is None:
        raise ValueError(f"Cannot infer num from shape {value.get_shape()}")
    return apply("Unpack", value, num=num, axis=axis, name=name)


def _parallel_concat_shape(o: Any) -> Any:
    dims = o.attr("shape")
    if dims is None or None in dims:
        raise ValueError("shape attr must be fully defined.")
    return dims


op("ParallelConcat", kernel=lambda node: (lambda *xs: np.concatenate(xs)) if is_text(node) else lambda *xs: torch.cat(xs),
   shape=_parallel_concat_shape)


@public("parallel_stack")
def parallel_stack(values: Any, name: str = "parallel_stack") -> Any:
    """Tensors of one static shape joined along a new first dimension."""
    with name_scope(name):
        first = convert_to_tensor(values[0])
        dims = first.get_shape()
        whole = shapes.TensorShape([len(values)]).concatenate(dims)
        return apply("ParallelConcat", [expand_dims(v, 0) for v in values], shape=whole)


def _split(node: Any) -> Kernel:
    count = len(node.outputs)
    text = is_text(node, 1)

    def run(axis: Any, x: Any) -> Any:
        at = int(axis)
        if not -x.ndim <= at < x.ndim:
            raise errors.invalid_argument(
                f"-input rank(-{x.ndim}) <= split_dim < input rank ({x.ndim}), but got {at}")
        size = x.shape[at]
        if size % count:
            raise errors.invalid_argument(
                f"Number of ways to split should evenly divide the split dimension, but got split_dim {at} (size = {size}) and "
                f"num_split {count}")
        if count == 1:
            return x
        return tuple(np.split(x, count, at)) if text else x.split(size // count, at) if size else (x,) * count

    axis, dims = node.constant(0), node.inputs[1].dims
    if axis is None or dims is None or text or count == 1:
        return run
    at = int(axis.reshape(-1)[0])
    if not -len(dims) <= at < len(dims) or not dims[at] or dims[at] % count:
        return run
    step = dims[at] // count
    return lambda axis, x: x.split(step, at)


def _split_shape(o: Any) -> Any:
    dims, count = o.inputs[1].dims, o.attr("num_split")
    axis = known(o.inputs[0])
    if o.inputs[0].dims not in (None, ()):
        raise ValueError(f"Shape must be rank 0 but is rank {len(o.inputs[0].dims)}")
    if dims is None:
        return [None] * count
    if axis is None:
        return [(None,) * len(dims)] * count
    at = int(axis)
    if not -len(dims) <= at < len(dims):
        raise ValueError(f"Dimension index {at} must be in the range [-{len(dims)}, {len(dims)})" if at < 0 else
                         f"Shape must be at least rank {at + 1} but is rank {len(dims)}")
    at %= len(dims)
    if dims[at] is not None and dims[at] % count:
        raise ValueError(f"Dimension size must be evenly divisible by {count} but is {dims[at]}")
    part = None if dims[at] is None else dims[at] // count
    return [dims[:at] + (part,) + dims[at + 1:]] * count


op("Split", kernel=_split, shape=_split_shape, gradient=lambda o, *dys: [None, concat(list(dys), o.inputs[0])], view=True)


def _split_sizes(sizes: list[int], total: int) -> list[int]:
    """The sizes of a split, with the one that was left open."""
    missing = [i for i, s in enumerate(sizes) if s == -1]
    if len(missing) > 1:
        raise errors.invalid_argument("There can only be one -1 in the input.")
    rest = total - sum(s for s in sizes if s != -1)
    if missing:
        if rest < 0:
            raise errors.invalid_argument(
                "Determined shape must be less than or equal to the total size of the input along split_dim. "
                f"Got: {total - rest} more than {total}" if False else
                f"Determined shape must have at most the size of the input along the dimension, but the sum of determined sizes is {total - rest} and the size is {total}")
        sizes[missing[0]] = rest
    elif rest:
        raise errors.invalid_argument(
            f"Determined shape must either match input shape along split_dim exactly if fully specified, or be less than the size of the "
            f"input along split_dim if not fully specified.  Got: {total - rest}")
    for i, s in enumerate(sizes):
        if s < 0:
            raise errors.invalid_argument(f"Split size at index {i} must be >= 0. Got: {s}")
    return sizes


def _split_v(node: Any) -> Kernel:
    count = len(node.outputs)
    text = is_text(node)

    def run(x: Any, sizes: Any, axis: Any) -> Any:
        at = int(axis)
        if not -x.ndim <= at < x.ndim:
            raise errors.invalid_argument(
                f"-input rank(-{x.ndim}) <= split_dim < input rank ({x.ndim}), but got {at}")
        lengths = _split_sizes(sizes.reshape(-1).tolist(), x.shape[at])
        if count == 1:
            return x
        if text:
            return tuple(np.split(x, np.cumsum(lengths)[:-1], at))
        return torch.split(x, lengths, at)

    return run


def _split_v_shape(o: Any) -> Any:
    dims, count = o.inputs[0].dims, o.attr("num_split")
    sizes, axis = known(o.inputs[1]), known(o.inputs[2])
    if dims is None:
        return [None] * count
    if axis is None:
        return [dims if count == 1 else (None,) * len(dims)] * count
    at = int(axis.reshape(-1)[0])
    if not -len(dims) <= at < len(dims):
        raise ValueError(f"Shape must be at least rank {at + 1 if at >= 0 else -at} but is rank {len(dims)}")
    at %= len(dims)
    if sizes is None:
        lengths: list[Any] = [dims[at] if count == 1 else None] * count
    else:
        lengths = [int(s) for s in sizes.reshape(-1)]
        if len(lengths) != count:
            raise ValueError(f"Length of size_splits should be equal to num_outputs {count}" if False else
                             f"Shape must be rank 1 but is rank {sizes.ndim}" if sizes.ndim != 1 else
                             f"Dimension must be {count} but is {len(lengths)}")
        if dims[at] is None:
            lengths = [None if s == -1 else s for s in lengths]
        else:
            try:
                lengths = _split_sizes(lengths, dims[at])
            except errors.OpError as e:
                raise ValueError(e.message) from None
    return [dims[:at] + (n,) + dims[at + 1:] for n in lengths]


op("SplitV", kernel=_split_v, shape=_split_v_shape, gradient=lambda o, *dys: [concat(list(dys), o.inputs[2]), None, None], view=True)


@public("split")
def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str = "split") -> Any:
    """A tensor cut along a dimension: into so many equal parts, or into parts of these sizes."""
    sizes = convert_to_tensor(num_or_size_splits)
    if isinstance(num_or_size_splits, (int, shapes.Dimension, np.integer)):
        return apply("Split", axis, value, num_split=int(num_or_size_splits), name=name)
    if sizes.dims == ():
        raise ValueError(
            f"Rank-0 tensors are not supported as the num_or_size_splits argument to split. Argument provided: {num_or_size_splits}")
    if num is None:
        num = sizes.dims[0] if sizes.dims else None
        if num is None:
            raise ValueError(f"Cannot infer num from shape {num_or_size_splits}")
    return apply("SplitV", value, sizes, axis, num_split=num, name=name)
