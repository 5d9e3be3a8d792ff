"""Reductions of groups of rows: segment_ids says which group each row belongs to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import _native
from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.constants import known
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.lazy import torch
from everflow.ops.core.families import WIDER, published
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op

# Rows of more numbers keep torch busy enough.
NARROW = 512

# (rows, the segment of each, how many segments, the op's dtype where the rows came in a wider one) → a row a segment
Combine = Callable[..., Any]


def summed(data: Any, ids: Any, count: int, kind: Any = None) -> Any:
    """The sum of the rows of each segment."""
    found = _summed_in_turn(data, ids, count)
    if found is not None:
        return found
    return torch.zeros((count, *data.shape[1:]), dtype=data.dtype, device=data.device).index_add_(0, ids, data)


def _summed_in_turn(data: Any, ids: Any, count: int) -> Any:
    """The same by our own kernel, which leaves out rows with negative ids; None where it can't be, as for ids that are too large."""
    if data.dtype is not torch.float32 or not data.is_cpu or ids.dtype not in (torch.int32, torch.int64):
        return None
    if not 0 < data.numel() <= NARROW * ids.numel() or not data.is_contiguous() or not ids.is_contiguous():
        return None
    sums = torch.zeros((count, *data.shape[ids.ndim :]))
    width, wide = data.numel() // ids.numel(), ids.dtype is torch.int64
    astray = _native.sum_rows(data.data_ptr(), ids.data_ptr(), wide, ids.numel(), width, sums.data_ptr(), count)
    return sums if astray < 0 else None


def _combined(how: str, start: Callable[[Any], Any]) -> Combine:
    """Rows combined by a reduction of torch's scatter; segments without rows hold `start` of the op's dtype."""

    def run(data: Any, ids: Any, count: int, kind: Any = None) -> Any:
        out = torch.full((count, *data.shape[1:]), start(kind or data.dtype), dtype=data.dtype, device=data.device)
        index = ids.reshape(-1, *[1] * (data.ndim - 1)).expand(data.shape)
        return out.scatter_reduce_(0, index, data, how, include_self=how == "prod")

    return run


def _lowest(dtype: Any) -> Any:
    return torch.finfo(dtype).min if dtype.is_floating_point else torch.iinfo(dtype).min


def _highest(dtype: Any) -> Any:
    if dtype == torch.uint64:
        return -1  # all bits set, as the int64 that stands for it
    return torch.finfo(dtype).max if dtype.is_floating_point else torch.iinfo(dtype).max


def averaged(data: Any, ids: Any, count: int, kind: Any = None) -> Any:
    """The mean of each segment; 0 for one without rows."""
    total = summed(data, ids, count)
    rows = torch.bincount(ids, minlength=count).clamp(min=1).reshape(-1, *[1] * (data.ndim - 1))
    if data.is_floating_point() or data.is_complex():
        return total / rows.to(data.dtype)
    return torch.div(total, rows, rounding_mode="trunc").to(data.dtype)


def over_root(data: Any, ids: Any, count: int, kind: Any = None) -> Any:
    """The sum of each segment, divided by the square root of how many rows it has."""
    rows = torch.bincount(ids, minlength=count).clamp(min=1).reshape(-1, *[1] * (data.ndim - 1))
    return summed(data, ids, count) / torch.sqrt(rows.to(data.dtype))


def in_type(node: Node, combine: Combine) -> Combine:
    """The same for unsigned words, computed in a wider type."""
    wide = WIDER.get(node.inputs[0].dtype.base_dtype.name)
    if wide is None:
        return combine
    wider = getattr(torch, wide)
    return lambda data, ids, count: combine(data.to(wider), ids, count, data.dtype).to(data.dtype)


def check_increasing(ids: Any, count: int) -> None:
    """Raises for ids that are not sorted or not in [0, count); which error is found first is as in TensorFlow."""
    if not ids.numel() or int(ids[0]) >= 0 and int(ids[-1]) < count and not bool((ids[1:] < ids[:-1]).any()):
        return
    runs = torch.unique_consecutive(ids).tolist()
    for i, run in enumerate(runs):
        if i + 1 < len(runs) and runs[i + 1] <= run:
            raise invalid_argument("segment ids are not increasing")
        if not 0 <= run < count:
            raise invalid_argument(f"Segment id {run} out of range [0, {count}), possibly because 'segment_ids' input is not sorted.")


def _sorted(combine: Combine) -> Callable[[Any], Callable[..., Any]]:
    def make(node: Node) -> Callable[..., Any]:
        compute = in_type(node, combine)

        def run(data: Any, ids: Any) -> Any:
            if ids.ndim != 1:
                raise invalid_argument("segment_ids should be a vector.")
            if data.ndim == 0 or data.shape[0] != ids.shape[0]:
                raise invalid_argument("segment_ids should be the same size as dimension 0 of input.")
            count = int(ids[-1]) + 1 if ids.numel() else 0
            if count < 0 or ids.numel() and count == 0:
                raise invalid_argument("segment ids must be >= 0")
            check_increasing(ids, count)
            return compute(data, ids.to(torch.int64), count)

        return run

    return make


def _sorted_shape(o: Operation) -> Any:
    data, ids = (t.dims for t in o.inputs)
    shapes.with_rank(ids, 1)
    shapes.with_rank_at_least(data, 1)
    return None if data is None else (None, *data[1:])


def _sum_gradient(o: Operation, dy: Any) -> Any:
    return tf.gather(dy, o.inputs[1]), None


def _mean_gradient(o: Operation, dy: Any) -> Any:
    data, ids = o.inputs
    rank = tf.rank(data)
    ones_shape = tf.concat([tf.shape(ids), tf.fill(tf.expand_dims(rank - 1, 0), 1)], 0)
    ones = tf.fill(ones_shape, tf.constant(1, dtype=dy.dtype))
    return tf.gather(tf.divide(dy, segment_sum(ones, ids)), ids), None


def _extreme_gradient(o: Operation, dy: Any) -> Any:
    """The gradient is shared by the rows that equal the extreme."""
    data, ids = o.inputs
    zeros = tf.zeros_like(data)
    chosen = tf.equal(data, tf.gather(o.outputs[0], ids))
    count = segment_sum(tf.cast(chosen, dy.dtype), ids)
    return tf.where(chosen, tf.gather(tf.divide(dy, count), ids), zeros), None


_ONE, _ZERO = (lambda dtype: 1), (lambda dtype: 0)

op("SegmentSum", kernel=_sorted(summed), shape=_sorted_shape, gradient=_sum_gradient)
op("SegmentMean", kernel=_sorted(averaged), shape=_sorted_shape, gradient=_mean_gradient)
op("SegmentProd", kernel=_sorted(_combined("prod", _ONE)), shape=_sorted_shape)
op("SegmentMax", kernel=_sorted(_combined("amax", _ZERO)), shape=_sorted_shape, gradient=_extreme_gradient)
op("SegmentMin", kernel=_sorted(_combined("amin", _ZERO)), shape=_sorted_shape, gradient=_extreme_gradient)

segment_sum = published("SegmentSum", ("segment_sum", "math.segment_sum"), __name__)
segment_mean = published("SegmentMean", ("segment_mean", "math.segment_mean"), __name__)
segment_prod = published("SegmentProd", ("segment_prod", "math.segment_prod"), __name__)
segment_max = published("SegmentMax", ("segment_max", "math.segment_max"), __name__)
segment_min = published("SegmentMin", ("segment_min", "math.segment_min"), __name__)


def _unsorted(combine: Combine) -> Callable[[Any], Callable[..., Any]]:
    """Ids in any order and of any rank; rows with negative ids are left out."""

    def make(node: Node) -> Callable[..., Any]:
        compute = in_type(node, combine)

        def run(data: Any, ids: Any, count: Any) -> Any:
            if count.ndim:
                raise invalid_argument(f"num_segments should be a scalar, not shape {shapes.describe(tuple(count.shape))}")
            count = int(count)
            if tuple(data.shape[: ids.ndim]) != tuple(ids.shape):
                raise invalid_argument(
                    f"data.shape = {shapes.describe(tuple(data.shape))} does not start with "
                    f"segment_ids.shape = {shapes.describe(tuple(ids.shape))}"
                )
            if count < 0:
                raise invalid_argument(f"Input num_segments == {count} must not be negative.")
            if combine is summed and (found := _summed_in_turn(data, ids, count)) is not None:
                return found
            rows = data.reshape(-1, *data.shape[ids.ndim :]) if ids.ndim != 1 else data
            index = ids.reshape(-1).to(torch.int64)
            if index.numel():
                _check_range(ids, index, count)
                if int(index.min()) < 0:
                    kept = index >= 0
                    rows, index = rows[kept], index[kept]
            return compute(rows, index, count)

        return run

    return make


def _check_range(ids: Any, flat: Any, count: int) -> None:
    if int(flat.max()) < count:
        return
    place = int((flat >= count).nonzero()[0])
    where = torch.unravel_index(torch.tensor(place), ids.shape) if ids.ndim else ()
    shown = ",".join(str(int(i)) for i in where)
    raise invalid_argument(f"segment_ids[{shown}] = {int(flat[place])} is out of range [0, {count})")


def _unsorted_shape(o: Operation) -> Any:
    data, ids, count = (t.dims for t in o.inputs)
    shapes.with_rank(count, 0)
    number = known(o.inputs[2])
    if number is not None and number < 0:
        raise ValueError(f"Dimension size, given by scalar input 2, must be non-negative but is {int(number)}")
    if data is None or ids is None:
        return None
    shapes.with_rank_at_least(data, len(ids))
    for a, b in zip(data, ids):
        shapes.merge_size(a, b)
    return (None if number is None else int(number), *data[len(ids) :])


def _gathered_or_zero(params: Any, ids: Any, clipped: Any = None, present: Any = None) -> tuple[Any, Any, Any]:
    """Rows of params by id, zeros where the id is negative; also the clipped ids and where they were not negative."""
    if clipped is None:
        clipped = tf.maximum(ids, tf.zeros_like(ids))
    gathered = tf.gather(params, clipped)
    if present is None:
        present = tf.greater_equal(ids, 0)
        for _ in range(len(gathered.dims) - len(present.dims)):
            present = tf.expand_dims(present, -1)
        present = present & tf.ones_like(gathered, dtype=tf.bool)
    return tf.where(present, gathered, tf.zeros_like(gathered)), clipped, present


def _unsorted_extreme_gradient(o: Operation, dy: Any) -> Any:
    data, ids, count = o.inputs
    extremes, clipped, present = _gathered_or_zero(o.outputs[0], ids)
    chosen = tf.logical_and(tf.equal(data, extremes), present)
    rows = unsorted_segment_sum(tf.cast(chosen, dy.dtype), ids, count)
    shared = _gathered_or_zero(tf.divide(dy, rows), None, clipped, present)[0]
    return tf.where(chosen, shared, tf.zeros_like(shared)), None, None


def _unsorted_product_gradient(o: Operation, dy: Any) -> Any:
    """The product divided by the element; where that is 0, the product of the others, if it is the only 0."""
    data, ids, count = o.inputs
    zero = tf.equal(data, 0)
    zeros_in_each = unsorted_segment_sum(tf.cast(zero, tf.int32), ids, count)
    dy = tf.where(tf.greater(zeros_in_each, 1), tf.zeros_like(dy), dy)
    others = unsorted_segment_prod(tf.where(zero, tf.ones_like(data), data), ids, count)
    clipped = tf.maximum(ids, tf.zeros_like(ids))
    product, product_of_others = tf.gather(o.outputs[0], clipped), tf.gather(others, clipped)
    slope = tf.where(zero, product_of_others, product / data)
    return _gathered_or_zero(dy, ids, clipped)[0] * slope, None, None


op(
    "UnsortedSegmentSum",
    kernel=_unsorted(summed),
    shape=_unsorted_shape,
    gradient=lambda o, dy: (_gathered_or_zero(dy, o.inputs[1])[0], None, None),
)
op("UnsortedSegmentProd", kernel=_unsorted(_combined("prod", _ONE)), shape=_unsorted_shape, gradient=_unsorted_product_gradient)
op("UnsortedSegmentMax", kernel=_unsorted(_combined("amax", _lowest)), shape=_unsorted_shape, gradient=_unsorted_extreme_gradient)
op("UnsortedSegmentMin", kernel=_unsorted(_combined("amin", _highest)), shape=_unsorted_shape, gradient=_unsorted_extreme_gradient)


def _unsorted_function(op_type: str, short: str, what: str) -> Callable[..., Any]:
    def function(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
        return apply(op_type, data, segment_ids, num_segments, name=name)

    function.__name__ = function.__qualname__ = short
    function.__doc__ = f"The {what} of the rows of each segment, for ids in any order."
    return public(short, f"math.{short}", owner=__name__, ragged=f"math.{short.removeprefix('unsorted_')}")(function)


unsorted_segment_sum = _unsorted_function("UnsortedSegmentSum", "unsorted_segment_sum", "sum")
unsorted_segment_prod = _unsorted_function("UnsortedSegmentProd", "unsorted_segment_prod", "product")
unsorted_segment_max = _unsorted_function("UnsortedSegmentMax", "unsorted_segment_max", "largest")
unsorted_segment_min = _unsorted_function("UnsortedSegmentMin", "unsorted_segment_min", "smallest")


def _row_counts(data: Any, ids: Any, count: Any) -> Any:
    """How many rows each segment has, at least 1, in a shape that divides a sum of segments."""
    if data.dims is None or ids.dims is None:
        raise ValueError("The ranks of data and segment_ids must be known to average segments.")
    rows = unsorted_segment_sum(tf.ones(tf.shape(ids), dtype=data.dtype), ids, count)
    return tf.maximum(tf.reshape(rows, [-1] + [1] * (len(data.dims) - len(ids.dims))), 1)


@public("unsorted_segment_mean", "math.unsorted_segment_mean", ragged="math.segment_mean")
def unsorted_segment_mean(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The mean of the rows of each segment, for ids in any order."""
    with name_scope(name, "UnsortedSegmentMean"):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        rows = _row_counts(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / rows


@public("unsorted_segment_sqrt_n", "math.unsorted_segment_sqrt_n", ragged="math.segment_sqrt_n")
def unsorted_segment_sqrt_n(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The sum of the rows of each segment, divided by the square root of how many it has."""
    with name_scope(name, "UnsortedSegmentSqrtN"):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        rows = _row_counts(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / tf.sqrt(rows)
