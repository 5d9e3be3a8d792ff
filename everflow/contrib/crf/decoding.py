"""The most probable sequence of tags."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.contrib.crf.likelihood import after_first, first_and_rest, for_steps
from everflow.rnn.cell import RNNCell


@public("contrib.crf.viterbi_decode")
def viterbi_decode(score: Any, transition_params: Any) -> tuple[list[int], Any]:
    """(best tags, their score) of one sequence in numpy: for scores [time, tags] and transitions [tags, tags]."""
    # The score of the best path that ends in each tag, and for each step the tags that come before them on it.
    best, before = score[0], []
    for row in score[1:]:
        through = best[:, np.newaxis] + transition_params
        before.append(through.argmax(0))
        best = (row + through.max(0)).astype(score.dtype)
    tags = [int(best.argmax())]
    for row in reversed(before):
        tags.append(int(row[tags[-1]]))
    return tags[::-1], best.max()


@public("contrib.crf.CrfDecodeForwardRnnCell")
class CrfDecodeForwardRnnCell(RNNCell):
    """A step of the search: the best score that ends in each tag, and the tag before."""

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
        through = tf.expand_dims(state, 2) + self._transition_params
        new_state = inputs + tf.reduce_max(through, [1])
        return tf.cast(tf.argmax(through, 1), dtype="int32"), new_state


@public("contrib.crf.CrfDecodeBackwardRnnCell")
class CrfDecodeBackwardRnnCell(RNNCell):
    """A step back through the search: the tag before."""

    def __init__(self, num_tags: Any) -> None:
        self._num_tags = num_tags

    @property
    def state_size(self) -> Any:
        return 1

    @property
    def output_size(self) -> Any:
        return 1

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        state = tf.squeeze(state, axis=[1])
        rows = tf.range(tf.shape(inputs)[0])
        tags = tf.expand_dims(tf.gather_nd(inputs, tf.stack([rows, state], axis=1)), axis=-1)
        return tags, tags


@public("contrib.crf.crf_decode")
def crf_decode(potentials: Any, transition_params: Any, sequence_length: Any) -> Any:
    """(best tags [batch, time], their scores) for potentials [batch, time, tags]."""
    sequence_length = tf.convert_to_tensor(sequence_length)

    def of_one() -> Any:
        scores = tf.squeeze(potentials, [1])
        tags = tf.expand_dims(tf.argmax(scores, axis=1), 1)
        best = tf.reduce_max(scores, axis=1)
        return tf.cast(tags, dtype="int32"), best

    def of_several() -> Any:
        tags = potentials.get_shape().as_list()[2]
        forward = CrfDecodeForwardRnnCell(transition_params)
        first, rest = first_and_rest(potentials)
        lengths = after_first(sequence_length)
        backpointers, last_score = tf.nn.dynamic_rnn(forward, inputs=rest, sequence_length=lengths, initial_state=first, dtype="int32")
        backpointers = tf.reverse_sequence(backpointers, lengths, seq_axis=1)
        last = tf.expand_dims(tf.cast(tf.argmax(last_score, axis=1), dtype="int32"), axis=-1)
        before, _ = tf.nn.dynamic_rnn(
            CrfDecodeBackwardRnnCell(tags), inputs=backpointers, sequence_length=lengths, initial_state=last, dtype="int32"
        )
        found = tf.concat([last, tf.squeeze(before, axis=[2])], axis=1)
        return tf.reverse_sequence(found, sequence_length, seq_axis=1), tf.reduce_max(last_score, axis=1)

    return for_steps(potentials, of_one, of_several)
