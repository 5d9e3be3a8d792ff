"""Tensors taken apart along a dimension: unstack and split."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.constants import known
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.arrays.reshaping import is_text, shown
from everflow.ops.core import rows, symbolic
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op

Kernel = Callable[..., Any]


def _unpack(node: Node) -> Kernel:
    axis, num = node.attr("axis"), node.attr("num")
    text = is_text(node)

    def run(x: Any) -> Any:
        if not -x.ndim <= axis < x.ndim:
            raise invalid_argument(f"axis = {axis} not in [{-x.ndim}, {x.ndim})")
        if x.shape[axis] != num:
            raise invalid_argument(f"Input shape axis {axis % x.ndim} must equal {num}, got shape {shown(x.shape)}")
        if text:
            found = tuple([np.asarray(part, object) for part in np.moveaxis(x, axis, 0)])
        else:
            found = x.unbind(axis)
        return found[0] if num == 1 else found

    dims = node.inputs[0].dims
    if dims is not None and not text and num != 1 and dims[axis] == num:
        return lambda x: x.unbind(axis)
    return run


def _unpack_shape(o: Operation) -> Any:
    dims, axis, num = o.inputs[0].dims, o.attr("axis"), o.attr("num")
    if dims is None:
        return [None] * num
    if not -len(dims) <= axis < len(dims):
        raise ValueError(f"Invalid axis: {axis}; must be in [{-len(dims)},{len(dims)})")
    at = axis % len(dims)
    if dims[at] not in (None, num):
        raise ValueError(f"Dimension must be {num} but is {dims[at]}")
    return [dims[:at] + dims[at + 1 :]] * num


op(
    "Unpack",
    kernel=_unpack,
    shape=_unpack_shape,
    gradient=lambda o, *dys: tf.stack(list(dys), axis=o.attr("axis")),
    view=True,
    symbolic=symbolic.unpacked,
)


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


def _split(node: Node) -> Kernel:
    count = len(node.outputs)
    text = is_text(node, 1)

    def run(axis: Any, x: Any) -> Any:
        if axis.numel() != 1:
            raise invalid_argument("split_dim_tensor must have exactly one element.")
        at = int(axis)
        if not -x.ndim <= at < x.ndim:
            raise invalid_argument(f"-input rank(-{x.ndim}) <= split_dim < input rank ({x.ndim}), but got {at}")
        size = x.shape[at]
        if size % count:
            raise invalid_argument(
                f"Number of ways to split should evenly divide the split dimension, but got split_dim {at} "
                f"(size = {size}) and num_split {count}"
            )
        if count == 1:
            return x
        return tuple(np.split(x, count, at)) if text else x.split(size // count, at) if size else (x,) * count

    axis, dims = node.constant(0), node.inputs[1].dims
    if axis is None or dims is None or text or count == 1:
        return run
    at = int(axis.reshape(-1)[0])
    size = dims[at] if -len(dims) <= at < len(dims) else None
    if not size or size % count:
        return run
    sizes = [size // count] * count
    # Tensor.split goes through Python; this is the kernel itself.
    split = torch.split_with_sizes
    return lambda axis, x: split(x, sizes, at)


def _split_shape(o: Operation) -> Any:
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
        raise ValueError(f"Dimension size, given by scalar input {at} must be in range [{-len(dims)}, {len(dims)})")
    at %= len(dims)
    if dims[at] is not None and dims[at] % count:
        raise ValueError(
            f"Dimension size must be evenly divisible by {count} but is {dims[at]}\n\t"
            "Number of ways to split should evenly divide the split dimension"
        )
    part = None if dims[at] is None else dims[at] // count
    return [dims[:at] + (part,) + dims[at + 1 :]] * count


op(
    "Split",
    kernel=_split,
    shape=_split_shape,
    gradient=lambda o, *dys: [None, tf.concat(list(dys), o.inputs[0])],
    view=True,
    symbolic=symbolic.split(1, 0),
    rows=rows.split,
)


def _split_sizes(sizes: list[int], total: int) -> list[int]:
    """The sizes of a split, with the one that was left open."""
    missing = [i for i, s in enumerate(sizes) if s == -1]
    if len(missing) > 1:
        raise invalid_argument("There can only be one -1 in the input.")
    given = sum(s for s in sizes if s != -1)
    if given > total or given < total and not missing:
        raise invalid_argument(
            "Determined shape must either match input shape along split_dim exactly if fully specified, or be less "
            f"than the size of the input along split_dim if not fully specified.  Got: {given}"
        )
    for i, s in enumerate(sizes):
        if s < -1:
            raise invalid_argument(f"Split size at index {i} must be >= 0. Got: {s}")
    return [total - given if s == -1 else s for s in sizes]


def _split_v(node: Node) -> Kernel:
    count = len(node.outputs)
    text = is_text(node)

    def run(x: Any, sizes: Any, axis: Any) -> Any:
        if axis.numel() != 1:
            raise invalid_argument("split_dim_tensor must have exactly one element.")
        at = int(axis)
        if not -x.ndim <= at < x.ndim:
            raise invalid_argument(f"-input rank(-{x.ndim}) <= split_dim < input rank ({x.ndim}), but got {at}")
        lengths = _split_sizes(sizes.reshape(-1).tolist(), x.shape[at])
        if count == 1:
            return x
        if text:
            return tuple(np.split(x, np.cumsum(lengths)[:-1], at))
        return torch.split(x, lengths, at)

    return run


def _split_v_shape(o: Operation) -> Any:
    dims, count = o.inputs[0].dims, o.attr("num_split")
    sizes, axis = known(o.inputs[1]), known(o.inputs[2])
    if dims is None:
        return [None] * count
    if axis is None:
        return [dims if count == 1 else (None,) * len(dims)] * count
    at = int(axis.reshape(-1)[0])
    if not -len(dims) <= at < len(dims):
        raise ValueError(f"Dimension size, given by scalar input {at} must be in range [{-len(dims)}, {len(dims)})")
    at %= len(dims)
    if sizes is None:
        lengths: list[Any] = [dims[at] if count == 1 else None] * count
    else:
        lengths = [int(s) for s in sizes.reshape(-1)]
        if len(lengths) != count:
            raise ValueError("Length of size_splits should be equal to num_outputs")
        if lengths.count(-1) > 1:
            raise ValueError("size_splits can only have one -1")
        if dims[at] is None:
            lengths = [None if s == -1 else s for s in lengths]
        else:
            rest = dims[at] - sum(s for s in lengths if s != -1)
            if rest < 0 or rest > 0 and -1 not in lengths:
                raise ValueError(f"can't split axis of size {dims[at]} into pieces of size {shown(lengths)}")
            lengths = [rest if s == -1 else s for s in lengths]
    return [dims[:at] + (n,) + dims[at + 1 :] for n in lengths]


op(
    "SplitV",
    kernel=_split_v,
    shape=_split_v_shape,
    gradient=lambda o, *dys: [tf.concat(list(dys), o.inputs[2]), None, None],
    view=True,
    symbolic=symbolic.split(0, 2),
)


@public("split")
def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str = "split") -> Any:
    """A tensor cut along a dimension: into so many equal parts, or into parts of these sizes."""
    sizes = convert_to_tensor(num_or_size_splits)
    if isinstance(num_or_size_splits, (int, shapes.Dimension, np.integer)):
        return apply("Split", axis, value, num_split=int(num_or_size_splits), name=name)
    if sizes.dims == ():
        raise ValueError(
            f"Rank-0 tensors are not supported as the num_or_size_splits argument to split. Argument provided: {num_or_size_splits}"
        )
    if num is None:
        num = sizes.dims[0] if sizes.dims else None
        if num is None:
            raise ValueError(f"Cannot infer num from shape {num_or_size_splits}")
    return apply("SplitV", value, sizes, axis, num_split=num, name=name)
