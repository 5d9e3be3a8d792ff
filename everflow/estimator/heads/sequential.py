"""Heads for sequences, which have a prediction for each step."""

from __future__ import annotations

import abc
from collections.abc import Iterable
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.estimator.heads.objects import Head
from everflow.estimator.heads.several import MultiHead
from everflow.estimator.mode_keys import ModeKeys
from everflow.graph.scopes import name_scope
from everflow.graph.sparse_tensor import SparseTensor
from everflow.graph.stacks import in_eager_mode


@internal("estimator.head.sequential_head._SequentialHead")
class SequentialHead(Head):
    """A head whose features say which steps count."""

    @property
    @abc.abstractmethod
    def input_sequence_mask_key(self) -> str:
        """The feature that says which steps count."""


@internal("estimator.head.sequential_head._flatten_tensor")
def flatten_tensor(tensor: Any, sequence_mask: Any, expected_length: Any) -> Any:
    """The values of the steps that count, one after the other."""
    shape = tensor.get_shape()
    if shape.ndims is None or shape.ndims < 2:
        raise ValueError(f"Input tensor expected to have at least 2 dimensions, got {shape.ndims} instead.")
    if isinstance(tensor, SparseTensor):
        # Only batch and step become one: each step has all of its values.
        flat, rank = tf.sparse.reorder(tensor).values, shape.ndims - 1
        if rank > 1:
            flat = tf.reshape(flat, tf.concat([[-1], tensor.dense_shape[2:]], axis=0))
    else:
        with tf.control_dependencies(
            [tf.assert_equal(tf.shape(sequence_mask), tf.shape(tensor)[:2], message="Tensor shape is incompatible with provided mask.")]
        ):
            flat, rank = tf.boolean_mask(tensor, tf.cast(sequence_mask, tf.bool)), shape.ndims - 1
    if rank == 1:
        flat = tf.expand_dims(flat, -1)
    message = "Tensor shape is incompatible with provided mask."
    expected_length = tf.cast(expected_length, tf.int32)
    if in_eager_mode():
        if tf.dimension_value(flat.shape[0]) != int(expected_length):
            raise ValueError(message)
        return flat
    check = tf.assert_equal(tf.shape(flat)[0], expected_length, data=[tf.shape(flat)[0], expected_length], message=message)
    with tf.control_dependencies([check]):
        return tf.identity(flat)


@internal("estimator.head.sequential_head.SequentialHeadWrapper")
class SequentialHeadWrapper(SequentialHead):
    """A head for single predictions, applied to every step of sequences."""

    def __init__(self, static_head: Any, sequence_length_mask: str = "sequence_length_mask", feature_columns: Any = None) -> None:
        if not isinstance(sequence_length_mask, str):
            raise TypeError(f"`sequence_mask` column must be a string. Given type: {type(sequence_length_mask)}.")
        feature_columns = feature_columns or []
        if not isinstance(feature_columns, Iterable):
            raise TypeError(f"`feature_columns` must be either a string or an iterable of strings got {type(feature_columns)} instead.")
        columns = [feature_columns] if isinstance(feature_columns, str) else list(feature_columns)
        for column in columns:
            if not isinstance(column, str):
                raise TypeError(f"Column must a string. Given type: {type(column)}.")
        if isinstance(static_head, MultiHead):
            raise ValueError("`MultiHead` is not supported with `SequentialHeadWrapper`.")
        self._static_head, self._mask_key, self._columns = static_head, sequence_length_mask, columns

    @property
    def name(self) -> Any:
        """The name of the head, which says that it is for sequences."""
        return f"{self._static_head.name}_sequential" if self._static_head.name else None

    @property
    def logits_dimension(self) -> int:
        """How many logits a step has."""
        return self._static_head.logits_dimension

    @property
    def loss_reduction(self) -> str:
        """How the losses of steps become one."""
        return self._static_head.loss_reduction

    @property
    def input_sequence_mask_key(self) -> str:
        """The feature that says which steps count."""
        return self._mask_key

    @property
    def static_head(self) -> Any:
        """The head for single predictions."""
        return self._static_head

    def _flatten(self, labels: Any, logits: Any, features: Any) -> tuple[Any, Any, Any]:
        """Labels, logits and the features that the head needs, step after step."""
        with name_scope(None, "flatten", values=(logits,)):
            if self._mask_key not in features:
                raise ValueError(
                    f"The provided sequence_length_mask key `{self._mask_key}` should be included in the features dictionary, but was "
                    f"not found. Found keys: {list(features)}."
                )
            mask = features[self._mask_key]
            if mask.get_shape().ndims not in (None, 2):
                raise ValueError(f"Mask is expected to have two dimensions, got {mask.get_shape().ndims} instead.")
            count = tf.reduce_sum(tf.cast(mask, tf.int32))
            flat_logits = flatten_tensor(logits, mask, count)
            flat_labels = flatten_tensor(labels, mask, count)
            flat_features = {}
            for column in self._columns:
                if column not in features:
                    raise ValueError(f"`{column}` column expected in features dictionary.")
                flat_features[column] = flatten_tensor(features[column], mask, count)
            return flat_labels, flat_logits, flat_features

    def loss(self, logits: Any, labels: Any, features: Any = None, mode: Any = None, regularization_losses: Any = None) -> Any:  # type: ignore[override]
        """The loss of the steps that count."""
        labels, logits, features = self._flatten(labels, logits, features)
        return self._static_head.loss(
            logits=logits, labels=labels, features=features, mode=mode, regularization_losses=regularization_losses
        )

    def predictions(self, logits: Any, keys: Any = None) -> dict[str, Any]:
        """The predictions for each step."""
        return self._static_head.predictions(logits, keys=keys)

    def metrics(self, regularization_losses: Any = None) -> dict[str, Any]:
        """New metrics, by name."""
        return self._static_head.metrics(regularization_losses)

    def update_metrics(self, eval_metrics: Any, features: Any, logits: Any, labels: Any, regularization_losses: Any = None) -> Any:
        """Counts the steps that count."""
        labels, logits, features = self._flatten(labels, logits, features)
        return self._static_head.update_metrics(
            eval_metrics, features=features, logits=logits, labels=labels, regularization_losses=regularization_losses
        )

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
        """The EstimatorSpec of the head; predictions tell which steps count."""
        if mode == ModeKeys.PREDICT:
            spec = self._static_head.create_estimator_spec(features=features, mode=mode, logits=logits)
            spec.predictions[self._mask_key] = features[self._mask_key]
            return spec._replace(predictions=spec.predictions)
        labels, logits, features = self._flatten(labels, logits, features)
        return self._static_head.create_estimator_spec(
            features=features,
            mode=mode,
            logits=logits,
            trainable_variables=trainable_variables,
            labels=labels,
            optimizer=optimizer,
            train_op_fn=train_op_fn,
            regularization_losses=regularization_losses,
            update_ops=update_ops,
        )
