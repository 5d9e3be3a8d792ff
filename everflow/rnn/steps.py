"""What all loops over time share: the batch's size, time as the first axis, and steps beyond the end of a sequence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import internal, public
from everflow.eager.context import executing_eagerly
from everflow.graph.convert import convert_to_tensor
from everflow.graph.dtypes import DTypeLike
from everflow.graph.scopes import colocate_with
from everflow.graph.shapes import TensorShape
from everflow.graph.stacks import get_default_graph
from everflow.ops.control_flow.bodies import is_tensor_array


@public("contrib.rnn.transpose_batch_time")
@internal("ops.rnn._transpose_batch_time")
def transpose_batch_time(x: Any) -> Any:
    """Swaps the first two axes."""
    shape = x.get_shape()
    if shape.rank is not None and shape.rank < 2:
        return x
    rank = tf.rank(x)
    swapped = tf.transpose(x, tf.concat(([1, 0], tf.range(2, rank)), axis=0))
    if shape.rank is not None:
        sizes = shape.as_list()
        swapped.set_shape([sizes[1], sizes[0], *sizes[2:]])
    return swapped


@public("contrib.rnn.best_effort_input_batch_size")
@internal("ops.rnn._best_effort_input_batch_size")
def best_effort_input_batch_size(flat_input: Any) -> Any:
    """The size of the batch (the second axis): an int where it is known, else a tensor."""
    for value in flat_input:
        shape = value.shape
        if shape.rank is None:
            continue
        if shape.rank < 2:
            raise ValueError(f"Expected input with rank at least 2, got {value}")
        if shape.as_list()[1] is not None:
            return shape.as_list()[1]
    return tf.shape(flat_input[0])[1]


@internal("ops.rnn._infer_state_dtype")
def infer_state_dtype(explicit_dtype: Any, state: Any) -> Any:
    """The type of outputs: as given, or that of all parts of the state."""
    if explicit_dtype is not None:
        return explicit_dtype
    if not nest.is_nested(state):
        return state.dtype
    found = [element.dtype for element in nest.flatten(state)]
    if not found:
        raise ValueError("Unable to infer dtype from empty state.")
    if not all(x == found[0] for x in found):
        raise ValueError("State has tensors of different inferred_dtypes. Unable to infer a single representative dtype.")
    return found[0]


def reads_once(scope: Any) -> None:
    """Lets variables of a scope be read before a loop rather than at each step."""
    if not executing_eagerly() and scope.caching_device is None and not get_default_graph().building_function:
        scope.set_caching_device(lambda op: op.device)


def initial_state_of(cell: Any, batch_size: Any, dtype: DTypeLike) -> Any:
    """The state a loop starts with where the caller gives none."""
    if not dtype:
        raise ValueError("If there is no initial_state, you must give a dtype.")
    if getattr(cell, "get_initial_state", None) is not None:
        return cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
    return cell.zero_state(batch_size, dtype)


def _kept_where_ended(ended: Any, old: Any, new: Any) -> Any:
    """The new value, except for sequences that have ended."""
    if is_tensor_array(old) or old.shape.rank == 0:
        return new
    with colocate_with(new):
        return tf.where(ended, old, new)


def step_within_lengths(time: Any, sequence_length: Any, zero_output: Any, state: Any, call_cell: Callable[[], Any]) -> Any:
    """One step of a dynamic loop: after its end, a sequence gives zeros and keeps its state."""
    ended = time >= sequence_length
    new_output, new_state = call_cell()
    new_output = nest.map_structure(convert_to_tensor, new_output) if not nest.is_nested(new_output) else new_output
    nest.assert_same_structure(zero_output, new_output)
    nest.assert_same_structure(state, new_state)
    outputs = [_kept_where_ended(ended, zero, new) for zero, new in zip(nest.flatten(zero_output), nest.flatten(new_output))]
    states = [_kept_where_ended(ended, old, new) for old, new in zip(nest.flatten(state), nest.flatten(new_state))]
    return nest.pack_sequence_as(zero_output, outputs), nest.pack_sequence_as(state, states)


def conditional_step(
    time: Any, sequence_length: Any, shortest: Any, longest: Any, zero_output: Any, state: Any, call_cell: Callable[[], Any]
) -> Any:
    """One step of an unrolled loop: not computed at all where every sequence has ended."""
    flat_zero, flat_state = nest.flatten(zero_output), nest.flatten(state)
    ended = time >= sequence_length

    def called() -> list[Any]:
        new_output, new_state = call_cell()
        nest.assert_same_structure(zero_output, new_output)
        nest.assert_same_structure(state, new_state)
        return nest.flatten(new_output) + nest.flatten(new_state)

    def some_left() -> list[Any]:
        new = called()
        mixed = lambda: [_kept_where_ended(ended, old, value) for old, value in zip(flat_zero + flat_state, new)]
        return tf.cond(time < shortest, lambda: new, mixed)

    values = tf.cond(time >= longest, lambda: flat_zero + flat_state, some_left)
    if not isinstance(values, (list, tuple)):
        values = [values]
    outputs, states = values[: len(flat_zero)], values[len(flat_zero) :]
    for value, zero in zip(outputs, flat_zero):
        value.set_shape(zero.get_shape())
    for value, old in zip(states, flat_state):
        if not is_tensor_array(old):
            value.set_shape(old.get_shape())
    return nest.pack_sequence_as(zero_output, outputs), nest.pack_sequence_as(state, states)


def checked_lengths(sequence_length: Any) -> Any:
    """Lengths as a vector of int32."""
    lengths = tf.cast(sequence_length, "int32")
    if lengths.get_shape().rank not in (None, 1):
        raise ValueError(f"sequence_length must be a vector of length batch_size, but saw shape: {lengths.get_shape()}")
    return tf.identity(lengths, name="sequence_length")


@internal("ops.rnn._reverse_seq")
def reverse_seq(input_seq: Any, lengths: Any) -> Any:
    """A list of steps, backwards: as a whole, or each sequence up to its length."""
    if lengths is None:
        return list(reversed(input_seq))
    flat = tuple(nest.flatten(value) for value in input_seq)
    results: list[list[Any]] = [[] for _ in input_seq]
    for sequence in zip(*flat):
        shape = TensorShape(None)
        for value in sequence:
            shape = shape.merge_with(value.get_shape())
        joined = tf.stack([_with_shape(value, shape) for value in sequence])
        for result, step in zip(results, tf.unstack(tf.reverse_sequence(joined, lengths, 0, 1))):
            step.set_shape(shape)
            result.append(step)
    return [nest.pack_sequence_as(value, result) for value, result in zip(input_seq, results)]


def _with_shape(value: Any, shape: TensorShape) -> Any:
    value.set_shape(shape)
    return value
