"""tf.nn.dynamic_rnn: a cell over time in a loop."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import internal, public
from everflow.eager.context import executing_eagerly
from everflow.graph.convert import convert_to_tensor
from everflow.graph.dtypes import DTypeLike
from everflow.graph.scopes import name_scope
from everflow.graph.shapes import TensorShape
from everflow.ops.variables import variable_scope as scopes
from everflow.rnn.cell import assert_like_rnncell
from everflow.rnn.state import concat_shapes
from everflow.rnn.steps import (
    best_effort_input_batch_size,
    checked_lengths,
    infer_state_dtype,
    initial_state_of,
    reads_once,
    step_within_lengths,
    transpose_batch_time,
)


@public("nn.dynamic_rnn")
def dynamic_rnn(
    cell: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state: Any = None,
    dtype: Any = None,
    parallel_iterations: Any = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> Any:
    """Runs a cell over inputs [batch, time, ...] (or [time, batch, ...]); returns the outputs and the last state.

    outputs, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(128), inputs, sequence_length=lengths, dtype=tf.float32)
    """
    assert_like_rnncell("cell", cell)
    with scopes.variable_scope(scope or "rnn") as own:
        reads_once(own)
        flat_input = [convert_to_tensor(x) for x in nest.flatten(inputs)]
        if not time_major:
            flat_input = [transpose_batch_time(x) for x in flat_input]
        parallel_iterations = parallel_iterations or 32
        if sequence_length is not None:
            sequence_length = checked_lengths(sequence_length)
        batch_size = best_effort_input_batch_size(flat_input)
        state = initial_state if initial_state is not None else initial_state_of(cell, batch_size, dtype)
        if sequence_length is not None and not executing_eagerly():
            sequence_length = _checked_against_batch(sequence_length, batch_size)
        inputs = nest.pack_sequence_as(inputs, flat_input)
        outputs, final_state = _loop(cell, inputs, state, parallel_iterations, swap_memory, sequence_length, dtype)
        if not time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
        return outputs, final_state


def _checked_against_batch(sequence_length: Any, batch_size: Any) -> Any:
    """The lengths, after a check that there is one for each sequence."""
    shape = tf.shape(sequence_length)
    wanted = tf.stack([batch_size])
    check = tf.Assert(
        tf.reduce_all(tf.equal(shape, wanted)), [f"Expected shape for Tensor {sequence_length.name} is ", wanted, " but saw shape: ", shape]
    )
    with tf.control_dependencies([check]):
        return tf.identity(sequence_length, name="CheckSeqLen")


def _static_sizes(flat_input: list[Any]) -> tuple[Any, Any]:
    """Time steps and batch size as far as they are known; the depths must be."""
    shapes = [x.get_shape().with_rank_at_least(3) for x in flat_input]
    steps, batch = shapes[0].as_list()[:2]
    for shape in shapes:
        if not shape[2:].is_fully_defined():
            raise ValueError("Input size (depth of inputs) must be accessible via shape inference, but saw value None.")
        if shape.as_list()[0] != steps:
            raise ValueError("Time steps is not the same for all the elements in the input in a batch.")
        if shape.as_list()[1] != batch:
            raise ValueError("Batch_size is not the same for all the elements in the input.")
    return steps, batch


@internal("ops.rnn._dynamic_rnn_loop")
def _loop(
    cell: Any,
    inputs: Any,
    initial_state: Any,
    parallel_iterations: int,
    swap_memory: bool,
    sequence_length: Any = None,
    dtype: DTypeLike | None = None,
) -> Any:
    """The loop itself, over inputs with time first."""
    state = initial_state
    flat_input = nest.flatten(inputs)
    flat_output_size = nest.flatten(cell.output_size)
    time_steps = tf.shape(flat_input[0])[0]
    batch_size = best_effort_input_batch_size(flat_input)
    const_time_steps, const_batch_size = _static_sizes(flat_input)

    def zeros(size: Any) -> Any:
        return tf.zeros(concat_shapes(batch_size, size), infer_state_dtype(dtype, state))

    zero_output = nest.pack_sequence_as(cell.output_size, [zeros(size) for size in flat_output_size])
    longest = time_steps
    if sequence_length is not None:
        # TensorFlow's graphs hold the minimum too, and seeds of later ops follow from the number of ops.
        tf.reduce_min(sequence_length)
        longest = tf.reduce_max(sequence_length)
    time = tf.constant(0, dtype="int32", name="time")
    with name_scope("dynamic_rnn") as base_name:
        pass

    def array(name: str, element_shape: Any, element_type: Any) -> Any:
        return tf.TensorArray(dtype=element_type, size=time_steps, element_shape=element_shape, tensor_array_name=base_name + name)

    output_arrays = tuple(
        array(f"output_{i}", [const_batch_size, *_sizes(size)], infer_state_dtype(dtype, state)) for i, size in enumerate(flat_output_size)
    )
    input_arrays = tuple(array(f"input_{i}", x.shape[1:], x.dtype) for i, x in enumerate(flat_input))
    input_arrays = tuple(ta.unstack(x) for ta, x in zip(input_arrays, flat_input))

    def step(time: Any, arrays: Any, state: Any) -> Any:
        at_time = [ta.read(time) for ta in input_arrays]
        for value, x in zip(at_time, flat_input):
            value.set_shape(x.get_shape()[1:])
        at_time = nest.pack_sequence_as(inputs, at_time)

        def call_cell() -> Any:
            return cell(at_time, state)

        if sequence_length is not None:
            output, new_state = step_within_lengths(time, sequence_length, zero_output, state, call_cell)
        else:
            output, new_state = call_cell()
        arrays = tuple(ta.write(time, value) for ta, value in zip(arrays, nest.flatten(output)))
        return time + 1, arrays, new_state

    bound = tf.minimum(time_steps, tf.maximum(1, longest))
    _, arrays, final_state = tf.while_loop(
        cond=lambda time, *_: time < bound,
        body=step,
        loop_vars=(time, output_arrays, state),
        parallel_iterations=parallel_iterations,
        maximum_iterations=time_steps,
        swap_memory=swap_memory,
    )
    final = tuple(ta.stack() for ta in arrays)
    for value, size in zip(final, flat_output_size):
        value.set_shape(concat_shapes([const_time_steps, const_batch_size], size, static=True))
    return nest.pack_sequence_as(cell.output_size, final), final_state


def _sizes(size: Any) -> list[Any]:
    return [size] if isinstance(size, int) else TensorShape(size).as_list()


@public("nn.bidirectional_dynamic_rnn")
def bidirectional_dynamic_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: DTypeLike | None = None,
    parallel_iterations: Any = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> Any:
    """Two cells, one forwards and one backwards in time; returns pairs of outputs and of last states."""
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    with scopes.variable_scope(scope or "bidirectional_rnn"):
        with scopes.variable_scope("fw") as fw_scope:
            output_fw, state_fw = dynamic_rnn(
                cell=cell_fw,
                inputs=inputs,
                sequence_length=sequence_length,
                initial_state=initial_state_fw,
                dtype=dtype,
                parallel_iterations=parallel_iterations,
                swap_memory=swap_memory,
                time_major=time_major,
                scope=fw_scope,
            )
        time_axis, batch_axis = (0, 1) if time_major else (1, 0)

        def backwards(x: Any) -> Any:
            if sequence_length is not None:
                return tf.reverse_sequence(input=x, seq_lengths=sequence_length, seq_axis=time_axis, batch_axis=batch_axis)
            return tf.reverse(x, axis=[time_axis])

        with scopes.variable_scope("bw") as bw_scope:
            inputs_reverse = nest.map_structure(backwards, inputs)
            found, state_bw = dynamic_rnn(
                cell=cell_bw,
                inputs=inputs_reverse,
                sequence_length=sequence_length,
                initial_state=initial_state_bw,
                dtype=dtype,
                parallel_iterations=parallel_iterations,
                swap_memory=swap_memory,
                time_major=time_major,
                scope=bw_scope,
            )
    output_bw = nest.map_structure(backwards, found)
    return (output_fw, output_bw), (state_fw, state_bw)
