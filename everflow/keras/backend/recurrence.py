"""K.rnn: a function of each time step and of what it left at the step before."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import public


def _swapped(t: Any) -> Any:
    """Time before batch, or batch before time."""
    return tf.transpose(t, [1, 0, *range(2, len(t.shape))])


def _chosen(mask: Any, new: Any, old: Any) -> Any:
    """The new values of samples whose step counts, the old ones of the others."""
    for _ in range(len(new.shape) - len(mask.shape)):
        mask = tf.expand_dims(mask, -1)
    return tf.where(tf.broadcast_to(mask, tf.shape(new)), new, old)


@public("keras.backend.rnn")
def rnn(
    step_function: Any,
    inputs: Any,
    initial_states: Any,
    go_backwards: bool = False,
    mask: Any = None,
    constants: Any = None,
    unroll: bool = False,
    input_length: Any = None,
    time_major: bool = False,
    zero_output_for_mask: bool = False,
) -> Any:
    """(the output of the last step, the outputs of all, the states after the last)."""
    if not time_major:
        inputs = nest.map_structure(_swapped, inputs)
    flat = nest.flatten(inputs)
    for x in flat:
        if len(x.shape) < 3:
            raise ValueError("Input should be at least 3D.")
    steps = flat[0].shape.as_list()[0]
    if mask is not None:
        if mask.dtype != tf.bool:
            mask = tf.cast(mask, "bool")
        if len(mask.shape) == 3 and mask.shape.as_list()[-1] == 1:
            mask = tf.squeeze(mask, [-1])
        if not time_major:
            mask = _swapped(mask)
    if constants is None:
        constants = []
    loop = _Steps(step_function, inputs, mask, list(constants), zero_output_for_mask)
    states = tuple(initial_states)
    if unroll:
        if not steps:
            raise ValueError("Unrolling requires a fixed number of timesteps.")
        last, outputs, states = loop.unrolled(states, steps, go_backwards)
    else:
        last, outputs, states = loop.looped(states, go_backwards)

    def shaped(t: Any, first: Any) -> Any:
        known = t.shape.as_list()
        known[0], known[1] = steps, first.shape.as_list()[0]
        t.set_shape(known)
        return t

    outputs = nest.map_structure(shaped, outputs, last)
    if not time_major:
        outputs = nest.map_structure(_swapped, outputs)
    return last, outputs, states


class _Steps:
    """The steps of one call."""

    def __init__(self, function: Any, inputs: Any, mask: Any, constants: list[Any], zeroes: bool) -> None:
        self.function = function
        self.inputs = inputs
        self.mask = mask
        self.constants = constants
        self.zeroes = zeroes

    def _stepped(self, x: Any, states: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
        output, new = self.function(x, (*states, *self.constants))
        return output, tuple(new)

    def _masked(self, step_mask: Any, output: Any, before: Any, new: Any, old: Any) -> tuple[Any, tuple[Any, ...]]:
        if self.zeroes:
            before = nest.map_structure(tf.zeros_like, output)
        output = nest.map_structure(lambda n, o: _chosen(step_mask, n, o), output, before)
        kept = [_chosen(step_mask, n, o) if n.shape.ndims else n for n, o in zip(nest.flatten(new), nest.flatten(old))]
        return output, nest.pack_sequence_as(new, kept)

    def unrolled(self, states: tuple[Any, ...], steps: int, backwards: bool) -> Any:
        """One copy of the function for each step."""
        pieces = [tf.unstack(x, steps) for x in nest.flatten(self.inputs)]
        masks = None if self.mask is None else tf.unstack(self.mask, steps)
        order = list(range(steps))[::-1] if backwards else list(range(steps))
        outputs: list[Any] = []
        for t in order:
            output, new = self._stepped(nest.pack_sequence_as(self.inputs, [p[t] for p in pieces]), states)
            if masks is not None:
                before = outputs[-1] if outputs else nest.map_structure(tf.zeros_like, output)
                output, new = self._masked(masks[t], output, before, new, states)
            states = new
            outputs.append(output)
        stacked = [tf.stack([nest.flatten(o)[i] for o in outputs]) for i in range(len(nest.flatten(outputs[0])))]
        return outputs[-1], nest.pack_sequence_as(outputs[0], stacked), list(states)

    def looped(self, states: tuple[Any, ...], backwards: bool) -> Any:
        """A loop over steps, whose number need not be known."""
        flat = nest.flatten(self.inputs)
        number = flat[0].shape.as_list()[0] or tf.shape(flat[0])[0]
        read = tf.reverse if backwards else None
        arrays = [
            tf.TensorArray(x.dtype, size=number, tensor_array_name=f"input_ta_{i}").unstack(read(x, [0]) if read else x)
            for i, x in enumerate(flat)
        ]
        # Once outside of the loop: what a step makes once for all steps is made here.
        first, _ = self._stepped(nest.pack_sequence_as(self.inputs, [x[0] for x in flat]), states)
        flat_first = nest.flatten(first)
        written = [
            tf.TensorArray(o.dtype, size=number, element_shape=o.shape, tensor_array_name=f"output_ta_{i}")
            for i, o in enumerate(flat_first)
        ]
        masks = None
        if self.mask is not None:
            masks = tf.TensorArray("bool", size=number, tensor_array_name="mask_ta").unstack(
                tf.reverse(self.mask, [0]) if backwards else self.mask
            )
        flat_states = [tf.convert_to_tensor(s) for s in nest.flatten(states)]
        carried = [tf.zeros_like(o) for o in flat_first] if masks is not None else []

        def body(time: Any, outputs: Any, before: Any, old: Any) -> Any:
            x = nest.pack_sequence_as(self.inputs, [a.read(time) for a in arrays])
            known = nest.pack_sequence_as(states, list(old))
            output, new = self._stepped(x, known)
            if masks is not None:
                packed = nest.pack_sequence_as(first, list(before))
                output, new = self._masked(masks.read(time), output, packed, new, known)
            kept = []
            for n, o in zip(nest.flatten(new), old):
                n.set_shape(o.shape)
                kept.append(n)
            values = nest.flatten(output)
            held = tuple(values) if masks is not None else ()
            return time + 1, tuple(a.write(time, v) for a, v in zip(outputs, values)), held, tuple(kept)

        _, outputs, _, last_states = tf.while_loop(
            lambda time, *_: time < number,
            body,
            (tf.constant(0, "int32", name="time"), tuple(written), tuple(carried), tuple(flat_states)),
            parallel_iterations=32,
            swap_memory=True,
        )
        stacked = [a.stack() for a in outputs]
        last = [o[-1] for o in stacked]
        for o, f in zip(last, flat_first):
            o.set_shape(f.shape)
        return (
            nest.pack_sequence_as(first, last),
            nest.pack_sequence_as(first, stacked),
            list(nest.pack_sequence_as(states, list(last_states))),
        )
