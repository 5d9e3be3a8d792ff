"""Tensors of fewer dimensions: the inner ones as one."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.layers.collecting import collect_named_outputs
from everflow.graph.sparse_tensor import SparseTensor


@public("contrib.layers.python.layers.layers._inner_flatten")
def inner_flatten(inputs: Any, new_rank: int, output_collections: Any = None, scope: Any = None) -> Any:
    """A tensor of `new_rank` dimensions, dense or sparse: the last one holds what the inner ones held."""
    with tf.name_scope(scope, "InnerFlatten", [inputs, new_rank]) as sc:
        flattened = _sparse(inputs, new_rank) if isinstance(inputs, SparseTensor) else _dense(inputs, new_rank)
        return collect_named_outputs(output_collections, sc, flattened)


def _sparse(inputs: SparseTensor, new_rank: int) -> SparseTensor:
    rank = inputs.dense_shape.get_shape().as_list()[0]
    if rank is not None and rank < new_rank:
        raise ValueError(
            f"Inputs has rank less than new_rank. {inputs} must have rank at least {new_rank}. Received rank {rank}, shape "
            f"{inputs.get_shape()}"
        )
    outer, inner = inputs.dense_shape[: new_rank - 1], inputs.dense_shape[new_rank - 1 :]
    return tf.sparse_reshape(inputs, tf.concat([outer, [tf.reduce_prod(inner)]], 0))


def _dense(inputs: Any, new_rank: int) -> Any:
    inputs = tf.convert_to_tensor(inputs)
    check = tf.assert_rank_at_least(inputs, new_rank, message="inputs has rank less than new_rank")
    with tf.control_dependencies([] if check is None else [check]):
        outer = tf.strided_slice(tf.shape(inputs), [0], [new_rank - 1])
        flattened = tf.reshape(inputs, tf.concat([outer, [-1]], 0))
    if inputs.get_shape().ndims is not None:
        kept, joined = inputs.get_shape()[: new_rank - 1], inputs.get_shape()[new_rank - 1 :]
        flattened.set_shape(kept.concatenate([joined.num_elements()]))
    return flattened
