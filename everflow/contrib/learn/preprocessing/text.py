"""Texts as rows of numbers: of words, or of bytes."""

from __future__ import annotations

import itertools
import pickle
import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from everflow.contrib.learn.preprocessing.publishing import preprocessor
from everflow.contrib.learn.preprocessing.vocabulary import CategoricalVocabulary
from everflow.io.gfile import GFile

TOKENIZER_RE = preprocessor("text", "TOKENIZER_RE")(re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE))


@preprocessor("text", "tokenizer")
def tokenizer(iterator: Iterable[str]) -> Iterator[list[str]]:
    """The words of each text."""
    for value in iterator:
        yield TOKENIZER_RE.findall(value)


@preprocessor("text", "ByteProcessor")
class ByteProcessor:
    """Texts as their bytes."""

    def __init__(self, max_document_length: int) -> None:
        self.max_document_length = max_document_length

    def fit(self, x: Any) -> ByteProcessor:
        """Nothing: there are always 256 bytes."""
        return self

    def fit_transform(self, x: Any) -> Iterator[np.ndarray]:
        """The bytes of texts."""
        return self.transform(x)

    def transform(self, x: Any) -> Iterator[np.ndarray]:
        """The bytes of texts, zeros after their end."""
        for document in x:
            given = document if isinstance(document, bytes) else str(document).encode("utf-8")
            row: np.ndarray = np.zeros(self.max_document_length, np.uint8)
            found = np.frombuffer(given, np.uint8)[: self.max_document_length]
            row[: len(found)] = found
            yield row

    def reverse(self, x: Any) -> Iterator[str]:
        """The texts of bytes; an empty one where they are no text."""
        for row in x:
            try:
                yield bytes(value for value in row if value).decode("utf-8")
            except UnicodeDecodeError:
                yield ""


@preprocessor("text", "VocabularyProcessor")
class VocabularyProcessor:
    """Texts as numbers of their words.

    processor = tf.contrib.learn.preprocessing.VocabularyProcessor(max_document_length)
    x = np.array(list(processor.fit_transform(texts)))
    """

    def __init__(self, max_document_length: int, min_frequency: int = 0, vocabulary: Any = None, tokenizer_fn: Any = None) -> None:
        self.max_document_length, self.min_frequency = max_document_length, min_frequency
        self.vocabulary_ = vocabulary or CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents: Any, unused_y: Any = None) -> VocabularyProcessor:
        """Learns the words of texts."""
        known = self.vocabulary_
        for word in itertools.chain.from_iterable(self._tokenizer(raw_documents)):
            known.add(word)
        if self.min_frequency > 0:
            known.trim(self.min_frequency)
        known.freeze()
        return self

    def fit_transform(self, raw_documents: Any, unused_y: Any = None) -> Iterator[np.ndarray]:
        """Learns the words of texts and gives their numbers."""
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents: Any) -> Iterator[np.ndarray]:
        """The numbers of the words of texts, zeros after their end."""
        for tokens in self._tokenizer(raw_documents):
            row: np.ndarray = np.zeros(self.max_document_length, np.int64)
            found = [self.vocabulary_.get(token) for token in tokens[: self.max_document_length]]
            row[: len(found)] = found
            yield row

    def reverse(self, documents: Any) -> Iterator[str]:
        """The words of numbers."""
        for row in documents:
            yield " ".join(self.vocabulary_.reverse(number) for number in row)

    def save(self, filename: str) -> None:
        """Writes the processor to a file."""
        with GFile(filename, "wb") as file:
            file.write(pickle.dumps(self))

    @classmethod
    def restore(cls, filename: str) -> VocabularyProcessor:
        """The processor that was written to a file."""
        with GFile(filename, "rb") as file:
            return pickle.loads(file.read())
