"""Vectors of values without a table of their own: each element is a parameter that the value and its place hash to."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.layers.feature_crossing import sparse_feature_cross
from everflow.graph.sparse_tensor import SparseTensor
from everflow.ops.variables.partitioned import PartitionedVariable

_HOME = "contrib.layers.python.layers.embedding_ops."

# Rows without values hash as these, so that trained parameters keep their meaning.
_STRING_OF_EMPTY_ROWS = "6ZxWzWOHxZ"
_NUMBER_OF_EMPTY_ROWS = 1288896567


def _parts(params: Any) -> list[Any]:
    if isinstance(params, PartitionedVariable):
        params = list(params)
    elif not isinstance(params, (list, tuple)):
        params = [params]
    if not params:
        raise ValueError("Need at least one param")
    return list(params)


def _checked(params: list[Any], dimension: int | None) -> None:
    if dimension is not None and dimension <= 0:
        raise ValueError(f"Dimension must be >0. Given is {dimension}")
    for part in params:
        part.get_shape().assert_has_rank(1)


def _lookup(params: list[Any], values: Any, places: Any, hash_key: int | None) -> Any:
    """The parameters that flat values hash to at places, [values, places]. All parts together are one row of parameters."""
    size = sum(tf.dimension_value(p.shape[0]) for p in params)  # type: ignore[misc]
    rows = tf.reshape(tf.tile(tf.expand_dims(values, 1), [1, tf.shape(places)[1]]), [-1, 1])
    flat = tf.cast(tf.reshape(places, [-1, 1]), tf.int64)
    crossed = sparse_feature_cross([flat, rows], hashed_output=True, num_buckets=size, hash_key=hash_key)
    return tf.nn.embedding_lookup(params, tf.reshape(crossed.values, tf.shape(places)), partition_strategy="div")


@public(_HOME + "scattered_embedding_lookup", "contrib.slim.scattered_embedding_lookup")
def scattered_embedding_lookup(params: Any, values: Any, dimension: int, name: str | None = None, hash_key: int | None = None) -> Any:
    """The vector of each value, of as many elements as `dimension`; `params` are rows of parameters that all values share."""
    if dimension is None:
        raise ValueError("You must specify dimension.")
    return sampled_scattered_embedding_lookup(params, values, dimension=dimension, hash_key=hash_key, name=name)


@public(_HOME + "_sampled_scattered_embedding_lookup")
def sampled_scattered_embedding_lookup(
    params: Any,
    values: Any,
    dimension: int | None = None,
    sampled_candidates: Any = None,
    hash_key: int | None = None,
    name: str | None = None,
) -> Any:
    """The vector of each value: all of `dimension`, or only the elements at the places that `sampled_candidates` has for it."""
    params = _parts(params)
    with tf.name_scope(name, "scattered_embedding_lookup", [*params, dimension, values]):
        _checked(params, dimension)
        values = tf.convert_to_tensor(values)
        shape, flat = tf.shape(values), tf.reshape(values, [-1])
        if sampled_candidates is not None:
            candidates = tf.convert_to_tensor(sampled_candidates, name="sampled_candidates")
            given = tf.shape(candidates)
            message = ["The shape of sampled_candidates: ", given, " does not match the shape of values: ", shape]
            with tf.control_dependencies([tf.Assert(tf.reduce_all(tf.equal(given[:-1], shape)), message)]):
                places = tf.reshape(candidates, [-1, given[-1]])
        elif dimension is None:
            raise ValueError("You must specify either dimension or sampled_candidates.")
        else:
            places = tf.tile(tf.expand_dims(tf.range(dimension), 0), [tf.size(flat), 1])
        found = _lookup(params, flat, places, hash_key)
        whole = tf.reshape(found, tf.concat([shape, [dimension]], 0) if sampled_candidates is None else given)
        if sampled_candidates is not None:
            whole.set_shape(candidates.get_shape())
        elif values.get_shape().ndims is not None:
            whole.set_shape(values.get_shape().concatenate([dimension]))
        return whole


@public(_HOME + "_sampled_scattered_embedding_lookup_sparse")
def sampled_scattered_embedding_lookup_sparse(
    params: Any,
    sp_values: Any,
    dimension: int | None = None,
    sampled_candidates: Any = None,
    hash_key: int | None = None,
    with_sign_hash: bool = False,
    name: str | None = None,
) -> Any:
    """The sums of the vectors of rows of values, zeros for a row without any; by `with_sign_hash`, values also hash to signs."""
    if not isinstance(sp_values, SparseTensor):
        raise TypeError("sp_values must be SparseTensor")
    with tf.name_scope(name, "sampled_scattered_embedding_lookup_sparse", [sp_values]):
        rows = sp_values.indices[:, 0]
        if sampled_candidates is not None:
            # Each value of a row is looked up at the places of its row.
            sampled_candidates = tf.gather(sampled_candidates, rows)
        found = sampled_scattered_embedding_lookup(params, sp_values.values, dimension, sampled_candidates, hash_key)
        if with_sign_hash:
            found *= sampled_scattered_embedding_lookup(
                tf.constant([-1.0, 1.0]), sp_values.values, dimension, sampled_candidates, hash_key, name="signs_lookup"
            )
        count = tf.cast(sp_values.dense_shape[0], tf.int32)
        return tf.unsorted_segment_sum(found, tf.cast(rows, tf.int32), count)


@public(_HOME + "scattered_embedding_lookup_sparse", "contrib.slim.scattered_embedding_lookup_sparse")
def scattered_embedding_lookup_sparse(
    params: Any,
    sparse_values: Any,
    dimension: int,
    combiner: str | None = None,
    default_value: Any = None,
    name: str | None = None,
    hash_key: int | None = None,
) -> Any:
    """The vectors of rows of values, combined; a row without values has that of `default_value`."""
    if combiner is None:
        tf.logging.warn('The default value of combiner will change from "mean" to "sqrtn" after 2016/11/01.')
        combiner = "mean"
    params = _parts(params)
    if not isinstance(sparse_values, SparseTensor):
        raise TypeError("sparse_values must be SparseTensor")
    with tf.name_scope(name, "scattered_embedding_lookup_sparse", [*params, sparse_values]):
        if default_value is None:
            default_value = _STRING_OF_EMPTY_ROWS if sparse_values.dtype == tf.string else _NUMBER_OF_EMPTY_ROWS
        filled, _ = tf.sparse_fill_empty_rows(sparse_values, default_value)
        rows = tf.cast(filled.indices[:, 0], tf.int32)
        values, places = tf.unique(filled.values)
        vectors = scattered_embedding_lookup(params, values, dimension, hash_key=hash_key)
        combined = {"sum": tf.sparse_segment_sum, "mean": tf.sparse_segment_mean, "sqrtn": tf.sparse_segment_sqrt_n}
        if combiner not in combined:
            raise ValueError("combiner must be one of 'mean', 'sqrtn' or 'sum'.")
        return combined[combiner](vectors, places, rows)
