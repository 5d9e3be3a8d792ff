"""tf.contrib.recurrent.Recurrent: a function that is applied to a state and each of a sequence of inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import public


@public("contrib.recurrent.Recurrent")
def Recurrent(
    theta: Any,
    state0: Any,
    inputs: Any,
    cell_fn: Callable[..., Any],
    cell_grad: Callable[..., Any] | None = None,
    extras: Any = None,
    max_input_length: Any = None,
    use_tpu: bool = False,
    aligned_end: bool = False,
) -> tuple[Any, Any]:
    """States after all steps, and after the last: `state, extras = cell_fn(theta, state, inputs[t])` for each t.

    Of `max_input_length` steps, the first ones (or the last, if `aligned_end`) are taken; states of others are zeros. `cell_grad(theta,
    state, inputs, extras, dstate)` gives the gradients of a step for theta, state and inputs, if not those of its ops.
    """
    step = _step_of(cell_fn, cell_grad)
    theta, state0, inputs = (nest.map_structure(tf.convert_to_tensor, given) for given in (theta, state0, inputs))
    longest = tf.shape(nest.flatten(inputs)[0])[0]
    count = longest if max_input_length is None else tf.minimum(tf.cast(max_input_length, tf.int32), longest)
    start = longest - count if aligned_end else tf.constant(0)
    given = [tf.TensorArray(t.dtype, size=longest, element_shape=t.shape[1:]).unstack(t) for t in nest.flatten(inputs)]
    first = nest.flatten(state0)
    kept = [tf.TensorArray(t.dtype, size=count, element_shape=t.shape) for t in first]

    def body(k: Any, state: list[Any], kept: list[Any]) -> tuple[Any, list[Any], list[Any]]:
        found, _ = step(
            theta, nest.pack_sequence_as(state0, state), nest.pack_sequence_as(inputs, [array.read(start + k) for array in given])
        )
        after = nest.flatten(found)
        for new, old in zip(after, first):
            new.set_shape(old.shape)
        return k + 1, after, [array.write(k, new) for array, new in zip(kept, after)]

    _, last, kept = tf.while_loop(lambda k, *_: k < count, body, (tf.constant(0), first, kept))
    states = [array.stack() for array in kept]
    if max_input_length is not None:
        rest = longest - count
        around = [rest, 0] if aligned_end else [0, rest]
        states = [tf.pad(t, [around, *([[0, 0]] * (t.shape.rank - 1))]) for t in states]
    return nest.pack_sequence_as(state0, states), nest.pack_sequence_as(state0, last)


def _step_of(cell_fn: Callable[..., Any], cell_grad: Callable[..., Any] | None) -> Callable[..., Any]:
    """The step, differentiated as asked for."""
    if cell_grad is None:
        return cell_fn

    def step(theta: Any, state: Any, inputs: Any) -> Any:
        given, made = (theta, state, inputs), {}

        @tf.custom_gradient
        def flat_step(*flat: Any) -> Any:
            structured = nest.pack_sequence_as(given, flat)
            found = cell_fn(*structured)
            made["results"] = found
            outputs = [tf.identity(t) for t in nest.flatten(found)]
            states = len(nest.flatten(found[0]))

            def gradient(*dys: Any) -> Any:
                after = nest.pack_sequence_as(found, outputs)
                dstate = nest.pack_sequence_as(found[0], dys[:states])
                return [t for part in cell_grad(*structured, after[1], dstate) for t in nest.flatten(part)]

            return outputs, gradient

        found = flat_step(*nest.flatten(given))
        return nest.pack_sequence_as(made["results"], nest.flatten(found))

    return step
