"""Numbers: as they are, or by the bucket they fall into."""

from __future__ import annotations

import collections
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.feature_column.checks import check_convertible_to_float, check_key, check_normalizer, checked_default, checked_shape
from everflow.feature_column.protocol import CategoricalColumn, DenseColumn, IdWeightPair
from everflow.feature_column.serialization import TupleColumn
from everflow.graph import dtypes
from everflow.graph.shapes import TensorShape


@internal("feature_column.feature_column_v2.NumericColumn")
class NumericColumn(
    TupleColumn, DenseColumn, collections.namedtuple("NumericColumn", ("key", "shape", "default_value", "dtype", "normalizer_fn"))
):
    """Made by `numeric_column`."""

    @property
    def name(self) -> str:
        """The feature's name."""
        return self.key

    @property
    def parents(self) -> list[Any]:
        """The raw feature."""
        return [self.key]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """Numbers of a fixed shape."""
        return {self.key: tf.FixedLenFeature(self.shape, self.dtype, self.default_value)}

    @property
    def variable_shape(self) -> Any:
        """The shape of the numbers of one example."""
        return TensorShape(self.shape)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The normalized numbers."""
        tensor = transformation_cache.get(self.key, state_manager)
        if isinstance(tensor, tf.SparseTensor):
            raise ValueError(
                f"The corresponding Tensor of numerical column must be a Tensor. SparseTensor is not supported. key: {self.key}"
            )
        if self.normalizer_fn is not None:
            tensor = self.normalizer_fn(tensor)
        return tf.cast(tensor, tf.float32)

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The normalized numbers."""
        return transformation_cache.get(self, state_manager)


def checked_numeric_arguments(key: Any, shape: Any, default_value: Any, dtype: Any, normalizer_fn: Any) -> tuple[Any, Any]:
    """The shape and default of a column of numbers."""
    shape = checked_shape(shape, key)
    check_convertible_to_float(dtype, key)
    default_value = checked_default(shape, default_value, dtype, key)
    check_normalizer(normalizer_fn)
    check_key(key)
    return shape, default_value


@public("feature_column.numeric_column")
def numeric_column(
    key: Any, shape: Any = (1,), default_value: Any = None, dtype: dtypes.DTypeLike = dtypes.float32, normalizer_fn: Any = None
) -> Any:
    """Numbers of a fixed shape for each example, given to the model as they are or normalized."""
    shape, default_value = checked_numeric_arguments(key, shape, default_value, dtype, normalizer_fn)
    return NumericColumn(key, shape=shape, default_value=default_value, dtype=dtype, normalizer_fn=normalizer_fn)


@internal("feature_column.feature_column_v2.BucketizedColumn")
class BucketizedColumn(
    TupleColumn, DenseColumn, CategoricalColumn, collections.namedtuple("BucketizedColumn", ("source_column", "boundaries"))
):
    """Made by `bucketized_column`: one-hot as a dense column, a bucket for each number as a categorical one."""

    @property
    def _is_v2_column(self) -> bool:
        return self.source_column._is_v2_column

    @property
    def name(self) -> str:
        """After the numbers."""
        return f"{self.source_column.name}_bucketized"

    @property
    def parents(self) -> list[Any]:
        """The numbers."""
        return [self.source_column]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """As that of the numbers."""
        return self.source_column.parse_example_spec

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The bucket of each number."""
        source = transformation_cache.get(self.source_column, state_manager)
        return tf.raw_ops.Bucketize(input=source, boundaries=self.boundaries)

    @property
    def variable_shape(self) -> Any:
        """That of the numbers, with a place for each bucket."""
        return TensorShape(tuple(self.source_column.shape) + (len(self.boundaries) + 1,))

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """Buckets as one-hot vectors."""
        buckets = transformation_cache.get(self, state_manager)
        return tf.one_hot(tf.cast(buckets, tf.int64), depth=len(self.boundaries) + 1, on_value=1.0, off_value=0.0)

    @property
    def num_buckets(self) -> int:
        """Buckets for each number of an example."""
        return (len(self.boundaries) + 1) * self.source_column.shape[0]

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        """Ids of buckets, other ones for each place among the numbers."""
        buckets = transformation_cache.get(self, state_manager)
        batch = tf.shape(buckets)[0]
        width = self.source_column.shape[0]
        rows = tf.reshape(tf.tile(tf.expand_dims(tf.range(0, batch), 1), [1, width]), (-1,))
        places = tf.tile(tf.range(0, width), [batch])
        ids = tf.reshape(buckets, (-1,)) + (len(self.boundaries) + 1) * places
        indices = tf.cast(tf.transpose(tf.stack((rows, places))), tf.int64)
        dense_shape = tf.cast(tf.stack([batch, width]), tf.int64)
        return IdWeightPair(tf.SparseTensor(indices=indices, values=ids, dense_shape=dense_shape), None)


def check_bucketized_arguments(source_column: Any, boundaries: Any) -> None:
    """Numbers in one dimension, and increasing boundaries."""
    if not isinstance(source_column, NumericColumn):
        raise ValueError(f"source_column must be a column generated with numeric_column(). Given: {source_column}")
    if len(source_column.shape) > 1:
        raise ValueError(f"source_column must be one-dimensional column. Given: {source_column}")
    if not (isinstance(boundaries, (list, tuple)) and all(a < b for a, b in zip(boundaries, boundaries[1:]))):
        raise ValueError("boundaries must be a sorted list.")


@public("feature_column.bucketized_column")
def bucketized_column(source_column: Any, boundaries: Any) -> Any:
    """Numbers by the bucket between two boundaries that they fall into; a lower boundary belongs to its bucket."""
    if isinstance(source_column, NumericColumn) and len(source_column.shape) <= 1 and not boundaries:
        raise ValueError("boundaries must not be empty.")
    check_bucketized_arguments(source_column, boundaries)
    return BucketizedColumn(source_column, tuple(boundaries))
