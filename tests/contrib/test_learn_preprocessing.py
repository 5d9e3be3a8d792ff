"""tf.contrib.learn.preprocessing and tf.contrib.memory_stats."""

import numpy as np
import pytest

import everflow as tf
from running import run

preprocessing = tf.contrib.learn.preprocessing
TEXTS = ["Hello world, it's 5 o'clock", "hello world", ""]


def test_words_become_numbers_and_words_again(tmp_path):
    processor = preprocessing.VocabularyProcessor(4)
    rows = np.array(list(processor.fit_transform(TEXTS)))
    assert rows.tolist() == [[1, 2, 3, 4], [6, 2, 0, 0], [0, 0, 0, 0]] and rows.dtype == np.int64
    assert next(processor.transform(["hello unheard"])).tolist() == [6, 0, 0, 0]
    assert next(processor.reverse(rows[1:])) == "hello world <UNK> <UNK>"
    processor.save(str(tmp_path / "words"))
    restored = preprocessing.VocabularyProcessor.restore(str(tmp_path / "words"))
    assert np.array(list(restored.transform(TEXTS))).tolist() == rows.tolist() and len(restored.vocabulary_) == 7


def test_rare_words_are_unknown():
    processor = preprocessing.VocabularyProcessor(3, min_frequency=1)
    assert [row.tolist() for row in processor.fit_transform(["a b a", "b c b"])] == [[2, 1, 2], [1, 0, 1]]


def test_vocabularies():
    vocabulary = preprocessing.CategoricalVocabulary(support_reverse=False)
    for letter in "abracadabra":
        vocabulary.add(letter)
    vocabulary.trim(1, 5)
    assert [vocabulary.get(c) for c in "br"] == [1, 2] and len(vocabulary) == 3
    vocabulary.freeze()
    assert vocabulary.get("a") == 0
    with pytest.raises(ValueError, match="support_reverse"):
        vocabulary.reverse(1)


def test_bytes_and_categories():
    processor = preprocessing.ByteProcessor(5)
    rows = list(processor.transform(["abc", "é"]))
    assert rows[0].tolist() == [97, 98, 99, 0, 0] and list(processor.reverse(rows)) == ["abc", "é"]
    columns = np.array([["0", "male"], [1, "female"], ["0", "male"], [float("nan"), "x"]], dtype=object)
    assert [r.tolist() for r in preprocessing.CategoricalProcessor().fit_transform(columns)] == [[1, 1], [2, 2], [1, 1], [0, 3]]


@pytest.mark.skipif("__import__('torch').cuda.is_available()")
def test_memory_of_a_processor_has_no_limit():
    assert run(tf.contrib.memory_stats.BytesLimit()) == -1
    with pytest.raises(tf.errors.InvalidArgumentError, match="BytesInUse"):
        run(tf.contrib.memory_stats.BytesInUse())
