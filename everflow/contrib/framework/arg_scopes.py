"""arg_scope: arguments that are given once for all calls of some functions within a block.

with arg_scope([conv2d], padding="SAME", weights_regularizer=l2_regularizer(0.0005)):
    net = conv2d(net, 64, [3, 3])
"""

from __future__ import annotations

import contextlib
import inspect
import threading
from collections.abc import Callable, Iterator
from typing import Any

from everflow.api import public
from everflow.platform.decorators import make_decorator

Scope = dict[Any, dict[str, Any]]

# The names of the arguments that may be given, by function.
_decorated: dict[Any, tuple[str, ...]] = {}


class _Stack(threading.local):
    def __init__(self) -> None:
        self.scopes: list[Scope] = [{}]


_stack = _Stack()


@public("contrib.framework.current_arg_scope", "contrib.slim.current_arg_scope")
def current_arg_scope() -> Scope:
    """The arguments that are in force, by function."""
    return _stack.scopes[-1]


@public("contrib.framework.python.ops.arg_scope.arg_scope_func_key", "contrib.slim.arg_scope_func_key")
def arg_scope_func_key(op: Any) -> Any:
    """What stands for a function in a scope."""
    return getattr(op, "_key_op", str(op))


def _name_of(op: Any) -> tuple[str, str]:
    return op.__module__, op.__name__


@contextlib.contextmanager
def _entered(scope: Scope) -> Iterator[Scope]:
    _stack.scopes.append(scope)
    try:
        yield scope
    finally:
        _stack.scopes.pop()


@public("contrib.framework.arg_scope", "contrib.slim.arg_scope", "contrib.framework.python.ops.arg_scope")
@contextlib.contextmanager
def arg_scope(list_ops_or_scope: Any, **kwargs: Any) -> Iterator[Scope]:
    """Within the block, calls of these functions get these arguments too; or a scope that was kept is in force again."""
    if isinstance(list_ops_or_scope, dict):
        if kwargs:
            raise ValueError("When attempting to re-use a scope by suppling adictionary, kwargs must be empty.")
        with _entered(list_ops_or_scope.copy()) as scope:
            yield scope
        return
    if not isinstance(list_ops_or_scope, (list, tuple)):
        raise TypeError("list_ops_or_scope must either be a list/tuple or reused scope (i.e. dict)")
    found = current_arg_scope().copy()
    for op in list_ops_or_scope:
        if not has_arg_scope(op):
            raise ValueError(f"{_name_of(op)} is not decorated with @add_arg_scope")
        key = arg_scope_func_key(op)
        found[key] = {**found.get(key, {}), **kwargs}
    with _entered(found) as scope:
        yield scope


@public("contrib.framework.add_arg_scope", "contrib.slim.add_arg_scope")
def add_arg_scope(func: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a function one whose arguments arg_scope may give."""
    key = arg_scope_func_key(func)

    def func_with_args(*args: Any, **kwargs: Any) -> Any:
        given = current_arg_scope().get(key)
        return func(*args, **({**given, **kwargs} if given else kwargs))

    parameters = inspect.signature(func).parameters.values()
    _decorated[key] = tuple(p.name for p in parameters if p.default is not p.empty)
    func_with_args._key_op = key  # type: ignore[attr-defined]
    return make_decorator(func, func_with_args)


@public("contrib.framework.has_arg_scope", "contrib.slim.has_arg_scope")
def has_arg_scope(func: Callable[..., Any]) -> bool:
    """Whether arg_scope may give arguments of a function."""
    return arg_scope_func_key(func) in _decorated


@public("contrib.framework.arg_scoped_arguments", "contrib.slim.arg_scoped_arguments")
def arg_scoped_arguments(func: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the arguments that arg_scope may give."""
    return _decorated[arg_scope_func_key(func)]
