"""Columns that are series of a data frame: they know how to compute themselves."""

from __future__ import annotations

from typing import Any, NamedTuple

from everflow.api import internal, public
from everflow.contrib.layers.column_protocol import FeatureColumn


class _Fields(NamedTuple):
    column_name: str
    series: Any


@public("contrib.slim.DataFrameColumn")
@internal("contrib.layers.python.layers.feature_column.DataFrameColumn")
class DataFrameColumn(FeatureColumn, _Fields):  # type: ignore[misc]
    """A column by the name `column_name` whose values `series.build(columns_to_tensors)` gives."""

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column_name

    @property
    def key(self) -> str:
        """What columns are sorted by."""
        return self.column_name

    @property
    def config(self) -> Any:
        """How the features that the series needs are parsed."""
        return self.series.required_base_features()

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        """Computes the series where it is not there yet."""
        if self not in columns_to_tensors:
            columns_to_tensors[self] = self.series.build(columns_to_tensors)
