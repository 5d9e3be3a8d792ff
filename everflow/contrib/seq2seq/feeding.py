"""What helpers and samplers share: the steps of given inputs, embeddings, and inputs of which some were drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import internal
from everflow.contrib.seq2seq.drawing import bernoulli_sample, categorical_sample
from everflow.graph.convert import convert_to_tensor
from everflow.rnn.steps import transpose_batch_time


@internal("contrib.seq2seq.python.ops.helper._unstack_ta", "contrib.seq2seq.python.ops.sampler._unstack_ta")
def steps_of(inputs: Any) -> Any:
    """Inputs with time first as an array of steps."""
    return tf.TensorArray(dtype=inputs.dtype, size=tf.shape(inputs)[0], element_shape=inputs.get_shape()[1:]).unstack(inputs)


class GivenInputs:
    """Inputs that are known beforehand, up to the length of each sequence."""

    def __init__(self, inputs: Any, sequence_length: Any, time_major: bool) -> None:
        self.inputs = inputs
        by_time = inputs if time_major else nest.map_structure(transpose_batch_time, inputs)
        self.steps = nest.map_structure(steps_of, by_time)
        self.sequence_length = sequence_length
        self.zeros = nest.map_structure(lambda value: tf.zeros_like(value[0, :]), by_time)
        self.batch_size = tf.size(sequence_length)

    def first(self) -> tuple[Any, Any]:
        """(finished, inputs) of the first step."""
        finished = tf.equal(0, self.sequence_length)
        return finished, self._at(0, finished)

    def after(self, time: Any) -> tuple[Any, Any]:
        """(finished, inputs) of the step after this one."""
        following = time + 1
        finished = following >= self.sequence_length
        return finished, self._at(following, finished)

    def _at(self, time: Any, finished: Any) -> Any:
        return tf.cond(tf.reduce_all(finished), lambda: self.zeros, lambda: nest.map_structure(lambda step: step.read(time), self.steps))


def embedding_function(embedding: Any) -> Callable[[Any], Any]:
    """A function from ids to embeddings, given itself or as parameters of a lookup."""
    return embedding if callable(embedding) else lambda ids: tf.nn.embedding_lookup(embedding, ids)


def vector_of_lengths(sequence_length: Any) -> Any:
    """The lengths as a tensor."""
    lengths = convert_to_tensor(sequence_length, name="sequence_length")
    if lengths.get_shape().rank != 1:
        raise ValueError(f"Expected sequence_length to be a vector, but received shape: {lengths.get_shape()}")
    return lengths


def probability(sampling_probability: Any) -> Any:
    """How probable it is that an input is drawn: one for all, or one for each sequence."""
    found = convert_to_tensor(sampling_probability, name="sampling_probability")
    if found.get_shape().rank not in (0, 1):
        raise ValueError(f"sampling_probability must be either a scalar or a vector. saw shape: {found.get_shape()}")
    return found


def start_and_end(start_tokens: Any, end_token: Any) -> tuple[Any, Any]:
    """The first tokens and the last one as tensors."""
    start = convert_to_tensor(start_tokens, dtype="int32", name="start_tokens")
    end = convert_to_tensor(end_token, dtype="int32", name="end_token")
    if start.get_shape().rank != 1:
        raise ValueError("start_tokens must be a vector")
    if end.get_shape().rank != 0:
        raise ValueError("end_token must be a scalar")
    return start, end


def drawn_or_given(drawn: Any, given: Any, next_inputs: Callable[[Any], Any]) -> Any:
    """Rows of `given`, with what `next_inputs(indices)` makes of those that were drawn in their place."""
    where_drawn = tf.cast(tf.where(drawn), "int32")
    where_given = tf.cast(tf.where(tf.logical_not(drawn)), "int32")
    kept = tf.gather_nd(given, where_given)
    shape = tf.shape(given)
    return tf.scatter_nd(indices=where_drawn, updates=next_inputs(where_drawn), shape=shape) + tf.scatter_nd(
        indices=where_given, updates=kept, shape=shape
    )


def drawn_ids(probabilities: Any, outputs: Any, batch_size: Any, seed: Any, scheduling_seed: Any) -> Any:
    """Ids drawn from the outputs for the sequences that chance picks; -1 for the others."""
    picked = bernoulli_sample(
        probs=probabilities, dtype="bool", sample_shape=batch_size if probabilities.shape.rank == 0 else (), seed=scheduling_seed
    )
    return tf.where(picked, categorical_sample(logits=outputs, seed=seed), tf.fill([batch_size], -1))


def embedded_or_given(sample_ids: Any, finished: Any, given: Any, embed: Callable[[Any], Any]) -> Any:
    """The next inputs: embeddings of the ids that were drawn, and what is given for the others."""

    def mixed() -> Any:
        return drawn_or_given(sample_ids > -1, given, lambda where: embed(tf.gather_nd(sample_ids, where)))

    return tf.cond(tf.reduce_all(finished), lambda: given, mixed)


def outputs_or_given(time: Any, sample_ids: Any, finished: Any, given: Any, outputs: Any, next_inputs: Any, auxiliary: Any) -> Any:
    """The next inputs: outputs of the sequences that chance picked, and what is given for the others."""
    picked = tf.cast(sample_ids, "bool")

    def with_auxiliary(values: Any, where: Any = None) -> Any:
        if auxiliary is None:
            return values
        more = nest.map_structure(lambda step: step.read(time + 1), auxiliary)
        if where is not None:
            more = nest.map_structure(lambda value: tf.gather_nd(value, where), more)
        return nest.map_structure(lambda x, y: tf.concat((x, y), -1), values, more)

    def mixed() -> Any:
        if next_inputs is None:
            return tf.where(picked, with_auxiliary(outputs), given)
        return drawn_or_given(picked, given, lambda where: with_auxiliary(next_inputs(tf.gather_nd(outputs, where)), where))

    return tf.cond(tf.logical_or(tf.reduce_all(finished), tf.logical_not(tf.reduce_any(picked))), lambda: given, mixed)


def best_ids(outputs: Any) -> Any:
    """The ids of the greatest outputs."""
    if not isinstance(outputs, tf.Tensor):
        raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")
    return tf.argmax(outputs, axis=-1, output_type="int32")


def sampled_ids(outputs: Any, softmax_temperature: Any, seed: int | None) -> Any:
    """Ids drawn from outputs that are logits."""
    if not isinstance(outputs, tf.Tensor):
        raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")
    return categorical_sample(logits=outputs if softmax_temperature is None else outputs / softmax_temperature, seed=seed)


def with_auxiliary(inputs: Any, auxiliary_inputs: Any, time_major: bool) -> tuple[Any, Any]:
    """(inputs that end in the auxiliary ones, an array of the auxiliary steps); as they are, and None, where there are none."""
    if auxiliary_inputs is None:
        return inputs, None
    inputs, auxiliary_inputs = convert_to_tensor(inputs), convert_to_tensor(auxiliary_inputs)
    inputs = nest.map_structure(lambda x, y: tf.concat((x, y), -1), inputs, auxiliary_inputs)
    by_time = auxiliary_inputs if time_major else nest.map_structure(transpose_batch_time, auxiliary_inputs)
    return inputs, nest.map_structure(steps_of, by_time)


def embedded_until_end(sample_ids: Any, end_token: Any, start_inputs: Any, embedding_fn: Callable[[Any], Any]) -> tuple[Any, Any]:
    """(finished, the embeddings of these ids; where all have ended, any)."""
    finished = tf.equal(sample_ids, end_token)
    return finished, tf.cond(tf.reduce_all(finished), lambda: start_inputs, lambda: embedding_fn(sample_ids))
