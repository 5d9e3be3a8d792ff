"""Collections: lists of a graph's objects under well-known names."""

from __future__ import annotations

import re
from typing import Any


class Collections:
    """The part of a graph that keeps collections."""

    _collections: dict[Any, list[Any]]

    def _check_not_finalized(self) -> None:
        """Raises where nothing may be added any more."""

    def add_to_collection(self, name: str | None, value: Any) -> None:
        """Appends a value to a collection."""
        self._check_not_finalized()
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Appends a value to each of the named collections."""
        names = (names,) if isinstance(names, str) else dict.fromkeys(names)
        for name in names:
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: Any) -> list[Any]:
        """The collection itself, made where it is not there yet."""
        return self._collections.setdefault(name, [])

    def get_collection(self, name: str | None, scope: str | None = None) -> list[Any]:
        """A copy of a collection; with a scope, the items whose name matches it from its start."""
        found = self._collections.get(name)
        if found is None:
            return []
        if scope is None:
            return list(found)
        pattern = re.compile(scope)
        return [item for item in found if hasattr(item, "name") and pattern.match(item.name)]

    def get_all_collection_keys(self) -> list[Any]:
        """The names of the collections."""
        return [k for k in self._collections if isinstance(k, str)]

    @property
    def collections(self) -> list[Any]:
        """The names of the collections."""
        return self.get_all_collection_keys()

    def clear_collection(self, name: str | None) -> None:
        """Drops a collection."""
        self._check_not_finalized()
        self._collections.pop(name, None)
