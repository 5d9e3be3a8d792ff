"""Linear maps of several inputs at once, with variables of the current scope."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import internal
from everflow.graph.dtypes import DTypeLike
from everflow.ops.variables import variable_scope as scopes


def _sizes(args: list[Any]) -> list[int]:
    found = []
    for shape in (a.get_shape() for a in args):
        if shape.rank != 2:
            raise ValueError(f"linear is expecting 2D arguments: {[a.get_shape() for a in args]}")
        size = shape.as_list()[1]
        if size is None:
            raise ValueError(f"linear expects shape[1] to be provided for shape {shape}, but saw {None}")
        found.append(size)
    return found


@internal("contrib.rnn.python.ops.core_rnn_cell._Linear")
class Linear:
    """`concat(args) @ kernel + bias`; the variables are made when the map is."""

    def __init__(self, args: Any, output_size: int, build_bias: bool, bias_initializer: Any = None, kernel_initializer: Any = None) -> None:
        if args is None or nest.is_nested(args) and not args:
            raise ValueError("`args` must be specified")
        self._is_sequence = nest.is_nested(args)
        args = args if self._is_sequence else [args]
        dtype = args[0].dtype
        with scopes.variable_scope(scopes.get_variable_scope()):
            self._weights = tf.get_variable("kernel", [sum(_sizes(args)), output_size], dtype=dtype, initializer=kernel_initializer)
            self._biases = None
            if build_bias:
                with scopes.variable_scope(scopes.get_variable_scope()) as inner:
                    inner.set_partitioner(None)
                    if bias_initializer is None:
                        bias_initializer = tf.constant_initializer(0.0, dtype=dtype)
                    self._biases = tf.get_variable("bias", [output_size], dtype=dtype, initializer=bias_initializer)

    def __call__(self, args: Any) -> Any:
        args = args if self._is_sequence else [args]
        found = tf.matmul(args[0] if len(args) == 1 else tf.concat(args, 1), self._weights)
        return found if self._biases is None else tf.nn.bias_add(found, self._biases)


@internal("contrib.rnn.python.ops.core_rnn_cell._linear")
def linear(args: Any, output_size: int, bias: bool, bias_initializer: Any = None, kernel_initializer: Any = None) -> Any:
    """The same, made and applied at once."""
    return Linear(args, output_size, bias, bias_initializer, kernel_initializer)(args)


def normalized(x: Any, scope: str, gain: float, shift: float, dtype: DTypeLike | None = None) -> Any:
    """Layer normalization of rows, with `gamma` and `beta` below a scope."""
    shape = x.get_shape()[-1:]
    with scopes.variable_scope(scope):
        gamma = tf.get_variable("gamma", shape=shape, initializer=tf.constant_initializer(gain), dtype=dtype)
        beta = tf.get_variable("beta", shape=shape, initializer=tf.constant_initializer(shift), dtype=dtype)
    mean, variance = tf.nn.moments(x, [1], keep_dims=True)
    return tf.nn.batch_normalization(x, mean, variance, offset=beta, scale=gamma, variance_epsilon=1e-12)
