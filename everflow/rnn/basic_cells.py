"""The plain recurrent cell and the gated recurrent unit."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.dtypes import DTypeLike
from everflow.keras import activations
from everflow.keras.shape_methods import of_tuples
from everflow.rnn.cell import DescribedCell, check_types, input_depth

WEIGHTS = internal("ops.rnn_cell_impl._WEIGHTS_VARIABLE_NAME")("kernel")
BIAS = internal("ops.rnn_cell_impl._BIAS_VARIABLE_NAME")("bias")


def activation_of(activation: Any) -> Any:
    """An activation by name or itself; none is tanh."""
    return activations.get(activation) if activation else tf.tanh


@public("nn.rnn_cell.BasicRNNCell", "contrib.rnn.BasicRNNCell")
class BasicRNNCell(DescribedCell):
    """`output = new_state = activation(W [inputs, state] + b)`."""

    _in_config = ("num_units", "activation")

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(locals())

    @property
    def state_size(self) -> Any:
        return self._num_units

    @property
    def output_size(self) -> Any:
        return self._num_units

    @of_tuples
    def build(self, input_shape: Any) -> None:
        depth = input_depth(input_shape)
        self._kernel = self.add_variable(WEIGHTS, shape=[depth + self._num_units, self._num_units])
        self._bias = self.add_variable(BIAS, shape=[self._num_units], initializer=tf.zeros_initializer(dtype=self.dtype))
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        check_types([inputs, state])
        found = tf.nn.bias_add(tf.matmul(tf.concat([inputs, state], 1), self._kernel), self._bias)
        output = self._activation(found)
        return output, output


@public("nn.rnn_cell.GRUCell", "contrib.rnn.GRUCell")
class GRUCell(DescribedCell):
    """The gated recurrent unit: what it keeps of its state and what it takes of the candidate is learned."""

    _in_config = ("num_units", "kernel_initializer", "bias_initializer", "activation")

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
        super().__init__(locals())

    @property
    def state_size(self) -> Any:
        return self._num_units

    @property
    def output_size(self) -> Any:
        return self._num_units

    @of_tuples
    def build(self, input_shape: Any) -> None:
        units = self._num_units
        depth = input_depth(input_shape) + units
        # At first the gates are open.
        for which, width, first in (("gate", 2 * units, tf.constant_initializer(1.0, dtype=self.dtype)), ("candidate", units, None)):
            scope = "gates" if which == "gate" else which
            bias = first or tf.zeros_initializer(dtype=self.dtype) if self._bias_initializer is None else self._bias_initializer
            kernel = self.add_variable(f"{scope}/{WEIGHTS}", shape=[depth, width], initializer=self._kernel_initializer)
            setattr(self, f"_{which}_kernel", kernel)
            setattr(self, f"_{which}_bias", self.add_variable(f"{scope}/{BIAS}", shape=[width], initializer=bias))
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        check_types([inputs, state])
        seen, kept = tf.split(value=tf.sigmoid(self._dense("gate", inputs, state)), num_or_size_splits=2, axis=1)
        candidate = self._activation(self._dense("candidate", inputs, seen * state))
        after = kept * state + (1 - kept) * candidate
        return after, after

    def _dense(self, which: str, inputs: Any, state: Any) -> Any:
        kernel, bias = getattr(self, f"_{which}_kernel"), getattr(self, f"_{which}_bias")
        return tf.nn.bias_add(tf.matmul(tf.concat([inputs, state], 1), kernel), bias)
