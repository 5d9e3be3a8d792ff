"""Whether AutoGraph converts the Python code that is running."""

from __future__ import annotations

import enum
import threading
from typing import Any

from everflow.api import internal


@internal("autograph.core.ag_ctx.Status")
class Status(enum.Enum):
    """What is known of the code: nothing, that it is converted, that it is not."""

    UNSPECIFIED = 0
    ENABLED = 1
    DISABLED = 2


class _Stack(threading.local):
    def __init__(self) -> None:
        self.entries: list[ControlStatusCtx] = []


_stack = _Stack()


@internal("autograph.core.ag_ctx.ControlStatusCtx")
class ControlStatusCtx:
    """Says within a `with` block whether AutoGraph converts what runs."""

    def __init__(self, status: Status, options: Any = None) -> None:
        self.status = status
        self.options = options

    def __enter__(self) -> ControlStatusCtx:
        _stack.entries.append(self)
        return self

    def __exit__(self, *_: Any) -> None:
        _stack.entries.pop()


_unspecified = ControlStatusCtx(Status.UNSPECIFIED)


@internal("autograph.core.ag_ctx.control_status_ctx")
def control_status_ctx() -> ControlStatusCtx:
    """What holds for the code that is running."""
    return _stack.entries[-1] if _stack.entries else _unspecified


def not_allowed(what: str) -> str:
    """The text of an error for Python code that asks a tensor of a graph for its value."""
    reasons = {
        Status.UNSPECIFIED: " in Graph execution. Use Eager execution or decorate this function with @tf.function.",
        Status.ENABLED: ": AutoGraph did not convert this function. Try decorating it directly with @tf.function.",
        Status.DISABLED: ": AutoGraph is disabled in this function. Try decorating it directly with @tf.function.",
    }
    return f"{what} is not allowed{reasons[control_status_ctx().status]}"
