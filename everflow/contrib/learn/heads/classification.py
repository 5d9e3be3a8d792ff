"""Heads for classes: one of two, one of many, the side of a plane, any of many."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.contrib.learn.heads import measures
from everflow.contrib.learn.heads.base import MODULE, SingleHead, column, weighted_loss
from everflow.contrib.learn.problem_types import MetricKey, PredictionKey, ProblemType
from everflow.contrib.learn.publishing import learn
from everflow.estimator.arguments import parameters_of


def _custom_loss(loss_fn: Any) -> Any:
    """A loss of a program, which stands for both the loss and its mean."""
    if not loss_fn:
        return None
    taken = parameters_of(loss_fn)
    for name in ("labels", "logits", "weights"):
        if name not in taken:
            raise ValueError(f"Argument {name} not found in loss_fn.")

    def losses(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
        loss = loss_fn(labels, logits) if weights is None else loss_fn(labels, logits, weights)
        return loss, loss

    return losses


def _two_class_losses(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
    with tf.name_scope(None, "log_loss_with_two_classes", (logits, labels)) as name:
        labels = column(tf.cast(labels, tf.float32))
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=tf.convert_to_tensor(logits), name=name)
        return weighted_loss(losses, weights)


def _class_losses(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
    with tf.name_scope(None, "softmax_cross_entropy_loss", (logits, labels)) as name:
        labels = tf.convert_to_tensor(labels)
        if not labels.dtype.is_integer:
            raise ValueError(f"Labels dtype should be integer Instead got {labels.dtype}.")
        is_column = len(labels.get_shape()) == 2
        labels = tf.squeeze(labels, axis=(1,)) if is_column else labels
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)
        return weighted_loss(tf.expand_dims(losses, axis=1) if is_column else losses, weights)


def _label_losses(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
    with tf.name_scope(None, "sigmoid_cross_entropy_loss", (logits, labels)) as name:
        return weighted_loss(tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.cast(labels, tf.float32), logits=logits, name=name), weights)


def _hinge_losses(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
    with tf.name_scope(None, "hinge_loss", (logits, labels)) as name:
        flat = tf.Assert(tf.less_equal(tf.rank(labels), 2), ("labels shape should be either [batch_size, 1] or [batch_size]",))
        with tf.control_dependencies((flat,)):
            labels = tf.reshape(labels, shape=(-1, 1))
        losses = tf.losses.hinge_loss(labels=labels, logits=logits, scope=name, reduction=tf.losses.Reduction.NONE)
        return weighted_loss(losses, weights)


def _both_classes(logits: Any) -> Any:
    """A logit for each of two classes; that of the first is zero."""
    return tf.concat((tf.zeros_like(logits), logits), 1)


class ClassificationHead(SingleHead):
    """Classes, by a loss."""

    def __init__(
        self,
        problem_type: int,
        logits_dimension: int,
        loss_fn: Any,
        label_name: Any = None,
        weight_column_name: Any = None,
        enable_centered_bias: bool = False,
        head_name: Any = None,
        thresholds: Any = None,
        metric_class_ids: Any = None,
    ) -> None:
        super().__init__(problem_type, logits_dimension, label_name, weight_column_name, head_name, enable_centered_bias)
        self._loss_fn = loss_fn
        self._thresholds = thresholds or (0.5,)
        self._metric_class_ids = tuple(metric_class_ids or ())
        for class_id in self._metric_class_ids:
            if not 0 <= class_id < logits_dimension:
                raise ValueError(f"Class ID {class_id} not in [0, {logits_dimension}).")
        self._label_keys: Any = None

    def _loss(self, labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
        return self._loss_fn(labels, logits, weights)

    def _measured(self, predictions: Any, labels: Any, weights: Any) -> dict[str, Any]:
        return {MetricKey.ACCURACY: tf.metrics.accuracy(labels, predictions[PredictionKey.CLASSES], weights)}

    def _create_output_alternatives(self, predictions: Any) -> dict[Any, Any]:
        """Probabilities, and the name of the class of each."""
        probabilities = predictions.get(PredictionKey.PROBABILITIES)
        if probabilities is None:
            raise ValueError(f"{PredictionKey.PROBABILITIES} missing in predictions")
        with tf.name_scope(None, "_classification_output_alternatives", (probabilities,)):
            rows = tf.shape(probabilities)[0]
            if self._label_keys:
                classes = tf.tile(tf.expand_dims(self._label_keys, axis=0), [rows, 1], name="classes_tensor")
            else:
                ids = tf.tile(tf.expand_dims(tf.range(tf.shape(probabilities)[1]), axis=0), [rows, 1])
                classes = tf.as_string(ids, name="classes_tensor")
        served = {PredictionKey.PROBABILITIES: probabilities, PredictionKey.CLASSES: classes}
        return {self._head_name: (self._problem_type, served)}


@learn(MODULE, "_BinaryLogisticHead")
class BinaryLogisticHead(ClassificationHead):
    """One of two classes, by one logit."""

    scope_name = "binary_logistic_head"

    def _predictions(self, logits: Any) -> dict[str, Any]:
        both = _both_classes(logits)
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.LOGISTIC: tf.sigmoid(logits, name=PredictionKey.LOGISTIC),
            PredictionKey.PROBABILITIES: tf.nn.softmax(both, name=PredictionKey.PROBABILITIES),
            PredictionKey.CLASSES: tf.argmax(both, 1, name=PredictionKey.CLASSES),
        }

    def _measured(self, predictions: Any, labels: Any, weights: Any) -> dict[str, Any]:
        logistic = predictions[PredictionKey.LOGISTIC]
        found = {
            **super()._measured(predictions, labels, weights),
            MetricKey.PREDICTION_MEAN: measures.mean(logistic, weights),
            MetricKey.LABEL_MEAN: measures.mean(labels, weights),
            MetricKey.ACCURACY_BASELINE: measures.mean(labels, weights),
            MetricKey.AUC: measures.area(logistic, labels, weights),
            MetricKey.AUC_PR: measures.area(logistic, labels, weights, curve="PR"),
        }
        for threshold in self._thresholds:
            found.update(measures.at_threshold(logistic, labels, weights, threshold))
        return found


@learn(MODULE, "_MultiClassHead")
class MultiClassHead(ClassificationHead):
    """One of three or more classes, which labels may name."""

    scope_name = "multi_class_head"

    def __init__(self, n_classes: int, label_keys: Any = None, loss_fn: Any = None, **settings: Any) -> None:
        if n_classes is None or n_classes <= 2:
            raise ValueError(f"n_classes must be > 2: {n_classes}.")
        super().__init__(ProblemType.CLASSIFICATION, n_classes, loss_fn or _class_losses, **settings)
        if label_keys and len(label_keys) != n_classes:
            raise ValueError("Length of label_keys must equal n_classes.")
        self._label_keys = label_keys

    def _transform_labels(self, labels: Any) -> Any:
        """The labels as they are given, and as numbers."""
        labels = super()._transform_labels(labels)
        if not self._label_keys:
            return {"labels": labels, "label_ids": labels}
        table = tf.contrib.lookup.index_table_from_tensor(self._label_keys, name="label_id_lookup")
        return {"labels": labels, "label_ids": table.lookup(labels)}

    def _loss(self, labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
        return self._loss_fn(labels["label_ids"], logits, weights=weights)

    def _predictions(self, logits: Any) -> dict[str, Any]:
        classes = tf.argmax(logits, 1, name=PredictionKey.CLASSES)
        if self._label_keys:
            table = tf.contrib.lookup.index_to_string_table_from_tensor(self._label_keys, name="class_string_lookup")
            classes = table.lookup(classes)
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.PROBABILITIES: tf.nn.softmax(logits, name=PredictionKey.PROBABILITIES),
            PredictionKey.CLASSES: classes,
        }

    def _measured(self, predictions: Any, labels: Any, weights: Any) -> dict[str, Any]:
        found = super()._measured(predictions, labels["labels"], weights)
        for class_id in () if self._label_keys else self._metric_class_ids:
            found.update(
                {
                    MetricKey.CLASS_PREDICTION_MEAN % class_id: measures.share_of_class(
                        predictions[PredictionKey.CLASSES], weights, class_id
                    ),
                    MetricKey.CLASS_LABEL_MEAN % class_id: measures.share_of_class(labels["label_ids"], weights, class_id),
                    MetricKey.CLASS_PROBABILITY_MEAN % class_id: measures.mean(predictions[PredictionKey.PROBABILITIES], weights, class_id),
                    MetricKey.CLASS_LOGITS_MEAN % class_id: measures.mean(predictions[PredictionKey.LOGITS], weights, class_id),
                }
            )
        return found


@learn(MODULE, "_BinarySvmHead")
class BinarySvmHead(ClassificationHead):
    """One of two classes, by the side of a plane."""

    scope_name = "binary_svm_head"

    def _predictions(self, logits: Any) -> dict[str, Any]:
        classes = tf.argmax(_both_classes(logits), 1, name=PredictionKey.CLASSES)
        return {PredictionKey.LOGITS: logits, PredictionKey.CLASSES: classes}

    def _create_output_alternatives(self, predictions: Any) -> dict[Any, Any]:
        """The predictions: there are no probabilities."""
        return SingleHead._create_output_alternatives(self, predictions)


@learn(MODULE, "_MultiLabelHead")
class MultiLabelHead(ClassificationHead):
    """Any of some classes."""

    scope_name = "multi_label_head"

    def _transform_labels(self, labels: Any) -> Any:
        """Indicators of classes."""
        if not isinstance(labels, tf.SparseTensor):
            return labels
        if self._logits_dimension < 2:
            raise ValueError("Must set num_classes >= 2 when passing labels as a SparseTensor.")
        return tf.cast(tf.sparse_to_indicator(labels, self._logits_dimension), tf.int64)

    def _predictions(self, logits: Any) -> dict[str, Any]:
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.PROBABILITIES: tf.sigmoid(logits, name=PredictionKey.PROBABILITIES),
            PredictionKey.CLASSES: tf.cast(tf.greater(logits, 0), tf.int64, name=PredictionKey.CLASSES),
        }

    def _measured(self, predictions: Any, labels: Any, weights: Any) -> dict[str, Any]:
        probabilities = predictions[PredictionKey.PROBABILITIES]
        found = {
            **super()._measured(predictions, labels, weights),
            MetricKey.AUC: measures.area(probabilities, labels, weights),
            MetricKey.AUC_PR: measures.area(probabilities, labels, weights, curve="PR"),
        }
        for class_id in self._metric_class_ids:
            found.update(
                {
                    MetricKey.CLASS_PREDICTION_MEAN % class_id: measures.mean(predictions[PredictionKey.CLASSES], weights, class_id),
                    MetricKey.CLASS_LABEL_MEAN % class_id: measures.mean(labels, weights, class_id),
                    MetricKey.CLASS_PROBABILITY_MEAN % class_id: measures.mean(probabilities, weights, class_id),
                    MetricKey.CLASS_LOGITS_MEAN % class_id: measures.mean(predictions[PredictionKey.LOGITS], weights, class_id),
                    MetricKey.CLASS_AUC % class_id: measures.area(probabilities, labels, weights, class_id),
                    MetricKey.CLASS_AUC_PR % class_id: measures.area(probabilities, labels, weights, class_id, curve="PR"),
                }
            )
        return found


@learn(MODULE, "multi_class_head", shown=True)
def multi_class_head(
    n_classes: Any,
    label_name: Any = None,
    weight_column_name: Any = None,
    enable_centered_bias: bool = False,
    head_name: Any = None,
    thresholds: Any = None,
    metric_class_ids: Any = None,
    loss_fn: Any = None,
    label_keys: Any = None,
) -> ClassificationHead:
    """One of some classes."""
    if n_classes is None or n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification: {n_classes}.")
    settings = {
        "loss_fn": _custom_loss(loss_fn),
        "label_name": label_name,
        "weight_column_name": weight_column_name,
        "enable_centered_bias": enable_centered_bias,
        "head_name": head_name,
        "thresholds": thresholds,
    }
    if n_classes > 2:
        return MultiClassHead(n_classes, label_keys, metric_class_ids=metric_class_ids, **settings)
    if metric_class_ids:
        raise ValueError("metric_class_ids invalid for n_classes==2.")
    if label_keys:
        raise ValueError("label_keys is not supported for n_classes=2.")
    settings["loss_fn"] = settings["loss_fn"] or _two_class_losses
    return BinaryLogisticHead(ProblemType.LOGISTIC_REGRESSION, 1, **settings)


@learn(MODULE, "binary_svm_head", shown=True)
def binary_svm_head(
    label_name: Any = None,
    weight_column_name: Any = None,
    enable_centered_bias: bool = False,
    head_name: Any = None,
    thresholds: Any = None,
) -> BinarySvmHead:
    """One of two classes, by hinge loss."""
    return BinarySvmHead(
        ProblemType.LOGISTIC_REGRESSION, 1, _hinge_losses, label_name, weight_column_name, enable_centered_bias, head_name, thresholds
    )


@learn(MODULE, "multi_label_head", shown=True)
def multi_label_head(
    n_classes: int,
    label_name: Any = None,
    weight_column_name: Any = None,
    enable_centered_bias: bool = False,
    head_name: Any = None,
    thresholds: Any = None,
    metric_class_ids: Any = None,
    loss_fn: Any = None,
) -> MultiLabelHead:
    """Any of some classes."""
    if n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification.")
    return MultiLabelHead(
        ProblemType.CLASSIFICATION,
        n_classes,
        _custom_loss(loss_fn) or _label_losses,
        label_name,
        weight_column_name,
        enable_centered_bias,
        head_name,
        thresholds,
        metric_class_ids,
    )
