"""Sparse tensors of dense ones, and how far their rows reach."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.graph import dtypes
from everflow.graph.sparse_tensor import SparseTensor

_HOME = "contrib.layers.python.ops.sparse_ops."


def _ignored(dtype: Any, ignore_value: Any) -> Any:
    """The value that counts as nothing: the one given, else zero or the empty string."""
    if ignore_value is None:
        ignore_value = "" if dtype == dtypes.string else dtype.as_numpy_dtype()
    return tf.cast(ignore_value, dtype, name="ignore_value")


@internal(_HOME + "dense_to_sparse_tensor")
def dense_to_sparse_tensor(dense_tensor: Any, ignore_value: Any = None) -> SparseTensor:
    """The elements that are not `ignore_value`; by default that are neither zero nor empty."""
    with tf.name_scope("DenseToSparseTensor"):
        dense = tf.convert_to_tensor(dense_tensor)
        indices = tf.where(tf.not_equal(dense, _ignored(dense.dtype, ignore_value)), name="indices")
        values = tf.gather_nd(dense, indices, name="values")
        return SparseTensor(indices, values, tf.shape(dense, name="dense_shape", out_type=dtypes.int64))


@internal(_HOME + "indicators_to_sparse_ids")
def indicators_to_sparse_ids(indicators: Any, ignore_value: Any = None, dtype: Any = dtypes.int64) -> SparseTensor:
    """The places along the last dimension that are not `ignore_value`, moved to the front of their rows."""
    with tf.name_scope("indicators_to_sparse_ids"):
        indicators = tf.convert_to_tensor(indicators, name="indicators")
        present = tf.not_equal(indicators, _ignored(indicators.dtype, ignore_value))
        places = tf.where(present)
        counted = tf.cast(present, dtypes.int64)
        nth = tf.gather_nd(tf.cumsum(counted, axis=-1, exclusive=True), places)
        longest = tf.reduce_max(tf.concat([[0], tf.reshape(tf.reduce_sum(counted, axis=-1), [-1])], 0))
        return SparseTensor(
            indices=tf.concat([places[:, :-1], tf.expand_dims(nth, -1)], 1, name="indices"),
            values=tf.cast(places[:, -1], dtype, name="values"),
            dense_shape=tf.concat([tf.shape(indicators, out_type=dtypes.int64)[:-1], [longest]], 0, name="dense_shape"),
        )


@internal(_HOME + "sparse_row_envelope")
def sparse_row_envelope(sparse_input: Any, row_axis: int = 0, col_axis: int = 1, name: str | None = None) -> Any:
    """How many columns each row needs: one more than its last, none where it is empty."""
    with tf.name_scope(name, "sparse_row_envelope", [sparse_input]):
        rows, columns = sparse_input.indices[:, row_axis], sparse_input.indices[:, col_axis]
        count = tf.cast(sparse_input.dense_shape[row_axis], dtypes.int32)
        # An empty row has the smallest of all integers.
        return tf.maximum(tf.unsorted_segment_max(columns + 1, rows, count), 0)
