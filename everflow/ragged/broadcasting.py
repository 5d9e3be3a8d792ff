"""Shapes of ragged tensors at run time, and ragged tensors broadcast to them.

Inside, a shape is a list with the size of each dimension: a scalar, or a vector with one length for each row where they differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal
from everflow.graph import dtypes
from everflow.graph.constants import known
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.tensor import Tensor
from everflow.ragged.math import ragged_range
from everflow.ragged.partitions import lengths_to_splits
from everflow.ragged.tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor, is_ragged, match_row_splits_dtypes

Sizes = list[Tensor]


@internal("ops.ragged.ragged_tensor_shape.RaggedTensorDynamicShape")
class RaggedTensorDynamicShape:
    """The sizes of all dimensions: those down to the last ragged one each by itself, the ones below as a vector."""

    def __init__(self, partitioned_dim_sizes: Any, inner_dim_sizes: Any, dim_size_dtype: dtypes.DTypeLike | None = None) -> None:
        assert isinstance(partitioned_dim_sizes, (list, tuple))
        with name_scope(None, "RaggedTensorDynamicShape", [*partitioned_dim_sizes, inner_dim_sizes]):
            outer = [
                convert_to_tensor(s, preferred_dtype=dtypes.int64, name=f"partitioned_size_{i}")
                for i, s in enumerate(partitioned_dim_sizes)
            ]
            inner = convert_to_tensor(inner_dim_sizes, preferred_dtype=dtypes.int64, name="inner_dim_sizes")
            for axis, size in enumerate(outer):
                _check_size(size, f"partitioned_dim_sizes[{axis}]")
            if outer and _is_ragged(outer[0]):
                raise ValueError("outermost partitioned dimension must be uniform")
            if outer and not _is_ragged(outer[-1]):
                raise ValueError("innermost partitioned dimension must be ragged")
            inner.shape.assert_has_rank(1)
            kinds = {size.dtype for size in outer if _is_ragged(size)}
            if dim_size_dtype is None and len(kinds) > 1:
                raise ValueError("partitioned_dim_sizes must have matching dtypes")
            kind = dtypes.as_dtype(dim_size_dtype or next(iter(kinds), dtypes.int64))
            self._partitioned = tuple(tf.cast(size, kind) for size in outer)
            self._inner = tf.cast(inner, kind)

    def __repr__(self) -> str:
        return f"RaggedTensorDynamicShape(partitioned_dim_sizes={self._partitioned!r}, inner_dim_sizes={self._inner!r})"

    @staticmethod
    def from_dim_sizes(dim_sizes: Any) -> RaggedTensorDynamicShape:
        """The shape with these sizes: a number for each uniform dimension, a vector for each ragged one."""
        with name_scope(None, "RaggedTensorDynamicShapeFromDimensionSizes", [dim_sizes]):
            sizes = [convert_to_tensor(s, preferred_dtype=dtypes.int64, name="dim_sizes") for s in dim_sizes]
            for size in sizes:
                _check_size(size, "dim_size")
            return _shape(sizes)

    @classmethod
    def from_tensor(cls, rt_input: Any, dim_size_dtype: dtypes.DTypeLike | None = None) -> RaggedTensorDynamicShape:
        """The shape of a tensor, ragged or not."""
        with name_scope(None, "RaggedTensorDynamicShapeFromTensor", [rt_input]):
            rt_input = convert_to_tensor_or_ragged_tensor(rt_input)
            if not is_ragged(rt_input):
                return cls([], tf.shape(rt_input), dim_size_dtype)
            outer = [rt_input.nrows(), *rt_input.nested_row_lengths()]
            return cls(outer, tf.shape(rt_input.flat_values)[1:], dim_size_dtype)

    def dimension_size(self, axis: int) -> Tensor:
        """The size of a dimension: a scalar, or a vector where it is ragged."""
        if not isinstance(axis, int):
            raise TypeError("axis must be an integer")
        count = len(self._partitioned)
        return self._partitioned[axis] if axis < count else self._inner[axis - count]

    def is_ragged(self, axis: int) -> bool:
        """Whether rows along a dimension may differ in length."""
        if not isinstance(axis, int):
            raise TypeError("axis must be an integer")
        if axis < 0:
            raise ValueError("Negative axis values are not supported")
        if self.rank is not None and axis >= self.rank:
            raise ValueError(f"Expected axis={axis} < rank={self.rank}")
        return axis < len(self._partitioned) and _is_ragged(self._partitioned[axis])

    @property
    def rank(self) -> int | None:
        """How many dimensions there are, where that is known."""
        inner = self.num_inner_dimensions
        return None if inner is None else len(self._partitioned) + inner

    @property
    def partitioned_dim_sizes(self) -> tuple[Tensor, ...]:
        """The sizes of the dimensions down to the last ragged one."""
        return self._partitioned

    @property
    def inner_dim_sizes(self) -> Tensor:
        """The sizes of the dimensions below, a vector."""
        return self._inner

    @property
    def num_partitioned_dimensions(self) -> int:
        """How many dimensions there are down to the last ragged one."""
        return len(self._partitioned)

    @property
    def num_inner_dimensions(self) -> int | None:
        """How many dimensions there are below the last ragged one."""
        dims = self._inner.dims
        return None if dims is None else dims[0]

    @property
    def dim_size_dtype(self) -> dtypes.DType:
        """The type of the sizes."""
        return self._inner.dtype

    def num_slices_in_dimension(self, axis: int) -> Tensor:
        """How many elements there are along a dimension, over all rows."""
        if not isinstance(axis, int):
            raise TypeError("axis must be an integer")
        if axis < 0:
            return tf.constant(1, self.dim_size_dtype)
        if self.is_ragged(axis):
            return tf.reduce_sum(self._partitioned[axis])
        return self.dimension_size(axis) * self.num_slices_in_dimension(axis - 1)

    def broadcast_to_rank(self, rank: int) -> RaggedTensorDynamicShape:
        """The same with dimensions of one element in front, until there are `rank`."""
        if self.rank is None:
            raise ValueError("Unable to broadcast: self.rank is unknown")
        more = rank - self.rank
        if more < 0:
            raise ValueError(f"Unable to broadcast: rank={rank} must be greater than self.rank={self.rank}.")
        if more == 0:
            return self
        ones = [tf.constant(1, self.dim_size_dtype)] * more
        if self._partitioned:
            return RaggedTensorDynamicShape([*ones, *self._partitioned], self._inner, self.dim_size_dtype)
        return RaggedTensorDynamicShape((), tf.concat([tf.stack(ones), self._inner], 0), self.dim_size_dtype)

    def broadcast_dimension(self, axis: int, lengths: Any) -> RaggedTensorDynamicShape:
        """The same with rows of one element along a dimension made as long as `lengths` (one for all rows, or one for each)."""
        lengths = tf.cast(convert_to_tensor(lengths, name="lengths", preferred_dtype=self.dim_size_dtype), self.dim_size_dtype)
        if lengths.shape.ndims is None:
            raise ValueError("lengths must have a known rank.")
        if lengths.shape.ndims > 1:
            raise ValueError("lengths must be a scalar or vector")
        sizes, checks = _sizes(self), _Checks()
        size = sizes[axis]
        if not _is_one(lengths):
            checks.fit(axis, size, lengths)
            if axis == 0 and _is_ragged(lengths):
                raise ValueError("Unable to broadcast: outermost dimension must be uniform.")
            if not _is_ragged(size):
                sizes = _spread(sizes, axis, lengths if _is_ragged(lengths) else _larger(size, lengths))
        return _shape(checks.before(sizes))

    def with_dim_size_dtype(self, dtype: dtypes.DTypeLike) -> RaggedTensorDynamicShape:
        """The same with sizes of another integer type."""
        dtype = dtypes.as_dtype(dtype)
        if dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError("dtype must be int32 or int64")
        return self if dtype == self.dim_size_dtype else RaggedTensorDynamicShape(self._partitioned, self._inner, dtype)


@internal("ops.ragged.ragged_tensor_shape.broadcast_dynamic_shape")
def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> RaggedTensorDynamicShape:
    """The shape that tensors of two shapes have after they are broadcast to each other."""
    for name, shape in (("shape_x", shape_x), ("shape_y", shape_y)):
        if not isinstance(shape, RaggedTensorDynamicShape):
            raise TypeError(f"{name} must be a RaggedTensorDynamicShape")
    if shape_x.rank is None or shape_y.rank is None:
        raise ValueError("Unable to broadcast: unknown rank")
    rank = max(shape_x.rank, shape_y.rank)
    checks = _Checks()
    merged = _merged(_sizes(shape_x.broadcast_to_rank(rank)), _sizes(shape_y.broadcast_to_rank(rank)), checks)
    return _shape(checks.before(merged))


@internal("ops.ragged.ragged_tensor_shape.broadcast_to")
def broadcast_to(rt_input: Any, shape: Any, broadcast_inner_dimensions: bool = True) -> Any:
    """A tensor, ragged or not, with its rows repeated until it has a shape; or, but for the dimensions below the ragged ones."""
    if not isinstance(shape, RaggedTensorDynamicShape):
        raise TypeError("shape must be a RaggedTensorDynamicShape")
    rt_input = convert_to_tensor_or_ragged_tensor(rt_input)
    if shape.num_partitioned_dimensions == 0:
        if is_ragged(rt_input):
            raise ValueError("Incompatible with shape: ragged rank mismatch")
        return tf.broadcast_to(rt_input, shape.inner_dim_sizes) if broadcast_inner_dimensions else rt_input
    if shape.rank is None:
        raise ValueError("Unable to broadcast: unknown rank")
    target = _sizes(shape)
    source = _sizes_of(rt_input, shape.rank, shape.dim_size_dtype)
    if _outer_count(source) > _outer_count(target):
        raise ValueError("Incompatible with shape: ragged rank mismatch")
    checks = _Checks()
    _merged(source, target, checks)
    with tf.control_dependencies(checks.made):
        values = _spread_values(rt_input, source, target)
        if broadcast_inner_dimensions:
            values = tf.broadcast_to(values, tf.concat([tf.shape(values, out_type=shape.dim_size_dtype)[:1], shape.inner_dim_sizes], 0))
        return RaggedTensor.from_nested_row_splits(values, _splits(target), validate=False)


def broadcast_pair(x: Any, y: Any) -> tuple[Any, Any, RaggedTensor]:
    """The innermost values of two tensors, at least one of them ragged, broadcast to each other; and a ragged tensor of their rows."""
    kind, (x, y) = match_row_splits_dtypes(x, y, return_dtype=True)
    if x.shape.ndims is None or y.shape.ndims is None:
        raise ValueError("Unable to broadcast: unknown rank")
    rank = max(x.shape.ndims, y.shape.ndims)
    from_x, from_y = _sizes_of(x, rank, kind), _sizes_of(y, rank, kind)
    checks = _Checks()
    target = _merged(from_x, from_y, checks)
    with tf.control_dependencies(checks.made):
        values_x, values_y = _spread_values(x, from_x, target), _spread_values(y, from_y, target)
        if not values_x.shape[:1].is_compatible_with(values_y.shape[:1]):  # which a check will say, in a run
            values_y = tf.placeholder_with_default(values_y, tf.TensorShape([None]).concatenate(values_y.shape[1:]))
        as_is = [t for t, values in ((x, values_x), (y, values_y)) if is_ragged(t) and values is t.flat_values]
        rows = as_is[0] if as_is else RaggedTensor.from_nested_row_splits(values_x, _splits(target), validate=False)
        return tf.identity(values_x) if checks.made else values_x, values_y, rows


# -- lists of sizes


def _shape(sizes: Sizes) -> RaggedTensorDynamicShape:
    outer = _outer_count(sizes)
    return RaggedTensorDynamicShape(sizes[:outer], tf.stack(sizes[outer:]) if sizes[outer:] else [])


def _sizes(shape: RaggedTensorDynamicShape) -> Sizes:
    rank = shape.rank
    if rank is None:
        raise ValueError("Unable to broadcast: unknown rank")
    inner = known(shape.inner_dim_sizes)
    below = tf.unstack(shape.inner_dim_sizes) if inner is None else [tf.constant(n, shape.dim_size_dtype) for n in inner]
    return [*shape.partitioned_dim_sizes, *below]


def _sizes_of(t: Any, rank: int, kind: dtypes.DType) -> Sizes:
    """The sizes of a tensor's dimensions, with as many of one element in front as it takes; those that are known as constants."""
    ragged = [t] if is_ragged(t) else []
    dense = t.flat_values if ragged else t
    sizes: Sizes = []
    if ragged:
        count = t.shape.as_list()[0]
        sizes = [t.nrows(out_type=kind) if count is None else tf.constant(count, kind), *t.nested_row_lengths()]
    dims = dense.shape.as_list()
    shape: Any = tf.shape(dense, out_type=kind) if None in dims else None
    sizes += [shape[i] if dims[i] is None else tf.constant(dims[i], kind) for i in range(len(ragged), len(dims))]
    return [tf.constant(1, kind)] * (rank - len(sizes)) + sizes


def _check_size(size: Tensor, name: str) -> None:
    if size.shape.ndims is None:
        raise ValueError(f"rank of {name} is unknown")
    if size.shape.ndims > 1:
        raise ValueError(f"Each {name.partition('[')[0]} must be a scalar or a vector")


def _is_ragged(size: Tensor) -> bool:
    return size.shape.ndims == 1


def _is_one(size: Tensor) -> bool:
    return not _is_ragged(size) and known(size) == 1


def _are_equal(a: Tensor, b: Tensor) -> bool:
    if a is b:
        return True
    x, y = known(a), known(b)
    return x is not None and y is not None and np.array_equal(x, y)


def _larger(a: Tensor, b: Tensor) -> Tensor:
    """Of two sizes that fit each other, the one that isn't 1."""
    return b if _is_one(a) else a if _is_one(b) or _are_equal(a, b) else tf.where(tf.equal(a, 1), b, a)


def _outer_count(sizes: Sizes) -> int:
    """How many dimensions there are down to the last ragged one."""
    return max((axis + 1 for axis, size in enumerate(sizes) if _is_ragged(size)), default=0)


def _slices(sizes: Sizes, axis: int) -> Tensor | int:
    """How many elements there are along a dimension, over all rows."""
    if axis < 0:
        return 1
    return tf.reduce_sum(sizes[axis]) if _is_ragged(sizes[axis]) else sizes[axis] * _slices(sizes, axis - 1)


def _splits(sizes: Sizes) -> list[Tensor]:
    """Where the rows of each dimension start and end."""
    return [
        lengths_to_splits(sizes[axis]) if _is_ragged(sizes[axis]) else tf.range(_slices(sizes, axis - 1) + 1) * sizes[axis]
        for axis in range(1, _outer_count(sizes))
    ]


class _Checks:
    """Assertions that two sizes fit each other, where only a run can tell."""

    def __init__(self) -> None:
        self.made: list[Any] = []

    def fit(self, axis: int, size: Tensor, lengths: Tensor) -> None:
        """Rows of one length fit any, rows that may differ only those that are alike."""
        if _is_one(size) or _is_one(lengths) or _are_equal(size, lengths):
            return
        if _is_ragged(size) and _is_ragged(lengths):
            fits = tf.logical_and(tf.equal(tf.size(size), tf.size(lengths)), tf.reduce_all(tf.equal(*_cut_alike(size, lengths))))
        else:
            uniform = [tf.equal(s, 1) for s in (size, lengths) if not _is_ragged(s)]
            fits = tf.reduce_any(tf.stack([*uniform, *([tf.equal(size, lengths)] if len(uniform) == 2 else [])]))
        message = "Unable to broadcast: dimension size mismatch in dimension"
        check = tf.debugging.Assert(fits, [message, axis, "lengths=", lengths, "dim_size=", size])
        if check is not None:
            self.made.append(check)

    def before(self, sizes: Sizes) -> Sizes:
        """The sizes, once the checks have been made."""
        if not self.made:
            return sizes
        with tf.control_dependencies(self.made):
            return [tf.identity(s) for s in sizes]


def _cut_alike(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """The beginnings of two vectors, as long as the shorter one."""
    if a.dims == b.dims and None not in (a.dims or (None,)):
        return a, b
    count = tf.minimum(tf.size(a), tf.size(b))
    return a[:count], b[:count]


def _merged(from_x: Sizes, from_y: Sizes, checks: _Checks) -> Sizes:
    """The sizes that two shapes of one rank broadcast to. Sizes found to be alike become one tensor in the given lists, too."""
    x, y = list(from_x), list(from_y)
    for axis in range(len(x)):
        a, b = x[axis], y[axis]
        checks.fit(axis, a, b)
        if _is_ragged(a) and _is_ragged(b) or _are_equal(a, b):
            if from_y[axis] is b:
                from_y[axis] = a
            y[axis] = a
            continue
        size = a if _is_ragged(a) else b if _is_ragged(b) else _larger(a, b)
        x = x if size is a else _spread(x, axis, size)
        y = y if size is b else _spread(y, axis, size)
    return x


def _spread(sizes: Sizes, axis: int, lengths: Tensor) -> Sizes:
    """The sizes with rows of one element along a dimension made as long as `lengths`, and all that is below them repeated."""
    found = list(sizes)
    found[axis] = lengths
    last = _outer_count(sizes) - 1
    places = None if last <= axis else _places(None, sizes[axis], lengths, _slices(sizes, axis - 1))
    for below in range(axis + 1, last + 1):
        if _is_ragged(sizes[below]):
            found[below] = tf.gather(sizes[below], places)
        if below < last:
            places = _places(places, sizes[below], found[below], _slices(found, below - 1))
    return found


def _places(above: Tensor | None, size: Tensor, lengths: Tensor, count: Tensor | int) -> Tensor:
    """For each element of `count` rows as long as `lengths`, which of the elements in rows as long as `size` it repeats.

    `above` says which row each row repeats; None, that it is the one in its place.
    """
    kind = size.dtype
    rows = tf.range(tf.cast(count, kind)) if above is None else above
    if _is_ragged(size):
        starts = tf.gather(tf.cumsum(size, exclusive=True), rows)
        return ragged_range(starts, starts + lengths).values
    if _is_ragged(lengths) and _is_one(size):
        return tf.repeat(rows, lengths)
    step = tf.cast(tf.not_equal(size, 1), kind)
    if _is_ragged(lengths):
        return tf.repeat(rows * size, lengths) + ragged_range(lengths).values * step
    return tf.reshape(tf.expand_dims(rows * size, 1) + tf.range(lengths) * step, [-1])


def _spread_values(t: Any, source: Sizes, target: Sizes) -> Tensor:
    """The innermost values of a tensor with the sizes `source`, in the rows of `target`."""
    outer = _outer_count(target)
    values = t.flat_values if is_ragged(t) else t
    if (t.ragged_rank if is_ragged(t) else 0) + 1 != outer or values.shape.ndims != len(target) - outer + 1:
        values = tf.reshape(values, tf.stack([tf.constant(-1, source[0].dtype), *source[outer:]]))
    places = None
    for axis in range(outer):
        if places is not None or not _are_equal(source[axis], target[axis]):
            places = _places(places, source[axis], target[axis], _slices(target, axis - 1))
    return values if places is None else tf.gather(values, places)
