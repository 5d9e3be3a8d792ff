"""Stacks: what the gradient loops of version 1 graphs take the values of forward iterations from. They live for one run."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.errors import invalid_argument
from everflow.ops.core.node import Node
from everflow.ops.core.registry import not_differentiable, op


class Stack:
    """A stack of run-time values."""

    __slots__ = ("closed", "items", "limit", "name")

    def __init__(self, name: str, limit: int) -> None:
        self.name = name
        self.limit = limit
        self.items: list[Any] = []
        self.closed = False

    def push(self, value: Any) -> Any:
        self._check()
        if 0 <= self.limit <= len(self.items):
            raise invalid_argument(f"Stack[{self.name}] overflowed its max_size ({self.limit})")
        self.items.append(value)
        return value

    def pop(self) -> Any:
        self._check()
        if not self.items:
            raise invalid_argument(f"Stack[{self.name}] is empty when calling Pop().")
        return self.items.pop()

    def close(self) -> None:
        self.closed = True
        self.items = []

    def read(self) -> Any:
        """What is seen of the stack where its handle is fetched: its name."""
        return np.array([b"_stacks", self.name.encode()], dtype=object)

    def _check(self) -> None:
        if self.closed:
            raise invalid_argument(f"Stack[{self.name}] has already been closed.")


_serial = itertools.count()


def _name_of(node: Node) -> str:
    """Each run makes a stack of its own, so the name is not all of a stack's name."""
    return f"{node.attr('stack_name') or node.name}_{next(_serial)}"


def _stack(node: Node) -> Callable[..., Stack]:
    return lambda size: Stack(_name_of(node), int(size))


def _old_stack(node: Node) -> Callable[..., Stack]:
    return lambda: Stack(_name_of(node), -1)


op("StackV2", kernel=_stack, shape=lambda o: (2,))
op("Stack", kernel=_old_stack, shape=lambda o: (2,))
for _suffix in ("V2", ""):
    op(f"StackPush{_suffix}", kernel=lambda n: Stack.push, shape=lambda o: o.inputs[1].dims, view=True, writes=True)
    op(f"StackPop{_suffix}", kernel=lambda n: Stack.pop, shape=lambda o: None, writes=True)
    op(f"StackClose{_suffix}", kernel=lambda n: Stack.close, writes=True)
for _name in ("Stack", "StackPush", "StackPop", "StackClose"):
    op(_name, gradient=not_differentiable)
