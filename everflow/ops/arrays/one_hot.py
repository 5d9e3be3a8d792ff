"""Numbers turned into tensors that mark them: one_hot, sequence_mask; and permutations and index arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.constants import known
from everflow.graph.convert import constant, convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.lazy import torch
from everflow.ops.arrays.reshaping import is_text
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.values.tensors import torch_dtype

Kernel = Callable[..., Any]


def _one_hot(node: Node) -> Kernel:
    axis = node.attr("axis")
    text = is_text(node, 2)
    dtype = node.inputs[2].dtype.base_dtype
    scatters = dtype.is_floating or dtype is dtypes.bool or dtype in (dtypes.int32, dtypes.uint8, dtypes.int8)
    kind = torch_dtype(dtype) if scatters else None
    given = node.constant(3)
    off_number = None if given is None or not scatters else given.item()

    def run(indices: Any, depth: Any, on: Any, off: Any) -> Any:
        size = int(depth)
        rank = indices.ndim
        if not -1 <= axis <= rank:
            raise invalid_argument(f"Expected axis to be -1 or between [0, {rank + 1}).  But received: {axis}")
        if size < 0:
            raise invalid_argument(f"depth must be non-negative, got: {size}")
        at = rank if axis == -1 else axis
        if scatters and indices.numel():
            lowest, highest = torch.aminmax(indices)
            if int(lowest) >= 0 and int(highest) < size:
                dims = (*indices.shape[:at], size, *indices.shape[at:])
                found = off.expand(dims).clone() if off_number is None else torch.full(dims, off_number, dtype=kind, device=indices.device)
                return found.scatter_(at, indices.long().unsqueeze(at), on.item())
        numbers = torch.arange(size, dtype=indices.dtype, device=indices.device).reshape([size] + [1] * (rank - at))
        marked = indices.unsqueeze(at) == numbers
        return np.where(marked.numpy(), on, off) if text else torch.where(marked, on, off)

    return run


def _one_hot_shape(o: Operation) -> Any:
    indices, axis = o.inputs[0].dims, o.attr("axis")
    if axis < -1:
        raise ValueError("axis must be >= -1")
    if o.inputs[1].dims:
        raise ValueError(f"Input must be scalar but has rank {len(o.inputs[1].dims)}")
    for t in o.inputs[2:]:
        shapes.with_rank(t.dims, 0)
    depth = known(o.inputs[1])
    if depth is not None and int(depth) < 0:
        raise ValueError(f"Dimension size, given by scalar input 1, must be non-negative but is {int(depth)}")
    if indices is None:
        return None
    at = len(indices) if axis == -1 else axis
    return indices[:at] + (None if depth is None else int(depth),) + indices[at:]


op("OneHot", kernel=_one_hot, shape=_one_hot_shape, gradient=not_differentiable)


@public("one_hot", ragged="arrays.ragged_one_hot")
def one_hot(
    indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, axis: Any = None, dtype: Any = None, name: str | None = None
) -> Any:
    """A new dimension of size `depth` that holds `on_value` (1) at the index and `off_value` (0) elsewhere."""
    with name_scope(name, "one_hot", [indices, depth, on_value, off_value, axis, dtype]) as scope:
        on_dtype = None if on_value is None else convert_to_tensor(on_value, preferred_dtype=dtype).dtype.base_dtype
        off_dtype = None if off_value is None else convert_to_tensor(off_value, preferred_dtype=dtype).dtype.base_dtype
        if on_dtype is not None or off_dtype is not None:
            if dtype is not None:
                wanted = dtypes.as_dtype(dtype)
                for label, found in (("on_value", on_dtype), ("off_value", off_dtype)):
                    if found is not None and found is not wanted:
                        raise TypeError(f"dtype {found} of {label} does not match dtype parameter {wanted}")
            else:
                dtype = on_dtype or off_dtype
        elif dtype is None:
            dtype = dtypes.float32
        if on_value is None:
            on_value, on_dtype = convert_to_tensor(1, dtype, name="on_value"), dtypes.as_dtype(dtype)
        if off_value is None:
            off_value, off_dtype = convert_to_tensor(0, dtype, name="off_value"), dtypes.as_dtype(dtype)
        if on_dtype is not off_dtype:
            raise TypeError(f"dtype {on_dtype} of on_value does not match dtype {off_dtype} of off_value")
        return apply("OneHot", indices, depth, on_value, off_value, axis=-1 if axis is None else axis, name=scope)


@public("sequence_mask")
def sequence_mask(lengths: Any, maxlen: Any = None, dtype: dtypes.DTypeLike = dtypes.bool, name: str | None = None) -> Any:
    """For each length n a row that is true in its first n places."""
    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        lengths = convert_to_tensor(lengths)
        if maxlen is None:
            maxlen = tf.reduce_max(lengths)
            maxlen = tf.maximum(constant(0, dtype=maxlen.dtype), maxlen)
        else:
            maxlen = convert_to_tensor(maxlen)
        if maxlen.dims is not None and maxlen.dims != ():
            raise ValueError("maxlen must be scalar for sequence_mask")
        row = apply("Range", constant(0, maxlen.dtype), maxlen, constant(1, maxlen.dtype))
        column = apply("Cast", tf.expand_dims(lengths, -1), DstT=maxlen.dtype)
        found = tf.less(row, column)
        wanted = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
        return found if wanted is None or found.dtype.base_dtype is wanted else apply("Cast", found, DstT=wanted)


def _invert_permutation(node: Node) -> Kernel:
    def run(x: Any) -> Any:
        if x.ndim != 1:
            raise invalid_argument("invert_permutation expects a 1D vector.")
        places = x.tolist()
        found = [-1] * len(places)
        for i, at in enumerate(places):
            if not 0 <= at < len(places):
                raise invalid_argument(f"{at} is not between 0 and {len(places)}")
            if found[at] != -1:
                raise invalid_argument(f"{at} is duplicated in the input.")
            found[at] = i
        return torch.tensor(found, dtype=x.dtype)

    return run


op("InvertPermutation", kernel=_invert_permutation, shape=lambda o: shapes.with_rank(o.inputs[0].dims, 1), gradient=not_differentiable)


@public("invert_permutation", "math.invert_permutation")
def invert_permutation(x: Any, name: str | None = None) -> Any:
    """The permutation that undoes x."""
    return apply("InvertPermutation", x, name=name)


def _unravel_index(node: Node) -> Kernel:
    def run(indices: Any, dims: Any) -> Any:
        found = []
        if abs(math.prod(dims.tolist())) > torch.iinfo(dims.dtype).max:
            raise invalid_argument("Input dims product is causing integer overflow")
        rest = indices
        for size in reversed(dims.tolist()):
            found.append(torch.remainder(rest, size))
            rest = torch.div(rest, size, rounding_mode="floor")
        return torch.stack(found[::-1])

    return run


def _unravel_index_shape(o: Operation) -> Any:
    indices, dims = o.inputs[0].dims, o.inputs[1].dims
    count = None if dims is None else shapes.with_rank(dims, 1)[0]
    if indices is None:
        return None
    return (count,) if not indices else (count, shapes.num_elements(indices))


op("UnravelIndex", kernel=_unravel_index, shape=_unravel_index_shape, gradient=not_differentiable)


@public("unravel_index")
def unravel_index(indices: Any, dims: shapes.Dims, name: str | None = None) -> Any:
    """The coordinates, in an array of these sizes, of elements numbered in row order."""
    return apply("UnravelIndex", indices, dims, name=name)
