"""What tf.parse_example needs to know to read the features of columns."""

from __future__ import annotations

from typing import Any

from everflow.api import internal, public
from everflow.feature_column.protocol import FeatureColumn, OldFeatureColumn, parse_spec_of


def _merged(feature_columns: Any, kind: type, kind_name: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for column in feature_columns:
        if not isinstance(column, kind):
            raise ValueError(f"All feature_columns must be {kind_name} instances. Given: {column}")
        for key, value in parse_spec_of(column).items():
            if key in found and value != found[key]:
                raise ValueError(f"feature_columns contain different parse_spec for key {key}. Given {value} and {found[key]}")
            found[key] = value
    return found


@public("feature_column.make_parse_example_spec")
def make_parse_example_spec(feature_columns: Any) -> dict[str, Any]:
    """The `features` argument of tf.parse_example for columns."""
    return _merged(feature_columns, OldFeatureColumn, "_FeatureColumn")


@internal("feature_column.feature_column_v2.make_parse_example_spec_v2")
def make_parse_example_spec_v2(feature_columns: Any) -> dict[str, Any]:
    """The `features` argument of tf.parse_example for columns of the newer protocol."""
    return _merged(feature_columns, FeatureColumn, "FeatureColumn")
