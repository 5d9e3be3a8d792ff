"""tf.contrib.crf, against sums over all sequences of tags."""

import itertools

import numpy as np
import pytest

import everflow as tf
from running import run

crf = tf.contrib.crf
rng = np.random.RandomState(0)
SCORES = rng.randn(3, 4, 3).astype(np.float32)
TRANSITIONS = rng.randn(3, 3).astype(np.float32)
TAGS = rng.randint(0, 3, (3, 4)).astype(np.int32)
LENGTHS = np.array([4, 2, 1], np.int32)


def score(row, tags, scores=SCORES):
    return sum(scores[row, t, tag] for t, tag in enumerate(tags)) + sum(TRANSITIONS[a, b] for a, b in zip(tags, tags[1:]))


def all_scores(row, allowed=lambda t, tag: True, scores=SCORES):
    length = LENGTHS[row]
    return {
        tags: score(row, tags, scores)
        for tags in itertools.product(range(3), repeat=int(length))
        if all(allowed(t, tag) for t, tag in enumerate(tags))
    }


def log_sum(values):
    return np.log(np.exp(np.array([*values])).sum())


@pytest.mark.parametrize("steps", [4, None])
def test_log_likelihood(steps):
    scores = tf.placeholder_with_default(SCORES, [3, steps, 3])
    tags = tf.placeholder_with_default(TAGS, [3, steps])
    found, _ = crf.crf_log_likelihood(scores, tags, LENGTHS, tf.constant(TRANSITIONS))
    expected = [score(i, TAGS[i, :n]) - log_sum(all_scores(i).values()) for i, n in enumerate(LENGTHS)]
    np.testing.assert_allclose(run(found), expected, rtol=1e-4)


def test_transitions_are_a_variable():
    _, transitions = crf.crf_log_likelihood(tf.constant(SCORES), tf.constant(TAGS), tf.constant(LENGTHS))
    assert transitions.op.name == "transitions" and transitions.shape.as_list() == [3, 3]


@pytest.mark.parametrize("steps", [4, None])
def test_decoding_finds_the_best_sequence(steps):
    potentials = tf.placeholder_with_default(SCORES, [3, steps, 3])
    tags, best = run(crf.crf_decode(potentials, tf.constant(TRANSITIONS), tf.constant(LENGTHS)))
    for i, n in enumerate(LENGTHS):
        path, value = max(all_scores(i).items(), key=lambda item: item[1])
        assert tuple(tags[i, :n]) == path
        np.testing.assert_allclose(best[i], value, rtol=1e-5)
        in_numpy, its_score = crf.viterbi_decode(SCORES[i, :n], TRANSITIONS)
        assert tuple(in_numpy) == path
        np.testing.assert_allclose(its_score, value, rtol=1e-5)


def test_several_tags_may_be_right():
    bitmap = np.random.RandomState(1).rand(3, 4, 3) > 0.3
    found = run(crf.crf_multitag_sequence_score(tf.constant(SCORES), tf.constant(bitmap), tf.constant(LENGTHS), tf.constant(TRANSITIONS)))
    for i in range(3):
        np.testing.assert_allclose(found[i], log_sum(all_scores(i, lambda t, tag, i=i: bitmap[i, t, tag]).values()), rtol=1e-4)


def test_one_step_and_none():
    one = SCORES[:, :1]
    lengths = tf.constant([1, 1, 0])
    norm = run(crf.crf_log_norm(tf.constant(one), lengths, tf.constant(TRANSITIONS)))
    np.testing.assert_allclose(norm, [log_sum(one[0, 0]), log_sum(one[1, 0]), 0], rtol=1e-5)
    scores = run(crf.crf_sequence_score(tf.constant(one), tf.constant(TAGS[:, :1]), lengths, tf.constant(TRANSITIONS)))
    np.testing.assert_allclose(scores, [one[0, 0, TAGS[0, 0]], one[1, 0, TAGS[1, 0]], 0], rtol=1e-5)
    tags, _ = run(crf.crf_decode(tf.constant(one), tf.constant(TRANSITIONS), tf.constant([1, 1, 1])))
    assert tags.ravel().tolist() == one[:, 0].argmax(1).tolist()


def test_gradients():
    scores, transitions = tf.constant(SCORES), tf.constant(TRANSITIONS)
    loss = tf.reduce_sum(crf.crf_log_likelihood(scores, TAGS, LENGTHS, transitions)[0])
    with tf.Session():
        assert tf.test.compute_gradient_error([scores, transitions], [[3, 4, 3], [3, 3]], loss, [], delta=1e-2) < 2e-3
