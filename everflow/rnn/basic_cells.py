"""The plain recurrent cell and the gated recurrent unit."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.dtypes import DTypeLike
from everflow.keras import activations, initializers
from everflow.keras.input_spec import InputSpec
from everflow.rnn.cell import LayerRNNCell, check_types, input_depth

WEIGHTS = internal("ops.rnn_cell_impl._WEIGHTS_VARIABLE_NAME")("kernel")
BIAS = internal("ops.rnn_cell_impl._BIAS_VARIABLE_NAME")("bias")


def activation_of(activation: Any) -> Any:
    """An activation by name or itself; none is tanh."""
    return activations.get(activation) if activation else tf.tanh


@public("nn.rnn_cell.BasicRNNCell", "contrib.rnn.BasicRNNCell")
class BasicRNNCell(LayerRNNCell):
    """`output = new_state = activation(W [inputs, state] + b)`."""

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activation_of(activation)

    @property
    def state_size(self) -> Any:
        return self._num_units

    @property
    def output_size(self) -> Any:
        return self._num_units

    def build(self, inputs_shape: Any) -> None:
        depth = input_depth(inputs_shape)
        self._kernel = self.add_variable(WEIGHTS, shape=[depth + self._num_units, self._num_units])
        self._bias = self.add_variable(BIAS, shape=[self._num_units], initializer=tf.zeros_initializer(dtype=self.dtype))
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        check_types([inputs, state])
        found = tf.nn.bias_add(tf.matmul(tf.concat([inputs, state], 1), self._kernel), self._bias)
        output = self._activation(found)
        return output, output

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "num_units": self._num_units,
            "activation": activations.serialize(self._activation),
            "reuse": self._reuse,
        }


@public("nn.rnn_cell.GRUCell", "contrib.rnn.GRUCell")
class GRUCell(LayerRNNCell):
    """The gated recurrent unit: what it keeps of its state and what it takes of the candidate is learned."""

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activation_of(activation)
        self._kernel_initializer = initializers.get(kernel_initializer)
        self._bias_initializer = initializers.get(bias_initializer)

    @property
    def state_size(self) -> Any:
        return self._num_units

    @property
    def output_size(self) -> Any:
        return self._num_units

    def build(self, inputs_shape: Any) -> None:
        depth = input_depth(inputs_shape) + self._num_units
        given = self._bias_initializer
        self._gate_kernel = self.add_variable(f"gates/{WEIGHTS}", shape=[depth, 2 * self._num_units], initializer=self._kernel_initializer)
        self._gate_bias = self.add_variable(
            f"gates/{BIAS}",
            shape=[2 * self._num_units],
            initializer=given if given is not None else tf.constant_initializer(1.0, dtype=self.dtype),
        )
        self._candidate_kernel = self.add_variable(
            f"candidate/{WEIGHTS}", shape=[depth, self._num_units], initializer=self._kernel_initializer
        )
        self._candidate_bias = self.add_variable(
            f"candidate/{BIAS}", shape=[self._num_units], initializer=given if given is not None else tf.zeros_initializer(dtype=self.dtype)
        )
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        check_types([inputs, state])
        gates = tf.nn.bias_add(tf.matmul(tf.concat([inputs, state], 1), self._gate_kernel), self._gate_bias)
        r, u = tf.split(value=tf.sigmoid(gates), num_or_size_splits=2, axis=1)
        r_state = r * state
        candidate = tf.nn.bias_add(tf.matmul(tf.concat([inputs, r_state], 1), self._candidate_kernel), self._candidate_bias)
        c = self._activation(candidate)
        new_state = u * state + (1 - u) * c
        return new_state, new_state

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "num_units": self._num_units,
            "kernel_initializer": initializers.serialize(self._kernel_initializer),
            "bias_initializer": initializers.serialize(self._bias_initializer),
            "activation": activations.serialize(self._activation),
            "reuse": self._reuse,
        }
