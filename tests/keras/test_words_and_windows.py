"""Texts and sequences as numbers; values are those of TensorFlow 1.15.5."""

import json
import random

import numpy as np
import pytest
from plain import plain, refused

import everflow as tf
from everflow.keras.preprocessing.text import tokenizer_from_json

seq, text, utils = tf.keras.preprocessing.sequence, tf.keras.preprocessing.text, tf.keras.utils


def tokens(*texts, **kwargs):
    t = text.Tokenizer(**kwargs)
    t.fit_on_texts(texts)
    return t


def fitted(sequences):
    t = text.Tokenizer(num_words=4)
    t.fit_on_sequences(sequences)
    return t


def settings(tokenizer):
    """The config, with what was learned read back: its order is that of a set."""
    return {k: json.loads(v) if k.startswith(("word", "index")) else v for k, v in tokenizer.get_config().items()}


def again(tokenizer):
    return tokenizer_from_json(tokenizer.to_json())


def windows(length, **kwargs):
    """All batches of a series of squares, and how many there should be."""
    made = seq.TimeseriesGenerator(np.arange(10), np.arange(10) ** 2, length=length, **kwargs)
    return [len(made), [made[i] for i in range(len(made))]]


def drawn(make):
    random.seed(5)
    np.random.seed(5)
    return make()


CATS = ["the cat the dog", "A dog"]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: seq.pad_sequences([[1], [2, 3, 4]]), [[0, 0, 1], [2, 3, 4]]),
        (lambda: seq.pad_sequences([[1], [2, 3, 4]], maxlen=2), [[0, 1], [3, 4]]),
        (lambda: seq.pad_sequences([[1], [2, 3, 4]], maxlen=2, padding="post", truncating="post", value=9), [[1, 9], [2, 3]]),
        (lambda: seq.pad_sequences([[[1, 1]], [[2, 2], [3, 3]]]), [[[0, 0], [1, 1]], [[2, 2], [3, 3]]]),
        (lambda: seq.pad_sequences([[1.5]], dtype="float32", maxlen=2), [[0.0, 1.5]]),
        (lambda: seq.make_sampling_table(5), [0.0031522, 0.0031522, 0.005476, 0.0074156, 0.0091282]),
        (lambda: sorted(map(tuple, seq.skipgrams([1, 2, 3], 5, window_size=1, negative_samples=0.0)[0])), [[1, 2], [2, 1], [2, 3], [3, 2]]),
        (lambda: len(seq.skipgrams([1, 2, 3], 5, window_size=1, negative_samples=1.0, seed=3)[0]), 8),
        (lambda: [len(x) for x in seq.TimeseriesGenerator(np.arange(10), np.arange(10), length=3, batch_size=4)[0]], [4, 4]),
        (
            lambda: [
                x.tolist()
                for x in seq.TimeseriesGenerator(np.arange(10), np.arange(10), length=4, sampling_rate=2, stride=2, batch_size=2)[1]
            ],
            [[[4, 6]], [8]],
        ),
        (
            lambda: [
                x.tolist()
                for x in seq.TimeseriesGenerator(
                    np.arange(10), np.arange(10), length=3, start_index=2, end_index=7, reverse=True, batch_size=8
                )[0]
            ],
            [[[4, 3, 2], [5, 4, 3], [6, 5, 4]], [5, 6, 7]],
        ),
        (lambda: len(seq.TimeseriesGenerator(np.arange(10), np.arange(10), length=3, batch_size=4)), 2),
        (lambda: text.text_to_word_sequence("The cat, sat! On THE mat."), ["the", "cat", "sat", "on", "the", "mat"]),
        (lambda: text.text_to_word_sequence("a-b c", filters="", lower=False, split="-"), ["a", "b c"]),
        (lambda: text.hashing_trick("a b a", 10, hash_function="md5"), [2, 5, 2]),
        (lambda: tokens("the cat the dog", "a dog").word_index, {"the": 1, "dog": 2, "cat": 3, "a": 4}),
        (lambda: tokens("the cat the dog", "a dog").texts_to_sequences(["the dog bird"]), [[1, 2]]),
        (lambda: tokens("the cat the dog", "a dog", oov_token="?").texts_to_sequences(["the dog bird"]), [[2, 3, 1]]),
        (lambda: tokens("the cat the dog", "a dog", num_words=3).texts_to_sequences(["the cat dog"]), [[1, 2]]),
        (lambda: tokens("the cat the dog", "a dog").sequences_to_texts([[1, 2]]), ["the dog"]),
        (lambda: tokens("abca", char_level=True).word_index, {"a": 1, "b": 2, "c": 3}),
        (lambda: tokens("the cat the dog", "a dog").texts_to_matrix(["the dog the"]), [[0.0, 1.0, 1.0, 0.0, 0.0]]),
        (lambda: tokens("the cat the dog", "a dog").texts_to_matrix(["the dog the"], mode="count"), [[0.0, 2.0, 1.0, 0.0, 0.0]]),
        (lambda: tokens("the cat the dog", "a dog").texts_to_matrix(["the dog the"], mode="freq"), [[0.0, 0.66667, 0.33333, 0.0, 0.0]]),
        (lambda: tokens("the cat the dog", "a dog").texts_to_matrix(["the dog the"], mode="tfidf"), [[0.0, 1.1736, 0.51083, 0.0, 0.0]]),
        (lambda: tokens("the cat the dog", "a dog").document_count, 2),
        (lambda: utils.to_categorical([0, 2, 1]), [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]),
        (lambda: utils.to_categorical([[0], [1]], 3, dtype="int32"), [[1, 0, 0], [0, 1, 0]]),
        (lambda: utils.normalize(np.array([[3.0, 4.0]])), [[0.6, 0.8]]),
        (lambda: utils.normalize(np.array([[3.0, 4.0]]), order=1, axis=0), [[1.0, 1.0]]),
    ],
)
def test_texts_and_sequences_are_prepared(made, expected):
    assert plain(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: [seq.pad_sequences([[], [1]]), seq.pad_sequences([[], []], maxlen=1)], [[[0], [1]], [[0], [0]]]),
        (lambda: seq.pad_sequences([["a"], ["b", "c"]], dtype=object, value="-").tolist(), [["-", "a"], ["b", "c"]]),
        (lambda: seq.pad_sequences([[1, 2, 3]], 2, truncating="post"), [[1, 2]]),
        (lambda: seq.pad_sequences([[1, 2, 3], [4]], 2, padding="post"), [[2, 3], [4, 0]]),
        (lambda: [seq.pad_sequences([[1.5], []], dtype=t).dtype.name for t in ("float64", np.int8, "int32")], ["float64", "int8", "int32"]),
        (lambda: seq.make_sampling_table(4, sampling_factor=0.3), [0.54599, 0.54599, 0.94847, 1.0]),
        (
            lambda: drawn(lambda: seq.skipgrams([1, 0, 3, 2, 4], 6, window_size=2)),
            [
                [
                    [2, 4],
                    [2, 3],
                    [3, 1],
                    [4, 4],
                    [2, 5],
                    [3, 1],
                    [3, 2],
                    [4, 2],
                    [4, 3],
                    [2, 4],
                    [3, 2],
                    [4, 1],
                    [3, 4],
                    [3, 2],
                    [1, 3],
                    [1, 3],
                ],
                [0, 1, 0, 0, 0, 1, 0, 1, 1, 1, 0, 0, 1, 1, 0, 1],
            ],
        ),
        (
            lambda: drawn(lambda: seq.skipgrams([1, 2, 3], 9, 1, negative_samples=1.5, categorical=True, shuffle=False)),
            [
                [[1, 2], [2, 1], [2, 3], [3, 2], [1, 1], [2, 8], [3, 4], [2, 1], [1, 3], [2, 2]],
                [[0, 1], [0, 1], [0, 1], [0, 1], [1, 0], [1, 0], [1, 0], [1, 0], [1, 0], [1, 0]],
            ],
        ),
        (
            lambda: drawn(lambda: seq.skipgrams([1, 2, 3, 4, 5, 6], 9, negative_samples=0, seed=3)),
            [
                [
                    [2, 4],
                    [6, 3],
                    [5, 4],
                    [6, 2],
                    [1, 3],
                    [2, 3],
                    [3, 5],
                    [3, 2],
                    [3, 1],
                    [4, 1],
                    [6, 5],
                    [5, 6],
                    [3, 6],
                    [1, 5],
                    [4, 3],
                    [2, 6],
                    [5, 3],
                    [1, 2],
                    [1, 4],
                    [6, 4],
                    [5, 2],
                    [4, 2],
                    [5, 1],
                    [3, 4],
                    [2, 1],
                    [4, 5],
                    [4, 6],
                    [2, 5],
                ],
                [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
            ],
        ),
        (
            lambda: drawn(lambda: seq.skipgrams([1, 2, 3, 1, 2], 4, 1, 0.5, sampling_table=[1.0, 0.7, 0.1, 1.0], shuffle=False)),
            [[[1, 2], [3, 2], [3, 1], [3, 2]], [1, 1, 1, 0]],
        ),
        (
            lambda: windows(3),
            [1, [[[[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5], [4, 5, 6], [5, 6, 7], [6, 7, 8]], [9, 16, 25, 36, 49, 64, 81]]]],
        ),
        (lambda: windows(2, batch_size=3, stride=2), [2, [[[[0, 1], [2, 3], [4, 5]], [4, 16, 36]], [[[6, 7]], [64]]]]),
        (
            lambda: windows(4, sampling_rate=2, start_index=1, end_index=8, batch_size=2, reverse=True),
            [2, [[[[3, 1], [4, 2]], [25, 36]], [[[5, 3], [6, 4]], [49, 64]]]],
        ),
        (
            lambda: drawn(lambda: windows(2, shuffle=True, batch_size=4)),
            [2, [[[[3, 4], [6, 7], [7, 8], [5, 6]], [25, 64, 81, 49]], [[[6, 7], [6, 7], [0, 1], [1, 2]], [64, 64, 4, 9]]]],
        ),
        (lambda: windows(9, batch_size=1), [1, [[[[0, 1, 2, 3, 4, 5, 6, 7, 8]], [81]]]]),
        (lambda: windows(1, batch_size=3, end_index=6), [2, [[[[0], [1], [2]], [1, 4, 9]], [[[3], [4], [5]], [16, 25, 36]]]]),
        (
            lambda: seq.TimeseriesGenerator(np.arange(4), [1, 2, 3, 4], 1, 2, 3, 1, 3, True, True, 7).get_config(),
            {
                "data": "[0, 1, 2, 3]",
                "targets": "[1, 2, 3, 4]",
                "length": 1,
                "sampling_rate": 2,
                "stride": 3,
                "start_index": 2,
                "end_index": 3,
                "shuffle": True,
                "reverse": True,
                "batch_size": 7,
            },
        ),
        (
            lambda: json.loads(seq.TimeseriesGenerator([1, 2], [3, 4], 1).to_json()),
            {
                "class_name": "TimeseriesGenerator",
                "config": {
                    "data": "[1, 2]",
                    "targets": "[3, 4]",
                    "length": 1,
                    "sampling_rate": 1,
                    "stride": 1,
                    "start_index": 1,
                    "end_index": 1,
                    "shuffle": False,
                    "reverse": False,
                    "batch_size": 128,
                },
            },
        ),
        (lambda: text.text_to_word_sequence("One,two;\tThree  four", filters=",", lower=False), ["One", "two;\tThree", "four"]),
        (lambda: text.text_to_word_sequence("one.two\nthree four", split="x"), ["one", "two", "three four"]),
        (lambda: text.hashing_trick("One two one", 7, hash_function=len), [4, 4, 4]),
        (lambda: text.hashing_trick("One,two, ONE", 50, "md5", filters="", lower=False, split=","), [40, 19, 10]),
        (lambda: text.one_hot("ab", 2), [1]),
        (
            lambda: [text.one_hot("a b a", 9)[i] == text.hashing_trick("a b a", 9)[j] for i, j in ((0, 0), (1, 1), (0, 2))],
            [True, True, True],
        ),
        (
            lambda: settings(tokens(*CATS)),
            {
                "num_words": None,
                "filters": '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n',
                "lower": True,
                "split": " ",
                "char_level": False,
                "oov_token": None,
                "document_count": 2,
                "word_counts": {"the": 2, "cat": 1, "dog": 2, "a": 1},
                "word_docs": {"dog": 2, "cat": 1, "the": 1, "a": 1},
                "index_docs": {"2": 2, "3": 1, "1": 1, "4": 1},
                "index_word": {"1": "the", "2": "dog", "3": "cat", "4": "a"},
                "word_index": {"the": 1, "dog": 2, "cat": 3, "a": 4},
            },
        ),
        (lambda: sorted(tokens(*CATS, num_words=3, oov_token="?").word_docs.items()), [["a", 1], ["cat", 1], ["dog", 2], ["the", 1]]),
        (lambda: sorted(tokens(*CATS, num_words=3, oov_token="?").index_docs.items()), [[2, 1], [3, 2], [4, 1], [5, 1]]),
        (lambda: tokens(*CATS, filters="t", lower=False).word_index, {"he": 1, "dog": 2, "ca": 3, "A": 4}),
        (lambda: tokens("a;b", "B;a", split=";", filters="").word_index, {"a": 1, "b": 2}),
        (lambda: tokens("AbA", char_level=True).texts_to_sequences(["bA"]), [[2, 1]]),
        (lambda: tokens("AbA", char_level=True, lower=False).word_index, {"A": 1, "b": 2}),
        (lambda: tokens(["One", "two"], ["one"]).word_index, {"one": 1, "two": 2}),
        (lambda: tokens(["One", "two"], ["one"], lower=False).texts_to_sequences([["One", "one"]]), [[1, 3]]),
        (lambda: tokens(*CATS, num_words=3).sequences_to_texts([[1, 2, 3, 9]]), ["the dog"]),
        (lambda: tokens(*CATS, num_words=3, oov_token="?").sequences_to_texts([[1, 2, 3, 9]]), ["? the ? ?"]),
        (lambda: list(tokens(*CATS, num_words=3, oov_token="?").texts_to_sequences_generator(["the cat", "a dog z"])), [[2, 1], [1, 1, 1]]),
        (lambda: tokens(*CATS, num_words=2).texts_to_matrix(["the cat dog"], "count"), [[0.0, 1.0]]),
        (lambda: tokens(num_words=3).sequences_to_matrix([[1, 2, 2, 7], []], "freq"), [[0.0, 0.25, 0.5], [0.0, 0.0, 0.0]]),
        (lambda: fitted([[1, 2], [2, 3]]).sequences_to_matrix([[1, 2, 2, 3]], "tfidf"), [[0.0, 0.69315, 0.8649, 0.69315]]),
        (lambda: [fitted([[1, 2], [2, 2]]).document_count, dict(fitted([[1, 2], [2, 2]]).index_docs)], [2, {1: 1, 2: 2}]),
        (lambda: again(tokens(*CATS, oov_token="?")).texts_to_matrix(["the dog z"], "tfidf"), [[0.0, 1.0986, 0.69315, 0.51083, 0.0, 0.0]]),
        (lambda: again(tokens(*CATS, oov_token="?")).sequences_to_texts([[1, 2, 9]]), ["? the ?"]),
        (
            lambda: sorted(again(tokens(*CATS, num_words=7, char_level=True)).get_config().items())[:3],
            [["char_level", True], ["document_count", 2], ["filters", '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n']],
        ),
        (lambda: text.Tokenizer(document_count=3).document_count, 3),
        (lambda: utils.to_categorical([[0, 1], [2, 1]]), [[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]]),
        (
            lambda: [utils.to_categorical([1], 3).dtype.name, utils.to_categorical(2), utils.to_categorical([[[0]], [[1]]]).shape],
            ["float32", [0.0, 0.0, 1.0], [2, 1, 2]],
        ),
        (lambda: utils.normalize(np.array([[3.0, 4.0], [0.0, 0.0]]), axis=-1, order=2), [[0.6, 0.8], [0.0, 0.0]]),
        (
            lambda: [utils.normalize(np.array([3.0, 4.0])), utils.normalize(np.array([[1.0, 2.0], [2.0, 3.0]]), 0, 1)],
            [[[0.6, 0.8]], [[0.33333, 0.4], [0.66667, 0.6]]],
        ),
    ],
)
def test_arguments_of_texts_and_sequences(made, expected):
    assert plain(made(), 5) == expected


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (lambda: seq.pad_sequences(3), "ValueError: `sequences` must be iterable."),
        (lambda: seq.pad_sequences([3]), "ValueError: `sequences` must be a list of iterables. Found non-iterable: 3"),
        (lambda: seq.pad_sequences([[1]], truncating="odd"), 'ValueError: Truncating type "odd" not understood'),
        (lambda: seq.pad_sequences([[1]], padding="odd"), 'ValueError: Padding type "odd" not understood'),
        (lambda: seq.pad_sequences([[1]], value="x"), "ValueError: `dtype` int32 is not compatible with `value`'s type: <class 'str'>"),
        (
            lambda: seq.pad_sequences([[[1, 2]], [[1]]]),
            "ValueError: Shape of sample (1,) of sequence at position 1 is different from expected shape (2,)",
        ),
        (
            lambda: seq.TimeseriesGenerator([1, 2], [1], 1),
            "ValueError: Data and targets have to be of same length. Data length is 2 while target length is 1",
        ),
        (
            lambda: seq.TimeseriesGenerator([1, 2], [1, 2], 2),
            "ValueError: `start_index+length=2 > end_index=1` is disallowed, as no part of the sequence would be left to be",
        ),
        (lambda: seq.TimeseriesGenerator([1, 2], [1, {3}], 1).get_config(), "TypeError: ('Targets not JSON Serializable:', [1, {3}])"),
        (lambda: text.Tokenizer(odd=3), "TypeError: Unrecognized keyword arguments: {'odd': 3}"),
        (
            lambda: text.Tokenizer().sequences_to_matrix([[1]]),
            "ValueError: Specify a dimension (`num_words` argument), or fit on some text data first.",
        ),
        (
            lambda: text.Tokenizer(num_words=3).sequences_to_matrix([[1]], "tfidf"),
            "ValueError: Fit the Tokenizer on some data before using tfidf mode.",
        ),
        (lambda: tokens(*CATS).texts_to_matrix(["the dog the"], mode="wrong"), "ValueError: ('Unknown vectorization mode:', 'wrong')"),
    ],
)
def test_texts_and_sequences_that_cannot_be(wrong, expected):
    assert refused(wrong) == expected
