"""Reductions of chosen rows: `indices` picks rows of the data, `segment_ids` groups what was picked."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import _native
from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.constants import known
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.math.segments import averaged, check_increasing, in_type, over_root, summed

# By what native code divides the sums of segments: by nothing, by how many rows they have, or by the root of that.
_DIVISORS = {summed: 0, averaged: 1, over_root: 2}


def _natively(compute: Callable[..., Any], rows: Any, indices: Any, ids: Any, divisor: int, count: int) -> Any:
    """Rows combined to segments, or segments spread over rows; None where native code does not take them or finds them wrong."""
    if rows.dtype is not torch.float32 or not rows.is_cpu or len(indices) != len(ids) or indices.ndim != 1 or ids.ndim != 1:
        return None
    rows, indices, ids = rows.contiguous(), indices.contiguous(), ids.contiguous()
    found = rows.new_empty((count, *rows.shape[1:]))
    done = compute(
        rows.data_ptr(),
        rows.shape[0],
        math.prod(rows.shape[1:]),
        indices.data_ptr(),
        indices.dtype is torch.int64,
        ids.data_ptr(),
        ids.dtype is torch.int64,
        len(ids),
        divisor,
        found.data_ptr(),
        count,
    )
    return found if done else None


def _picked(combine: Callable[..., Any]) -> Callable[[Any], Callable[..., Any]]:
    def make(node: Node) -> Callable[..., Any]:
        compute = in_type(node, combine)

        def run(data: Any, indices: Any, ids: Any, count: Any = None) -> Any:
            if indices.ndim != 1:
                raise invalid_argument("indices should be a vector.")
            if ids.ndim != 1:
                raise invalid_argument("segment_ids should be a vector.")
            if len(indices) != len(ids):
                raise invalid_argument("segment_ids and indices should have same size.")
            needed = int(ids[-1]) + 1 if len(ids) else 0
            if count is not None:
                if needed > int(count) >= 0:
                    raise invalid_argument("segment ids must be < num_segments")
                needed = int(count)
            if needed < 0 or count is None and len(ids) and needed == 0:
                raise invalid_argument("segment ids must be >= 0")
            found = _natively(_native.combine_rows, data, indices, ids, _DIVISORS[combine], needed)
            if found is not None:
                return found
            check_increasing(ids, needed)
            _check_indices(indices, data.shape[0])
            return compute(data[indices.to(torch.int64)], ids.to(torch.int64), needed)

        return run

    return make


def _check_indices(indices: Any, rows: int) -> None:
    bad = ((indices < 0) | (indices >= rows)).nonzero()
    if bad.numel():
        place = int(bad[0])
        raise invalid_argument(f"Bad: indices[{place}] == {int(indices[place])} out of range [0, {rows})")


def _shape(o: Operation) -> Any:
    data, indices, ids = (t.dims for t in o.inputs[:3])
    shapes.with_rank_at_least(data, 1)
    shapes.merge(shapes.with_rank(indices, 1), shapes.with_rank(ids, 1))
    count = None
    if len(o.inputs) > 3:
        shapes.with_rank(o.inputs[3].dims, 0)
        number = known(o.inputs[3])
        if number is not None:
            if number < 0:
                raise ValueError("Cannot specify a negative value for num_segments")
            count = int(number)
    return None if data is None else (count, *data[1:])


def _sum_gradient(o: Operation, dy: Any) -> Any:
    data, indices, ids = o.inputs[:3]
    rows = tf.shape(data)[0]
    dx = tf.unsorted_segment_sum(tf.gather(dy, ids), indices, rows)
    return [dx, *[None] * (len(o.inputs) - 1)]


def _scaled_gradient(op_type: str) -> Callable[..., Any]:
    def gradient(o: Operation, dy: Any) -> Any:
        rows = tf.shape(o.inputs[0])[0]
        return [apply(op_type, dy, o.inputs[1], o.inputs[2], rows), *[None] * (len(o.inputs) - 1)]

    return gradient


def _spread(root: bool) -> Callable[[Any], Callable[..., Any]]:
    """The gradient of a mean (or of a sum over √n): each picked row gets its share of its segment's."""

    def run(dy: Any, indices: Any, ids: Any, rows: Any) -> Any:
        rows = int(rows)
        found = _natively(_native.spread_rows, dy, indices, ids, 2 if root else 1, rows)
        if found is not None:
            return found
        segments = ids.to(torch.int64)
        if len(segments) and int(segments[-1]) >= dy.shape[0]:
            raise invalid_argument("Invalid number of segments")
        for values, most, label in ((segments, dy.shape[0], "Segment id"), (indices, rows, "Index")):
            wrong = values[(values < 0) | (values >= most)]
            if wrong.numel():
                raise invalid_argument(f"{label} {int(wrong[0])} out of range [0, {most}).")
        counts = torch.bincount(segments, minlength=dy.shape[0]).clamp(min=1).to(dy.dtype)
        share = 1 / (torch.sqrt(counts) if root else counts)
        picked = dy[segments] * share[segments].reshape(-1, *[1] * (dy.ndim - 1))
        return summed(picked, indices.to(torch.int64), rows)

    return lambda node: run


def _gradient_shape(o: Operation) -> Any:
    dy = shapes.with_rank_at_least(o.inputs[0].dims, 1)
    shapes.merge(shapes.with_rank(o.inputs[2].dims, 1), shapes.with_rank(o.inputs[1].dims, 1))
    rows = known(o.inputs[3])
    return None if dy is None else (None if rows is None else int(rows), *dy[1:])


op("SparseSegmentMeanGrad", kernel=_spread(root=False), shape=_gradient_shape)
op("SparseSegmentSqrtNGrad", kernel=_spread(root=True), shape=_gradient_shape)


def _family(op_type: str, combine: Callable[..., Any], gradient: Callable[..., Any], short: str, what: str) -> None:
    op(op_type, kernel=_picked(combine), shape=_shape, gradient=gradient)
    op(op_type + "WithNumSegments", kernel=_picked(combine), shape=_shape, gradient=gradient)

    def function(data: Any, indices: Any, segment_ids: Any, name: str | None = None, num_segments: Any = None) -> Any:
        if num_segments is not None:
            return apply(op_type + "WithNumSegments", data, indices, segment_ids, num_segments, name=name)
        return apply(op_type, data, indices, segment_ids, name=name)

    function.__name__ = function.__qualname__ = f"sparse_segment_{short}"
    function.__doc__ = f"The {what} of the picked rows of each segment."
    public(f"sparse_segment_{short}", f"sparse.segment_{short}", owner=__name__)(function)


_family("SparseSegmentSum", summed, _sum_gradient, "sum", "sum")
_family("SparseSegmentMean", averaged, _scaled_gradient("SparseSegmentMeanGrad"), "mean", "mean")
_family("SparseSegmentSqrtN", over_root, _scaled_gradient("SparseSegmentSqrtNGrad"), "sqrt_n", "sum over √n")
