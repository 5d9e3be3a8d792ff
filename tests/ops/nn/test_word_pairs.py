"""Words with words near them, and one step of word2vec."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.core.registry import apply


@pytest.fixture
def text(tmp_path):
    file = tmp_path / "text"
    file.write_text("a b c a b a d e  a\nb f")
    return str(file)


def test_words_are_counted_and_paired_with_their_neighbours(session, text):
    step = apply("Skipgram", filename=text, batch_size=6, window_size=1, min_count=2, subsample=0.0)
    words, counts, total, epoch, seen, examples, labels = session.run(step)
    assert words.tolist() == [b"UNK", b"a", b"b"] and counts.tolist() == [4, 4, 3]
    assert (total, epoch, seen) == (11, 181, 1502)
    assert (examples.tolist(), labels.tolist()) == ([1, 2, 2, 0, 0, 1], [2, 1, 0, 2, 1, 0])
    assert session.run(step)[5].tolist() == [1, 2, 2, 1, 1, 0]


def test_frequent_words_may_be_left_out(session, tmp_path):
    file = tmp_path / "text"
    file.write_text("the " * 990 + "a b c d e f g h i j")
    step = apply("Skipgram", filename=str(file), batch_size=500, window_size=2, min_count=1, subsample=1e-3)
    assert np.mean(session.run(step)[5] == 1) < 0.9


def test_a_text_must_hold_some_words(session, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match="contains too little data: 11 words"):
        session.run(apply("Skipgram", filename=text, batch_size=6, window_size=2))


def test_a_step_goes_towards_the_label_and_away_from_others(session):
    generator = np.random.RandomState(0)
    inside, outside = generator.randn(2, 4, 3).astype(np.float32)
    w_in, w_out = tf.Variable(inside), tf.Variable(outside)
    step = apply("NegTrain", w_in, w_out, [1], [0], 0.1, vocab_count=[0, 0, 1, 0], num_negative_samples=1)
    session.run(tf.global_variables_initializer())
    session.run(step)
    near, far = 0.1 / (1 + np.exp(inside[1] @ outside[0])), -0.1 / (1 + np.exp(-inside[1] @ outside[2]))
    expected_in, expected_out = inside.copy(), outside.copy()
    expected_in[1] += near * outside[0] + far * outside[2]
    expected_out[0] += near * inside[1]
    expected_out[2] += far * inside[1]
    np.testing.assert_allclose(session.run(w_in), expected_in, rtol=1e-5)
    np.testing.assert_allclose(session.run(w_out), expected_out, rtol=1e-5)


def test_a_step_takes_words_of_the_vocabulary(session):
    w_in, w_out = tf.Variable(tf.zeros([4, 3])), tf.Variable(tf.zeros([4, 3]))
    session.run(tf.global_variables_initializer())
    with pytest.raises(tf.errors.InvalidArgumentError, match="labels must be words of the vocabulary, which has 4"):
        session.run(apply("NegTrain", w_in, w_out, [1], [4], 0.1, vocab_count=[1] * 4, num_negative_samples=1))
    with pytest.raises(tf.errors.InvalidArgumentError, match="vocab_size mismatches: 4 vs. 3"):
        session.run(apply("NegTrain", w_in, w_out, [1], [2], 0.1, vocab_count=[1] * 3, num_negative_samples=1))
