"""Decorators that remember what they decorate (`tensorflow.python.util.tf_decorator`)."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

from everflow.api import internal

internal("util.tf_decorator")(sys.modules[__name__])


class TFDecorator:
    """One decorator on a function: its name, its target, and what it adds to the docstring or the signature."""

    def __init__(self, decorator_name: str, target: Any, decorator_doc: str = "", decorator_argspec: Any = None) -> None:
        self._decorated_target = target
        self._decorator_name = decorator_name
        self._decorator_doc = decorator_doc
        self._decorator_argspec = decorator_argspec
        if hasattr(target, "__name__"):
            self.__name__ = target.__name__
        if self._decorator_doc:
            self.__doc__ = self._decorator_doc
        elif getattr(target, "__doc__", None):
            self.__doc__ = target.__doc__
        else:
            self.__doc__ = ""
        if decorator_argspec is not None:
            self.__signature__ = _signature_of(decorator_argspec)
        elif callable(target):
            try:
                self.__signature__ = inspect.signature(target)
            except (TypeError, ValueError):
                pass

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self._decorated_target.__get__(instance, owner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._decorated_target(*args, **kwargs)

    @property
    def decorated_target(self) -> Any:
        return self._decorated_target

    @decorated_target.setter
    def decorated_target(self, target: Any) -> None:
        self._decorated_target = target

    @property
    def decorator_name(self) -> str:
        return self._decorator_name

    @property
    def decorator_doc(self) -> str:
        return self._decorator_doc

    @property
    def decorator_argspec(self) -> Any:
        return self._decorator_argspec


def _signature_of(argspec: Any) -> inspect.Signature:
    parameters = []
    required = len(argspec.args) - len(argspec.defaults or ())
    for i, name in enumerate(argspec.args):
        default = argspec.defaults[i - required] if i >= required else inspect.Parameter.empty
        parameters.append(inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default))
    if argspec.varargs:
        parameters.append(inspect.Parameter(argspec.varargs, inspect.Parameter.VAR_POSITIONAL))
    for name in getattr(argspec, "kwonlyargs", ()):
        default = (argspec.kwonlydefaults or {}).get(name, inspect.Parameter.empty)
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default))
    rest = argspec.varkw if hasattr(argspec, "varkw") else argspec.keywords
    if rest:
        parameters.append(inspect.Parameter(rest, inspect.Parameter.VAR_KEYWORD))
    return inspect.Signature(parameters)


def make_decorator(
    target: Any, decorator_func: Any, decorator_name: str | None = None, decorator_doc: str = "", decorator_argspec: Any = None
) -> Callable[..., Any]:
    """Makes `decorator_func` a decorator of `target`, with the target's name and docstring."""
    if decorator_name is None:
        decorator_name = sys._getframe(1).f_code.co_name
    decorator = TFDecorator(decorator_name, target, decorator_doc, decorator_argspec)
    decorator_func._tf_decorator = decorator
    for attribute in ("__name__", "__qualname__", "__module__"):
        if hasattr(target, attribute):
            setattr(decorator_func, attribute, getattr(target, attribute))
    if hasattr(target, "__dict__"):
        for name, value in target.__dict__.items():
            decorator_func.__dict__.setdefault(name, value)
    if hasattr(target, "__doc__"):
        decorator_func.__doc__ = decorator.__doc__
    decorator_func.__wrapped__ = target
    # Python's own inspection follows __wrapped__; TensorFlow's stops here.
    decorator_func.__original_wrapped__ = target
    if hasattr(decorator, "__signature__"):
        decorator_func.__signature__ = decorator.__signature__
    return decorator_func


def _has_tf_decorator_attr(obj: Any) -> bool:
    return hasattr(obj, "_tf_decorator") and isinstance(obj._tf_decorator, TFDecorator)


def unwrap(maybe_tf_decorator: Any) -> tuple[list[TFDecorator], Any]:
    """The decorators on a function, outermost first, and the function below them."""
    decorators: list[TFDecorator] = []
    current = maybe_tf_decorator
    while True:
        if isinstance(current, TFDecorator):
            decorators.append(current)
        elif _has_tf_decorator_attr(current):
            decorators.append(current._tf_decorator)
        else:
            return decorators, current
        current = decorators[-1].decorated_target


def rewrap(decorator_func: Any, previous_target: Any, new_target: Any) -> Any:
    """Puts another function in the place of the one below all decorators; returns the outermost one."""
    innermost = None
    current = decorator_func
    while current is not previous_target and _has_tf_decorator_attr(current):
        innermost = current
        current = current._tf_decorator.decorated_target
    if innermost is None:
        assert decorator_func is previous_target
        return new_target
    innermost._tf_decorator.decorated_target = new_target
    innermost.__wrapped__ = new_target
    return decorator_func
