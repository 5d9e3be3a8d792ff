"""What all heads share: from logits and labels to an EstimatorSpec."""

from __future__ import annotations

import collections
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.estimator.arguments import parameters_of
from everflow.estimator.export_outputs import ClassificationOutput, PredictOutput
from everflow.estimator.heads.keys import MetricKeys, PredictionKeys, with_head_name
from everflow.estimator.heads.shapes import TEXTS, LabelTexts, checked_labels, checked_logits, weights_of
from everflow.estimator.mode_keys import ModeKeys
from everflow.estimator.spec import EstimatorSpec
from everflow.graph.scopes import name_scope
from everflow.lookup.vocabularies import index_table_from_tensor, index_to_string_table_from_tensor
from everflow.losses.weighting import Reduction
from everflow.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from everflow.train.global_step import get_global_step

PREDICT_KEY = "predict"
CLASSIFY_KEY = "classification"
REGRESS_KEY = "regression"

LossSpec = collections.namedtuple("LossSpec", ["training_loss", "unreduced_loss", "weights", "processed_labels"])


@internal("estimator.canned.head._Head")
class GraphHead:
    """A head for graphs: metrics of tf.metrics, optimizers of tf.train."""

    _name: str | None
    _weight_column: Any = None
    _loss_reduction: str = Reduction.SUM
    _texts: LabelTexts = TEXTS
    _base_name = "_Head"
    # What a program's own loss may take.
    _loss_arguments: tuple[str, ...] = ("labels", "logits", "features")
    # What a label holds beside the logits, for heads whose labels are as wide as their logits.
    _label_dimension: int = 1

    @property
    def name(self) -> Any:
        """The name that summaries and metrics carry."""
        return self._name

    @property
    def logits_dimension(self) -> int:
        """How many logits an example has."""
        raise NotImplementedError

    def _processed(self, labels: Any) -> Any:
        """Labels as losses and metrics want them."""
        raise NotImplementedError

    def _losses(self, labels: Any, logits: Any, features: Any) -> Any:
        """The loss of each example, for labels that were processed."""
        raise NotImplementedError

    def _predictions(self, logits: Any) -> dict[str, Any]:
        raise NotImplementedError

    def _exports(self, predictions: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    def _metrics(self, labels: Any, predictions: dict[str, Any], weights: Any, unreduced_loss: Any, key: Any) -> dict[str, Any]:
        raise NotImplementedError

    def _weights(self, features: Any, logits: Any) -> Any:
        return weights_of(features, self._weight_column, logits, texts=self._texts)

    def create_loss(self, features: Any, mode: str, logits: Any, labels: Any) -> LossSpec:
        """The loss to train with, and what it is made from."""
        del mode
        logits = tf.convert_to_tensor(logits)
        labels = checked_labels(labels, logits, self._label_dimension, self._texts)
        processed = self._processed(labels)
        unreduced = self._losses(processed, logits, features)
        weights = self._weights(features, logits)
        training = tf.losses.compute_weighted_loss(unreduced, weights=weights, reduction=self._loss_reduction)
        return LossSpec(training, unreduced, weights, processed)

    def _create_tpu_estimator_spec(self, *args: Any, **kwargs: Any) -> Any:
        """What heads of programs may define instead of `create_estimator_spec`."""
        raise NotImplementedError("TPUEstimatorSpec not available for this model head.")

    def _spec_of_subclass(self, *args: Any) -> Any:
        """The spec that a head of a program's own makes; None for ours."""
        if type(self)._create_tpu_estimator_spec is not GraphHead._create_tpu_estimator_spec:
            return self._create_tpu_estimator_spec(*args).as_estimator_spec()
        if type(self)._predictions is GraphHead._predictions:
            raise NotImplementedError(
                f"Subclasses of {self._base_name} must implement `create_estimator_spec()` or _create_tpu_estimator_spec()."
            )
        return None

    def create_estimator_spec(
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        train_op_fn: Any = None,
        regularization_losses: Any = None,
    ) -> Any:
        """The EstimatorSpec of a model function that has these logits."""
        own = self._spec_of_subclass(features, mode, logits, labels, optimizer, train_op_fn, regularization_losses)
        if own is not None:
            return own
        with name_scope(self._name, "head"):
            logits = self._checked_logits(logits)
            predictions = self._predictions(logits)
            logits = predictions.get(PredictionKeys.LOGITS, logits)
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(mode=mode, predictions=predictions, export_outputs=self._exports(predictions))
            found = self.create_loss(features, mode, logits, labels)
            regularization = tf.add_n(regularization_losses) if regularization_losses else None
            loss = found.training_loss if regularization is None else found.training_loss + regularization
            if mode == ModeKeys.TRAIN:
                train_op = train_op_for(loss, optimizer, train_op_fn)
                mean = None
                if self._loss_reduction == Reduction.SUM:
                    total = tf.reduce_sum(found.weights * tf.ones_like(found.unreduced_loss))
                    mean = found.training_loss / total
        if mode == ModeKeys.EVAL:
            return EstimatorSpec(
                mode=mode, predictions=predictions, loss=loss, eval_metric_ops=self._metric_ops(found, predictions, logits, regularization)
            )
        with name_scope(""):
            self._summarize(loss, mean, regularization)
        return EstimatorSpec(mode=mode, predictions=predictions, loss=loss, train_op=train_op)

    def _checked_logits(self, logits: Any) -> Any:
        return checked_logits(logits, self.logits_dimension)

    def _key(self, key: str) -> str:
        return with_head_name(self._name, key)

    def _metric_ops(self, found: LossSpec, predictions: dict[str, Any], logits: Any, regularization: Any) -> dict[str, Any]:
        values = (found.processed_labels, logits, *predictions.values(), found.weights, found.unreduced_loss)
        with name_scope(None, "metrics", values):
            metrics = self._metrics(found.processed_labels, predictions, found.weights, found.unreduced_loss, self._key)
            if regularization is not None:
                name = self._key(MetricKeys.LOSS_REGULARIZATION)
                metrics[name] = tf.metrics.mean(regularization, name=MetricKeys.LOSS_REGULARIZATION)
            return metrics

    def _summarize(self, loss: Any, mean: Any, regularization: Any) -> None:
        tf.summary.scalar(self._key(MetricKeys.LOSS), loss)
        if mean is not None:
            tf.summary.scalar(self._key(MetricKeys.LOSS_MEAN), mean)
        if regularization is not None:
            tf.summary.scalar(self._key(MetricKeys.LOSS_REGULARIZATION), regularization)


def train_op_for(loss: Any, optimizer: Any, train_op_fn: Any) -> Any:
    """The op that trains, together with the updates that layers ask for."""
    if optimizer is not None:
        if train_op_fn is not None:
            raise ValueError("train_op_fn and optimizer cannot both be set.")
        train_op = optimizer.minimize(loss, global_step=get_global_step())
    elif train_op_fn is not None:
        train_op = train_op_fn(loss)
    else:
        raise ValueError("train_op_fn and optimizer cannot both be None.")
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    return tf.group(train_op, *updates) if updates else train_op


def class_names(n_classes: int, label_vocabulary: Any) -> Any:
    """The classes as strings."""
    return tf.convert_to_tensor(label_vocabulary) if label_vocabulary else tf.as_string(tf.range(n_classes))


def all_classes_for(logits: Any, n_classes: int, label_vocabulary: Any) -> Any:
    """The names of all classes, for each example."""
    batch = tf.shape(logits)[0]
    names = label_vocabulary if label_vocabulary else tf.as_string(tf.range(n_classes))
    return tf.tile(tf.expand_dims(input=names, axis=0), [batch, 1])


def all_class_ids_for(logits: Any, n_classes: int) -> Any:
    """The ids of all classes, for each example."""
    batch = tf.shape(logits)[0]
    return tf.tile(tf.expand_dims(input=tf.range(n_classes), axis=0), [batch, 1])


def classification_exports(scores: Any, n_classes: int, label_vocabulary: Any, predictions: dict[str, Any]) -> dict[str, Any]:
    """The outputs of an exported classifier."""
    classified = ClassificationOutput(scores=scores, classes=all_classes_for(scores, n_classes, label_vocabulary))
    return {DEFAULT_SERVING_SIGNATURE_DEF_KEY: classified, CLASSIFY_KEY: classified, PREDICT_KEY: PredictOutput(predictions)}


def names_of_class_ids(class_ids: Any, label_vocabulary: Any) -> Any:
    """Class ids as strings."""
    if not label_vocabulary:
        return tf.as_string(class_ids, name="str_classes")
    table = index_to_string_table_from_tensor(vocabulary_list=label_vocabulary, name="class_string_lookup")
    return table.lookup(class_ids)


def ids_of_labels(labels: Any, label_vocabulary: Any) -> Any:
    """Labels as class ids: found in the vocabulary, or the integers that they are."""
    if label_vocabulary:
        if labels.dtype != tf.string:
            raise ValueError(f"Labels dtype should be string if there is a vocabulary. Instead got {labels.dtype}")
        return ids_of_words(labels, label_vocabulary)
    if not labels.dtype.is_integer:
        raise ValueError(f"Labels dtype should be integer. Instead got {labels.dtype}.")
    return labels


def ids_of_words(labels: Any, label_vocabulary: Any) -> Any:
    """The places of words in a vocabulary."""
    return index_table_from_tensor(vocabulary_list=tuple(label_vocabulary), name="class_id_lookup").lookup(labels)


def checked_reduction(loss_reduction: str) -> str:
    """A reduction that gives one number."""
    if loss_reduction not in Reduction.all() or loss_reduction == Reduction.NONE:
        raise ValueError(f"Invalid loss_reduction: {loss_reduction}")
    return loss_reduction


def checked_loss_fn(loss_fn: Any, known: tuple[str, ...]) -> Any:
    """A function of labels, logits and what else a loss may depend on."""
    if loss_fn is None:
        return None
    taken = parameters_of(loss_fn)
    for name in ("labels", "logits"):
        if name not in taken:
            raise ValueError(f"loss_fn must contain argument: {name}. Given arguments: {taken}")
    unknown = set(taken) - set(known)
    if unknown:
        raise ValueError(f"loss_fn has unexpected args: {list(unknown)}")
    return loss_fn


@internal("estimator.head.base_head.call_loss_fn", "estimator.canned.head._call_loss_fn")
def call_loss_fn(loss_fn: Any, labels: Any, logits: Any, features: Any, expected_loss_dim: int = 1) -> Any:
    """The loss of each example as a program's own function computes it."""
    given = {"labels": labels, "logits": logits}
    taken = parameters_of(loss_fn)
    if "features" in taken:
        given["features"] = features
    with name_scope("call_loss_fn"):
        unreduced = loss_fn(**given)
        logits_shape = tf.shape(logits, name="logits_shape")
        wanted = tf.concat([logits_shape[:-1], [expected_loss_dim]], axis=0, name="expected_loss_shape")
        loss_shape = tf.shape(unreduced, name="loss_shape")
        right = tf.reduce_all(tf.equal(loss_shape, wanted))
        check = tf.Assert(
            right,
            data=[
                f"loss_fn must return Tensor of shape [D0, D1, ... DN, {expected_loss_dim}]. ",
                "logits_shape: ",
                logits_shape,
                "loss_shape: ",
                loss_shape,
            ],
            name="check_loss_shape",
        )
        with tf.control_dependencies([check]):
            return tf.identity(unreduced)
