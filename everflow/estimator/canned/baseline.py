"""Baselines: models that look at no feature, only at how often labels occur."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.estimator.canned.optimizers import checked_features, optimizer_for
from everflow.estimator.estimator import Estimator
from everflow.estimator.heads.classification import classification_head
from everflow.estimator.heads.regression import RegressionGraphHead
from everflow.losses.weighting import Reduction
from everflow.ops.variables.variable_scope import variable_scope
from everflow.train.global_step import get_global_step

_LEARNING_RATE = 0.3


def _batch_size(features: Any) -> Any:
    """The batch size, which all features have to share."""
    if not features:
        raise ValueError("At least one feature must be provided.")
    checks: list[Any] = []
    first: Any = None
    for name, feature in sorted(features.items()):
        size = tf.shape(feature)[0]
        if first is None:
            first = size
        else:
            checks.append(tf.assert_equal(first, size, data=[name, size, first], message="Batch size of features do not match"))
    with tf.control_dependencies(checks):
        return tf.identity(first)


def _baseline_model_fn(features: Any, labels: Any, mode: str, head: Any, optimizer: Any) -> Any:
    checked_features(features)
    size = _batch_size(features)
    with variable_scope("baseline", values=tuple(features.values())):
        bias = tf.get_variable("bias", initializer=tf.zeros_initializer(), shape=[head.logits_dimension])
        logits = tf.ones(shape=[size, head.logits_dimension]) * bias
    optimizer = optimizer_for(optimizer, learning_rate=_LEARNING_RATE)

    def train_op_fn(loss: Any) -> Any:
        return optimizer.minimize(loss, global_step=get_global_step())

    return head.create_estimator_spec(features=features, mode=mode, logits=logits, labels=labels, train_op_fn=train_op_fn)


class _BaselineBase(Estimator):
    """What baselines share."""

    def _build(self, head: Any, model_dir: Any, optimizer: Any, config: Any) -> None:
        def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
            return _baseline_model_fn(features, labels, mode, head, optimizer)

        Estimator.__init__(self, model_fn=model_fn, model_dir=model_dir, config=config)


@public("estimator.BaselineClassifier")
class BaselineClassifier(_BaselineBase):
    """Predicts how often each class occurs."""

    def __init__(
        self,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: str = Reduction.SUM,
    ) -> None:
        self._build(classification_head(n_classes, weight_column, label_vocabulary, loss_reduction), model_dir, optimizer, config)


@public("estimator.BaselineRegressor")
class BaselineRegressor(_BaselineBase):
    """Predicts the mean of the labels."""

    def __init__(
        self,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: str = Reduction.SUM,
    ) -> None:
        self._build(RegressionGraphHead(weight_column, label_dimension, loss_reduction), model_dir, optimizer, config)


@public("estimator.BaselineEstimator", "contrib.estimator.BaselineEstimator")
class BaselineEstimator(_BaselineBase):
    """A baseline with any head."""

    def __init__(self, head: Any, model_dir: Any = None, optimizer: Any = "Ftrl", config: Any = None) -> None:
        self._build(head, model_dir, optimizer, config)
