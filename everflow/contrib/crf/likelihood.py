"""How probable a sequence of tags is: its score, and the sum over all sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.ops.variables import variable_scope as scopes
from everflow.rnn.cell import RNNCell


def for_steps(values: Any, of_one: Callable[[], Any], of_several: Callable[[], Any]) -> Any:
    """What is computed for sequences [batch, time, ...] of one step, or of several."""
    steps = values.shape.as_list()[1] if values.shape.rank is not None else None
    if steps is None:
        return tf.cond(tf.equal(tf.shape(values)[1], 1), of_one, of_several)
    return of_one() if steps == 1 else of_several()


def size(value: Any, axis: int) -> Any:
    """A size: an int where it is known, else a tensor."""
    return value.shape.as_list()[axis] or tf.shape(value)[axis]


def first_and_rest(values: Any) -> tuple[Any, Any]:
    """The first step of sequences, and the steps after it."""
    return tf.squeeze(tf.slice(values, [0, 0, 0], [-1, 1, -1]), [1]), tf.slice(values, [0, 1, 0], [-1, -1, -1])


def after_first(sequence_lengths: Any) -> Any:
    """The number of steps after the first."""
    return tf.maximum(tf.constant(0, dtype=sequence_lengths.dtype), sequence_lengths - 1)


def _zero_where_empty(sequence_lengths: Any, scores: Any) -> Any:
    return tf.where(tf.less_equal(sequence_lengths, 0), tf.zeros_like(scores), scores)


@public("contrib.crf.crf_sequence_score")
def crf_sequence_score(inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """The score of each sequence of tags, not normalized: of tags [batch, time] for inputs [batch, time, tags]."""
    tag_indices, sequence_lengths = tf.convert_to_tensor(tag_indices), tf.convert_to_tensor(sequence_lengths)

    def of_one() -> Any:
        rows = tf.reshape(tf.range(tf.shape(inputs, out_type=tag_indices.dtype)[0]), [-1, 1])
        scores = tf.gather_nd(tf.squeeze(inputs, [1]), tf.concat([rows, tag_indices], axis=1))
        return _zero_where_empty(sequence_lengths, scores)

    def of_several() -> Any:
        unary = crf_unary_score(tag_indices, sequence_lengths, inputs)
        return unary + crf_binary_score(tag_indices, sequence_lengths, transition_params)

    return for_steps(inputs, of_one, of_several)


@public("contrib.crf.crf_multitag_sequence_score")
def crf_multitag_sequence_score(inputs: Any, tag_bitmap: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """The score of all sequences whose tags are true in `tag_bitmap` [batch, time, tags]."""
    tag_bitmap = tf.cast(tag_bitmap, dtype="bool")
    sequence_lengths = tf.convert_to_tensor(sequence_lengths)
    filtered = tf.where(tag_bitmap, inputs, tf.fill(tf.shape(inputs), float("-inf")))
    return for_steps(
        inputs,
        lambda: tf.reduce_logsumexp(filtered, axis=[1, 2], keepdims=False),
        lambda: crf_log_norm(inputs=filtered, sequence_lengths=sequence_lengths, transition_params=transition_params),
    )


@public("contrib.crf.crf_log_norm")
def crf_log_norm(inputs: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """The logarithm of the sum over all sequences of tags, by which scores are normalized."""
    sequence_lengths = tf.convert_to_tensor(sequence_lengths)
    first = tf.squeeze(tf.slice(inputs, [0, 0, 0], [-1, 1, -1]), [1])

    def of_one() -> Any:
        return _zero_where_empty(sequence_lengths, tf.reduce_logsumexp(first, [1]))

    def of_several() -> Any:
        rest = tf.slice(inputs, [0, 1, 0], [-1, -1, -1])
        _, alphas = tf.nn.dynamic_rnn(
            cell=CrfForwardRnnCell(transition_params),
            inputs=rest,
            dtype="float32",
            sequence_length=after_first(sequence_lengths),
            initial_state=first,
        )
        return _zero_where_empty(sequence_lengths, tf.reduce_logsumexp(alphas, [1]))

    return for_steps(inputs, of_one, of_several)


@public("contrib.crf.crf_log_likelihood")
def crf_log_likelihood(inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any = None) -> Any:
    """(log-likelihood of each sequence of tags, transition scores). Without transition scores, makes the variable `transitions`."""
    tags = size(inputs, 2)
    sequence_lengths = tf.convert_to_tensor(sequence_lengths)
    if transition_params is None:
        transition_params = scopes.get_variable("transitions", [tags, tags])
    scores = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    return scores - crf_log_norm(inputs, sequence_lengths, transition_params), transition_params


@public("contrib.crf.crf_unary_score")
def crf_unary_score(tag_indices: Any, sequence_lengths: Any, inputs: Any) -> Any:
    """The sum of the inputs at the tags."""
    tag_indices = tf.convert_to_tensor(tag_indices)
    batch, steps, tags = (size(inputs, axis) for axis in range(3))
    first_of_rows = tf.expand_dims(tf.range(batch) * steps * tags, 1)
    offsets = first_of_rows + tf.expand_dims(tf.range(steps) * tags, 0)
    # Tags may be of a wider type than ranges are.
    if tag_indices.dtype != offsets.dtype:
        offsets = tf.cast(offsets, tag_indices.dtype)
    places = tf.reshape(offsets + tag_indices, [-1])
    unary = tf.reshape(tf.gather(tf.reshape(inputs, [-1]), places), [batch, steps])
    return tf.reduce_sum(unary * tf.sequence_mask(sequence_lengths, maxlen=size(tag_indices, 1), dtype="float32"), 1)


@public("contrib.crf.crf_binary_score")
def crf_binary_score(tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """The sum of the transition scores between the tags."""
    tag_indices = tf.convert_to_tensor(tag_indices)
    tags = transition_params.get_shape().as_list()[0]
    transitions = size(tag_indices, 1) - 1
    start = tf.slice(tag_indices, [0, 0], [-1, transitions])
    end = tf.slice(tag_indices, [0, 1], [-1, transitions])
    binary = tf.gather(tf.reshape(transition_params, [-1]), start * tags + end)
    mask = tf.sequence_mask(sequence_lengths, maxlen=size(tag_indices, 1), dtype="float32")
    return tf.reduce_sum(binary * tf.slice(mask, [0, 1], [-1, -1]), 1)


@public("contrib.crf.CrfForwardRnnCell")
class CrfForwardRnnCell(RNNCell):
    """A step of the sum over all sequences: the logarithm of the sum of those that end in each tag."""

    def __init__(self, transition_params: Any) -> None:
        self._transition_params = tf.expand_dims(transition_params, 0)
        self._num_tags = transition_params.get_shape().as_list()[0]

    @property
    def state_size(self) -> Any:
        return self._num_tags

    @property
    def output_size(self) -> Any:
        return self._num_tags

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        alphas = inputs + tf.reduce_logsumexp(tf.expand_dims(state, 2) + self._transition_params, [1])
        return alphas, alphas
