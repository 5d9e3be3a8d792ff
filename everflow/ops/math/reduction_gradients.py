"""Gradients of reductions: spreading what was summed, sharing it among extremes, products without one factor."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal
from everflow.graph import shapes
from everflow.graph.constants import known
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.stacks import in_eager_mode
from everflow.ops.core.families import conj
from everflow.ops.core.registry import apply


@internal("ops.math_ops.reduced_shape")
def reduced_shape(input_shape: Any, axes: Any) -> Any:
    """The shape that a reduction with keepdims gives, as a tensor: 1 at the reduced axes."""
    input_shape, axes = tf.cast(input_shape, tf.int32), tf.cast(axes, tf.int32)
    rank = tf.size(input_shape)
    axes = (axes + rank) % rank
    axes_shape = tf.shape(axes)
    return apply("DynamicStitch", [tf.range(rank), axes], [input_shape, tf.fill(axes_shape, 1)])


def _safely_divided(x: Any, y: Any) -> Any:
    return tf.floordiv(x, tf.maximum(y, 1))


def of_sum(o: Operation, dy: Any) -> Any:
    """Every element that was summed gets the sum's gradient."""
    x = o.inputs[0]
    if in_eager_mode():
        return _spread(x, o.inputs[1], dy), None
    dims, indices = x.dims, known(o.inputs[1])
    if dims is not None and indices is not None:
        if np.array_equal(indices.reshape(-1), np.arange(len(dims))):
            dy = tf.reshape(dy, [1] * len(dims))
            shape = tf.constant(dims, dtype=tf.int32) if shapes.is_fully_defined(dims) else tf.shape(x)
            return tf.tile(dy, shape), None
        if shapes.is_fully_defined(dims):
            reduced = {int(i) % len(dims) for i in indices.reshape(-1)}
            kept = [1 if i in reduced else d for i, d in enumerate(dims)]
            # The graph holds these ops in TensorFlow too, although their values are known here.
            reduced_shape(np.array(dims, np.int32), indices.astype(np.int32))
            _safely_divided(np.array(dims, np.int32), np.array(kept, np.int32))
            return tf.tile(tf.reshape(dy, kept), [d // max(k, 1) for d, k in zip(dims, kept)]), None
    shape = tf.shape(x)
    kept = reduced_shape(shape, o.inputs[1])
    tiles = _safely_divided(shape, kept)
    return tf.tile(tf.reshape(dy, kept), tiles), None


def _spread(x: Any, indices: Any, dy: Any) -> Any:
    """A reduction's gradient at each element that went into it, where shapes are known."""
    dims = x.dims
    if dy.dims:
        reduced = {i % len(dims) for i in indices.value.reshape(-1).tolist()}
        dy = apply("Reshape", dy, [1 if i in reduced else d for i, d in enumerate(dims)])
    return apply("BroadcastTo", dy, np.array(dims, np.int32))


def of_mean(o: Operation, dy: Any) -> Any:
    """The sum's gradient, divided by how many elements went into each mean."""
    x, y = o.inputs[0], o.outputs[0]
    size, means = shapes.num_elements(x.dims), shapes.num_elements(y.dims)
    if in_eager_mode() and size is not None and means is not None:
        count = size // max(means, 1)
        return _spread(x, o.inputs[1], apply("RealDiv", dy, convert_to_tensor(count, dy.dtype))), None
    spread = of_sum(o, dy)[0]
    if size is not None and means is not None:
        return tf.truediv(spread, tf.constant(size // max(means, 1), dtype=spread.dtype)), None
    in_shape, out_shape = tf.shape(x), tf.shape(y)
    factor = _safely_divided(tf.reduce_prod(in_shape), tf.reduce_prod(out_shape))
    return tf.truediv(spread, tf.cast(factor, spread.dtype)), None


def of_extreme(o: Operation, dy: Any) -> Any:
    """The gradient is shared by all elements that equal the extreme."""
    x, indices = o.inputs
    kept = reduced_shape(tf.shape(x), indices)
    y, dy = tf.reshape(o.outputs[0], kept), tf.reshape(dy, kept)
    chosen = tf.cast(tf.equal(y, x), dy.dtype)
    count = tf.reshape(tf.reduce_sum(chosen, indices), kept)
    return tf.truediv(chosen, count) * dy, None


def of_product(o: Operation, dy: Any) -> Any:
    """Each element gets the product of all others: of those before it times those after it, so that zeros do no harm."""
    x = o.inputs[0]
    shape = tf.shape(x)
    indices = tf.reshape(o.inputs[1], [-1])
    kept = reduced_shape(shape, indices)
    tiles = _safely_divided(shape, kept)
    spread = tf.tile(tf.reshape(dy, kept), tiles)
    rank = tf.rank(x)
    indices = (indices + rank) % rank
    every = tf.range(rank)
    others = apply("ListDiff", every, indices)[0]
    order = tf.concat([indices, others], 0)
    in_each = tf.reduce_prod(tf.gather(shape, indices))
    products = tf.reduce_prod(tf.gather(shape, others))
    moved = tf.transpose(x, order)
    moved_shape = tf.shape(moved)
    rows = tf.reshape(moved, (in_each, products))
    before = tf.cumprod(rows, axis=0, exclusive=True)
    after = tf.cumprod(rows, axis=0, exclusive=True, reverse=True)
    rest = tf.reshape(conj(before) * conj(after), moved_shape)
    dx = spread * tf.transpose(rest, tf.invert_permutation(order))
    return tf.reshape(dx, shape), None
