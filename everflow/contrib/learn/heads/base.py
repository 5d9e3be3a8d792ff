"""What heads share: labels, weights, centered bias, and the ops of each mode."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.contrib.learn.model_ops import ModeKeys, ModelFnOps
from everflow.contrib.learn.problem_types import MetricKey
from everflow.contrib.learn.publishing import learn
from everflow.ops.math.weights_broadcast import broadcast_weights
from everflow.platform import logging

MODULE = "estimators.head"
# How fast the centered bias learns.
_BIAS_RATE = 0.1


@learn(MODULE, "Head", shown=True)
class Head(abc.ABC):
    """Makes of logits what a mode needs."""

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """How many logits an example has."""

    @abc.abstractmethod
    def create_model_fn_ops(
        self,
        features: Any,
        mode: str,
        labels: Any = None,
        train_op_fn: Any = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> Any:
        """The ops of a mode, from logits or from what a last layer makes logits of."""


@learn(MODULE, "no_op_train_fn", shown=True)
def no_op_train_fn(loss: Any) -> Any:
    """Trains nothing."""
    del loss
    return tf.no_op()


def check_mode(mode: str) -> None:
    """Raises for what is no mode."""
    if mode not in (ModeKeys.TRAIN, ModeKeys.INFER, ModeKeys.EVAL):
        raise ValueError(f"mode={mode} unrecognized.")


def summary_key(head_name: str | None, key: str) -> str:
    """A key as a named head writes it."""
    return f"{key}/{head_name}" if head_name else key


def write_loss(head_name: str | None, loss: Any) -> None:
    """A summary of the loss, at the root of names."""
    with tf.name_scope(""):
        tf.summary.scalar(summary_key(head_name, MetricKey.LOSS), tf.identity(loss))


class SingleHead(Head):
    """A head with one set of labels; subclasses say what its losses, predictions and metrics are."""

    scope_name = ""

    def __init__(
        self,
        problem_type: int,
        logits_dimension: Any,
        label_name: Any = None,
        weight_column_name: Any = None,
        head_name: Any = None,
        enable_centered_bias: bool = False,
    ) -> None:
        if problem_type is None:
            raise ValueError(f"Invalid problem_type {problem_type}.")
        if logits_dimension is None or logits_dimension < 1:
            raise ValueError(f"Invalid logits_dimension {logits_dimension}.")
        self._problem_type, self._logits_dimension = problem_type, logits_dimension
        self._label_name, self._weight_column_name, self._head_name = label_name, weight_column_name, head_name
        self._enable_centered_bias = enable_centered_bias

    @property
    def logits_dimension(self) -> int:
        """How many logits an example has."""
        return self._logits_dimension

    @property
    def label_name(self) -> Any:
        """Which of the labels are its own."""
        return self._label_name

    @property
    def weight_column_name(self) -> Any:
        """Which feature has the weights of examples."""
        return self._weight_column_name

    @property
    def head_name(self) -> Any:
        """What it is called among several."""
        return self._head_name

    @abc.abstractmethod
    def _loss(self, labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
        """The loss to train with, and the weighted mean to report."""

    @abc.abstractmethod
    def _predictions(self, logits: Any) -> dict[str, Any]:
        """What logits say."""

    @abc.abstractmethod
    def _measured(self, predictions: Any, labels: Any, weights: Any) -> dict[str, Any]:
        """{key: metric}, but for the loss."""

    def _transform_labels(self, labels: Any) -> Any:
        """The labels as the loss takes them."""
        if isinstance(labels, tf.SparseTensor):
            raise ValueError("SparseTensor is not supported.")
        return labels

    def _create_output_alternatives(self, predictions: Any) -> dict[Any, Any]:
        """How the predictions are served."""
        return {self._head_name: (self._problem_type, predictions)}

    def create_model_fn_ops(
        self,
        features: Any,
        mode: str,
        labels: Any = None,
        train_op_fn: Any = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        """The ops of a mode, from logits or from what a last layer makes logits of."""
        given = (*features.values(), labels, logits, logits_input)
        with tf.variable_scope(scope, default_name=self.head_name or self.scope_name, values=given):
            if mode == ModeKeys.INFER or labels is None:
                labels = None
            else:
                own = labels[self._label_name] if isinstance(labels, dict) else labels
                labels = self._transform_labels(tf.contrib.framework.convert_to_tensor_or_sparse_tensor(own))
            logits = logits_of(logits_input, logits, self.logits_dimension)
            return self._ops(features, mode, labels, train_op_fn, logits)

    def _ops(self, features: Any, mode: str, labels: Any, train_op_fn: Any, logits: Any) -> ModelFnOps:
        check_mode(mode)
        bias = None
        if self._enable_centered_bias:
            bias = centered_bias(self.logits_dimension, self.head_name)
            logits = tf.nn.bias_add(logits, bias)
        with tf.name_scope(None, "predictions", (logits,)):
            predictions = self._predictions(logits)
        loss = train_op = metrics = None
        if mode != ModeKeys.INFER and labels is not None:
            weights = weight_tensor(features, self.weight_column_name)
            loss, mean_loss = self._loss(labels, logits, weights)
            write_loss(self.head_name, mean_loss)
            if mode == ModeKeys.TRAIN:
                if train_op_fn is None:
                    raise ValueError("train_op_fn can not be None in TRAIN mode")
                train_op = self._train_op(loss, labels, train_op_fn, bias, tf.shape(logits)[0], weights)
            with tf.name_scope("metrics"):
                measured = {MetricKey.LOSS: tf.metrics.mean(mean_loss), **self._measured(predictions, labels, weights)}
            metrics = {summary_key(self.head_name, key): metric for key, metric in measured.items()}
        return ModelFnOps(
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=metrics,
            output_alternatives=self._create_output_alternatives(predictions),
        )

    def _train_op(self, loss: Any, labels: Any, train_op_fn: Any, bias: Any, batch_size: Any, weights: Any) -> Any:
        if bias is None:
            with tf.name_scope(None, "train_op", (loss,)):
                return train_op_fn(loss)
        bias_step = self._centered_bias_step(bias, batch_size, labels, weights)
        with tf.name_scope(None, "train_op", (loss,)):
            return tf.group(train_op_fn(loss), bias_step)

    def _centered_bias_step(self, bias: Any, batch_size: Any, labels: Any, weights: Any) -> Any:
        """Trains the bias alone, as if there were no features."""
        with tf.name_scope(None, "centered_bias_step") as name:
            dimension = tf.shape(bias)[0]
            logits = tf.reshape(tf.tile(bias, (batch_size,)), (batch_size, dimension))
            with tf.name_scope(None, "centered_bias"):
                loss = tf.reduce_mean(self._loss(labels, logits, weights), name="training_loss")
        return tf.train.AdagradOptimizer(_BIAS_RATE).minimize(loss, var_list=(bias,), name=name)


def logits_of(logits_input: Any, logits: Any, logits_dimension: Any) -> Any:
    """Logits as they are given, or of a linear layer."""
    if logits_dimension is None or logits_dimension < 1:
        raise ValueError(f"Invalid logits_dimension {logits_dimension}.")
    if logits is None:
        if logits_input is None:
            raise ValueError("Neither logits nor logits_input supplied.")
        return tf.contrib.layers.linear(logits_input, logits_dimension, scope="logits")
    if logits_input is not None:
        raise ValueError("Both logits and logits_input supplied.")
    logits = tf.convert_to_tensor(logits, name="logits")
    if logits.get_shape().ndims is not None:
        logits.get_shape().dims[-1].assert_is_compatible_with(logits_dimension)
    return logits


def centered_bias(logits_dimension: Any, head_name: Any = None) -> Any:
    """A bias for each logit, with summaries."""
    if logits_dimension is None or logits_dimension < 1:
        raise ValueError(f"Invalid logits_dimension {logits_dimension}.")
    bias: Any = tf.Variable(name="centered_bias_weight", initial_value=tf.zeros(shape=(logits_dimension,)), trainable=True)
    for dimension in range(logits_dimension):
        tf.summary.scalar(summary_key(head_name, f"centered_bias/bias_{dimension}"), bias[dimension])
    return bias


def weight_tensor(features: Any, weight_column_name: Any) -> Any:
    """The weights of examples as floats, a row each; None where there are none."""
    if not weight_column_name:
        return None
    if weight_column_name not in features:
        raise ValueError(f"Weights {weight_column_name} missing from features.")
    with tf.name_scope(None, "weight_tensor", tuple(features.values())):
        weights = tf.cast(features[weight_column_name], tf.float32)
        if weights.get_shape().ndims != 1:
            return weights
        logging.warning(f"Weights {weight_column_name} has shape {weights.get_shape()}, expanding to make it 2d.")
        if isinstance(weights, tf.SparseTensor):
            return tf.sparse_reshape(weights, (-1, 1))
        return tf.reshape(weights, (-1, 1))


def weighted_loss(losses: Any, weights: Any, name: str = "loss") -> tuple[Any, Any]:
    """The mean of weighted losses, by which a model is trained, and their weighted mean, which is reported."""
    with tf.name_scope(name, values=(losses, weights)) as scope:
        if weights is None:
            loss = tf.reduce_mean(losses, name=scope)
            return loss, loss
        weights = broadcast_weights(weights, losses)
        with tf.name_scope(None, "weighted_loss", (losses, weights)) as weighted_scope:
            weighted = tf.multiply(losses, weights, name=weighted_scope)
        mean = tf.reduce_mean(weighted, name=scope)
        total = tf.cast(tf.reduce_sum(weights), tf.float32)
        return mean, tf.div(tf.reduce_sum(weighted), total, name="weighted_average_loss")


def column(vector: Any) -> Any:
    """A vector as a matrix of one column."""
    return tf.expand_dims(vector, axis=1) if len(vector.get_shape()) == 1 else vector


LossFunction = Callable[..., tuple[Any, Any]]
