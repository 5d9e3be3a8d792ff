"""What the tab key completes: words, which depend on the command they are typed after."""

from __future__ import annotations

import os

from everflow.api import internal
from everflow.debug.cli.rich_text import BELOW


@internal(BELOW + "TabCompletionRegistry")
class TabCompletionRegistry:
    """For each command (a context word) the words that may follow it. Aliases of a command share one list."""

    def __init__(self) -> None:
        self._comp_dict: dict[str, list[str]] = {}

    def register_tab_comp_context(self, context_words: list[str], comp_items: list[str]) -> None:
        for argument, given in (("context_list", context_words), ("comp_items", comp_items)):
            if not isinstance(given, list):
                raise TypeError(f"Incorrect type in {argument}: Expected list, got {type(given)}")
        shared = sorted(comp_items)
        self._comp_dict.update(dict.fromkeys(context_words, shared))

    def deregister_context(self, context_words: list[str]) -> None:
        for word in context_words:
            if word not in self._comp_dict:
                raise KeyError(f'Cannot deregister unregistered context word "{word}"')
        for word in context_words:
            del self._comp_dict[word]

    def _registered(self, context_word: str) -> list[str]:
        if context_word not in self._comp_dict:
            raise KeyError(f'Context word "{context_word}" has not been registered')
        return self._comp_dict[context_word]

    def extend_comp_items(self, context_word: str, new_comp_items: list[str]) -> None:
        items = self._registered(context_word)
        items.extend(new_comp_items)
        items.sort()

    def remove_comp_items(self, context_word: str, comp_items: list[str]) -> None:
        items = self._registered(context_word)
        for item in comp_items:
            items.remove(item)

    def get_completions(self, context_word: str, prefix: str) -> tuple[list[str] | None, str | None]:
        """The words that start with a prefix, and what is common to their beginnings; (None, None) for a context nobody registered."""
        if context_word not in self._comp_dict:
            return None, None
        fitting = [item for item in self._comp_dict[context_word] if item.startswith(prefix)]
        return fitting, self._common_prefix(fitting)

    def _common_prefix(self, m: list[str]) -> str:
        return os.path.commonprefix(m)
