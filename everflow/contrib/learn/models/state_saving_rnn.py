"""StateSavingRnnEstimator: a recurrent model that reads sequences a few steps at a time, and keeps their states in between."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow import nest
from everflow.contrib.layers.feature_columns import RealColumn, create_feature_spec_for_parsing
from everflow.contrib.layers.feature_vectors import EmbeddingColumn, OneHotColumn
from everflow.contrib.learn.estimator import LearnEstimator
from everflow.contrib.learn.model_ops import ModeKeys, ModelFnOps
from everflow.contrib.learn.models import rnn_common
from everflow.contrib.learn.models.rnn_common import PredictionType, RNNKeys, check_problem, state_name, state_tuple_to_dict, target
from everflow.contrib.learn.publishing import learn

_MODULE = "estimators.state_saving_rnn_estimator"


@learn(_MODULE, "construct_state_saving_rnn")
def construct_state_saving_rnn(
    cell: Any, inputs: Any, num_label_columns: int, state_saver: Any, state_name: Any, scope: str = "rnn"
) -> tuple[Any, Any]:
    """The outputs of each step, as logits, and the last state, which is kept for the next steps."""
    with tf.name_scope(scope):
        outputs, state = tf.nn.static_state_saving_rnn(
            cell=cell, inputs=inputs, state_saver=state_saver, state_name=state_name, scope=scope
        )
        logits = tf.contrib.layers.fully_connected(
            inputs=tf.stack(outputs, axis=1), num_outputs=num_label_columns, activation_fn=None, trainable=True
        )
        return logits, tf.identity(state, name=RNNKeys.FINAL_STATE_KEY)


def _names_of(column: Any) -> list[str]:
    """The features that a column is made of."""
    return [column.name] if isinstance(column, RealColumn) else sorted(create_feature_spec_for_parsing([column]))


def _named(features: Any, name: str, kind: str) -> Any:
    found = features.get(name)
    if found is None:
        raise ValueError(f"No key in features for {kind} feature: {name}")
    return found


@learn(_MODULE, "_prepare_features_for_sqss")
def prepare_features(
    features: Any, labels: Any, mode: str, sequence_feature_columns: Any, context_feature_columns: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The features of steps, with the labels among them, and those of whole sequences."""
    for column in sequence_feature_columns:
        if not isinstance(column, (RealColumn, EmbeddingColumn, OneHotColumn)):
            raise ValueError(f"FeatureColumn type {type(column)} is not currently supported for sequence data.")
    sequences = {name: _named(features, name, "sequence") for column in sequence_feature_columns for name in _names_of(column)}
    context = {column.name: _named(features, column.name, "context") for column in context_feature_columns or ()}
    if mode != ModeKeys.INFER:
        sequences[RNNKeys.LABELS_KEY] = labels
    return sequences, context


@learn(_MODULE, "_get_state_names")
def state_names(cell: Any) -> Any:
    """A name for each part of a cell's state."""
    size = cell.state_size
    if isinstance(size, tf.TensorShape):
        raise TypeError("cell.state_size of type TensorShape is not supported.")
    if isinstance(size, int):
        return state_name(0)
    pair = tf.nn.rnn_cell.LSTMStateTuple
    if isinstance(size, pair):
        return [f"{state_name(0)}_c", f"{state_name(0)}_h"]
    if isinstance(size[0], pair):
        return [[f"{state_name(i)}_c", f"{state_name(i)}_h"] for i in range(len(size))]
    return [state_name(i) for i in range(len(size))]


@learn(_MODULE, "_get_initial_states")
def initial_states(cell: Any) -> dict[str, Any]:
    """Zeros for each part of a cell's state."""
    zeros = nest.flatten(cell.zero_state(1, dtype=tf.float32))
    return {name: tf.squeeze(part, axis=0) for name, part in zip(nest.flatten(state_names(cell)), zeros)}


@learn(_MODULE, "_read_batch")
def read_batch(
    cell: Any,
    features: Any,
    labels: Any,
    mode: str,
    num_unroll: int,
    batch_size: int,
    sequence_feature_columns: Any,
    context_feature_columns: Any = None,
    num_threads: int = 3,
    queue_capacity: int = 1000,
    seed: Any = None,
) -> Any:
    """The next steps of a batch of sequences."""
    sequences, context = prepare_features(features, labels, mode, sequence_feature_columns, context_feature_columns)
    return tf.contrib.training.batch_sequences_with_states(
        input_key="key",
        input_sequences=sequences,
        input_context=context,
        input_length=None,
        initial_states=initial_states(cell),
        num_unroll=num_unroll,
        batch_size=batch_size,
        pad=True,
        make_keys_unique=True,
        make_keys_unique_seed=seed,
        num_threads=num_threads,
        capacity=queue_capacity,
    )


@learn(_MODULE, "_prepare_inputs_for_rnn")
def inputs_of(sequence_features: Any, context_features: Any, sequence_feature_columns: Any, num_unroll: int) -> Any:
    """The inputs of each step, with the context beside them."""
    for feature in sequence_features.values():
        if isinstance(feature, tf.SparseTensor):
            # Sequences of ids have a batch, steps, and ids of a step.
            feature.dense_shape.set_shape([3])
    inputs = tf.contrib.layers.sequence_input_from_feature_columns(
        columns_to_tensors=sequence_features, feature_columns=sequence_feature_columns, weight_collections=None, scope=None
    )
    inputs.set_shape([None, num_unroll, None])
    if context_features:
        tiled = [
            tf.squeeze(tf.tile(tf.expand_dims(context_features[name], 1), [1, num_unroll, 1]), axis=2) for name in sorted(context_features)
        ]
        inputs = tf.concat([inputs, tf.stack(tiled, 2)], axis=2)
    return tf.unstack(inputs, axis=1)


@learn(_MODULE, "_get_rnn_model_fn")
def state_saving_model_fn(
    cell_type: Any,
    target_column: Any,
    problem_type: int,
    optimizer: Any,
    num_unroll: int,
    num_units: Any,
    num_threads: int,
    queue_capacity: int,
    batch_size: int,
    sequence_feature_columns: Any,
    context_feature_columns: Any = None,
    predict_probabilities: bool = False,
    learning_rate: Any = None,
    gradient_clipping_norm: Any = None,
    dropout_keep_probabilities: Any = None,
    name: str = "StateSavingRNNModel",
    seed: Any = None,
) -> Any:
    """The model function of a recurrent model that keeps states."""
    check_problem(problem_type, predict_probabilities)
    if num_unroll <= 0:
        raise ValueError(f"num_unroll must be positive; got {num_unroll}.")

    def model_fn(features: Any, labels: Any, mode: str) -> ModelFnOps:
        with tf.name_scope(name):
            keep = dropout_keep_probabilities if mode == ModeKeys.TRAIN else None
            cell = rnn_common.construct_rnn_cell(num_units, cell_type, keep)
            batch = read_batch(
                cell,
                features,
                labels,
                mode,
                num_unroll,
                batch_size,
                sequence_feature_columns,
                context_feature_columns,
                num_threads,
                queue_capacity,
                seed,
            )
            sequences = batch.sequences
            if mode != ModeKeys.INFER:
                labels = sequences.pop(RNNKeys.LABELS_KEY)
            inputs = inputs_of(sequences, batch.context, sequence_feature_columns, num_unroll)
            logits, state = construct_state_saving_rnn(cell, inputs, target_column.num_label_columns, batch, state_names(cell))
            predictions = rnn_common.multi_value_predictions(logits, target_column, problem_type, predict_probabilities)
            loss = metrics = train_op = None
            if mode != ModeKeys.INFER:
                loss = rnn_common.multi_value_loss(logits, labels, batch.length, target_column, features)
                kind = PredictionType.MULTIPLE_VALUE
                metrics = rnn_common.get_eval_metric_ops(problem_type, kind, batch.length, predictions, labels)
            predictions.update(state_tuple_to_dict(state))
            if mode == ModeKeys.TRAIN:
                train_op = tf.contrib.layers.optimize_loss(
                    loss=loss,
                    global_step=None,
                    learning_rate=learning_rate,
                    optimizer=optimizer,
                    clip_gradients=gradient_clipping_norm,
                    summaries=tf.contrib.layers.OPTIMIZER_SUMMARIES,
                )
        return ModelFnOps(mode=mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops=metrics)

    return model_fn


@learn(_MODULE, "StateSavingRnnEstimator")
class StateSavingRnnEstimator(LearnEstimator):
    """A recurrent model for sequences longer than what is unrolled."""

    def __init__(
        self,
        problem_type: int,
        num_unroll: int,
        batch_size: int,
        sequence_feature_columns: Any,
        context_feature_columns: Any = None,
        num_classes: Any = None,
        num_units: Any = None,
        cell_type: Any = "basic_rnn",
        optimizer_type: Any = "SGD",
        learning_rate: float = 0.1,
        predict_probabilities: bool = False,
        momentum: Any = None,
        gradient_clipping_norm: Any = 5.0,
        dropout_keep_probabilities: Any = None,
        model_dir: Any = None,
        config: Any = None,
        feature_engineering_fn: Any = None,
        num_threads: int = 3,
        queue_capacity: int = 1000,
        seed: Any = None,
    ) -> None:
        target_column, kind = target(problem_type, num_classes)
        if isinstance(optimizer_type, str) and optimizer_type == "Momentum":
            optimizer_type = tf.train.MomentumOptimizer(learning_rate, momentum)
        model_fn = state_saving_model_fn(
            cell_type=cell_type,
            target_column=target_column,
            problem_type=problem_type,
            optimizer=optimizer_type,
            num_unroll=num_unroll,
            num_units=num_units,
            num_threads=num_threads,
            queue_capacity=queue_capacity,
            batch_size=batch_size,
            sequence_feature_columns=sequence_feature_columns,
            context_feature_columns=context_feature_columns,
            predict_probabilities=predict_probabilities,
            learning_rate=learning_rate,
            gradient_clipping_norm=gradient_clipping_norm,
            dropout_keep_probabilities=dropout_keep_probabilities,
            name="MultiValueStateSavingRNN" + kind,
            seed=seed,
        )
        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config, feature_engineering_fn=feature_engineering_fn)
