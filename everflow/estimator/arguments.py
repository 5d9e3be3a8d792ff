"""How the functions that programs give to estimators are called: with the arguments that they take."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any


def parameters_of(function: Any) -> tuple[str, ...]:
    """The names of the arguments that a function takes; those that a partial binds by place are gone."""
    if isinstance(function, functools.partial):
        names = [n for n in parameters_of(function.func)[len(function.args) :] if n not in set(function.keywords or ())]
        return tuple(names)
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ()
    names = [p.name for p in found if p.kind in (p.POSITIONAL_OR_KEYWORD, p.POSITIONAL_ONLY, p.KEYWORD_ONLY)]
    return tuple(n for n in names if n != "self")


def has_keywords(function: Any) -> bool:
    """Whether a function takes any keyword."""
    inner = function.func if isinstance(function, functools.partial) else function
    return any(p.kind == p.VAR_KEYWORD for p in inspect.signature(inner).parameters.values())


def has_any(function: Any) -> bool:
    """Whether a function takes any number of arguments."""
    inner = function.func if isinstance(function, functools.partial) else function
    return any(p.kind == p.VAR_POSITIONAL for p in inspect.signature(inner).parameters.values())


def check_model_fn(model_fn: Callable[..., Any], params: Any) -> None:
    """A model function takes features, labels where there are any, and what else it knows."""
    taken = set(parameters_of(model_fn))
    if "features" not in taken:
        raise ValueError(f"model_fn ({model_fn}) must include features argument.")
    if params is not None and "params" not in taken and not has_keywords(model_fn):
        raise ValueError(f"model_fn ({model_fn}) does not include params argument, but params ({params}) is passed to Estimator.")
    unknown = taken - {"features", "labels", "mode", "params", "self", "config"}
    if unknown and not isinstance(model_fn, functools.partial):
        required = {
            p.name for p in inspect.signature(model_fn).parameters.values() if p.default is p.empty and p.kind == p.POSITIONAL_OR_KEYWORD
        }
        unknown &= required
        if unknown:
            raise ValueError(f"model_fn ({model_fn}) has following not expected args: {sorted(unknown)}")


def check_positive_integer(value: Any, name: str) -> None:
    """An error where a value is no positive integer."""
    if not isinstance(value, int):
        raise TypeError(f"{name} must be int, got {type(value)}")
    if value <= 0:
        raise ValueError(f"{name} must be positive, got {value}")
