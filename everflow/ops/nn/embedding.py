"""Looking up rows of tables that may be split into shards, and combining them where ids are sparse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph import shapes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.ops.core.registry import apply


def _shards(params: Any) -> list[Any]:
    if params is None:
        raise ValueError("params must be specified")
    if isinstance(params, (list, tuple)) or type(params).__name__ == "PartitionedVariable":
        found = list(params)
        if not found:
            raise ValueError("Need at least one param")
        return found
    return [params]


def _clipped(params: Any, ids: Any, max_norm: Any) -> Any:
    """Rows scaled down to a largest norm."""
    if max_norm is None:
        return params
    ids, rows = convert_to_tensor(ids), convert_to_tensor(params)
    first = len(ids.dims) if ids.dims is not None else tf.rank(ids)
    last = len(rows.dims) if rows.dims is not None else tf.rank(rows)
    known = isinstance(first, int) and isinstance(last, int)
    return tf.clip_by_norm(params, max_norm, axes=list(range(first, last)) if known else tf.range(first, last))


def _placement(flat_ids: Any, params: list[Any], strategy: str) -> tuple[Any, Any]:
    """For each id: which shard has it, and where in the shard it is."""
    n = len(params)
    if strategy == "mod":
        shard = flat_ids % n
        return shard, flat_ids // n
    if strategy != "div":
        raise ValueError("Unrecognized partition strategy: " + strategy)
    sizes: list[Any] = [p.get_shape().as_list()[0] if p.get_shape().ndims is not None else None for p in params]
    if None not in sizes:
        total = tf.constant(sum(sizes), flat_ids.dtype)
    else:
        counts = []
        for p, size in zip(params, sizes):
            if size is not None:
                counts.append(size)
            else:
                with tf.colocate_with(p):
                    counts.append(tf.shape(p)[0])
        total = tf.reduce_sum(tf.cast(tf.stack(counts), flat_ids.dtype))
    # The first shards have one row more where the rows can't be shared out evenly.
    per_shard, extras = total // n, total % n
    shard = tf.maximum(flat_ids // (per_shard + 1), (flat_ids - extras) // per_shard)
    position = tf.where(shard < extras, flat_ids % (per_shard + 1), (flat_ids - extras) % per_shard)
    return shard, position


def _row_dims(table: Any) -> Any:
    shape = table.get_shape()
    return None if shape.ndims is None else tuple(shape.as_list()[1:])


@internal("ops.embedding_ops._embedding_lookup_and_transform")
def lookup(
    params: Any,
    ids: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    max_norm: Any = None,
    transform_fn: Callable[[Any], Any] | None = None,
) -> Any:
    """Looks rows up, and applies a function to the rows of each shard where one is given."""
    params = _shards(params)
    with name_scope(name, "embedding_lookup", [*params, ids]) as scope:
        n = len(params)
        if not any(hasattr(p, "sparse_read") for p in params):
            params = [convert_to_tensor(p, name="params" if n == 1 else f"params_{i}") for i, p in enumerate(params)]
        ids = convert_to_tensor(ids, name="ids")
        if n == 1 and (not transform_fn or ids.get_shape().ndims == 1):
            with tf.colocate_with(params[0]):
                result = _clipped(tf.gather(params[0], ids, name=scope), ids, max_norm)
                if transform_fn:
                    result = transform_fn(result)
            return tf.identity(result)
        flat_ids = tf.reshape(ids, [-1])
        original_indices = tf.range(tf.size(flat_ids))
        shard, position = _placement(flat_ids, params, partition_strategy)
        shard = tf.cast(shard, tf.int32)
        gather_ids = tf.dynamic_partition(position, shard, n)
        indices = tf.dynamic_partition(original_indices, shard, n)
        parts = []
        for p, wanted in zip(params, gather_ids):
            with tf.colocate_with(p):
                rows = tf.gather(p, wanted)
                if transform_fn:
                    rows = transform_fn(_clipped(rows, wanted, max_norm))
            parts.append(rows)
        found = apply("ParallelDynamicStitch", indices, parts, name=scope)
        if transform_fn is None:
            element_dims: Any = None
            for p in params:
                element_dims = shapes.merge(element_dims, _row_dims(p))
        else:
            element_dims = None if found.dims is None else found.dims[1:]
        if shapes.is_fully_defined(element_dims):
            found = tf.reshape(found, tf.concat([tf.shape(ids), list(element_dims)], 0))
        elif transform_fn is None:
            with tf.colocate_with(params[0]):
                params_shape = tf.shape(params[0])
            found = tf.reshape(found, tf.concat([tf.shape(ids), tf.slice(params_shape, [1], [-1])], 0))
        else:
            found = tf.reshape(found, tf.concat([tf.shape(ids), tf.shape(found)[1:]], 0))
        found.set_shape(ids.get_shape().concatenate(shapes.TensorShape.from_dims(element_dims)))
        return found if transform_fn else _clipped(found, ids, max_norm)


@public("nn.embedding_lookup")
def embedding_lookup(
    params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None, validate_indices: bool = True, max_norm: Any = None
) -> Any:
    """The rows of a table at `ids`; the table may be a list of shards."""
    return lookup(params, ids, partition_strategy, name, max_norm)


@internal("ops.embedding_ops.embedding_lookup_v2")
def _embedding_lookup_of_2(params: Any, ids: Any, max_norm: Any = None, name: str | None = None) -> Any:
    return lookup(params, ids, "div", name, max_norm)


def _weighted(embeddings: Any, idx: Any, sp_weights: Any, segment_ids: Any, combiner: str, name: str) -> Any:
    weights = sp_weights.values
    if weights.dtype != embeddings.dtype:
        weights = tf.cast(weights, embeddings.dtype)
    embeddings = tf.gather(embeddings, idx)
    ones = tf.fill(tf.expand_dims(tf.rank(embeddings) - 1, 0), 1)
    columns = tf.reshape(weights, tf.concat([tf.shape(weights), ones], 0))
    if embeddings.dims is not None and weights.dims is not None:
        columns.set_shape([*weights.dims, *[1] * (len(embeddings.dims) - 1)])
    embeddings *= columns
    if combiner == "sum":
        return tf.segment_sum(embeddings, segment_ids, name=name)
    embeddings = tf.segment_sum(embeddings, segment_ids)
    if combiner == "mean":
        return tf.div(embeddings, tf.segment_sum(columns, segment_ids), name=name)
    return tf.div(embeddings, tf.sqrt(tf.segment_sum(tf.pow(columns, 2), segment_ids)), name=name)


@public("nn.embedding_lookup_sparse")
def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: Any = None,
) -> Any:
    """Looks up the rows for each example's ids, and combines them by sum, mean or sqrtn."""
    if combiner is None:
        tf.logging.warning('The default value of combiner will change from "mean" to "sqrtn" after 2016/11/01.')
        combiner = "mean"
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError("combiner must be one of 'mean', 'sqrtn' or 'sum'")
    params = list(params) if type(params).__name__ == "PartitionedVariable" else params
    params = params if isinstance(params, list) else [params]
    if not isinstance(sp_ids, tf.SparseTensor):
        raise TypeError("sp_ids must be SparseTensor")
    if sp_weights is not None:
        if not isinstance(sp_weights, tf.SparseTensor):
            raise TypeError("sp_weights must be either None or SparseTensor")
        sp_ids.values.get_shape().assert_is_compatible_with(sp_weights.values.get_shape())
        sp_ids.indices.get_shape().assert_is_compatible_with(sp_weights.indices.get_shape())
        sp_ids.dense_shape.get_shape().assert_is_compatible_with(sp_weights.dense_shape.get_shape())
    with name_scope(name, "embedding_lookup_sparse", [*params, sp_ids]) as scope:
        segment_ids = sp_ids.indices[:, 0]
        if segment_ids.dtype != tf.int32:
            segment_ids = tf.cast(segment_ids, tf.int32)
        ids, idx = tf.unique(sp_ids.values)
        embeddings = embedding_lookup(params, ids, partition_strategy=partition_strategy, max_norm=max_norm)
        if embeddings.dtype in (tf.float16, tf.bfloat16):
            embeddings = tf.cast(embeddings, tf.float32)
        if sp_weights is not None:
            return _weighted(embeddings, idx, sp_weights, segment_ids, combiner, scope)
        combine = {"sum": tf.sparse_segment_sum, "mean": tf.sparse_segment_mean, "sqrtn": tf.sparse_segment_sqrt_n}[combiner]
        return combine(embeddings, idx, segment_ids, name=scope)


@internal("ops.embedding_ops.embedding_lookup_sparse_v2")
def _embedding_lookup_sparse_of_2(
    params: Any, sp_ids: Any, sp_weights: Any, combiner: str | None = None, max_norm: Any = None, name: str | None = None
) -> Any:
    return embedding_lookup_sparse(params, sp_ids, sp_weights, "div", name, combiner, max_norm)


def _valid_ids(ids: Any, weights: Any) -> tuple[Any, Any]:
    """Without negative ids."""
    valid = tf.greater_equal(ids.values, 0)
    if weights is not None:
        valid = tf.logical_and(valid, tf.ones_like(weights.values, dtype=tf.bool))
    ids = tf.sparse_retain(ids, valid)
    return ids, None if weights is None else tf.sparse_retain(weights, valid)


def _valid_weights(ids: Any, weights: Any) -> tuple[Any, Any]:
    """Without weights that are not positive."""
    if weights is None:
        return ids, weights
    valid = tf.greater(weights.values, 0)
    return tf.sparse_retain(ids, valid), tf.sparse_retain(weights, valid)


@public("nn.safe_embedding_lookup_sparse")
def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str = "mean",
    default_id: Any = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: Any = None,
) -> Any:
    """embedding_lookup_sparse for any ids: invalid ones are left out; examples without any get a default or zeros."""
    if embedding_weights is None:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    if type(embedding_weights).__name__ == "PartitionedVariable":
        embedding_weights = list(embedding_weights)
    if not isinstance(embedding_weights, list):
        embedding_weights = [embedding_weights]
    if not embedding_weights:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    dtype = sparse_weights.dtype if sparse_weights is not None else None
    embedding_weights = [
        w if hasattr(w, "sparse_read") and dtype in (None, w.dtype) else convert_to_tensor(w, dtype=dtype) for w in embedding_weights
    ]
    with name_scope(name, "embedding_lookup", [*embedding_weights, sparse_ids, sparse_weights]) as scope:
        original_shape = sparse_ids.dense_shape
        rank = original_shape.dims[0] if original_shape.dims is not None else None
        original_rank = tf.size(original_shape) if rank is None else rank
        sparse_ids = tf.sparse_reshape(
            sparse_ids, [tf.reduce_prod(tf.slice(original_shape, [0], [original_rank - 1])), tf.gather(original_shape, original_rank - 1)]
        )
        if sparse_weights is not None:
            sparse_weights = tf.SparseTensor(sparse_ids.indices, sparse_weights.values, sparse_ids.dense_shape)
        sparse_ids, sparse_weights = _valid_ids(sparse_ids, sparse_weights)
        if combiner != "sum":
            sparse_ids, sparse_weights = _valid_weights(sparse_ids, sparse_weights)
        sparse_ids, is_row_empty = tf.sparse_fill_empty_rows(sparse_ids, default_id or 0)
        if sparse_weights is not None:
            sparse_weights, _ = tf.sparse_fill_empty_rows(sparse_weights, 1.0)
        result = embedding_lookup_sparse(
            embedding_weights,
            sparse_ids,
            sparse_weights,
            combiner=combiner,
            partition_strategy=partition_strategy,
            name=None if default_id is None else scope,
            max_norm=max_norm,
        )
        if default_id is None:
            empty = tf.tile(tf.reshape(is_row_empty, [-1, 1]), tf.stack([1, tf.shape(result)[1]]))
            result = tf.where(empty, tf.zeros_like(result), result, name=scope)
        final = tf.reshape(
            result,
            tf.concat([tf.slice(tf.cast(original_shape, tf.int32), [0], [original_rank - 1]), tf.slice(tf.shape(result), [1], [-1])], 0),
        )
        outer = None if rank is None else (None,) * (rank - 1)
        final.set_shape(shapes.TensorShape.from_dims(outer).concatenate(result.get_shape()[1:]))
        return final
