"""Text as numbers of words."""

from __future__ import annotations

import collections
import hashlib
import json
from typing import Any

import numpy as np

from everflow.api import internal, public

_FILTERS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'


@public("keras.preprocessing.text.text_to_word_sequence")
def text_to_word_sequence(text: Any, filters: str = _FILTERS, lower: bool = True, split: str = " ") -> list[str]:
    """The words of a text, without the characters of `filters`."""
    if lower:
        text = text.lower()
    table = str.maketrans({c: split for c in filters})
    return [w for w in text.translate(table).split(split) if w]


@public("keras.preprocessing.text.one_hot")
def one_hot(text: Any, n: int, filters: str = _FILTERS, lower: bool = True, split: str = " ") -> list[int]:
    """A number below n for each word, by Python's hash."""
    return hashing_trick(text, n, hash_function=hash, filters=filters, lower=lower, split=split)


@public("keras.preprocessing.text.hashing_trick")
def hashing_trick(text: Any, n: int, hash_function: Any = None, filters: str = _FILTERS, lower: bool = True, split: str = " ") -> list[int]:
    """A number from 1 to n - 1 for each word, by a hash."""
    if hash_function is None:
        hash_function = hash
    elif hash_function == "md5":
        hash_function = lambda w: int(hashlib.md5(w.encode()).hexdigest(), 16)
    return [hash_function(w) % (n - 1) + 1 for w in text_to_word_sequence(text, filters=filters, lower=lower, split=split)]


@public("keras.preprocessing.text.Tokenizer")
class Tokenizer:
    """Learns the words of texts, then turns texts into numbers: frequent words have small ones."""

    def __init__(
        self,
        num_words: Any = None,
        filters: str = _FILTERS,
        lower: bool = True,
        split: str = " ",
        char_level: bool = False,
        oov_token: Any = None,
        document_count: int = 0,
        **kwargs: Any,
    ) -> None:
        kwargs.pop("nb_words", None)
        if kwargs:
            raise TypeError("Unrecognized keyword arguments: " + str(kwargs))
        self.word_counts: Any = collections.OrderedDict()
        self.word_docs: Any = collections.defaultdict(int)
        self.filters = filters
        self.split = split
        self.lower = lower
        self.num_words = num_words
        self.document_count = document_count
        self.char_level = char_level
        self.oov_token = oov_token
        self.index_docs: Any = collections.defaultdict(int)
        self.word_index: dict[Any, int] = {}
        self.index_word: dict[int, Any] = {}

    def _words(self, text: Any) -> list[Any]:
        if self.char_level or isinstance(text, list):
            if self.lower:
                text = [t.lower() for t in text] if isinstance(text, list) else text.lower()
            return list(text)
        return text_to_word_sequence(text, self.filters, self.lower, self.split)

    def fit_on_texts(self, texts: Any) -> None:
        """Learns the words of texts."""
        for text in texts:
            self.document_count += 1
            words = self._words(text)
            for w in words:
                self.word_counts[w] = self.word_counts.get(w, 0) + 1
            for w in set(words):
                self.word_docs[w] += 1
        by_count = sorted(self.word_counts.items(), key=lambda item: item[1], reverse=True)
        known = ([] if self.oov_token is None else [self.oov_token]) + [w for w, _ in by_count]
        self.word_index = {w: i + 1 for i, w in enumerate(known)}
        self.index_word = {i: w for w, i in self.word_index.items()}
        for w, number in self.word_docs.items():
            self.index_docs[self.word_index[w]] = number

    def fit_on_sequences(self, sequences: Any) -> None:
        """Learns how often numbers occur in lists."""
        self.document_count += len(sequences)
        for s in sequences:
            for i in set(s):
                self.index_docs[i] += 1

    def texts_to_sequences(self, texts: Any) -> list[list[int]]:
        """The numbers of the words of each text."""
        return list(self.texts_to_sequences_generator(texts))

    def texts_to_sequences_generator(self, texts: Any) -> Any:
        """The same, one text after the other."""
        limit, unknown = self.num_words, self.word_index.get(self.oov_token)
        for text in texts:
            found = []
            for w in self._words(text):
                i = self.word_index.get(w)
                if i is not None and not (limit and i >= limit):
                    found.append(i)
                elif unknown is not None:
                    found.append(unknown)
            yield found

    def sequences_to_texts(self, sequences: Any) -> list[str]:
        """The words of each list of numbers."""
        return list(self.sequences_to_texts_generator(sequences))

    def sequences_to_texts_generator(self, sequences: Any) -> Any:
        """The same, one list after the other."""
        limit, unknown = self.num_words, self.word_index.get(self.oov_token)
        for s in sequences:
            found = []
            for i in s:
                w = self.index_word.get(i)
                if w is not None and not (limit and i >= limit):
                    found.append(w)
                elif unknown is not None:
                    found.append(self.index_word[unknown])
            yield " ".join(found)

    def texts_to_matrix(self, texts: Any, mode: str = "binary") -> Any:
        """A row of numbers for each text, one for each word that is known."""
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode=mode)

    def sequences_to_matrix(self, sequences: Any, mode: str = "binary") -> Any:
        """The same for lists of numbers."""
        if not self.num_words and not self.word_index:
            raise ValueError("Specify a dimension (`num_words` argument), or fit on some text data first.")
        width = self.num_words or len(self.word_index) + 1
        if mode == "tfidf" and not self.document_count:
            raise ValueError("Fit the Tokenizer on some data before using tfidf mode.")
        if mode not in ("binary", "count", "freq", "tfidf"):
            raise ValueError("Unknown vectorization mode:", mode)
        found = np.zeros((len(sequences), width))
        for row, s in enumerate(sequences):
            counts = collections.Counter(i for i in s if i < width)
            for i, c in counts.items():
                if mode == "binary":
                    found[row, i] = 1
                elif mode == "count":
                    found[row, i] = c
                elif mode == "freq":
                    found[row, i] = c / len(s)
                else:
                    rarity = np.log(1 + self.document_count / (1 + self.index_docs.get(i, 0)))
                    found[row, i] = (1 + np.log(c)) * rarity
        return found

    def get_config(self) -> dict[str, Any]:
        """What was learned, and the arguments."""
        return {
            "num_words": self.num_words,
            "filters": self.filters,
            "lower": self.lower,
            "split": self.split,
            "char_level": self.char_level,
            "oov_token": self.oov_token,
            "document_count": self.document_count,
            "word_counts": json.dumps(self.word_counts),
            "word_docs": json.dumps(self.word_docs),
            "index_docs": json.dumps(self.index_docs),
            "index_word": json.dumps(self.index_word),
            "word_index": json.dumps(self.word_index),
        }

    def to_json(self, **kwargs: Any) -> str:
        """The same as JSON."""
        return json.dumps({"class_name": type(self).__name__, "config": self.get_config()}, **kwargs)


@internal("keras.preprocessing.text.tokenizer_from_json")
def tokenizer_from_json(json_string: str) -> Tokenizer:
    """The tokenizer that JSON describes."""
    config = json.loads(json_string)["config"]
    learned = {k: json.loads(config.pop(k)) for k in ("word_counts", "word_docs", "index_docs", "index_word", "word_index")}
    made = Tokenizer(**config)
    made.word_counts = learned["word_counts"]
    made.word_docs = learned["word_docs"]
    made.index_docs = {int(k): v for k, v in learned["index_docs"].items()}
    made.index_word = {int(k): v for k, v in learned["index_word"].items()}
    made.word_index = learned["word_index"]
    return made
