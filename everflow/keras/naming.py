"""Names of objects that are unique in a graph: `dense`, `dense_1`, ..."""

from __future__ import annotations

import re
import weakref
from collections import defaultdict
from typing import Any

from everflow.api import internal, public
from everflow.graph.stacks import get_default_graph

_counts: weakref.WeakKeyDictionary[Any, dict[Any, int]] = weakref.WeakKeyDictionary()


@internal("keras.backend.get_default_graph_uid_map")
def counts_of_graph() -> dict[Any, int]:
    """How often each name was given out in the default graph."""
    graph = get_default_graph()
    if graph not in _counts:
        _counts[graph] = defaultdict(int)
    return _counts[graph]


@public("keras.backend.get_uid")
def get_uid(prefix: str = "") -> int:
    """The next number for a prefix in the default graph."""
    counts = counts_of_graph()
    counts[prefix] += 1
    return counts[prefix]


@public("keras.backend.reset_uids")
def reset_uids() -> None:
    """Starts to count again in every graph."""
    _counts.clear()


@internal("keras.backend.unique_object_name")
def unique_object_name(name: str, name_uid_map: Any = None, avoid_names: Any = None, namespace: str = "", zero_based: bool = False) -> str:
    """The name, with `_1`, `_2`, ... for the later ones (`zero_based`), or for all."""
    counts = counts_of_graph() if name_uid_map is None else name_uid_map
    avoided = avoid_names or ()
    key = (namespace, name)
    while True:
        number = counts.get(key, 0)
        counts[key] = number + 1
        shown = number if zero_based else number + 1
        found = name if zero_based and not shown else f"{name}_{shown}"
        if found not in avoided:
            return found


@internal("keras.utils.generic_utils.to_snake_case")
def to_snake_case(name: str) -> str:
    """`MaxPooling2D` as `max_pooling2d`; names that would start with an underscore get `private` before it."""
    spaced = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    snake = re.sub(r"([a-z])([A-Z])", r"\1_\2", spaced).lower()
    return snake if snake[:1] != "_" else "private" + snake
