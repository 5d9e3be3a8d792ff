"""Counting: how often each integer occurs, histograms, buckets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.constants import known
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.core.shape_rules import same_as_input
from everflow.values.tensors import torch_dtype


def _bincount(node: Node) -> Callable[..., Any]:
    kind = torch_dtype(node.attr("T"))

    def run(values: Any, size: Any, weights: Any) -> Any:
        size = int(size)
        if size < 0:
            raise invalid_argument(f"size ({size}) must be non-negative")
        flat = values.reshape(-1).to(torch.int64)
        if flat.numel() and int(flat.min()) < 0:
            raise invalid_argument("Input arr must be non-negative!")
        kept = flat < size
        if not weights.numel():
            return torch.bincount(flat[kept], minlength=size).to(kind)
        if weights.numel() != flat.numel():
            raise invalid_argument("arr and weights must have the same number of elements")
        return torch.zeros(size, dtype=kind, device=flat.device).index_add_(0, flat[kept], weights.reshape(-1)[kept])

    return run


def _count_shape(index: int) -> Callable[[Any], Any]:
    def rule(o: Operation) -> Any:
        shapes.with_rank(o.inputs[index].dims, 0)
        size = known(o.inputs[index])
        if size is not None and size < 0:
            raise ValueError(f"size ({int(size)}) must be non-negative")
        return (None if size is None else int(size),)

    return rule


op("Bincount", kernel=_bincount, shape=_count_shape(1), gradient=not_differentiable)


@public("bincount", "math.bincount")
def bincount(arr: Any, weights: Any = None, minlength: Any = None, maxlength: Any = None, dtype: dtypes.DTypeLike = dtypes.int32) -> Any:
    """How often each of 0, 1, 2, ... occurs, or the sum of the weights of its occurrences."""
    with name_scope("bincount"):
        arr = convert_to_tensor(arr, name="arr", dtype=dtypes.int32)
        nonempty = tf.reduce_prod(tf.shape(arr)) > 0
        size = tf.cast(nonempty, dtypes.int32) * (tf.reduce_max(arr) + 1)
        if minlength is not None:
            size = tf.maximum(convert_to_tensor(minlength, name="minlength", dtype=dtypes.int32), size)
        if maxlength is not None:
            size = tf.minimum(convert_to_tensor(maxlength, name="maxlength", dtype=dtypes.int32), size)
        if weights is not None:
            weights = convert_to_tensor(weights, name="weights")
            return tf.unsorted_segment_sum(weights, arr, size)
        return apply("Bincount", arr, size, tf.constant([], dtypes.as_dtype(dtype)))


internal("ops.math_ops.bincount_v1")(bincount)
internal("ops.math_ops.bincount")(
    lambda arr, weights=None, minlength=None, maxlength=None, dtype=dtypes.int32, name=None: bincount(
        arr, weights, minlength, maxlength, dtype
    )
)


def _histogram(node: Node) -> Callable[..., Any]:
    kind = torch_dtype(node.attr("dtype"))

    def run(values: Any, bounds: Any, bins: Any) -> Any:
        count = int(bins)
        low, high = bounds.tolist()
        if low >= high:
            shown = "[" + ", ".join(f"{v:g}" for v in (low, high)) + "]"
            raise invalid_argument(f"value_range should satisfy value_range[0] < value_range[1], but got '{shown}'")
        if count <= 0:
            raise invalid_argument(f"nbins should be a positive number, but got '{count}'")
        flat = values.reshape(-1).to(torch.float64)
        step = (high - low) / count
        places = torch.floor((flat - low) / step).clamp(0, count - 1).to(torch.int64)
        return torch.bincount(places, minlength=count).to(kind)

    return run


def _histogram_shape(o: Operation) -> Any:
    bounds = shapes.with_rank(o.inputs[1].dims, 1)
    if bounds[0] not in (None, 2):
        raise ValueError(f"Dimension must be 2 but is {bounds[0]}")
    shapes.with_rank(o.inputs[2].dims, 0)
    bins = known(o.inputs[2])
    if bins is not None and bins <= 0:
        raise ValueError(f"Requires nbins > 0: {int(bins)}")
    return _count_shape(2)(o)


op("HistogramFixedWidth", kernel=_histogram, shape=_histogram_shape, gradient=not_differentiable)


@public("histogram_fixed_width")
def histogram_fixed_width(
    values: Any, value_range: Any, nbins: Any = 100, dtype: dtypes.DTypeLike = dtypes.int32, name: str | None = None
) -> Any:
    """How many values fall into each of nbins equal parts of a range; those outside count for the nearest part."""
    with name_scope(name, "histogram_fixed_width", [values, value_range, nbins]) as scope:
        return apply("HistogramFixedWidth", values, value_range, nbins, dtype=dtype, name=scope)


@public("histogram_fixed_width_bins")
def histogram_fixed_width_bins(
    values: Any, value_range: Any, nbins: Any = 100, dtype: dtypes.DTypeLike = dtypes.int32, name: str | None = None
) -> Any:
    """Which of nbins equal parts of a range each value falls into."""
    with name_scope(name, "histogram_fixed_width_bins", [values, value_range, nbins]):
        given = convert_to_tensor(values, name="values")
        shape, flat = tf.shape(given), tf.reshape(given, [-1])
        ends = convert_to_tensor(value_range, name="value_range")
        count = tf.cast(convert_to_tensor(nbins, dtype=dtypes.int32, name="nbins"), flat.dtype)
        share = tf.truediv(flat - ends[0], ends[1] - ends[0], name="scaled_values")
        bins = tf.clip_by_value(tf.floor(count * share, name="indices"), 0, count - 1)
        return tf.reshape(tf.cast(bins, dtypes.int32), shape)


def _bucketize(node: Node) -> Callable[..., Any]:
    bounds = node.attr("boundaries")
    if any(a > b for a, b in zip(bounds, bounds[1:])):
        raise invalid_argument("Expected sorted boundaries")
    edges = torch.tensor(bounds, dtype=torch.float64)
    return lambda x: torch.bucketize(x.to(torch.float64), edges.to(x.device), right=True, out_int32=True)


op("Bucketize", kernel=_bucketize, shape=same_as_input)


@internal("ops.math_ops._bucketize")
def bucketize(input: Any, boundaries: Any, name: str | None = None) -> Any:
    """How many of the sorted boundaries are at most as large as each element."""
    return apply("Bucketize", input, boundaries=boundaries, name=name)
