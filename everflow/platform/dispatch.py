"""Ops that learn to take new types (`tensorflow.python.util.dispatch`)."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from typing import Any

from everflow.api import internal
from everflow.platform import decorators, signatures

internal("util.dispatch")(sys.modules[__name__])

DISPATCH_ATTR = "_tf_dispatchers"


class OpDispatcher:
    """Knows how to run an op on arguments that the op itself refuses."""

    NOT_SUPPORTED = object()

    def handle(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The op's result, or NOT_SUPPORTED."""
        return self.NOT_SUPPORTED

    def register(self, op: Callable[..., Any]) -> None:
        if not hasattr(op, DISPATCH_ATTR):
            raise AssertionError(f"Dispatching not enabled for {op}")
        getattr(op, DISPATCH_ATTR).append(self)


class _ByType(OpDispatcher):
    def __init__(self, override_func: Callable[..., Any], types: tuple[type, ...]) -> None:
        self._override_func, self._types = override_func, types

    def handle(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for value in itertools.chain(args, kwargs.values()):
            parts = value if isinstance(value, (list, tuple)) else (value,)
            if any(isinstance(part, self._types) for part in parts):
                return self._override_func(*args, **kwargs)
        return self.NOT_SUPPORTED


def dispatch(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The result of the first dispatcher of `op` that takes the arguments, or NOT_SUPPORTED."""
    nothing = OpDispatcher.NOT_SUPPORTED
    answers = (dispatcher.handle(args, kwargs) for dispatcher in getattr(op, DISPATCH_ATTR))
    return next((answer for answer in answers if answer is not nothing), nothing)


def dispatch_for_types(op: Callable[..., Any], *types: type) -> Callable[[Any], Any]:
    """The decorated function runs in place of `op` where an argument is of one of these types."""

    def register(func: Callable[..., Any]) -> Callable[..., Any]:
        if signatures.getargspec(func) != signatures.getargspec(op):
            raise AssertionError("The decorated function's signature must exactly match the signature of the overridden op.")
        _ByType(func, types).register(op)
        return func

    return register


def add_dispatch_list(target: Any) -> Any:
    """Gives an op an empty list of dispatchers."""
    if hasattr(target, DISPATCH_ATTR):
        raise AssertionError(f"{target} already has a dispatch list")
    setattr(target, DISPATCH_ATTR, [])
    return target


def asking(target: Callable[..., Any], dispatchers: list[OpDispatcher]) -> Callable[..., Any]:
    """A function that asks dispatchers about arguments which it refuses."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return target(*args, **kwargs)
        except (TypeError, ValueError):
            answer = dispatch(wrapper, *args, **kwargs)
            if answer is OpDispatcher.NOT_SUPPORTED:
                raise
            return answer

    setattr(wrapper, DISPATCH_ATTR, dispatchers)
    return decorators.make_decorator(target, wrapper)


def add_dispatch_support(target: Callable[..., Any]) -> Callable[..., Any]:
    """The op asks its dispatchers when it refuses its arguments."""
    return asking(target, [])
