"""Where the names of the graph editor stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from everflow.api import public

T = TypeVar("T")
EDITOR = "contrib.graph_editor"


def editor(module: str, *also: str, shown: bool = True) -> Callable[[T], T]:
    """Publishes what a module of the editor holds, and below tf.contrib.graph_editor where that shows it."""

    def register(thing: T) -> T:
        name = thing.__name__  # type: ignore[attr-defined]
        names = [f"{EDITOR}.{module}.{name}", *([f"{EDITOR}.{name}"] if shown else []), *(f"{EDITOR}.{a}" for a in also)]
        return public(*names, owner=thing.__module__)(thing)

    return register
