"""Heads for classes: two of them, many, or several at once."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.estimator.export_outputs import RegressionOutput
from everflow.estimator.heads import metric_pieces as pieces
from everflow.estimator.heads.base import (
    REGRESS_KEY,
    GraphHead,
    all_class_ids_for,
    all_classes_for,
    call_loss_fn,
    checked_loss_fn,
    checked_reduction,
    classification_exports,
    ids_of_labels,
    ids_of_words,
    names_of_class_ids,
)
from everflow.estimator.heads.keys import MetricKeys, PredictionKeys
from everflow.estimator.heads.shapes import checked_logits, in_range
from everflow.graph.scopes import name_scope
from everflow.losses.weighting import Reduction


@internal("estimator.canned.head._BinaryLogisticHeadWithSigmoidCrossEntropyLoss")
class BinaryGraphHead(GraphHead):
    """Two classes and one logit."""

    def __init__(
        self,
        weight_column: Any = None,
        thresholds: Any = None,
        label_vocabulary: Any = None,
        loss_reduction: str = Reduction.SUM,
        loss_fn: Any = None,
        name: str | None = None,
    ) -> None:
        self._weight_column, self._loss_fn, self._name = weight_column, checked_loss_fn(loss_fn, self._loss_arguments), name
        self._thresholds = pieces.checked_thresholds(thresholds)
        if label_vocabulary is not None and not isinstance(label_vocabulary, (list, tuple)):
            raise TypeError(f"label_vocabulary should be a list or tuple. Given type: {type(label_vocabulary)}")
        self._label_vocabulary = label_vocabulary
        self._loss_reduction = checked_reduction(loss_reduction)

    @property
    def logits_dimension(self) -> int:
        """One logit."""
        return 1

    def _checked_logits(self, logits: Any) -> Any:
        return logits

    def _processed(self, labels: Any) -> Any:
        if self._label_vocabulary is not None:
            labels = ids_of_words(labels, self._label_vocabulary)
        labels = tf.cast(labels, tf.float32, name="ToFloat") if labels.dtype != tf.float32 else labels
        return in_range(labels, 2, texts=self._texts)

    def _losses(self, labels: Any, logits: Any, features: Any) -> Any:
        logits = tf.cast(logits, tf.float32)
        if self._loss_fn:
            return call_loss_fn(self._loss_fn, labels, logits, features)
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def _predictions(self, logits: Any) -> dict[str, Any]:
        keys = PredictionKeys
        with name_scope(None, "predictions", (logits,)):
            logits = checked_logits(logits, self.logits_dimension)
            logistic = tf.sigmoid(logits, name=keys.LOGISTIC)
            two = tf.concat((tf.zeros_like(logits), logits), axis=-1, name="two_class_logits")
            probabilities = tf.nn.softmax(two, name=keys.PROBABILITIES)
            class_ids = tf.expand_dims(tf.argmax(two, axis=-1, name="class_ids"), axis=-1)
            all_ids = all_class_ids_for(logits, 2)
            all_names = all_classes_for(logits, 2, self._label_vocabulary)
            return {
                keys.LOGITS: logits,
                keys.LOGISTIC: logistic,
                keys.PROBABILITIES: probabilities,
                keys.CLASS_IDS: class_ids,
                keys.CLASSES: names_of_class_ids(class_ids, self._label_vocabulary),
                keys.ALL_CLASS_IDS: all_ids,
                keys.ALL_CLASSES: all_names,
            }

    def _exports(self, predictions: dict[str, Any]) -> dict[str, Any]:
        exports = classification_exports(predictions[PredictionKeys.PROBABILITIES], 2, self._label_vocabulary, predictions)
        exports[REGRESS_KEY] = RegressionOutput(value=predictions[PredictionKeys.LOGISTIC])
        return exports

    def _metrics(self, labels: Any, predictions: dict[str, Any], weights: Any, unreduced_loss: Any, key: Any) -> dict[str, Any]:
        logistic, class_ids = predictions[PredictionKeys.LOGISTIC], predictions[PredictionKeys.CLASS_IDS]
        mean = pieces.mean_of(labels, weights, MetricKeys.LABEL_MEAN)
        plain = {"labels": labels, "predictions": class_ids, "weights": weights}
        found = {
            key(MetricKeys.LOSS_MEAN): pieces.average_loss(unreduced_loss, weights),
            key(MetricKeys.ACCURACY): tf.metrics.accuracy(**plain, name=MetricKeys.ACCURACY),
            key(MetricKeys.PRECISION): tf.metrics.precision(**plain, name=MetricKeys.PRECISION),
            key(MetricKeys.RECALL): tf.metrics.recall(**plain, name=MetricKeys.RECALL),
            key(MetricKeys.PREDICTION_MEAN): pieces.mean_of(logistic, weights, MetricKeys.PREDICTION_MEAN),
            key(MetricKeys.LABEL_MEAN): mean,
            key(MetricKeys.ACCURACY_BASELINE): pieces.baseline_of(mean),
            key(MetricKeys.AUC): pieces.area(labels, logistic, weights, "ROC", MetricKeys.AUC),
            key(MetricKeys.AUC_PR): pieces.area(labels, logistic, weights, "PR", MetricKeys.AUC_PR),
        }
        for threshold in self._thresholds:
            for kind, template in pieces.THRESHOLD_KINDS:
                name = template % threshold
                found[key(name)] = pieces.at_threshold(labels, logistic, weights, threshold, kind, name)
        return found


def more_than_two(n_classes: Any) -> Any:
    """A number of classes, which may be a tensor."""
    if n_classes is None:
        raise ValueError("n_classes cannot be None")
    if isinstance(n_classes, int) and n_classes <= 2:
        raise ValueError(f"n_classes must be > 2: {n_classes}.")
    # Nothing waits for the check: it finds what is known before the graph runs.
    tf.assert_greater(tf.convert_to_tensor(n_classes), 2, message="n_classes must be greater than 2")
    return n_classes


@internal("estimator.canned.head._MultiClassHeadWithSoftmaxCrossEntropyLoss")
class MultiClassGraphHead(GraphHead):
    """More than two classes, of which an example has one."""

    def __init__(
        self,
        n_classes: int,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        loss_reduction: str = Reduction.SUM,
        loss_fn: Any = None,
        name: str | None = None,
    ) -> None:
        n_classes = more_than_two(n_classes)
        self._n_classes, self._weight_column, self._loss_fn, self._name = (
            n_classes,
            weight_column,
            checked_loss_fn(loss_fn, self._loss_arguments),
            name,
        )
        if label_vocabulary is not None and not isinstance(label_vocabulary, (list, tuple)):
            raise ValueError(f"label_vocabulary should be a list or a tuple. Given type: {type(label_vocabulary)}")
        self._label_vocabulary = label_vocabulary
        self._loss_reduction = checked_reduction(loss_reduction)

    @property
    def logits_dimension(self) -> int:
        """A logit for each class."""
        return self._n_classes

    def _processed(self, labels: Any) -> Any:
        return in_range(ids_of_labels(labels, self._label_vocabulary), self._n_classes, texts=self._texts)

    def _losses(self, labels: Any, logits: Any, features: Any) -> Any:
        if self._loss_fn:
            return call_loss_fn(self._loss_fn, labels, logits, features)
        unreduced = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits, reduction=Reduction.NONE)
        return tf.expand_dims(unreduced, axis=-1)

    def _predictions(self, logits: Any) -> dict[str, Any]:
        keys = PredictionKeys
        with name_scope(None, "predictions", (logits,)):
            all_ids = all_class_ids_for(logits, self._n_classes)
            all_names = all_classes_for(logits, self._n_classes, self._label_vocabulary)
            class_ids = tf.expand_dims(tf.argmax(logits, axis=-1, name=keys.CLASS_IDS), axis=-1)
            classes = names_of_class_ids(class_ids, self._label_vocabulary)
            probabilities = tf.nn.softmax(logits, name=keys.PROBABILITIES)
            return {
                keys.LOGITS: logits,
                keys.PROBABILITIES: probabilities,
                keys.CLASS_IDS: class_ids,
                keys.CLASSES: classes,
                keys.ALL_CLASS_IDS: all_ids,
                keys.ALL_CLASSES: all_names,
            }

    def _exports(self, predictions: dict[str, Any]) -> dict[str, Any]:
        return classification_exports(predictions[PredictionKeys.PROBABILITIES], self._n_classes, self._label_vocabulary, predictions)

    def _metrics(self, labels: Any, predictions: dict[str, Any], weights: Any, unreduced_loss: Any, key: Any) -> dict[str, Any]:
        return {
            key(MetricKeys.LOSS_MEAN): pieces.average_loss(unreduced_loss, weights),
            key(MetricKeys.ACCURACY): tf.metrics.accuracy(
                labels=labels, predictions=predictions[PredictionKeys.CLASS_IDS], weights=weights, name=MetricKeys.ACCURACY
            ),
        }


class MultiLabelGraphHead(GraphHead):
    """Classes of which an example may have any."""

    _kind = "multi-class"

    def __init__(
        self,
        n_classes: int,
        weight_column: Any = None,
        thresholds: Any = None,
        label_vocabulary: Any = None,
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        loss_fn: Any = None,
        classes_for_class_based_metrics: Any = None,
        name: str | None = None,
    ) -> None:
        if n_classes is None or n_classes < 2:
            raise ValueError(f"n_classes must be > 1 for {self._kind} classification. Given: {n_classes}")
        self._n_classes, self._weight_column, self._loss_fn, self._name = (
            n_classes,
            weight_column,
            checked_loss_fn(loss_fn, self._loss_arguments),
            name,
        )
        self._label_dimension = n_classes
        self._thresholds = tuple(thresholds) if thresholds else ()
        for threshold in self._thresholds:
            if threshold <= 0.0 or threshold >= 1.0:
                raise ValueError(f"thresholds must be in (0, 1) range. Given: {threshold}")
        if label_vocabulary is not None:
            if not isinstance(label_vocabulary, (list, tuple)):
                raise ValueError(f"label_vocabulary must be a list or tuple. Given type: {type(label_vocabulary)}")
            if len(label_vocabulary) != n_classes:
                raise ValueError(f"Length of label_vocabulary must be n_classes ({n_classes}). Given: {len(label_vocabulary)}")
        self._label_vocabulary = label_vocabulary
        self._loss_reduction = checked_reduction(loss_reduction)
        self._watched = self._ids_of(classes_for_class_based_metrics or ())

    def _ids_of(self, classes: Any) -> list[int]:
        if classes and isinstance(classes[0], str):
            if not self._label_vocabulary:
                raise ValueError("label_vocabulary must be provided when classes_for_class_based_metrics are sting.")
            return [self._label_vocabulary.index(c) for c in classes]
        for i in classes:
            if i < 0 or i >= self._n_classes:
                raise ValueError(f"All classes_for_class_based_metrics must be in range [0, {self._n_classes - 1}]. Given: {i}")
        return list(classes)

    @property
    def logits_dimension(self) -> int:
        """A logit for each class."""
        return self._n_classes

    def create_loss(self, features: Any, mode: str, logits: Any, labels: Any) -> Any:
        """The loss to train with, for labels that may be sparse ids or rows of zeros and ones."""
        if labels is None:
            raise ValueError(self._texts.missing)
        return super().create_loss(features, mode, logits, self._indicators(labels))

    def _indicators(self, labels: Any) -> Any:
        """Labels as rows of zeros and ones."""
        if not isinstance(labels, tf.SparseTensor):
            return in_range(labels, 2, message="labels must be an integer indicator Tensor with values in [0, 1]")
        values = labels.values
        if labels.dtype == tf.string:
            values = ids_of_words(values, self._label_vocabulary)
        message = f"labels must be an integer SparseTensor with values in [0, {self._n_classes})"
        tf.assert_integer(values, message=message)
        labels = tf.SparseTensor(labels.indices, in_range(values, self._n_classes, message), labels.dense_shape)
        return tf.to_int64(tf.sparse_to_indicator(labels, self._n_classes))

    def _processed(self, labels: Any) -> Any:
        return labels

    def _losses(self, labels: Any, logits: Any, features: Any) -> Any:
        if self._loss_fn:
            return call_loss_fn(self._loss_fn, labels, logits, features)
        unreduced = tf.losses.sigmoid_cross_entropy(multi_class_labels=labels, logits=logits, reduction=Reduction.NONE)
        return tf.reduce_mean(unreduced, axis=-1, keepdims=True)

    def _predictions(self, logits: Any) -> dict[str, Any]:
        with name_scope(None, "predictions", (logits,)):
            return {PredictionKeys.LOGITS: logits, PredictionKeys.PROBABILITIES: tf.sigmoid(logits, name=PredictionKeys.PROBABILITIES)}

    def _exports(self, predictions: dict[str, Any]) -> dict[str, Any]:
        return classification_exports(predictions[PredictionKeys.PROBABILITIES], self._n_classes, self._label_vocabulary, predictions)

    def _metrics(self, labels: Any, predictions: dict[str, Any], weights: Any, unreduced_loss: Any, key: Any) -> dict[str, Any]:
        probabilities = predictions[PredictionKeys.PROBABILITIES]
        found = {
            key(MetricKeys.LOSS_MEAN): pieces.average_loss(unreduced_loss, weights),
            key(MetricKeys.AUC): pieces.area(labels, probabilities, weights, "ROC", MetricKeys.AUC),
            key(MetricKeys.AUC_PR): pieces.area(labels, probabilities, weights, "PR", MetricKeys.AUC_PR),
        }
        for threshold in self._thresholds:
            for kind, template in pieces.THRESHOLD_KINDS:
                name = template % threshold
                found[key(name)] = pieces.at_threshold(labels, probabilities, weights, threshold, kind, name)
        for i in self._watched:
            named = self._label_vocabulary is not None
            word = self._label_vocabulary[i] if named else i
            truth, guess = labels[:, i : i + 1], probabilities[:, i : i + 1]
            name = (MetricKeys.PROBABILITY_MEAN_AT_NAME if named else MetricKeys.PROBABILITY_MEAN_AT_CLASS) % word
            found[key(name)] = pieces.mean_of(guess, weights, name)
            name = (MetricKeys.AUC_AT_NAME if named else MetricKeys.AUC_AT_CLASS) % word
            found[key(name)] = pieces.area(truth, guess, weights, "ROC", name)
            name = (MetricKeys.AUC_PR_AT_NAME if named else MetricKeys.AUC_PR_AT_CLASS) % word
            found[key(name)] = pieces.area(truth, guess, weights, "PR", name)
        return found


@internal("estimator.canned.head._binary_logistic_or_multi_class_head")
def classification_head(n_classes: int, weight_column: Any, label_vocabulary: Any, loss_reduction: str, name: str | None = None) -> Any:
    """The head of a classifier with so many classes."""
    if n_classes == 2:
        return BinaryGraphHead(weight_column=weight_column, label_vocabulary=label_vocabulary, loss_reduction=loss_reduction, name=name)
    return MultiClassGraphHead(
        n_classes, weight_column=weight_column, label_vocabulary=label_vocabulary, loss_reduction=loss_reduction, name=name
    )


@internal("estimator.canned.head._binary_logistic_head_with_sigmoid_cross_entropy_loss")
def binary_logistic_head(
    weight_column: Any = None,
    thresholds: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = Reduction.SUM,
    loss_fn: Any = None,
    name: str | None = None,
) -> Any:
    """The head of classifiers with two classes."""
    return BinaryGraphHead(weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name)


@internal("estimator.canned.head._multi_class_head_with_softmax_cross_entropy_loss")
def softmax_head(
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = Reduction.SUM,
    loss_fn: Any = None,
    name: str | None = None,
) -> Any:
    """The head of classifiers with more than two classes."""
    return MultiClassGraphHead(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)


@public("contrib.estimator.binary_classification_head")
def binary_classification_head(
    weight_column: Any = None,
    thresholds: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: Any = None,
    name: str | None = None,
) -> Any:
    """A head for two classes."""
    return BinaryGraphHead(weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name)


@public("contrib.estimator.multi_class_head")
def multi_class_head(
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: Any = None,
    name: str | None = None,
) -> Any:
    """A head for more than two classes."""
    return MultiClassGraphHead(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)


@public("contrib.estimator.multi_label_head")
def multi_label_head(
    n_classes: int,
    weight_column: Any = None,
    thresholds: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: Any = None,
    classes_for_class_based_metrics: Any = None,
    name: str | None = None,
) -> Any:
    """A head for classes of which an example may have any."""
    return MultiLabelGraphHead(
        n_classes, weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, classes_for_class_based_metrics, name
    )
