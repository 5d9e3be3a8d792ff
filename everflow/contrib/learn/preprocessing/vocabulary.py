"""CategoricalVocabulary: categories and their numbers."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from everflow.contrib.learn.preprocessing.publishing import preprocessor


@preprocessor("categorical_vocabulary", "CategoricalVocabulary")
class CategoricalVocabulary:
    """Numbers categories in the order in which they come; 0 is what is not known."""

    def __init__(self, unknown_token: str = "<UNK>", support_reverse: bool = True) -> None:
        self._unknown_token, self._support_reverse = unknown_token, support_reverse
        self._mapping: dict[Any, int] = {unknown_token: 0}
        if support_reverse:
            self._reverse_mapping: list[Any] = list(self._mapping)
        self._freq: dict[Any, int] = defaultdict(int)
        self.freeze(False)

    def __len__(self) -> int:
        return len(self._mapping)

    def freeze(self, freeze: bool = True) -> None:
        """From now on, what is new stays unknown."""
        self._freeze = freeze

    def get(self, category: Any) -> int:
        """The number of a category, which is added if it is new."""
        known = self._mapping.get(category)
        if known is not None:
            return known
        if self._freeze:
            return 0
        if self._support_reverse:
            self._reverse_mapping.append(category)
        return self._mapping.setdefault(category, len(self._mapping))

    def add(self, category: Any, count: int = 1) -> None:
        """Counts a category."""
        if self.get(category) > 0:
            self._freq[category] += count

    def trim(self, min_frequency: int, max_frequency: int = -1) -> None:
        """Keeps categories that came more often than `min_frequency` times and less often than `max_frequency`, the most frequent first."""
        # Equally frequent ones are kept in the order of their names.
        ordered = sorted(sorted(self._freq.items(), key=lambda x: (isinstance(x[0], str), x[0])), key=lambda x: x[1], reverse=True)
        kept = [(category, count) for category, count in ordered if count > min_frequency and (max_frequency < 0 or count < max_frequency)]
        self._mapping = {self._unknown_token: 0, **{category: i for i, (category, _) in enumerate(kept, 1)}}
        self._freq = dict(kept)
        if self._support_reverse:
            self._reverse_mapping = list(self._mapping)

    def reverse(self, class_id: int) -> Any:
        """The category with a number."""
        if not self._support_reverse:
            raise ValueError("This vocabulary wasn't initialized with support_reverse to support reverse() function.")
        return self._reverse_mapping[class_id]
