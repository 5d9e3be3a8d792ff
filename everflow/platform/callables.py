"""Questions about callables (`tensorflow.python.util.function_utils`)."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

from everflow.api import internal
from everflow.platform import decorators, signatures
from everflow.proto import config_pb2

internal("util.function_utils")(sys.modules[__name__])


def _is_callable_object(obj: Any) -> bool:
    return callable(obj) and inspect.ismethod(obj.__call__)


def _is_bound_method(fn: Callable[..., Any]) -> bool:
    fn = decorators.unwrap(fn)[1]
    return inspect.ismethod(fn) and fn.__self__ is not None


def fn_args(fn: Any) -> tuple[str, ...]:
    """The names of the positional arguments that a call still has to give."""
    if isinstance(fn, functools.partial):
        names = fn_args(fn.func)
        return tuple(name for name in names[len(fn.args) :] if name not in fn.keywords)
    if inspect.isclass(fn) and fn.__init__ is object.__init__:
        return ()
    if _is_callable_object(fn) and not inspect.isclass(fn):
        fn = fn.__call__
    args = list(signatures.getfullargspec(fn).args)
    if args and (_is_bound_method(fn) or inspect.isclass(fn)):
        args.pop(0)
    return tuple(args)


def has_kwargs(fn: Any) -> bool:
    """Whether the callable takes any keyword argument."""
    if isinstance(fn, functools.partial):
        fn = fn.func
    elif not callable(fn):
        raise TypeError(f"fn should be a function-like object, but is of type {type(fn)}.")
    elif _is_callable_object(fn) and not inspect.isclass(fn):
        fn = fn.__call__
    return signatures.getfullargspec(fn).varkw is not None


def get_func_name(func: Callable[..., Any]) -> str:
    """The name of a function, with its class for a bound method; of other callables, their type."""
    func = decorators.unwrap(func)[1]
    if not callable(func):
        raise ValueError("Argument must be callable")
    if inspect.ismethod(func):
        return f"{type(func.__self__).__name__}.{func.__func__.__name__}"
    return func.__name__ if inspect.isfunction(func) else str(type(func))


def get_func_code(func: Any) -> Any:
    """The code object of a function or of an object's `__call__`; None for callables not written in Python."""
    func = decorators.unwrap(func)[1]
    if not callable(func):
        raise ValueError("Argument must be callable")
    if inspect.isfunction(func) or inspect.ismethod(func):
        return func.__code__
    return getattr(func.__call__, "__code__", None)


def get_disabled_rewriter_config() -> bytes:
    """A serialized configuration in which graphs of functions run as they are."""
    config = config_pb2.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return config.SerializeToString()
