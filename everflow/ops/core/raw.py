"""tf.raw_ops: every op by its own name, with keyword arguments only."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from everflow.api import public
from everflow.graph import opdefs
from everflow.ops.core.registry import generated


class RawOp:
    """The function of one op; it is worked out at its first use."""

    def __init__(self, name: str) -> None:
        self.__name__ = self.__qualname__ = name
        self.__doc__ = f"The op {name}, as its definition has it."

    @functools.cached_property
    def _function(self) -> Callable[..., Any]:
        return generated(self.__name__)

    @functools.cached_property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self._function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        keys = list(self.__signature__.parameters)
        if args:
            raise TypeError(f"{self.__name__} only takes keyword args (possible keys: {keys}). Please pass these args as kwargs instead.")
        for key in kwargs:
            if key not in keys:
                raise TypeError(f"{self.__name__}() got an unexpected keyword argument '{key}'")
        return self._function(**kwargs)

    def __repr__(self) -> str:
        return f"<function {self.__name__} of tf.raw_ops>"


for _name in opdefs.names():
    if not _name.startswith("_"):
        public(f"raw_ops.{_name}")(RawOp(_name))
