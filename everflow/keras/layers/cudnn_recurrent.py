"""The recurrent layers of CuDNN: the same weights in the same places, computed on any device."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.keras.layers.recurrent_cells import GRUCell, LSTMCell, remembering
from everflow.keras.layers.recurrent_layers import OverVectors


class _CuDNNKernels:
    """Kernels as CuDNN keeps them (`everflow/keras/kernel_forms.py`); products take them as matrices."""

    units: int
    kernel: Any
    recurrent_kernel: Any
    _gates: int
    matrices: tuple[Any, Any]

    def read_kernels(self) -> None:
        """Lays out both kernels, once for all steps."""
        given, kept = (tf.split(kernel, self._gates, axis=1) for kernel in (self.kernel, self.recurrent_kernel))
        sizes = self.units, -1
        self.matrices = (
            tf.concat([tf.transpose(tf.reshape(k, sizes)) for k in given], axis=1),
            tf.concat([tf.transpose(k) for k in kept], axis=1),
        )


class _CuDNNLSTMCell(_CuDNNKernels, LSTMCell):
    def _bias_shape(self) -> tuple[int, ...]:
        return (8 * self.units,)

    def _bias_initializer(self) -> Any:
        return remembering(self.bias_initializer, 5 * self.units, self.units) if self.unit_forget_bias else self.bias_initializer

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:  # type: ignore[override]
        z = tf.matmul(inputs, self.matrices[0]) + tf.matmul(states[0], self.matrices[1])
        half = 4 * self.units
        gates = tf.split(tf.nn.bias_add(z, self.bias[:half] + self.bias[half:]), 4, axis=1)
        return self._output(gates, states[1])


class _CuDNNGRUCell(_CuDNNKernels, GRUCell):
    def _bias_shape(self) -> tuple[int, ...]:
        return (6 * self.units,)

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:  # type: ignore[override]
        before, half = states[0], 3 * self.units
        given = tf.split(tf.nn.bias_add(tf.matmul(inputs, self.matrices[0]), self.bias[:half]), 3, axis=1)
        kept = tf.split(tf.nn.bias_add(tf.matmul(before, self.matrices[1]), self.bias[half:]), 3, axis=1)
        z, r = tf.sigmoid(given[0] + kept[0]), tf.sigmoid(given[1] + kept[1])
        output = z * before + (1 - z) * tf.tanh(given[2] + r * kept[2])
        return output, [output]


class _CuDNNRNN(OverVectors):
    """What the two share."""

    def __init__(self, given: dict[str, Any]) -> None:
        super().__init__(given, recurrent_activation="sigmoid")

    def call(self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None) -> Any:  # type: ignore[override]
        """The outputs of the last step or of all; masks are not known here."""
        if isinstance(mask, list):
            mask = mask[0]
        if mask is not None:
            raise ValueError("Masking is not supported for CuDNN RNNs.")
        self.cell.read_kernels()
        return super().call(inputs, training=training, initial_state=initial_state)

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        del config["unroll"]
        return config


@public("keras.layers.CuDNNGRU")
class CuDNNGRU(_CuDNNRNN):
    """Gated recurrent units with the weights of CuDNN."""

    _cell_class = _CuDNNGRUCell

    def __init__(
        self,
        units: int,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(locals())


@public("keras.layers.CuDNNLSTM")
class CuDNNLSTM(_CuDNNRNN):
    """Long short-term memory with the weights of CuDNN."""

    _cell_class = _CuDNNLSTMCell

    def __init__(
        self,
        units: int,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(locals())
