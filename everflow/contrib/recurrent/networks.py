"""tf.contrib.recurrent.functional_rnn and its bidirectional form: what tf.nn.dynamic_rnn computes, read from either end."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.dtypes import DTypeLike
from everflow.ops.variables.variable_scope import variable_scope


def _turned(sequences: Any, lengths: Any, time_major: bool, whole: bool) -> Any:
    """Sequences from their ends to their starts; `whole`: with what pads them."""
    time = 0 if time_major else 1
    if lengths is None or whole:
        return tf.reverse(sequences, axis=[time])
    return tf.reverse_sequence(sequences, lengths, seq_axis=time, batch_axis=1 - time)


@public("contrib.recurrent.functional_rnn")
def functional_rnn(
    cell: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state: Any = None,
    dtype: DTypeLike | None = None,
    time_major: bool = False,
    scope: Any = None,
    use_tpu: bool = False,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """(outputs, last state) of a cell over sequences, from their ends if `reverse` says so."""
    if reverse:
        inputs = _turned(inputs, sequence_length, time_major, whole=False)
    outputs, state = tf.nn.dynamic_rnn(cell, inputs, sequence_length, initial_state, dtype, time_major=time_major, scope=scope or "rnn")
    return (_turned(outputs, sequence_length, time_major, whole=False) if reverse else outputs), state


@public("contrib.recurrent.bidirectional_functional_rnn")
def bidirectional_functional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: DTypeLike | None = None,
    sequence_length: Any = None,
    time_major: bool = False,
    use_tpu: bool = False,
    fast_reverse: bool = False,
    scope: Any = None,
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """((outputs forward, backward), (last states)); `fast_reverse` turns whole sequences, and is right where all are equally long."""
    options = {"sequence_length": sequence_length, "dtype": dtype, "time_major": time_major}
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as forward:
            outputs, state = functional_rnn(cell_fw, inputs, initial_state=initial_state_fw, scope=forward, **options)
        with variable_scope("bw") as backward:
            turned = _turned(inputs, sequence_length, time_major, fast_reverse)
            found, last = functional_rnn(cell_bw, turned, initial_state=initial_state_bw, scope=backward, **options)
    return (outputs, _turned(found, sequence_length, time_major, fast_reverse)), (state, last)
