"""Recurrent models as estimators: sequences of features, with features that hold for the whole of them."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow import internals
from everflow.api import internal
from everflow.estimator.canned.optimizers import get_optimizer_instance_v2
from everflow.estimator.canned.v2.training import classification_head
from everflow.estimator.estimator import Estimator
from everflow.estimator.heads.sequential import SequentialHead, SequentialHeadWrapper
from everflow.estimator.mode_keys import ModeKeys
from everflow.feature_column.layers import DenseFeatures, SequenceFeatures
from everflow.feature_column.sequence import concatenate_context_input
from everflow.feature_column.serialization import deserialize_feature_columns, serialize_feature_columns
from everflow.graph.scopes import name_scope
from everflow.keras.layers.recurrent_layers import GRUV2, LSTMV2, SimpleRNN
from everflow.keras.model import Model
from everflow.platform import logging
from everflow.train.global_step import get_or_create_global_step

USE_DEFAULT = internal("estimator.canned.rnn.USE_DEFAULT")(object())
_LEARNING_RATE = 0.05
_CLIP_NORM = 5.0
_SIMPLE = "simple_rnn"
# Programs that watch what estimators make put layers of their own into this module.
LAYERS: Any = internals.module("python.keras.layers")
LAYERS_BY_TYPE = internal("estimator.canned.rnn._CELL_TYPE_TO_LAYER_MAPPING")({"lstm": LSTMV2, "gru": GRUV2, _SIMPLE: SimpleRNN})
_HERE: Any = internals.module("tensorflow_estimator.python.estimator.canned.rnn")
_CELLS = {"lstm": "LSTMCell", "gru": "GRUCell", _SIMPLE: "SimpleRNNCell"}


def _cell(units: int, cell_type: Any) -> Any:
    kind = getattr(LAYERS, _CELLS[cell_type]) if cell_type in _CELLS else cell_type
    if not callable(kind):
        raise ValueError(
            "`cell_type` should be a class producing a RNN cell, or a string specifying the cell type. Supported strings are: "
            "['simple_rnn', 'lstm', 'gru']."
        )
    cell = kind(units=units)
    if not hasattr(cell, "call") or not hasattr(cell, "state_size"):
        raise ValueError("RNN cell should have a `call` and `state_size` method.")
    return cell


def _check_cell(rnn_cell_fn: Any, units: Any, cell_type: Any) -> None:
    if rnn_cell_fn and (units or cell_type is not USE_DEFAULT):
        raise ValueError("units and cell_type must not be specified when using rnn_cell_fn")


@internal("estimator.canned.rnn._make_rnn_layer")
def make_rnn_layer(rnn_cell_fn: Any, units: Any, cell_type: Any, return_sequences: bool) -> Any:
    """The recurrent layer that a function, a cell type or the name of one stands for."""
    _check_cell(rnn_cell_fn, units, cell_type)
    by_type = _HERE._CELL_TYPE_TO_LAYER_MAPPING
    if isinstance(units, int) and isinstance(cell_type, str) and cell_type in by_type:
        return by_type[cell_type](units=units, return_sequences=return_sequences)
    if rnn_cell_fn:
        cell = rnn_cell_fn()
    else:
        cells = [_cell(n, _SIMPLE if cell_type is USE_DEFAULT else cell_type) for n in units]
        cell = cells[0] if len(cells) == 1 else cells
    return LAYERS.RNN(cell=cell, return_sequences=return_sequences)


@internal("estimator.canned.rnn.RNNModel")
class RNNModel(Model):
    """A recurrent layer on columns of sequences, and a layer of logits on what it gives."""

    def __init__(
        self,
        rnn_layer: Any,
        units: int,
        sequence_feature_columns: Any,
        context_feature_columns: Any = None,
        activation: Any = None,
        return_sequences: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if not isinstance(units, int):
            raise ValueError(f"units must be an int.  Given type: {type(units)}")
        self.__dict__["_columns"] = (list(sequence_feature_columns), list(context_feature_columns or ()))
        self._return_sequences = return_sequences
        self._sequence_layer = SequenceFeatures(sequence_feature_columns)
        self._context_layer = DenseFeatures(context_feature_columns) if context_feature_columns else None
        self._rnn_layer = rnn_layer
        self._logits_layer = LAYERS.Dense(units=units, activation=activation, name="logits")

    def call(self, inputs: Any, training: Any = None) -> Any:  # type: ignore[override]
        """The logits of sequences, or of each of their steps."""
        if not isinstance(inputs, dict):
            raise ValueError(f"inputs should be a dictionary of `Tensor`s. Given type: {type(inputs)}")
        with name_scope("sequence_input_layer"):
            sequence, lengths = self._sequence_layer(inputs)
            tf.summary.histogram("sequence_length", lengths)
            if self._context_layer is not None:
                sequence = concatenate_context_input(self._context_layer(inputs), sequence)
        mask = tf.sequence_mask(lengths)
        activations = self._rnn_layer(sequence, mask=mask, training=training)
        logits = self._logits_layer(activations)
        if self._return_sequences:
            # Losses of Keras leave out the steps that the mask does.
            logits._keras_mask = mask
        return logits

    def get_config(self) -> dict[str, Any]:
        """The layers and columns as data."""
        sequence, context = self.__dict__["_columns"]
        return {
            "name": self.name,
            "rnn_layer": {"class_name": type(self._rnn_layer).__name__, "config": self._rnn_layer.get_config()},
            "units": self._logits_layer.units,
            "sequence_feature_columns": serialize_feature_columns(sequence),
            "context_feature_columns": serialize_feature_columns(context) if context else None,
            "activation": tf.keras.activations.serialize(self._logits_layer.activation),
            "return_sequences": self._return_sequences,
        }

    @classmethod
    def from_config(cls, config: Any, custom_objects: Any = None) -> Any:
        """The model of a config."""
        config = dict(config)
        layer = tf.keras.layers.deserialize(config.pop("rnn_layer"), custom_objects=custom_objects)
        sequence = deserialize_feature_columns(config.pop("sequence_feature_columns"), custom_objects=custom_objects)
        context = config.pop("context_feature_columns", None)
        if context:
            context = deserialize_feature_columns(context, custom_objects=custom_objects)
        activation = tf.keras.activations.deserialize(config.pop("activation", None), custom_objects=custom_objects)
        return cls(rnn_layer=layer, sequence_feature_columns=sequence, context_feature_columns=context, activation=activation, **config)


def _spec(features: Any, labels: Any, mode: str, head: Any, model: Any, optimizer: Any, return_sequences: bool) -> Any:
    training = mode == ModeKeys.TRAIN
    if not training:
        optimizer = None
    elif isinstance(optimizer, str):
        optimizer = get_optimizer_instance_v2(optimizer, learning_rate=_LEARNING_RATE)
        optimizer.clipnorm = _CLIP_NORM
    else:
        optimizer = get_optimizer_instance_v2(optimizer)
    if training:
        optimizer.iterations = get_or_create_global_step()
    logits = model(features, training=training)
    if return_sequences and head.input_sequence_mask_key not in features:
        features[head.input_sequence_mask_key] = logits._keras_mask
    return head.create_estimator_spec(
        features=features,
        mode=mode,
        labels=labels,
        optimizer=optimizer,
        logits=logits,
        trainable_variables=model.trainable_variables,
        update_ops=model.updates,
    )


@internal("estimator.canned.rnn.RNNEstimator")
class RNNEstimator(Estimator):
    """A recurrent model with any head."""

    def __init__(
        self,
        head: Any,
        sequence_feature_columns: Any,
        context_feature_columns: Any = None,
        units: Any = None,
        cell_type: Any = USE_DEFAULT,
        rnn_cell_fn: Any = None,
        return_sequences: bool = False,
        model_dir: Any = None,
        optimizer: Any = "Adagrad",
        config: Any = None,
    ) -> None:
        if return_sequences and not isinstance(head, SequentialHead):
            raise ValueError("Provided head must be a `_SequentialHead` object when `return_sequences` is set to True.")
        _check_cell(rnn_cell_fn, units, cell_type)

        def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
            del config
            model = RNNModel(
                make_rnn_layer(rnn_cell_fn, units, cell_type, return_sequences),
                units=head.logits_dimension,
                sequence_feature_columns=sequence_feature_columns,
                context_feature_columns=context_feature_columns,
                return_sequences=return_sequences,
                name="rnn_model",
            )
            return _spec(features, labels, mode, head, model, optimizer, return_sequences)

        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)


@internal("estimator.canned.rnn.RNNClassifier")
class RNNClassifier(RNNEstimator):
    """A recurrent model that classifies sequences, or their steps."""

    def __init__(
        self,
        sequence_feature_columns: Any,
        context_feature_columns: Any = None,
        units: Any = None,
        cell_type: Any = USE_DEFAULT,
        rnn_cell_fn: Any = None,
        return_sequences: bool = False,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Adagrad",
        loss_reduction: str = "sum_over_batch_size",
        sequence_mask: str = "sequence_mask",
        config: Any = None,
    ) -> None:
        head = classification_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        if return_sequences:
            logging.info("Converting head to sequential head with `SequentialHeadWrapper` to allow sequential predictions.")
            head = SequentialHeadWrapper(head, sequence_length_mask=sequence_mask, feature_columns=weight_column)
        super().__init__(
            head=head,
            sequence_feature_columns=sequence_feature_columns,
            context_feature_columns=context_feature_columns,
            units=units,
            cell_type=cell_type,
            rnn_cell_fn=rnn_cell_fn,
            return_sequences=return_sequences,
            model_dir=model_dir,
            optimizer=optimizer,
            config=config,
        )
