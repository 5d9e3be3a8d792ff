"""What recurrent estimators share: cells, the last steps of sequences, predictions for each step."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow import nest
from everflow.contrib.learn.problem_types import PredictionKey, ProblemType
from everflow.contrib.learn.publishing import learn

_MODULE = "estimators.rnn_common"


@learn(_MODULE, "RNNKeys")
class RNNKeys:
    """The names of what features and predictions hold besides."""

    FINAL_STATE_KEY = "final_state"
    LABELS_KEY = "__labels__"
    SEQUENCE_LENGTH_KEY = "sequence_length"
    STATE_PREFIX = "rnn_cell_state"


@learn(_MODULE, "PredictionType")
class PredictionType:
    """Whether a sequence has one label, or each of its steps."""

    SINGLE_VALUE = 1
    MULTIPLE_VALUE = 2


def _cell(cell_type: Any, num_units: int) -> Any:
    known = {"basic_rnn": tf.nn.rnn_cell.BasicRNNCell, "lstm": tf.nn.rnn_cell.LSTMCell, "gru": tf.nn.rnn_cell.GRUCell}
    kind = known.get(cell_type, cell_type)
    if not kind or not issubclass(kind, tf.nn.rnn_cell.RNNCell):
        raise ValueError(f"The supported cell types are {list(known)}; got {kind}")
    return kind(num_units=num_units)


@learn(_MODULE, "construct_rnn_cell")
def construct_rnn_cell(num_units: Any, cell_type: Any = "basic_rnn", dropout_keep_probabilities: Any = None) -> Any:
    """A cell, or one of several layers."""
    sizes = num_units if isinstance(num_units, (list, tuple)) else (num_units,)
    cells = [_cell(cell_type, size) for size in sizes]
    if dropout_keep_probabilities:
        cells = apply_dropout(cells, dropout_keep_probabilities)
    return cells[0] if len(cells) == 1 else tf.nn.rnn_cell.MultiRNNCell(cells)


@learn(_MODULE, "apply_dropout")
def apply_dropout(cells: list[Any], dropout_keep_probabilities: Any, random_seed: Any = None) -> list[Any]:
    """Cells with dropout before each, and after the last."""
    keep = dropout_keep_probabilities
    if len(keep) != len(cells) + 1:
        raise ValueError(
            "The number of dropout probabilities must be one greater than the number of cells. "
            f"Got {len(cells)} cells and {len(keep)} dropout probabilities."
        )
    wrapper = tf.nn.rnn_cell.DropoutWrapper
    before = [wrapper(cell, probability, 1.0, seed=random_seed) for cell, probability in zip(cells[:-1], keep[:-2])]
    return [*before, wrapper(cells[-1], keep[-2], keep[-1])]


@learn(_MODULE, "get_eval_metric_ops")
def get_eval_metric_ops(problem_type: int, prediction_type: int, sequence_length: Any, prediction_dict: Any, labels: Any) -> Any:
    """The accuracy of classes."""
    if problem_type != ProblemType.CLASSIFICATION:
        return {}
    classes = prediction_dict[PredictionKey.CLASSES]
    if prediction_type == PredictionType.MULTIPLE_VALUE:
        classes, labels = mask_activations_and_labels(classes, labels, sequence_length)
    return {"accuracy": tf.contrib.metrics.streaming_accuracy(predictions=classes, labels=labels)}


@learn(_MODULE, "select_last_activations")
def select_last_activations(activations: Any, sequence_lengths: Any) -> Any:
    """The outputs at the last step of each sequence."""
    with tf.name_scope("select_last_activations", values=[activations, sequence_lengths]):
        shape = tf.shape(activations)
        batch, steps = shape[0], shape[1]
        lengths = steps if sequence_lengths is None else sequence_lengths
        found = tf.gather(tf.reshape(activations, [-1, shape[2]]), tf.range(batch) * steps + lengths - 1)
        found.set_shape([activations.get_shape()[0], activations.get_shape()[2]])
        return found


@learn(_MODULE, "mask_activations_and_labels")
def mask_activations_and_labels(activations: Any, labels: Any, sequence_lengths: Any) -> tuple[Any, Any]:
    """Outputs and labels of the steps that sequences have, a row each."""
    with tf.name_scope("mask_activations_and_labels", values=[activations, labels, sequence_lengths]):
        shape = tf.shape(labels)
        if sequence_lengths is None:
            rows = shape[1] * shape[0]
            return tf.reshape(activations, [rows, -1]), tf.reshape(labels, [rows])
        mask = tf.sequence_mask(sequence_lengths, shape[1])
        return tf.boolean_mask(activations, mask), tf.boolean_mask(labels, mask)


def prediction_name(problem_type: int) -> str:
    """The key of what a problem asks for."""
    return PredictionKey.CLASSES if problem_type == ProblemType.CLASSIFICATION else PredictionKey.SCORES


@learn(_MODULE, "multi_value_predictions")
def multi_value_predictions(activations: Any, target_column: Any, problem_type: int, predict_probabilities: bool) -> Any:
    """Predictions for each step."""
    with tf.name_scope("MultiValuePrediction"):
        shape = tf.shape(activations)
        flat = tf.reshape(activations, [-1, shape[2]])
        found: dict[str, Any] = {}
        if predict_probabilities:
            probabilities = target_column.logits_to_predictions(flat, proba=True)
            predicted = tf.argmax(probabilities, 1)
            of_two = target_column.num_label_columns == 1
            whole = tf.concat([shape[:2], [2]], 0) if of_two else shape
            found[PredictionKey.PROBABILITIES] = tf.reshape(probabilities, whole, name=PredictionKey.PROBABILITIES)
        else:
            predicted = target_column.logits_to_predictions(flat, proba=False)
        name = prediction_name(problem_type)
        found[name] = tf.reshape(predicted, [shape[0], shape[1]], name=name)
        return found


def multi_value_loss(activations: Any, labels: Any, sequence_length: Any, target_column: Any, features: Any) -> Any:
    """The loss of the steps that sequences have."""
    with tf.name_scope("MultiValueLoss"):
        activations, labels = mask_activations_and_labels(activations, labels, sequence_length)
        return target_column.loss(activations, labels, features)


def state_name(number: int) -> str:
    """The name of a part of the state."""
    return f"{RNNKeys.STATE_PREFIX}_{number}"


@learn("estimators.dynamic_rnn_estimator", "state_tuple_to_dict")
def state_tuple_to_dict(state: Any) -> dict[str, Any]:
    """The parts of a state by name."""
    with tf.name_scope("state_tuple_to_dict"):
        return {
            state_name(i): None if part is None else tf.identity(part, name=state_name(i)) for i, part in enumerate(nest.flatten(state))
        }


learn("estimators.state_saving_rnn_estimator", "state_tuple_to_dict")(state_tuple_to_dict)


def target(problem_type: int, num_classes: Any) -> tuple[Any, str]:
    """What a problem is trained for, and how its models are called."""
    if problem_type == ProblemType.LINEAR_REGRESSION:
        return tf.contrib.layers.regression_target(), "Regressor"
    if problem_type == ProblemType.CLASSIFICATION:
        if not num_classes:
            raise ValueError("For CLASSIFICATION problem_type, num_classes must be specified.")
        return tf.contrib.layers.multi_class_target(n_classes=num_classes), "Classifier"
    raise ValueError(f"problem_type must be either ProblemType.LINEAR_REGRESSION or ProblemType.CLASSIFICATION; got {problem_type}")


def check_problem(problem_type: int, predict_probabilities: bool) -> None:
    """Raises for problems that recurrent models don't solve."""
    if problem_type not in (ProblemType.CLASSIFICATION, ProblemType.LINEAR_REGRESSION):
        raise ValueError(f"problem_type must be ProblemType.LINEAR_REGRESSION or ProblemType.CLASSIFICATION; got {problem_type}")
    if problem_type != ProblemType.CLASSIFICATION and predict_probabilities:
        raise ValueError(f"predict_probabilities can only be set to True for problem_type ProblemType.CLASSIFICATION; got {problem_type}.")
