"""Ids as vectors of a table: sequences, bags of words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.framework.variables import model_variable
from everflow.contrib.layers.collecting import collect_named_outputs
from everflow.contrib.layers.publishing import layer
from everflow.contrib.layers.sparse_forms import dense_to_sparse_tensor
from everflow.graph import dtypes
from everflow.graph.sparse_tensor import SparseTensor
from everflow.ops.variables.partitioned import PartitionedVariable


@layer("embed_sequence")
def embed_sequence(
    ids: Any,
    vocab_size: int | None = None,
    embed_dim: int | None = None,
    unique: bool = False,
    initializer: Any = None,
    regularizer: Callable[..., Any] | None = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> Any:
    """The vector of each id of sequences."""
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError(
            f"Must specify vocab size and embedding dimension when notreusing. Got vocab_size={vocab_size} and embed_dim={embed_dim}"
        )
    lookup = embedding_lookup_unique if unique else tf.nn.embedding_lookup
    # A variable that is used again knows its shape.
    shape = None if embed_dim is None or reuse and vocab_size is None else [vocab_size, embed_dim]
    with tf.variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        how = {"initializer": initializer, "regularizer": regularizer, "trainable": trainable}
        return lookup(model_variable("embeddings", shape, **how), ids)


@layer("bow_encoder")
def bow_encoder(
    ids: Any,
    vocab_size: int,
    embed_dim: int,
    sparse_lookup: bool = True,
    initializer: Any = None,
    regularizer: Callable[..., Any] | None = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> Any:
    """The mean of the vectors of the ids of each example."""
    with tf.variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        table = model_variable(
            "embeddings", shape=[vocab_size, embed_dim], initializer=initializer, regularizer=regularizer, trainable=trainable
        )
        if not sparse_lookup:
            if isinstance(ids, SparseTensor):
                raise TypeError("ids are expected to be dense Tensor, got: %s", ids)
            return tf.reduce_mean(tf.nn.embedding_lookup(table, ids), axis=1)
        if not isinstance(ids, SparseTensor):
            ids = dense_to_sparse_tensor(ids, -1)
        return tf.nn.safe_embedding_lookup_sparse([table], ids, combiner="mean", name="embedding_lookup")


@layer("embedding_lookup_unique")
def embedding_lookup_unique(params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None) -> Any:
    """The vectors of ids, of which each different one is looked up once."""
    with tf.name_scope(name, "EmbeddingLookupUnique", [params, ids]):
        ids = tf.convert_to_tensor(ids)
        shape = tf.shape(ids)
        distinct, places = tf.unique(tf.reshape(ids, [-1]))
        found = tf.gather(tf.nn.embedding_lookup(params, distinct, partition_strategy), places)
        whole = tf.reshape(found, tf.concat([shape, tf.shape(found)[1:]], 0))
        whole.set_shape(ids.get_shape().concatenate(found.get_shape().with_rank_at_least(2)[1:]))
        return whole


@layer("dense_to_sparse")
def dense_to_sparse(tensor: Any, eos_token: Any = 0, outputs_collections: Sequence[str] | str | None = None, scope: Any = None) -> Any:
    """The elements that are not the token for an end."""
    with tf.variable_scope(scope, "dense_to_sparse", [tensor]) as sc:
        tensor = tf.convert_to_tensor(tensor)
        indices = tf.where(tf.not_equal(tensor, tf.constant(eos_token, tensor.dtype)))
        outputs = SparseTensor(indices, tf.gather_nd(tensor, indices), tf.shape(tensor, out_type=tf.int64))
        return collect_named_outputs(outputs_collections, sc.name, outputs)


def _check_one_type(tensors: Sequence[Any]) -> None:
    first = tensors[0].dtype
    for tensor in tensors:
        if dtypes.as_dtype(tensor.dtype).base_dtype != dtypes.as_dtype(first).base_dtype:
            raise ValueError(f"{tensor}, type={tensor.dtype}, must be of the same type ({first}) as {tensors[0]}.")


@layer("safe_embedding_lookup_sparse")
def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str | None = None,
    default_id: Any = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: float | None = None,
) -> Any:
    """Vectors of bags of ids, without ids and weights that are not positive; an empty bag gives zeros or the vector of `default_id`."""
    if embedding_weights is None:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    if isinstance(embedding_weights, PartitionedVariable):
        embedding_weights = list(embedding_weights)
    elif not isinstance(embedding_weights, (list, tuple)):
        embedding_weights = [embedding_weights]
    if not embedding_weights:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    _check_one_type([*embedding_weights, *([] if sparse_weights is None else [sparse_weights])])
    return tf.nn.safe_embedding_lookup_sparse(
        embedding_weights,
        sparse_ids,
        sparse_weights,
        combiner or "mean",
        default_id,
        name or "embedding_lookup",
        partition_strategy,
        max_norm,
    )


@public(
    "contrib.layers.python.layers.embedding_ops.embedding_lookup_sparse_with_distributed_aggregation",
    "contrib.slim.embedding_lookup_sparse_with_distributed_aggregation",
)
def embedding_lookup_sparse_with_distributed_aggregation(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: float | None = None,
) -> Any:
    """The vectors of rows of ids, combined by weights; a mean over no ids is not a number."""
    combiner = combiner or "mean"
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError("combiner must be one of 'mean', 'sqrtn' or 'sum'")
    if not isinstance(sp_ids, SparseTensor):
        raise TypeError("sp_ids must be SparseTensor")
    if sp_weights is not None and not isinstance(sp_weights, SparseTensor):
        raise TypeError("sp_weights must be either None or SparseTensor")
    with tf.name_scope(name, "embedding_lookup_sparse", [sp_ids]):
        rows = tf.cast(sp_ids.indices[:, 0], tf.int32)
        vectors = tf.nn.embedding_lookup(params, sp_ids.values, partition_strategy, max_norm=max_norm)
        weights = tf.ones_like(rows, vectors.dtype) if sp_weights is None else tf.cast(sp_weights.values, vectors.dtype)
        weights = tf.reshape(weights, tf.concat([[-1], tf.ones([tf.rank(vectors) - 1], tf.int32)], 0))
        if vectors.get_shape().ndims is not None:
            weights.set_shape([None] + [1] * (vectors.get_shape().ndims - 1))
        sums = tf.segment_sum(vectors * weights, rows)
        if combiner == "sum":
            return sums
        return sums / (tf.segment_sum(weights, rows) if combiner == "mean" else tf.sqrt(tf.segment_sum(tf.square(weights), rows)))
