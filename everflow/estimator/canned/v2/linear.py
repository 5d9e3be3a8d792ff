"""Linear models with optimizers and heads of Keras."""

from __future__ import annotations

from typing import Any

from everflow.api import internal
from everflow.estimator.canned import sdca
from everflow.estimator.canned.linear import linear_logit_fn_builder, linear_model_of, rate_of, weights_summary
from everflow.estimator.canned.optimizers import checked_features, get_optimizer_instance_v2
from everflow.estimator.canned.v2.training import Built, check_columns, classification_head, with_global_step
from everflow.estimator.estimator import EstimatorV2
from everflow.estimator.heads.objects import RegressionHead
from everflow.ops.variables.variable_scope import variable_scope


@internal("estimator.canned.linear.linear_logit_fn_builder_v2")
def linear_logit_fn_builder_v2(units: int, feature_columns: Any, sparse_combiner: str = "sum") -> Any:
    """A function from features to the logits of a linear model."""
    logit_fn = linear_logit_fn_builder(units, feature_columns, sparse_combiner)

    def linear_logit_fn(features: Any) -> Any:
        check_columns(feature_columns)
        return logit_fn(features)

    return linear_logit_fn


def linear_logits(features: Any, units: int, columns: Any, sparse_combiner: str) -> Any:
    """The logits of a linear model, in the scope of one."""
    return _model_and_logits(features, units, columns, sparse_combiner)[1]


def _model_and_logits(features: Any, units: int, columns: Any, sparse_combiner: str) -> tuple[Any, Any]:
    check_columns(columns)
    with variable_scope("linear", values=tuple(features.values()), use_resource=True):
        model = linear_model_of(columns, units, sparse_combiner)
        logits = model(features)
    weights_summary(model, units)
    return model, logits


@internal("estimator.canned.linear._linear_model_fn_v2")
def linear_model_fn_v2(
    features: Any, labels: Any, mode: str, head: Any, feature_columns: Any, optimizer: Any, config: Any, sparse_combiner: str = "sum"
) -> Any:
    """The model function of a linear model."""
    del config
    checked_features(features)
    columns = tuple(feature_columns)
    check_columns(columns)
    if isinstance(optimizer, sdca.LinearSDCA):
        if sparse_combiner != "sum":
            raise ValueError("sparse_combiner must be sum when optimizer is a LinearSDCA object.")
        return sdca.spec_of(features, labels, mode, head, columns, optimizer, *_model_and_logits(features, 1, columns, sparse_combiner))
    built = Built(lambda: linear_logits(features, head.logits_dimension, columns, sparse_combiner))
    optimizer = with_global_step(get_optimizer_instance_v2(optimizer or "Ftrl", learning_rate=rate_of(optimizer, columns)), mode)
    return head.create_estimator_spec(
        features=features,
        mode=mode,
        labels=labels,
        optimizer=optimizer,
        trainable_variables=built.trainable_variables,
        update_ops=built.updates,
        logits=built.logits,
    )


class _LinearBase(EstimatorV2):
    """What linear estimators share."""

    def _build(
        self, head: Any, feature_columns: Any, model_dir: Any, optimizer: Any, config: Any, warm_start_from: Any, sparse_combiner: str
    ) -> None:
        def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
            return linear_model_fn_v2(features, labels, mode, head, tuple(feature_columns or ()), optimizer, config, sparse_combiner)

        EstimatorV2.__init__(self, model_fn=model_fn, model_dir=model_dir, config=config, warm_start_from=warm_start_from)


@internal("estimator.canned.linear.LinearClassifierV2")
class LinearClassifierV2(_LinearBase):
    """A linear model that classifies."""

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = "sum_over_batch_size",
        sparse_combiner: str = "sum",
    ) -> None:
        sdca.check_classifier(feature_columns, n_classes, optimizer, sparse_combiner)
        head = classification_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        self._build(head, feature_columns, model_dir, optimizer, config, warm_start_from, sparse_combiner)


@internal("estimator.canned.linear.LinearRegressorV2")
class LinearRegressorV2(_LinearBase):
    """A linear model that predicts numbers."""

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = "sum_over_batch_size",
        sparse_combiner: str = "sum",
    ) -> None:
        sdca.check_regressor(feature_columns, label_dimension, optimizer, sparse_combiner)
        head = RegressionHead(label_dimension=label_dimension, weight_column=weight_column, loss_reduction=loss_reduction)
        self._build(head, feature_columns, model_dir, optimizer, config, warm_start_from, sparse_combiner)


@internal("estimator.canned.linear.LinearEstimatorV2")
class LinearEstimatorV2(_LinearBase):
    """A linear model with any head."""

    def __init__(
        self,
        head: Any,
        feature_columns: Any,
        model_dir: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        sparse_combiner: str = "sum",
    ) -> None:
        self._build(head, feature_columns, model_dir, optimizer, config, None, sparse_combiner)
