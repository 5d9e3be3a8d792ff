"""What tf.parse_example needs to know for a canned estimator: its features, labels and weights."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.feature_column.numeric import NumericColumn, numeric_column
from everflow.feature_column.parse_specs import make_parse_example_spec
from everflow.graph import dtypes


def _with_label(feature_columns: Any, label_key: Any, label_spec: Any, weight_column: Any) -> dict[str, Any]:
    spec = make_parse_example_spec(feature_columns)
    if label_key in spec:
        raise ValueError(f"label should not be used as feature. label_key: {label_key}, features: {spec.keys()}")
    spec[label_key] = label_spec
    if weight_column is None:
        return spec
    if isinstance(weight_column, str):
        weight_column = numeric_column(weight_column)
    if not isinstance(weight_column, NumericColumn):
        raise ValueError(
            "weight_column should be an instance of tf.feature_column.numeric_column. Given type: "
            f"{type(weight_column)} value: {weight_column}"
        )
    if weight_column.key in spec:
        raise ValueError(f"weight_column should not be used as feature. weight_column: {weight_column.key}, features: {spec.keys()}")
    spec.update(weight_column.parse_example_spec)
    return spec


@public("estimator.classifier_parse_example_spec")
@internal("estimator.canned.parsing_utils.classifier_parse_example_spec_v2")
def classifier_parse_example_spec(
    feature_columns: Any, label_key: Any, label_dtype: Any = dtypes.int64, label_default: Any = None, weight_column: Any = None
) -> dict[str, Any]:
    """The spec for a classifier."""
    label = tf.FixedLenFeature((1,), label_dtype, label_default)
    return _with_label(feature_columns, label_key, label, weight_column)


@public("estimator.regressor_parse_example_spec")
@internal("estimator.canned.parsing_utils.regressor_parse_example_spec_v2")
def regressor_parse_example_spec(
    feature_columns: Any,
    label_key: Any,
    label_dtype: Any = dtypes.float32,
    label_default: Any = None,
    label_dimension: int = 1,
    weight_column: Any = None,
) -> dict[str, Any]:
    """The spec for a regressor."""
    label = tf.FixedLenFeature((label_dimension,), label_dtype, label_default)
    return _with_label(feature_columns, label_key, label, weight_column)
