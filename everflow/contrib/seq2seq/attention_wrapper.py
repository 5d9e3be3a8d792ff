"""AttentionWrapper: a cell that looks at a memory at each step."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import internal, public
from everflow.contrib.seq2seq.attention import AttentionMechanism
from everflow.contrib.seq2seq.attention_layers import BaseAttentionMechanismV2
from everflow.contrib.seq2seq.memory import HOME, size_of
from everflow.eager.context import executing_eagerly
from everflow.graph.dtypes import DTypeLike
from everflow.graph.scopes import name_scope
from everflow.graph.shapes import TensorShape
from everflow.layers.core import Dense
from everflow.rnn.cell import RNNCell, assert_like_rnncell
from everflow.rnn.state import zero_state_tensors

_State = namedtuple(  # type: ignore[name-match]
    "AttentionWrapperState", ("cell_state", "attention", "time", "alignments", "alignment_history", "attention_state")
)


@public("contrib.seq2seq.AttentionWrapperState")
class AttentionWrapperState(_State):
    """The state of an AttentionWrapper: that of its cell, and what attention last saw."""

    def clone(self, **kwargs: Any) -> AttentionWrapperState:
        """The state with some parts replaced by others of the same shape.

        `state.clone(cell_state=encoder_state)` starts a decoder where the encoder ended.
        """
        return nest.map_structure(_with_same_shape, self, self._replace(**kwargs))


def _with_same_shape(old: Any, new: Any) -> Any:
    if not isinstance(old, tf.Tensor) or not isinstance(new, tf.Tensor):
        return new
    if executing_eagerly():
        if not new.shape.is_compatible_with(old.shape):
            raise ValueError(
                f"The shape of the AttentionWrapperState is expected to be same as the one to clone. "
                f"self.shape: {old.shape}, input.shape: {new.shape}"
            )
        return new
    return tf.contrib.framework.with_same_shape(old, new)


@internal(HOME + "_compute_attention")
def compute_attention(attention_mechanism: Any, cell_output: Any, attention_state: Any, attention_layer: Any) -> Any:
    """(attention, alignments, next attention state): the memory's mean by alignments, behind a layer with the output."""
    if isinstance(attention_mechanism, BaseAttentionMechanismV2):
        alignments, next_state = attention_mechanism([cell_output, attention_state])
    else:
        alignments, next_state = attention_mechanism(cell_output, state=attention_state)
    context = tf.squeeze(tf.matmul(tf.expand_dims(alignments, 1), attention_mechanism.values), [1])
    attention = context if attention_layer is None else attention_layer(tf.concat([cell_output, context], 1))
    return attention, alignments, next_state


def _mechanisms(given: Any) -> tuple[Any, ...]:
    if isinstance(given, (list, tuple)):
        for mechanism in given:
            if not isinstance(mechanism, AttentionMechanism):
                raise TypeError(
                    f"attention_mechanism must contain only instances of AttentionMechanism, saw type: {type(mechanism).__name__}"
                )
        return tuple(given)
    if not isinstance(given, AttentionMechanism):
        raise TypeError(
            "attention_mechanism must be an AttentionMechanism or list of multiple AttentionMechanism instances, saw type: "
            f"{type(given).__name__}"
        )
    return (given,)


def _one_for_each(what: str, noun: str, given: Any, mechanisms: tuple[Any, ...]) -> tuple[Any, ...]:
    given = tuple(given) if isinstance(given, (list, tuple)) else (given,)
    if len(given) != len(mechanisms):
        raise ValueError(
            f"If provided, {what} must contain exactly one {noun} per attention_mechanism, saw: {len(given)} vs {len(mechanisms)}"
        )
    return given


@public("contrib.seq2seq.AttentionWrapper")
class AttentionWrapper(RNNCell):
    """A cell with attention: its output asks one or several memories, whose answers go into its next input.

    attention = tf.contrib.seq2seq.LuongAttention(256, encoder_outputs, memory_sequence_length=lengths)
    cell = tf.contrib.seq2seq.AttentionWrapper(tf.nn.rnn_cell.LSTMCell(256), attention, attention_layer_size=128)
    """

    def __init__(
        self,
        cell: Any,
        attention_mechanism: Any,
        attention_layer_size: Any = None,
        alignment_history: bool = False,
        cell_input_fn: Any = None,
        output_attention: bool = True,
        initial_cell_state: Any = None,
        name: str | None = None,
        attention_layer: Any = None,
        attention_fn: Any = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        assert_like_rnncell("cell", cell)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        mechanisms = _mechanisms(attention_mechanism)
        if cell_input_fn is None:
            cell_input_fn = _beside
        elif not callable(cell_input_fn):
            raise TypeError(f"cell_input_fn must be callable, saw type: {type(cell_input_fn).__name__}")
        if attention_layer_size is not None and attention_layer is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set")
        self._attention_layers: Any = None
        if attention_layer_size is not None:
            sizes = _one_for_each("attention_layer_size", "integer", attention_layer_size, mechanisms)
            dtype = dtype or tf.float32
            self._attention_layers = tuple(
                Dense(size, name="attention_layer", use_bias=False, dtype=getattr(mechanism, "dtype", None) or dtype)
                for size, mechanism in zip(sizes, mechanisms)
            )
            self._attention_layer_size = sum(sizes)
        elif attention_layer is not None:
            self._attention_layers = _one_for_each("attention_layer", "layer", attention_layer, mechanisms)
            self._attention_layer_size = sum(
                TensorShape(layer.compute_output_shape([None, cell.output_size + mechanism.values.shape.as_list()[-1]])).as_list()[-1]
                for layer, mechanism in zip(self._attention_layers, mechanisms)
            )
        else:
            self._attention_layer_size = sum(mechanism.values.get_shape().as_list()[-1] for mechanism in mechanisms)
        self._cell = cell
        self._attention_mechanisms = mechanisms
        self._cell_input_fn = cell_input_fn
        self._attention_fn = attention_fn or compute_attention
        self._output_attention = output_attention
        self._alignment_history = alignment_history
        with name_scope(name, "AttentionWrapperInit"):
            self._initial_cell_state = None
            if initial_cell_state is not None:
                self._initial_cell_state = self._checked(
                    initial_cell_state,
                    size_of(nest.flatten(initial_cell_state)[-1], 0),
                    "check_initial_cell_state",
                    f"When constructing AttentionWrapper {self._base_name}: Non-matching batch sizes between the memory (encoder "
                    "output) and initial_cell_state.  Are you using the BeamSearchDecoder?  You may need to tile your initial state via "
                    "the tf.contrib.seq2seq.tile_batch function with argument multiple=beam_width.",
                )

    def _batch_size_checks(self, batch_size: Any, error_message: str) -> list[Any]:
        return [tf.assert_equal(batch_size, mechanism.batch_size, message=error_message) for mechanism in self._attention_mechanisms]

    def _checked(self, structure: Any, batch_size: Any, name: str, error_message: str) -> Any:
        """The structure, after a check that its batch is as large as the memories'."""
        with tf.control_dependencies(self._batch_size_checks(batch_size, error_message)):
            return nest.map_structure(lambda value: tf.identity(value, name=name), structure)

    def _item_or_tuple(self, seq: Any) -> Any:
        found = tuple(seq)
        return found if self._is_multi else found[0]

    @property
    def output_size(self) -> Any:
        return self._attention_layer_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self) -> Any:
        mechanisms = self._attention_mechanisms
        alignments = self._item_or_tuple(m.alignments_size for m in mechanisms)
        return AttentionWrapperState(
            cell_state=self._cell.state_size,
            attention=self._attention_layer_size,
            time=TensorShape([]),
            alignments=alignments,
            alignment_history=alignments if self._alignment_history else self._item_or_tuple(() for _ in mechanisms),
            attention_state=self._item_or_tuple(m.state_size for m in mechanisms),
        )

    def zero_state(self, batch_size: Any, dtype: DTypeLike) -> Any:
        """The state to begin with; `batch_size` is that of the memory (times the beam width, in a beam search)."""
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            if self._initial_cell_state is not None:
                cell_state = self._initial_cell_state
            elif hasattr(self._cell, "get_initial_state"):
                cell_state = self._cell.get_initial_state(batch_size=batch_size, dtype=dtype)
            else:
                cell_state = self._cell.zero_state(batch_size, dtype)
            cell_state = self._checked(
                cell_state,
                batch_size,
                "checked_cell_state",
                f"When calling zero_state of AttentionWrapper {self._base_name}: Non-matching batch sizes between the memory (encoder "
                "output) and the requested batch size.  Are you using the BeamSearchDecoder?  If so, make sure your encoder output has "
                "been tiled to beam_width via tf.contrib.seq2seq.tile_batch, and the batch_size= argument passed to zero_state is "
                "batch_size * beam_width.",
            )
            alignments = [m.initial_alignments(batch_size, dtype) for m in self._attention_mechanisms]
            return AttentionWrapperState(
                cell_state=cell_state,
                time=tf.zeros([], dtype="int32"),
                attention=zero_state_tensors(self._attention_layer_size, batch_size, dtype),
                alignments=self._item_or_tuple(alignments),
                attention_state=self._item_or_tuple(m.initial_state(batch_size, dtype) for m in self._attention_mechanisms),
                alignment_history=self._item_or_tuple(
                    tf.TensorArray(dtype, size=0, dynamic_size=True, element_shape=found.shape) if self._alignment_history else ()
                    for found in alignments
                ),
            )

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(f"Expected state to be instance of AttentionWrapperState. Received type {type(state)} instead.")
        cell_output, next_cell_state = self._cell(self._cell_input_fn(inputs, state.attention), state.cell_state)
        cell_output = self._checked(
            cell_output,
            size_of(cell_output, 0),
            "checked_cell_output",
            f"When applying AttentionWrapper {self.name}: Non-matching batch sizes between the memory (encoder output) and the query "
            "(decoder output).  Are you using the BeamSearchDecoder?  You may need to tile your memory input via the "
            "tf.contrib.seq2seq.tile_batch function with argument multiple=beam_width.",
        )
        before = state.attention_state if self._is_multi else [state.attention_state]
        history = state.alignment_history if self._is_multi else [state.alignment_history]
        layers = self._attention_layers or [None] * len(self._attention_mechanisms)
        attentions, alignments, states, histories = [], [], [], []
        for mechanism, layer, past, told in zip(self._attention_mechanisms, layers, before, history):
            attention, alignment, next_state = self._attention_fn(mechanism, cell_output, past, layer)
            attentions.append(attention)
            alignments.append(alignment)
            states.append(next_state)
            histories.append(told.write(state.time, alignment) if self._alignment_history else ())
        attention = tf.concat(attentions, 1)
        new_state = AttentionWrapperState(
            time=state.time + 1,
            cell_state=next_cell_state,
            attention=attention,
            attention_state=self._item_or_tuple(states),
            alignments=self._item_or_tuple(alignments),
            alignment_history=self._item_or_tuple(histories),
        )
        return (attention if self._output_attention else cell_output), new_state


def _beside(inputs: Any, attention: Any) -> Any:
    return tf.concat([inputs, attention], -1)
