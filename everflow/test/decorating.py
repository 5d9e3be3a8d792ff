"""How decorators of tests are put on functions and on whole classes."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from everflow.api import internal


def each_test_method(cls: type, decorate: Callable[[Any], Any]) -> type:
    """Puts a decorator on the methods of a class whose names begin with `test`."""
    for name in dir(cls):
        method = getattr(cls, name, None)
        if name.startswith("test") and isinstance(method, types.FunctionType) and name != "test_session":
            setattr(cls, name, decorate(method))
    return cls


@internal("framework.test_util.for_all_test_methods")
def for_all_test_methods(decorator: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[[type], type]:
    """A class decorator that puts `decorator(*args, **kwargs)` on each test of the class."""
    return lambda cls: each_test_method(cls, decorator(*args, **kwargs))


def for_tests(target: Any, unless: Callable[[], bool] | None = None, reason: str = "", wrapping: Any = None) -> Any:
    """Decorates a test function or, test by test, a class; without a target, gives the decorator.

    The test is skipped with `reason` unless `unless()` holds when it runs, and runs inside the context `wrapping()`.
    """

    def decorate(what: Any) -> Any:
        if isinstance(what, type):
            return each_test_method(what, decorate)

        @functools.wraps(what)
        def decorated(self: Any, *args: Any, **kwargs: Any) -> Any:
            if unless is not None and not unless():
                self.skipTest(reason)
            if wrapping is None:
                return what(self, *args, **kwargs)
            with wrapping():
                return what(self, *args, **kwargs)

        return decorated

    return decorate if target is None else decorate(target)


@internal("framework.test_util.skip_if")
def skip_if(condition: Any) -> Callable[[Any], Any]:
    """The test does nothing where the condition (a value or a function without parameters) holds."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def decorated(*args: Any, **kwargs: Any) -> None:
            if not (condition() if callable(condition) else condition):
                function(*args, **kwargs)

        return decorated

    return decorate
