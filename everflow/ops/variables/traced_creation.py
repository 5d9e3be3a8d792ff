"""Who makes the variables of a function that is being traced."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from everflow.graph.stacks import get_default_graph, in_eager_mode


class creating:
    """Variables made inside are made by this creator."""

    def __init__(self, creator: Callable[..., Any]) -> None:
        self._creator = creator

    def __enter__(self) -> None:
        _CREATOR.stack.append(self._creator)

    def __exit__(self, *_: Any) -> None:
        _CREATOR.stack.pop()


class _Creators(threading.local):
    def __init__(self) -> None:
        self.stack: list[Callable[..., Any]] = []


_CREATOR = _Creators()


def create_variable(make: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Makes a variable, as the function that is being traced wants it."""
    return _CREATOR.stack[-1](make, arguments)


def is_tracing() -> bool:
    """Whether a function that says how variables are made is being traced."""
    return bool(_CREATOR.stack) and get_default_graph().building_function and not in_eager_mode()
