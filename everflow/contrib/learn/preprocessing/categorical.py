"""Columns of categories as numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from everflow.contrib.learn.preprocessing.publishing import preprocessor
from everflow.contrib.learn.preprocessing.vocabulary import CategoricalVocabulary


def _is_missing(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value) or value is None or value == ""


@preprocessor("categorical", "CategoricalProcessor")
class CategoricalProcessor:
    """Rows of categories as rows of numbers; a vocabulary a column, or one for all."""

    def __init__(self, min_frequency: int = 0, share: bool = False, vocabularies: Any = None) -> None:
        self.min_frequency = min_frequency
        self.share = share
        self.vocabularies_ = vocabularies

    def freeze(self, freeze: bool = True) -> None:
        """From now on, what is new stays unknown."""
        for vocabulary in self.vocabularies_ or ():
            vocabulary.freeze(freeze)

    def fit(self, x: Any, unused_y: Any = None) -> CategoricalProcessor:
        """Learns the categories of rows."""
        for row in x:
            if self.vocabularies_ is None:
                count = len(row)
                self.vocabularies_ = [CategoricalVocabulary()] * count if self.share else [CategoricalVocabulary() for _ in range(count)]
            for vocabulary, value in zip(self.vocabularies_, row):
                if not _is_missing(value):
                    vocabulary.add(value)
        if self.min_frequency > 0:
            for vocabulary in self.vocabularies_ or ():
                vocabulary.trim(self.min_frequency)
        self.freeze()
        return self

    def fit_transform(self, x: Any, unused_y: Any = None) -> Iterator[np.ndarray]:
        """Learns the categories of rows and gives their numbers."""
        self.fit(x)
        return self.transform(x)

    def transform(self, x: Any) -> Iterator[np.ndarray]:
        """The numbers of the categories of rows."""
        self.freeze()
        for row in x:
            yield np.array(
                [0 if _is_missing(value) else vocabulary.get(value) for vocabulary, value in zip(self.vocabularies_, row)], np.int64
            )
