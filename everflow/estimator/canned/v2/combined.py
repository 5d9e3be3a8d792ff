"""Wide and deep models with optimizers and heads of Keras."""

from __future__ import annotations

import math
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.estimator.canned.combined import DNN_LEARNING_RATE, LINEAR_LEARNING_RATE, checked_columns
from everflow.estimator.canned.dnn import layer_summary
from everflow.estimator.canned.optimizers import checked_features, get_optimizer_instance_v2
from everflow.estimator.canned.v2.dnn import dnn_logit_fn_builder_v2
from everflow.estimator.canned.v2.linear import linear_logits
from everflow.estimator.canned.v2.training import Built, check_columns, classification_head, with_global_step
from everflow.estimator.estimator import EstimatorV2
from everflow.estimator.heads.objects import RegressionHead
from everflow.ops.nn.activations import relu


@internal("estimator.canned.dnn_linear_combined._dnn_linear_combined_model_fn_v2")
def dnn_linear_combined_model_fn_v2(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    linear_feature_columns: Any = None,
    linear_optimizer: Any = "Ftrl",
    dnn_feature_columns: Any = None,
    dnn_optimizer: Any = "Adagrad",
    dnn_hidden_units: Any = None,
    dnn_activation_fn: Any = relu,
    dnn_dropout: Any = None,
    config: Any = None,
    batch_norm: bool = False,
    linear_sparse_combiner: str = "sum",
    loss_reduction: str = "sum_over_batch_size",
) -> Any:
    """The model function of a wide and deep model."""
    del config, loss_reduction
    checked_features(features)
    linear_columns, dnn_columns = checked_columns(linear_feature_columns, dnn_feature_columns)
    check_columns(linear_columns + dnn_columns)
    parts: list[tuple[Any, Any]] = []
    if dnn_columns:
        if not dnn_hidden_units:
            raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")
        dnn_optimizer = with_global_step(get_optimizer_instance_v2(dnn_optimizer, learning_rate=DNN_LEARNING_RATE), mode)
        deep = dnn_logit_fn_builder_v2(head.logits_dimension, dnn_hidden_units, dnn_columns, dnn_activation_fn, dnn_dropout, batch_norm)
        parts.append((Built(lambda: deep(features, mode)), dnn_optimizer))
    if linear_columns:
        rate = min(LINEAR_LEARNING_RATE, 1.0 / math.sqrt(len(linear_columns)))
        linear_optimizer = get_optimizer_instance_v2(linear_optimizer, learning_rate=rate)
        if not dnn_columns:
            with_global_step(linear_optimizer, mode)
        built = Built(lambda: linear_logits(features, head.logits_dimension, linear_columns, linear_sparse_combiner))
        layer_summary(built.logits, "linear")
        parts.append((built, linear_optimizer))
    logits = parts[0][0].logits if len(parts) == 1 else parts[0][0].logits + parts[1][0].logits

    def train_op_fn(loss: Any) -> Any:
        # Where there are two, the deep one counts the steps.
        return tf.group(*(op for built, optimizer in parts for op in optimizer.get_updates(loss, built.trainable_variables)))

    return head.create_estimator_spec(
        features=features,
        mode=mode,
        labels=labels,
        train_op_fn=train_op_fn,
        logits=logits,
        trainable_variables=[v for built, _ in parts for v in built.trainable_variables],
        update_ops=[op for built, _ in parts for op in built.updates],
    )


class _CombinedBase(EstimatorV2):
    """What wide and deep estimators share."""

    def _build(self, head: Any, model_dir: Any, config: Any, warm_start_from: Any, **model: Any) -> None:
        columns = checked_columns(model["linear_feature_columns"], model["dnn_feature_columns"])
        model["linear_feature_columns"], model["dnn_feature_columns"] = columns

        def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
            return dnn_linear_combined_model_fn_v2(features, labels, mode, head, config=config, **model)

        EstimatorV2.__init__(self, model_fn=model_fn, model_dir=model_dir, config=config, warm_start_from=warm_start_from)


@internal("estimator.canned.dnn_linear_combined.DNNLinearCombinedClassifierV2")
class DNNLinearCombinedClassifierV2(_CombinedBase):
    """A wide and deep model that classifies."""

    def __init__(
        self,
        model_dir: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Any = None,
        dnn_activation_fn: Any = relu,
        dnn_dropout: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = "sum_over_batch_size",
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        self._build(
            classification_head(n_classes, weight_column, label_vocabulary, loss_reduction),
            model_dir,
            config,
            warm_start_from,
            linear_feature_columns=linear_feature_columns,
            linear_optimizer=linear_optimizer,
            dnn_feature_columns=dnn_feature_columns,
            dnn_optimizer=dnn_optimizer,
            dnn_hidden_units=dnn_hidden_units,
            dnn_activation_fn=dnn_activation_fn,
            dnn_dropout=dnn_dropout,
            batch_norm=batch_norm,
            linear_sparse_combiner=linear_sparse_combiner,
        )


@internal("estimator.canned.dnn_linear_combined.DNNLinearCombinedRegressorV2")
class DNNLinearCombinedRegressorV2(_CombinedBase):
    """A wide and deep model that predicts numbers."""

    def __init__(
        self,
        model_dir: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Any = None,
        dnn_activation_fn: Any = relu,
        dnn_dropout: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = "sum_over_batch_size",
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        self._build(
            RegressionHead(label_dimension=label_dimension, weight_column=weight_column, loss_reduction=loss_reduction),
            model_dir,
            config,
            warm_start_from,
            linear_feature_columns=linear_feature_columns,
            linear_optimizer=linear_optimizer,
            dnn_feature_columns=dnn_feature_columns,
            dnn_optimizer=dnn_optimizer,
            dnn_hidden_units=dnn_hidden_units,
            dnn_activation_fn=dnn_activation_fn,
            dnn_dropout=dnn_dropout,
            batch_norm=batch_norm,
            linear_sparse_combiner=linear_sparse_combiner,
        )


@internal("estimator.canned.dnn_linear_combined.DNNLinearCombinedEstimatorV2")
class DNNLinearCombinedEstimatorV2(_CombinedBase):
    """A wide and deep model with any head."""

    def __init__(
        self,
        head: Any,
        model_dir: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Any = None,
        dnn_activation_fn: Any = relu,
        dnn_dropout: Any = None,
        config: Any = None,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        self._build(
            head,
            model_dir,
            config,
            None,
            linear_feature_columns=linear_feature_columns,
            linear_optimizer=linear_optimizer,
            dnn_feature_columns=dnn_feature_columns,
            dnn_optimizer=dnn_optimizer,
            dnn_hidden_units=dnn_hidden_units,
            dnn_activation_fn=dnn_activation_fn,
            dnn_dropout=dnn_dropout,
            linear_sparse_combiner=linear_sparse_combiner,
        )
