"""Public functions that take ragged tensors (`@public(..., ragged=...)`) ask `everflow.ragged` when they are given some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.platform.dispatch import DISPATCH_ATTR, OpDispatcher, asking


class _RaggedDispatcher(OpDispatcher):
    def __init__(self, how: str, target: Callable[..., Any]) -> None:
        self._how, self._target = how, target

    def handle(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for value in (*args, *kwargs.values()):
            parts = value if isinstance(value, (list, tuple)) else (value,)
            if any(hasattr(part, "ragged_rank") for part in parts):
                from everflow.ragged.dispatch import handle

                return handle(self._how, self._target, args, kwargs)
        return self.NOT_SUPPORTED


def with_ragged(how: str, target: Any) -> Any:
    """A function that also takes ragged tensors; `how` as `public` has it."""
    return target if hasattr(target, DISPATCH_ATTR) else asking(target, [_RaggedDispatcher(how, target)])
