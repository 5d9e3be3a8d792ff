"""Connectionist temporal classification."""

import itertools

import numpy as np
import pytest

import everflow as tf
from everflow.ops.nn.ctc import scaled_rows
from running import run

RANDOM = np.random.RandomState(6)


def labels_of(rows):
    indices = [(b, i) for b, row in enumerate(rows) for i in range(len(row))]
    return tf.SparseTensor(
        np.array(indices, np.int64).reshape(-1, 2), np.array([v for r in rows for v in r], np.int32), [len(rows), max(map(len, rows))]
    )


def collapsed(path, blank):
    return [label for label, _ in itertools.groupby(path) if label != blank]


def loss_by_enumeration(logits, labels):
    """Minus the log of the sum of the probabilities of all paths that read as the labels."""
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    steps, classes = p.shape
    paths = (path for path in itertools.product(range(classes), repeat=steps) if collapsed(path, classes - 1) == labels)
    return -np.log(sum(np.prod(p[np.arange(steps), path]) for path in paths))


def test_the_loss_counts_all_paths():
    logits, rows, lengths = RANDOM.randn(5, 3, 3), [[0, 1], [1, 1], [0]], [5, 5, 3]
    found = run(tf.nn.ctc_loss(labels_of(rows), tf.constant(logits), lengths))
    expected = [loss_by_enumeration(logits[:n, b], row) for b, (row, n) in enumerate(zip(rows, lengths))]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_the_gradient_is_that_of_finite_differences():
    logits = RANDOM.randn(4, 2, 4)
    with tf.Graph().as_default(), tf.Session():
        t = tf.constant(logits)
        for merge in (True, False):
            loss = tf.nn.ctc_loss(labels_of([[0, 0], [2, 1]]), t, [4, 3], ctc_merge_repeated=merge)
            assert tf.test.compute_gradient_error(t, logits.shape, loss, [2], x_init_value=logits, delta=1e-5) < 1e-6


def test_any_class_may_be_the_blank():
    logits = RANDOM.randn(5, 1, 4)
    moved = logits[:, :, [3, 0, 1, 2]]
    last = run(tf.nn.ctc_loss(labels_of([[0, 2]]), tf.constant(logits), [5]))
    first = run(tf.nn.ctc_loss_v2(np.array([[1, 3]]), tf.constant(moved), [2], [5], blank_index=0))
    np.testing.assert_allclose(first, last)


def test_labels_need_time():
    logits = np.zeros((2, 1, 4), np.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Not enough time for target transition sequence"):
        run(tf.nn.ctc_loss(labels_of([[0, 1, 2]]), logits, [2]))
    assert run(tf.nn.ctc_loss(labels_of([[0, 1, 2]]), logits, [2], ignore_longer_outputs_than_inputs=True)).tolist() == [0]


def test_greedy_decoding_drops_blanks_and_repeats():
    path = [0, 0, 2, 0, 1, 1]
    logits = np.log(np.eye(3)[path] * 0.9 + 0.05)[:, None].astype(np.float32)
    (found,), score = run(tf.nn.ctc_greedy_decoder(logits, [6]))
    assert found.values.tolist() == [0, 0, 1]
    np.testing.assert_allclose(score, [[-logits.max(2).sum()]], rtol=1e-6)
    (unmerged,), _ = run(tf.nn.ctc_greedy_decoder(logits, [6], merge_repeated=False))
    assert unmerged.values.tolist() == [0, 0, 0, 1, 1]


def test_beam_search_finds_the_most_probable_labels():
    logits = RANDOM.randn(4, 1, 3)
    decoded, score = run(tf.nn.ctc_beam_search_decoder_v2(logits, [4], beam_width=50, top_paths=3))
    every = {tuple(collapsed(path, 2)) for path in itertools.product(range(3), repeat=4)}
    best = sorted((loss_by_enumeration(logits[:, 0], list(labels)), labels) for labels in every)[:3]
    assert [tuple(d.values.tolist()) for d in decoded] == [labels for _, labels in best]
    np.testing.assert_allclose(score[0], [-loss for loss, _ in best], rtol=1e-6)


def test_unique_labels_of_each_row():
    unique, index = run(tf.nn.ctc_unique_labels([[3, 4, 3, 3], [5, 5, 5, 0]]))
    assert unique.tolist() == [[3, 4, 0, 0], [5, 0, 0, 0]] and index.tolist() == [[0, 1, 0, 0], [0, 0, 0, 1]]


def test_gradients_of_losses_elsewhere_scale_their_rows():
    assert run(scaled_rows(tf.constant([2.0, 3.0]), tf.ones([2, 2]))).tolist() == [[2, 2], [3, 3]]
