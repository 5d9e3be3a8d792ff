"""Candidate samplers, and the losses that use them."""

import numpy as np
import pytest

import everflow as tf
from running import run

TRUE = np.array([[1], [5], [0]], np.int64)


def test_seeds_give_the_samples_of_tensorflow():
    """Recorded from TensorFlow 1.15.5."""
    with tf.Graph().as_default(), tf.Session() as session:
        zipf = tf.nn.log_uniform_candidate_sampler(TRUE, 1, 6, True, 50, seed=7)
        uniform = tf.nn.uniform_candidate_sampler(TRUE, 1, 6, False, 16, seed=7)
        learned = tf.nn.learned_unigram_candidate_sampler(TRUE, 1, 6, False, 10, seed=7)
        fixed = tf.nn.fixed_unigram_candidate_sampler(TRUE, 1, 4, True, 7, unigrams=range(1, 8), distortion=0.75, seed=7)
        first, second = ([session.run(s[0]).tolist() for s in (zipf, uniform, learned, fixed)] for _ in range(2))
    assert first == [[29, 0, 5, 25, 10, 2], [7, 13, 0, 10, 12, 4], [7, 7, 5, 4, 0, 3], [4, 6, 1, 5]]
    assert second == [[2, 32, 24, 0, 5, 1], [5, 14, 6, 0, 7, 1], [9, 0, 0, 1, 3, 6], [4, 6, 5, 1]]


def test_expected_counts_follow_from_probabilities():
    _, of_true, of_sampled = run(tf.nn.uniform_candidate_sampler(TRUE, 1, 6, False, 24))
    np.testing.assert_allclose(of_true, np.full((3, 1), 0.25))
    np.testing.assert_allclose(of_sampled, np.full(6, 0.25))
    sampled, of_true, _ = run(tf.nn.all_candidate_sampler(TRUE, 1, 4, True))
    assert (sampled.tolist(), of_true.tolist()) == ([0, 1, 2, 3], [[1.0]] * 3)


def test_unique_samples_differ():
    sampled = run(tf.nn.log_uniform_candidate_sampler(TRUE, 1, 20, True, 20))[0]
    assert sorted(sampled) == list(range(20))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Sampler's range is too small."):
        run(tf.nn.log_uniform_candidate_sampler(TRUE, 1, 21, True, 20))


def test_vocabularies_come_from_files(tmp_path):
    (tmp_path / "words.csv").write_text("the,1\nnever,0\n")
    sampled = run(tf.nn.fixed_unigram_candidate_sampler(TRUE, 1, 5, False, 2, vocab_file=str(tmp_path / "words.csv")))[0]
    assert sampled.tolist() == [0] * 5


def test_accidental_hits_are_found():
    true = np.array([[1, 2], [0, 4], [3, 3]], np.int64)
    rows, ids, weights = run(tf.nn.compute_accidental_hits(true, np.array([1, 3, 0, 9, 8], np.int64), 2))
    assert (rows.tolist(), ids.tolist()) == ([0, 1, 2, 2], [0, 2, 1, 1])
    assert (weights == np.finfo(np.float32).min).all()


def test_sampled_losses_over_all_classes_are_the_full_losses():
    random = np.random.RandomState(0)
    weights, biases, inputs = random.randn(6, 3), random.randn(6), random.randn(4, 3)
    labels = np.array([[2], [0], [5], [2]], np.int64)
    logits = inputs @ weights.T + biases
    everything = (np.arange(6), np.ones((4, 1)), np.ones(6))

    def build(function):
        values = tuple(tf.constant(v) for v in everything)
        return function(weights, biases, labels, inputs, 6, 6, sampled_values=values, remove_accidental_hits=False)

    chosen = np.take_along_axis(logits, labels, 1)
    np.testing.assert_allclose(run(build(tf.nn.nce_loss)), np.logaddexp(0, -chosen)[:, 0] + np.logaddexp(0, logits).sum(1))
    both = np.concatenate([chosen, logits], 1)
    np.testing.assert_allclose(run(build(tf.nn.sampled_softmax_loss)), np.log(np.exp(both).sum(1)) - chosen[:, 0])
