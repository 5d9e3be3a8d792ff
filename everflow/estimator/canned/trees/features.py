"""Features as trees see them: each a vector of buckets."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.feature_column.indicator import IndicatorColumn
from everflow.feature_column.numeric import BucketizedColumn
from everflow.feature_column.protocol import CategoricalColumn, DenseColumn
from everflow.feature_column.transformation import FeatureTransformationCache
from everflow.ops.core.registry import apply


def _size(column: Any) -> int:
    return column.variable_shape.num_elements()


def is_float(column: Any) -> bool:
    """Whether a column gives numbers, which need boundaries first."""
    return isinstance(column, DenseColumn) and not isinstance(column, (BucketizedColumn, IndicatorColumn))


class TreeFeatures:
    """Columns in the order of their names, and how many buckets each of their features has."""

    def __init__(self, feature_columns: Any, num_quantiles: int) -> None:
        self.columns = sorted(feature_columns, key=lambda column: column.name)
        for column in self.columns:
            if not isinstance(column, DenseColumn):
                if isinstance(column, CategoricalColumn):
                    raise ValueError(f"CategoricalColumn must be wrapped by IndicatorColumn, got: {column}")
                raise ValueError("Got unexpected feature column type")
        self.float_columns = [column for column in self.columns if is_float(column)]
        self.buckets: list[int] = []
        self.names: list[str] = []
        for column in self.columns:
            if isinstance(column, BucketizedColumn):
                own, count, name = len(column.boundaries) + 1, _size(column) // (len(column.boundaries) + 1), column.name
            elif isinstance(column, IndicatorColumn):
                own, count, name = 2, _size(column), column.categorical_column.name
            else:
                own, count, name = num_quantiles + 1, _size(column), column.name
            self.buckets += [own] * count
            self.names += [name] * count

    @property
    def num_streams(self) -> int:
        """How many float features there are."""
        return sum(_size(column) for column in self.float_columns)

    def numbers(self, features: Any) -> list[Any]:
        """The float features, a vector each."""
        cache = FeatureTransformationCache(features)
        return [vector for column in self.float_columns for vector in self._numbers_of(column, cache)]

    def _numbers_of(self, column: Any, cache: Any) -> list[Any]:
        dense = column.get_dense_tensor(cache, None)
        return tf.unstack(tf.reshape(tf.cast(dense, tf.float32), [-1, _size(column)]), axis=1)

    def transformed(self, features: Any, boundaries: list[Any]) -> list[Any]:
        """The bucket of each example in each feature."""
        cache = FeatureTransformationCache(features)
        found: list[Any] = []
        used = 0
        for column in self.columns:
            if isinstance(column, BucketizedColumn):
                count = _size(column) // (len(column.boundaries) + 1)
                buckets = tf.cast(cache.get(column, None), tf.int32)
                found += tf.unstack(tf.reshape(buckets, [-1, count]), axis=1)
            elif isinstance(column, IndicatorColumn):
                dense = tf.cast(column.get_dense_tensor(cache, None), tf.int32)
                found += tf.unstack(tf.reshape(dense, [-1, _size(column)]), axis=1)
            else:
                numbers = self._numbers_of(column, cache)
                own = boundaries[used : used + len(numbers)]
                used += len(numbers)
                buckets = apply("BoostedTreesBucketize", numbers, own)
                found += list(buckets) if isinstance(buckets, (list, tuple)) else [buckets]
        return found

    def groups(self) -> list[tuple[int, list[int]]]:
        """Features with the same number of buckets: that number, and which they are."""
        found: dict[int, list[int]] = {}
        for i, buckets in enumerate(self.buckets):
            found.setdefault(buckets, []).append(i)
        return sorted(found.items())
