"""Cells with fewer gates than an LSTM: the minimal network and the chaos free one."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.graph.dtypes import DTypeLike
from everflow.keras.input_spec import InputSpec
from everflow.rnn.cell import LayerRNNCell, input_depth

_HOME = "contrib.rnn.python.ops.rnn_cell"


class _Cell(LayerRNNCell):
    """What the two have in common: what they are told, and a state that is the output."""

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "ones",
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, dtype=dtype, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self.units = units
        self.activation = tf.keras.activations.get(activation)
        self.kernel_initializer = tf.keras.initializers.get(kernel_initializer)
        self.bias_initializer = tf.keras.initializers.get(bias_initializer)

    state_size = property(lambda self: self.units, doc="The size of the state.")
    output_size = property(lambda self: self.units, doc="The size of the outputs.")


@internal(f"{_HOME}.MinimalRNNCell")
class MinimalRNNCell(_Cell):
    """One gate between the state and the input (Chen, arXiv 1711.06788)."""

    def build(self, inputs_shape: Any) -> None:
        depth = input_depth(inputs_shape)
        self.kernel = self.add_variable("kernel", [depth + 2 * self.units, self.units], initializer=self.kernel_initializer)
        self.bias = self.add_variable("bias", [self.units], initializer=self.bias_initializer)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        depth = inputs.get_shape()[1].value
        feeding, gating = tf.split(self.kernel, [depth, 2 * self.units], axis=0)
        fed = self.activation(tf.matmul(inputs, feeding))
        gate = tf.sigmoid(tf.nn.bias_add(tf.matmul(tf.concat([fed, state], axis=1), gating), self.bias))
        new_state = gate * state + (1 - gate) * fed
        return new_state, new_state


@internal(f"{_HOME}.CFNCell")
class CFNCell(_Cell):
    """Without an input its state dies away (Laurent and von Brecht, arXiv 1612.06212)."""

    def build(self, inputs_shape: Any) -> None:
        depth = input_depth(inputs_shape)
        self.kernel = self.add_variable("kernel", [depth, 3 * self.units], initializer=self.kernel_initializer)
        self.recurrent_kernel = self.add_variable("recurrent_kernel", [self.units, 2 * self.units], initializer=self.kernel_initializer)
        self.bias = self.add_variable("bias", [2 * self.units], initializer=self.bias_initializer)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        gating, feeding = tf.split(self.kernel, [2 * self.units, self.units], axis=1)
        gates = tf.matmul(inputs, gating) + tf.matmul(state, self.recurrent_kernel)
        kept, refused = tf.split(tf.sigmoid(tf.nn.bias_add(gates, self.bias)), 2, axis=1)
        fed = tf.matmul(inputs, feeding)
        new_state = kept * self.activation(state) + (1 - refused) * self.activation(fed)
        return new_state, new_state
