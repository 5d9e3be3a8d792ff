"""Baselines: models that look at no feature, only at how often labels occur."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.estimator.canned.optimizers import checked_features, get_optimizer_instance
from everflow.estimator.estimator import Estimator
from everflow.estimator.heads.classification import classification_head
from everflow.estimator.heads.regression import RegressionGraphHead
from everflow.feature_column.numeric import NumericColumn
from everflow.losses.weighting import Reduction
from everflow.ops.variables.variable_scope import variable_scope
from everflow.train.global_step import get_global_step

LEARNING_RATE = 0.3


def _weight_key(weight_column: Any) -> Any:
    if weight_column is None or isinstance(weight_column, str):
        return weight_column
    if not isinstance(weight_column, NumericColumn):
        raise TypeError(f"Weight column must be either a string or _NumericColumn. Given type: {type(weight_column)}.")
    return weight_column.key


def _batch_size(features: Any, weight_key: Any) -> Any:
    """The batch size, which all features have to share; weights count only where there are no features."""
    names = [name for name in features if name != weight_key] or list(features)
    if not names:
        raise ValueError("At least one feature must be provided.")
    checks: list[Any] = []
    first: Any = None
    for name in sorted(names):
        size = tf.shape(features[name])[0]
        if first is None:
            first = size
        else:
            checks.append(tf.assert_equal(first, size, data=[name, size, first], message="Batch size of features do not match"))
    with tf.control_dependencies(checks):
        return tf.identity(first)


@internal("estimator.canned.baseline._baseline_logit_fn_builder")
def baseline_logit_fn_builder(num_outputs: int, weight_column: Any = None) -> Any:
    """A function from features to the logits of a baseline: the same for all examples."""

    def baseline_logit_fn(features: Any) -> Any:
        size = _batch_size(features, _weight_key(weight_column))
        with variable_scope("baseline", values=tuple(features.values())):
            bias = tf.get_variable("bias", initializer=tf.zeros_initializer(), shape=[num_outputs])
            return tf.ones(shape=[size, num_outputs]) * bias

    return baseline_logit_fn


def _baseline_model_fn(features: Any, labels: Any, mode: str, head: Any, optimizer: Any, weight_column: Any) -> Any:
    checked_features(features)
    logits = baseline_logit_fn_builder(head.logits_dimension, weight_column)(features)
    optimizer = get_optimizer_instance(optimizer, learning_rate=LEARNING_RATE)

    def train_op_fn(loss: Any) -> Any:
        return optimizer.minimize(loss, global_step=get_global_step())

    return head.create_estimator_spec(features=features, mode=mode, logits=logits, labels=labels, train_op_fn=train_op_fn)


class _BaselineBase(Estimator):
    """What baselines share."""

    def _build(self, head: Any, model_dir: Any, optimizer: Any, config: Any, weight_column: Any = None) -> None:
        def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
            return _baseline_model_fn(features, labels, mode, head, optimizer, weight_column)

        Estimator.__init__(self, model_fn=model_fn, model_dir=model_dir, config=config)


@public("estimator.BaselineClassifier")
class BaselineClassifier(_BaselineBase):
    """Predicts how often each class occurs."""

    def __init__(
        self,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: str = Reduction.SUM,
    ) -> None:
        self._build(
            classification_head(n_classes, weight_column, label_vocabulary, loss_reduction), model_dir, optimizer, config, weight_column
        )


@public("estimator.BaselineRegressor")
class BaselineRegressor(_BaselineBase):
    """Predicts the mean of the labels."""

    def __init__(
        self,
        model_dir: str | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: str = Reduction.SUM,
    ) -> None:
        self._build(RegressionGraphHead(weight_column, label_dimension, loss_reduction), model_dir, optimizer, config, weight_column)


@public("estimator.BaselineEstimator", "contrib.estimator.BaselineEstimator")
class BaselineEstimator(_BaselineBase):
    """A baseline with any head."""

    def __init__(self, head: Any, model_dir: str | None = None, optimizer: Any = "Ftrl", config: Any = None) -> None:
        self._build(head, model_dir, optimizer, config)
