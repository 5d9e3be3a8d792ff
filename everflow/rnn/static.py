"""tf.nn.static_rnn and its kin: a cell over time, unrolled."""

from __future__ import annotations

import functools
from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import public
from everflow.graph.dtypes import DTypeLike
from everflow.graph.shapes import Dimension
from everflow.ops.variables import variable_scope as scopes
from everflow.rnn.cell import assert_like_rnncell
from everflow.rnn.state import concat_shapes
from everflow.rnn.steps import conditional_step, infer_state_dtype, initial_state_of, reads_once, reverse_seq


@public("nn.static_rnn", "contrib.rnn.static_rnn")
def static_rnn(cell: Any, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None, scope: Any = None) -> Any:
    """Runs a cell over a list of inputs, one for each time; returns a list of outputs and the last state."""
    assert_like_rnncell("cell", cell)
    if not nest.is_nested(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    outputs = []
    with scopes.variable_scope(scope or "rnn") as own:
        reads_once(own)
        batch_size = _batch_size(inputs)
        state = initial_state_of(cell, batch_size, dtype) if initial_state is None else initial_state
        zero_output = shortest = longest = None
        if sequence_length is not None:
            sequence_length = tf.convert_to_tensor(sequence_length, name="sequence_length")
            if sequence_length.get_shape().rank not in (None, 1):
                raise ValueError("sequence_length must be a vector of length batch_size")
            zero_output = nest.map_structure(lambda size: _zeros(batch_size, size, dtype, state), cell.output_size)
            sequence_length = tf.cast(sequence_length, "int32")
            shortest, longest = tf.reduce_min(sequence_length), tf.reduce_max(sequence_length)
        for time, value in enumerate(inputs):
            if time > 0:
                own.reuse_variables()
            if sequence_length is not None:
                output, state = conditional_step(
                    time, sequence_length, shortest, longest, zero_output, state, functools.partial(cell, value, state)
                )
            else:
                output, state = cell(value, state)
            outputs.append(output)
        return outputs, state


def _zeros(batch_size: Any, size: Any, dtype: DTypeLike, state: Any) -> Any:
    made = tf.zeros(concat_shapes(batch_size, size), infer_state_dtype(dtype, state))
    made.set_shape(concat_shapes(batch_size if isinstance(batch_size, int) else [None], size, static=True))
    return made


def _batch_size(inputs: Any) -> Any:
    """The size of the batch: an int where an input tells, else a tensor."""
    first = inputs
    while nest.is_nested(first):
        first = first[0]
    found = Dimension(None)
    if first.get_shape().rank != 1:
        shape = first.get_shape().with_rank_at_least(2)
        found = Dimension(shape.as_list()[0])
        for value in nest.flatten(inputs):
            shape = value.get_shape()
            if shape.rank is None:
                continue
            found = found.merge_with(Dimension(shape.as_list()[0]))
            for i, size in enumerate(shape.as_list()[1:]):
                if size is None:
                    raise ValueError(f"Input size (dimension {i} of inputs) must be accessible via shape inference, but saw value None.")
    else:
        found = Dimension(first.get_shape().with_rank_at_least(1).as_list()[0])
    return found.value if found.value is not None else tf.shape(first)[0]


@public("nn.static_state_saving_rnn", "contrib.rnn.static_state_saving_rnn")
def static_state_saving_rnn(
    cell: Any, inputs: Any, state_saver: Any, state_name: Any, sequence_length: Any = None, scope: Any = None
) -> Any:
    """static_rnn from a state that is kept elsewhere, and saved again at the end."""
    state_size = cell.state_size
    is_tuple, names_are_tuple = nest.is_nested(state_size), nest.is_nested(state_name)
    if is_tuple != names_are_tuple:
        raise ValueError(f"state_name should be the same type as cell.state_size.  state_name: {state_name}, cell.state_size: {state_size}")
    if is_tuple:
        names, sizes = nest.flatten(state_name), nest.flatten(state_size)
        if len(names) != len(sizes):
            raise ValueError("#elems(state_name) != #elems(state_size): %d vs. %d" % (len(names), len(sizes)))  # noqa: UP031
        initial = nest.pack_sequence_as(state_size, [state_saver.state(name) for name in names])
    else:
        names, initial = [state_name], state_saver.state(state_name)
    outputs, state = static_rnn(cell, inputs, initial_state=initial, sequence_length=sequence_length, scope=scope)
    saves = [state_saver.save_state(name, part) for name, part in zip(names, nest.flatten(state))]
    with tf.control_dependencies(saves):
        last = nest.flatten(outputs[-1])
        outputs[-1] = nest.pack_sequence_as(outputs[-1], [tf.identity(value) for value in last])
    return outputs, state


@public("nn.static_bidirectional_rnn", "contrib.rnn.static_bidirectional_rnn")
def static_bidirectional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: DTypeLike | None = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> Any:
    """Two cells, one forwards and one backwards; returns outputs side by side and both last states."""
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    if not nest.is_nested(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    with scopes.variable_scope(scope or "bidirectional_rnn"):
        with scopes.variable_scope("fw") as fw_scope:
            output_fw, state_fw = static_rnn(cell_fw, inputs, initial_state_fw, dtype, sequence_length, scope=fw_scope)
        with scopes.variable_scope("bw") as bw_scope:
            reversed_inputs = reverse_seq(inputs, sequence_length)
            found, state_bw = static_rnn(cell_bw, reversed_inputs, initial_state_bw, dtype, sequence_length, scope=bw_scope)
    output_bw = reverse_seq(found, sequence_length)
    joined = [tf.concat([forward, backward], 1) for forward, backward in zip(nest.flatten(output_fw), nest.flatten(output_bw))]
    return nest.pack_sequence_as(output_fw, joined), state_fw, state_bw
