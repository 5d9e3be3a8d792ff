"""LSTMs whose weights or gates are normalized."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.contrib.rnn.linear import linear, normalized
from everflow.ops.variables import variable_scope as scopes
from everflow.rnn.cell import RNNCell
from everflow.rnn.state import LSTMStateTuple

_HOME = "contrib.rnn.python.ops.rnn_cell"


class _Cell(RNNCell):
    """An LSTM with peepholes, limits and a projection, if they are asked for; its linear maps and what is done to gates are left open."""

    def _keep(
        self,
        num_units: int,
        use_peepholes: bool,
        cell_clip: Any,
        initializer: Any,
        num_proj: int | None,
        proj_clip: Any,
        forget_bias: Any,
        activation: Any,
    ) -> None:
        self._num_units, self._use_peepholes, self._cell_clip = num_units, use_peepholes, cell_clip
        self._initializer, self._num_proj, self._proj_clip, self._forget_bias = initializer, num_proj, proj_clip, forget_bias
        self._activation = activation or tf.tanh
        self._output_size = num_proj or num_units

    state_size = property(lambda self: LSTMStateTuple(self._num_units, self._output_size), doc="The sizes of the state.")
    output_size = property(lambda self: self._output_size, doc="The size of the outputs.")

    def _map(self, given: list[Any], size: int, bias: bool) -> Any:
        raise NotImplementedError

    def _changed(self, gate: Any, name: str) -> Any:
        return gate

    def _step(self, inputs: Any, state: Any) -> Any:
        c_prev, m_prev = state
        gates = self._map([inputs, m_prev], 4 * self._num_units, True)
        i, j, f, o = tf.split(value=gates, num_or_size_splits=4, axis=1)
        i, j, f, o = (self._changed(gate, name) for gate, name in zip((i, j, f, o), ("input", "transform", "forget", "output")))
        peeps = [None] * 3
        if self._use_peepholes:
            peeps = [tf.get_variable(f"w_{gate}_diag", [self._num_units], inputs.dtype) for gate in "fio"]

        def opened(gate: Any, peep: Any, c: Any) -> Any:
            return tf.sigmoid(gate if peep is None else gate + peep * c)

        c = opened(f + self._forget_bias, peeps[0], c_prev) * c_prev + opened(i, peeps[1], c_prev) * self._activation(j)
        c = self._changed(c, "state")
        if self._cell_clip is not None:
            c = tf.clip_by_value(c, -self._cell_clip, self._cell_clip)
        m = opened(o, peeps[2], c) * self._activation(c)
        if self._num_proj is not None:
            with scopes.variable_scope("projection"):
                m = self._map([m], self._num_proj, False)
            if self._proj_clip is not None:
                m = tf.clip_by_value(m, -self._proj_clip, self._proj_clip)
        return m, LSTMStateTuple(c, m)


@internal(f"{_HOME}.WeightNormLSTMCell")
class WeightNormLSTMCell(_Cell):
    """The columns of its weights have lengths that are learned apart from their directions (Salimans and Kingma, arXiv 1602.07868)."""

    def __init__(
        self,
        num_units: int,
        norm: bool = True,
        use_peepholes: bool = False,
        cell_clip: Any = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: Any = None,
        forget_bias: Any = 1,
        activation: Any = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse, name="wn_lstm_cell")
        self._keep(num_units, use_peepholes, cell_clip, initializer, num_proj, proj_clip, forget_bias, activation)
        self._norm = norm

    def _map(self, given: list[Any], size: int, bias: bool) -> Any:
        depths = [value.get_shape()[1].value for value in given]
        kernel = tf.get_variable("kernel", [sum(depths), size], given[0].dtype)
        if self._norm:
            parts, start = [], 0
            for place, depth in enumerate(depths):
                length = tf.get_variable(f"norm_{place}", [size], given[0].dtype)
                parts.append(tf.nn.l2_normalize(kernel[start : start + depth, :], axis=0) * length)
                start += depth
            kernel = parts[0] if len(parts) == 1 else tf.concat(parts, 0)
        found = tf.matmul(given[0] if len(given) == 1 else tf.concat(given, 1), kernel)
        if not bias:
            return found
        return tf.nn.bias_add(found, tf.get_variable("bias", [size], given[0].dtype, initializer=tf.zeros_initializer()))

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        with scopes.variable_scope("wn_lstm_cell", initializer=self._initializer):
            return self._step(inputs, state)


@internal(f"{_HOME}.LayerNormLSTMCell")
class LayerNormLSTMCell(_Cell):
    """Its gates and its state are normalized over the units (Ba, Kiros and Hinton, arXiv 1607.06450), where that is asked for."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: Any = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: Any = None,
        forget_bias: Any = 1.0,
        activation: Any = None,
        layer_norm: bool = False,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._keep(num_units, use_peepholes, cell_clip, initializer, num_proj, proj_clip, forget_bias, activation)
        self._layer_norm, self._gain, self._shift = layer_norm, norm_gain, norm_shift

    def _map(self, given: list[Any], size: int, bias: bool) -> Any:
        found = linear(given, size, bias=False)
        if not bias:
            return found
        offset = tf.get_variable("bias", [size], given[0].dtype, initializer=tf.zeros_initializer())
        # Normalized gates have offsets of their own.
        return found if self._layer_norm else tf.nn.bias_add(found, offset)

    def _changed(self, gate: Any, name: str) -> Any:
        return normalized(gate, name, self._gain, self._shift) if self._layer_norm else gate

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        with scopes.variable_scope(scopes.get_variable_scope(), initializer=self._initializer):
            return self._step(inputs, state)
