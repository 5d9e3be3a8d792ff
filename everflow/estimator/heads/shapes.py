"""Labels, logits and weights: what their shapes have to be."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.feature_column.numeric import NumericColumn, numeric_column
from everflow.feature_column.transformation import FeatureTransformationCache
from everflow.graph.scopes import name_scope
from everflow.graph.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor

_SUGGESTION = (
    "Suggested Fix:If your classifier expects one-hot encoding label,check your n_classes argument to the estimator and/or the shape of "
    "your label. Otherwise, check the shape of your label."
)


def checked_logits(logits: Any, expected: int) -> Any:
    """Logits with `expected` numbers for each example."""
    with name_scope(None, "logits", (logits,)) as scope:
        logits = tf.cast(logits, tf.float32)
        shape = tf.shape(logits)
        rank = tf.assert_rank_at_least(logits, 2, data=[shape], message="logits shape must be [D0, D1, ... DN, logits_dimension]")
        with tf.control_dependencies([rank]):
            static = logits.shape
            if static.ndims is not None and static[-1].value is not None:
                if int(static[-1]) != expected:
                    raise ValueError(f"logits shape must be [D0, D1, ... DN, logits_dimension], got {static}.")
                return logits
            right = tf.assert_equal(expected, shape[-1], data=[shape], message="logits shape must be [D0, D1, ... DN, logits_dimension]")
            with tf.control_dependencies([right]):
                return tf.identity(logits, name=scope)


def checked_labels(labels: Any, logits: Any, expected: int) -> Any:
    """Dense labels with `expected` values for each example."""
    if labels is None:
        raise ValueError(
            "You must provide a labels Tensor. Given: None. Suggested troubleshooting steps: Check that your data contain your label "
            "feature. Check that your input_fn properly parses and returns labels."
        )
    with name_scope(None, "labels", (labels, logits)) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            if expected == 1:
                raise ValueError(
                    f"SparseTensor labels are not supported. labels must be a Tensor of shape [D0, D1, ..., DN, {expected}], "
                    f"e.g. [batch_size, {expected}].{_SUGGESTION}"
                )
            labels = tf.sparse_tensor_to_dense(labels)
        if labels.shape.ndims is not None and logits.shape.ndims is not None and labels.shape.ndims == logits.shape.ndims - 1:
            labels = tf.expand_dims(labels, -1)
        labels_shape, logits_shape = tf.shape(labels), tf.shape(logits)
        message = f"labels shape must be [D0, D1, ... DN, {expected}]. {_SUGGESTION}"
        rank = tf.assert_rank_at_least(labels, 2, data=[labels_shape], message=message)
        with tf.control_dependencies([rank]):
            if labels.shape.ndims is not None and labels.shape[-1].value not in (None, expected):
                raise ValueError(
                    f"Mismatched label shape. Expected labels dimension={expected}.  Received {labels.shape[-1]}. {_SUGGESTION}"
                )
            wanted = tf.concat([logits_shape[:-1], [expected]], axis=0)
            right = tf.assert_equal(
                wanted, labels_shape, data=["expected_labels_shape: ", wanted, "labels_shape: ", labels_shape], message=message
            )
            with tf.control_dependencies([right]):
                return tf.identity(labels, name=scope)


def weights_of(features: Any, weight_column: Any, logits: Any, per_output: bool = False) -> Any:
    """The weight of each example: 1, or a feature."""
    if weight_column is None:
        return 1.0
    with name_scope(None, "weights", (tuple(features.values()) if isinstance(features, dict) else features, logits)) as scope:
        if isinstance(weight_column, str):
            weight_column = numeric_column(key=weight_column, shape=(1,))
        if not isinstance(weight_column, NumericColumn):
            raise TypeError(f"Weight column must be either a string or _NumericColumn.Given type: {type(weight_column)}.")
        weights = weight_column.get_dense_tensor(FeatureTransformationCache(features), None)
        if not (weights.dtype.is_floating or weights.dtype.is_integer):
            raise ValueError(f"Weight column should be castable to float. Given dtype: {weights.dtype}")
        weights = tf.cast(weights, tf.float32, name="weights")
        weights_shape = tf.shape(weights, name="weights_shape")
        logits_shape = tf.shape(logits, name="logits_shape")
        wanted = tf.concat([logits_shape[:-1], [1]], axis=0)
        message = "weights shape must be [D0, D1, ... DN, 1]"
        if per_output:
            fits = tf.equal(tf.reduce_prod(logits_shape), tf.reduce_prod(weights_shape))
            right = tf.Assert(tf.logical_or(fits, tf.reduce_all(tf.equal(wanted, weights_shape))), data=["weights shape: ", weights_shape])
        else:
            right = tf.assert_equal(
                wanted, weights_shape, data=["expected_labels_shape: ", wanted, "weights_shape: ", weights_shape], message=message
            )
        with tf.control_dependencies([right]):
            return tf.identity(weights, name=scope)


def in_range(labels: Any, n_classes: int, message: str | None = None) -> Any:
    """Labels that are classes."""
    with name_scope(None, "assert_range", (labels,)):
        most = tf.assert_less_equal(
            labels, tf.convert_to_tensor(n_classes - 1, dtype=labels.dtype), message=message or "Labels must <= n_classes - 1"
        )
        least = tf.assert_non_negative(labels, message=message or "Labels must >= 0")
        with tf.control_dependencies((most, least)):
            return tf.identity(labels)
