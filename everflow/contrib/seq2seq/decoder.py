"""Decoders, and the loop that runs one until all of its sequences are finished."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import internal, public
from everflow.graph.constants import constant_value
from everflow.graph.convert import convert_to_tensor
from everflow.graph.dtypes import DTypeLike
from everflow.graph.shapes import TensorShape
from everflow.keras.layer import Layer
from everflow.ops.control_flow.bodies import is_tensor_array
from everflow.ops.variables import variable_scope as scopes
from everflow.rnn.state import zero_state_tensors
from everflow.rnn.steps import reads_once, transpose_batch_time

HOME = "contrib.seq2seq.python.ops.decoder."


@public("contrib.seq2seq.Decoder")
class Decoder:
    """What `dynamic_decode` runs: a first input and state, and a step from one output to the next."""

    @property
    def batch_size(self) -> Any:
        """The number of sequences."""
        raise NotImplementedError

    @property
    def output_size(self) -> Any:
        """The sizes of the outputs, without the batch."""
        raise NotImplementedError

    @property
    def output_dtype(self) -> Any:
        """The types of the outputs."""
        raise NotImplementedError

    def initialize(self, name: str | None = None) -> Any:
        """(finished, first inputs, first state)."""
        raise NotImplementedError

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """(outputs, next state, next inputs, finished)."""
        raise NotImplementedError

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        """Called once after the last step; (outputs, state) to return. A decoder may have none."""
        raise NotImplementedError

    @property
    def tracks_own_finished(self) -> bool:
        """Whether a sequence's `finished` may become false again, as in a search that changes the order of its beams."""
        return False


@internal(HOME + "BaseDecoder")
class BaseDecoder(Layer):
    """A decoder that is a layer: calling it with inputs and an initial state runs `dynamic_decode`."""

    def __init__(
        self,
        output_time_major: bool = False,
        impute_finished: bool = False,
        maximum_iterations: Any = None,
        parallel_iterations: int = 32,
        swap_memory: bool = False,
        **kwargs: Any,
    ) -> None:
        self.output_time_major = output_time_major
        self.impute_finished = impute_finished
        self.maximum_iterations = maximum_iterations
        self.parallel_iterations = parallel_iterations
        self.swap_memory = swap_memory
        super().__init__(**kwargs)

    def call(self, inputs: Any, initial_state: Any = None, **kwargs: Any) -> Any:  # type: ignore[override]
        return dynamic_decode(
            self,
            output_time_major=self.output_time_major,
            impute_finished=self.impute_finished,
            maximum_iterations=self.maximum_iterations,
            parallel_iterations=self.parallel_iterations,
            swap_memory=self.swap_memory,
            decoder_init_input=inputs,
            decoder_init_kwargs={**kwargs, "initial_state": initial_state},
        )

    @property
    def batch_size(self) -> Any:
        """The number of sequences."""
        raise NotImplementedError

    @property
    def output_size(self) -> Any:
        """The sizes of the outputs, without the batch."""
        raise NotImplementedError

    @property
    def output_dtype(self) -> Any:
        """The types of the outputs."""
        raise NotImplementedError

    def initialize(self, inputs: Any, initial_state: Any = None, **kwargs: Any) -> Any:
        """(finished, first inputs, first state)."""
        raise NotImplementedError

    def step(self, time: Any, inputs: Any, state: Any) -> Any:
        """(outputs, next state, next inputs, finished)."""
        raise NotImplementedError

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        """Called once after the last step; (outputs, state) to return. A decoder may have none."""
        raise NotImplementedError

    @property
    def tracks_own_finished(self) -> bool:
        """Whether a sequence's `finished` may become false again."""
        return False


@internal(HOME + "_create_zero_outputs")
def zero_outputs(size: Any, dtype: DTypeLike, batch_size: Any) -> Any:
    """Outputs of zeros."""
    return nest.map_structure(lambda s, d: zero_state_tensors(s, batch_size, d), size, dtype)


def _element_shape(batch_size: Any, size: Any) -> TensorShape:
    if not isinstance(size, TensorShape) or size.rank == 0:
        return TensorShape(None)
    return TensorShape([constant_value(convert_to_tensor(batch_size, name="batch_size"))]).concatenate(size)


def _unless_finished(finished: Any, new: Any, old: Any) -> Any:
    """The new state of the sequences that go on."""
    if is_tensor_array(old):
        return new
    new.set_shape(old.shape)
    return new if new.shape.rank == 0 else tf.where(finished, old, new)


@public("contrib.seq2seq.dynamic_decode")
def dynamic_decode(
    decoder: Any,
    output_time_major: bool = False,
    impute_finished: bool = False,
    maximum_iterations: Any = None,
    parallel_iterations: int = 32,
    swap_memory: bool = False,
    scope: Any = None,
    **kwargs: Any,
) -> Any:
    """Runs a decoder step by step until all sequences are finished; returns (outputs, final state, lengths).

        outputs, state, lengths = tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=20)

    With `impute_finished`, finished sequences give zeros and keep their state.
    """
    if not isinstance(decoder, (Decoder, BaseDecoder)):
        raise TypeError(f"Expected decoder to be type Decoder, but saw: {type(decoder)}")
    with scopes.variable_scope(scope, "decoder") as own:
        reads_once(own)
        if maximum_iterations is not None:
            maximum_iterations = convert_to_tensor(maximum_iterations, dtype="int32", name="maximum_iterations")
            if maximum_iterations.get_shape().rank != 0:
                raise ValueError("maximum_iterations must be a scalar")
        if isinstance(decoder, Decoder):
            finished, inputs, state = decoder.initialize()
        else:
            finished, inputs, state = decoder.initialize(kwargs.pop("decoder_init_input", None), **kwargs.pop("decoder_init_kwargs", {}))
        zeros = zero_outputs(decoder.output_size, decoder.output_dtype, decoder.batch_size)
        if maximum_iterations is not None:
            finished = tf.logical_or(finished, maximum_iterations <= 0)
        lengths = tf.zeros_like(finished, dtype="int32")
        arrays = nest.map_structure(
            lambda size, dtype: tf.TensorArray(
                dtype=dtype, size=0, dynamic_size=True, element_shape=_element_shape(decoder.batch_size, size)
            ),
            decoder.output_size,
            decoder.output_dtype,
        )

        def body(time: Any, arrays: Any, state: Any, inputs: Any, finished: Any, lengths: Any) -> Any:
            outputs, new_state, next_inputs, now_finished = decoder.step(time, inputs, state)
            own_lengths = None
            if decoder.tracks_own_finished:
                own_lengths = getattr(new_state, "lengths", None)
            else:
                now_finished = tf.logical_or(now_finished, finished)
            if own_lengths is not None:
                next_lengths = tf.cast(own_lengths, "int32")
            else:
                next_lengths = tf.where(tf.logical_not(finished), tf.fill(tf.shape(lengths), time + 1), lengths)
            nest.assert_same_structure(state, new_state)
            nest.assert_same_structure(arrays, outputs)
            nest.assert_same_structure(inputs, next_inputs)
            if impute_finished:
                outputs = nest.map_structure(lambda out, zero: tf.where(finished, zero, out), outputs, zeros)
                new_state = nest.map_structure(lambda new, old: _unless_finished(finished, new, old), new_state, state)
            arrays = nest.map_structure(lambda array, out: array.write(time, out), arrays, outputs)
            return time + 1, arrays, new_state, next_inputs, now_finished, next_lengths

        _, arrays, final_state, _, _, final_lengths = tf.while_loop(
            lambda time, arrays, state, inputs, finished, lengths: tf.logical_not(tf.reduce_all(finished)),
            body,
            loop_vars=(tf.constant(0, dtype="int32"), arrays, state, inputs, finished, lengths),
            parallel_iterations=parallel_iterations,
            maximum_iterations=maximum_iterations,
            swap_memory=swap_memory,
        )
        outputs = nest.map_structure(lambda array: array.stack(), arrays)
        try:
            outputs, final_state = decoder.finalize(outputs, final_state, final_lengths)
        except NotImplementedError:
            # The decoder has nothing to do at the end.
            pass
        if not output_time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
    return outputs, final_state, final_lengths
