"""Linear models."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.estimator.canned import sdca
from everflow.estimator.canned.optimizers import checked_features, default_partitioner, get_optimizer_instance
from everflow.estimator.estimator import Estimator
from everflow.estimator.heads.classification import classification_head
from everflow.estimator.heads.regression import RegressionGraphHead
from everflow.feature_column.linear import LinearModel
from everflow.feature_column.protocol import is_feature_column_v2
from everflow.feature_column.scoped import ScopedLinearModel
from everflow.graph.scopes import name_scope
from everflow.losses.weighting import Reduction
from everflow.ops.variables.partitioned import PartitionedVariable
from everflow.ops.variables.variable_scope import variable_scope

LEARNING_RATE = 0.2


def _parts(variables: Any) -> list[Any]:
    return [part for v in variables for part in (list(v) if isinstance(v, PartitionedVariable) else [v])]


@internal("estimator.canned.linear._compute_fraction_of_zero")
def _fraction_of_zero(variables: Any) -> Any:
    """Which part of all weights is zero."""
    with name_scope("zero_fraction"):
        variables = tf.nest.flatten(variables)
        with name_scope("total_size"):
            sizes = [tf.size(v, out_type=tf.int64) for v in variables]
            total = tf.add_n(sizes)
        with name_scope("total_zero"):
            zeros = [
                tf.cond(
                    tf.equal(size, tf.constant(0, dtype=tf.int64)),
                    lambda: tf.constant(0, dtype=tf.float32),
                    lambda v=v, size=size: tf.nn.zero_fraction(v) * tf.cast(size, tf.float32, name="ToFloat"),  # type: ignore[misc]
                    name="zero_count",
                )
                for v, size in zip(variables, sizes)
            ]
            all_zeros = tf.add_n(zeros)
        with name_scope("compute"):
            fraction = all_zeros / tf.cast(total, tf.float32, name="float32_size")
        return tf.identity(fraction, name="zero_fraction_or_nan")


@public("estimator.experimental.linear_logit_fn_builder", "contrib.estimator.linear_logit_fn_builder")
def linear_logit_fn_builder(units: int, feature_columns: Any, sparse_combiner: str = "sum") -> Any:
    """A function from features to the logits of a linear model."""

    def linear_logit_fn(features: Any) -> Any:
        model = linear_model_of(feature_columns, units, sparse_combiner)
        logits = model(features)
        weights_summary(model, units)
        return logits

    return linear_logit_fn


def linear_model_of(feature_columns: Any, units: int, sparse_combiner: str) -> Any:
    """The linear model on columns of either version."""
    kind = LinearModel if is_feature_column_v2(feature_columns) else ScopedLinearModel
    return kind(feature_columns=feature_columns, units=units, sparse_combiner=sparse_combiner, name="linear_model")


def weights_summary(model: Any, units: int) -> None:
    """The bias of a linear model, and which part of its weights is zero."""
    bias = _parts([model.bias])
    of_bias = {id(part) for part in bias}
    weights = [v for v in _parts(model.trainable_variables + model.non_trainable_variables) if id(v) not in of_bias]
    if units > 1:
        tf.summary.histogram("bias", bias)
    else:
        tf.summary.scalar("bias", bias[0][0])
    tf.summary.scalar("fraction_of_zero_weights", _fraction_of_zero(weights))


def rate_of(optimizer: Any, columns: Any) -> float:
    """The rate of an optimizer that is given by its name. Where there is none at all, it falls with the number of columns."""
    return LEARNING_RATE if optimizer else min(LEARNING_RATE, 1.0 / math.sqrt(len(columns) or 1))


@internal("estimator.canned.linear._linear_model_fn")
def linear_model_fn(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    feature_columns: Any,
    optimizer: Any,
    partitioner: Callable[..., Any] | None,
    config: Any,
    sparse_combiner: str = "sum",
) -> Any:
    """The model function of a linear model."""
    checked_features(features)
    columns = tuple(feature_columns or ())
    if isinstance(optimizer, sdca.LinearSDCA):
        if sparse_combiner != "sum":
            raise ValueError("sparse_combiner must be sum when optimizer is a LinearSDCA object.")
        with variable_scope(
            "linear", values=tuple(features.values()), partitioner=partitioner or default_partitioner(config), use_resource=True
        ):
            model = linear_model_of(columns, 1, sparse_combiner)
            logits = model(features)
            weights_summary(model, 1)
            return sdca.spec_of(features, labels, mode, head, columns, optimizer, model, logits)
    optimizer = get_optimizer_instance(optimizer or "Ftrl", learning_rate=rate_of(optimizer, columns))
    with variable_scope("linear", values=tuple(features.values()), partitioner=partitioner or default_partitioner(config)):
        logits = linear_logit_fn_builder(head.logits_dimension, columns, sparse_combiner)(features)
        return head.create_estimator_spec(features=features, mode=mode, labels=labels, optimizer=optimizer, logits=logits)


class _LinearBase(Estimator):
    """What linear estimators share."""

    def _build(
        self,
        head: Any,
        feature_columns: Any,
        model_dir: str | None,
        optimizer: Any,
        config: Any,
        partitioner: Callable[..., Any] | None,
        warm_start_from: Any,
        sparse_combiner: str,
    ) -> None:
        def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
            return linear_model_fn(features, labels, mode, head, feature_columns, optimizer, partitioner, config, sparse_combiner)

        Estimator.__init__(self, model_fn=model_fn, model_dir=model_dir, config=config, warm_start_from=warm_start_from)


@public("estimator.LinearClassifier")
class LinearClassifier(_LinearBase):
    """A linear model that classifies."""

    def __init__(
        self,
        feature_columns: Any,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        partitioner: Callable[..., Any] | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        sparse_combiner: str = "sum",
    ) -> None:
        sdca.check_classifier(feature_columns, n_classes, optimizer, sparse_combiner)
        head = classification_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        self._build(head, feature_columns, model_dir, optimizer, config, partitioner, warm_start_from, sparse_combiner)


@public("estimator.LinearRegressor")
class LinearRegressor(_LinearBase):
    """A linear model that predicts numbers."""

    def __init__(
        self,
        feature_columns: Any,
        model_dir: str | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        partitioner: Callable[..., Any] | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        sparse_combiner: str = "sum",
    ) -> None:
        sdca.check_regressor(feature_columns, label_dimension, optimizer, sparse_combiner)
        head = RegressionGraphHead(weight_column, label_dimension, loss_reduction)
        self._build(head, feature_columns, model_dir, optimizer, config, partitioner, warm_start_from, sparse_combiner)


@public("estimator.LinearEstimator", "contrib.estimator.LinearEstimator")
class LinearEstimator(_LinearBase):
    """A linear model with any head."""

    def __init__(
        self,
        head: Any,
        feature_columns: Any,
        model_dir: str | None = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        partitioner: Callable[..., Any] | None = None,
        sparse_combiner: str = "sum",
    ) -> None:
        self._build(head, feature_columns, model_dir, optimizer, config, partitioner, None, sparse_combiner)
