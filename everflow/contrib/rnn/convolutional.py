"""LSTMs whose gates are convolutions."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.shapes import TensorShape
from everflow.rnn.cell import RNNCell
from everflow.rnn.state import LSTMStateTuple


@public("contrib.rnn.ConvLSTMCell")
class ConvLSTMCell(RNNCell):
    """An LSTM over sequences of images (or of sequences, or volumes)."""

    def __init__(
        self,
        conv_ndims: int,
        input_shape: Any,
        output_channels: int,
        kernel_shape: Any,
        use_bias: bool = True,
        skip_connection: bool = False,
        forget_bias: float = 1.0,
        initializers: Any = None,
        name: str = "conv_lstm_cell",
    ) -> None:
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}.")
        self._conv_ndims = conv_ndims
        self._input_shape = input_shape
        self._output_channels = output_channels
        self._kernel_shape = list(kernel_shape)
        self._use_bias = use_bias
        self._forget_bias = forget_bias
        self._skip_connection = skip_connection
        shown = output_channels + (input_shape[-1] if skip_connection else 0)
        space = list(input_shape[:-1])
        self._state_size = LSTMStateTuple(TensorShape([*space, output_channels]), TensorShape([*space, shown]))
        self._output_size = TensorShape([*space, shown])

    @property
    def state_size(self) -> Any:
        return self._state_size

    @property
    def output_size(self) -> Any:
        return self._output_size

    def call(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        cell, hidden = state
        gates = self._convolved([inputs, hidden], 4 * self._output_channels)
        given, new_input, forget, output_gate = tf.split(value=gates, num_or_size_splits=4, axis=self._conv_ndims + 1)
        new_cell = tf.sigmoid(forget + self._forget_bias) * cell
        new_cell = new_cell + tf.sigmoid(given) * tf.tanh(new_input)
        output = tf.tanh(new_cell) * tf.sigmoid(output_gate)
        if self._skip_connection:
            output = tf.concat([output, inputs], axis=-1)
        return output, LSTMStateTuple(new_cell, output)

    def _convolved(self, args: list[Any], features: int) -> Any:
        rank = len(args[0].get_shape())
        if rank not in (3, 4, 5):
            raise ValueError(f"Conv Linear expects 3D, 4D or 5D arguments: {[a.get_shape().as_list() for a in args]}")
        depth = sum(a.get_shape().as_list()[-1] for a in args)
        kernel = tf.get_variable("kernel", [*self._kernel_shape, depth, features], dtype=args[0].dtype)
        joined = args[0] if len(args) == 1 else tf.concat(axis=rank - 1, values=args)
        convolution: Any = {3: tf.nn.conv1d, 4: tf.nn.conv2d, 5: tf.nn.conv3d}[rank]
        found = convolution(joined, kernel, 1 if rank == 3 else [1] * rank, padding="SAME")
        if not self._use_bias:
            return found
        return found + tf.get_variable(
            "biases", [features], dtype=args[0].dtype, initializer=tf.constant_initializer(0.0, dtype=args[0].dtype)
        )


@public("contrib.rnn.Conv1DLSTMCell")
class Conv1DLSTMCell(ConvLSTMCell):
    """A convolutional LSTM over sequences of sequences."""

    def __init__(self, name: str = "conv_1d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=1, name=name, **kwargs)


@public("contrib.rnn.Conv2DLSTMCell")
class Conv2DLSTMCell(ConvLSTMCell):
    """A convolutional LSTM over sequences of images."""

    def __init__(self, name: str = "conv_2d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=2, name=name, **kwargs)


@public("contrib.rnn.Conv3DLSTMCell")
class Conv3DLSTMCell(ConvLSTMCell):
    """A convolutional LSTM over sequences of volumes."""

    def __init__(self, name: str = "conv_3d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=3, name=name, **kwargs)
