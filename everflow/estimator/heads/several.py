"""Several heads of version 2 on one model."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import find, public
from everflow.estimator.export_outputs import PredictOutput
from everflow.estimator.heads.base import PREDICT_KEY
from everflow.estimator.heads.keys import MetricKeys
from everflow.estimator.heads.multi import checked_heads
from everflow.estimator.heads.objects import Head, train_op_of
from everflow.estimator.mode_keys import ModeKeys
from everflow.estimator.spec import EstimatorSpec
from everflow.graph.scopes import name_scope
from everflow.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY


@public("estimator.MultiHead")
class MultiHead(Head):
    """Heads that share the logits, or take their own from a dict; the loss is the weighted sum of theirs."""

    def __init__(self, heads: Any, head_weights: Any = None) -> None:
        self._heads = checked_heads(heads, head_weights)
        self._head_weights = tuple(head_weights) if head_weights else ()
        self._name = "_".join(head.name for head in self._heads)

    @property
    def loss_reduction(self) -> str:
        """How losses of examples become one."""
        return self._checked_reduction()

    def _checked_reduction(self) -> str:
        """The reduction of the heads, which must be one and the same."""
        reductions = [head.loss_reduction for head in self._heads]
        if len(set(reductions)) > 1:
            raise ValueError(f"The loss_reduction must be the same for different heads. Given: {reductions}")
        return reductions[0]

    @property
    def logits_dimension(self) -> int:
        """The logits of all heads."""
        return sum(head.logits_dimension for head in self._heads)

    def _split(self, logits: Any) -> dict[str, Any]:
        """The logits of each head."""
        sizes = [head.logits_dimension for head in self._heads]
        logits = tf.convert_to_tensor(logits)
        with name_scope(None, "split_logits", values=[logits]):
            width = tf.dimension_value(logits.shape[-1])
            if width is not None and width != sum(sizes):
                raise ValueError(
                    f"Could not split logits of shape {logits.shape.as_list()} among the heads with individual logits dimensions: "
                    f"{sizes}. The last dimension of the logits tensor should equal {width} but is {sum(sizes)}."
                )
            batch = tf.shape(logits)[:-1]
            found, start = {}, tf.zeros_like(batch)
            for i, head in enumerate(self._heads):
                begin = tf.concat([start, [sum(sizes[:i])]], axis=0)
                found[head.name] = tf.slice(logits, begin, tf.concat([batch, [sizes[i]]], axis=0))
                found[head.name].set_shape([*logits.shape.as_list()[:-1], sizes[i]])
            return found

    def _by_head(self, logits: Any, labels: Any = None, with_labels: bool = False) -> dict[str, Any]:
        """The logits of each head, once it is known that each has logits and labels."""
        found = logits if isinstance(logits, dict) else self._split(logits)
        if with_labels and not isinstance(labels, dict):
            raise ValueError(f"labels must be a dict. Given: {labels}")
        for what, given in (("logits", found), ("labels", labels if with_labels else None)):
            missing = [] if given is None else sorted({head.name for head in self._heads} - set(given))
            if missing:
                raise ValueError(f"{what} has missing values for head(s): {missing}")
        return found

    def loss(self, labels: Any, logits: Any, features: Any = None, mode: Any = None, regularization_losses: Any = None) -> Any:
        """The weighted sum of the losses of all heads."""
        parts = self._by_head(logits, labels, with_labels=True)
        losses = []
        for head in self._heads:
            with name_scope(None, f"losses_for_{head.name}", (parts[head.name], labels[head.name])):
                losses.append(head.loss(logits=parts[head.name], labels=labels[head.name], features=features, mode=mode))
        return self._weighted(losses, regularization_losses)

    def _weighted(self, losses: list[Any], regularization_losses: Any) -> Any:
        self._checked_reduction()
        with name_scope(None, "merge_losses", values=losses):
            if self._head_weights:
                losses = [tf.multiply(loss, weight) for loss, weight in zip(losses, self._head_weights)]
            merged = tf.add_n(losses)
            return merged + tf.add_n(regularization_losses) if regularization_losses else merged

    def predictions(self, logits: Any, keys: Any = None) -> dict[Any, Any]:
        """The predictions of each head."""
        parts = self._by_head(logits)
        with name_scope(None, "merge_pred", tuple(parts.values())):
            found = {(h.name, key): value for h in self._heads for key, value in h.predictions(parts[h.name]).items()}
        return found

    def metrics(self, regularization_losses: Any = None) -> dict[str, Any]:
        """New metrics: the losses of all heads, and what each of them measures."""
        mean = find("keras.metrics.Mean")
        found: dict[str, Any] = {}
        if regularization_losses is not None:
            found[self._key(MetricKeys.LOSS_REGULARIZATION)] = mean(name=MetricKeys.LOSS_REGULARIZATION)
        with name_scope(None, "merge_metrics"):
            for head in self._heads:
                key = f"{MetricKeys.LOSS}/{head.name}"
                found[key] = mean(name=key)
        return found

    def update_metrics(self, eval_metrics: Any, features: Any, logits: Any, labels: Any, regularization_losses: Any = None) -> Any:
        """Counts a batch in the metrics of all heads."""
        parts = self._by_head(logits, labels, with_labels=True)
        if regularization_losses is not None:
            eval_metrics[self._key(MetricKeys.LOSS_REGULARIZATION)].update_state(tf.add_n(regularization_losses))
        for head in self._heads:
            loss = head.loss(logits=parts[head.name], labels=labels[head.name], features=features, mode=ModeKeys.EVAL)
            eval_metrics[f"{MetricKeys.LOSS}/{head.name}"].update_state(loss)
            own = head.update_metrics(head.metrics(), features=features, logits=parts[head.name], labels=labels[head.name])
            eval_metrics.update(own)
        return eval_metrics

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
        """The EstimatorSpec of all heads together."""
        with name_scope(self._name, "multi_head"):
            parts = self._by_head(logits)
            specs = [self._spec_of(head, features, mode, parts[head.name], labels) for head in self._heads]
            predictions = {(h.name, key): value for h, spec in zip(self._heads, specs) for key, value in spec.predictions.items()}
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(mode=mode, predictions=predictions, export_outputs=self._merged_exports(specs))
            loss = self._weighted([spec.loss for spec in specs], regularization_losses)
        if mode == ModeKeys.EVAL:
            metrics = self.metrics(regularization_losses=regularization_losses)
            metrics = self.update_metrics(metrics, features, logits, labels, regularization_losses=regularization_losses)
            return EstimatorSpec(mode=mode, predictions=predictions, loss=loss, eval_metric_ops=metrics)
        train_op = train_op_of(loss, optimizer, trainable_variables, train_op_fn, update_ops)
        with name_scope(""):
            tf.summary.scalar(MetricKeys.LOSS, loss)
            if regularization_losses is not None:
                tf.summary.scalar(MetricKeys.LOSS_REGULARIZATION, tf.add_n(regularization_losses))
        return EstimatorSpec(mode=mode, predictions=predictions, loss=loss, train_op=train_op)

    def _spec_of(self, head: Any, features: Any, mode: str, logits: Any, labels: Any) -> Any:
        own = labels[head.name] if labels is not None else None
        return head.create_estimator_spec(features=features, mode=mode, logits=logits, labels=own, train_op_fn=lambda loss: tf.no_op())

    def _merged_exports(self, specs: list[Any]) -> dict[str, Any]:
        """The outputs of each head below its name; the first head's default is that of all."""
        exports: dict[str, Any] = {}
        everything: dict[str, Any] = {}
        for head, spec in zip(self._heads, specs):
            exports.setdefault(DEFAULT_SERVING_SIGNATURE_DEF_KEY, spec.export_outputs[DEFAULT_SERVING_SIGNATURE_DEF_KEY])
            for key, output in spec.export_outputs.items():
                exports[head.name if key == DEFAULT_SERVING_SIGNATURE_DEF_KEY else f"{head.name}/{key}"] = output
            for key, value in spec.predictions.items():
                everything[f"{head.name}/{key}"] = value
        exports[PREDICT_KEY] = PredictOutput(everything)
        return exports
