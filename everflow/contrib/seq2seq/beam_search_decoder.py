"""Decoders that search with several beams at once."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow import nest
from everflow.api import internal, public
from everflow.contrib.seq2seq.basic_decoder import check_output_layer, size_after
from everflow.contrib.seq2seq.beam_search import (
    HOME,
    BeamSearchDecoderOutput,
    BeamSearchDecoderState,
    FinalBeamSearchDecoderOutput,
    beam_search_step,
    check_beams,
    check_rank,
    fits_beams,
    gather_tree_from_array,
    get_attention_probs,
)
from everflow.contrib.seq2seq.decoder import BaseDecoder, Decoder
from everflow.contrib.seq2seq.feeding import embedding_function, start_and_end
from everflow.graph.constants import constant_value
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.shapes import TensorShape
from everflow.ops.control_flow.bodies import is_tensor_array
from everflow.rnn.cell import assert_like_rnncell


@internal(HOME + "BeamSearchDecoderMixin")
class BeamSearchDecoderMixin:
    """The search itself, for both kinds of decoders."""

    _start_tokens: Any
    _start_inputs: Any
    _end_token: Any
    _batch_size: Any
    _embedding_fn: Any
    _initial_cell_state: Any
    _finished: Any

    def __init__(
        self,
        cell: Any,
        beam_width: int,
        output_layer: Any = None,
        length_penalty_weight: Any = 0.0,
        coverage_penalty_weight: Any = 0.0,
        reorder_tensor_arrays: bool = True,
        **kwargs: Any,
    ) -> None:
        assert_like_rnncell("cell", cell)
        check_output_layer(output_layer)
        self._cell = cell
        self._output_layer = output_layer
        self._reorder_tensor_arrays = reorder_tensor_arrays
        self._beam_width = beam_width
        self._length_penalty_weight = length_penalty_weight
        self._coverage_penalty_weight = coverage_penalty_weight
        super().__init__(**kwargs)

    def _begin(self, start_tokens: Any, end_token: Any, initial_state: Any) -> None:
        self._start_tokens, self._end_token = start_and_end(start_tokens, end_token)
        self._batch_size = tf.size(self._start_tokens)
        self._initial_cell_state = nest.map_structure(self._maybe_split_batch_beams, initial_state, self._cell.state_size)
        self._start_tokens = tf.tile(tf.expand_dims(self._start_tokens, 1), [1, self._beam_width])
        self._start_inputs = self._embedding_fn(self._start_tokens)
        # At first all beams are the same, and only one of them counts.
        self._finished = tf.one_hot(
            tf.zeros([self._batch_size], dtype="int32"), depth=self._beam_width, on_value=False, off_value=True, dtype="bool"
        )

    def _first(self) -> Any:
        dtype = nest.flatten(self._initial_cell_state)[0].dtype
        log_probs = tf.one_hot(
            tf.zeros([self._batch_size], dtype="int32"),
            depth=self._beam_width,
            on_value=convert_to_tensor(0.0, dtype=dtype),
            off_value=convert_to_tensor(-np.inf, dtype=dtype),
            dtype=dtype,
        )
        attention = get_attention_probs(self._initial_cell_state, self._coverage_penalty_weight)
        state = BeamSearchDecoderState(
            cell_state=self._initial_cell_state,
            log_probs=log_probs,
            finished=self._finished,
            lengths=tf.zeros([self._batch_size, self._beam_width], dtype="int64"),
            accumulated_attention_probs=() if attention is None else attention,
        )
        return self._finished, self._start_inputs, state

    @property
    def batch_size(self) -> Any:
        """The number of sequences that are searched for."""
        return self._batch_size

    def _rnn_output_size(self) -> Any:
        return size_after(self._output_layer, self._cell.output_size)

    @property
    def tracks_own_finished(self) -> bool:
        """True: beams change places, so that one may go on where a finished one was."""
        return True

    @property
    def output_size(self) -> Any:
        """A score, an id and a parent a beam."""
        size = TensorShape([self._beam_width])
        return BeamSearchDecoderOutput(scores=size, predicted_ids=size, parent_ids=size)

    def _output_dtype(self) -> Any:
        kind = nest.flatten(self._initial_cell_state)[0].dtype
        scores = nest.map_structure(lambda _: kind, self._rnn_output_size())
        return BeamSearchDecoderOutput(scores, predicted_ids=tf.int32, parent_ids=tf.int32)

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        """Reads the sequences back from the steps of the search."""
        parents, lengths = outputs.parent_ids, final_state.lengths
        longest = tf.cast(tf.reduce_max(lengths, axis=1), "int32")
        sequences = tf.contrib.seq2seq.gather_tree(outputs.predicted_ids, parents, longest, self._end_token)
        if self._reorder_tensor_arrays:
            ordered = nest.map_structure(lambda t: self._maybe_sort_array_beams(t, parents, lengths), final_state.cell_state)
            final_state = final_state._replace(cell_state=ordered)
        return FinalBeamSearchDecoderOutput(predicted_ids=sequences, beam_search_decoder_output=outputs), final_state

    def _static_batch_size(self) -> Any:
        return constant_value(self._batch_size) if isinstance(self._batch_size, tf.Tensor) else self._batch_size

    def _merge_batch_beams(self, t: Any, s: Any = None) -> Any:
        """[batch, beam, ...] as [batch * beam, ...]."""
        merged = tf.reshape(t, tf.concat(([self._batch_size * self._beam_width], tf.shape(t)[2:]), 0))
        batch = self._static_batch_size()
        merged.set_shape(TensorShape([None if batch is None else batch * self._beam_width]).concatenate(_shape(s)))
        return merged

    def _split_batch_beams(self, t: Any, s: Any = None) -> Any:
        """[batch * beam, ...] as [batch, beam, ...]."""
        split = tf.reshape(t, tf.concat(([self._batch_size, self._beam_width], tf.shape(t)[1:]), 0))
        expected = TensorShape([self._static_batch_size(), self._beam_width]).concatenate(_shape(s))
        if not split.shape.is_compatible_with(expected):
            raise ValueError(
                "Unexpected behavior when reshaping between beam width and batch size.  The reshaped tensor has shape: "
                f"{split.shape}.  We expected it to have shape (batch_size, beam_width, depth) == {expected}.  Perhaps you forgot to "
                "create a zero_state with batch_size=encoder_batch_size * beam_width?"
            )
        split.set_shape(expected)
        return split

    def _maybe_split_batch_beams(self, t: Any, s: Any) -> Any:
        if is_tensor_array(t):
            return t
        check_rank(t)
        return self._split_batch_beams(t, s) if t.shape.rank >= 1 else t

    def _maybe_merge_batch_beams(self, t: Any, s: Any) -> Any:
        if is_tensor_array(t):
            return t
        check_rank(t)
        return self._merge_batch_beams(t, s) if t.shape.rank >= 2 else t

    def _maybe_sort_array_beams(self, t: Any, parent_ids: Any, sequence_length: Any) -> Any:
        """A TensorArray of the state, stacked in the order of the final beams where its elements have beams."""
        if not is_tensor_array(t):
            return t
        shape = t.element_shape if t._infer_shape else TensorShape(None)
        if not shape.rank:
            tf.logging.warn(
                "The TensorArray %s in the cell state is not amenable to sorting based on the beam search result. For a TensorArray to be "
                "sorted, its elements shape must be defined and have at least a rank of 1, but saw shape: %s",
                t.handle,
                shape,
            )
            return t
        if not fits_beams(shape, self._static_batch_size(), self._beam_width):
            return t
        stacked = t.stack()
        with tf.control_dependencies([check_beams(stacked, self._batch_size, self._beam_width)]):
            return gather_tree_from_array(stacked, parent_ids, sequence_length)

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """One step of all beams."""
        with name_scope(name, "BeamSearchDecoderStep", (time, inputs, state)):
            logits, cell_state = self._step_of_cell(inputs, state.cell_state)
            search = (self._batch_size, self._beam_width, self._end_token, self._length_penalty_weight, self._coverage_penalty_weight)
            found, state = beam_search_step(time, logits, cell_state, state, *search)
            all_done = tf.reduce_all(state.finished)
            following = tf.cond(all_done, lambda: self._start_inputs, lambda: self._embedding_fn(found.predicted_ids))
        return found, state, following, state.finished

    def _step_of_cell(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """What the cell and its layer make of all beams, which are for them one large batch."""
        sizes = self._cell.state_size
        merged = nest.map_structure(lambda given: self._merge_batch_beams(given, given.shape[2:]), inputs)
        outputs, state = self._cell(merged, nest.map_structure(self._maybe_merge_batch_beams, state, sizes))
        outputs = nest.map_structure(lambda made: self._split_batch_beams(made, made.shape[1:]), outputs)
        state = nest.map_structure(self._maybe_split_batch_beams, state, sizes)
        return outputs if self._output_layer is None else self._output_layer(outputs), state


def _shape(size: Any) -> TensorShape:
    """The shape of one beam's part of a state, whose size may be a tensor."""
    if isinstance(size, tf.Tensor):
        size = constant_value(size)
        return TensorShape(None if size is None else [int(n) for n in size.reshape(-1)])
    return TensorShape([size] if isinstance(size, int) else size)


@public("contrib.seq2seq.BeamSearchDecoder")
class BeamSearchDecoder(BeamSearchDecoderMixin, Decoder):
    """Decodes by a beam search. Memories and initial states must have been through `tile_batch` with the beam width.

    decoder = tf.contrib.seq2seq.BeamSearchDecoder(
        cell, embedding, tf.fill([batch_size], GO), EOS, initial_state=state, beam_width=5, output_layer=projection)
    outputs, state, lengths = tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=50)
    best = outputs.predicted_ids[:, :, 0]
    """

    def __init__(
        self,
        cell: Any,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        initial_state: Any,
        beam_width: int,
        output_layer: Any = None,
        length_penalty_weight: Any = 0.0,
        coverage_penalty_weight: Any = 0.0,
        reorder_tensor_arrays: bool = True,
    ) -> None:
        super().__init__(
            cell,
            beam_width,
            output_layer=output_layer,
            length_penalty_weight=length_penalty_weight,
            coverage_penalty_weight=coverage_penalty_weight,
            reorder_tensor_arrays=reorder_tensor_arrays,
        )
        self._embedding_fn = embedding_function(embedding)
        self._begin(start_tokens, end_token, initial_state)

    def initialize(self, name: str | None = None) -> Any:
        return self._first()

    @property
    def output_dtype(self) -> Any:
        return self._output_dtype()


@internal(HOME + "BeamSearchDecoderV2")
class BeamSearchDecoderV2(BeamSearchDecoderMixin, BaseDecoder):
    """The same as a layer: `decoder(embedding, start_tokens, end_token, initial_state)`."""

    def __init__(
        self,
        cell: Any,
        beam_width: int,
        embedding_fn: Any = None,
        output_layer: Any = None,
        length_penalty_weight: Any = 0.0,
        coverage_penalty_weight: Any = 0.0,
        reorder_tensor_arrays: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            cell,
            beam_width,
            output_layer=output_layer,
            length_penalty_weight=length_penalty_weight,
            coverage_penalty_weight=coverage_penalty_weight,
            reorder_tensor_arrays=reorder_tensor_arrays,
            **kwargs,
        )
        if embedding_fn is not None and not callable(embedding_fn):
            raise ValueError(f"embedding_fn is expected to be a callable, got {type(embedding_fn)}")
        self._own_embedding_fn = embedding_fn

    def initialize(self, embedding: Any, start_tokens: Any, end_token: Any, initial_state: Any) -> Any:  # type: ignore[override]
        if embedding is not None and self._own_embedding_fn is not None:
            raise ValueError("embedding and embedding_fn cannot be provided at same time")
        self._embedding_fn = self._own_embedding_fn if embedding is None else embedding_function(embedding)
        self._begin(start_tokens, end_token, initial_state)
        return self._first()

    @property
    def output_dtype(self) -> Any:
        return self._output_dtype()

    def call(self, embeddning: Any, start_tokens: Any, end_token: Any, initial_state: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        return super().call(embeddning, initial_state=initial_state, start_tokens=start_tokens, end_token=end_token, **kwargs)
