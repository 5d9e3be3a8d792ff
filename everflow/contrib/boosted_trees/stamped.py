"""Resources with a stamp: what comes with another stamp than theirs is from a step that is over."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from everflow.errors import failed_precondition, invalid_argument
from everflow.lazy import torch
from everflow.ops.core.node import Node

Kernel = Callable[..., Any]


class Stamped:
    """What all of them have; without a stamp, one was not made."""

    kind = "statistics"

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.stamp: int | None = None

    def clear(self) -> None:
        """Starts again."""

    @property
    def value(self) -> Any:
        """What there is, once it was made; as DestroyResourceOp asks for it."""
        return None if self.stamp is None else self

    def missing(self) -> str:
        """What to say when it was not made."""
        return f"Resource of {self.kind} does not exist."

    def forget(self) -> None:
        """What destroying the resource does."""
        self.stamp = None
        self.clear()

    def made(self) -> Any:
        """The resource, which must have been made."""
        if self.stamp is None:
            raise failed_precondition(f"Resource of {self.kind} was not initialized.")
        return self

    def check(self, stamp: Any, following: Any = None) -> None:
        """Complains of another stamp, and of a next one that is no other."""
        if int(stamp) != self.stamp or (following is not None and int(stamp) == int(following)):
            raise invalid_argument(f"Stamp {int(stamp)} is not {self.stamp}, or is the next one too.")


def handle(make: type[Stamped], name: str = "") -> Callable[[Node], Kernel]:
    """The kernel factory of an op that gives the resource of its name."""

    def factory(node: Node) -> Kernel:
        container, own = node.attr("container"), node.attr("shared_name") or node.name
        return lambda: node.context.resources.get(container, name or make.kind, own, make)

    return factory


def is_made(node: Node) -> Kernel:
    """The kernel factory of ops that say whether a resource was made."""
    return lambda resource: torch.tensor(resource.stamp is not None)


def number(value: int) -> Any:
    """A scalar of 64 bits."""
    return torch.tensor(value, dtype=torch.int64)


def text(value: Any) -> bytes:
    """The string of a scalar."""
    return value.reshape(-1)[0] if hasattr(value, "reshape") else value


def attribute(given: Any) -> bytes:
    """A message in an attribute; bytes that are no text are kept as surrogates."""
    return given if isinstance(given, bytes) else given.encode("utf-8", "surrogateescape")
