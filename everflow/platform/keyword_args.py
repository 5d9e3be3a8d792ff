"""Functions that take keyword arguments only (`tensorflow.python.util.keyword_args` and `tf_export.kwarg_only`)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from everflow.api import internal
from everflow.platform import decorators, docstrings, signatures


@internal("util.keyword_args.keyword_args_only")
def keyword_args_only(func: Callable[..., Any]) -> Callable[..., Any]:
    docstrings.validate_callable(func, "keyword_args_only")

    @functools.wraps(func)
    def new_func(*args: Any, **kwargs: Any) -> Any:
        if args:
            raise ValueError(f"Must use keyword args to call {func.__name__}.")
        return func(**kwargs)

    return new_func


@internal("util.tf_export.kwarg_only")
def kwarg_only(f: Callable[..., Any]) -> Callable[..., Any]:
    """The same for ops; a call with positional arguments is told the names."""
    spec = signatures.getfullargspec(f)

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if args:
            raise TypeError(f"{f.__name__} only takes keyword args (possible keys: {spec.args}). Please pass these args as kwargs instead.")
        return f(**kwargs)

    return decorators.make_decorator(f, wrapper, decorator_argspec=spec)
