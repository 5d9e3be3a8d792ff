"""DynamicRnnEstimator: a recurrent model of whole sequences."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow import nest
from everflow.contrib.learn.estimator import LearnEstimator
from everflow.contrib.learn.model_ops import ModeKeys, ModelFnOps
from everflow.contrib.learn.models import rnn_common
from everflow.contrib.learn.models.rnn_common import PredictionType, RNNKeys, check_problem, state_name, state_tuple_to_dict, target
from everflow.contrib.learn.problem_types import PredictionKey
from everflow.contrib.learn.publishing import learn

_MODULE = "estimators.dynamic_rnn_estimator"
learn(_MODULE, "PredictionType")(PredictionType)


@learn(_MODULE, "dict_to_state_tuple")
def dict_to_state_tuple(input_dict: Any, cell: Any) -> Any:
    """The state that features hold for a cell; None where they hold none."""
    sizes = nest.flatten(cell.state_size)
    found: list[Any] = []
    with tf.name_scope("dict_to_state_tuple"):
        for i, size in enumerate(sizes):
            part = input_dict.get(state_name(i))
            if part is None:
                continue
            checks = [
                tf.assert_rank(part, 2, name=f"check_state_{i}_rank"),
                tf.assert_equal(tf.shape(part)[1], size, name=f"check_state_{i}_shape"),
            ]
            with tf.control_dependencies(checks):
                found.append(tf.identity(part, name=state_name(i)))
        if not found:
            return None
        if len(found) != len(sizes):
            raise ValueError(f"RNN state was partially specified.Expected zero or {len(sizes)} state Tensors; got {len(found)}")
        return nest.pack_sequence_as(cell.zero_state(batch_size=1, dtype=tf.bool), found)


def _with_context(sequence_input: Any, context_input: Any) -> Any:
    """The context beside each step."""
    checks = []
    for name, tensor, rank in (("sequence_input", sequence_input, 3), ("context_input", context_input, 2)):
        checks.append(tf.assert_rank(tensor, rank, message=f"{name} must have rank {rank}", data=[tf.shape(tensor)]))
        message = f"{name} must have dtype float32; got {tensor.dtype}."
        checks.append(tf.assert_type(tensor, tf.float32, message=message))
    with tf.control_dependencies(checks):
        steps = tf.shape(sequence_input)[1]
        tiled = tf.tile(tf.expand_dims(context_input, 1), tf.concat([[1], [steps], [1]], 0))
    return tf.concat([sequence_input, tiled], 2)


@learn(_MODULE, "build_sequence_input")
def build_sequence_input(
    features: Any, sequence_feature_columns: Any, context_feature_columns: Any, weight_collections: Any = None, scope: Any = None
) -> Any:
    """What columns make of sequences, with what others make of the context beside each step."""
    layers = tf.contrib.layers
    every = [*sequence_feature_columns, *(context_feature_columns or ())]
    features = {**features, **layers.transform_features(features, every)}
    sequences = layers.sequence_input_from_feature_columns(
        columns_to_tensors=features, feature_columns=sequence_feature_columns, weight_collections=weight_collections, scope=scope
    )
    if context_feature_columns is None:
        return sequences
    context = layers.input_from_feature_columns(
        columns_to_tensors=features, feature_columns=context_feature_columns, weight_collections=weight_collections, scope=scope
    )
    return _with_context(sequences, context)


@learn(_MODULE, "construct_rnn")
def construct_rnn(
    initial_state: Any,
    sequence_input: Any,
    cell: Any,
    num_label_columns: int,
    dtype: Any = tf.float32,
    parallel_iterations: int | None = 32,
    swap_memory: bool = True,
) -> tuple[Any, Any]:
    """The outputs of each step, as logits, and the last state."""
    running: dict[str, Any] = {"parallel_iterations": parallel_iterations, "swap_memory": swap_memory}
    with tf.name_scope("RNN"):
        outputs, last_state = tf.nn.dynamic_rnn(cell, sequence_input, initial_state=initial_state, dtype=dtype, **running)
        return tf.contrib.layers.fully_connected(outputs, num_label_columns, activation_fn=None), last_state


@learn(_MODULE, "_single_value_predictions")
def _single_value_predictions(
    activations: Any, sequence_length: Any, target_column: Any, problem_type: int, predict_probabilities: bool
) -> dict[str, Any]:
    with tf.name_scope("SingleValuePrediction"):
        last = rnn_common.select_last_activations(activations, sequence_length)
        name = rnn_common.prediction_name(problem_type)
        if not predict_probabilities:
            return {name: target_column.logits_to_predictions(last, proba=False)}
        probabilities = target_column.logits_to_predictions(last, proba=True)
        return {PredictionKey.PROBABILITIES: probabilities, name: tf.argmax(probabilities, 1)}


@learn(_MODULE, "_single_value_loss")
def _single_value_loss(activations: Any, labels: Any, sequence_length: Any, target_column: Any, features: Any) -> Any:
    with tf.name_scope("SingleValueLoss"):
        return target_column.loss(rnn_common.select_last_activations(activations, sequence_length), labels, features)


learn(_MODULE, "_multi_value_loss")(rnn_common.multi_value_loss)


@learn(_MODULE, "_get_output_alternatives")
def _output_alternatives(prediction_type: int, problem_type: int, prediction_dict: Any) -> Any:
    """A prediction for the whole sequence is served without the state; others have no head."""
    if prediction_type == PredictionType.MULTIPLE_VALUE:
        return None
    if prediction_type != PredictionType.SINGLE_VALUE:
        raise ValueError(f"Unrecognized prediction_type: {prediction_type}")
    served = {key: value for key, value in prediction_dict.items() if RNNKeys.STATE_PREFIX not in key}
    return {"dynamic_rnn_output": (problem_type, served)}


@learn(_MODULE, "_get_dynamic_rnn_model_fn")
def dynamic_rnn_model_fn(
    cell_type: Any,
    num_units: Any,
    target_column: Any,
    problem_type: int,
    prediction_type: int,
    optimizer: Any,
    sequence_feature_columns: Any,
    context_feature_columns: Any = None,
    predict_probabilities: bool = False,
    learning_rate: Any = None,
    gradient_clipping_norm: Any = None,
    dropout_keep_probabilities: Any = None,
    sequence_length_key: str = RNNKeys.SEQUENCE_LENGTH_KEY,
    dtype: Any = tf.float32,
    parallel_iterations: Any = None,
    swap_memory: bool = True,
    name: str = "DynamicRNNModel",
) -> Any:
    """The model function of a recurrent model."""
    check_problem(problem_type, False)
    if prediction_type not in (PredictionType.SINGLE_VALUE, PredictionType.MULTIPLE_VALUE):
        raise ValueError(f"prediction_type must be PredictionType.MULTIPLE_VALUEs or PredictionType.SINGLE_VALUE; got {prediction_type}")
    check_problem(problem_type, predict_probabilities)
    is_single = prediction_type == PredictionType.SINGLE_VALUE

    def model_fn(features: Any, labels: Any, mode: str) -> ModelFnOps:
        with tf.name_scope(name):
            length = features.get(sequence_length_key)
            inputs = build_sequence_input(features, sequence_feature_columns, context_feature_columns)
            keep = dropout_keep_probabilities if mode == ModeKeys.TRAIN else None
            cell = rnn_common.construct_rnn_cell(num_units, cell_type, keep)
            state = dict_to_state_tuple(features, cell)
            logits, final_state = construct_rnn(
                state, inputs, cell, target_column.num_label_columns, dtype, parallel_iterations, swap_memory
            )
            if is_single:
                predictions = _single_value_predictions(logits, length, target_column, problem_type, predict_probabilities)
            else:
                predictions = rnn_common.multi_value_predictions(logits, target_column, problem_type, predict_probabilities)
            loss = metrics = train_op = None
            if mode != ModeKeys.INFER:
                loss_fn = _single_value_loss if is_single else rnn_common.multi_value_loss
                loss = loss_fn(logits, labels, length, target_column, features)
            predictions.update(state_tuple_to_dict(final_state))
            if mode != ModeKeys.INFER:
                metrics = rnn_common.get_eval_metric_ops(problem_type, prediction_type, length, predictions, labels)
            if mode == ModeKeys.TRAIN:
                train_op = tf.contrib.layers.optimize_loss(
                    loss=loss,
                    global_step=None,
                    learning_rate=learning_rate,
                    optimizer=optimizer,
                    clip_gradients=gradient_clipping_norm,
                    summaries=tf.contrib.layers.OPTIMIZER_SUMMARIES,
                )
        return ModelFnOps(
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=metrics,
            output_alternatives=_output_alternatives(prediction_type, problem_type, predictions),
        )

    return model_fn


@learn(_MODULE, "DynamicRnnEstimator", shown=True)
class DynamicRnnEstimator(LearnEstimator):
    """A recurrent model that labels sequences, or each of their steps."""

    def __init__(
        self,
        problem_type: int,
        prediction_type: int,
        sequence_feature_columns: Any,
        context_feature_columns: Any = None,
        num_classes: Any = None,
        num_units: Any = None,
        cell_type: Any = "basic_rnn",
        optimizer: Any = "SGD",
        learning_rate: float = 0.1,
        predict_probabilities: bool = False,
        momentum: Any = None,
        gradient_clipping_norm: Any = 5.0,
        dropout_keep_probabilities: Any = None,
        model_dir: Any = None,
        feature_engineering_fn: Any = None,
        config: Any = None,
    ) -> None:
        names = {PredictionType.MULTIPLE_VALUE: "MultiValueDynamicRNN", PredictionType.SINGLE_VALUE: "SingleValueDynamicRNN"}
        if prediction_type not in names:
            raise ValueError(
                f"prediction_type must be one of PredictionType.MULTIPLE_VALUE or PredictionType.SINGLE_VALUE; got {prediction_type}"
            )
        target_column, kind = target(problem_type, num_classes)
        if isinstance(optimizer, str) and optimizer == "Momentum":
            optimizer = tf.train.MomentumOptimizer(learning_rate, momentum)
        model_fn = dynamic_rnn_model_fn(
            cell_type=cell_type,
            num_units=num_units,
            target_column=target_column,
            problem_type=problem_type,
            prediction_type=prediction_type,
            optimizer=optimizer,
            sequence_feature_columns=sequence_feature_columns,
            context_feature_columns=context_feature_columns,
            predict_probabilities=predict_probabilities,
            learning_rate=learning_rate,
            gradient_clipping_norm=gradient_clipping_norm,
            dropout_keep_probabilities=dropout_keep_probabilities,
            name=names[prediction_type] + kind,
        )
        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config, feature_engineering_fn=feature_engineering_fn)
