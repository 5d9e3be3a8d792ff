"""Linear estimators of tf.contrib.learn, trained by gradients or by dual ascent."""

from __future__ import annotations

import math
from typing import Any

import everflow as tf
from everflow.contrib.learn.estimator import LearnEstimator
from everflow.contrib.learn.heads.classification import multi_class_head
from everflow.contrib.learn.heads.regression import regression_head
from everflow.contrib.learn.models.layers import COLUMN_SLICE, linear_logits, partitioner
from everflow.contrib.learn.models.methods import Classifier, Regressor, as_dict
from everflow.contrib.learn.models.sdca import UpdateWeightsHook, sdca_model_fn
from everflow.contrib.learn.publishing import learn
from everflow.contrib.linear_optimizer.optimizer import SDCAOptimizer
from everflow.platform import logging
from everflow.train.global_step import get_global_step

_MODULE = "estimators.linear"
_SCOPE = "linear"
_LEARNING_RATE = 0.2


def learning_rate(columns: int) -> float:
    """Smaller steps for more columns."""
    return min(_LEARNING_RATE, 1.0 / math.sqrt(columns))


def _optimizer(spec: Any, columns: Any) -> Any:
    if not spec:
        return tf.train.FtrlOptimizer(learning_rate=learning_rate(len(columns)))
    if isinstance(spec, str):
        return tf.contrib.layers.OPTIMIZER_CLS_NAMES[spec](learning_rate=_LEARNING_RATE)
    return spec() if callable(spec) else spec


@learn(_MODULE, "_linear_model_fn")
def linear_model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any = None) -> Any:
    """Weighted sums of columns with a head."""
    head, columns, clip = params["head"], params["feature_columns"], params.get("gradient_clip_norm")
    features = as_dict(features)
    split = partitioner(config.num_ps_replicas if config else 0, COLUMN_SLICE)
    with tf.variable_scope(_SCOPE, values=tuple(features.values()), partitioner=split) as scope:
        logits = linear_logits(features, columns, head.logits_dimension, _SCOPE, params.get("joint_weights", False), scope)

        def train_op_fn(loss: Any) -> Any:
            optimizer = _optimizer(params.get("optimizer"), columns)
            variables = tf.get_collection(_SCOPE)
            gradients = tf.gradients(loss, variables)
            if clip:
                gradients, _ = tf.clip_by_global_norm(gradients, clip)
            return optimizer.apply_gradients(zip(gradients, variables), global_step=get_global_step())

        return head.create_model_fn_ops(features=features, mode=mode, labels=labels, train_op_fn=train_op_fn, logits=logits)


def _model(optimizer: Any, weight_column_name: Any, gradient_clip_norm: Any, joint_weights: bool) -> tuple[Any, dict[str, Any]]:
    """The model function for an optimizer, and the parameters that it takes besides."""
    if isinstance(optimizer, SDCAOptimizer):
        return sdca_model_fn, {"weight_column_name": weight_column_name, "update_weights_hook": UpdateWeightsHook()}
    return linear_model_fn, {"gradient_clip_norm": gradient_clip_norm, "joint_weights": joint_weights}


def _check(condition: Any, message: str = "feature_columns must not be empty.") -> None:
    if not condition:
        raise AssertionError(message)


@learn(_MODULE, "LinearClassifier", shown=True)
class LinearClassifier(Classifier):
    """A linear model that classifies."""

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: Any = None,
        optimizer: Any = None,
        gradient_clip_norm: Any = None,
        enable_centered_bias: bool = False,
        _joint_weight: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
        label_keys: Any = None,
    ) -> None:
        by_dual_ascent = isinstance(optimizer, SDCAOptimizer)
        if by_dual_ascent and enable_centered_bias:
            raise ValueError("enable_centered_bias is not supported with SDCA")
        self._feature_columns = tuple(feature_columns or ())
        _check(self._feature_columns)
        head = multi_class_head(
            n_classes, weight_column_name=weight_column_name, enable_centered_bias=enable_centered_bias, label_keys=label_keys
        )
        _check(not (by_dual_ascent and _joint_weight), "_joint_weight is incompatible with the SDCAOptimizer")
        _check(not by_dual_ascent or n_classes == 2, "SDCA only applies to binary classification.")
        model_fn, rest = _model(optimizer, weight_column_name, gradient_clip_norm, _joint_weight)
        super().__init__(
            model_fn=model_fn,
            model_dir=model_dir,
            config=config,
            params={"head": head, "feature_columns": feature_columns, "optimizer": optimizer, **rest},
            feature_engineering_fn=feature_engineering_fn,
        )


@learn(_MODULE, "LinearRegressor", shown=True)
class LinearRegressor(Regressor):
    """A linear model that finds numbers."""

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        weight_column_name: Any = None,
        optimizer: Any = None,
        gradient_clip_norm: Any = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        _joint_weights: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
    ) -> None:
        by_dual_ascent = isinstance(optimizer, SDCAOptimizer)
        self._feature_columns = tuple(feature_columns or ())
        _check(self._feature_columns)
        if by_dual_ascent and enable_centered_bias:
            enable_centered_bias = False
            logging.warning("centered_bias is not supported with SDCA, please disable it explicitly.")
        head = regression_head(
            weight_column_name=weight_column_name, label_dimension=label_dimension, enable_centered_bias=enable_centered_bias
        )
        _check(not by_dual_ascent or label_dimension == 1, "SDCA only applies for label_dimension=1.")
        _check(not (by_dual_ascent and _joint_weights), "_joint_weights is incompatible with SDCAOptimizer.")
        model_fn, rest = _model(optimizer, weight_column_name, gradient_clip_norm, _joint_weights)
        super().__init__(
            model_fn=model_fn,
            model_dir=model_dir,
            config=config,
            params={"head": head, "feature_columns": feature_columns, "optimizer": optimizer, **rest},
            feature_engineering_fn=feature_engineering_fn,
        )


@learn(_MODULE, "LinearEstimator", shown=True)
class LinearEstimator(LearnEstimator):
    """A linear model with any head."""

    def __init__(
        self,
        feature_columns: Any,
        head: Any,
        model_dir: Any = None,
        weight_column_name: Any = None,
        optimizer: Any = None,
        gradient_clip_norm: Any = None,
        _joint_weights: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
    ) -> None:
        _check(feature_columns)
        if isinstance(optimizer, SDCAOptimizer):
            raise ValueError("LinearEstimator does not support SDCA optimizer.")
        super().__init__(
            model_fn=linear_model_fn,
            model_dir=model_dir,
            config=config,
            params={
                "head": head,
                "feature_columns": feature_columns,
                "optimizer": optimizer,
                "gradient_clip_norm": gradient_clip_norm,
                "joint_weights": _joint_weights,
            },
            feature_engineering_fn=feature_engineering_fn,
        )
