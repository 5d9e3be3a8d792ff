"""Cells that are one op a step, and an LSTM that is one op for a whole sequence."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.dtypes import DTypeLike
from everflow.keras.input_spec import InputSpec
from everflow.layers import base
from everflow.ops.core.registry import apply
from everflow.rnn.cell import LayerRNNCell, check_types, input_depth
from everflow.rnn.state import LSTMStateTuple

_OPS = "contrib.rnn.python.ops.lstm_ops"


def _no_peepholes(size: int, dtype: Any) -> tuple[Any, Any, Any]:
    zeros = tf.constant(0, dtype=dtype, shape=[size])
    return zeros, zeros, zeros


@internal(f"{_OPS}._lstm_block_cell")
def lstm_block_cell(
    x: Any,
    cs_prev: Any,
    h_prev: Any,
    w: Any,
    b: Any,
    wci: Any = None,
    wcf: Any = None,
    wco: Any = None,
    forget_bias: float | None = None,
    cell_clip: Any = None,
    use_peephole: bool | None = None,
    name: str | None = None,
) -> Any:
    """One step of an LSTM: (i, cs, f, o, ci, co, h)."""
    peepholes = (wci, wcf, wco)
    if wci is None:
        size = cs_prev.get_shape().with_rank(2).as_list()[1]
        if size is None:
            raise ValueError("cell_size from `cs_prev` should not be None.")
        peepholes = _no_peepholes(size, x.dtype)
    return apply(
        "LSTMBlockCell",
        x,
        cs_prev,
        h_prev,
        w,
        *peepholes,
        b,
        forget_bias=1.0 if forget_bias is None else forget_bias,
        cell_clip=-1.0 if cell_clip is None else cell_clip,
        use_peephole=bool(use_peephole),
        name=name,
    )


@internal(f"{_OPS}._block_lstm")
def block_lstm(
    seq_len_max: Any,
    x: list[Any],
    w: Any,
    b: Any,
    cs_prev: Any = None,
    h_prev: Any = None,
    wci: Any = None,
    wcf: Any = None,
    wco: Any = None,
    forget_bias: float | None = None,
    cell_clip: Any = None,
    use_peephole: bool | None = None,
    name: str | None = None,
) -> tuple[list[Any], ...]:
    """All steps of an LSTM: the same, each a list of as many as there are inputs."""
    dtype, batch = x[0].dtype, x[0].get_shape().with_rank(2).as_list()[0]
    size = b.get_shape().with_rank(1).dims[0].value
    if size is None:
        raise ValueError("`b` shape must not be None.")
    size //= 4
    if cs_prev is None or h_prev is None:
        zeros = tf.constant(0, dtype=dtype, shape=[batch, size])
        cs_prev, h_prev = (zeros if given is None else given for given in (cs_prev, h_prev))
    found = apply(
        "BlockLSTM",
        seq_len_max,
        tf.stack(x),
        cs_prev,
        h_prev,
        w,
        *(_no_peepholes(size, dtype) if wci is None else (wci, wcf, wco)),
        b,
        forget_bias=1.0 if forget_bias is None else forget_bias,
        cell_clip=-1.0 if cell_clip is None else cell_clip,
        use_peephole=bool(use_peephole),
        name=name,
    )
    return tuple(tf.unstack(t) for t in found)


@public("contrib.rnn.LSTMBlockCell")
class LSTMBlockCell(LayerRNNCell):
    """An LSTM whose step is one op."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: Any = None,
        use_peephole: bool = False,
        dtype: DTypeLike | None = None,
        reuse: Any = None,
        name: str = "lstm_cell",
    ) -> None:
        super().__init__(_reuse=reuse, dtype=dtype, name=name)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._use_peephole = use_peephole
        self._cell_clip = cell_clip if cell_clip is not None else -1
        self.input_spec = InputSpec(ndim=2)

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> Any:
        return self._num_units

    def build(self, inputs_shape: Any) -> None:
        depth = input_depth(inputs_shape)
        self._kernel = self.add_variable("kernel", [depth + self._num_units, self._num_units * 4])
        self._bias = self.add_variable("bias", [self._num_units * 4], initializer=tf.constant_initializer(0.0))
        self._peepholes = None
        if self._use_peephole:
            self._peepholes = tuple(self.add_variable(f"w_{gate}_diag", [self._num_units]) for gate in "ifo")
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        check_types([inputs, state])
        if len(state) != 2:
            raise ValueError("Expecting state to be a tuple with length 2.")
        wci, wcf, wco = self._peepholes or (None, None, None)
        _, cs, _, _, _, _, h = lstm_block_cell(
            inputs,
            state[0],
            state[1],
            self._kernel,
            self._bias,
            wci,
            wcf,
            wco,
            forget_bias=self._forget_bias,
            cell_clip=self._cell_clip,
            use_peephole=self._peepholes is not None,
        )
        return h, LSTMStateTuple(cs, h)


@public("contrib.rnn.LSTMBlockWrapper")
class LSTMBlockWrapper(base.Layer):
    """An LSTM over inputs of shape [time, batch, depth]; subclasses say how a sequence is computed."""

    @property
    def num_units(self) -> int:
        """The size of the cell."""
        raise NotImplementedError

    def _call_cell(self, inputs: Any, initial_cell_state: Any, initial_output: Any, dtype: DTypeLike, sequence_length: Any) -> Any:
        """(cell states, outputs) of all steps."""
        raise NotImplementedError

    def _start(self, state: Any, dtype: Any, batch_size: Any) -> tuple[Any, Any]:
        """The state to begin with, zeros unless it is given, and the type of the outputs."""
        if state is None:
            if dtype is None:
                raise ValueError("Either initial_state or dtype needs to be specified")
            return (tf.zeros(tf.stack([batch_size, self.num_units]), dtype=dtype),) * 2, dtype
        if len(state) != 2:
            raise ValueError("Expecting initial_state to be a tuple with length 2 or None")
        return state, state[0].dtype if dtype is None else dtype

    def call(self, inputs: Any, initial_state: Any = None, dtype: DTypeLike | None = None, sequence_length: Any = None) -> Any:  # type: ignore[override]
        is_list = isinstance(inputs, list)
        if is_list:
            inputs = tf.stack(inputs)
        shape = inputs.get_shape().with_rank(3)
        steps, batch, depth = shape.as_list()
        if depth is None:
            raise ValueError(f"Expecting inputs_shape[2] to be set: {shape}")
        batch_size = batch if batch is not None else tf.shape(inputs)[1]
        time_len = steps if steps is not None else tf.shape(inputs)[0]
        initial_state, dtype = self._start(initial_state, dtype, batch_size)
        if sequence_length is not None:
            lengths = convert_to_tensor(sequence_length)
            if lengths.get_shape().rank == 0:
                sequence_length = tf.tile([sequence_length], [batch_size])
        cell_states, outputs = self._call_cell(inputs, initial_state[0], initial_state[1], dtype, sequence_length)
        if sequence_length is None:
            final = LSTMStateTuple(cell_states[-1], outputs[-1])
        else:
            outputs, final = _within_lengths(outputs, cell_states, initial_state, sequence_length, time_len, batch_size)
        return tf.unstack(outputs) if is_list else outputs, final


def _within_lengths(
    outputs: Any, cell_states: Any, initial_state: Any, sequence_length: Any, time_len: Any, batch_size: Any
) -> tuple[Any, Any]:
    """Zeros for outputs after the ends of sequences, and the states at their ends."""
    mask = tf.transpose(tf.sequence_mask(sequence_length, time_len, outputs.dtype), [1, 0])
    outputs = outputs * tf.expand_dims(mask, -1)
    # State zero is the initial one, so that lengths count from it.
    at = tf.stack([tf.cast(sequence_length, "int32"), tf.range(batch_size)], axis=1)
    final_cell = tf.gather_nd(tf.concat([tf.expand_dims(initial_state[0], 0), cell_states], 0), at)
    final_output = tf.gather_nd(tf.concat([tf.expand_dims(initial_state[1], 0), outputs], 0), at)
    return outputs, LSTMStateTuple(final_cell, final_output)


@public("contrib.rnn.LSTMBlockFusedCell")
class LSTMBlockFusedCell(LSTMBlockWrapper):
    """An LSTM that is one op for a whole sequence."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: Any = None,
        use_peephole: bool = False,
        reuse: Any = None,
        dtype: DTypeLike | None = None,
        name: str = "lstm_fused_cell",
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._cell_clip = cell_clip if cell_clip is not None else -1
        self._use_peephole = use_peephole
        self.input_spec = InputSpec(ndim=3)

    @property
    def num_units(self) -> int:
        return self._num_units

    def build(self, input_shape: Any) -> None:
        depth = input_depth(input_shape)
        self._kernel = self.add_variable("kernel", [depth + self._num_units, self._num_units * 4])
        self._bias = self.add_variable("bias", [self._num_units * 4], initializer=tf.constant_initializer(0.0))
        self._peepholes = None
        if self._use_peephole:
            self._peepholes = tuple(self.add_variable(f"w_{gate}_diag", [self._num_units]) for gate in "ifo")
        self.built = True

    def _call_cell(
        self, inputs: Any, initial_cell_state: Any = None, initial_output: Any = None, dtype: Any = None, sequence_length: Any = None
    ) -> Any:
        time_len = inputs.get_shape().with_rank(3).as_list()[0]
        if sequence_length is not None:
            longest = tf.cast(tf.reduce_max(sequence_length), "int64")
        else:
            longest = tf.cast(time_len if time_len is not None else tf.shape(inputs)[0], "int64")
        peepholes = self._peepholes
        if peepholes is None:
            zeros = tf.zeros([self._num_units], dtype=dtype)
            peepholes = (zeros, zeros, zeros)
        _, cs, _, _, _, _, h = apply(
            "BlockLSTM",
            longest,
            inputs,
            initial_cell_state,
            initial_output,
            self._kernel,
            *peepholes,
            self._bias,
            forget_bias=self._forget_bias,
            cell_clip=self._cell_clip,
            use_peephole=self._use_peephole,
        )
        return cs, h


@public("contrib.rnn.GRUBlockCell")
class GRUBlockCell(LayerRNNCell):
    """A GRU whose step is one op."""

    _names = ("w_ru", "b_ru", "w_c", "b_c")

    def __init__(self, num_units: Any = None, cell_size: Any = None, reuse: Any = None, name: str = "gru_cell") -> None:
        super().__init__(_reuse=reuse, name=name)
        sizes = [size for size in (num_units, cell_size) if size is not None]
        if len(sizes) != 1:
            raise ValueError(
                f"{'Only one of num_units or cell_size can' if sizes else 'Exactly one of num_units or cell_size must'} be provided."
            )
        (self._cell_size,) = sizes
        self.input_spec = InputSpec(ndim=2)

    @property
    def state_size(self) -> Any:
        return self._cell_size

    @property
    def output_size(self) -> Any:
        return self._cell_size

    def build(self, input_shape: Any) -> None:
        size = self._cell_size
        depth = input_depth(input_shape) + size
        gate_kernel, gate_bias, candidate_kernel, candidate_bias = self._names
        self._gate_kernel = self.add_variable(gate_kernel, [depth, size * 2])
        self._gate_bias = self.add_variable(gate_bias, [size * 2], initializer=tf.constant_initializer(1.0))
        self._candidate_kernel = self.add_variable(candidate_kernel, [depth, size])
        self._candidate_bias = self.add_variable(candidate_bias, [size], initializer=tf.constant_initializer(0.0))
        self.built = True

    def call(self, inputs: Any, h_prev: Any) -> Any:  # type: ignore[override]
        check_types([inputs, h_prev])
        _, _, _, new_h = apply(
            "GRUBlockCell", inputs, h_prev, self._gate_kernel, self._candidate_kernel, self._gate_bias, self._candidate_bias
        )
        return new_h, new_h


@public("contrib.rnn.GRUBlockCellV2")
class GRUBlockCellV2(GRUBlockCell):
    """The same with the variable names of tf.nn.rnn_cell.GRUCell."""

    _names = ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")


internal("contrib.rnn.python.ops.lstm_ops.LSTMBlockCell")(LSTMBlockCell)
