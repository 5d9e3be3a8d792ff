"""The recurrent estimators of tf.contrib.estimator: cells of tf.nn.rnn_cell, heads and optimizers for graphs."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.estimator.canned.optimizers import checked_features, default_partitioner, get_optimizer_instance
from everflow.estimator.estimator import Estimator
from everflow.estimator.extending import clip_gradients_by_norm
from everflow.estimator.heads.classification import classification_head
from everflow.estimator.heads.sequential import SequentialHead
from everflow.feature_column.scoped import input_layer, sequence_input_layer
from everflow.feature_column.sequence import concatenate_context_input
from everflow.losses.weighting import Reduction
from everflow.ops.variables.variable_scope import variable_scope
from everflow.train.global_step import get_global_step
from everflow.train.optimizer import Optimizer

_MODULE = "contrib.estimator.python.estimator.rnn"
_DEFAULT = object()
_LEARNING_RATE = 0.05
_CLIP_NORM = 5.0


def _cell(num_units: int, cell_type: Any) -> Any:
    kinds = {"basic_rnn": tf.nn.rnn_cell.BasicRNNCell, "lstm": tf.nn.rnn_cell.BasicLSTMCell, "gru": tf.nn.rnn_cell.GRUCell}
    kind = kinds.get(cell_type, cell_type) if isinstance(cell_type, str) else cell_type
    if not kind or not isinstance(kind, type) or not issubclass(kind, tf.nn.rnn_cell.RNNCell):
        raise ValueError(f"Supported cell types are {list(kinds)}; got {cell_type}")
    return kind(num_units=num_units)


@internal(_MODULE + "._make_rnn_cell_fn")
def make_rnn_cell_fn(num_units: Any, cell_type: Any = "basic_rnn") -> Any:
    """A function that gives a cell, or cells on top of each other."""

    def rnn_cell_fn(mode: Any) -> Any:
        del mode
        cells = [_cell(n, cell_type) for n in num_units]
        return cells[0] if len(cells) == 1 else tf.nn.rnn_cell.MultiRNNCell(cells)

    return rnn_cell_fn


def _last(activations: Any, lengths: Any) -> Any:
    """What the last step of each sequence gives."""
    batch = tf.shape(activations)[0]
    steps = tf.maximum(tf.cast(lengths, tf.int32) - 1, 0)
    return tf.gather_nd(activations, tf.stack([tf.range(batch), steps], axis=1))


@internal(_MODULE + "._rnn_logit_fn_builder")
def rnn_logit_fn_builder(
    output_units: int,
    rnn_cell_fn: Any,
    sequence_feature_columns: Any,
    context_feature_columns: Any,
    input_layer_partitioner: Any,
    return_sequences: bool = False,
) -> Any:
    """A function from features and mode to the logits of a recurrent model, and to which steps they are for."""
    if not isinstance(output_units, int):
        raise ValueError(f"output_units must be an int.  Given type: {type(output_units)}")

    def rnn_logit_fn(features: Any, mode: Any) -> Any:
        with variable_scope("sequence_input_layer", values=tuple(features.values()), partitioner=input_layer_partitioner):
            sequence, lengths = sequence_input_layer(features=features, feature_columns=sequence_feature_columns)
            tf.summary.histogram("sequence_length", lengths)
            if context_feature_columns:
                context = input_layer(features=features, feature_columns=context_feature_columns)
                sequence = concatenate_context_input(context, sequence)
        cell = rnn_cell_fn(mode)
        outputs, _ = tf.nn.dynamic_rnn(cell=cell, inputs=sequence, sequence_length=lengths, dtype=tf.float32, time_major=False)
        activations = outputs if return_sequences else _last(outputs, lengths)
        with variable_scope("logits", values=(activations,)):
            logits = tf.layers.dense(activations, units=output_units, activation=None, kernel_initializer=tf.glorot_uniform_initializer())
        return logits, tf.sequence_mask(lengths)

    return rnn_logit_fn


@internal(_MODULE + "._rnn_model_fn")
def rnn_model_fn(
    features: Any,
    labels: Any,
    mode: Any,
    head: Any,
    rnn_cell_fn: Any,
    sequence_feature_columns: Any,
    context_feature_columns: Any,
    return_sequences: bool = False,
    optimizer: Any = "Adagrad",
    input_layer_partitioner: Any = None,
    config: Any = None,
) -> Any:
    """The model function of a recurrent model."""
    checked_features(features)
    if not isinstance(optimizer, Optimizer):
        optimizer = clip_gradients_by_norm(get_optimizer_instance(optimizer, learning_rate=_LEARNING_RATE), _CLIP_NORM)
    partitioner = tf.min_max_variable_partitioner(max_partitions=config.num_ps_replicas if config else 0)
    with variable_scope("rnn", values=tuple(features.values()), partitioner=partitioner):
        logit_fn = rnn_logit_fn_builder(
            head.logits_dimension,
            rnn_cell_fn,
            sequence_feature_columns,
            context_feature_columns,
            input_layer_partitioner or default_partitioner(config),
            return_sequences,
        )
        logits, mask = logit_fn(features=features, mode=mode)
        if return_sequences and head.input_sequence_mask_key not in features:
            features[head.input_sequence_mask_key] = mask

        def train_op_fn(loss: Any) -> Any:
            return optimizer.minimize(loss, global_step=get_global_step())

        return head.create_estimator_spec(features=features, mode=mode, labels=labels, train_op_fn=train_op_fn, logits=logits)


def _checked_cell_fn(rnn_cell_fn: Any, num_units: Any, cell_type: Any) -> Any:
    if rnn_cell_fn and (num_units or cell_type is not _DEFAULT):
        raise ValueError("num_units and cell_type must not be specified when using rnn_cell_fn")
    if rnn_cell_fn:
        return rnn_cell_fn
    return make_rnn_cell_fn(num_units, "basic_rnn" if cell_type is _DEFAULT else cell_type)


@public("contrib.estimator.RNNEstimator")
@internal(_MODULE + ".RNNEstimator")
class ContribRNNEstimator(Estimator):
    """A recurrent model with any head."""

    def __init__(
        self,
        head: Any,
        sequence_feature_columns: Any,
        context_feature_columns: Any = None,
        num_units: Any = None,
        cell_type: Any = _DEFAULT,
        rnn_cell_fn: Any = None,
        return_sequences: bool = False,
        model_dir: Any = None,
        optimizer: Any = "Adagrad",
        input_layer_partitioner: Any = None,
        config: Any = None,
    ) -> None:
        if return_sequences and not isinstance(head, SequentialHead):
            raise ValueError("Provided head must be a `_SequentialHead` object when `return_sequences` is set to True.")
        cell_fn = _checked_cell_fn(rnn_cell_fn, num_units, cell_type)

        def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
            return rnn_model_fn(
                features,
                labels,
                mode,
                head,
                cell_fn,
                tuple(sequence_feature_columns or ()),
                tuple(context_feature_columns or ()),
                return_sequences,
                optimizer,
                input_layer_partitioner,
                config,
            )

        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)


@public("contrib.estimator.RNNClassifier")
@internal(_MODULE + ".RNNClassifier")
class ContribRNNClassifier(Estimator):
    """A recurrent model that classifies sequences."""

    def __init__(
        self,
        sequence_feature_columns: Any,
        context_feature_columns: Any = None,
        num_units: Any = None,
        cell_type: Any = _DEFAULT,
        rnn_cell_fn: Any = None,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Adagrad",
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        input_layer_partitioner: Any = None,
        config: Any = None,
    ) -> None:
        cell_fn = _checked_cell_fn(rnn_cell_fn, num_units, cell_type)
        head = classification_head(n_classes, weight_column, label_vocabulary, loss_reduction)

        def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
            return rnn_model_fn(
                features,
                labels,
                mode,
                head,
                cell_fn,
                tuple(sequence_feature_columns or ()),
                tuple(context_feature_columns or ()),
                False,
                optimizer,
                input_layer_partitioner,
                config,
            )

        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)
