"""Several heads on one model."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.estimator.export_outputs import PredictOutput
from everflow.estimator.heads.base import PREDICT_KEY, GraphHead, LossSpec, train_op_for
from everflow.estimator.heads.keys import MetricKeys
from everflow.estimator.mode_keys import ModeKeys
from everflow.estimator.spec import EstimatorSpec
from everflow.graph.scopes import name_scope
from everflow.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY


class MultiGraphHead(GraphHead):
    """Heads that share the logits, or take their own from a dict; the loss is the weighted sum of theirs."""

    def __init__(self, heads: Any, head_weights: Any = None) -> None:
        self._heads = tuple(heads)
        self._head_weights = tuple(head_weights) if head_weights else ()
        self._name = "_".join(head.name for head in self._heads)

    @property
    def logits_dimension(self) -> int:
        """The logits of all heads."""
        return sum(head.logits_dimension for head in self._heads)

    def _split(self, logits: Any) -> dict[str, Any]:
        """The logits of each head."""
        if isinstance(logits, dict):
            return logits
        logits = tf.convert_to_tensor(logits)
        with name_scope(None, "split_logits", values=[logits]):
            wanted = tf.dimension_value(logits.shape[-1])
            if wanted is not None and wanted != self.logits_dimension:
                sizes = [head.logits_dimension for head in self._heads]
                raise ValueError(
                    f"Could not split logits of shape {logits.shape.as_list()} among the heads with individual logits dimensions: "
                    f"{sizes}. The dimensions must sum to total logits dimension."
                )
            parts = tf.split(logits, [head.logits_dimension for head in self._heads], axis=-1)
            return {head.name: part for head, part in zip(self._heads, parts)}

    def create_loss(self, features: Any, mode: str, logits: Any, labels: Any) -> LossSpec:
        """The weighted sum of the losses of all heads."""
        parts = self._split(logits)
        found = {h.name: h.create_loss(features, mode, parts[h.name], labels[h.name]) for h in self._heads}
        losses = [spec.training_loss for spec in found.values()]
        by_head = {field: {name: getattr(spec, field) for name, spec in found.items()} for field in LossSpec._fields[1:]}
        for name, weight in zip(found, self._head_weights or ()):
            for field in ("unreduced_loss", "weights"):
                by_head[field][name] = tf.multiply(by_head[field][name], weight)
        return LossSpec(training_loss=self._weighted(losses), **by_head)

    def _weighted(self, losses: list[Any]) -> Any:
        with name_scope(None, "merge_losses", values=losses):
            if self._head_weights:
                losses = [tf.multiply(loss, weight) for loss, weight in zip(losses, self._head_weights)]
            return tf.add_n(losses)

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
        """The EstimatorSpec of all heads together."""
        with name_scope(None, "multi_head"):
            parts = self._split(logits)
            if labels is not None and not isinstance(labels, dict):
                raise ValueError(f"labels must be a dict. Given: {labels}")
            specs = []
            for head in self._heads:
                own = labels[head.name] if labels is not None else None
                specs.append(
                    head.create_estimator_spec(
                        features=features, mode=mode, logits=parts[head.name], labels=own, train_op_fn=lambda loss: tf.no_op()
                    )
                )
            if mode == ModeKeys.PREDICT:
                return self._predicting(specs)
            loss = self._weighted([spec.loss for spec in specs])
            if regularization_losses:
                loss = loss + tf.add_n(regularization_losses)
            predictions = self._merged(specs)
            if mode == ModeKeys.EVAL:
                metrics = {}
                with name_scope(None, "merge_eval", [spec.loss for spec in specs]):
                    for head, spec in zip(self._heads, specs):
                        metrics[f"{MetricKeys.LOSS}/{head.name}"] = tf.metrics.mean(spec.loss, name=f"{MetricKeys.LOSS}/{head.name}")
                        metrics.update(spec.eval_metric_ops)
                return EstimatorSpec(mode=mode, predictions=predictions, loss=loss, eval_metric_ops=metrics)
            train_op = train_op_for(loss, optimizer, train_op_fn)
        with name_scope(""):
            tf.summary.scalar(MetricKeys.LOSS, loss)
        return EstimatorSpec(mode=mode, predictions=predictions, loss=loss, train_op=train_op)

    def _merged(self, specs: list[Any]) -> dict[Any, Any]:
        return {(head.name, key): value for head, spec in zip(self._heads, specs) for key, value in spec.predictions.items()}

    def _predicting(self, specs: list[Any]) -> Any:
        exports: dict[str, Any] = {}
        everything: dict[str, Any] = {}
        for head, spec in zip(self._heads, specs):
            exports.setdefault(DEFAULT_SERVING_SIGNATURE_DEF_KEY, spec.export_outputs[DEFAULT_SERVING_SIGNATURE_DEF_KEY])
            for key, output in spec.export_outputs.items():
                exports[head.name if key == DEFAULT_SERVING_SIGNATURE_DEF_KEY else f"{head.name}/{key}"] = output
            for key, value in spec.predictions.items():
                everything[f"{head.name}/{key}"] = value
        exports[PREDICT_KEY] = PredictOutput(everything)
        return EstimatorSpec(mode=ModeKeys.PREDICT, predictions=self._merged(specs), export_outputs=exports)


def checked_heads(heads: Any, head_weights: Any) -> tuple[Any, ...]:
    """Heads of which each has a name, and a weight where there are weights."""
    if not heads:
        raise ValueError(f"Must specify heads. Given: {heads}")
    if head_weights and len(head_weights) != len(heads):
        raise ValueError(
            f"heads and head_weights must have the same size. Given len(heads): {len(heads)}. Given len(head_weights): {len(head_weights)}."
        )
    for head in heads:
        if not head.name:
            raise ValueError(f"All given heads must have name specified. Given: {head}")
    return tuple(heads)


@public("contrib.estimator.multi_head")
def multi_head(heads: Any, head_weights: Any = None) -> Any:
    """A head of several heads, each with a name."""
    return MultiGraphHead(checked_heads(heads, head_weights), head_weights)
