"""Python's `inspect`, looking below decorators (`tensorflow.python.util.tf_inspect`)."""

from __future__ import annotations

import collections
import contextlib
import functools
import inspect
import inspect as _inspect  # noqa: F401 - Programs reach below with tf_inspect._inspect.
import sys
from inspect import currentframe, getmro, isframe, ismodule, stack  # noqa: F401
from typing import Any

from everflow.api import internal
from everflow.platform import decorators

internal("util.tf_inspect")(sys.modules[__name__])

ArgSpec = collections.namedtuple("ArgSpec", ["args", "varargs", "keywords", "defaults"])
FullArgSpec = inspect.FullArgSpec


def _below(thing: Any) -> Any:
    return decorators.unwrap(thing)[1]


def _declared(obj: Any) -> tuple[Any, Any]:
    """The signature that a decorator of `obj` declares, or None, and the function below all decorators."""
    found, target = decorators.unwrap(obj)
    return next((d.decorator_argspec for d in found if d.decorator_argspec is not None), None), target


# The code that all functions share which contextlib.contextmanager makes; TensorFlow's own such decorator can be looked below.
_CONTEXT_MANAGER = contextlib.contextmanager(lambda: iter(())).__code__  # type: ignore[attr-defined]


def _full(target: Any) -> inspect.FullArgSpec:
    """Like `inspect.getfullargspec`, but methods of a class and callable objects keep `self`, as written."""
    if getattr(target, "__code__", None) is _CONTEXT_MANAGER:
        return _full(target.__wrapped__)
    if isinstance(target, functools.partial):
        return inspect.getfullargspec(target)
    if inspect.isclass(target):
        own_init, own_new = target.__init__ is not object.__init__, target.__new__ is not object.__new__
        target = target.__init__ if own_init else target.__new__ if own_new else lambda: None
    elif not inspect.isroutine(target) and callable(target):
        target = type(target).__call__
    target = getattr(target, "__func__", target)
    return inspect.getfullargspec(target)


def getfullargspec(obj: Any) -> inspect.FullArgSpec:
    """The arguments of a function below its decorators, or those that one of them declares."""
    declared, target = _declared(obj)
    if declared is None:
        return _full(target)
    if isinstance(declared, inspect.FullArgSpec):
        return declared
    return FullArgSpec(declared.args, declared.varargs, declared.keywords, declared.defaults, [], None, {})


def getargspec(obj: Any) -> ArgSpec:
    """The same without keyword-only arguments and annotations."""
    if isinstance(obj, functools.partial):
        return _partial_argspec(obj)
    declared, target = _declared(obj)
    if declared is not None and not isinstance(declared, inspect.FullArgSpec):
        return declared
    if isinstance(target, functools.partial):
        return _partial_argspec(target)
    full = declared or _full(target)
    return ArgSpec(full.args, full.varargs, full.varkw, full.defaults)


def _partial_argspec(partial: functools.partial) -> ArgSpec:
    """What is left of a function's arguments; those set by keyword become defaults, which must come last."""
    inner = getargspec(partial.func)
    args = inner.args[len(partial.args) :]
    if inspect.ismethod(partial.func):
        args = inner.args[len(partial.args) + 1 :]
    defaults = dict(zip(inner.args[-len(inner.defaults) :], inner.defaults)) if inner.defaults else {}
    defaults.update({name: value for name, value in partial.keywords.items() if name in args})
    first = next((i for i, name in enumerate(args) if name in defaults), len(args))
    without = [name for name in args[first:] if name not in defaults]
    if without:
        raise ValueError(
            f"Some arguments {without} do not have default value, but they are positioned after those with default "
            f"values. This can not be expressed with ArgSpec."
        )
    values = tuple(defaults[name] for name in args[first:])
    return ArgSpec(args, inner.varargs, inner.keywords, values or None)


def getcallargs(*func_and_positional: Any, **named: Any) -> dict[str, Any]:
    """Which argument gets which value in a call."""
    func, *positional = func_and_positional
    spec = getfullargspec(func)
    values = named.copy()
    bound = getattr(func, "__self__", None)
    if inspect.ismethod(func) and bound is not None and spec.args and spec.args[0] in ("self", "cls"):
        values[spec.args[0]] = bound
        values.update(zip(spec.args[1:], positional))
    else:
        values.update(zip(spec.args, positional))
    for name, default in zip(reversed(spec.args), reversed(spec.defaults or ())):
        values.setdefault(name, default)
    for name, default in (spec.kwonlydefaults or {}).items():
        values.setdefault(name, default)
    return values


def getdoc(object: Any) -> str | None:
    return inspect.getdoc(object)


def getfile(object: Any) -> str:
    target = _below(object)
    # A decorator made of a lambda or a builtin has no file; its target has.
    return inspect.getfile(target)


def getframeinfo(*args: Any, **kwargs: Any) -> inspect.Traceback:
    return inspect.getframeinfo(*args, **kwargs)


def getmembers(object: Any, predicate: Any = None) -> list[tuple[str, Any]]:
    return inspect.getmembers(object, predicate)


def getmodule(object: Any) -> Any:
    return inspect.getmodule(object)


def getsource(object: Any) -> str:
    return inspect.getsource(_below(object))


def getsourcefile(object: Any) -> str | None:
    return inspect.getsourcefile(_below(object))


def getsourcelines(object: Any) -> tuple[list[str], int]:
    return inspect.getsourcelines(_below(object))


def isbuiltin(object: Any) -> bool:
    return inspect.isbuiltin(_below(object))


def isclass(object: Any) -> bool:
    return inspect.isclass(_below(object))


def isfunction(object: Any) -> bool:
    return inspect.isfunction(_below(object))


def isgenerator(object: Any) -> bool:
    return inspect.isgenerator(_below(object))


def isgeneratorfunction(object: Any) -> bool:
    return inspect.isgeneratorfunction(_below(object))


def ismethod(object: Any) -> bool:
    return inspect.ismethod(_below(object))


def isroutine(object: Any) -> bool:
    return inspect.isroutine(_below(object))
