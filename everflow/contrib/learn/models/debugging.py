"""Estimators that learn nothing but a bias, to test what is around a model."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.contrib.learn.heads.classification import multi_class_head
from everflow.contrib.learn.heads.regression import regression_head
from everflow.contrib.learn.models.methods import ColumnEstimator, as_dict
from everflow.contrib.learn.problem_types import PredictionKey
from everflow.contrib.learn.publishing import learn

_MODULE = "estimators.debug"


@learn(_MODULE, "debug_model_fn")
def debug_model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any = None) -> Any:
    """Logits of zero with a head."""
    del config
    features = as_dict(features)
    if not features:
        raise ValueError("Features cannot be empty.")
    head = params["head"]
    sizes = [tf.shape(feature)[0] for feature in features.values()]
    with tf.control_dependencies([tf.assert_equal(sizes[0], size) for size in sizes[1:]]):
        logits = tf.zeros([sizes[0], head.logits_dimension])

    def train_op_fn(loss: Any) -> Any:
        return tf.contrib.layers.optimize_loss(loss, global_step=None, learning_rate=0.3, optimizer="Adagrad")

    return head.create_model_fn_ops(features=features, labels=labels, mode=mode, train_op_fn=train_op_fn, logits=logits)


@learn(_MODULE, "DebugClassifier")
class DebugClassifier(ColumnEstimator):
    """Learns how frequent classes are."""

    def __init__(
        self,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: Any = None,
        config: Any = None,
        feature_engineering_fn: Any = None,
        label_keys: Any = None,
    ) -> None:
        head = multi_class_head(
            n_classes=n_classes, weight_column_name=weight_column_name, enable_centered_bias=True, label_keys=label_keys
        )
        super().__init__(debug_model_fn, model_dir, config, {"head": head}, feature_engineering_fn)

    def predict_classes(self, input_fn: Any = None, batch_size: Any = None) -> Any:
        """The most frequent class."""
        return self._predict_only(PredictionKey.CLASSES, None, input_fn, batch_size, True)

    def predict_proba(self, input_fn: Any = None, batch_size: Any = None) -> Any:
        """How frequent classes are."""
        return self._predict_only(PredictionKey.PROBABILITIES, None, input_fn, batch_size, True)


@learn(_MODULE, "DebugRegressor")
class DebugRegressor(ColumnEstimator):
    """Learns the mean of labels."""

    def __init__(
        self,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column_name: Any = None,
        config: Any = None,
        feature_engineering_fn: Any = None,
    ) -> None:
        head = regression_head(weight_column_name=weight_column_name, label_dimension=label_dimension, enable_centered_bias=True)
        super().__init__(debug_model_fn, model_dir, config, {"head": head}, feature_engineering_fn)

    def predict_scores(self, input_fn: Any = None, batch_size: Any = None) -> Any:
        """The mean of labels."""
        return self._predict_only(PredictionKey.SCORES, None, input_fn, batch_size, True)
