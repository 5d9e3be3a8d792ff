"""Wide and deep: a linear and a deep model trained together."""

from __future__ import annotations

import math
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.estimator.canned.dnn import dnn_logit_fn_builder, layer_summary
from everflow.estimator.canned.linear import linear_logit_fn_builder
from everflow.estimator.canned.optimizers import checked_features, default_partitioner, get_optimizer_instance
from everflow.estimator.estimator import Estimator
from everflow.estimator.heads.classification import classification_head
from everflow.estimator.heads.regression import RegressionGraphHead
from everflow.losses.weighting import Reduction
from everflow.ops.variables.variable_scope import variable_scope
from everflow.train.global_step import get_global_step

DNN_LEARNING_RATE = 0.001
LINEAR_LEARNING_RATE = 0.005


def checked_columns(linear_feature_columns: Any, dnn_feature_columns: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The columns of both parts, of which there has to be one."""
    linear_columns, dnn_columns = tuple(linear_feature_columns or ()), tuple(dnn_feature_columns or ())
    if not linear_columns and not dnn_columns:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
    return linear_columns, dnn_columns


@internal("estimator.canned.dnn_linear_combined._dnn_linear_combined_model_fn")
def dnn_linear_combined_model_fn(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    linear_feature_columns: Any = None,
    linear_optimizer: Any = "Ftrl",
    dnn_feature_columns: Any = None,
    dnn_optimizer: Any = "Adagrad",
    dnn_hidden_units: Any = None,
    dnn_activation_fn: Any = tf.nn.relu,
    dnn_dropout: Any = None,
    input_layer_partitioner: Any = None,
    config: Any = None,
    batch_norm: bool = False,
    linear_sparse_combiner: str = "sum",
) -> Any:
    """The model function of a wide and deep model."""
    checked_features(features)
    linear_columns, dnn_columns = checked_columns(linear_feature_columns, dnn_feature_columns)
    input_layer_partitioner = input_layer_partitioner or default_partitioner(config)
    values = tuple(features.values())
    logits, trainings = [], []
    if dnn_columns:
        if not dnn_hidden_units:
            raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")
        dnn_optimizer = get_optimizer_instance(dnn_optimizer, learning_rate=DNN_LEARNING_RATE)
        partitioner = tf.min_max_variable_partitioner(max_partitions=config.num_ps_replicas if config else 0)
        with variable_scope("dnn", values=values, partitioner=partitioner) as scope:
            logit_fn = dnn_logit_fn_builder(
                head.logits_dimension, dnn_hidden_units, dnn_columns, dnn_activation_fn, dnn_dropout, input_layer_partitioner, batch_norm
            )
            logits.append(logit_fn(features=features, mode=mode))
        trainings.append((dnn_optimizer, scope.name))
    if linear_columns:
        rate = min(LINEAR_LEARNING_RATE, 1.0 / math.sqrt(len(linear_columns)))
        linear_optimizer = get_optimizer_instance(linear_optimizer, learning_rate=rate)
        with variable_scope("linear", values=values, partitioner=input_layer_partitioner) as scope:
            linear_logits = linear_logit_fn_builder(head.logits_dimension, linear_columns, linear_sparse_combiner)(features)
            layer_summary(linear_logits, scope.name)
            logits.append(linear_logits)
        trainings.append((linear_optimizer, scope.name))
    total = logits[0] + logits[1] if len(logits) == 2 else logits[0]

    def train_op_fn(loss: Any) -> Any:
        ops = [
            optimizer.minimize(loss, var_list=tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=name))
            for optimizer, name in trainings
        ]
        with tf.control_dependencies([tf.group(*ops)]):
            return tf.assign_add(get_global_step(), 1).op

    return head.create_estimator_spec(features=features, mode=mode, labels=labels, train_op_fn=train_op_fn, logits=total)


class _CombinedBase(Estimator):
    """What wide and deep estimators share."""

    def _build(
        self,
        head: Any,
        model_dir: str | None,
        linear_feature_columns: Any,
        linear_optimizer: Any,
        dnn_feature_columns: Any,
        dnn_optimizer: Any,
        dnn_hidden_units: Any,
        dnn_activation_fn: Any,
        dnn_dropout: Any,
        input_layer_partitioner: Any,
        config: Any,
        warm_start_from: Any,
        batch_norm: bool,
        linear_sparse_combiner: str,
    ) -> None:
        linear_columns, dnn_columns = checked_columns(linear_feature_columns, dnn_feature_columns)

        def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
            return dnn_linear_combined_model_fn(
                features,
                labels,
                mode,
                head,
                linear_columns,
                linear_optimizer,
                dnn_columns,
                dnn_optimizer,
                dnn_hidden_units,
                dnn_activation_fn,
                dnn_dropout,
                input_layer_partitioner,
                config,
                batch_norm,
                linear_sparse_combiner,
            )

        Estimator.__init__(self, model_fn=model_fn, model_dir=model_dir, config=config, warm_start_from=warm_start_from)


@public("estimator.DNNLinearCombinedClassifier")
class DNNLinearCombinedClassifier(_CombinedBase):
    """A wide and deep model that classifies."""

    def __init__(
        self,
        model_dir: str | None = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Any = None,
        dnn_activation_fn: Any = tf.nn.relu,
        dnn_dropout: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        head = classification_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        self._build(
            head,
            model_dir,
            linear_feature_columns,
            linear_optimizer,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            input_layer_partitioner,
            config,
            warm_start_from,
            batch_norm,
            linear_sparse_combiner,
        )


@public("estimator.DNNLinearCombinedRegressor")
class DNNLinearCombinedRegressor(_CombinedBase):
    """A wide and deep model that predicts numbers."""

    def __init__(
        self,
        model_dir: str | None = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Any = None,
        dnn_activation_fn: Any = tf.nn.relu,
        dnn_dropout: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        head = RegressionGraphHead(weight_column, label_dimension, loss_reduction)
        self._build(
            head,
            model_dir,
            linear_feature_columns,
            linear_optimizer,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            input_layer_partitioner,
            config,
            warm_start_from,
            batch_norm,
            linear_sparse_combiner,
        )


@public("estimator.DNNLinearCombinedEstimator", "contrib.estimator.DNNLinearCombinedEstimator")
class DNNLinearCombinedEstimator(_CombinedBase):
    """A wide and deep model with any head."""

    def __init__(
        self,
        head: Any,
        model_dir: str | None = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Any = None,
        dnn_activation_fn: Any = tf.nn.relu,
        dnn_dropout: Any = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        self._build(
            head,
            model_dir,
            linear_feature_columns,
            linear_optimizer,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            input_layer_partitioner,
            config,
            None,
            False,
            linear_sparse_combiner,
        )
