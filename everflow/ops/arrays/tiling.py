"""Tensors repeated: tile, broadcast_to, repeat, meshgrid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.constants import dims_of
from everflow.graph.convert import convert_to_tensor
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.lazy import torch
from everflow.ops.arrays.reshaping import cast, is_text, shown
from everflow.ops.arrays.version2_arguments import convert_to_int_tensor
from everflow.ops.core import symbolic
from everflow.ops.core.node import Node, Value
from everflow.ops.core.registry import apply, op

Kernel = Callable[..., Any]


def _tile(node: Node) -> Kernel:
    text = is_text(node)

    def run(x: Any, multiples: Any) -> Any:
        times = multiples.tolist()
        if len(times) != x.ndim:
            raise invalid_argument(f"Expected multiples argument to be a vector of length {x.ndim} but got length {len(times)}")
        for i, n in enumerate(times):
            if n < 0:
                raise invalid_argument(f"Expected multiples[{i}] >= 0, but got {n}")
        if text:
            return np.tile(x, times) if times else x
        if all(n == 1 or d == 1 for n, d in zip(times, x.shape)):
            return x.expand([d * n for d, n in zip(x.shape, times)])
        return x.repeat(times)

    times, dims = node.constant(1), node.inputs[0].dims
    if times is None or dims is None or not dims or text or (times < 0).any():
        return run
    fixed = tuple(times.tolist())
    if all(n == 1 or d == 1 for n, d in zip(fixed, dims)):
        # Only dimensions of size 1 grow: no element need be written twice.
        sizes = tuple(-1 if n == 1 else n for n in fixed)
        return lambda x, multiples: x.expand(sizes)
    grown = [axis for axis, n in enumerate(fixed) if n != 1]
    if len(grown) == 1 and 1 < fixed[grown[0]] <= 8:
        axis, times = grown[0], fixed[grown[0]]
        return lambda x, multiples: torch.cat((x,) * times, axis)
    return lambda x, multiples: x.repeat(fixed)


def _tile_shape(o: Operation) -> Any:
    dims, times = o.inputs[0].dims, dims_of(o.inputs[1])
    count = (o.inputs[1].dims or (None,))[0]
    shapes.with_rank(o.inputs[1].dims, 1)
    if times is None:
        return (None,) * count if count is not None else None if dims is None else (None,) * len(dims)
    if dims is None:
        return (None,) * len(times)
    shapes.with_rank(times, len(dims))
    return tuple(None if d is None or n is None else d * n for d, n in zip(dims, times))


def _tile_gradient(o: Operation, dy: Any) -> Any:
    """Sums over the repetitions: dy as [multiple, size, multiple, size, ...], summed over every other dimension."""
    x, multiples = o.inputs
    sizes = tf.shape(x, out_type=multiples.dtype)
    pairs = tf.reshape(tf.transpose(tf.stack([multiples, sizes])), [-1])
    if isinstance(dy, IndexedSlices):
        # The rows of all repetitions fall on the same rows of the input.
        dy = apply("UnsortedSegmentSum", dy.values, dy.indices % cast(sizes[0], dy.indices.dtype), sizes[0])
        pairs = tf.concat([[1], pairs[1:]], 0)
    axes = tf.range(0, tf.size(pairs), 2)
    found = tf.reduce_sum(tf.reshape(dy, pairs), axes)
    found.set_shape(x.get_shape())
    return [found, None]


def _tiled_sizes(symbols: symbolic.Symbols, node: Node, value: Value) -> symbolic.Sizes:
    """Sizes times multiples as far as one of them is 1, or the multiple is what takes the size to another: a gradient of a sum."""
    sizes, times = symbols.of(node.inputs[0]), symbols.held(node.inputs[1])
    if sizes is None:
        return None
    if times is None:
        return _grown_sizes(symbols, sizes, node.inputs[1].node)
    if len(times) != len(sizes):
        return None
    return tuple(
        n if s == 1 else s if n == 1 else s * n if isinstance(s, int) and isinstance(n, int) else None for s, n in zip(sizes, times)
    )


def _grown_sizes(symbols: symbolic.Symbols, sizes: Any, quotient: Node) -> symbolic.Sizes:
    """The sizes that a quotient of sizes makes of those that it divides by, which may be zero."""
    if quotient.type != "FloorDiv" or quotient.inputs[1].node.type != "Maximum" or quotient.inputs[1].node.constant(1) != 1:
        return None
    wanted, before = symbols.held(quotient.inputs[0]), symbols.held(quotient.inputs[1].node.inputs[0])
    if wanted is None or before != sizes or len(wanted) != len(sizes):
        return None
    return tuple(w if s in (w, 1) else None for w, s in zip(wanted, sizes))


op(
    "Tile",
    kernel=_tile,
    shape=_tile_shape,
    gradient=_tile_gradient,
    view=True,
    sizes=(1,),
    fills=0,
    kind="repetition",
    symbolic=_tiled_sizes,
)


def _tile_grad(node: Node) -> Kernel:
    def run(dy: Any, multiples: Any) -> Any:
        times = multiples.tolist()
        sizes = [n for times_here, size in zip(times, dy.shape) for n in (times_here, size // times_here)]
        return dy.reshape(sizes).sum(tuple(range(0, 2 * len(times), 2))).to(dy.dtype) if times else dy

    return run


op("TileGrad", kernel=_tile_grad, shape=lambda o: None if o.inputs[0].dims is None else (None,) * len(o.inputs[0].dims), view=True)


@public("tile", "manip.tile", ragged="arrays.tile")
def tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """The tensor repeated along each dimension."""
    return apply("Tile", input, multiples, name=name)


def _broadcast_to(node: Node) -> Kernel:
    text = is_text(node)

    def run(x: Any, sizes: Any) -> Any:
        wanted = sizes.tolist()
        if any(n < 0 for n in wanted):
            raise invalid_argument(f"Dimension {next(n for n in wanted if n < 0)} must be >= 0")
        if x.ndim > len(wanted):
            raise invalid_argument(f"Rank of input ({x.ndim}) must be no greater than rank of output shape ({len(wanted)}).")
        try:
            return np.broadcast_to(x, wanted) if text else x.expand(wanted)
        except (RuntimeError, ValueError):
            raise _cannot_broadcast(x.shape, wanted) from None

    return run


def _cannot_broadcast(dims: Any, wanted: list[int]) -> Exception:
    """Two shapes may go together while one of them is not what both become."""
    if all(d == w or 1 in (d, w) for d, w in zip(reversed(dims), reversed(wanted))):
        return invalid_argument(f"Unable to broadcast tensor of shape {shown(dims)} to tensor of shape {shown(wanted)}")
    return invalid_argument(f"Incompatible shapes: {shown(dims)} vs. {shown(wanted)}")


def _broadcast_to_shape(o: Operation) -> Any:
    dims, wanted = o.inputs[0].dims, dims_of(o.inputs[1])
    shapes.with_rank(o.inputs[1].dims, 1)
    if dims is None or wanted is None:
        return wanted
    shapes.with_rank_at_most(dims, len(wanted))
    for d, w in zip(reversed(dims), reversed(wanted)):
        if d is not None and w is not None and d not in (1, w):
            raise ValueError(f"Dimensions must be equal, but are {d} and {w}")
    return wanted


def _broadcast_to_gradient(o: Operation, dy: Any) -> Any:
    x, wanted = o.inputs
    sizes = tf.shape(x, out_type=wanted.dtype)
    axes = apply("BroadcastGradientArgs", wanted, sizes)[1]
    return [tf.reshape(tf.reduce_sum(dy, axes, keepdims=True), sizes), None]


op("BroadcastTo", kernel=_broadcast_to, shape=_broadcast_to_shape, gradient=_broadcast_to_gradient, view=True, sizes=(1,), fills=0)


@public("broadcast_to")
def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Any:
    """The tensor repeated along dimensions of size 1, and along new ones before them, until it has this shape."""
    return apply("BroadcastTo", input, shape, name=name)


@public("broadcast_dynamic_shape")
def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Any:
    """The shape, as a tensor, that two shapes broadcast to."""
    return apply("BroadcastArgs", shape_x, shape_y)


@public("broadcast_static_shape")
def broadcast_static_shape(shape_x: Any, shape_y: Any) -> Any:
    """The shape that two shapes broadcast to."""
    return shapes.broadcast_shape(shape_x, shape_y)


@public("meshgrid")
def meshgrid(*args: Any, **kwargs: Any) -> Any:
    """The coordinates of a grid: for each vector a tensor of the grid's shape that varies along one dimension only."""
    indexing = kwargs.pop("indexing", "xy")
    name = kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError("indexing parameter must be either 'xy' or 'ij'")
    with name_scope(name, "meshgrid", args):
        count = len(args)
        columns = [tf.reshape(tf.stack(x), [1] * i + [-1] + [1] * (count - 1 - i)) for i, x in enumerate(args)]
        sizes = [tf.size(x) for x in args]
        dtype = convert_to_tensor(args[0]).dtype.base_dtype
        if indexing == "xy" and count > 1:
            rest = [1] * (count - 2)
            columns[0] = tf.reshape(columns[0], [1, -1, *rest])
            columns[1] = tf.reshape(columns[1], [-1, 1, *rest])
            sizes[0], sizes[1] = sizes[1], sizes[0]
        one = tf.ones(sizes, dtype)
        return [x * one for x in columns]


@public("repeat")
def repeat(input: Any, repeats: Any, axis: Any = None, name: str | None = None) -> Any:
    """Each element, or each slice along an axis, repeated."""
    if axis is None:
        input = tf.reshape(input, [-1])
        axis = 0
    return repeat_with_axis(input, repeats, axis, name)


@internal("ops.array_ops.repeat_with_axis")
def repeat_with_axis(data: Any, repeats: Any, axis: int, name: str | None = None) -> Any:
    """The same along a given axis: numbered by where in the repeated tensor each slice goes."""
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    with name_scope(name, "Repeat", [data, repeats]):
        data = convert_to_tensor(data, name="data")
        repeats = convert_to_int_tensor(repeats, "repeats")
        repeats.get_shape().with_rank_at_most(1)
        data = _at_least_vector(data)
        at = get_positive_axis(axis, None if data.dims is None else len(data.dims))
        if repeats.dims is not None and len(repeats.dims) > at + 1:
            raise ValueError(f"repeats must have rank at most {at + 1}")
        if repeats.dims is not None and len(repeats.dims) == 1 and repeats.dims != (1,) and data.dims is not None:
            data.shape[at].assert_is_compatible_with(repeats.shape[0])
        sizes = tf.shape(data)
        if repeats.dims == () or repeats.dims == (1,):
            expanded = tf.expand_dims(data, at + 1)
            tiled = tile_one_dimension(expanded, at + 1, repeats if repeats.dims == () else repeats[0])
            return tf.reshape(tiled, tf.concat([sizes[:at], [-1], sizes[at + 1 :]], 0))
        if repeats.dims is None:
            many = tf.broadcast_to(repeats, sizes[: at + 1])
            many.set_shape([None] * (at + 1))
        elif len(repeats.dims) != at + 1:
            many = tf.broadcast_to(repeats, tf.concat([sizes[:at], tf.shape(repeats)], 0))
            many.set_shape([None] * (at + 1))
        else:
            many = repeats
        most = tf.maximum(0, tf.reduce_max(many))
        mask = tf.sequence_mask(many, most)
        masked = tf.boolean_mask(tile_one_dimension(tf.expand_dims(data, at + 1), at + 1, most), mask)
        return masked if at == 0 else tf.reshape(masked, tf.concat([sizes[:at], [-1], sizes[at + 1 :]], 0))


@internal("ops.array_ops.tile_one_dimension")
def tile_one_dimension(data: Any, axis: int, multiple: Any) -> Any:
    """The tensor repeated along one dimension."""
    if data.dims is None:
        once = tf.ones(tf.rank(data), dtypes.int32)
        return tile(data, tf.concat([once[:axis], [multiple], once[axis + 1 :]], 0))
    rank = len(data.dims)
    return tile(data, [multiple if d == axis % rank else 1 for d in range(rank)])


def _at_least_vector(x: Any) -> Any:
    if x.dims == ():
        return tf.reshape(x, [1])
    if x.dims is None:
        sizes, count = tf.shape(x), tf.rank(x)
        return tf.reshape(x, tf.concat([[1], sizes], 0)[-count:])
    return x


@internal("ops.array_ops.get_positive_axis")
def get_positive_axis(axis: int, ndims: int | None) -> int:
    """An axis counted from the front; `ndims` is the rank, or None where it is not known."""
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    if ndims is None:
        if axis < 0:
            raise ValueError("axis may only be negative if ndims is statically known.")
        return axis
    if not -ndims <= axis < ndims:
        raise ValueError(f"axis={axis} out of bounds: expected {-ndims}<=axis<{ndims}")
    return axis % ndims
