"""A registry: objects under names, with where they were registered."""

from __future__ import annotations

import sys
from typing import Any

from everflow.api import internal


@internal("framework.registry.Registry")
class Registry:
    """`Registry("gradient").register(function, "Add")`; a name may be taken once."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._entries: dict[str, tuple[Any, str]] = {}

    def register(self, candidate: Any, name: str | None = None) -> None:
        """Adds an object, under its own name unless another one is given."""
        name = name or candidate.__name__
        if name in self._entries:
            raise self.taken(name, self._entries[name][1])
        frame = sys._getframe(1)
        self._entries[name] = candidate, f"{frame.f_code.co_name} {frame.f_code.co_filename}:{frame.f_lineno}"

    def taken(self, name: str, where: str) -> KeyError:
        """The error for a name that is registered already."""
        return KeyError(f"Registering two {self._name} with name '{name}'! (Previous registration was in {where})")

    def list(self) -> list[str]:
        """The names."""
        return list(self._entries)

    def lookup(self, name: str) -> Any:
        """The object under a name; LookupError where there is none."""
        if name not in self._entries:
            raise LookupError(f"{self._name} registry has no entry for: {name}")
        return self._entries[name][0]
