"""LSTMs that run along the frequencies of a frame as well as along time."""

from __future__ import annotations

import collections
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.rnn.lstm_variants import sharded_variable
from everflow.graph.dtypes import DTypeLike
from everflow.ops.variables import variable_scope as scopes
from everflow.rnn.cell import RNNCell


def _windows(inputs: Any, size: int, skip: int) -> list[Any]:
    """Overlapping parts of a frame: `size` features each, one every `skip`."""
    count = (int(inputs.get_shape().as_list()[1]) - size) // skip + 1
    return [tf.slice(inputs, [0, i * skip], [-1, size]) for i in range(count)]


def _width(inputs: Any) -> int:
    width = inputs.get_shape().with_rank(2).as_list()[1]
    if width is None:
        raise ValueError("Cannot infer input_size from static shape inference.")
    return int(width)


def _bounded(x: Any, limit: float | None) -> Any:
    return x if limit is None else tf.clip_by_value(x, -limit, limit)


@public("contrib.rnn.TimeFreqLSTMCell")
class TimeFreqLSTMCell(RNNCell):
    """An LSTM whose weights are the same for all windows of a frame; each window also sees the output of the one before it."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int = 1,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._num_unit_shards = num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size = feature_size
        self._frequency_skip = frequency_skip

    @property
    def output_size(self) -> Any:
        return self._num_units

    @property
    def state_size(self) -> Any:
        return 2 * self._num_units

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        _width(inputs)
        if self._feature_size is None:
            raise TypeError("feature_size, the number of features of a window, must be given.")
        units, dtype = self._num_units, inputs.dtype
        windows = _windows(inputs, self._feature_size, self._frequency_skip)
        with scopes.variable_scope(scopes.get_variable_scope(), initializer=self._initializer):
            kernel = sharded_variable("W", [self._feature_size + 2 * units, 4 * units], dtype, self._num_unit_shards)
            bias = tf.get_variable("B", shape=[4 * units], initializer=tf.zeros_initializer(), dtype=dtype)
            gates = "FIO" if self._use_peepholes else ""
            peepholes = {gate: tf.get_variable(f"W_{gate}_diag", shape=[units], dtype=dtype) for gate in gates}
        below = tf.zeros([tf.shape(inputs)[0], units], dtype)
        outputs, states = [], []
        for place, window in enumerate(windows):
            c_prev = tf.slice(state, [0, 2 * place * units], [-1, units])
            m_prev = tf.slice(state, [0, (2 * place + 1) * units], [-1, units])
            logits = tf.nn.bias_add(tf.matmul(tf.concat([window, m_prev, below], 1), kernel), bias)
            i, j, f, o = tf.split(value=logits, num_or_size_splits=4, axis=1)
            f = f + self._forget_bias
            if peepholes:
                f, i = f + peepholes["F"] * c_prev, i + peepholes["I"] * c_prev
            c = _bounded(tf.sigmoid(f) * c_prev + tf.sigmoid(i) * tf.tanh(j), self._cell_clip)
            below = tf.sigmoid(o + peepholes["O"] * c if peepholes else o) * tf.tanh(c)
            outputs.append(below)
            states += [c, below]
        return tf.concat(outputs, 1) if len(outputs) > 1 else outputs[0], tf.concat(states, 1)


class _Weights:
    """The variables of one band: a matrix, biases and peepholes along frequency, and the same along time unless they are shared."""

    def __init__(self, cell: GridLSTMCell, band: int, depth: int, dtype: DTypeLike) -> None:
        units, gates = cell._num_units, 3 if cell._couple_input_forget_gates else 4
        shared = cell._share_time_frequency_weights

        def dense(axis: str) -> tuple[Any, Any]:
            return (
                sharded_variable(f"W_{axis}_{band}", [depth + 2 * units, gates * units], dtype, cell._num_unit_shards),
                tf.get_variable(f"B_{axis}_{band}", shape=[gates * units], initializer=tf.zeros_initializer(), dtype=dtype),
            )

        def peepholes(axis: str) -> dict[tuple[str, str], Any]:
            return {
                (gate, source): tf.get_variable(f"W_{gate}_diag_{axis}{source}_{band}", shape=[units], dtype=dtype)
                for gate in ("IO" if gates == 3 else "FIO")
                for source in "ft"
            }

        self.frequency = dense("f")
        self.time = self.frequency if shared else dense("t")
        self.frequency_peepholes = peepholes("freq") if cell._use_peepholes else {}
        self.time_peepholes = self.frequency_peepholes if shared or not cell._use_peepholes else peepholes("time")


@public("contrib.rnn.GridLSTMCell")
class GridLSTMCell(RNNCell):
    """Two LSTMs that see each other's outputs: one along the windows of a frame, one along time for each window.

    Bands of the frame, from `start_freqindex_list` to `end_freqindex_list`, have weights of their own; `num_frequency_blocks` says how
    many windows each has.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int | None = None,
        num_frequency_blocks: Any = None,
        start_freqindex_list: Any = None,
        end_freqindex_list: Any = None,
        couple_input_forget_gates: bool = False,
        state_is_tuple: bool = True,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        if not state_is_tuple:
            tf.logging.warn("%s: Using a concatenated state is slower and will soon be deprecated.  Use state_is_tuple=True.", self)
        if num_frequency_blocks is None:
            raise ValueError("Must specify num_frequency_blocks")
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._share_time_frequency_weights = share_time_frequency_weights
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._num_unit_shards = num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size = feature_size
        self._frequency_skip = frequency_skip
        self._num_frequency_blocks = list(num_frequency_blocks)
        self._start_freqindex_list = start_freqindex_list
        self._end_freqindex_list = end_freqindex_list
        self._couple_input_forget_gates = couple_input_forget_gates
        self._state_is_tuple = state_is_tuple
        self._windows_in_all = sum(self._num_frequency_blocks)
        self._state_tuple_type: Any = collections.namedtuple("GridLSTMStateTuple", self._state_names("state"))  # type: ignore[misc]

    def _state_names(self, prefix: str) -> list[str]:
        return [
            f"{prefix}_f{place:02d}_b{band:02d}_{part}"
            for band, count in enumerate(self._num_frequency_blocks)
            for place in range(count)
            for part in "cm"
        ]

    @property
    def output_size(self) -> Any:
        return 2 * self._num_units * self._windows_in_all

    @property
    def state_size(self) -> Any:
        if self._state_is_tuple:
            return self._state_tuple_type(*[self._num_units] * (2 * self._windows_in_all))
        return 2 * self._num_units * self._windows_in_all

    @property
    def state_tuple_type(self) -> Any:
        """The tuple of memories and outputs of all windows."""
        return self._state_tuple_type

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        count = 2 * self._windows_in_all
        parts = (
            list(state)
            if self._state_is_tuple
            else [tf.slice(state, [0, i * self._num_units], [-1, self._num_units]) for i in range(count)]
        )
        with scopes.variable_scope(scopes.get_variable_scope(), initializer=self._initializer):
            outputs, states = self._along(self._frame(inputs), parts)
        return tf.concat(outputs, 1), self._state_tuple_type(*states) if self._state_is_tuple else tf.concat(states, 1)

    def _along(self, frame: list[list[Any]], state: list[Any]) -> tuple[list[Any], list[Any]]:
        """Outputs and states of all windows of all bands."""
        outputs, states = [], []
        for band, windows in enumerate(frame):
            size = 2 * len(windows)
            found = self._along_band(band, windows, state[:size])
            # TensorFlow counts windows from the start of a concatenated state in every band, and models were trained so.
            state = state[size:] if self._state_is_tuple else state
            outputs += found[0]
            states += found[1]
        return outputs, states

    def _along_band(self, band: int, windows: list[Any], state: list[Any]) -> tuple[list[Any], list[Any]]:
        dtype = windows[0].dtype
        weights = _Weights(self, band, windows[0].get_shape().as_list()[1], dtype)
        c_freq = m_freq = tf.zeros([tf.shape(windows[0])[0], self._num_units], dtype)
        outputs, states = [], []
        for place, window in enumerate(windows):
            c_time, m_time = state[2 * place], state[2 * place + 1]
            seen = tf.concat([window, m_time, m_freq], 1)
            c_new_freq, o_freq = self._memory(seen, weights.frequency, weights.frequency_peepholes, c_freq, c_freq, c_time)
            c_new_time, o_time = self._memory(seen, weights.time, weights.time_peepholes, c_time, c_freq, c_time)
            m_freq = self._output(o_freq, c_new_freq, weights.frequency_peepholes, c_new_freq, c_new_time)
            m_time = self._output(o_time, c_new_time, weights.time_peepholes, c_new_freq, c_new_time)
            c_freq = c_new_freq
            outputs += [m_time, m_freq]
            states += [c_new_time, m_time]
        return outputs, states

    def _memory(self, seen: Any, dense: tuple[Any, Any], peepholes: dict[Any, Any], c: Any, c_freq: Any, c_time: Any) -> tuple[Any, Any]:
        """The new memory, and the logits of the output gate."""
        gates = tf.nn.bias_add(tf.matmul(seen, dense[0]), dense[1])
        if self._couple_input_forget_gates:
            i, j, o = tf.split(value=gates, num_or_size_splits=3, axis=1)
            f = None
        else:
            i, j, f, o = tf.split(value=gates, num_or_size_splits=4, axis=1)
            f = f + self._forget_bias
        if peepholes:
            i = i + peepholes["I", "f"] * c_freq + peepholes["I", "t"] * c_time
            f = None if f is None else f + peepholes["F", "f"] * c_freq + peepholes["F", "t"] * c_time
        taken = tf.sigmoid(i)
        kept = 1.0 - taken if f is None else tf.sigmoid(f)
        return _bounded(kept * c + taken * tf.tanh(j), self._cell_clip), o

    def _output(self, o: Any, c: Any, peepholes: dict[Any, Any], c_freq: Any, c_time: Any) -> Any:
        if peepholes:
            o = o + peepholes["O", "f"] * c_freq + peepholes["O", "t"] * c_time
        return tf.sigmoid(o) * tf.tanh(c)

    def _frame(self, inputs: Any, slice_offset: int = 0) -> list[list[Any]]:
        """The windows of each band."""
        width = _width(inputs)
        if slice_offset:
            inputs = tf.pad(inputs, [[0, 0], [0, slice_offset]] if slice_offset > 0 else [[0, 0], [-slice_offset, 0]])
            inputs = tf.slice(inputs, [0, max(slice_offset, 0)], [-1, width])
            inputs.set_shape([None, width])
        size, skip, counts = self._feature_size or width, self._frequency_skip or 1, self._num_frequency_blocks
        starts, ends = self._start_freqindex_list or [0], self._end_freqindex_list or [width]
        if len(starts) != len(ends):
            raise ValueError(f"Length of start and end freqindex_list does not match {len(starts)} {len(ends)}")
        if len(counts) != len(starts):
            raise ValueError(
                f"Length of num_frequency_blocks is not equal to start_freqindex_list {len(counts)} {len(starts)}"
                if self._start_freqindex_list
                else f"Length of num_frequency_blocks is not 1, but instead is {len(counts)}"
            )
        frame = []
        for start, end, count in zip(starts, ends, counts):
            band = tf.slice(inputs, [0, start], [-1, end - start])
            band.set_shape([None, end - start])
            windows = _windows(band, size, skip)
            if len(windows) != count:
                raise ValueError(
                    f"Invalid num_frequency_blocks, requires {count} but gets {len(windows)}, please check the input size and "
                    "filter config are correct."
                )
            frame.append(windows)
        return frame


@public("contrib.rnn.BidirectionalGridLSTMCell")
class BidirectionalGridLSTMCell(GridLSTMCell):
    """A grid along the windows upwards, and another one downwards, with weights of its own; `backward_slice_offset` moves its windows."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int | None = None,
        num_frequency_blocks: Any = None,
        start_freqindex_list: Any = None,
        end_freqindex_list: Any = None,
        couple_input_forget_gates: bool = False,
        backward_slice_offset: int = 0,
        reuse: Any = None,
    ) -> None:
        super().__init__(
            num_units,
            use_peepholes,
            share_time_frequency_weights,
            cell_clip,
            initializer,
            num_unit_shards,
            forget_bias,
            feature_size,
            frequency_skip,
            num_frequency_blocks,
            start_freqindex_list,
            end_freqindex_list,
            couple_input_forget_gates,
            True,
            reuse,
        )
        self._backward_slice_offset = int(backward_slice_offset)
        self._state_tuple_type = collections.namedtuple(  # type: ignore[misc]
            "BidirectionalGridLSTMStateTuple", [*self._state_names("fwd_state"), *self._state_names("bwd_state")]
        )

    @property
    def output_size(self) -> Any:
        return 4 * self._num_units * self._windows_in_all

    @property
    def state_size(self) -> Any:
        return self._state_tuple_type(*[self._num_units] * (4 * self._windows_in_all))

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        half = 2 * self._windows_in_all
        frames = [self._frame(inputs), [windows[::-1] for windows in self._frame(inputs, self._backward_slice_offset)]]
        outputs, states = [], []
        with scopes.variable_scope(scopes.get_variable_scope(), initializer=self._initializer):
            for name, frame, part in zip(("fwd", "bwd"), frames, (list(state)[:half], list(state)[half:])):
                with scopes.variable_scope(name):
                    found = self._along(frame, part)
                outputs += found[0]
                states += found[1]
        return tf.concat(outputs, 1), self._state_tuple_type(*states)
