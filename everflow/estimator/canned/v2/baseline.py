"""Baselines with optimizers and heads of Keras."""

from __future__ import annotations

from typing import Any

from everflow.api import internal
from everflow.estimator.canned.baseline import LEARNING_RATE, baseline_logit_fn_builder
from everflow.estimator.canned.optimizers import checked_features, get_optimizer_instance_v2
from everflow.estimator.canned.v2.training import Built, classification_head, with_global_step
from everflow.estimator.estimator import EstimatorV2
from everflow.estimator.heads.objects import RegressionHead
from everflow.ops.variables.variable_scope import variable_scope


@internal("estimator.canned.baseline._baseline_model_fn_builder_v2")
def baseline_model_fn_builder_v2(features: Any, num_outputs: int, weight_column: Any = None) -> tuple[list[Any], Any]:
    """The bias that a baseline learns, and the logits that it makes."""

    def logits() -> Any:
        with variable_scope("", use_resource=True):
            return baseline_logit_fn_builder(num_outputs, weight_column)(features)

    built = Built(logits)
    return built.trainable_variables, built.logits


@internal("estimator.canned.baseline._baseline_model_fn_v2")
def baseline_model_fn_v2(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    optimizer: Any,
    weight_column: Any = None,
    config: Any = None,
    loss_reduction: str = "sum_over_batch_size",
) -> Any:
    """The model function of a baseline."""
    del config, loss_reduction
    checked_features(features)
    trainable_variables, logits = baseline_model_fn_builder_v2(features, head.logits_dimension, weight_column)
    optimizer = with_global_step(get_optimizer_instance_v2(optimizer, learning_rate=LEARNING_RATE), mode)
    return head.create_estimator_spec(
        features=features, mode=mode, logits=logits, labels=labels, optimizer=optimizer, trainable_variables=trainable_variables
    )


class _BaselineBase(EstimatorV2):
    """What baselines share."""

    def _build(self, head: Any, model_dir: Any, optimizer: Any, config: Any, weight_column: Any = None) -> None:
        def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
            return baseline_model_fn_v2(features, labels, mode, head, optimizer, weight_column, config)

        EstimatorV2.__init__(self, model_fn=model_fn, model_dir=model_dir, config=config)


@internal("estimator.canned.baseline.BaselineClassifierV2")
class BaselineClassifierV2(_BaselineBase):
    """Predicts how often each class occurs."""

    def __init__(
        self,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: str = "sum_over_batch_size",
    ) -> None:
        head = classification_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        self._build(head, model_dir, optimizer, config, weight_column)


@internal("estimator.canned.baseline.BaselineRegressorV2")
class BaselineRegressorV2(_BaselineBase):
    """Predicts the mean of the labels."""

    def __init__(
        self,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: str = "sum_over_batch_size",
    ) -> None:
        head = RegressionHead(label_dimension=label_dimension, weight_column=weight_column, loss_reduction=loss_reduction)
        self._build(head, model_dir, optimizer, config, weight_column)


@internal("estimator.canned.baseline.BaselineEstimatorV2")
class BaselineEstimatorV2(_BaselineBase):
    """A baseline with any head."""

    def __init__(self, head: Any, model_dir: Any = None, optimizer: Any = "Ftrl", config: Any = None) -> None:
        self._build(head, model_dir, optimizer, config)
