"""Cells whose units look at their own state alone."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.dtypes import DTypeLike
from everflow.keras.input_spec import InputSpec
from everflow.rnn.basic_cells import activation_of
from everflow.rnn.cell import LayerRNNCell, input_depth
from everflow.rnn.state import LSTMStateTuple


@public("contrib.rnn.IndRNNCell")
class IndRNNCell(LayerRNNCell):
    """The plain cell with a vector in the place of the recurrent matrix."""

    def __init__(
        self, num_units: int, activation: Any = None, reuse: Any = None, name: str | None = None, dtype: DTypeLike | None = None
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activation_of(activation)

    state_size = property(lambda self: self._num_units, doc="The size of the state.")
    output_size = property(lambda self: self._num_units, doc="The size of the outputs.")

    def build(self, inputs_shape: Any) -> None:
        self._kernel_w = self.add_variable("kernel_w", shape=[input_depth(inputs_shape), self._num_units])
        self._kernel_u = self.add_variable(
            "kernel_u", shape=[1, self._num_units], initializer=tf.random_uniform_initializer(minval=-1, maxval=1, dtype=self.dtype)
        )
        self._bias = self.add_variable("bias", shape=[self._num_units], initializer=tf.zeros_initializer(dtype=self.dtype))
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        gates = tf.matmul(inputs, self._kernel_w) + state * self._kernel_u
        output = self._activation(tf.nn.bias_add(gates, self._bias))
        return output, output


@public("contrib.rnn.IndyGRUCell")
class IndyGRUCell(LayerRNNCell):
    """The GRU with vectors in the place of its recurrent matrices."""

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activation_of(activation)
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    state_size = property(lambda self: self._num_units, doc="The size of the state.")
    output_size = property(lambda self: self._num_units, doc="The size of the outputs.")

    def build(self, inputs_shape: Any) -> None:
        depth, units, given = input_depth(inputs_shape), self._num_units, self._bias_initializer
        uniform = tf.random_uniform_initializer(minval=-1.0, maxval=1.0, dtype=self.dtype)
        self._gate_kernel_w = self.add_variable("gates/kernel_w", shape=[depth, 2 * units], initializer=self._kernel_initializer)
        self._gate_kernel_u = self.add_variable("gates/kernel_u", shape=[1, 2 * units], initializer=uniform)
        self._gate_bias = self.add_variable(
            "gates/bias", shape=[2 * units], initializer=given if given is not None else tf.constant_initializer(1.0, dtype=self.dtype)
        )
        self._candidate_kernel_w = self.add_variable("candidate/kernel", shape=[depth, units], initializer=self._kernel_initializer)
        self._candidate_kernel_u = self.add_variable("candidate/kernel_u", shape=[1, units], initializer=uniform)
        self._candidate_bias = self.add_variable(
            "candidate/bias", shape=[units], initializer=given if given is not None else tf.zeros_initializer(dtype=self.dtype)
        )
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        gates = tf.matmul(inputs, self._gate_kernel_w) + tf.tile(state, [1, 2]) * self._gate_kernel_u
        r, u = tf.split(value=tf.sigmoid(tf.nn.bias_add(gates, self._gate_bias)), num_or_size_splits=2, axis=1)
        candidate = tf.matmul(inputs, self._candidate_kernel_w) + r * state * self._candidate_kernel_u
        c = self._activation(tf.nn.bias_add(candidate, self._candidate_bias))
        new_state = u * state + (1 - u) * c
        return new_state, new_state


@public("contrib.rnn.IndyLSTMCell")
class IndyLSTMCell(LayerRNNCell):
    """The LSTM with a vector in the place of its recurrent matrix."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        activation: Any = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._activation = activation_of(activation)
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    state_size = property(lambda self: LSTMStateTuple(self._num_units, self._num_units), doc="The sizes of the state.")
    output_size = property(lambda self: self._num_units, doc="The size of the outputs.")

    def build(self, inputs_shape: Any) -> None:
        depth, units = input_depth(inputs_shape), self._num_units
        self._kernel_w = self.add_variable("kernel_w", shape=[depth, 4 * units], initializer=self._kernel_initializer)
        self._kernel_u = self.add_variable(
            "kernel_u", shape=[1, 4 * units], initializer=tf.random_uniform_initializer(minval=-1.0, maxval=1.0, dtype=self.dtype)
        )
        self._bias = self.add_variable(
            "bias",
            shape=[4 * units],
            initializer=self._bias_initializer if self._bias_initializer is not None else tf.zeros_initializer(dtype=self.dtype),
        )
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        c, h = state
        gates = tf.matmul(inputs, self._kernel_w) + tf.tile(h, [1, 4]) * self._kernel_u
        i, j, f, o = tf.split(value=tf.nn.bias_add(gates, self._bias), num_or_size_splits=4, axis=1)
        new_c = c * tf.sigmoid(f + self._forget_bias) + tf.sigmoid(i) * self._activation(j)
        new_h = self._activation(new_c) * tf.sigmoid(o)
        return new_h, LSTMStateTuple(new_c, new_h)
