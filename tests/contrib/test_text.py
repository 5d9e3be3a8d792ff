"""tf.contrib.text: which words are paired. Draws with a seed are those of 1.15.5."""

import pytest

import everflow as tf
from everflow.contrib import text
from running import run

WORDS = "a b c d e f g h i j".split()


def pairs(*args, words=WORDS, **kwargs):
    tokens, labels = run(list(text.skip_gram_sample(tf.constant(words), *args, **kwargs)))
    return list(zip(*("".join(word.decode() for word in found) for found in (tokens, labels))))


def test_words_are_paired_with_their_neighbours():
    assert pairs(1, 1, 1, 3) == [("b", "c"), ("c", "b"), ("c", "d"), ("d", "c")]
    assert pairs(0, 0, words=["a", "b"], emit_self_as_target=True) == [("a", "a"), ("b", "b")]
    assert pairs(0, 0) == []


def test_how_far_a_word_reaches_is_drawn():
    tokens, _ = text.skip_gram_sample(tf.constant(WORDS), 1, 4, seed=9)
    with tf.Session() as session:
        found = [b"".join(session.run(tokens)).decode() for _ in range(2)]
    assert found == ["aabbbccccccddddddeeeeeeeeffffffgggghhhhhhiiiij", "aaabbccddddeeeeffggggggghhhhiiij"]


def test_numbers_are_paired_too():
    tokens, labels = text.skip_gram_sample(tf.constant([1, 2, 3], tf.int16), 1, 1)
    assert [found.tolist() for found in run([tokens, labels])] == [[1, 2, 2, 3], [2, 1, 3, 2]]


def test_rare_and_unknown_words_are_left_out(tmp_path):
    path = tmp_path / "vocabulary"
    path.write_text("a,10\nb,20\nc,1\nd,3000\n")
    tokens, labels = text.skip_gram_sample_with_text_vocab(
        tf.constant(WORDS), str(path), vocab_min_count=5, vocab_subsampling=1e-2, min_skips=1, max_skips=1, seed=3
    )
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        found = session.run([tokens, labels])
    assert [b"".join(words) for words in found] == [b"abbd", b"badb"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"vocab_min_count": 1}, "vocab_freq_table is not provided"),
        ({"vocab_freq_table": "table", "corpus_size": 10}, "both must be provided"),
        ({"vocab_freq_table": 5}, "must be a subclass of InitializableLookupTableBase"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        text.skip_gram_sample(tf.constant(WORDS), **settings)


@pytest.mark.parametrize(("skips", "message"), [((-1, 2), "must be >= 0"), ((2, 1), "min_skips must be <= max_skips")])
def test_reaches_are_checked_when_they_are_known(skips, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(list(text.skip_gram_sample(tf.constant(WORDS), *skips)))
