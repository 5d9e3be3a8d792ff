"""Heads of several heads, and a head that is only a loss."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.contrib.learn.heads.base import MODULE, Head, check_mode, no_op_train_fn, write_loss
from everflow.contrib.learn.model_ops import ModeKeys, ModelFnOps
from everflow.contrib.learn.publishing import learn


@learn(MODULE, "_LossOnlyHead")
class LossOnlyHead(Head):
    """A loss that a function makes of no logits, such as a regularization."""

    def __init__(self, loss_fn: Any, head_name: Any = None) -> None:
        self._loss_fn = loss_fn
        self.head_name = head_name or "loss_only_head"

    @property
    def logits_dimension(self) -> int:
        """It has no logits."""
        return 0

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
        """The loss, where there is one in a mode."""
        check_mode(mode)
        loss = train_op = None
        if mode != ModeKeys.INFER:
            with tf.variable_scope(scope, default_name=self.head_name):
                loss = self._loss_fn()
                loss = tf.add_n(loss) if isinstance(loss, list) else loss
                write_loss(self.head_name, loss)
                if mode == ModeKeys.TRAIN:
                    if train_op_fn is None:
                        raise ValueError("train_op_fn can not be None in TRAIN mode")
                    with tf.name_scope(None, "train_op", (loss,)):
                        train_op = train_op_fn(loss)
        return ModelFnOps(mode=mode, loss=loss, train_op=train_op, predictions={}, eval_metric_ops={})


@learn(MODULE, "loss_only_head")
def loss_only_head(loss_fn: Any, head_name: Any = None) -> LossOnlyHead:
    """A loss that a function makes."""
    return LossOnlyHead(loss_fn, head_name=head_name)


@learn(MODULE, "_MultiHead")
class MultiHead(Head):
    """Several heads with names, trained by one loss of theirs."""

    def __init__(self, heads: Any, loss_merger: Any) -> None:
        for head in heads:
            if not head.head_name:
                raise ValueError("Members of MultiHead must have names.")
        self._heads, self._loss_merger = heads, loss_merger

    @property
    def logits_dimension(self) -> int:
        """The logits of all heads."""
        return sum(head.logits_dimension for head in self._heads)

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
        """The ops of all heads as one."""
        check_mode(mode)
        made = [
            head.create_model_fn_ops(
                features=features,
                mode=mode,
                labels=labels,
                train_op_fn=no_op_train_fn,
                logits=part,
                logits_input=logits_input if logits is None else None,
                scope=scope,
            )
            for head, part in zip(self._heads, self._parts(logits))
        ]
        if mode == ModeKeys.INFER:
            return self._inference(made)
        metrics = {key: metric for ops in made for key, metric in ops.eval_metric_ops.items()}
        if mode == ModeKeys.EVAL:
            loss = self._loss_merger([ops.loss for ops in made])
            return ModelFnOps(mode=mode, predictions=self._predictions(made), loss=loss, eval_metric_ops=metrics)
        if train_op_fn is None:
            raise ValueError("train_op_fn can not be None in TRAIN mode.")
        loss = self._loss_merger([ops.loss for ops in made])
        train_op = tf.group(train_op_fn(loss), *(ops.train_op for ops in made))
        return ModelFnOps(mode=mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)

    def _parts(self, logits: Any) -> list[Any]:
        """The logits of each head."""
        if logits is None:
            return [None] * len(self._heads)
        if isinstance(logits, dict):
            return [None if isinstance(head, LossOnlyHead) else logits[head.head_name] for head in self._heads]
        parts, begin = [], 0
        for head in self._heads:
            parts.append(tf.slice(logits, [0, begin], [-1, head.logits_dimension]))
            begin += head.logits_dimension
        return parts

    def _predictions(self, made: list[Any]) -> dict[Any, Any]:
        return {(head.head_name, key): value for head, ops in zip(self._heads, made) for key, value in ops.predictions.items()}

    def _inference(self, made: list[Any]) -> ModelFnOps:
        alternatives = {
            head.head_name: ops.output_alternatives[head.head_name]
            for head, ops in zip(self._heads, made)
            if not isinstance(head, LossOnlyHead)
        }
        return ModelFnOps(mode=ModeKeys.INFER, predictions=self._predictions(made), output_alternatives=alternatives)


@learn(MODULE, "multi_head", shown=True)
def multi_head(heads: Any, loss_weights: Any = None) -> MultiHead:
    """Heads whose losses are added, weighted where weights are given."""
    if loss_weights and len(loss_weights) != len(heads):
        raise ValueError("heads and loss_weights must have same size")

    def merged(losses: list[Any]) -> Any:
        if not loss_weights:
            return tf.add_n(losses)
        if len(losses) != len(loss_weights):
            raise ValueError("losses and loss_weights must have same size")
        return tf.add_n([tf.multiply(loss, weight) for loss, weight in zip(losses, loss_weights)])

    return MultiHead(heads, merged)
