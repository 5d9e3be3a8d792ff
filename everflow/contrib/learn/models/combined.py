"""Estimators of tf.contrib.learn that add the logits of a network and of a linear model."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import find, has
from everflow.contrib.learn.estimator import LearnEstimator
from everflow.contrib.learn.heads.classification import multi_class_head
from everflow.contrib.learn.heads.regression import regression_head
from everflow.contrib.learn.models.layers import (
    COLUMN_SLICE,
    deep_logits,
    embedding_multipliers,
    linear_logits,
    partitioner,
    write_activations,
)
from everflow.contrib.learn.models.linear import learning_rate
from everflow.contrib.learn.models.methods import Classifier, DeepRegressor, as_dict, made
from everflow.contrib.learn.publishing import learn
from everflow.train.global_step import get_global_step

_MODULE = "estimators.dnn_linear_combined"
_DEEP, _LINEAR = "dnn", "linear"
_DEEP_RATE = 0.05
_NO_COLUMNS = "Either linear_feature_columns or dnn_feature_columns must be defined."
learn(_MODULE, "_extract_embedding_lr_multipliers")(embedding_multipliers)


def _checked_optimizer(optimizer: Any) -> Any:
    optimizer = made(optimizer)
    if has("train.SyncReplicasOptimizer") and isinstance(optimizer, find("train.SyncReplicasOptimizer")):
        raise ValueError(
            "SyncReplicasOptimizer is not supported in DNNLinearCombined model. If you want to use this optimizer, please use either DNN "
            "or Linear model."
        )
    return optimizer


@learn(_MODULE, "_dnn_linear_combined_model_fn")
def combined_model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any = None) -> Any:
    """The sum of both logits with a head."""
    head = params["head"]
    linear_columns, deep_columns = params.get("linear_feature_columns"), params.get("dnn_feature_columns")
    if not linear_columns and not deep_columns:
        raise ValueError(_NO_COLUMNS)
    features = as_dict(features)
    values = tuple(features.values())
    parts = config.num_ps_replicas if config else 0
    linear_optimizer = _checked_optimizer(params.get("linear_optimizer") or "Ftrl")
    deep_optimizer = _checked_optimizer(params.get("dnn_optimizer") or "Adagrad")
    counts_once = params.get("fix_global_step_increment_bug", True)
    found: list[Any] = []
    if deep_columns:
        if not params.get("dnn_hidden_units"):
            raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")
        with tf.variable_scope(_DEEP, values=values, partitioner=partitioner(parts)):
            logits, input_scope = deep_logits(
                features,
                deep_columns,
                params["dnn_hidden_units"],
                params.get("dnn_activation_fn") or tf.nn.relu,
                params.get("dnn_dropout"),
                head.logits_dimension,
                mode,
                _DEEP,
                params.get("input_layer_partitioner") or partitioner(parts, COLUMN_SLICE),
                "/",
            )
        found.append(logits)
    if linear_columns:
        with tf.variable_scope(_LINEAR, values=values, partitioner=partitioner(parts, COLUMN_SLICE)) as scope:
            joint = params.get("joint_linear_weights", False)
            found.append(linear_logits(features, linear_columns, head.logits_dimension, _LINEAR, joint, scope))
            write_activations(found[-1], scope.name, "/")

    def optimized(loss: Any, scope: str, rate: float, optimizer: Any, multipliers: Any = None) -> Any:
        return tf.contrib.layers.optimize_loss(
            loss=loss,
            global_step=get_global_step(),
            learning_rate=rate,
            optimizer=optimizer,
            gradient_multipliers=multipliers,
            clip_gradients=params.get("gradient_clip_norm"),
            variables=tf.get_collection(scope),
            name=scope,
            summaries=[],
            increment_global_step=not counts_once,
        )

    def train_op_fn(loss: Any) -> Any:
        ops = []
        if deep_columns:
            multipliers = embedding_multipliers(params.get("embedding_lr_multipliers"), _DEEP, input_scope)
            ops.append(optimized(loss, _DEEP, _DEEP_RATE, deep_optimizer, multipliers))
        if linear_columns:
            ops.append(optimized(loss, _LINEAR, learning_rate(len(linear_columns)), linear_optimizer))
        train_op = tf.group(*ops)
        if not counts_once:
            return train_op
        step = get_global_step()
        with tf.control_dependencies([train_op]), tf.colocate_with(step):
            return tf.assign_add(step, 1).op

    logits = found[0] + found[1] if len(found) == 2 else found[0]
    return head.create_model_fn_ops(features=features, mode=mode, labels=labels, train_op_fn=train_op_fn, logits=logits)


def _input_partitioner(min_slice_size: Any, config: Any) -> Any:
    if min_slice_size is None:
        return None
    return partitioner(config.num_ps_replicas if config else 0, min_slice_size)


def _model(head: Any, given: dict[str, Any]) -> dict[str, Any]:
    """How a LearnEstimator makes such a model, by the arguments of a constructor."""
    kept = (
        *("linear_optimizer", "dnn_optimizer", "dnn_hidden_units", "dnn_activation_fn", "dnn_dropout", "gradient_clip_norm"),
        *("embedding_lr_multipliers", "fix_global_step_increment_bug", "input_layer_partitioner"),
    )
    columns = {name: tuple(given[name] or ()) for name in ("linear_feature_columns", "dnn_feature_columns")}
    if not any(columns.values()):
        raise ValueError(_NO_COLUMNS)
    joint = {"joint_linear_weights": given["_joint_linear_weights"]}
    general = {name: given[name] for name in ("model_dir", "config", "feature_engineering_fn")}
    params = {"head": head, **columns, **joint, **{name: given[name] for name in kept}}
    return {"model_fn": combined_model_fn, "params": params, **general}


def _all_columns(model: dict[str, Any]) -> tuple[Any, ...]:
    return model["params"]["linear_feature_columns"] + model["params"]["dnn_feature_columns"]


@learn(_MODULE, "DNNLinearCombinedEstimator", shown=True)
class DNNLinearCombinedEstimator(LearnEstimator):
    """A network and a linear model with any head."""

    def __init__(
        self,
        head: Any,
        model_dir: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Any = None,
        dnn_activation_fn: Any = None,
        dnn_dropout: Any = None,
        gradient_clip_norm: Any = None,
        config: Any = None,
        feature_engineering_fn: Any = None,
        embedding_lr_multipliers: Any = None,
        fix_global_step_increment_bug: bool = False,
        input_layer_partitioner: Any = None,
    ) -> None:
        super().__init__(**_model(head, locals()))


@learn(_MODULE, "DNNLinearCombinedClassifier", shown=True)
class DNNLinearCombinedClassifier(Classifier):
    """A network and a linear model that classify."""

    def __init__(
        self,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Any = None,
        dnn_activation_fn: Any = tf.nn.relu,
        dnn_dropout: Any = None,
        gradient_clip_norm: Any = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: Any = None,
        label_keys: Any = None,
        fix_global_step_increment_bug: bool = False,
    ) -> None:
        input_layer_partitioner = _input_partitioner(input_layer_min_slice_size, config)
        how = {"weight_column_name": weight_column_name, "enable_centered_bias": enable_centered_bias}
        model = _model(multi_class_head(n_classes=n_classes, label_keys=label_keys, **how), locals())
        self._feature_columns = _all_columns(model)
        super().__init__(**model)


@learn(_MODULE, "DNNLinearCombinedRegressor", shown=True)
class DNNLinearCombinedRegressor(DeepRegressor):
    """A network and a linear model that find numbers."""

    def __init__(
        self,
        model_dir: Any = None,
        weight_column_name: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Any = None,
        dnn_activation_fn: Any = tf.nn.relu,
        dnn_dropout: Any = None,
        gradient_clip_norm: Any = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        config: Any = None,
        feature_engineering_fn: Any = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: Any = None,
        fix_global_step_increment_bug: bool = False,
    ) -> None:
        input_layer_partitioner = _input_partitioner(input_layer_min_slice_size, config)
        how = {"weight_column_name": weight_column_name, "enable_centered_bias": enable_centered_bias}
        model = _model(regression_head(label_dimension=label_dimension, **how), locals())
        self._feature_columns = _all_columns(model)
        super().__init__(**model)
