"""Encoders and decoders together, and models for several lengths (buckets)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.legacy_seq2seq.decoders import (
    check_projection,
    embedding_attention_decoder,
    embedding_rnn_decoder,
    feeds_best,
    rnn_decoder,
)
from everflow.contrib.legacy_seq2seq.losses import sequence_loss, sequence_loss_by_example
from everflow.contrib.rnn.wrappers import EmbeddingWrapper, OutputProjectionWrapper
from everflow.graph.dtypes import DTypeLike
from everflow.graph.scopes import name_scope
from everflow.ops.variables import variable_scope as scopes


def _decoded(decode: Callable[[bool], Any], feed_previous: Any, count: int) -> Any:
    """(outputs, state) of a decoder that feeds what was given or its own symbols, as a bool or a tensor says."""
    states: list[Any] = []

    def flat(feeds: bool) -> list[Any]:
        # The first of the two branches makes the variables.
        with scopes.variable_scope(scopes.get_variable_scope(), reuse=None if feeds else True):
            outputs, state = decode(feeds)
        states.append(state)
        return [*outputs, *tf.nest.flatten(state)]

    found = tf.cond(feed_previous, lambda: flat(True), lambda: flat(False))
    return found[:count], tf.nest.pack_sequence_as(states[0], found[count:])


@public("contrib.legacy_seq2seq.basic_rnn_seq2seq")
def basic_rnn_seq2seq(encoder_inputs: Any, decoder_inputs: Any, cell: Any, dtype: DTypeLike = tf.float32, scope: Any = None) -> Any:
    """An encoder and a decoder with cells of the same kind: the decoder starts with the encoder's last state."""
    with scopes.variable_scope(scope or "basic_rnn_seq2seq"):
        _, encoded = tf.nn.static_rnn(copy.deepcopy(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, encoded, cell)


@public("contrib.legacy_seq2seq.tied_rnn_seq2seq")
def tied_rnn_seq2seq(
    encoder_inputs: Any, decoder_inputs: Any, cell: Any, loop_function: Any = None, dtype: DTypeLike = tf.float32, scope: Any = None
) -> Any:
    """An encoder and a decoder that share one cell."""
    shared = scope or "tied_rnn_seq2seq"
    with scopes.variable_scope("combined_tied_rnn_seq2seq") as both:
        encoded = tf.nn.static_rnn(cell, encoder_inputs, dtype=dtype, scope=shared)[1]
        both.reuse_variables()
        return rnn_decoder(decoder_inputs, encoded, cell, loop_function, shared)


@public("contrib.legacy_seq2seq.embedding_rnn_seq2seq")
def embedding_rnn_seq2seq(
    encoder_inputs: Any,
    decoder_inputs: Any,
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: DTypeLike | None = None,
    scope: Any = None,
) -> Any:
    """From symbols to symbols; `feed_previous`, a bool or a tensor, says whether the decoder goes on with its own."""
    with scopes.variable_scope(scope or "embedding_rnn_seq2seq") as own:
        if dtype is not None:
            own.set_dtype(dtype)
        else:
            dtype = own.dtype
        encoder = EmbeddingWrapper(copy.deepcopy(cell), embedding_classes=num_encoder_symbols, embedding_size=embedding_size)
        _, encoded = tf.nn.static_rnn(encoder, encoder_inputs, dtype=dtype)
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)

        def decode(feeds: bool, updates: bool = False) -> Any:
            return embedding_rnn_decoder(
                decoder_inputs,
                encoded,
                cell,
                num_decoder_symbols,
                embedding_size,
                output_projection=output_projection,
                feed_previous=feeds,
                update_embedding_for_previous=updates,
            )

        if isinstance(feed_previous, bool):
            return decode(feed_previous, updates=True)
        return _decoded(decode, feed_previous, len(decoder_inputs))


@public("contrib.legacy_seq2seq.embedding_tied_rnn_seq2seq")
def embedding_tied_rnn_seq2seq(
    encoder_inputs: Any,
    decoder_inputs: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    num_decoder_symbols: Any = None,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: DTypeLike | None = None,
    scope: Any = None,
) -> Any:
    """From symbols to symbols, with one cell and one embedding for both sides."""
    with scopes.variable_scope(scope or "embedding_tied_rnn_seq2seq", dtype=dtype) as own:
        dtype = own.dtype
        if output_projection is not None:
            check_projection(output_projection, num_symbols, dtype)
        embedding = tf.get_variable("embedding", [num_symbols, embedding_size], dtype=dtype)
        sources = [tf.nn.embedding_lookup(embedding, x) for x in encoder_inputs]
        targets = [tf.nn.embedding_lookup(embedding, x) for x in decoder_inputs]
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_symbols if num_decoder_symbols is None else num_decoder_symbols)

        def decode(feeds: bool, updates: bool = False) -> Any:
            loop_function = feeds_best(embedding, output_projection, updates) if feeds else None
            return tied_rnn_seq2seq(sources, targets, cell, loop_function=loop_function, dtype=dtype)

        if isinstance(feed_previous, bool):
            return decode(feed_previous, updates=True)
        return _decoded(decode, feed_previous, len(decoder_inputs))


@public("contrib.legacy_seq2seq.embedding_attention_seq2seq")
def embedding_attention_seq2seq(
    encoder_inputs: Any,
    decoder_inputs: Any,
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: DTypeLike | None = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> Any:
    """From symbols to symbols, with attention to the encoder's outputs."""
    with scopes.variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as own:
        dtype = own.dtype
        encoder = EmbeddingWrapper(copy.deepcopy(cell), embedding_classes=num_encoder_symbols, embedding_size=embedding_size)
        outputs, encoded = tf.nn.static_rnn(encoder, encoder_inputs, dtype=dtype)
        attention_states = tf.concat([tf.reshape(e, [-1, 1, cell.output_size]) for e in outputs], 1)
        output_size = None
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)
            output_size = num_decoder_symbols

        def decode(feeds: bool, updates: bool = False) -> Any:
            return embedding_attention_decoder(
                decoder_inputs,
                encoded,
                attention_states,
                cell,
                num_decoder_symbols,
                embedding_size,
                num_heads=num_heads,
                output_size=output_size,
                output_projection=output_projection,
                feed_previous=feeds,
                update_embedding_for_previous=updates,
                initial_state_attention=initial_state_attention,
            )

        if isinstance(feed_previous, bool):
            return decode(feed_previous, updates=True)
        return _decoded(decode, feed_previous, len(decoder_inputs))


@public("contrib.legacy_seq2seq.one2many_rnn_seq2seq")
def one2many_rnn_seq2seq(
    encoder_inputs: Any,
    decoder_inputs_dict: Any,
    enc_cell: Any,
    dec_cells_dict: Any,
    num_encoder_symbols: int,
    num_decoder_symbols_dict: Any,
    embedding_size: int,
    feed_previous: Any = False,
    dtype: DTypeLike | None = None,
    scope: Any = None,
) -> Any:
    """One encoder and several decoders by name; returns dictionaries of outputs and of states."""
    outputs, states = {}, {}
    with scopes.variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as own:
        dtype = own.dtype
        enc_cell = EmbeddingWrapper(enc_cell, embedding_classes=num_encoder_symbols, embedding_size=embedding_size)
        _, encoded = tf.nn.static_rnn(enc_cell, encoder_inputs, dtype=dtype)
        for name, inputs in decoder_inputs_dict.items():
            symbols = num_decoder_symbols_dict[name]
            with scopes.variable_scope(f"one2many_decoder_{name}"):
                cell = OutputProjectionWrapper(dec_cells_dict[name], symbols)

                def decode(feeds: bool, updates: bool = False, inputs: Any = inputs, cell: Any = cell, symbols: int = symbols) -> Any:
                    return embedding_rnn_decoder(
                        inputs, encoded, cell, symbols, embedding_size, feed_previous=feeds, update_embedding_for_previous=updates
                    )

                if isinstance(feed_previous, bool):
                    outputs[name], states[name] = decode(feed_previous, updates=True)
                else:
                    outputs[name], states[name] = _decoded(decode, feed_previous, len(inputs))
    return outputs, states


@public("contrib.legacy_seq2seq.model_with_buckets")
def model_with_buckets(
    encoder_inputs: Any,
    decoder_inputs: Any,
    targets: Any,
    weights: Any,
    buckets: Any,
    seq2seq: Any,
    softmax_loss_function: Any = None,
    per_example_loss: bool = False,
    name: str | None = None,
) -> Any:
    """(outputs, losses) of one model for each bucket (source length, target length); the models share their variables."""
    for what, given, length in (
        ("encoder_inputs", encoder_inputs, buckets[-1][0]),
        ("targets", targets, buckets[-1][1]),
        ("weights", weights, buckets[-1][1]),
    ):
        if len(given) < length:
            raise ValueError(f"Length of {what} ({len(given)}) must be at least that of last bucket ({length}).")
    loss = sequence_loss_by_example if per_example_loss else sequence_loss
    outputs, losses = [], []
    with name_scope(name, "model_with_buckets", [*encoder_inputs, *decoder_inputs, *targets, *weights]):
        for j, (source, target) in enumerate(buckets):
            with scopes.variable_scope(scopes.get_variable_scope(), reuse=True if j > 0 else None):
                found, _ = seq2seq(encoder_inputs[:source], decoder_inputs[:target])
                outputs.append(found)
                losses.append(loss(found, targets[:target], weights[:target], softmax_loss_function=softmax_loss_function))
    return outputs, losses
