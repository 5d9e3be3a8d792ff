"""Sparse tensors whose values say where elements stand, and small sparse tensors made from nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.scopes import name_scope
from everflow.graph.sparse_tensor import SparseTensor
from everflow.graph.tensor import Tensor
from everflow.ops.sparse.indices import as_sparse


@public("sparse_to_indicator", "sparse.to_indicator")
def sparse_to_indicator(sp_input: Any, vocab_size: Any, name: str | None = None) -> Any:
    """A dense boolean tensor that is true at the ids which a sparse tensor holds along its last dimension."""
    sp_input = as_sparse(sp_input)
    with name_scope(name, "SparseToIndicator", [sp_input]) as scope:
        count = tf.shape(sp_input.indices)[0]
        there = tf.fill(tf.expand_dims(count, 0), True)
        merged = _merge(sp_input, SparseTensor(sp_input.indices, there, sp_input.dense_shape), vocab_size, scope)
        # One example may have an id twice: indices may repeat.
        return tf.sparse_tensor_to_dense(merged, default_value=False, validate_indices=False, name=scope)


@public("sparse_merge", "sparse.merge")
def sparse_merge(sp_ids: Any, sp_values: Any, vocab_size: Any, name: str | None = None, already_sorted: bool = False) -> Any:
    """A sparse tensor with the values of one and with the ids of others as the indices of its last dimensions."""
    return _merge(sp_ids, sp_values, vocab_size, name, already_sorted)


@internal("ops.sparse_ops.sparse_merge_impl")
def _merge(sp_ids: Any, sp_values: Any, vocab_size: Any, name: str | None = None, already_sorted: bool = False) -> Any:
    if isinstance(sp_ids, (tf.SparseTensorValue, SparseTensor)):
        if not isinstance(vocab_size, (Tensor, int, np.integer)):
            raise TypeError(f"vocab_size has to be a Tensor or Python int. Found {type(vocab_size)}")
        sp_ids, vocab_size = [sp_ids], [vocab_size]
    else:
        if not hasattr(sp_ids, "__iter__"):
            raise TypeError(f"sp_ids has to be a SparseTensor or list thereof. Found {type(sp_ids)}")
        if not hasattr(vocab_size, "__iter__"):
            raise TypeError(f"vocab_size has to be a list of Tensors or Python ints. Found {type(vocab_size)}")
        for size in vocab_size:
            if not isinstance(size, (Tensor, int, np.integer)):
                raise TypeError(f"vocab_size has to be a list of Tensors or Python ints. Found {type(size)}")
    if len(sp_ids) != len(vocab_size):
        raise ValueError("sp_ids and vocab_size have to have equal lengths.")
    with name_scope(name, "SparseMerge", [sp_ids, sp_values]):
        sp_ids = [as_sparse(ids) for ids in sp_ids]
        sp_values = as_sparse(sp_values)
        ids = []
        for one in sp_ids:
            values = one.values if one.dtype == dtypes.int64 else tf.cast(one.values, dtypes.int64)
            ids.append(tf.expand_dims(values, axis=1))
        sizes = [tf.cast(size, dtypes.int64) for size in vocab_size]
        indices = tf.concat([sp_ids[0].indices[:, :-1], *ids], axis=1)
        shape = tf.concat([sp_ids[0].dense_shape[:-1], sizes], axis=0)
        merged = SparseTensor(indices, sp_values.values, shape)
        if already_sorted:
            return merged
        in_order = tf.sparse_reorder(merged)
        return SparseTensor(in_order.indices, in_order.values, shape)


@public("sparse.expand_dims")
@internal("ops.sparse_ops.sparse_expand_dims")
def sparse_expand_dims(sp_input: Any, axis: Any = None, name: str | None = None) -> Any:
    """A sparse tensor with a dimension of size 1 more; without `axis`, the last."""
    rank = sp_input.dense_shape.get_shape()[0]
    axis = -1 if axis is None else axis
    with name_scope(name, "expand_dims", [sp_input]):
        if isinstance(axis, Tensor):
            axis = tf.cast(axis, dtypes.int64) if axis.dtype != dtypes.int32 else axis
        axis = tf.convert_to_tensor(axis, name="axis")
        at = tf.where_v2(axis >= 0, axis, axis + rank + 1)
        column = tf.zeros([tf.shape(sp_input.indices)[0], 1], dtype=dtypes.int64)
        before = tf.slice(sp_input.indices, [0, 0], [-1, at])
        after = tf.slice(sp_input.indices, [0, at], [-1, -1])
        indices = tf.concat([before, column, after], axis=1)
        outer = tf.slice(sp_input.dense_shape, [0], [at])
        inner = tf.slice(sp_input.dense_shape, [at], [-1])
        one = tf.convert_to_tensor([1], name="new_shape", dtype=dtypes.int64)
        return SparseTensor(indices=indices, values=sp_input.values, dense_shape=tf.concat([outer, one, inner], axis=0))


@public("sparse.eye")
@internal("ops.sparse_ops.sparse_eye")
def sparse_eye(num_rows: Any, num_columns: Any = None, dtype: dtypes.DTypeLike = dtypes.float32, name: str | None = None) -> Any:
    """A sparse matrix with ones on its diagonal."""
    with name_scope(name, "eye", [num_rows, num_columns]):
        num_rows = tf.cast(tf.convert_to_tensor(num_rows, preferred_dtype=dtypes.int64, name="num_rows"), dtypes.int64)
        if num_columns is None:
            num_columns = num_rows
        else:
            num_columns = tf.cast(tf.convert_to_tensor(num_columns, preferred_dtype=dtypes.int64, name="num_columns"), dtypes.int64)
        size = tf.minimum(num_rows, num_columns)
        diagonal = tf.range(size, dtype=dtypes.int64)
        return SparseTensor(tf.stack([diagonal, diagonal], axis=1), tf.ones(size, dtype=dtype), [num_rows, num_columns])
