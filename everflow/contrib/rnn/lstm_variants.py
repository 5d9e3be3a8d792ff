"""LSTMs with coupled gates, and with gates that open in a rhythm."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.rnn.linear import Linear, normalized
from everflow.graph.dtypes import DTypeLike
from everflow.ops.variables import variable_scope as scopes
from everflow.rnn.cell import RNNCell
from everflow.rnn.state import LSTMStateTuple


def sharded_variable(name: str, shape: Any, dtype: DTypeLike, num_shards: int) -> Any:
    """A matrix made of variables `name_0`, `name_1`, ..., one below the other."""
    shards = []
    rows = shape[0] // num_shards
    for i in range(num_shards):
        size = rows + (1 if i < shape[0] % num_shards else 0)
        shards.append(tf.get_variable(f"{name}_{i}", [size, *shape[1:]], dtype=dtype))
    return shards[0] if len(shards) == 1 else tf.concat(shards, 0, name=name + "/concat")


@public("contrib.rnn.CoupledInputForgetGateLSTMCell")
class CoupledInputForgetGateLSTMCell(RNNCell):
    """An LSTM that takes in what it forgets: the input gate is one minus the forget gate."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        initializer: Any = None,
        num_proj: Any = None,
        proj_clip: Any = None,
        num_unit_shards: int = 1,
        num_proj_shards: int = 1,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = tf.tanh,
        reuse: Any = None,
        layer_norm: bool = False,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
    ) -> None:
        super().__init__(_reuse=reuse)
        if not state_is_tuple:
            tf.logging.warn("%s: Using a concatenated state is slower and will soon be deprecated.  Use state_is_tuple=True.", self)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._initializer = initializer
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._num_unit_shards = num_unit_shards
        self._num_proj_shards = num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift
        self._output_size = num_proj if num_proj else num_units

    @property
    def state_size(self) -> Any:
        if self._state_is_tuple:
            return LSTMStateTuple(self._num_units, self._output_size)
        return self._num_units + self._output_size

    @property
    def output_size(self) -> Any:
        return self._output_size

    def _norm(self, x: Any, scope: str) -> Any:
        return normalized(x, scope, self._norm_gain, self._norm_shift) if self._layer_norm else x

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        units = self._num_units
        if self._state_is_tuple:
            c_prev, m_prev = state
        else:
            c_prev = tf.slice(state, [0, 0], [-1, units])
            m_prev = tf.slice(state, [0, units], [-1, self._output_size])
        depth = inputs.get_shape().with_rank(2).as_list()[1]
        if depth is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        dtype = inputs.dtype
        kernel = sharded_variable("W", [depth + self._output_size, 3 * units], dtype, self._num_unit_shards)
        bias = tf.get_variable("B", shape=[3 * units], initializer=tf.zeros_initializer(), dtype=dtype)
        gates = tf.matmul(tf.concat([inputs, m_prev], 1), kernel)
        if not self._layer_norm:
            gates = tf.nn.bias_add(gates, bias)
        j, f, o = tf.split(value=gates, num_or_size_splits=3, axis=1)
        j, f, o = self._norm(j, "transform"), self._norm(f, "forget"), self._norm(o, "output")
        if self._use_peepholes:
            w_f = tf.get_variable("W_F_diag", shape=[units], dtype=dtype)
            w_o = tf.get_variable("W_O_diag", shape=[units], dtype=dtype)
            f_act = tf.sigmoid(f + self._forget_bias + w_f * c_prev)
        else:
            f_act = tf.sigmoid(f + self._forget_bias)
        c = self._norm(f_act * c_prev + (1 - f_act) * self._activation(j), "state")
        m = tf.sigmoid(o + w_o * c) * self._activation(c) if self._use_peepholes else tf.sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            m = tf.matmul(m, sharded_variable("W_P", [units, self._num_proj], dtype, self._num_proj_shards))
            if self._proj_clip is not None:
                m = tf.clip_by_value(m, -self._proj_clip, self._proj_clip)
        return m, LSTMStateTuple(c, m) if self._state_is_tuple else tf.concat([c, m], 1)


def _log_uniform(low: float, high: float) -> Any:
    """An initializer whose logarithms are uniform."""

    def initializer(shape: Any, dtype: DTypeLike = "float32", partition_info: Any = None) -> Any:
        return tf.exp(tf.random_uniform_initializer(tf.log(low), tf.log(high))(shape, dtype=dtype))

    return initializer


@public("contrib.rnn.PhasedLSTMCell")
class PhasedLSTMCell(RNNCell):
    """An LSTM whose units update only while their phase is open; inputs are (time, features)."""

    _linear1: Any = None
    _linear2: Any = None
    _linear3: Any = None

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        leak: float = 0.001,
        ratio_on: float = 0.1,
        trainable_ratio_on: bool = True,
        period_init_min: float = 1.0,
        period_init_max: float = 1000.0,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units, self._use_peepholes, self._leak = num_units, use_peepholes, leak
        self._ratio_on, self._trainable_ratio_on = ratio_on, trainable_ratio_on
        self._period_init_min, self._period_init_max = period_init_min, period_init_max

    state_size = property(lambda self: LSTMStateTuple(self._num_units, self._num_units), doc="The sizes of the state.")
    output_size = property(lambda self: self._num_units, doc="The size of the outputs.")

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        c_prev, h_prev = state
        time, x = inputs
        in_gates = [x, h_prev] + ([c_prev] if self._use_peepholes else [])
        with scopes.variable_scope("mask_gates"):
            if self._linear1 is None:
                self._linear1 = Linear(in_gates, 2 * self._num_units, True)
            gates = tf.sigmoid(self._linear1(in_gates))
            given, forget = tf.split(axis=1, num_or_size_splits=2, value=gates)
        with scopes.variable_scope("new_input"):
            if self._linear2 is None:
                self._linear2 = Linear([x, h_prev], self._num_units, True)
            new_input = tf.tanh(self._linear2([x, h_prev]))
        new_c = c_prev * forget + given * new_input
        in_output = [x, h_prev] + ([new_c] if self._use_peepholes else [])
        with scopes.variable_scope("output_gate"):
            if self._linear3 is None:
                self._linear3 = Linear(in_output, self._num_units, True)
            output_gate = tf.sigmoid(self._linear3(in_output))
        new_h = tf.tanh(new_c) * output_gate
        openness = self._openness(time, x.dtype)
        new_c = openness * new_c + (1 - openness) * c_prev
        new_h = openness * new_h + (1 - openness) * h_prev
        return new_h, LSTMStateTuple(new_c, new_h)

    def _openness(self, time: Any, dtype: DTypeLike) -> Any:
        """How far each unit is open at a time."""
        units = self._num_units
        period = tf.get_variable("period", [units], initializer=_log_uniform(self._period_init_min, self._period_init_max))
        phase = tf.get_variable("phase", [units], initializer=tf.random_uniform_initializer(0.0, period.initial_value))
        ratio_on = tf.get_variable(
            "ratio_on", [units], initializer=tf.constant_initializer(self._ratio_on), trainable=self._trainable_ratio_on
        )
        phase, period = tf.cast(phase, time.dtype), tf.cast(period, time.dtype)
        since = time - phase
        # Whole periods are no matter of gradients.
        cycle = tf.cast((since + tf.stop_gradient(tf.floormod(since, period) - since)) / period, dtype)
        on = tf.cast(ratio_on, dtype)
        rising = 2 * cycle / on
        falling, closed = 2 - rising, self._leak * cycle
        openness = tf.where(cycle < on, falling, closed)
        return tf.where(cycle < 0.5 * on, rising, openness)
