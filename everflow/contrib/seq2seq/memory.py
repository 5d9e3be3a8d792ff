"""What attention looks at: a memory of encoder outputs, its lengths, and scores of queries against it."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import internal, public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope

HOME = "contrib.seq2seq.python.ops.attention_wrapper."


def size_of(tensor: Any, axis: int) -> Any:
    """A size: an int where it is known, else a tensor."""
    shape = tensor.shape
    known = shape.as_list()[axis] if shape.rank is not None else None
    return known or tf.shape(tensor)[axis]


@internal(HOME + "_prepare_memory")
def prepared_memory(memory: Any, memory_sequence_length: Any = None, memory_mask: Any = None, check_inner_dims_defined: bool = True) -> Any:
    """The memory [batch, time, ...] with zeros beyond the lengths, or where the mask is false."""
    memory = nest.map_structure(lambda m: convert_to_tensor(m, name="memory"), memory)
    if memory_sequence_length is not None and memory_mask is not None:
        raise ValueError("memory_sequence_length and memory_mask can't be provided at same time.")
    if memory_sequence_length is not None:
        memory_sequence_length = convert_to_tensor(memory_sequence_length, name="memory_sequence_length")
    first = nest.flatten(memory)[0]
    if check_inner_dims_defined:
        for m in nest.flatten(memory):
            if not m.get_shape()[2:].is_fully_defined():
                raise ValueError(f"Expected memory {m.name} to have fully defined inner dims, but saw shape: {m.get_shape()}")
    if memory_sequence_length is not None:
        mask = tf.sequence_mask(memory_sequence_length, maxlen=tf.shape(first)[1], dtype=first.dtype)
    elif memory_mask is not None:
        mask = tf.cast(memory_mask, first.dtype)
    else:
        return memory

    def masked(m: Any) -> Any:
        rank = m.get_shape().rank
        ones = tf.ones(rank - 2 if rank is not None else tf.rank(m) - 2, dtype="int32")
        return m * tf.reshape(mask, tf.concat((tf.shape(mask), ones), 0))

    return nest.map_structure(masked, memory)


@internal(HOME + "_maybe_mask_score")
def masked_score(score: Any, memory_sequence_length: Any = None, memory_mask: Any = None, score_mask_value: Any = None) -> Any:
    """The scores, with `score_mask_value` where there is no memory."""
    if memory_sequence_length is None and memory_mask is None:
        return score
    if memory_sequence_length is not None and memory_mask is not None:
        raise ValueError("memory_sequence_length and memory_mask can't be provided at same time.")
    if memory_sequence_length is not None:
        check = tf.assert_positive(memory_sequence_length, message="All values in memory_sequence_length must greater than zero.")
        with tf.control_dependencies([check]):
            memory_mask = tf.sequence_mask(memory_sequence_length, maxlen=tf.shape(score)[1])
    return tf.where(memory_mask, score, score_mask_value * tf.ones_like(score))


@internal(HOME + "_luong_score")
def luong_score(query: Any, keys: Any, scale: Any) -> Any:
    """Products of queries [batch, depth] and keys [batch, time, depth]."""
    depth, units = query.get_shape()[-1], keys.get_shape()[-1]
    if depth != units:
        raise ValueError(
            f"Incompatible or unknown inner dimensions between query and keys.  Query ({query}) has units: {depth}.  Keys ({keys}) "
            f"have units: {units}.  Perhaps you need to set num_units to the keys' dimension ({units})?"
        )
    score = tf.squeeze(tf.matmul(tf.expand_dims(query, 1), keys, transpose_b=True), [1])
    return score if scale is None else scale * score


@internal(HOME + "_bahdanau_score")
def bahdanau_score(processed_query: Any, keys: Any, attention_v: Any, attention_g: Any = None, attention_b: Any = None) -> Any:
    """Sums of `v * tanh(keys + query)`; with g and b, v is normalized."""
    query = tf.expand_dims(processed_query, 1)
    if attention_g is None or attention_b is None:
        return tf.reduce_sum(attention_v * tf.tanh(keys + query), [2])
    normed = attention_g * attention_v * tf.rsqrt(tf.reduce_sum(tf.square(attention_v)))
    return tf.reduce_sum(normed * tf.tanh(keys + query + attention_b), [2])


@public("contrib.seq2seq.hardmax")
def hardmax(logits: Any, name: str | None = None) -> Any:
    """One where the greatest logit is, zero elsewhere."""
    with name_scope(name, "Hardmax", [logits]):
        logits = convert_to_tensor(logits, name="logits")
        return tf.one_hot(tf.argmax(logits, -1), size_of(logits, -1), dtype=logits.dtype)
