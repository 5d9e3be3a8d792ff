"""Long short-term memory."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.dtypes import DTypeLike
from everflow.keras.shape_methods import of_tuples
from everflow.rnn.basic_cells import BIAS, WEIGHTS
from everflow.rnn.cell import DescribedCell, check_types, input_depth
from everflow.rnn.state import LSTMStateTuple


@public("nn.rnn_cell.BasicLSTMCell", "contrib.rnn.BasicLSTMCell")
class BasicLSTMCell(DescribedCell):
    """The LSTM without clipping, projection and peepholes."""

    _in_config = ("num_units", "forget_bias", "state_is_tuple", "activation")

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
        super().__init__(locals())

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._num_units, self._num_units) if self._state_is_tuple else 2 * self._num_units

    @property
    def output_size(self) -> Any:
        return self._num_units

    @of_tuples
    def build(self, input_shape: Any) -> None:
        depth = input_depth(input_shape)
        self._kernel = self.add_variable(WEIGHTS, shape=[depth + self._num_units, 4 * self._num_units])
        self._bias = self.add_variable(BIAS, shape=[4 * self._num_units], initializer=tf.zeros_initializer(dtype=self.dtype))
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        check_types([inputs, state])
        one = tf.constant(1, dtype="int32")
        c, h = state if self._state_is_tuple else tf.split(value=state, num_or_size_splits=2, axis=one)
        gates = tf.nn.bias_add(tf.matmul(tf.concat([inputs, h], 1), self._kernel), self._bias)
        i, j, f, o = tf.split(value=gates, num_or_size_splits=4, axis=one)
        kept = tf.multiply(c, tf.sigmoid(tf.add(f, tf.constant(self._forget_bias, dtype=f.dtype))))
        memory = tf.add(kept, tf.multiply(tf.sigmoid(i), self._activation(j)))
        output = tf.multiply(self._activation(memory), tf.sigmoid(o))
        return output, LSTMStateTuple(memory, output) if self._state_is_tuple else tf.concat([memory, output], 1)


@public("nn.rnn_cell.LSTMCell", "contrib.rnn.LSTMCell")
class LSTMCell(DescribedCell):
    """The LSTM, with peepholes, clipping and a projection of its output where asked."""

    _in_config = (
        "num_units",
        "use_peepholes",
        "cell_clip",
        "initializer",
        "num_proj",
        "proj_clip",
        "num_unit_shards",
        "num_proj_shards",
        "forget_bias",
        "state_is_tuple",
        "activation",
    )

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
        super().__init__(locals())
        if (num_unit_shards, num_proj_shards) != (None, None):
            tf.logging.warn(
                "%s: The num_unit_shards and proj_unit_shards parameters are deprecated and will be removed in Jan 2017.  Use a variable "
                "scope with a partitioner instead.",
                self,
            )
        self._output_size = num_proj or num_units

    @property
    def state_size(self) -> Any:
        if self._state_is_tuple:
            return LSTMStateTuple(self._num_units, self._output_size)
        return self._num_units + self._output_size

    @property
    def output_size(self) -> Any:
        return self._output_size

    @of_tuples
    def build(self, input_shape: Any) -> None:
        units, depth, make = self._num_units, input_depth(input_shape) + self._output_size, {"initializer": self._initializer}
        zeros = tf.zeros_initializer() if self.dtype is None else tf.zeros_initializer(dtype=self.dtype)
        self._kernel = self.add_variable(WEIGHTS, shape=[depth, 4 * units], partitioner=_in_shards(self._num_unit_shards), **make)
        self._bias = self.add_variable(BIAS, shape=[4 * units], initializer=zeros)
        for gate in "fio" if self._use_peepholes else "":
            setattr(self, f"_w_{gate}_diag", self.add_variable(f"w_{gate}_diag", shape=[units], **make))
        if self._num_proj is not None:
            shards = _in_shards(self._num_proj_shards)
            self._proj_kernel = self.add_variable(f"projection/{WEIGHTS}", shape=[units, self._num_proj], partitioner=shards, **make)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        check_types([inputs, state])
        before, shown = state if self._state_is_tuple else self._parts(state)
        if inputs.get_shape().with_rank(2).as_list()[1] is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        gates = tf.nn.bias_add(tf.matmul(tf.concat([inputs, shown], 1), self._kernel), self._bias)
        i, j, f, o = tf.split(value=gates, num_or_size_splits=4, axis=1)
        kept = self._opened("f", f + self._forget_bias, before) * before
        memory = _clipped(kept + self._opened("i", i, before) * self._activation(j), self._cell_clip)
        output = self._opened("o", o, memory) * self._activation(memory)
        if self._num_proj is not None:
            output = _clipped(tf.matmul(output, self._proj_kernel), self._proj_clip)
        return output, LSTMStateTuple(memory, output) if self._state_is_tuple else tf.concat([memory, output], 1)

    def _parts(self, state: Any) -> list[Any]:
        """The memory and the output, out of one tensor."""
        units = self._num_units
        return [tf.slice(state, [0, start], [-1, size]) for start, size in ((0, units), (units, self._output_size))]

    def _opened(self, name: str, gate: Any, memory: Any) -> Any:
        """How far a gate is open; through a peephole it sees the memory."""
        return tf.sigmoid(gate + getattr(self, f"_w_{name}_diag") * memory if self._use_peepholes else gate)


def _in_shards(count: Any) -> Any:
    return tf.fixed_size_partitioner(count) if count is not None else None


def _clipped(x: Any, limit: Any) -> Any:
    return x if limit is None else tf.clip_by_value(x, -limit, limit)
