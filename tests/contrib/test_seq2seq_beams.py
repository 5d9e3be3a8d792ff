"""tf.contrib.seq2seq: beam search."""

import itertools

import numpy as np
import pytest

import everflow as tf
from running import run

seq2seq = tf.contrib.seq2seq


def test_gather_tree_walks_back_to_the_first_step():
    end = 10
    ids = np.array([[[1, 2, 3]], [[4, 5, 6]], [[7, 8, 9]], [[-1, -1, -1]]], np.int32)
    parents = np.array([[[0, 0, 0]], [[0, 1, 1]], [[2, 1, 2]], [[-1, -1, -1]]], np.int32)
    found = run(seq2seq.gather_tree(ids, parents, [3], end))
    assert found[:, 0].T.tolist() == [[2, 6, 7, end], [2, 5, 8, end], [2, 6, 9, end]]


def test_gather_tree_ends_sequences_at_their_first_end():
    ids = np.array([[[1]], [[9]], [[3]]], np.int32)
    assert run(seq2seq.gather_tree(ids, np.zeros_like(ids), [3], 9)).ravel().tolist() == [1, 9, 9]


def test_gather_tree_refuses_parents_that_are_none():
    ids = np.zeros((3, 1, 2), np.int32)
    parents = ids.copy()
    parents[2, 0, 1] = 5
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"invalid parent id 5 at \(batch, time, beam\) == \(0, 1, 1\)"):
        run(seq2seq.gather_tree(ids, parents, [3], 9))
    with pytest.raises(ValueError, match="rank"):
        seq2seq.gather_tree(ids, parents[0], [3], 9)


def test_tile_batch_repeats_each_element():
    x = tf.constant([[1, 2], [3, 4]])
    tiled = seq2seq.tile_batch((x, tf.constant([5, 6])), 2)
    assert run(tiled[0]).tolist() == [[1, 2], [1, 2], [3, 4], [3, 4]] and run(tiled[1]).tolist() == [5, 5, 6, 6]
    assert tiled[0].shape.as_list() == [4, 2]
    assert seq2seq.tile_batch(tf.placeholder(tf.float32, [None, 3]), 4).shape.as_list() == [None, 3]


class Chain(tf.nn.rnn_cell.RNNCell):
    """Log-probabilities that depend on the last id alone."""

    def __init__(self, table):
        super().__init__()
        self.table = tf.constant(table)

    @property
    def state_size(self):
        return 1

    @property
    def output_size(self):
        return int(self.table.shape[1])

    def call(self, inputs, state):
        return tf.matmul(inputs, self.table), state + 1


def search(table, starts, width, steps, **options):
    words = len(table)
    cell = Chain(table)
    decoder = seq2seq.BeamSearchDecoder(
        cell, lambda ids: tf.one_hot(ids, words), starts, words - 1, cell.zero_state(len(starts) * width, tf.float32), width, **options
    )
    return seq2seq.dynamic_decode(decoder, maximum_iterations=steps)


def best_by_trying(table, start, steps):
    """The most probable continuations of all, with their log-probabilities."""
    end = len(table) - 1
    log_p = table - np.log(np.exp(table).sum(1, keepdims=True))
    found = {}
    for path in itertools.product(range(end + 1), repeat=steps):
        cut = path[: path.index(end) + 1] if end in path else path
        found[cut] = sum(log_p[a, b] for a, b in zip((start, *cut), cut))
    return sorted(found.items(), key=lambda item: -item[1])


def test_a_wide_search_finds_the_best_sequences():
    table = np.random.RandomState(0).randn(4, 4).astype(np.float32) * 2
    outputs, state, lengths = search(table, [0, 2], 16, 3)
    ids, log_probs, lengths = run([outputs.predicted_ids, state.log_probs, lengths])
    for row, start in enumerate((0, 2)):
        best = best_by_trying(table, start, 3)[:3]
        for beam, (path, log_p) in enumerate(best):
            assert ids[row, : len(path), beam].tolist() == list(path) and lengths[row, beam] == len(path)
            np.testing.assert_allclose(log_probs[row, beam], log_p, rtol=1e-4)


def test_one_beam_is_greedy():
    table = np.random.RandomState(1).randn(5, 5).astype(np.float32)
    ids = run(search(table, [0], 1, 4)[0].predicted_ids)[0, :, 0].tolist()
    last, greedy = 0, []
    for _ in ids:
        last = 4 if last == 4 else int(table[last].argmax())
        greedy.append(last)
    assert ids == greedy


def test_penalties_for_length_prefer_long_sequences():
    # Ending at once is a bit more probable than going on for three steps.
    table = np.log(np.array([[0.7, 0.3], [0.5, 0.5]], np.float32))
    short, long = (run(search(table, [0], 2, 3, length_penalty_weight=w)[0].predicted_ids)[0, :, 0].tolist() for w in (0.0, 3.0))
    assert long == [0, 0, 0] and short == [0, 0, 0]
    scores = run(search(table, [0], 2, 3, length_penalty_weight=1.0)[0].beam_search_decoder_output.scores)[0, -1]
    np.testing.assert_allclose(scores[0], 3 * np.log(0.7) / ((5 + 3) / 6), rtol=1e-4)


def test_static_shapes_and_states():
    outputs, state, lengths = search(np.zeros((3, 3), np.float32), [0, 0], 2, 4)
    assert outputs.predicted_ids.shape.as_list() == [2, None, 2] and state.cell_state.shape.as_list() == [2, 2, 1]
    assert lengths.shape.as_list() == [2, 2] and state.lengths.dtype == tf.int64


def attentive(width, **options):
    memory = seq2seq.tile_batch(tf.constant(np.random.RandomState(2).randn(2, 3, 4).astype(np.float32)), width)
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), seq2seq.LuongAttention(4, memory), alignment_history=True)
    batch = tf.placeholder_with_default([0, 0], [None])
    decoder = seq2seq.BeamSearchDecoder(
        cell,
        lambda ids: tf.one_hot(ids, 6),
        batch,
        5,
        cell.zero_state(tf.shape(batch)[0] * width, tf.float32),
        width,
        output_layer=tf.layers.Dense(6),
        **options,
    )
    return seq2seq.dynamic_decode(decoder, maximum_iterations=4)


def test_attention_and_coverage():
    with tf.variable_scope("s", initializer=tf.random_normal_initializer(seed=1)):
        outputs, state, lengths = attentive(3, coverage_penalty_weight=0.5)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        ids, seen, counts = session.run([outputs.predicted_ids, state.accumulated_attention_probs, lengths])
    assert ids.shape == (2, 4, 3)
    # A beam looks once more each step, with a weight of one in all, the first state aside.
    np.testing.assert_allclose(seen.sum(-1), counts, atol=1 + 1e-4)


def test_refusals():
    cell = Chain(np.zeros((3, 3), np.float32))
    with pytest.raises(ValueError, match="Perhaps you forgot to create a zero_state with batch_size=encoder_batch_size"):
        seq2seq.BeamSearchDecoder(cell, np.eye(3, dtype=np.float32), [0, 0], 2, tf.zeros([6, 2]), 3)
    with pytest.raises(ValueError, match="coverage_penalty_weight must be 0.0 if no cell is attentional"):
        search(np.zeros((3, 3), np.float32), [0], 2, 2, coverage_penalty_weight=1.0)
