"""Adding up the gradients that reach a tensor on several ways."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.autodiff.registry import AggregationMethod
from everflow.graph import dtypes, shapes
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.stacks import get_default_graph, in_eager_mode
from everflow.graph.tensor import Tensor

METHODS = (AggregationMethod.ADD_N, AggregationMethod.EXPERIMENTAL_TREE, AggregationMethod.EXPERIMENTAL_ACCUMULATE_N)


def aggregate(gradients: list[Any], method: int, op_name: str) -> Any:
    """The sum of at least two gradients of an output of the op."""
    if not all(isinstance(g, Tensor) for g in gradients):
        return aggregate_slices(gradients)
    if in_eager_mode():
        return tf.add_n(gradients)
    if method == AggregationMethod.EXPERIMENTAL_ACCUMULATE_N and len(gradients) > 2 and _has_known_shape(gradients):
        return tf.accumulate_n(gradients)
    if method != AggregationMethod.ADD_N:
        with get_default_graph().name_scope(op_name + "_gradient_sum"):
            total = gradients[0]
            for g in gradients[1:]:
                total = tf.add_n([total, g])
        return total
    return _sum_by_device(gradients)


def _has_known_shape(gradients: list[Tensor]) -> bool:
    dims = None
    for g in gradients:
        dims = shapes.merge(dims, g.dims)
    return shapes.is_fully_defined(dims)


def _sum_by_device(gradients: list[Tensor]) -> Tensor:
    """The sum of the sums on each device: as few tensors as possible travel between devices."""
    graph = get_default_graph()
    sums = []
    for device in sorted({g.device for g in gradients}):
        here = [g for g in gradients if g.device == device]
        with graph.colocate_with(here[0].op, ignore_existing=True):
            sums.append(tf.add_n(here))
    return tf.add_n(sums)


@internal("ops.gradients_util._AggregateIndexedSlicesGradients")
def aggregate_slices(grads: Iterable[Any]) -> Any:
    """The sum of gradients some of which are slices: slices if all of them are, else a tensor."""
    given = [g for g in grads if g is not None]
    if len(given) < 2:
        return given[0] if given else None
    if any(isinstance(g, Tensor) for g in given):
        return tf.add_n(given)
    parts = [_flattened(p) for p in as_indexed_slices_list(given)]
    return IndexedSlices(tf.concat([p.values for p in parts], 0), tf.concat([p.indices for p in parts], 0), parts[0].dense_shape)


def _flattened(slices: IndexedSlices) -> IndexedSlices:
    """Slices whose values are a tensor, of slices whose values may be slices."""
    if isinstance(slices.values, Tensor):
        return slices
    inner = _flattened(slices.values)
    return IndexedSlices(inner.values, tf.gather(slices.indices, inner.indices), slices.dense_shape)


@internal("ops.math_ops._as_indexed_slices")
def as_indexed_slices(x: Any, optimize: bool = True) -> IndexedSlices:
    """A tensor as slices: all of its rows."""
    if isinstance(x, IndexedSlices):
        return x
    if not isinstance(x, Tensor):
        raise TypeError(f"Not a Tensor or IndexedSlices: {type(x)}")
    shape = tf.shape(x)
    return IndexedSlices(x, tf.range(0, shape[0]), shape)


@internal("ops.math_ops._as_indexed_slices_list")
def as_indexed_slices_list(inputs: Any, optimize: bool = True) -> list[IndexedSlices]:
    """Tensors and slices as slices with indices of one type: int64 unless all are int32."""
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"Expected a list or tuple, not a {type(inputs)}")
    found = [as_indexed_slices(x) for x in inputs]
    if len({x.indices.dtype.base_dtype for x in found}) < 2:
        return found
    return [
        x if x.indices.dtype != dtypes.int32 else IndexedSlices(x.values, tf.cast(x.indices, dtypes.int64), x.dense_shape) for x in found
    ]
