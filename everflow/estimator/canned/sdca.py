"""Linear models trained by stochastic dual coordinate ascent."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.estimator.canned.sdca_model import SDCAModel, SparseFeatureColumn
from everflow.estimator.heads.classification import BinaryGraphHead
from everflow.estimator.heads.regression import RegressionGraphHead
from everflow.estimator.mode_keys import ModeKeys
from everflow.feature_column.protocol import CategoricalColumn
from everflow.feature_column.transformation import FeatureTransformationCache
from everflow.train.global_step import get_global_step
from everflow.train.session_run_hook import SessionRunHook


@public("estimator.experimental.LinearSDCA")
class LinearSDCA:
    """Trains linear estimators by dual ascent; examples are known by a feature that names them."""

    def __init__(
        self,
        example_id_column: str,
        num_loss_partitions: int = 1,
        num_table_shards: int | None = None,
        symmetric_l1_regularization: float = 0.0,
        symmetric_l2_regularization: float = 1.0,
        adaptive: bool = False,
    ) -> None:
        self._example_id_column = example_id_column
        self._num_loss_partitions, self._num_table_shards = num_loss_partitions, num_table_shards
        self._l1, self._l2, self._adaptive = symmetric_l1_regularization, symmetric_l2_regularization, adaptive

    def get_train_step(
        self,
        state_manager: Any,
        weight_column_name: Any,
        loss_type: str,
        feature_columns: Any,
        features: Any,
        targets: Any,
        bias_var: Any,
        global_step: Any,
    ) -> tuple[Any, Any]:
        """The model, and the op of a step."""
        batch = tf.shape(targets)[0]
        cache = FeatureTransformationCache(features)
        dense, dense_weights, sparse, sparse_weights = [], [], [], []
        for column in sorted(feature_columns, key=lambda c: c.name):
            weights = state_manager.get_variable(column, "weights")
            if isinstance(column, CategoricalColumn):
                sparse.append(self._ids_of(column.get_sparse_tensors(cache, state_manager)))
                sparse_weights.append(weights)
            else:
                numbers = column.get_dense_tensor(cache, state_manager)
                dense.append(tf.reshape(numbers, [batch, column.variable_shape.num_elements()]))
                dense_weights.append(weights)
        # The bias is the weight of a feature that is always 1.
        dense.append(tf.ones([batch, 1]))
        dense_weights.append(bias_var)
        example_weights = tf.ones([batch])
        if weight_column_name:
            example_weights = tf.reshape(tf.cast(features[weight_column_name], tf.float32), [-1])
        model = SDCAModel(
            examples={
                "sparse_features": sparse,
                "dense_features": dense,
                "example_labels": tf.reshape(tf.cast(targets, tf.float32), [-1]),
                "example_weights": example_weights,
                "example_ids": features[self._example_id_column],
            },
            variables={"sparse_features_weights": sparse_weights, "dense_features_weights": dense_weights},
            options={
                "symmetric_l1_regularization": self._l1,
                "symmetric_l2_regularization": self._l2,
                "adaptive": self._adaptive,
                "num_loss_partitions": self._num_loss_partitions,
                "num_table_shards": self._num_table_shards,
                "loss_type": loss_type,
            },
        )
        return model, model.minimize(global_step=global_step)

    def _ids_of(self, pair: Any) -> Any:
        """The ids of each example, without those that stand for nothing; an id without a weight counts once."""
        rows, ids = tf.cast(pair.id_tensor.indices[:, 0], tf.int64), tf.cast(pair.id_tensor.values, tf.int64)
        known = tf.greater_equal(ids, 0)
        rows, ids = tf.boolean_mask(rows, known), tf.boolean_mask(ids, known)
        if pair.weight_tensor is not None:
            return SparseFeatureColumn(rows, ids, tf.boolean_mask(pair.weight_tensor.values, known))
        width = tf.reduce_max(tf.concat([ids, [0]], axis=0)) + 1
        pairs, _ = tf.unique(rows * width + ids)
        return SparseFeatureColumn(pairs // width, pairs % width, None)


class _UpdateWeightsHook(SessionRunHook):
    """Makes the weights follow after each step."""

    def __init__(self, model: Any, train_op: Any) -> None:
        self._model, self._train_op = model, train_op

    def begin(self) -> None:
        self._update = self._model.update_weights(self._train_op)

    def before_run(self, run_context: Any) -> Any:
        return tf.train.SessionRunArgs(self._update)


def spec_of(features: Any, labels: Any, mode: str, head: Any, feature_columns: Any, optimizer: Any, model: Any, logits: Any) -> Any:
    """The spec of a linear model that dual ascent trains."""
    if isinstance(head, BinaryGraphHead):
        loss_type = "logistic_loss"
    elif isinstance(head, RegressionGraphHead) and head.logits_dimension == 1:
        loss_type = "squared_loss"
    else:
        raise ValueError(f"Unsupported head type: {head}")
    if mode != ModeKeys.TRAIN:
        return head.create_estimator_spec(features=features, mode=mode, labels=labels, logits=logits)
    weight_name = getattr(head._weight_column, "key", head._weight_column)
    sdca_model, train_op = optimizer.get_train_step(
        model.layer._state_manager, weight_name, loss_type, feature_columns, features, labels, model.bias, get_global_step()
    )
    hook = _UpdateWeightsHook(sdca_model, train_op)
    spec = head.create_estimator_spec(features=features, mode=mode, labels=labels, train_op_fn=lambda loss: train_op, logits=logits)
    return spec._replace(training_chief_hooks=(*spec.training_chief_hooks, hook))


@internal("estimator.canned.linear._validate_linear_sdca_optimizer_for_linear_classifier")
def check_classifier(feature_columns: Any, n_classes: int, optimizer: Any, sparse_combiner: str) -> None:
    """Raises for classifiers that dual ascent can't train."""
    if isinstance(optimizer, LinearSDCA):
        if sparse_combiner != "sum":
            raise ValueError('sparse_combiner must be "sum" when optimizer is a LinearSDCA object.')
        if n_classes > 2:
            raise ValueError("LinearSDCA cannot be used in a multi-class setting.")


@internal("estimator.canned.linear._validate_linear_sdca_optimizer_for_linear_regressor")
def check_regressor(feature_columns: Any, label_dimension: int, optimizer: Any, sparse_combiner: str) -> None:
    """Raises for regressors that dual ascent can't train."""
    if isinstance(optimizer, LinearSDCA):
        if sparse_combiner != "sum":
            raise ValueError('sparse_combiner must be "sum" when optimizer is a LinearSDCA object.')
        if label_dimension > 1:
            raise ValueError("LinearSDCA can only be used with one-dimensional label.")
