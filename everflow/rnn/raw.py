"""tf.nn.raw_rnn: a loop whose inputs and end the caller decides step by step."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import public
from everflow.graph.constants import constant_value
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import colocate_with
from everflow.graph.shapes import Dimension, TensorShape
from everflow.graph.tensor import Tensor
from everflow.ops.control_flow.bodies import is_tensor_array
from everflow.ops.variables import variable_scope as scopes
from everflow.rnn.cell import assert_like_rnncell
from everflow.rnn.state import concat_shapes
from everflow.rnn.steps import reads_once


@public("nn.raw_rnn")
def raw_rnn(cell: Any, loop_fn: Any, parallel_iterations: Any = None, swap_memory: bool = False, scope: Any = None) -> Any:
    """Runs a cell until `loop_fn` says that all are finished.

    `loop_fn(time, cell_output, cell_state, loop_state)` returns (finished, next input, next state, what to emit, next loop state).
    """
    assert_like_rnncell("cell", cell)
    if not callable(loop_fn):
        raise TypeError("loop_fn must be a callable")
    with scopes.variable_scope(scope or "rnn") as own:
        reads_once(own)
        time = tf.constant(0, dtype="int32")
        finished, next_input, initial_state, emit_structure, init_loop_state = loop_fn(time, None, None, None)
        loop_state = init_loop_state if init_loop_state is not None else tf.constant(0, dtype="int32")
        flat_input = nest.flatten(next_input)
        const_batch_size = _static_batch_size(flat_input)
        batch_size = const_batch_size if const_batch_size is not None else tf.shape(flat_input[0])[0]
        nest.assert_same_structure(initial_state, cell.state_size)
        state = nest.map_structure(convert_to_tensor, initial_state)
        emit_structure, emits = _emitted(cell, emit_structure, nest.flatten(state))
        emit_arrays = nest.pack_sequence_as(
            emit_structure,
            [
                tf.TensorArray(
                    dtype=emit_type,
                    dynamic_size=True,
                    size=0,
                    name=f"rnn_output_{i}",
                    element_shape=TensorShape([const_batch_size]).concatenate(_known_shape(size)),
                )
                for i, (size, emit_type) in enumerate(emits)
            ],
        )
        zero_emit = nest.pack_sequence_as(
            emit_structure, [tf.zeros(concat_shapes(batch_size, size), emit_type) for size, emit_type in emits]
        )

        def body(time: Any, finished: Any, current_input: Any, arrays: Any, state: Any, loop_state: Any) -> Any:
            output, cell_state = cell(current_input, state)
            nest.assert_same_structure(state, cell_state)
            nest.assert_same_structure(cell.output_size, output)
            next_time = time + 1
            next_finished, next_input, next_state, emitted, next_loop_state = loop_fn(next_time, output, cell_state, loop_state)
            nest.assert_same_structure(state, next_state)
            nest.assert_same_structure(current_input, next_input)
            nest.assert_same_structure(arrays, emitted)
            if next_loop_state is None:
                next_loop_state = loop_state

            def unless_finished(current: Any, candidate: Any) -> Any:
                def chosen(now: Any, then: Any) -> Any:
                    if is_tensor_array(now) or now.shape.rank == 0:
                        return then
                    with colocate_with(then):
                        return tf.where(finished, now, then)

                return nest.map_structure(chosen, current, candidate)

            emitted = unless_finished(zero_emit, emitted)
            next_state = unless_finished(state, next_state)
            arrays = nest.map_structure(lambda ta, value: ta.write(time, value), arrays, emitted)
            return next_time, tf.logical_or(finished, next_finished), next_input, arrays, next_state, next_loop_state

        returned = tf.while_loop(
            lambda _, finished, *rest: tf.logical_not(tf.reduce_all(finished)),
            body,
            loop_vars=[time, finished, next_input, emit_arrays, state, loop_state],
            parallel_iterations=parallel_iterations or 32,
            swap_memory=swap_memory,
        )
        arrays, final_state, final_loop_state = returned[-3:]
        return arrays, final_state, None if init_loop_state is None else final_loop_state


def _static_batch_size(flat_input: list[Any]) -> int | None:
    found = Dimension(None)
    for value in flat_input:
        shape = value.shape if not is_tensor_array(value) else TensorShape([None])
        if shape.rank is not None:
            found = found.merge_with(Dimension(shape.as_list()[0]))
    return found.value


def _emitted(cell: Any, structure: Any, flat_state: list[Any]) -> tuple[Any, list[tuple[Any, Any]]]:
    """What is emitted at each step: its structure, and (size, type) of each part."""
    if structure is None:
        return cell.output_size, [(size, flat_state[0].dtype) for size in nest.flatten(cell.output_size)]
    found = []
    for part in nest.flatten(structure):
        found.append((part.shape if part.shape.is_fully_defined() else tf.shape(part), part.dtype))
    return structure, found


def _known_shape(size: Any) -> TensorShape:
    if isinstance(size, Tensor):
        value = constant_value(size)
        return TensorShape(None if value is None else [int(v) for v in value.reshape(-1)])
    return TensorShape([size] if isinstance(size, int) else size)
