"""Products of tensors as Keras defines them."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.sparse_tensor import SparseTensor


@public("keras.backend.dot")
def dot(x: Any, y: Any) -> Any:
    """The matrix product; of tensors of more dimensions, over the last of `x` and the last but one of `y`."""
    rank, other = x.shape.ndims, y.shape.ndims
    if rank is not None and (rank > 2 or other > 2):
        x_shape = [s if s is not None else tf.shape(x)[i] for i, s in enumerate(x.shape.as_list())]
        y_shape = [s if s is not None else tf.shape(y)[i] for i, s in enumerate(y.shape.as_list())]
        order = [other - 2, *(i for i in range(other) if i != other - 2)] if other > 1 else [0]
        left = tf.reshape(x, [-1, x_shape[-1]])
        right = tf.reshape(tf.transpose(y, order), [y_shape[-2] if other > 1 else y_shape[0], -1])
        return tf.reshape(tf.matmul(left, right), [*x_shape[:-1], *y_shape[:-2], *y_shape[-1:]] if other > 1 else x_shape[:-1])
    if isinstance(x, SparseTensor):
        return tf.sparse.sparse_dense_matmul(x, y)
    return tf.matmul(x, y)


@public("keras.backend.batch_dot")
def batch_dot(x: Any, y: Any, axes: Any = None) -> Any:
    """The product of each sample of `x` with that of `y`, over an axis of each."""
    rank, other = x.shape.ndims, y.shape.ndims
    if rank < 2 or other < 2:
        raise ValueError(f"Cannot do batch_dot on inputs with rank < 2. Received inputs with shapes {x.shape} and {y.shape}.")
    if axes is None:
        axes = [rank - 1, other - 2 if other > 2 else other - 1]
    elif isinstance(axes, int):
        axes = [axes, axes]
    if any(isinstance(a, (list, tuple)) for a in axes):
        raise ValueError(f"Multiple target dimensions are not supported. Expected: None, int, (int, int), Provided: {axes}")
    axes = [a % r for a, r in zip(axes, (rank, other))]
    if 0 in axes:
        raise ValueError(
            "Cannot perform batch_dot over axis 0. If your inputs are not batched, add a dummy batch dimension to your "
            "inputs using K.expand_dims(x, 0)"
        )
    a, b = axes
    sizes = x.shape.as_list()[a], y.shape.as_list()[b]
    if None not in sizes and sizes[0] != sizes[1]:
        raise ValueError(
            f"Cannot do batch_dot on inputs with shapes {x.shape} and {y.shape} with axes={axes}. x.shape[{a}] != "
            f"y.shape[{b}] ({sizes[0]} != {sizes[1]})."
        )
    letters = "bcdefghijklm", "nopqrstuvwy"
    left, right = ["a", *letters[0][: rank - 1]], ["a", *letters[1][: other - 1]]
    left[a] = right[b] = "z"
    kept = [c for c in left if c != "z"] + [c for c in right if c not in "az"]
    found = tf.einsum(f"{''.join(left)},{''.join(right)}->{''.join(kept)}", x, y)
    return tf.expand_dims(found, -1) if found.shape.ndims == 1 else found
