"""How long the sequences in sparse tensors are."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.graph.scopes import name_scope


@internal("feature_column.utils.sequence_length_from_sparse_tensor")
def sequence_length_of(sp_tensor: Any, num_elements: int = 1) -> Any:
    """For each example one more than the place of its last value; `num_elements` values make a step."""
    with name_scope(None, "sequence_length") as scope:
        rows = sp_tensor.indices[:, 0]
        last = sp_tensor.indices[:, 1]
        lengths = last // num_elements + 1
        longest = tf.math.segment_max(lengths, segment_ids=rows)
        # Examples at the end that have no values.
        batch = sp_tensor.dense_shape[0]
        missing = tf.maximum(tf.size(longest, out_type=tf.int64), batch) - tf.size(longest, out_type=tf.int64)
        return tf.concat([longest, tf.zeros(tf.expand_dims(missing, 0), dtype=longest.dtype)], axis=0, name=scope)
