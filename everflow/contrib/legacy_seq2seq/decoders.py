"""Decoders over lists of inputs: plain, with embeddings, with attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import internal, public
from everflow.contrib.rnn.linear import Linear
from everflow.graph.convert import convert_to_tensor
from everflow.graph.dtypes import DTypeLike
from everflow.ops.variables import variable_scope as scopes


@internal("contrib.legacy_seq2seq.python.ops.seq2seq._extract_argmax_and_embed")
def feeds_best(embedding: Any, output_projection: Any = None, update_embedding: bool = True) -> Callable[[Any, Any], Any]:
    """A loop function: the next input is the embedding of the best symbol of the last output."""

    def loop_function(prev: Any, _: Any) -> Any:
        if output_projection is not None:
            prev = tf.nn.xw_plus_b(prev, output_projection[0], output_projection[1])
        embedded = tf.nn.embedding_lookup(embedding, tf.argmax(prev, 1))
        return embedded if update_embedding else tf.stop_gradient(embedded)

    return loop_function


def check_projection(output_projection: Any, num_symbols: int, dtype: DTypeLike) -> None:
    """Raises ValueError for a projection (weights, biases) that does not lead to so many symbols."""
    weights, biases = (convert_to_tensor(value, dtype=dtype) for value in output_projection)
    weights.get_shape().assert_is_compatible_with([None, num_symbols])
    biases.get_shape().assert_is_compatible_with([num_symbols])


def _next_input(loop_function: Any, given: Any, previous: Any, step: int) -> Any:
    if loop_function is None or previous is None:
        return given
    with scopes.variable_scope("loop_function", reuse=True):
        return loop_function(previous, step)


@public("contrib.legacy_seq2seq.rnn_decoder")
def rnn_decoder(decoder_inputs: Any, initial_state: Any, cell: Any, loop_function: Any = None, scope: Any = None) -> Any:
    """(outputs, last state) of a cell over a list of inputs; `loop_function(last output, i)` replaces all inputs but the first."""
    with scopes.variable_scope(scope or "rnn_decoder"):
        state, outputs, previous = initial_state, [], None
        for i, given in enumerate(decoder_inputs):
            given = _next_input(loop_function, given, previous, i)
            if i > 0:
                scopes.get_variable_scope().reuse_variables()
            output, state = cell(given, state)
            outputs.append(output)
            previous = output
    return outputs, state


@public("contrib.legacy_seq2seq.embedding_rnn_decoder")
def embedding_rnn_decoder(
    decoder_inputs: Any,
    initial_state: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    output_projection: Any = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    scope: Any = None,
) -> Any:
    """An rnn_decoder over symbols; with `feed_previous` it goes on with its own best symbols."""
    with scopes.variable_scope(scope or "embedding_rnn_decoder") as own:
        if output_projection is not None:
            check_projection(output_projection, num_symbols, own.dtype)
        embedding = tf.get_variable("embedding", [num_symbols, embedding_size])
        loop_function = feeds_best(embedding, output_projection, update_embedding_for_previous) if feed_previous else None
        embedded = (tf.nn.embedding_lookup(embedding, symbols) for symbols in decoder_inputs)
        return rnn_decoder(embedded, initial_state, cell, loop_function=loop_function)


class _Memory:
    """What an attention decoder looks at with each of its heads."""

    def __init__(self, attention_states: Any, num_heads: int, dtype: DTypeLike) -> None:
        self.length = attention_states.get_shape().as_list()[1] or tf.shape(attention_states)[1]
        self.size = attention_states.get_shape().as_list()[2]
        self.dtype = dtype
        self.hidden = tf.reshape(attention_states, [-1, self.length, 1, self.size])
        self.features, self.v = [], []
        for head in range(num_heads):
            k = tf.get_variable(f"AttnW_{head}", [1, 1, self.size, self.size], dtype=dtype)
            self.features.append(tf.nn.conv2d(self.hidden, k, [1, 1, 1, 1], "SAME"))
            self.v.append(tf.get_variable(f"AttnV_{head}", [self.size], dtype=dtype))

    def seen_by(self, query: Any) -> list[Any]:
        """What each head sees for a state."""
        if nest.is_nested(query):
            parts = nest.flatten(query)
            assert all(part.get_shape().rank in (None, 0, 2) for part in parts)
            query = tf.concat(parts, 1)
        return [self._seen(head, query) for head in range(len(self.v))]

    def _seen(self, head: int, query: Any) -> Any:
        with scopes.variable_scope(f"Attention_{head}"):
            y = tf.reshape(Linear(query, self.size, True)(query), [-1, 1, 1, self.size])
            scores = tf.reduce_sum(self.v[head] * tf.tanh(self.features[head] + tf.cast(y, self.dtype)), [2, 3])
            weights = tf.cast(tf.nn.softmax(tf.cast(scores, "float32")), self.dtype)
            seen = tf.reduce_sum(tf.reshape(weights, [-1, self.length, 1, 1]) * self.hidden, [1, 2])
            return tf.reshape(seen, [-1, self.size])


@public("contrib.legacy_seq2seq.attention_decoder")
def attention_decoder(
    decoder_inputs: Any,
    initial_state: Any,
    attention_states: Any,
    cell: Any,
    output_size: Any = None,
    num_heads: int = 1,
    loop_function: Any = None,
    dtype: DTypeLike | None = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> Any:
    """(outputs, last state) of a cell that looks at `attention_states` [batch, time, size] at each step."""
    if not decoder_inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    if attention_states.get_shape().as_list()[2] is None:
        raise ValueError(f"Shape[2] of attention_states must be known: {attention_states.get_shape()}")
    if output_size is None:
        output_size = cell.output_size
    with scopes.variable_scope(scope or "attention_decoder", dtype=dtype) as own:
        dtype = own.dtype
        memory = _Memory(attention_states, num_heads, dtype)
        state, outputs, previous = initial_state, [], None
        shape = tf.stack([tf.shape(decoder_inputs[0])[0], memory.size])
        seen = [tf.zeros(shape, dtype=dtype) for _ in range(num_heads)]
        for value in seen:
            value.set_shape([None, memory.size])
        if initial_state_attention:
            seen = memory.seen_by(initial_state)
        for i, given in enumerate(decoder_inputs):
            if i > 0:
                scopes.get_variable_scope().reuse_variables()
            given = _next_input(loop_function, given, previous, i)
            size = given.get_shape().with_rank(2).as_list()[1]
            if size is None:
                raise ValueError(f"Could not infer input size from input: {given.name}")
            inputs = [tf.cast(given, dtype), *seen]
            cell_output, state = cell(Linear(inputs, size, True)(inputs), state)
            # The variables of the heads are there already if they looked at the initial state.
            with scopes.variable_scope(scopes.get_variable_scope(), reuse=True if i == 0 and initial_state_attention else None):
                seen = memory.seen_by(state)
            with scopes.variable_scope("AttnOutputProjection"):
                inputs = [tf.cast(cell_output, dtype), *seen]
                output = Linear(inputs, output_size, True)(inputs)
            previous = output
            outputs.append(output)
    return outputs, state


@public("contrib.legacy_seq2seq.embedding_attention_decoder")
def embedding_attention_decoder(
    decoder_inputs: Any,
    initial_state: Any,
    attention_states: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_size: Any = None,
    output_projection: Any = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    dtype: DTypeLike | None = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> Any:
    """An attention_decoder over symbols; with `feed_previous` it goes on with its own best symbols."""
    if output_projection is not None:
        convert_to_tensor(output_projection[1], dtype=dtype).get_shape().assert_is_compatible_with([num_symbols])
    how: dict[str, Any] = {"num_heads": num_heads, "initial_state_attention": initial_state_attention}
    size = cell.output_size if output_size is None else output_size
    with scopes.variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        vectors = tf.get_variable("embedding", [num_symbols, embedding_size])
        feed = feeds_best(vectors, output_projection, update_embedding_for_previous) if feed_previous else None
        given = [tf.nn.embedding_lookup(vectors, symbols) for symbols in decoder_inputs]
        return attention_decoder(given, initial_state, attention_states, cell, size, loop_function=feed, **how)
