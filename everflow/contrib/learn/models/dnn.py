"""Deep estimators of tf.contrib.learn."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.contrib.learn.estimator import LearnEstimator
from everflow.contrib.learn.heads.classification import multi_class_head
from everflow.contrib.learn.heads.regression import regression_head
from everflow.contrib.learn.models.layers import COLUMN_SLICE, activation, deep_logits, embedding_multipliers, partitioner
from everflow.contrib.learn.models.methods import Classifier, DeepRegressor, as_dict, made
from everflow.contrib.learn.publishing import learn
from everflow.train.global_step import get_global_step

_MODULE = "estimators.dnn"
_SCOPE = "dnn"
_LEARNING_RATE = 0.05


@learn(_MODULE, "_dnn_model_fn")
def dnn_model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any = None) -> Any:
    """A network with a head."""
    head = params["head"]
    features = as_dict(features)
    parts = config.num_ps_replicas if config else 0
    with tf.variable_scope(_SCOPE, values=tuple(features.values()), partitioner=partitioner(parts)):
        logits, input_scope = deep_logits(
            features,
            params["feature_columns"],
            params["hidden_units"],
            activation(params.get("activation_fn")),
            params.get("dropout"),
            head.logits_dimension,
            mode,
            _SCOPE,
            partitioner(parts, params.get("input_layer_min_slice_size") or COLUMN_SLICE),
            "_",
        )

        def train_op_fn(loss: Any) -> Any:
            return tf.contrib.layers.optimize_loss(
                loss=loss,
                global_step=get_global_step(),
                learning_rate=_LEARNING_RATE,
                optimizer=made(params.get("optimizer") or "Adagrad"),
                gradient_multipliers=embedding_multipliers(params.get("embedding_lr_multipliers"), _SCOPE, input_scope),
                clip_gradients=params.get("gradient_clip_norm"),
                name=_SCOPE,
                summaries=[],
            )

        return head.create_model_fn_ops(features=features, mode=mode, labels=labels, train_op_fn=train_op_fn, logits=logits)


def _model(head: Any, given: dict[str, Any]) -> dict[str, Any]:
    """How a LearnEstimator makes such a network, by the arguments of a constructor."""
    kept = (
        *("hidden_units", "feature_columns", "optimizer", "activation_fn", "dropout", "gradient_clip_norm"),
        *("embedding_lr_multipliers", "input_layer_min_slice_size"),
    )
    general = {name: given[name] for name in ("model_dir", "config", "feature_engineering_fn")}
    return {"model_fn": dnn_model_fn, "params": {"head": head, **{name: given[name] for name in kept}}, **general}


@learn(_MODULE, "DNNClassifier", shown=True)
class DNNClassifier(Classifier):
    """A network that classifies."""

    def __init__(
        self,
        hidden_units: Any,
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: Any = None,
        optimizer: Any = None,
        activation_fn: Any = tf.nn.relu,
        dropout: Any = None,
        gradient_clip_norm: Any = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: Any = None,
        label_keys: Any = None,
    ) -> None:
        self._feature_columns = feature_columns = tuple(feature_columns or ())
        how = {"weight_column_name": weight_column_name, "enable_centered_bias": enable_centered_bias}
        super().__init__(**_model(multi_class_head(n_classes, label_keys=label_keys, **how), locals()))


@learn(_MODULE, "DNNRegressor", shown=True)
class DNNRegressor(DeepRegressor):
    """A network that finds numbers."""

    def __init__(
        self,
        hidden_units: Any,
        feature_columns: Any,
        model_dir: Any = None,
        weight_column_name: Any = None,
        optimizer: Any = None,
        activation_fn: Any = tf.nn.relu,
        dropout: Any = None,
        gradient_clip_norm: Any = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
        label_dimension: int = 1,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: Any = None,
    ) -> None:
        self._feature_columns = feature_columns = tuple(feature_columns or ())
        how = {"weight_column_name": weight_column_name, "enable_centered_bias": enable_centered_bias}
        super().__init__(**_model(regression_head(label_dimension=label_dimension, **how), locals()))


@learn(_MODULE, "DNNEstimator", shown=True)
class DNNEstimator(LearnEstimator):
    """A network with any head."""

    def __init__(
        self,
        head: Any,
        hidden_units: Any,
        feature_columns: Any,
        model_dir: Any = None,
        optimizer: Any = None,
        activation_fn: Any = tf.nn.relu,
        dropout: Any = None,
        gradient_clip_norm: Any = None,
        config: Any = None,
        feature_engineering_fn: Any = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: Any = None,
    ) -> None:
        super().__init__(**_model(head, locals()))
