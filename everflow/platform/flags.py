"""`tf.flags` (also `tf.app.flags`): absl's flags, with the parameter names of older programs, parsed at first use."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from absl import flags as absl_flags

from everflow.api import internal, public

_RENAMED = {"flag_name": "name", "default_value": "default", "docstring": "help"}
_DEFINES_WITH_OLD_NAMES = ("DEFINE_string", "DEFINE_boolean", "DEFINE_bool", "DEFINE_float", "DEFINE_integer")


class _FlagValuesWrapper:
    """The program's flags; the command line is parsed when a value is asked for before `tf.app.run` has done so."""

    def __init__(self, wrapped: absl_flags.FlagValues) -> None:
        self.__dict__["__wrapped"] = wrapped

    def __getattr__(self, name: str) -> Any:
        wrapped = self.__dict__["__wrapped"]
        if not name.startswith("__") and not wrapped.is_parsed() and name in wrapped:
            wrapped(sys.argv)
        return getattr(wrapped, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.__dict__["__wrapped"], name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self.__dict__["__wrapped"], name)

    def __str__(self) -> str:
        return str(self.__dict__["__wrapped"])

    def __repr__(self) -> str:
        return repr(self.__dict__["__wrapped"])

    def __dir__(self) -> list[str]:
        return dir(self.__dict__["__wrapped"])

    def __getitem__(self, name: str) -> Any:
        return self.__dict__["__wrapped"][name]

    def __setitem__(self, name: str, flag: Any) -> None:
        self.__dict__["__wrapped"][name] = flag

    def __contains__(self, name: str) -> bool:
        return name in self.__dict__["__wrapped"]

    def __len__(self) -> int:
        return len(self.__dict__["__wrapped"])

    def __iter__(self) -> Any:
        return iter(self.__dict__["__wrapped"])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__dict__["__wrapped"](*args, **kwargs)


FLAGS = _FlagValuesWrapper(absl_flags.FLAGS)

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """What absl has, and `_publish` puts here."""


def _with_old_names(define: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(define)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return define(*args, **{_RENAMED.get(name, name): value for name, value in kwargs.items()})

    return wrapper


def _publish() -> None:
    for name in dir(absl_flags):
        if name.startswith("_"):
            continue
        value = getattr(absl_flags, name)
        if name == "FLAGS":
            value = FLAGS
        elif name in _DEFINES_WITH_OLD_NAMES:
            value = _with_old_names(value)
        elif not callable(value):
            continue
        globals()[name] = value
        public(f"flags.{name}", f"app.flags.{name}", owner=__name__)(value)


_publish()
# absl finds the module that defines a flag by walking up the stack past modules that say they only pass calls on.
absl_flags.disclaim_key_flags()
internal("platform.flags")(sys.modules[__name__])
