"""Fused cells: networks that take whole sequences at once."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.dtypes import DTypeLike
from everflow.rnn.dynamic import dynamic_rnn
from everflow.rnn.static import static_rnn


@public("contrib.rnn.FusedRNNCell")
class FusedRNNCell:
    """Something that maps inputs [time, batch, depth] to (outputs, last state)."""

    def __call__(
        self, inputs: Any, initial_state: Any = None, dtype: DTypeLike | None = None, sequence_length: Any = None, scope: Any = None
    ) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not say how to run over a sequence.")


@public("contrib.rnn.FusedRNNCellAdaptor")
class FusedRNNCellAdaptor(FusedRNNCell):
    """A cell, run over time, as a fused cell."""

    def __init__(self, cell: Any, use_dynamic_rnn: bool = False) -> None:
        self._cell = cell
        self._use_dynamic_rnn = use_dynamic_rnn

    def __call__(
        self, inputs: Any, initial_state: Any = None, dtype: DTypeLike | None = None, sequence_length: Any = None, scope: Any = None
    ) -> Any:
        given: dict[str, Any] = {"initial_state": initial_state, "dtype": dtype, "sequence_length": sequence_length, "scope": scope}
        listed = isinstance(inputs, list)
        if self._use_dynamic_rnn:
            whole = tf.stack(inputs) if listed else inputs
            outputs, state = dynamic_rnn(self._cell, whole, time_major=True, **given)
            return (tf.unstack(outputs) if listed else outputs), state
        steps = inputs if listed else tf.unstack(inputs)
        outputs, state = static_rnn(self._cell, steps, **given)
        return (outputs if listed else tf.stack(outputs)), state


@public("contrib.rnn.TimeReversedFusedRNN")
class TimeReversedFusedRNN(FusedRNNCell):
    """A fused cell that reads its inputs backwards."""

    def __init__(self, cell: Any) -> None:
        self._cell = cell

    def _reverse(self, t: Any, lengths: Any) -> Any:
        if isinstance(t, list):
            return list(reversed(t))
        if lengths is None:
            return tf.reverse_v2(t, [0])
        return tf.reverse_sequence(t, lengths, 0, 1)

    def __call__(
        self, inputs: Any, initial_state: Any = None, dtype: DTypeLike | None = None, sequence_length: Any = None, scope: Any = None
    ) -> Any:
        outputs, state = self._cell(
            self._reverse(inputs, sequence_length), initial_state=initial_state, dtype=dtype, sequence_length=sequence_length, scope=scope
        )
        return self._reverse(outputs, sequence_length), state
