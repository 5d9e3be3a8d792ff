"""Deep models: layers of neurons on dense features."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Callable, Iterator
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.estimator.canned.optimizers import checked_features, default_partitioner, get_optimizer_instance
from everflow.estimator.estimator import Estimator
from everflow.estimator.heads.classification import classification_head
from everflow.estimator.heads.regression import RegressionGraphHead
from everflow.estimator.mode_keys import ModeKeys
from everflow.feature_column.layers import DenseFeatures
from everflow.feature_column.protocol import is_feature_column_v2
from everflow.feature_column.scoped import input_layer
from everflow.losses.weighting import Reduction
from everflow.ops.variables.variable_scope import variable_scope

LEARNING_RATE = 0.05


def layer_summary(value: Any, tag: str) -> None:
    """How many of a layer's values are zero, and how they are spread."""
    tf.summary.scalar(f"{tag}/fraction_of_zero_values", tf.nn.zero_fraction(value))
    tf.summary.histogram(f"{tag}/activation", value)


_watcher: contextvars.ContextVar[Callable[..., Any] | None] = contextvars.ContextVar("watcher", default=None)


@contextlib.contextmanager
def watching_input_layers(watcher: Callable[[Any, Any, dict[Any, Any]], None]) -> Iterator[None]:
    """Calls a function for the input layer of each deep model made within: with its features, columns, and tensors by column.

    It is not called for models of the newer columns, whose layer TensorFlow doesn't watch either.
    """
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def _dense_input(features: Any, feature_columns: Any, partitioner: Callable[..., Any] | None) -> Any:
    with variable_scope("input_from_feature_columns", values=tuple(features.values()), partitioner=partitioner):
        if is_feature_column_v2(feature_columns):
            return DenseFeatures(feature_columns, name="input_layer")(features)
        outputs: dict[Any, Any] = {}
        net = input_layer(features=features, feature_columns=feature_columns, cols_to_output_tensors=outputs)
        if watcher := _watcher.get():
            watcher(features, feature_columns, outputs)
        return net


def _dense(net: Any, units: int, activation: Any, name: str) -> tuple[Any, Any]:
    """The outputs of a layer, and its variable scope."""
    with variable_scope(name, use_resource=True) as scope:
        layer = tf.layers.Dense(
            units=units, activation=activation, kernel_initializer=tf.glorot_uniform_initializer(), name=name, _scope=scope
        )
        return layer(net), scope


def _normalized(net: Any, name: str, around: Any, training: bool) -> Any:
    """Batch normalization, with its variables in the scope of a layer."""
    with variable_scope(around, auxiliary_name_scope=False), tf.name_scope(around.original_name_scope), variable_scope(name) as scope:
        # The default momentum forgets too slowly for short trainings.
        layer = tf.layers.BatchNormalization(momentum=0.999, trainable=True, name=name, _scope=scope)
        return layer(net, training=training)


def deep_logits(
    features: Any,
    mode: Any,
    units: Any,
    hidden_units: Any,
    feature_columns: Any,
    activation_fn: Any,
    dropout: Any,
    input_layer_partitioner: Any,
    batch_norm: Any,
    tag_prefix: str = "",
) -> Any:
    """The logits of a deep model, in the variable scope of the caller."""
    training = mode == ModeKeys.TRAIN
    net = _dense_input(features, list(feature_columns), input_layer_partitioner)
    for i, width in enumerate(hidden_units):
        name = f"hiddenlayer_{i}"
        net, scope = _dense(net, width, activation_fn, name)
        if dropout is not None and training:
            net = tf.layers.Dropout(rate=dropout)(net, training=True)
        if batch_norm:
            net = _normalized(net, f"batchnorm_{i}", scope, training)
        layer_summary(net, tag_prefix + name)
    logits, _ = _dense(net, units, None, "logits")
    layer_summary(logits, tag_prefix + "logits")
    return logits


def checked_units(units: Any) -> Any:
    """How many logits a model is to have."""
    if not isinstance(units, int):
        raise ValueError(f"units must be an int.  Given type: {type(units)}")
    return units


@public("estimator.experimental.dnn_logit_fn_builder", "contrib.estimator.dnn_logit_fn_builder")
def dnn_logit_fn_builder(
    units: Any, hidden_units: Any, feature_columns: Any, activation_fn: Any, dropout: Any, input_layer_partitioner: Any, batch_norm: Any
) -> Any:
    """A function from features and mode to the logits of a deep model."""
    model = (checked_units(units), hidden_units, feature_columns, activation_fn, dropout, input_layer_partitioner, batch_norm)

    def dnn_logit_fn(features: Any, mode: Any) -> Any:
        scope = tf.get_variable_scope().name
        return deep_logits(features, mode, *model, tag_prefix=f"{scope}/" if scope else "")

    return dnn_logit_fn


@internal("estimator.canned.dnn._dnn_model_fn")
def dnn_model_fn(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    hidden_units: Any,
    feature_columns: Any,
    optimizer: Any = "Adagrad",
    activation_fn: Any = tf.nn.relu,
    dropout: Any = None,
    input_layer_partitioner: Any = None,
    config: Any = None,
    use_tpu: bool = False,
    batch_norm: Any = False,
) -> Any:
    """The model function of a deep model."""
    del use_tpu
    checked_features(features)
    optimizer = get_optimizer_instance(optimizer, learning_rate=LEARNING_RATE)
    partitioner = tf.min_max_variable_partitioner(max_partitions=config.num_ps_replicas if config else 0)
    with variable_scope("dnn", values=tuple(features.values()), partitioner=partitioner):
        logit_fn = dnn_logit_fn_builder(
            head.logits_dimension,
            hidden_units,
            feature_columns,
            activation_fn,
            dropout,
            input_layer_partitioner or default_partitioner(config),
            batch_norm,
        )
        logits = logit_fn(features=features, mode=mode)
        return head.create_estimator_spec(features=features, mode=mode, labels=labels, optimizer=optimizer, logits=logits)


class _DNNBase(Estimator):
    """What deep estimators share."""

    def _build(
        self,
        head: Any,
        hidden_units: Any,
        feature_columns: Any,
        model_dir: str | None,
        optimizer: Any,
        activation_fn: Any,
        dropout: Any,
        input_layer_partitioner: Any,
        config: Any,
        warm_start_from: Any,
        batch_norm: bool,
    ) -> None:
        columns = tuple(feature_columns or ())

        def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
            return dnn_model_fn(
                features,
                labels,
                mode,
                head,
                hidden_units,
                columns,
                optimizer,
                activation_fn,
                dropout,
                input_layer_partitioner,
                config,
                batch_norm=batch_norm,
            )

        Estimator.__init__(self, model_fn=model_fn, model_dir=model_dir, config=config, warm_start_from=warm_start_from)


@public("estimator.DNNClassifier")
class DNNClassifier(_DNNBase):
    """A deep model that classifies."""

    def __init__(
        self,
        hidden_units: Any,
        feature_columns: Any,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Any = tf.nn.relu,
        dropout: Any = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
    ) -> None:
        head = classification_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        self._build(
            head,
            hidden_units,
            feature_columns,
            model_dir,
            optimizer,
            activation_fn,
            dropout,
            input_layer_partitioner,
            config,
            warm_start_from,
            batch_norm,
        )


@public("estimator.DNNRegressor")
class DNNRegressor(_DNNBase):
    """A deep model that predicts numbers."""

    def __init__(
        self,
        hidden_units: Any,
        feature_columns: Any,
        model_dir: str | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Any = tf.nn.relu,
        dropout: Any = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
    ) -> None:
        head = RegressionGraphHead(weight_column, label_dimension, loss_reduction)
        self._build(
            head,
            hidden_units,
            feature_columns,
            model_dir,
            optimizer,
            activation_fn,
            dropout,
            input_layer_partitioner,
            config,
            warm_start_from,
            batch_norm,
        )


@public("estimator.DNNEstimator", "contrib.estimator.DNNEstimator")
class DNNEstimator(_DNNBase):
    """A deep model with any head."""

    def __init__(
        self,
        head: Any,
        hidden_units: Any,
        feature_columns: Any,
        model_dir: str | None = None,
        optimizer: Any = "Adagrad",
        activation_fn: Any = tf.nn.relu,
        dropout: Any = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        batch_norm: bool = False,
    ) -> None:
        self._build(
            head,
            hidden_units,
            feature_columns,
            model_dir,
            optimizer,
            activation_fn,
            dropout,
            input_layer_partitioner,
            config,
            warm_start_from,
            batch_norm,
        )
