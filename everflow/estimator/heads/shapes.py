"""Labels, logits and weights: what their shapes have to be."""

from __future__ import annotations

from typing import Any, NamedTuple

import everflow as tf
from everflow.feature_column.numeric import NumericColumn, numeric_column
from everflow.feature_column.transformation import FeatureTransformationCache
from everflow.graph.scopes import name_scope
from everflow.graph.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor

_SPARSE = (
    "Suggested Fix (1): Check the label feature in your data. Each example must contain {0} value(s). If not, your choice of label was "
    "probably incorrect. Suggested Fix (2): In your input_fn, use tf.sparse_tensor_to_dense() to turn labels into a Tensor."
)


class LabelTexts(NamedTuple):
    """What is said of wrong labels; the heads of version 2 say it in slightly other words."""

    missing: str
    sparse: str
    shape: str
    dimension: str
    column: str
    most: str
    least: str


TEXTS = LabelTexts(
    "You must provide a labels Tensor. Given: None. Suggested troubleshooting steps: Check that your data contain your label feature. "
    "Check that your input_fn properly parses and returns labels.",
    "SparseTensor labels are not supported. labels must be a Tensor of shape [D0, D1, ..., DN, {0}], e.g. [batch_size, {0}]. " + _SPARSE,
    "labels shape must be [D0, D1, ... DN, {}]. Suggested Fix: check your n_classes argument to the estimator and/or the shape of your "
    "label.",
    "Mismatched label shape. Expected labels dimension={}.  Received {}. Suggested Fix:If your classifier expects one-hot encoding "
    "label,check your n_classes argument to the estimator and/or the shape of your label. Otherwise, check the shape of your label.",
    "_NumericColumn",
    "Labels must <= n_classes - 1",
    "Labels must >= 0",
)
TEXTS_V2 = LabelTexts(
    TEXTS.missing.replace("data contain ", "data contains "),
    TEXTS.sparse.replace("labels must", "Labels must").replace("]. Sugg", "].Sugg"),
    TEXTS.shape.replace("to the estimator", "to the head"),
    TEXTS.dimension.replace("Fix:If", "Fix: If").replace("label,check", "label, check"),
    "NumericColumn",
    "Labels must be <= n_classes - 1",
    "Labels must be >= 0",
)


def checked_logits(logits: Any, expected: int) -> Any:
    """Logits with `expected` numbers for each example."""
    with name_scope(None, "logits", (logits,)) as scope:
        logits = tf.cast(logits, tf.float32)
        shape = tf.shape(logits)
        rank = tf.assert_rank_at_least(logits, 2, data=[shape], message="logits shape must be [D0, D1, ... DN, logits_dimension]")
        with tf.control_dependencies([rank]):
            static = logits.shape
            if static.ndims is not None and tf.dimension_value(static[-1]) is not None and not isinstance(expected, tf.Tensor):
                if int(static[-1]) != expected:
                    raise ValueError(f"logits shape must be [D0, D1, ... DN, logits_dimension], got {static}.")
                return logits
            right = tf.assert_equal(expected, shape[-1], data=[shape], message="logits shape must be [D0, D1, ... DN, logits_dimension]")
            with tf.control_dependencies([right]):
                return tf.identity(logits, name=scope)


def checked_labels(labels: Any, logits: Any, expected: int, texts: LabelTexts = TEXTS) -> Any:
    """Dense labels with `expected` values for each example."""
    if labels is None:
        raise ValueError(texts.missing)
    with name_scope(None, "labels", (labels, logits)) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            raise ValueError(texts.sparse.format(expected))
        ranks = (labels.shape.ndims, logits.shape.ndims)
        if None not in ranks and ranks[0] + 1 == ranks[1]:
            labels = tf.expand_dims(labels, -1)
        labels_shape, logits_shape = tf.shape(labels), tf.shape(logits)
        message = texts.shape.format(expected)
        rank = tf.assert_rank_at_least(labels, 2, message=message)
        with tf.control_dependencies([rank]):
            if labels.shape.ndims is not None and tf.dimension_value(labels.shape[-1]) not in (None, expected):
                raise ValueError(texts.dimension.format(expected, labels.shape[-1]))
            wanted = tf.concat([logits_shape[:-1], [expected]], axis=0)
            # When the graph is run: the loss itself complains about static shapes, in words of its own.
            right = tf.Assert(
                tf.reduce_all(tf.equal(wanted, labels_shape)),
                data=[message, "expected_labels_shape: ", wanted, "labels_shape: ", labels_shape],
            )
            with tf.control_dependencies([right]):
                return tf.identity(labels, name=scope)


def weights_of(features: Any, weight_column: Any, logits: Any, per_output: bool = False, texts: LabelTexts = TEXTS) -> Any:
    """The weight of each example: 1, or a feature."""
    if weight_column is None:
        return 1.0
    with name_scope(None, "weights", (tuple(features.values()) if isinstance(features, dict) else features, logits)) as scope:
        if isinstance(weight_column, str):
            weight_column = numeric_column(key=weight_column, shape=(1,))
        if not isinstance(weight_column, NumericColumn):
            raise TypeError(f"Weight column must be either a string or {texts.column}. Given type: {type(weight_column)}.")
        weights = weight_column.get_dense_tensor(FeatureTransformationCache(features), None)
        if not (weights.dtype.is_floating or weights.dtype.is_integer):
            raise ValueError(f"Weight column should be castable to float. Given dtype: {weights.dtype}")
        weights = tf.cast(weights, tf.float32, name="weights")
        logits_rank = logits.shape.ndims
        weights_shape = tf.shape(weights, name="weights_shape")
        if logits_rank is not None and weights.shape.ndims == logits_rank - 1:
            weights = tf.expand_dims(weights, -1)
        full_shape = tf.shape(weights)
        logits_shape = tf.shape(logits, name="logits_shape")
        if logits_rank is not None and weights.shape.ndims not in (None, logits_rank):
            raise ValueError(f"weights can not be broadcast to values. values.rank={logits_rank}. weights.rank={weights.shape.ndims}.")
        fits = tf.reduce_all(tf.equal(tf.concat([logits_shape[:-1], [1]], axis=0), full_shape))
        if per_output:
            fits = tf.logical_or(fits, tf.reduce_all(tf.equal(logits_shape, full_shape)))
        check = tf.Assert(
            fits,
            data=[
                "weights shape must be [D0, D1, ... DN, 1]" + (" or [D0, D1, ... DN, logits_dimension]" if per_output else ""),
                "logits_shape: ",
                logits_shape,
                "weights_shape: ",
                weights_shape,
            ],
        )
        with tf.control_dependencies([check]):
            return tf.identity(weights, name=scope)


def in_range(labels: Any, n_classes: int, message: str | None = None, texts: LabelTexts = TEXTS) -> Any:
    """Labels that are classes."""
    with name_scope(None, "assert_range", (labels,)):
        most = tf.assert_less_equal(labels, tf.convert_to_tensor(n_classes - 1, dtype=labels.dtype), message=message or texts.most)
        least = tf.assert_non_negative(labels, message=message or texts.least)
        with tf.control_dependencies((most, least)):
            return tf.identity(labels)
