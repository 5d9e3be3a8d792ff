"""Cells that compute what cuDNN's networks do, with weights of the same names in checkpoints."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.rnn.block_cells import LSTMBlockCell
from everflow.rnn.basic_cells import GRUCell
from everflow.rnn.cell import check_types, input_depth


@public("contrib.cudnn_rnn.CudnnCompatibleLSTMCell")
class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """An LSTM cell without a forget bias."""

    def __init__(self, num_units: int, reuse: Any = None) -> None:
        super().__init__(num_units, forget_bias=0, cell_clip=None, use_peephole=False, reuse=reuse, name="cudnn_compatible_lstm_cell")


@public("contrib.cudnn_rnn.CudnnCompatibleGRUCell")
class CudnnCompatibleGRUCell(GRUCell):
    """A gated recurrent unit whose reset gate comes after the product with the state."""

    def __init__(self, num_units: int, reuse: Any = None, kernel_initializer: Any = None) -> None:
        super().__init__(num_units, activation=None, reuse=reuse, kernel_initializer=kernel_initializer)

    def build(self, inputs_shape: Any) -> None:
        depth, units, kernel = input_depth(inputs_shape), self._num_units, self._kernel_initializer
        ones = self._bias_initializer if self._bias_initializer is not None else tf.constant_initializer(1.0, dtype=self.dtype)
        zeros = self._bias_initializer if self._bias_initializer is not None else tf.zeros_initializer(dtype=self.dtype)
        self._gate_kernel = self.add_variable("gates/kernel", shape=[depth + units, 2 * units], initializer=kernel)
        self._gate_bias = self.add_variable("gates/bias", shape=[2 * units], initializer=ones)
        self._input_kernel = self.add_variable("candidate/input_projection/kernel", shape=[depth, units], initializer=kernel)
        self._hidden_kernel = self.add_variable("candidate/hidden_projection/kernel", shape=[units, units], initializer=kernel)
        self._input_bias = self.add_variable("candidate/input_projection/bias", shape=[units], initializer=zeros)
        self._hidden_bias = self.add_variable("candidate/hidden_projection/bias", shape=[units], initializer=zeros)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        check_types([inputs, state])
        gates = tf.nn.bias_add(tf.matmul(tf.concat([inputs, state], 1), self._gate_kernel), self._gate_bias)
        r, u = tf.split(tf.sigmoid(gates), 2, axis=1)
        given = tf.nn.bias_add(tf.matmul(inputs, self._input_kernel), self._input_bias)
        kept = tf.nn.bias_add(tf.matmul(state, self._hidden_kernel), self._hidden_bias)
        output = (1 - u) * self._activation(given + r * kept) + u * state
        return output, output
