"""ConvLSTM2D: an LSTM whose products are convolutions."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.shapes import TensorShape
from everflow.keras import activations, constraints, initializers, regularizers
from everflow.keras.backend.windows import bias_add, conv2d
from everflow.keras.input_spec import InputSpec
from everflow.keras.layer import Layer
from everflow.keras.layers.recurrent import RNN
from everflow.keras.layers.recurrent_cells import DropoutRNNCellMixin
from everflow.keras.window_arithmetic import conv_output_length, normalize_data_format, normalize_padding, normalize_tuple


@internal("keras.layers.convolutional_recurrent.ConvLSTM2DCell")
class ConvLSTM2DCell(DropoutRNNCellMixin, Layer):
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
        self.filters = filters
        self.kernel_size = normalize_tuple(kernel_size, 2, "kernel_size")
        self.strides = normalize_tuple(strides, 2, "strides")
        self.padding = normalize_padding(padding)
        self.data_format = normalize_data_format(data_format)
        self.dilation_rate = normalize_tuple(dilation_rate, 2, "dilation_rate")
        self.activation = activations.get(activation)
        self.recurrent_activation = activations.get(recurrent_activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.recurrent_initializer = initializers.get(recurrent_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.unit_forget_bias = unit_forget_bias
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.recurrent_regularizer = regularizers.get(recurrent_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.recurrent_constraint = constraints.get(recurrent_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
        self.dropout = min(1.0, max(0.0, dropout))
        self.recurrent_dropout = min(1.0, max(0.0, recurrent_dropout))
        self.state_size = (self.filters, self.filters)

    def build(self, input_shape: Any) -> None:
        sizes = TensorShape(input_shape).as_list()
        channels = sizes[1 if self.data_format == "channels_first" else -1]
        if channels is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        self.kernel = self.add_weight(
            shape=(*self.kernel_size, channels, self.filters * 4),
            initializer=self.kernel_initializer,
            name="kernel",
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        self.recurrent_kernel = self.add_weight(
            shape=(*self.kernel_size, self.filters, self.filters * 4),
            initializer=self.recurrent_initializer,
            name="recurrent_kernel",
            regularizer=self.recurrent_regularizer,
            constraint=self.recurrent_constraint,
        )
        self.bias = None
        if self.use_bias:
            make: Any = self.bias_initializer
            if self.unit_forget_bias:

                def make(_: Any, *args: Any, **kwargs: Any) -> Any:  # type: ignore[no-redef]
                    n, first = self.filters, self.bias_initializer
                    return tf.concat(
                        [first((n,), *args, **kwargs), tf.ones_initializer()((n,), *args, **kwargs), first((n * 2,), *args, **kwargs)],
                        axis=0,
                    )

            self.bias = self.add_weight(
                shape=(self.filters * 4,), name="bias", initializer=make, regularizer=self.bias_regularizer, constraint=self.bias_constraint
            )
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

    def get_config(self) -> dict[str, Any]:
        config = {
            "filters": self.filters,
            "kernel_size": self.kernel_size,
            "strides": self.strides,
            "padding": self.padding,
            "data_format": self.data_format,
            "dilation_rate": self.dilation_rate,
            "activation": activations.serialize(self.activation),
            "recurrent_activation": activations.serialize(self.recurrent_activation),
            "use_bias": self.use_bias,
            "unit_forget_bias": self.unit_forget_bias,
            "dropout": self.dropout,
            "recurrent_dropout": self.recurrent_dropout,
        }
        for part in ("kernel", "recurrent", "bias"):
            config[part + "_initializer"] = initializers.serialize(getattr(self, part + "_initializer"))
            config[part + "_regularizer"] = regularizers.serialize(getattr(self, part + "_regularizer"))
            config[part + "_constraint"] = constraints.serialize(getattr(self, part + "_constraint"))
        return {**super().get_config(), **config}


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

    def compute_output_shape(self, input_shape: Any) -> Any:
        if isinstance(input_shape, list) and isinstance(input_shape[0], (tuple, list, TensorShape)):
            input_shape = input_shape[0]
        sizes = TensorShape(input_shape).as_list()
        state = self._state_shape(sizes)
        output = TensorShape([state[0], sizes[1], *state[1:]] if self.return_sequences else state)
        return [output, TensorShape(state), TensorShape(state)] if self.return_state else output

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
class ConvLSTM2D(ConvRNN2D):
    """Long short-term memory of sequences of images."""

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
        cell = ConvLSTM2DCell(
            filters,
            kernel_size,
            strides=strides,
            padding=padding,
            data_format=data_format,
            dilation_rate=dilation_rate,
            activation=activation,
            recurrent_activation=recurrent_activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer,
            unit_forget_bias=unit_forget_bias,
            kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer,
            bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint,
            recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint,
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            dtype=kwargs.get("dtype"),
        )
        super().__init__(cell, return_sequences=return_sequences, go_backwards=go_backwards, stateful=stateful, **kwargs)
        self.activity_regularizer = regularizers.get(activity_regularizer)

    def call(self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None) -> Any:  # type: ignore[override]
        """The outputs of the last step or of all."""
        return super().call(inputs, mask=mask, training=training, initial_state=initial_state)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and "cell" in self.__dict__ and name in vars(self.__dict__["cell"]):
            return getattr(self.__dict__["cell"], name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        del config["cell"]
        mine = self.cell.get_config()
        config.update({k: v for k, v in mine.items() if k not in ("name", "trainable", "dtype", "batch_input_shape")})
        config["activity_regularizer"] = regularizers.serialize(self.activity_regularizer)
        return config

    @classmethod
    def from_config(cls, config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
        """The layer with these arguments."""
        return cls(**config)
