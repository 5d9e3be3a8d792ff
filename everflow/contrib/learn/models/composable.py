"""Parts of models to put together: linear and deep logits, each with its own training step."""

from __future__ import annotations

import abc
import re
from typing import Any

import everflow as tf
from everflow.contrib.learn.models.layers import COLUMN_SLICE, partitioner, write_activations
from everflow.contrib.learn.models.linear import learning_rate
from everflow.contrib.learn.publishing import learn
from everflow.train.checkpoints.reader import list_variables, load_variable

_MODULE = "estimators.composable_model"
_DEEP_RATE = 0.05


class ComposableModel(abc.ABC):
    """Logits of columns, and a step that trains the variables of its scope."""

    def __init__(
        self, num_label_columns: int, optimizer: Any, gradient_clip_norm: Any, num_ps_replicas: int, scope: str, trainable: bool
    ) -> None:
        self._num_label_columns, self._optimizer, self._gradient_clip_norm = num_label_columns, optimizer, gradient_clip_norm
        self._num_ps_replicas, self._scope, self._trainable = num_ps_replicas, scope, trainable
        self._feature_columns: Any = None

    def get_scope_name(self) -> str:
        """The scope of its variables."""
        return self._scope

    @abc.abstractmethod
    def build_model(self, features: Any, feature_columns: Any, is_training: bool) -> Any:
        """The logits."""

    @abc.abstractmethod
    def _default_optimizer(self, name: str | None) -> Any:
        """The optimizer for models that were given none, or only its name."""

    def get_train_step(self, loss: Any) -> list[Any]:
        """The ops that train it; none where there is nothing to train."""
        columns = self._columns()
        variables = tf.get_collection(self._scope) if columns else []
        if not (columns or variables):
            return []
        gradients = tf.gradients(loss, variables)
        if self._gradient_clip_norm:
            gradients, _ = tf.clip_by_global_norm(gradients, self._gradient_clip_norm)
        return [self._get_optimizer().apply_gradients(zip(gradients, variables))]

    def _columns(self) -> Any:
        if not self._feature_columns:
            return None
        tf.contrib.layers.check_feature_columns(self._feature_columns)
        return sorted(set(self._feature_columns), key=lambda column: column.key)

    def _get_optimizer(self) -> Any:
        if self._optimizer is None or isinstance(self._optimizer, str):
            return self._default_optimizer(self._optimizer)
        return self._optimizer() if callable(self._optimizer) else self._optimizer


@learn(_MODULE, "LinearComposableModel")
class LinearComposableModel(ComposableModel):
    """Weighted sums of columns."""

    def __init__(
        self,
        num_label_columns: int,
        optimizer: Any = None,
        _joint_weights: bool = False,
        gradient_clip_norm: Any = None,
        num_ps_replicas: int = 0,
        scope: str | None = None,
        trainable: bool = True,
    ) -> None:
        super().__init__(num_label_columns, optimizer, gradient_clip_norm, num_ps_replicas, scope or "linear", trainable)
        self._joint_weights = _joint_weights

    def get_weights(self, model_dir: str) -> Any:
        """The weights of a checkpoint by name, or the only one."""
        slots = re.compile(rf".*/{self._get_optimizer().get_name()}(_\d)?$")
        found = {
            name: load_variable(model_dir, name)
            for name, _ in list_variables(model_dir)
            if name.startswith(self._scope + "/") and name != self._scope + "/bias_weight" and not slots.match(name)
        }
        return next(iter(found.values())) if len(found) == 1 else found

    def get_bias(self, model_dir: str) -> Any:
        """The bias of a checkpoint."""
        return load_variable(model_dir, self._scope + "/bias_weight")

    def build_model(self, features: Any, feature_columns: Any, is_training: bool) -> Any:
        """The weighted sums."""
        self._feature_columns = feature_columns
        layers = tf.contrib.layers
        summed = layers.joint_weighted_sum_from_feature_columns if self._joint_weights else layers.weighted_sum_from_feature_columns
        split = partitioner(self._num_ps_replicas, COLUMN_SLICE)
        with tf.variable_scope(self._scope, values=tuple(features.values()), partitioner=split) as scope:
            return summed(
                columns_to_tensors=features,
                feature_columns=self._columns(),
                num_outputs=self._num_label_columns,
                weight_collections=[self._scope],
                trainable=self._trainable,
                scope=scope,
            )[0]

    def _default_optimizer(self, name: str | None) -> Any:
        return tf.contrib.layers.OPTIMIZER_CLS_NAMES[name or "Ftrl"](learning_rate=learning_rate(len(self._columns())))


@learn(_MODULE, "DNNComposableModel")
class DNNComposableModel(ComposableModel):
    """A network of columns."""

    def __init__(
        self,
        num_label_columns: int,
        hidden_units: Any,
        optimizer: Any = None,
        activation_fn: Any = tf.nn.relu,
        dropout: Any = None,
        gradient_clip_norm: Any = None,
        num_ps_replicas: int = 0,
        scope: str | None = None,
        trainable: bool = True,
    ) -> None:
        super().__init__(num_label_columns, optimizer, gradient_clip_norm, num_ps_replicas, scope or "dnn", trainable)
        self._hidden_units, self._activation_fn, self._dropout = hidden_units, activation_fn, dropout

    def _of_layers(self, model_dir: str, name: str) -> list[Any]:
        layers = [*(f"hiddenlayer_{i}" for i in range(len(self._hidden_units))), "logits"]
        return [load_variable(model_dir, f"{self._scope}/{layer}/{name}") for layer in layers]

    def get_weights(self, model_dir: str) -> list[Any]:
        """The weights of each layer of a checkpoint."""
        return self._of_layers(model_dir, "weights")

    def get_bias(self, model_dir: str) -> list[Any]:
        """The biases of each layer of a checkpoint."""
        return self._of_layers(model_dir, "biases")

    def build_model(self, features: Any, feature_columns: Any, is_training: bool) -> Any:
        """The logits of the network."""
        self._feature_columns = feature_columns
        layers = tf.contrib.layers
        input_scope = self._scope + "/input_from_feature_columns"
        split = partitioner(self._num_ps_replicas, COLUMN_SLICE)
        with tf.variable_scope(input_scope, values=tuple(features.values()), partitioner=split) as scope:
            net = layers.input_from_feature_columns(
                features, self._columns(), weight_collections=[self._scope], trainable=self._trainable, scope=scope
            )
        settings = {"variables_collections": [self._scope], "trainable": self._trainable}
        split = partitioner(self._num_ps_replicas)
        for layer, units in enumerate(self._hidden_units):
            with tf.variable_scope(f"{self._scope}/hiddenlayer_{layer}", values=[net], partitioner=split) as scope:
                net = layers.fully_connected(net, units, activation_fn=self._activation_fn, scope=scope, **settings)
                if self._dropout is not None and is_training:
                    net = layers.dropout(net, keep_prob=1.0 - self._dropout)
            write_activations(net, scope.name, "/")
        with tf.variable_scope(f"{self._scope}/logits", values=[net], partitioner=split) as scope:
            logits = layers.fully_connected(net, self._num_label_columns, activation_fn=None, scope=scope, **settings)
        write_activations(logits, "logits", "/")
        return logits

    def _default_optimizer(self, name: str | None) -> Any:
        return tf.contrib.layers.OPTIMIZER_CLS_NAMES[name or "Adagrad"](learning_rate=_DEEP_RATE)
