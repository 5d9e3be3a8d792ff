"""Long short-term memory."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.dtypes import DTypeLike
from everflow.keras import activations, initializers
from everflow.keras.input_spec import InputSpec
from everflow.rnn.basic_cells import BIAS, WEIGHTS, activation_of
from everflow.rnn.cell import LayerRNNCell, check_types, input_depth
from everflow.rnn.state import LSTMStateTuple


@public("nn.rnn_cell.BasicLSTMCell", "contrib.rnn.BasicLSTMCell")
class BasicLSTMCell(LayerRNNCell):
    """The LSTM without clipping, projection and peepholes."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        if not state_is_tuple:
            _warn_of_concatenated_state(self)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation_of(activation)

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._num_units, self._num_units) if self._state_is_tuple else 2 * self._num_units

    @property
    def output_size(self) -> Any:
        return self._num_units

    def build(self, inputs_shape: Any) -> None:
        depth = input_depth(inputs_shape)
        self._kernel = self.add_variable(WEIGHTS, shape=[depth + self._num_units, 4 * self._num_units])
        self._bias = self.add_variable(BIAS, shape=[4 * self._num_units], initializer=tf.zeros_initializer(dtype=self.dtype))
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        check_types([inputs, state])
        one = tf.constant(1, dtype="int32")
        c, h = state if self._state_is_tuple else tf.split(value=state, num_or_size_splits=2, axis=one)
        gates = tf.nn.bias_add(tf.matmul(tf.concat([inputs, h], 1), self._kernel), self._bias)
        i, j, f, o = tf.split(value=gates, num_or_size_splits=4, axis=one)
        forget_bias = tf.constant(self._forget_bias, dtype=f.dtype)
        kept = tf.multiply(c, tf.sigmoid(tf.add(f, forget_bias)))
        new_c = tf.add(kept, tf.multiply(tf.sigmoid(i), self._activation(j)))
        new_h = tf.multiply(self._activation(new_c), tf.sigmoid(o))
        return new_h, LSTMStateTuple(new_c, new_h) if self._state_is_tuple else tf.concat([new_c, new_h], 1)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "num_units": self._num_units,
            "forget_bias": self._forget_bias,
            "state_is_tuple": self._state_is_tuple,
            "activation": activations.serialize(self._activation),
            "reuse": self._reuse,
        }


def _warn_of_concatenated_state(cell: Any) -> None:
    tf.logging.warn("%s: Using a concatenated state is slower and will soon be deprecated.  Use state_is_tuple=True.", cell)


@public("nn.rnn_cell.LSTMCell", "contrib.rnn.LSTMCell")
class LSTMCell(LayerRNNCell):
    """The LSTM, with peepholes, clipping and a projection of its output where asked."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: Any = None,
        initializer: Any = None,
        num_proj: Any = None,
        proj_clip: Any = None,
        num_unit_shards: Any = None,
        num_proj_shards: Any = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        if not state_is_tuple:
            _warn_of_concatenated_state(self)
        if num_unit_shards is not None or num_proj_shards is not None:
            tf.logging.warn(
                "%s: The num_unit_shards and proj_unit_shards parameters are deprecated and will be removed in Jan 2017.  Use a variable "
                "scope with a partitioner instead.",
                self,
            )
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializers.get(initializer)
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._num_unit_shards = num_unit_shards
        self._num_proj_shards = num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation_of(activation)
        self._output_size = num_proj or num_units

    @property
    def state_size(self) -> Any:
        if self._state_is_tuple:
            return LSTMStateTuple(self._num_units, self._output_size)
        return self._num_units + self._output_size

    @property
    def output_size(self) -> Any:
        return self._output_size

    def build(self, inputs_shape: Any) -> None:
        depth = input_depth(inputs_shape)
        units = self._num_units
        self._kernel = self.add_variable(
            WEIGHTS,
            shape=[depth + self._output_size, 4 * units],
            initializer=self._initializer,
            partitioner=_in_shards(self._num_unit_shards),
        )
        self._bias = self.add_variable(
            BIAS,
            shape=[4 * units],
            initializer=tf.zeros_initializer(dtype=self.dtype) if self.dtype is not None else tf.zeros_initializer(),
        )
        if self._use_peepholes:
            self._w_f_diag = self.add_variable("w_f_diag", shape=[units], initializer=self._initializer)
            self._w_i_diag = self.add_variable("w_i_diag", shape=[units], initializer=self._initializer)
            self._w_o_diag = self.add_variable("w_o_diag", shape=[units], initializer=self._initializer)
        if self._num_proj is not None:
            self._proj_kernel = self.add_variable(
                f"projection/{WEIGHTS}",
                shape=[units, self._num_proj],
                initializer=self._initializer,
                partitioner=_in_shards(self._num_proj_shards),
            )
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        check_types([inputs, state])
        if self._state_is_tuple:
            c_prev, m_prev = state
        else:
            c_prev = tf.slice(state, [0, 0], [-1, self._num_units])
            m_prev = tf.slice(state, [0, self._num_units], [-1, self._output_size])
        if inputs.get_shape().with_rank(2).as_list()[1] is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        gates = tf.nn.bias_add(tf.matmul(tf.concat([inputs, m_prev], 1), self._kernel), self._bias)
        i, j, f, o = tf.split(value=gates, num_or_size_splits=4, axis=1)
        activation = self._activation
        if self._use_peepholes:
            c = tf.sigmoid(f + self._forget_bias + self._w_f_diag * c_prev) * c_prev + tf.sigmoid(i + self._w_i_diag * c_prev) * activation(
                j
            )
        else:
            c = tf.sigmoid(f + self._forget_bias) * c_prev + tf.sigmoid(i) * activation(j)
        if self._cell_clip is not None:
            c = tf.clip_by_value(c, -self._cell_clip, self._cell_clip)
        m = tf.sigmoid(o + self._w_o_diag * c) * activation(c) if self._use_peepholes else tf.sigmoid(o) * activation(c)
        if self._num_proj is not None:
            m = tf.matmul(m, self._proj_kernel)
            if self._proj_clip is not None:
                m = tf.clip_by_value(m, -self._proj_clip, self._proj_clip)
        return m, LSTMStateTuple(c, m) if self._state_is_tuple else tf.concat([c, m], 1)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "num_units": self._num_units,
            "use_peepholes": self._use_peepholes,
            "cell_clip": self._cell_clip,
            "initializer": initializers.serialize(self._initializer),
            "num_proj": self._num_proj,
            "proj_clip": self._proj_clip,
            "num_unit_shards": self._num_unit_shards,
            "num_proj_shards": self._num_proj_shards,
            "forget_bias": self._forget_bias,
            "state_is_tuple": self._state_is_tuple,
            "activation": activations.serialize(self._activation),
            "reuse": self._reuse,
        }


def _in_shards(count: Any) -> Any:
    return tf.fixed_size_partitioner(count) if count is not None else None
