"""Heads with optimizers and metrics of Keras: tf.estimator.BinaryClassHead and its kin."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.estimator.heads import classification, regression
from everflow.estimator.heads.base import GraphHead, LossSpec
from everflow.estimator.heads.keys import MetricKeys, PredictionKeys
from everflow.estimator.heads.metric_pieces import THRESHOLD_KINDS
from everflow.estimator.heads.shapes import TEXTS_V2, checked_labels, checked_logits
from everflow.estimator.mode_keys import ModeKeys
from everflow.estimator.spec import EstimatorSpec
from everflow.graph.scopes import name_scope
from everflow.keras.losses.weighting import ReductionV2, compute_weighted_loss


def checked_reduction(loss_reduction: str) -> str:
    """A reduction of Keras that gives one number."""
    if loss_reduction not in ReductionV2.all() or loss_reduction == ReductionV2.NONE:
        raise ValueError(f"Invalid loss_reduction: {loss_reduction}. See `tf.losses.Reduction` for valid options.")
    return loss_reduction


def _chosen(predictions: dict[str, Any], keys: Any) -> dict[str, Any]:
    if keys is None:
        return predictions
    keys = keys if isinstance(keys, (list, tuple)) else [keys]
    for key in keys:
        if key not in predictions:
            raise ValueError(f"Prediction key must be in PredictionKeys, given: {key}.Valid prediction keys include {list(predictions)}.")
    return {key: predictions[key] for key in keys}


@public("estimator.Head")
class Head(GraphHead):
    """What a model's logits mean: a loss, predictions and metrics, each to be had on its own."""

    _texts = TEXTS_V2
    _base_name = "Head"
    _loss_arguments = ("labels", "logits", "features", "loss_reduction")

    @property
    def loss_reduction(self) -> str:
        """How the losses of examples become one."""
        return self._loss_reduction

    def _checked_logits(self, logits: Any) -> Any:
        return checked_logits(logits, self.logits_dimension)

    def loss(self, labels: Any, logits: Any, features: Any = None, mode: Any = None, regularization_losses: Any = None) -> Any:
        """The loss to train with."""
        del mode
        with name_scope(None, "losses", (logits, labels, regularization_losses, features)):
            found = self._found(features, self._checked_logits(logits), labels)
            training = compute_weighted_loss(found.unreduced_loss, sample_weight=found.weights, reduction=self._loss_reduction)
            return training + tf.add_n(regularization_losses) if regularization_losses else training

    def _found(self, features: Any, logits: Any, labels: Any) -> LossSpec:
        """The loss of each example, its weight, and the labels as metrics want them."""
        processed = self._processed(checked_labels(labels, logits, self._label_dimension, self._texts))
        return LossSpec(None, *self._unweighted_loss_and_weights(logits, processed, features), processed)

    def _unweighted_loss_and_weights(self, logits: Any, labels: Any, features: Any) -> tuple[Any, Any]:
        """The loss of each example and its weight, for labels that are ids or numbers already."""
        return self._losses(labels, logits, features), self._weights(features, logits)

    def predictions(self, logits: Any, keys: Any = None) -> dict[str, Any]:
        """The predictions, or some of them."""
        return _chosen(self._predictions(self._checked_logits(logits)), keys)

    def metrics(self, regularization_losses: Any = None) -> dict[str, Any]:
        """New metrics, by name."""
        with name_scope(None, "metrics", (regularization_losses,)):
            found = self._new_metrics()
            if regularization_losses is not None:
                found[MetricKeys.LOSS_REGULARIZATION] = _metric("Mean", MetricKeys.LOSS_REGULARIZATION)
            return {self._key(key): metric for key, metric in found.items()}

    def _new_metrics(self) -> dict[str, Any]:
        return {MetricKeys.LOSS_MEAN: _metric("Mean", MetricKeys.LOSS_MEAN)}

    def update_metrics(self, eval_metrics: Any, features: Any, logits: Any, labels: Any, regularization_losses: Any = None) -> Any:
        """Counts a batch in metrics."""
        logits = self._checked_logits(logits)
        found = self._found(features, logits, labels)
        weights = None if isinstance(found.weights, float) else found.weights
        eval_metrics[self._key(MetricKeys.LOSS_MEAN)].update_state(values=found.unreduced_loss, sample_weight=weights)
        self._count(eval_metrics, found.processed_labels, self._predictions(logits), weights)
        if regularization_losses is not None:
            eval_metrics[self._key(MetricKeys.LOSS_REGULARIZATION)].update_state(tf.add_n(regularization_losses))
        return eval_metrics

    def _count(self, metrics: Any, labels: Any, predictions: dict[str, Any], weights: Any) -> None:
        raise NotImplementedError

    def create_estimator_spec(  # type: ignore[override]
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Any = None,
        train_op_fn: Any = None,
        update_ops: Any = None,
        regularization_losses: Any = None,
    ) -> Any:
        """The EstimatorSpec of a model function that has these logits."""
        own = self._spec_of_subclass(
            features, mode, logits, labels, optimizer, trainable_variables, train_op_fn, update_ops, regularization_losses
        )
        if own is not None:
            return own
        with name_scope(self._name, "head"):
            predictions = self.predictions(logits)
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(mode=mode, predictions=predictions, export_outputs=self._exports(predictions))
            loss = self.loss(logits=logits, labels=labels, features=features, mode=mode, regularization_losses=regularization_losses)
        if mode == ModeKeys.EVAL:
            metrics = self.update_metrics(
                self.metrics(regularization_losses=regularization_losses),
                features=features,
                logits=logits,
                labels=labels,
                regularization_losses=regularization_losses,
            )
            return EstimatorSpec(mode=mode, predictions=predictions, loss=loss, eval_metric_ops=metrics)
        train_op = train_op_of(loss, optimizer, trainable_variables, train_op_fn, update_ops)
        with name_scope(""):
            self._summarize(loss, None, tf.add_n(regularization_losses) if regularization_losses else None)
        return EstimatorSpec(mode=mode, predictions=predictions, loss=loss, train_op=train_op)


def train_op_of(loss: Any, optimizer: Any, trainable_variables: Any, train_op_fn: Any, update_ops: Any) -> Any:
    """The op that trains by an optimizer of Keras or a function, together with updates."""
    with name_scope(""), name_scope("training"):
        if optimizer is not None:
            if train_op_fn is not None:
                raise ValueError("train_op_fn and optimizer cannot both be set.")
            train_op = _keras_train_op(loss, optimizer, trainable_variables)
        elif train_op_fn is not None:
            train_op = train_op_fn(loss)
        else:
            raise ValueError("train_op_fn and optimizer cannot both be None.")
        if update_ops is not None and not isinstance(update_ops, (list, tuple)):
            raise ValueError(f"update_ops should be a list or a tuple. Given type: {type(update_ops)}.")
        return train_op if update_ops is None else tf.group(train_op, *update_ops)


def _keras_train_op(loss: Any, optimizer: Any, trainable_variables: Any) -> Any:
    if not isinstance(optimizer, tf.keras.optimizers.Optimizer):
        raise ValueError(f"The given optimizer is not a tf.keras.optimizers.Optimizer instance. Given: {optimizer}")
    if trainable_variables is None:
        raise ValueError("trainable_variables cannot be None. Given None")
    if not isinstance(trainable_variables, (list, tuple)):
        raise ValueError(f"trainable_variables should be a list or a tuple. Given type: {type(trainable_variables)}.")
    (train_op,) = optimizer.get_updates(loss, trainable_variables)
    return train_op


def _metric(kind: str, name: str, **arguments: Any) -> Any:
    return getattr(tf.keras.metrics, kind)(name=name, **arguments)


def _baseline(key: str) -> Any:
    class AccuracyBaseline(tf.keras.metrics.Mean):  # type: ignore[misc]
        """The accuracy of always saying the more frequent class."""

        def result(self) -> Any:
            mean = super().result()
            return tf.maximum(mean, 1.0 - mean)

    return AccuracyBaseline(name=key)


def _threshold_metrics(thresholds: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for threshold in thresholds:
        for template, kind, argument in (
            (MetricKeys.ACCURACY_AT_THRESHOLD, "BinaryAccuracy", "threshold"),
            (MetricKeys.PRECISION_AT_THRESHOLD, "Precision", "thresholds"),
            (MetricKeys.RECALL_AT_THRESHOLD, "Recall", "thresholds"),
        ):
            found[template % threshold] = _metric(kind, template % threshold, **{argument: threshold})
    return found


@public("estimator.BinaryClassHead")
class BinaryClassHead(Head, classification.BinaryGraphHead):
    """Two classes and one logit."""

    def __init__(
        self,
        weight_column: Any = None,
        thresholds: Any = None,
        label_vocabulary: Any = None,
        loss_reduction: str = "sum_over_batch_size",
        loss_fn: Any = None,
        name: str | None = None,
    ) -> None:
        if label_vocabulary is not None and not isinstance(label_vocabulary, (list, tuple)):
            raise ValueError(f"label_vocabulary should be a list or a tuple. Given type: {type(label_vocabulary)}")
        classification.BinaryGraphHead.__init__(self, weight_column, thresholds, label_vocabulary, loss_fn=loss_fn, name=name)
        self._loss_reduction = checked_reduction(loss_reduction)

    def _new_metrics(self) -> dict[str, Any]:
        keys = MetricKeys
        found = {
            **super()._new_metrics(),
            keys.ACCURACY: _metric("Accuracy", keys.ACCURACY),
            keys.PRECISION: _metric("Precision", keys.PRECISION),
            keys.RECALL: _metric("Recall", keys.RECALL),
            keys.PREDICTION_MEAN: _metric("Mean", keys.PREDICTION_MEAN),
            keys.LABEL_MEAN: _metric("Mean", keys.LABEL_MEAN),
            keys.ACCURACY_BASELINE: _baseline(keys.ACCURACY_BASELINE),
            keys.AUC: _metric("AUC", keys.AUC, curve="ROC"),
            keys.AUC_PR: _metric("AUC", keys.AUC_PR, curve="PR"),
        }
        return {**found, **_threshold_metrics(self._thresholds)}

    def _count(self, metrics: Any, labels: Any, predictions: dict[str, Any], weights: Any) -> None:
        logistic, class_ids = predictions[PredictionKeys.LOGISTIC], predictions[PredictionKeys.CLASS_IDS]
        for key in (MetricKeys.ACCURACY, MetricKeys.PRECISION, MetricKeys.RECALL):
            metrics[self._key(key)].update_state(y_true=labels, y_pred=class_ids, sample_weight=weights)
        metrics[self._key(MetricKeys.PREDICTION_MEAN)].update_state(values=logistic, sample_weight=weights)
        for key in (MetricKeys.LABEL_MEAN, MetricKeys.ACCURACY_BASELINE):
            metrics[self._key(key)].update_state(values=labels, sample_weight=weights)
        for key in (MetricKeys.AUC, MetricKeys.AUC_PR, *(t % x for x in self._thresholds for _, t in THRESHOLD_KINDS)):
            metrics[self._key(key)].update_state(y_true=labels, y_pred=logistic, sample_weight=weights)


@public("estimator.MultiClassHead")
class MultiClassHead(Head, classification.MultiClassGraphHead):
    """More than two classes, of which an example has one."""

    def __init__(
        self,
        n_classes: int,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        loss_reduction: str = "sum_over_batch_size",
        loss_fn: Any = None,
        name: str | None = None,
    ) -> None:
        classification.MultiClassGraphHead.__init__(self, n_classes, weight_column, label_vocabulary, loss_fn=loss_fn, name=name)
        if label_vocabulary is not None and len(label_vocabulary) != n_classes:
            raise ValueError(
                f'"label_vocabulary" does not have "n_classes" items. len(label_vocabulary)={len(label_vocabulary)}, '
                f"n_classes={n_classes}, label_vocabulary={label_vocabulary}"
            )
        self._loss_reduction = checked_reduction(loss_reduction)

    def _new_metrics(self) -> dict[str, Any]:
        return {**super()._new_metrics(), MetricKeys.ACCURACY: _metric("Accuracy", MetricKeys.ACCURACY)}

    def _count(self, metrics: Any, labels: Any, predictions: dict[str, Any], weights: Any) -> None:
        metrics[self._key(MetricKeys.ACCURACY)].update_state(
            y_true=labels, y_pred=predictions[PredictionKeys.CLASS_IDS], sample_weight=weights
        )


@public("estimator.RegressionHead")
class RegressionHead(Head, regression.RegressionGraphHead):
    """Numbers."""

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: Any = None,
        loss_reduction: str = "sum_over_batch_size",
        loss_fn: Any = None,
        inverse_link_fn: Any = None,
        name: str | None = None,
    ) -> None:
        regression.RegressionGraphHead.__init__(
            self, weight_column, label_dimension, loss_fn=loss_fn, inverse_link_fn=inverse_link_fn, name=name
        )
        self._loss_reduction = checked_reduction(loss_reduction)

    def predictions(self, logits: Any) -> dict[str, Any]:  # type: ignore[override]
        """The numbers."""
        return super().predictions(logits)

    def _new_metrics(self) -> dict[str, Any]:
        return {
            **super()._new_metrics(),
            MetricKeys.PREDICTION_MEAN: _metric("Mean", MetricKeys.PREDICTION_MEAN),
            MetricKeys.LABEL_MEAN: _metric("Mean", MetricKeys.LABEL_MEAN),
        }

    def _count(self, metrics: Any, labels: Any, predictions: dict[str, Any], weights: Any) -> None:
        metrics[self._key(MetricKeys.PREDICTION_MEAN)].update_state(values=predictions[PredictionKeys.PREDICTIONS], sample_weight=weights)
        metrics[self._key(MetricKeys.LABEL_MEAN)].update_state(values=labels, sample_weight=weights)


@public("estimator.PoissonRegressionHead")
class PoissonRegressionHead(RegressionHead):
    """Counts, whose logits are the logarithm of their mean."""

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: Any = None,
        loss_reduction: str = "sum_over_batch_size",
        compute_full_loss: bool = True,
        name: str | None = None,
    ) -> None:
        loss_fn = regression.poisson_loss(compute_full_loss)
        super().__init__(label_dimension, weight_column, loss_reduction, loss_fn, tf.exp, name)


@public("estimator.LogisticRegressionHead")
class LogisticRegressionHead(RegressionHead):
    """Probabilities."""

    def __init__(self, weight_column: Any = None, loss_reduction: str = "sum_over_batch_size", name: str | None = None) -> None:
        super().__init__(1, weight_column, loss_reduction, regression.logistic_loss, tf.sigmoid, name)


@public("estimator.MultiLabelHead")
class MultiLabelHead(Head, classification.MultiLabelGraphHead):
    """Classes of which an example may have any."""

    _kind = "multi-label"

    def __init__(
        self,
        n_classes: int,
        weight_column: Any = None,
        thresholds: Any = None,
        label_vocabulary: Any = None,
        loss_reduction: str = "sum_over_batch_size",
        loss_fn: Any = None,
        classes_for_class_based_metrics: Any = None,
        name: str | None = None,
    ) -> None:
        classification.MultiLabelGraphHead.__init__(
            self,
            n_classes,
            weight_column,
            thresholds,
            label_vocabulary,
            loss_fn=loss_fn,
            classes_for_class_based_metrics=classes_for_class_based_metrics,
            name=name,
        )
        self._loss_reduction = checked_reduction(loss_reduction)

    def _found(self, features: Any, logits: Any, labels: Any) -> LossSpec:
        if labels is None:
            raise ValueError(self._texts.missing)
        return super()._found(features, logits, self._indicators(labels))

    def _names_of(self, i: int) -> list[str]:
        """The names of the metrics of a class: mean probability, and two areas under curves."""
        keys = MetricKeys
        if self._label_vocabulary is not None:
            word = self._label_vocabulary[i]
            return [template % word for template in (keys.PROBABILITY_MEAN_AT_NAME, keys.AUC_AT_NAME, keys.AUC_PR_AT_NAME)]
        return [template % i for template in (keys.PROBABILITY_MEAN_AT_CLASS, keys.AUC_AT_CLASS, keys.AUC_PR_AT_CLASS)]

    def _new_metrics(self) -> dict[str, Any]:
        found = {
            **super()._new_metrics(),
            MetricKeys.AUC: _metric("AUC", MetricKeys.AUC, curve="ROC"),
            MetricKeys.AUC_PR: _metric("AUC", MetricKeys.AUC_PR, curve="PR"),
            **_threshold_metrics(self._thresholds),
        }
        for i in self._watched:
            mean, roc, pr = self._names_of(i)
            found.update({mean: _metric("Mean", mean), roc: _metric("AUC", roc, curve="ROC"), pr: _metric("AUC", pr, curve="PR")})
        return found

    def _count(self, metrics: Any, labels: Any, predictions: dict[str, Any], weights: Any) -> None:
        probabilities = predictions[PredictionKeys.PROBABILITIES]
        for key in (MetricKeys.AUC, MetricKeys.AUC_PR, *(t % x for x in self._thresholds for _, t in THRESHOLD_KINDS)):
            metrics[self._key(key)].update_state(y_true=labels, y_pred=probabilities, sample_weight=weights)
        for i in self._watched:
            mean, roc, pr = self._names_of(i)
            truth, guess = labels[:, i : i + 1], probabilities[:, i : i + 1]
            metrics[self._key(mean)].update_state(values=guess, sample_weight=weights)
            for key in (roc, pr):
                metrics[self._key(key)].update_state(y_true=truth, y_pred=guess, sample_weight=weights)
