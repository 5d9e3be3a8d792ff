"""ConvLSTM2D: an LSTM whose products are convolutions."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.shapes import TensorShape
from everflow.keras.backend.windows import bias_add, conv2d
from everflow.keras.configured import ConfiguredLayer
from everflow.keras.input_spec import InputSpec
from everflow.keras.layers.recurrent import RNN
from everflow.keras.layers.recurrent_cells import DropoutRNNCellMixin, remembering
from everflow.keras.layers.recurrent_layers import OneCell
from everflow.keras.shape_methods import of_tuples
from everflow.keras.window_arithmetic import conv_output_length, windows


@internal("keras.layers.convolutional_recurrent.ConvLSTM2DCell")
class ConvLSTM2DCell(DropoutRNNCellMixin, ConfiguredLayer):
    """One step of a ConvLSTM2D."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        activation: Any = "tanh",
        recurrent_activation: Any = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._keep(windows(locals(), 2))
        self._limit_rates()
        self.state_size = (filters, filters)

    def build(self, input_shape: Any) -> None:
        channels = TensorShape(input_shape).as_list()[1 if self.data_format == "channels_first" else -1]
        if channels is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        width = self.filters * 4
        self.kernel = self._weight("kernel", (*self.kernel_size, channels, width))
        self.recurrent_kernel = self._weight("recurrent_kernel", (*self.kernel_size, self.filters, width), "recurrent")
        self.bias = None
        if self.use_bias:
            make = self.bias_initializer
            first = remembering(make, self.filters, self.filters) if self.unit_forget_bias else make
            self.bias = self._weight("bias", (width,), initializer=first)
        self.built = True

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:  # type: ignore[override]
        """(output, [output, memory])."""
        before, memory = states[0], states[1]
        masks = self.get_dropout_mask_for_cell(inputs, training, count=4)
        state_masks = self.get_recurrent_dropout_mask_for_cell(before, training, count=4)
        xs = [inputs] * 4 if masks is None else [inputs * m for m in masks]
        hs = [before] * 4 if state_masks is None else [before * m for m in state_masks]
        axis = 1 if self.data_format == "channels_first" else -1
        if masks is None and state_masks is None:
            gates = tf.split(
                self.input_conv(inputs, self.kernel, self.bias, padding=self.padding) + self.recurrent_conv(before, self.recurrent_kernel),
                4,
                axis=axis,
            )
        else:
            kernels, recurrent = tf.split(self.kernel, 4, axis=3), tf.split(self.recurrent_kernel, 4, axis=3)
            biases = [None] * 4 if self.bias is None else tf.split(self.bias, 4)
            gates = [
                self.input_conv(x, k, b, padding=self.padding) + self.recurrent_conv(h, r)
                for x, k, b, h, r in zip(xs, kernels, biases, hs, recurrent)
            ]
        enter, stay = self.recurrent_activation(gates[0]), self.recurrent_activation(gates[1])
        memory = stay * memory + enter * self.activation(gates[2])
        output = self.recurrent_activation(gates[3]) * self.activation(memory)
        return output, [output, memory]

    def input_conv(self, x: Any, w: Any, b: Any = None, padding: str = "valid") -> Any:
        """The convolution of inputs."""
        found = conv2d(x, w, strides=self.strides, padding=padding, data_format=self.data_format, dilation_rate=self.dilation_rate)
        return found if b is None else bias_add(found, b, data_format=self.data_format)

    def recurrent_conv(self, x: Any, w: Any) -> Any:
        """The convolution of states, which keep their size."""
        return conv2d(x, w, strides=(1, 1), padding="same", data_format=self.data_format)


@internal("keras.layers.convolutional_recurrent.ConvRNN2D")
class ConvRNN2D(RNN):
    """A cell over time whose states are images."""

    def __init__(
        self,
        cell: Any,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        **kwargs: Any,
    ) -> None:
        if unroll:
            raise TypeError("Unrolling isn't possible with convolutional RNNs.")
        if isinstance(cell, (list, tuple)):
            raise TypeError("It is not possible at the moment tostack convolutional cells.")
        super().__init__(cell, return_sequences, return_state, go_backwards, stateful, unroll, **kwargs)
        self.input_spec = [InputSpec(ndim=5)]

    def _image_shape(self, sizes: list[Any]) -> list[Any]:
        """The rows and columns of the output."""
        cell = self.cell
        images = sizes[3:] if cell.data_format == "channels_first" else sizes[2:4]
        return [
            conv_output_length(s, cell.kernel_size[i], padding=cell.padding, stride=cell.strides[i], dilation=cell.dilation_rate[i])
            for i, s in enumerate(images)
        ]

    def _state_shape(self, sizes: list[Any]) -> list[Any]:
        rows, columns = self._image_shape(sizes)
        filters = self.cell.filters
        return [sizes[0], filters, rows, columns] if self.cell.data_format == "channels_first" else [sizes[0], rows, columns, filters]

    @of_tuples
    def compute_output_shape(self, input_shape: Any) -> Any:
        if isinstance(input_shape, list) and isinstance(input_shape[0], (tuple, list, TensorShape)):
            input_shape = input_shape[0]
        sizes = TensorShape(input_shape).as_list()
        state = self._state_shape(sizes)
        output = TensorShape([state[0], sizes[1], *state[1:]] if self.return_sequences else state)
        return [output, TensorShape(state), TensorShape(state)] if self.return_state else output

    @of_tuples
    def build(self, input_shape: Any) -> None:
        if isinstance(input_shape, list) and isinstance(input_shape[0], (tuple, list, TensorShape)):
            input_shape = input_shape[0]
        sizes = TensorShape(input_shape).as_list()
        if not self.cell.built:
            self.cell.build((sizes[0], *sizes[2:]))
            self.cell.built = True
        self.__dict__["_state_dims"] = self._state_shape(sizes)
        self.input_spec = [InputSpec(shape=(sizes[0] if self.stateful else None, None, *sizes[2:]))]
        if self.stateful:
            self.__dict__["_batch_of_states"] = sizes[0]
            self.reset_states()
        self.built = True

    def get_initial_state(self, inputs: Any) -> Any:
        """Images of zeros, of the size that the convolution leaves."""
        step = tf.zeros_like(inputs[:, 0])
        kernel = tf.zeros(
            (*self.cell.kernel_size, step.shape.as_list()[1 if self.cell.data_format == "channels_first" else -1], self.cell.filters),
            dtype=inputs.dtype,
        )
        zeros = self.cell.input_conv(step, kernel, padding=self.cell.padding)
        return [zeros, zeros]

    def _state_variable(self, shape: Any) -> Any:
        return super()._state_variable(self.__dict__["_state_dims"])


@public("keras.layers.ConvLSTM2D")
class ConvLSTM2D(OneCell, ConvRNN2D):  # type: ignore[misc]
    """Long short-term memory of sequences of images."""

    _cell_class = ConvLSTM2DCell

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        activation: Any = "tanh",
        recurrent_activation: Any = "hard_sigmoid",
        use_bias: bool = True,
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
        go_backwards: bool = False,
        stateful: bool = False,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(locals())

    def call(self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None) -> Any:  # type: ignore[override]
        """The outputs of the last step or of all."""
        return super().call(inputs, mask=mask, training=training, initial_state=initial_state)
