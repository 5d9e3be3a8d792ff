"""Deep models with optimizers and heads of Keras."""

from __future__ import annotations

from typing import Any

from everflow.api import internal
from everflow.estimator.canned.dnn import checked_units, deep_logits
from everflow.estimator.canned.optimizers import checked_features, get_optimizer_instance_v2
from everflow.estimator.canned.v2.training import Built, check_columns, classification_head, with_global_step
from everflow.estimator.estimator import EstimatorV2
from everflow.estimator.heads.objects import RegressionHead
from everflow.ops.nn.activations import relu
from everflow.ops.variables.variable_scope import variable_scope


@internal("estimator.canned.dnn.dnn_logit_fn_builder_v2")
def dnn_logit_fn_builder_v2(units: Any, hidden_units: Any, feature_columns: Any, activation_fn: Any, dropout: Any, batch_norm: Any) -> Any:
    """A function from features and mode to the logits of a deep model."""
    model = (checked_units(units), hidden_units, feature_columns, activation_fn, dropout, None, batch_norm)

    def dnn_logit_fn(features: Any, mode: Any) -> Any:
        check_columns(feature_columns)
        with variable_scope("dnn", values=tuple(features.values()), use_resource=True):
            return deep_logits(features, mode, *model)

    return dnn_logit_fn


@internal("estimator.canned.dnn.dnn_model_fn_v2")
def dnn_model_fn_v2(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    hidden_units: Any,
    feature_columns: Any,
    optimizer: Any = "Adagrad",
    activation_fn: Any = relu,
    dropout: Any = None,
    config: Any = None,
    use_tpu: bool = False,
    batch_norm: bool = False,
) -> Any:
    """The model function of a deep model."""
    del config, use_tpu
    checked_features(features)
    logit_fn = dnn_logit_fn_builder_v2(head.logits_dimension, hidden_units, feature_columns, activation_fn, dropout, batch_norm)
    built = Built(lambda: logit_fn(features, mode))
    optimizer = with_global_step(get_optimizer_instance_v2(optimizer), mode)
    return head.create_estimator_spec(
        features=features,
        mode=mode,
        labels=labels,
        optimizer=optimizer,
        logits=built.logits,
        trainable_variables=built.trainable_variables,
        update_ops=built.updates,
    )


class _DNNBase(EstimatorV2):
    """What deep estimators share."""

    def _build(self, head: Any, model_dir: Any, config: Any, warm_start_from: Any, **model: Any) -> None:
        def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
            return dnn_model_fn_v2(features, labels, mode, head, config=config, **model)

        EstimatorV2.__init__(self, model_fn=model_fn, model_dir=model_dir, config=config, warm_start_from=warm_start_from)


@internal("estimator.canned.dnn.DNNClassifierV2")
class DNNClassifierV2(_DNNBase):
    """A deep model that classifies."""

    def __init__(
        self,
        hidden_units: Any,
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Any = relu,
        dropout: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = "sum_over_batch_size",
        batch_norm: bool = False,
    ) -> None:
        self._build(
            classification_head(n_classes, weight_column, label_vocabulary, loss_reduction),
            model_dir,
            config,
            warm_start_from,
            hidden_units=hidden_units,
            feature_columns=tuple(feature_columns or ()),
            optimizer=optimizer,
            activation_fn=activation_fn,
            dropout=dropout,
            batch_norm=batch_norm,
        )


@internal("estimator.canned.dnn.DNNRegressorV2")
class DNNRegressorV2(_DNNBase):
    """A deep model that predicts numbers."""

    def __init__(
        self,
        hidden_units: Any,
        feature_columns: Any,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Any = relu,
        dropout: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = "sum_over_batch_size",
        batch_norm: bool = False,
    ) -> None:
        self._build(
            RegressionHead(label_dimension=label_dimension, weight_column=weight_column, loss_reduction=loss_reduction),
            model_dir,
            config,
            warm_start_from,
            hidden_units=hidden_units,
            feature_columns=tuple(feature_columns or ()),
            optimizer=optimizer,
            activation_fn=activation_fn,
            dropout=dropout,
            batch_norm=batch_norm,
        )


@internal("estimator.canned.dnn.DNNEstimatorV2")
class DNNEstimatorV2(_DNNBase):
    """A deep model with any head."""

    def __init__(
        self,
        head: Any,
        hidden_units: Any,
        feature_columns: Any,
        model_dir: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Any = relu,
        dropout: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        batch_norm: bool = False,
    ) -> None:
        self._build(
            head,
            model_dir,
            config,
            warm_start_from,
            hidden_units=hidden_units,
            feature_columns=tuple(feature_columns or ()),
            optimizer=optimizer,
            activation_fn=activation_fn,
            dropout=dropout,
            batch_norm=batch_norm,
        )
