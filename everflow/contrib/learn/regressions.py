"""tf.contrib.learn.models: regressions and recurrent models as functions of x and y."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.contrib.learn.pieces import mean_squared_error_regressor, softmax_classifier
from everflow.contrib.learn.publishing import learn
from everflow.graph.stacks import get_default_graph

_MODULE = "models"


@learn(_MODULE, "linear_regression_zero_init")
def linear_regression_zero_init(x: Any, y: Any) -> tuple[Any, Any]:
    """A linear regression that begins with zeros."""
    return linear_regression(x, y, init_mean=0.0, init_stddev=0.0)


@learn(_MODULE, "logistic_regression_zero_init")
def logistic_regression_zero_init(x: Any, y: Any) -> tuple[Any, Any]:
    """A logistic regression that begins with zeros."""
    return logistic_regression(x, y, init_mean=0.0, init_stddev=0.0)


def _layer(x: Any, y: Any, outputs: Any, init_mean: Any, init_stddev: float) -> tuple[Any, Any]:
    """Weights and bias of the scope, with summaries."""
    scope, dtype = tf.get_variable_scope().name, x.dtype.base_dtype
    initializer = None if init_mean is None else tf.random_normal_initializer(init_mean, init_stddev, dtype=dtype)
    tf.summary.histogram(f"{scope}.x", x)
    tf.summary.histogram(f"{scope}.y", y)
    weights = tf.get_variable("weights", [x.get_shape()[1], outputs], initializer=initializer, dtype=dtype)
    bias = tf.get_variable("bias", [outputs], initializer=initializer, dtype=dtype)
    tf.summary.histogram(f"{scope}.weights", weights)
    tf.summary.histogram(f"{scope}.bias", bias)
    return weights, bias


@learn(_MODULE, "linear_regression")
def linear_regression(x: Any, y: Any, init_mean: Any = None, init_stddev: float = 1.0) -> tuple[Any, Any]:
    """Predictions and loss of a linear regression."""
    with tf.variable_scope("linear_regression"):
        shape = y.get_shape()
        weights, bias = _layer(x, y, 1 if len(shape) == 1 else shape[1], init_mean, init_stddev)
        return mean_squared_error_regressor(x, y, weights, bias)


@learn(_MODULE, "logistic_regression")
def logistic_regression(x: Any, y: Any, class_weight: Any = None, init_mean: Any = None, init_stddev: float = 1.0) -> tuple[Any, Any]:
    """Predictions and loss of a logistic regression; a tensor named class_weight weights the classes."""
    with tf.variable_scope("logistic_regression"):
        weights, bias = _layer(x, y, y.get_shape()[-1], init_mean, init_stddev)
        if class_weight is None:
            try:
                class_weight = get_default_graph().get_tensor_by_name("class_weight:0")
            except KeyError:
                pass
        return softmax_classifier(x, y, weights, bias, class_weight=class_weight)


def _reversed(steps: list[Any], lengths: Any) -> list[Any]:
    if lengths is None:
        return list(reversed(steps))
    for step in steps:
        step.set_shape(step.get_shape().with_rank(2))
    return tf.unstack(tf.reverse_sequence(tf.stack(steps), lengths, 0, 1))


@learn(_MODULE, "bidirectional_rnn")
def bidirectional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[Any, Any]:
    """Outputs and states of a cell that reads forwards and of one that reads backwards, side by side."""
    for name, cell in (("cell_fw", cell_fw), ("cell_bw", cell_bw)):
        if not isinstance(cell, tf.nn.rnn_cell.RNNCell):
            raise TypeError(f"{name} must be an instance of RNNCell")
    if not isinstance(inputs, list):
        raise TypeError("inputs must be a list")
    if not inputs:
        raise ValueError("inputs must not be empty")
    name = scope or "BiRNN"
    with tf.variable_scope(f"{name}_FW"):
        forwards, state_fw = tf.nn.static_rnn(cell_fw, inputs, initial_state_fw, dtype, sequence_length)
    with tf.variable_scope(f"{name}_BW"):
        found, state_bw = tf.nn.static_rnn(cell_bw, _reversed(inputs, sequence_length), initial_state_bw, dtype, sequence_length)
    backwards = _reversed(found, sequence_length)
    return [tf.concat([fw, bw], 1) for fw, bw in zip(forwards, backwards)], tf.concat([state_fw, state_bw], 1)


def _cells(cell_type: str) -> Any:
    cells = {
        "rnn": tf.nn.rnn_cell.BasicRNNCell,
        "gru": tf.nn.rnn_cell.GRUCell,
        "lstm": functools.partial(tf.nn.rnn_cell.BasicLSTMCell, state_is_tuple=False),
    }
    if cell_type not in cells:
        raise ValueError(f"cell_type {cell_type} is not supported. ")
    return cells[cell_type]


@learn(_MODULE, "get_rnn_model")
def get_rnn_model(
    rnn_size: int,
    cell_type: str,
    num_layers: int,
    input_op_fn: Callable[[Any], Any],
    bidirectional: bool,
    target_predictor_fn: Callable[[Any, Any], Any],
    sequence_length: Any,
    initial_state: Any,
    attn_length: Any,
    attn_size: Any,
    attn_vec_size: Any,
) -> Callable[[Any, Any], Any]:
    """A function of x and y that predicts from the last state of a recurrent network, with attention where it is asked for."""

    def cell() -> Any:
        made = _cells(cell_type)(rnn_size)
        if attn_length is None:
            return made
        return tf.contrib.rnn.AttentionCellWrapper(
            made, attn_length=attn_length, attn_size=attn_size, attn_vec_size=attn_vec_size, state_is_tuple=False
        )

    def stack() -> Any:
        return tf.nn.rnn_cell.MultiRNNCell([cell() for _ in range(num_layers)], state_is_tuple=False)

    def model(x: Any, y: Any) -> Any:
        inputs = input_op_fn(x)
        if bidirectional:
            _, encoding = bidirectional_rnn(
                stack(),
                stack(),
                inputs,
                dtype=tf.float32,
                sequence_length=sequence_length,
                initial_state_fw=initial_state,
                initial_state_bw=initial_state,
            )
        else:
            _, encoding = tf.nn.static_rnn(stack(), inputs, dtype=tf.float32, sequence_length=sequence_length, initial_state=initial_state)
        return target_predictor_fn(encoding, y)

    return model
