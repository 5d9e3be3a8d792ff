"""The cells: SimpleRNN, GRU and LSTM."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.arguments import arguments
from everflow.keras.backend.learning_phase import in_train_phase
from everflow.keras.backend.random import dropout as dropped
from everflow.keras.configured import ConfiguredLayer
from everflow.keras.layers.recurrent import cell_zeros
from everflow.keras.shape_methods import of_tuples


@internal("keras.layers.recurrent.DropoutRNNCellMixin")
class DropoutRNNCellMixin:
    """Masks of dropout that stay the same for all steps of a call."""

    dropout: float
    recurrent_dropout: float

    def _masks(self) -> dict[Any, Any]:
        return self.__dict__.setdefault("_dropout_masks", {})

    def _limit_rates(self) -> None:
        for name in ("dropout", "recurrent_dropout"):
            setattr(self, name, min(1.0, max(0.0, getattr(self, name))))

    def reset_dropout_mask(self) -> None:
        """Has the next call draw a mask for its inputs."""
        self._masks().pop("inputs", None)

    def reset_recurrent_dropout_mask(self) -> None:
        """Has the next call draw a mask for its states."""
        self._masks().pop("states", None)

    def get_dropout_mask_for_cell(self, inputs: Any, training: Any, count: int = 1) -> Any:
        """The mask of the inputs, `count` of them where gates have their own; None without dropout."""
        return self._drawn("inputs", inputs, self.dropout, training, count)

    def get_recurrent_dropout_mask_for_cell(self, inputs: Any, training: Any, count: int = 1) -> Any:
        """The same for states."""
        return self._drawn("states", inputs, self.recurrent_dropout, training, count)

    def _drawn(self, which: str, x: Any, rate: float, training: Any, count: int) -> Any:
        if rate == 0:
            return None
        kept = self._masks()
        if which not in kept:
            ones = tf.ones_like(x)
            made = [in_train_phase(lambda: dropped(ones, rate), ones, training=training) for _ in range(count)]
            kept[which] = made if count > 1 else made[0]
        return kept[which]


class _Cell(DropoutRNNCellMixin, ConfiguredLayer):
    """What the cells share: a kernel for inputs, one for states and a bias, with `_gates` parts each."""

    _gates = 1
    bias: Any
    state_size: Any
    units: int

    def __init__(self, given: dict[str, Any]) -> None:
        super().__init__(**given["kwargs"])
        self._keep(given)
        self._limit_rates()
        self.state_size = self.output_size = self.units

    @of_tuples
    def build(self, input_shape: Any) -> None:
        width = self.units * self._gates
        self.kernel = self._weight("kernel", (input_shape[-1], width))
        self.recurrent_kernel = self._weight("recurrent_kernel", (self.units, width), "recurrent")
        self.bias = self._weight("bias", self._bias_shape(), initializer=self._bias_initializer()) if self.use_bias else None
        self.built = True

    def _bias_shape(self) -> tuple[int, ...]:
        return (self.units * self._gates,)

    def _bias_initializer(self) -> Any:
        return self.bias_initializer

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """States of zeros."""
        return cell_zeros(self, inputs, batch_size, dtype)


@public("keras.layers.SimpleRNNCell")
class SimpleRNNCell(_Cell):
    """The output of a step is that of a dense layer of the input and the output before."""

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
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
        super().__init__(locals())

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:  # type: ignore[override]
        """(output, [output])."""
        before = states[0]
        mask = self.get_dropout_mask_for_cell(inputs, training)
        state_mask = self.get_recurrent_dropout_mask_for_cell(before, training)
        h = tf.matmul(inputs if mask is None else inputs * mask, self.kernel)
        if self.bias is not None:
            h = tf.nn.bias_add(h, self.bias)
        output = h + tf.matmul(before if state_mask is None else before * state_mask, self.recurrent_kernel)
        if self.activation is not None:
            output = self.activation(output)
        return output, [output]


@public("keras.layers.GRUCell")
@internal("keras.layers.recurrent.GRUCell")
class GRUCell(_Cell):
    """Gates say how much of the state stays, and how much of it the new one sees."""

    _gates = 3

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
        reset_after: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(locals())

    def _bias_shape(self) -> tuple[int, ...]:
        # Where the gate comes after the product, inputs and states have biases of their own.
        return (2, 3 * self.units) if self.reset_after else (3 * self.units,)

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:  # type: ignore[override]
        """(output, [output])."""
        before = states[0]
        masks = self.get_dropout_mask_for_cell(inputs, training, count=3)
        state_masks = self.get_recurrent_dropout_mask_for_cell(before, training, count=3)
        if state_masks is not None and self.implementation != 1:
            before, state_masks = before * state_masks[0], None
        input_bias = recurrent_bias = None
        if self.bias is not None:
            input_bias, recurrent_bias = tf.unstack(self.bias) if self.reset_after else (self.bias, None)
        of_inputs = _products(inputs, masks, self.kernel, input_bias, 3, self.implementation)
        u = self.units
        if self.reset_after:
            z_h, r_h, h_h = _products(before, state_masks, self.recurrent_kernel, recurrent_bias, 3, self.implementation)
            z, r = self.recurrent_activation(of_inputs[0] + z_h), self.recurrent_activation(of_inputs[1] + r_h)
            candidate = of_inputs[2] + r * h_h
        else:
            seen = [before] * 3 if state_masks is None else [before * m for m in state_masks]
            if state_masks is None:
                z_h, r_h = tf.split(tf.matmul(seen[0], self.recurrent_kernel[:, : 2 * u]), 2, axis=1)
            else:
                z_h = tf.matmul(seen[0], self.recurrent_kernel[:, :u])
                r_h = tf.matmul(seen[1], self.recurrent_kernel[:, u : 2 * u])
            z, r = self.recurrent_activation(of_inputs[0] + z_h), self.recurrent_activation(of_inputs[1] + r_h)
            candidate = of_inputs[2] + tf.matmul(r * seen[2], self.recurrent_kernel[:, 2 * u :])
        candidate = self.activation(candidate)
        output = z * before + (1 - z) * candidate
        return output, [output]


def _products(x: Any, masks: Any, kernel: Any, bias: Any, gates: int, implementation: int) -> list[Any]:
    """What each gate gets of the inputs: with masks of their own where there are some, else in one product."""
    if masks is None or implementation != 1:
        found = tf.matmul(x if masks is None else x * masks[0], kernel)
        if bias is not None:
            found = tf.nn.bias_add(found, bias)
        return tf.split(found, gates, axis=1)
    parts = tf.split(kernel, gates, axis=1)
    found = [tf.matmul(x * m, k) for m, k in zip(masks, parts)]
    return found if bias is None else [tf.nn.bias_add(f, b) for f, b in zip(found, tf.split(bias, gates, axis=0))]


def remembering(make: Any, before: int, units: int) -> Any:
    """An initializer of an LSTM's bias: ones for the gate that forgets, so that it lets nearly all through at first."""

    def made(_: Any, *args: Any, **kwargs: Any) -> Any:
        parts = ((make, before), (tf.ones_initializer(), units), (make, 2 * units))
        return tf.concat([initializer((size,), *args, **kwargs) for initializer, size in parts], axis=0)

    return made


@public("keras.layers.LSTMCell")
@internal("keras.layers.recurrent.LSTMCell")
class LSTMCell(_Cell):
    """Gates say what enters the memory, what stays in it and what is seen of it."""

    _gates = 4

    def __init__(
        self,
        units: int,
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
        implementation: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(locals())
        # Not a tracked list: RNNs ask whether it is a plain one.
        self.__dict__["state_size"] = [units, units]

    def _bias_initializer(self) -> Any:
        return remembering(self.bias_initializer, self.units, self.units) if self.unit_forget_bias else self.bias_initializer

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:  # type: ignore[override]
        """(output, [output, memory])."""
        before, memory = states[0], states[1]
        masks = self.get_dropout_mask_for_cell(inputs, training, count=4)
        state_masks = self.get_recurrent_dropout_mask_for_cell(before, training, count=4)
        if masks is None and state_masks is None:
            z = tf.matmul(inputs, self.kernel) + tf.matmul(before, self.recurrent_kernel)
            if self.bias is not None:
                z = tf.nn.bias_add(z, self.bias)
            gates = tf.split(z, 4, axis=1)
        else:
            given = _products(inputs, masks, self.kernel, self.bias, 4, self.implementation)
            kept = _products(before, state_masks, self.recurrent_kernel, None, 4, self.implementation)
            gates = [g + k for g, k in zip(given, kept)]
        return self._output(gates, memory)

    def _output(self, gates: list[Any], memory: Any) -> Any:
        enter, stay = self.recurrent_activation(gates[0]), self.recurrent_activation(gates[1])
        memory = stay * memory + enter * self.activation(gates[2])
        output = self.recurrent_activation(gates[3]) * self.activation(memory)
        return output, [output, memory]

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        return list(cell_zeros(self, inputs, batch_size, dtype))


@public("keras.experimental.PeepholeLSTMCell")
@internal("keras.layers.recurrent.PeepholeLSTMCell")
class PeepholeLSTMCell(LSTMCell):
    """An LSTM whose gates see the memory."""

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        for gate in ("input", "forget", "output"):
            name = f"{gate}_gate_peephole_weights"
            setattr(self, name, self.add_weight(shape=(self.units,), name=name, initializer=self.kernel_initializer))

    def _output(self, gates: list[Any], memory: Any) -> Any:
        enter = self.recurrent_activation(gates[0] + self.input_gate_peephole_weights * memory)
        stay = self.recurrent_activation(gates[1] + self.forget_gate_peephole_weights * memory)
        memory = stay * memory + enter * self.activation(gates[2])
        seen = self.recurrent_activation(gates[3] + self.output_gate_peephole_weights * memory)
        output = seen * self.activation(memory)
        return output, [output, memory]


@internal("keras.layers.recurrent_v2.GRUCell")
class GRUCellV2(GRUCell):
    """The GRU cell with TensorFlow 2's defaults."""

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 2,
        reset_after: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**arguments(locals()))


@internal("keras.layers.recurrent_v2.LSTMCell")
class LSTMCellV2(LSTMCell):
    """The LSTM cell with TensorFlow 2's defaults."""

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
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
        implementation: int = 2,
        **kwargs: Any,
    ) -> None:
        super().__init__(**arguments(locals()))


# Written into configs under the names that programs know.
GRUCellV2.__name__ = GRUCellV2.__qualname__ = "GRUCell"
LSTMCellV2.__name__ = LSTMCellV2.__qualname__ = "LSTMCell"
