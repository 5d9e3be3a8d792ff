"""The recurrent layers of CuDNN: the same weights in the same places, computed on any device."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.keras import constraints, initializers, regularizers
from everflow.keras.input_spec import InputSpec
from everflow.keras.layers.recurrent import RNN
from everflow.keras.layers.recurrent_cells import GRUCell, LSTMCell


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
        if not self.unit_forget_bias:
            return self.bias_initializer

        def forgetting_little(_: Any, *args: Any, **kwargs: Any) -> Any:
            u, make = self.units, self.bias_initializer
            return tf.concat(
                [make((u * 5,), *args, **kwargs), tf.ones_initializer()((u,), *args, **kwargs), make((u * 2,), *args, **kwargs)], axis=0
            )

        return forgetting_little

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


class _CuDNNRNN(RNN):
    """What the two share."""

    _cell_class: Any

    def __init__(
        self,
        units: int,
        activity_regularizer: Any,
        options: dict[str, Any],
        return_sequences: bool,
        return_state: bool,
        go_backwards: bool,
        stateful: bool,
        **kwargs: Any,
    ) -> None:
        cell = self._cell_class(
            units, recurrent_activation="sigmoid", **options, **{n: kwargs[n] for n in ("dtype", "trainable") if n in kwargs}
        )
        super().__init__(
            cell, return_sequences=return_sequences, return_state=return_state, go_backwards=go_backwards, stateful=stateful, **kwargs
        )
        self.units = units
        self.activity_regularizer = regularizers.get(activity_regularizer)
        self.input_spec = [InputSpec(ndim=3)]

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
        for name in ("cell", "unroll"):
            config.pop(name, None)
        cell = self.cell
        config.update(units=self.units, activity_regularizer=regularizers.serialize(self.activity_regularizer))
        for part in ("kernel", "recurrent", "bias"):
            config[part + "_initializer"] = initializers.serialize(getattr(cell, part + "_initializer"))
            config[part + "_regularizer"] = regularizers.serialize(getattr(cell, part + "_regularizer"))
            config[part + "_constraint"] = constraints.serialize(getattr(cell, part + "_constraint"))
        return config

    @classmethod
    def from_config(cls, config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
        """The layer with these arguments."""
        return cls(**config)


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
        super().__init__(
            units,
            activity_regularizer,
            {
                "kernel_initializer": kernel_initializer,
                "recurrent_initializer": recurrent_initializer,
                "bias_initializer": bias_initializer,
                "kernel_regularizer": kernel_regularizer,
                "recurrent_regularizer": recurrent_regularizer,
                "bias_regularizer": bias_regularizer,
                "kernel_constraint": kernel_constraint,
                "recurrent_constraint": recurrent_constraint,
                "bias_constraint": bias_constraint,
            },
            return_sequences,
            return_state,
            go_backwards,
            stateful,
            **kwargs,
        )


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
        super().__init__(
            units,
            activity_regularizer,
            {
                "kernel_initializer": kernel_initializer,
                "recurrent_initializer": recurrent_initializer,
                "bias_initializer": bias_initializer,
                "unit_forget_bias": unit_forget_bias,
                "kernel_regularizer": kernel_regularizer,
                "recurrent_regularizer": recurrent_regularizer,
                "bias_regularizer": bias_regularizer,
                "kernel_constraint": kernel_constraint,
                "recurrent_constraint": recurrent_constraint,
                "bias_constraint": bias_constraint,
            },
            return_sequences,
            return_state,
            go_backwards,
            stateful,
            **kwargs,
        )

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "unit_forget_bias": self.cell.unit_forget_bias}
