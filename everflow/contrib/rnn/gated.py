"""Cells with other gates: UGRNN, Intersection, NAS, SRU, and LSTMs in groups, with coupled gates or with layer normalization."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.rnn.linear import Linear, normalized
from everflow.graph.dtypes import DTypeLike
from everflow.keras.input_spec import InputSpec
from everflow.ops.variables import variable_scope as scopes
from everflow.rnn.basic_cells import activation_of
from everflow.rnn.cell import LayerRNNCell, RNNCell, input_depth
from everflow.rnn.state import LSTMStateTuple


@public("contrib.rnn.UGRNNCell")
class UGRNNCell(RNNCell):
    """The update gate recurrent network: between a plain cell and a GRU."""

    def __init__(
        self, num_units: int, initializer: Any = None, forget_bias: float = 1.0, activation: Any = tf.tanh, reuse: Any = None
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._activation = activation
        self._linear: Any = None

    state_size = property(lambda self: self._num_units, doc="The size of the state.")
    output_size = property(lambda self: self._num_units, doc="The size of the outputs.")

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        if inputs.get_shape().with_rank(2).as_list()[1] is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        with scopes.variable_scope(scopes.get_variable_scope(), initializer=self._initializer):
            joined = tf.concat([inputs, state], 1)
            if self._linear is None:
                self._linear = Linear(joined, 2 * self._num_units, True)
            g, c = tf.split(axis=1, num_or_size_splits=2, value=self._linear(joined))
            c = self._activation(c)
            g = tf.sigmoid(g + self._forget_bias)
            new_state = g * state + (1.0 - g) * c
        return new_state, new_state


@public("contrib.rnn.IntersectionRNNCell")
class IntersectionRNNCell(RNNCell):
    """Gates for depth and for time: the outputs carry the inputs, the state carries the state."""

    def __init__(
        self,
        num_units: int,
        num_in_proj: Any = None,
        initializer: Any = None,
        forget_bias: float = 1.0,
        y_activation: Any = tf.nn.relu,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._num_input_proj = num_in_proj
        self._y_activation = y_activation
        self._linear1: Any = None
        self._linear2: Any = None

    state_size = property(lambda self: self._num_units, doc="The size of the state.")
    output_size = property(lambda self: self._num_units, doc="The size of the outputs.")

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        size = inputs.get_shape().with_rank(2).as_list()[1]
        if size is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        with scopes.variable_scope(scopes.get_variable_scope(), initializer=self._initializer):
            if size != self._num_units:
                if not self._num_input_proj:
                    raise ValueError(
                        "Must have input size == output size for Intersection RNN. To fix, num_in_proj should be set to num_units at cell "
                        "init."
                    )
                with scopes.variable_scope("in_projection"):
                    if self._linear1 is None:
                        self._linear1 = Linear(inputs, self._num_units, True)
                    inputs = self._linear1(inputs)
            joined = tf.concat([inputs, state], 1)
            if self._linear2 is None:
                self._linear2 = Linear(joined, 4 * self._num_units, True)
            found = self._linear2(joined)
            n = self._num_units
            gh, h, gy, y = (found[:, k * n : (k + 1) * n] for k in range(4))
            h, y = tf.tanh(h), self._y_activation(y)
            gh, gy = tf.sigmoid(gh + self._forget_bias), tf.sigmoid(gy + self._forget_bias)
            return gy * inputs + (1.0 - gy) * y, gh * state + (1.0 - gh) * h


@public("contrib.rnn.NASCell")
class NASCell(LayerRNNCell):
    """The cell that neural architecture search found."""

    def __init__(self, num_units: int, num_proj: Any = None, use_bias: bool = False, reuse: Any = None, **kwargs: Any) -> None:
        super().__init__(_reuse=reuse, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._num_proj = num_proj
        self._use_bias = use_bias
        self._output_size = num_proj if num_proj is not None else num_units

    state_size = property(lambda self: LSTMStateTuple(self._num_units, self._output_size), doc="The sizes of the state.")
    output_size = property(lambda self: self._output_size, doc="The size of the outputs.")

    def build(self, inputs_shape: Any) -> None:
        rows, width = size_of_inputs(inputs_shape), 8 * self._num_units
        self.recurrent_kernel = self.add_variable("recurrent_kernel", [self._output_size, width])
        self.kernel = self.add_variable("kernel", [rows, width])
        if self._use_bias:
            self.bias = self.add_variable("bias", [width], initializer=tf.zeros_initializer())
        if self._num_proj is not None:
            between = [self._num_units, self._num_proj]
            self.projection_weights = self.add_variable("projection_weights", between)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        c_prev, m_prev = state
        recurrent = tf.matmul(m_prev, self.recurrent_kernel)
        given = tf.matmul(inputs, self.kernel)
        if self._use_bias:
            recurrent = tf.nn.bias_add(recurrent, self.bias)
        m = tf.split(axis=1, num_or_size_splits=8, value=recurrent)
        x = tf.split(axis=1, num_or_size_splits=8, value=given)
        layer1 = [
            tf.sigmoid(x[0] + m[0]),
            tf.nn.relu(x[1] + m[1]),
            tf.sigmoid(x[2] + m[2]),
            tf.nn.relu(x[3] * m[3]),
            tf.tanh(x[4] + m[4]),
            tf.sigmoid(x[5] + m[5]),
            tf.tanh(x[6] + m[6]),
            tf.sigmoid(x[7] + m[7]),
        ]
        layer2 = [
            tf.tanh(layer1[0] * layer1[1]),
            tf.tanh(layer1[2] + layer1[3]),
            tf.tanh(layer1[4] * layer1[5]),
            tf.sigmoid(layer1[6] + layer1[7]),
        ]
        new_c = tf.tanh(layer2[0] + c_prev) * layer2[1]
        new_m = tf.tanh(new_c * tf.tanh(layer2[2] + layer2[3]))
        if self._num_proj is not None:
            new_m = tf.matmul(new_m, self.projection_weights)
        return new_m, LSTMStateTuple(new_c, new_m)


def size_of_inputs(shape: Any) -> int:
    """The size of a cell's inputs, or the error that contrib's cells give."""
    try:
        return input_depth(shape)
    except ValueError:
        raise ValueError("Could not infer input size from inputs.get_shape()[-1]") from None


@public("contrib.rnn.SRUCell")
class SRUCell(LayerRNNCell):
    """The simple recurrent unit: its matrix products don't wait for earlier steps."""

    def __init__(self, num_units: int, activation: Any = None, reuse: Any = None, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(_reuse=reuse, name=name, **kwargs)
        self._num_units = num_units
        self._activation = activation_of(activation)
        self.input_spec = InputSpec(ndim=2)

    state_size = property(lambda self: self._num_units, doc="The size of the state.")
    output_size = property(lambda self: self._num_units, doc="The size of the outputs.")

    def build(self, inputs_shape: Any) -> None:
        self._kernel = self.add_variable("kernel", shape=[input_depth(inputs_shape), 4 * self._num_units])
        self._bias = self.add_variable("bias", shape=[2 * self._num_units], initializer=tf.zeros_initializer())
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        x_bar, f, r, x_tx = tf.split(value=tf.matmul(inputs, self._kernel), num_or_size_splits=4, axis=1)
        gates = tf.sigmoid(tf.nn.bias_add(tf.concat([f, r], 1), self._bias))
        f, r = tf.split(value=gates, num_or_size_splits=2, axis=1)
        c = f * state + (1.0 - f) * x_bar
        return r * self._activation(c) + (1.0 - r) * x_tx, c


@public("contrib.rnn.GLSTMCell")
class GLSTMCell(RNNCell):
    """LSTMs side by side, each over a group of the units."""

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        num_proj: Any = None,
        number_of_groups: int = 1,
        forget_bias: float = 1.0,
        activation: Any = tf.tanh,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._initializer = initializer
        self._num_proj = num_proj
        self._forget_bias = forget_bias
        self._activation = activation
        self._number_of_groups = number_of_groups
        if num_units % number_of_groups != 0:
            raise ValueError("num_units must be divisible by number_of_groups")
        if num_proj and num_proj % number_of_groups != 0:
            raise ValueError("num_proj must be divisible by number_of_groups")
        self._linear1: list[Any] = [None] * number_of_groups
        self._linear2: Any = None

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._num_units, self._num_proj or self._num_units)

    @property
    def output_size(self) -> Any:
        return self._num_proj or self._num_units

    def _of_group(self, inputs: Any, group: int, size: int) -> Any:
        return tf.slice(inputs, [0, group * size], [-1, size])

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        c_prev, m_prev = state
        groups = self._number_of_groups
        depth = inputs.get_shape().with_rank(2).as_list()[1]
        if depth is None:
            raise ValueError("input size must be statically known")
        if depth % groups:
            raise ValueError(f"input size ({depth}) must be divisible by number_of_groups ({groups})")
        out, units = self.output_size // groups, self._num_units // groups
        parts: list[list[Any]] = [[], [], [], []]
        with scopes.variable_scope(scopes.get_variable_scope(), initializer=self._initializer):
            for group in range(groups):
                with scopes.variable_scope(f"group{group}"):
                    joined = tf.concat([self._of_group(inputs, group, depth // groups), self._of_group(m_prev, group, out)], axis=1)
                    if self._linear1[group] is None:
                        self._linear1[group] = Linear(joined, 4 * units, False)
                    for into, part in zip(parts, tf.split(self._linear1[group](joined), 4, 1)):
                        into.append(part)
            biases = [
                tf.get_variable(
                    f"bias_{gate}",
                    shape=[self._num_units],
                    dtype=inputs.dtype,
                    initializer=tf.constant_initializer(0.0, dtype=inputs.dtype),
                )
                for gate in "ijfo"
            ]
            i, j, f, o = (tf.nn.bias_add(tf.concat(part, axis=1), bias) for part, bias in zip(parts, biases))
        c = tf.sigmoid(f + self._forget_bias) * c_prev + tf.sigmoid(i) * tf.tanh(j)
        m = tf.sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            with scopes.variable_scope("projection"):
                if self._linear2 is None:
                    self._linear2 = Linear(m, self._num_proj, False)
                m = self._linear2(m)
        return m, LSTMStateTuple(c, m)


@public("contrib.rnn.LayerNormBasicLSTMCell")
class LayerNormBasicLSTMCell(RNNCell):
    """An LSTM with layer normalization and dropout within."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        input_size: Any = None,
        activation: Any = tf.tanh,
        layer_norm: bool = True,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        dropout_keep_prob: Any = 1.0,
        dropout_prob_seed: Any = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._reuse = reuse
        if input_size is not None:
            tf.logging.warn("%s: The input_size parameter is deprecated.", self)
        self._num_units, self._forget_bias, self._activation = num_units, forget_bias, activation
        self._layer_norm, self._norm_gain, self._norm_shift = layer_norm, norm_gain, norm_shift
        self._keep_prob, self._seed = dropout_keep_prob, dropout_prob_seed

    state_size = property(lambda self: LSTMStateTuple(self._num_units, self._num_units), doc="The sizes of the state.")
    output_size = property(lambda self: self._num_units, doc="The size of the outputs.")

    def _norm(self, x: Any, scope: str, dtype: DTypeLike) -> Any:
        return normalized(x, scope, self._norm_gain, self._norm_shift, dtype) if self._layer_norm else x

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        c, h = state
        joined = tf.concat([inputs, h], 1)
        dtype = inputs.dtype
        size = 4 * self._num_units
        gates = tf.matmul(joined, tf.get_variable("kernel", [joined.get_shape().as_list()[-1], size], dtype=dtype))
        if not self._layer_norm:
            gates = tf.nn.bias_add(gates, tf.get_variable("bias", [size], dtype=dtype))
        i, j, f, o = tf.split(value=gates, num_or_size_splits=4, axis=1)
        i, j = self._norm(i, "input", dtype), self._norm(j, "transform", dtype)
        f, o = self._norm(f, "forget", dtype), self._norm(o, "output", dtype)
        g = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            g = tf.nn.dropout(g, self._keep_prob, seed=self._seed)
        new_c = self._norm(c * tf.sigmoid(f + self._forget_bias) + tf.sigmoid(i) * g, "state", dtype)
        new_h = self._activation(new_c) * tf.sigmoid(o)
        return new_h, LSTMStateTuple(new_c, new_h)
