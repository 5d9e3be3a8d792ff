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


def _as_list(params: Any) -> list[Any]:
    """A table as a list of its parts."""
    parts = list(params) if type(params).__name__ == "PartitionedVariable" else params
    return parts if isinstance(parts, list) else [parts]


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
    params = _as_list(params)
    if not isinstance(sp_ids, tf.SparseTensor):
        raise TypeError("sp_ids must be SparseTensor")
    if sp_weights is not None:
        if not isinstance(sp_weights, tf.SparseTensor):
            raise TypeError("sp_weights must be either None or SparseTensor")
        for part in ("values", "indices", "dense_shape"):
            of_ids, of_weights = (getattr(sparse, part).get_shape() for sparse in (sp_ids, sp_weights))
            of_ids.assert_is_compatible_with(of_weights)
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
    tables = [] if embedding_weights is None else _as_list(embedding_weights)
    if not tables:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    kind = None if sparse_weights is None else sparse_weights.dtype
    tables = [t if hasattr(t, "sparse_read") and kind in (None, t.dtype) else convert_to_tensor(t, dtype=kind) for t in tables]
    with name_scope(name, "embedding_lookup", [*tables, sparse_ids, sparse_weights]) as scope:
        shape = sparse_ids.dense_shape
        rank = None if shape.dims is None else shape.dims[0]
        count = tf.size(shape) if rank is None else rank
        # All dimensions but the last become one, and come back at the end.
        rows = tf.reduce_prod(tf.slice(shape, [0], [count - 1]))
        ids = tf.sparse_reshape(sparse_ids, [rows, tf.gather(shape, count - 1)])
        weights = None if sparse_weights is None else tf.SparseTensor(ids.indices, sparse_weights.values, ids.dense_shape)
        ids, weights = _valid_ids(ids, weights)
        if combiner != "sum":
            ids, weights = _valid_weights(ids, weights)
        ids, is_empty = tf.sparse_fill_empty_rows(ids, default_id or 0)
        if weights is not None:
            weights, _ = tf.sparse_fill_empty_rows(weights, 1.0)
        inner_name = None if default_id is None else scope
        found = embedding_lookup_sparse(tables, ids, weights, partition_strategy, inner_name, combiner, max_norm)
        if default_id is None:
            nothing = tf.tile(tf.reshape(is_empty, [-1, 1]), tf.stack([1, tf.shape(found)[1]]))
            found = tf.where(nothing, tf.zeros_like(found), found, name=scope)
        outer = tf.slice(tf.cast(shape, tf.int32), [0], [count - 1])
        whole = tf.reshape(found, tf.concat([outer, tf.slice(tf.shape(found), [1], [-1])], 0))
        known = shapes.TensorShape.from_dims(None if rank is None else (None,) * (rank - 1))
        whole.set_shape(known.concatenate(found.get_shape()[1:]))
        return whole
