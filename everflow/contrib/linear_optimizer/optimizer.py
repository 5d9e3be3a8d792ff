"""SDCAOptimizer: trains linear models of tf.contrib.layers' columns by dual ascent."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.layers.feature_columns import BucketizedColumn, CrossedColumn, RealColumn, SparseColumn, WeightedColumn
from everflow.estimator.canned.sdca_model import ContribSDCAModel, SparseFeatureColumn


@public("contrib.linear_optimizer.SDCAOptimizer", "contrib.linear_optimizer.python.sdca_optimizer.SDCAOptimizer")
class SDCAOptimizer:
    """How dual ascent trains: regularization, and the feature that names examples."""

    def __init__(
        self,
        example_id_column: str,
        num_loss_partitions: int = 1,
        num_table_shards: int | None = None,
        symmetric_l1_regularization: float = 0.0,
        symmetric_l2_regularization: float = 1.0,
        adaptive: bool = True,
        partitioner: Any = None,
    ) -> None:
        self._example_id_column = example_id_column
        self._num_loss_partitions, self._num_table_shards = num_loss_partitions, num_table_shards
        self._symmetric_l1_regularization = symmetric_l1_regularization
        self._symmetric_l2_regularization = symmetric_l2_regularization
        self._adaptive, self._partitioner = adaptive, partitioner

    def get_name(self) -> str:
        """The name that its variables have."""
        return "SDCAOptimizer"

    @property
    def example_id_column(self) -> str:
        """The feature that names examples."""
        return self._example_id_column

    @property
    def num_loss_partitions(self) -> int:
        """How many workers take steps at once."""
        return self._num_loss_partitions

    @property
    def num_table_shards(self) -> int | None:
        """In how many parts the state of examples is kept."""
        return self._num_table_shards

    @property
    def symmetric_l1_regularization(self) -> float:
        """What weights cost by their size."""
        return self._symmetric_l1_regularization

    @property
    def symmetric_l2_regularization(self) -> float:
        """What weights cost by its square."""
        return self._symmetric_l2_regularization

    @property
    def adaptive(self) -> bool:
        """Whether examples with larger errors come first."""
        return self._adaptive

    @property
    def partitioner(self) -> Any:
        """How weights are split."""
        return self._partitioner

    def get_train_step(
        self, columns_to_variables: Any, weight_column_name: Any, loss_type: str, features: Any, targets: Any, global_step: Any
    ) -> tuple[Any, Any]:
        """The model, and the op of a step."""
        dense: list[Any] = []
        dense_weights: list[Any] = []
        sparse: list[Any] = []
        sparse_weights: list[Any] = []
        for column in sorted(columns_to_variables, key=lambda column: column.key):
            variables = columns_to_variables[column]
            if isinstance(column, RealColumn):
                dense.append(_as_rows(features[column]))
                dense_weights.append(variables[0])
                continue
            sparse.append(_ids_of(column, features[column]))
            sparse_weights.append(variables if len(variables) > 1 else variables[0])
        labels = tf.cast(tf.reshape(targets, shape=[-1]), tf.float32)
        weights = tf.reshape(features[weight_column_name], shape=[-1]) if weight_column_name else tf.ones([tf.shape(labels)[0]])
        model = ContribSDCAModel(
            examples={
                "sparse_features": sparse,
                "dense_features": dense,
                "example_labels": labels,
                "example_weights": weights,
                "example_ids": features[self._example_id_column],
            },
            variables={"sparse_features_weights": sparse_weights, "dense_features_weights": dense_weights},
            options={
                "symmetric_l1_regularization": self._symmetric_l1_regularization,
                "symmetric_l2_regularization": self._symmetric_l2_regularization,
                "adaptive": self._adaptive,
                "num_loss_partitions": self._num_loss_partitions,
                "num_table_shards": self._num_table_shards,
                "loss_type": loss_type,
            },
        )
        return model, model.minimize(global_step=global_step)


def _as_rows(numbers: Any) -> Any:
    flat = tf.Assert(tf.less_equal(tf.rank(numbers), 2), ["transformed_tensor should have rank at most 2."])
    with tf.control_dependencies([flat]):
        return tf.reshape(numbers, [tf.shape(numbers)[0], -1])


def _ids_of(column: Any, transformed: Any) -> SparseFeatureColumn:
    """The ids of each example, and what each counts."""
    if isinstance(column, BucketizedColumn):
        return _buckets(column, transformed)
    if isinstance(column, WeightedColumn):
        ids, weights = transformed
        weights = tf.reshape(weights.values, [-1])
    elif isinstance(column, (CrossedColumn, SparseColumn)):
        ids = transformed
        weights = tf.ones([tf.shape(ids.indices)[0]], tf.float32)
    else:
        raise ValueError(f"SDCAOptimizer does not support column type {type(column).__name__}.")
    return _summed(tf.reshape(ids.indices[:, 0], [-1]), tf.reshape(ids.values, [-1]), weights)


def _buckets(column: Any, buckets: Any) -> SparseFeatureColumn:
    """Each number has one bucket; those of each dimension have their own ids."""
    rows = tf.shape(buckets, out_type=tf.int64)[0]
    dimension = column.source_column.dimension
    ids = tf.reshape(tf.cast(buckets, tf.int64) + column.length * tf.range(dimension, dtype=tf.int64), [-1])
    examples = tf.reshape(tf.tile(tf.expand_dims(tf.range(rows), 1), [1, dimension]), [-1])
    return SparseFeatureColumn(examples, ids, tf.ones([tf.size(ids)], tf.float32))


def _summed(examples: Any, ids: Any, weights: Any) -> SparseFeatureColumn:
    """Without ids that stand for nothing; an id that an example has twice counts with both weights."""
    known = tf.greater_equal(ids, 0)
    examples, ids, weights = (tf.boolean_mask(values, known) for values in (examples, ids, weights))
    width = tf.reduce_max(ids) + 1
    pairs, places = tf.unique(width * examples + ids)
    count = tf.shape(pairs)[0]
    own = tf.unsorted_segment_min(examples, places, count)
    return SparseFeatureColumn(own, pairs - width * own, tf.reshape(tf.unsorted_segment_sum(weights, places, count), [-1]))
