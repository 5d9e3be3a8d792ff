"""The index of public names: `@public("log", "math.log")` next to each definition.

A name is written as a user reads it after `tf.`. `@internal("framework.ops.name_scope")` does the same for a name below
`tensorflow.python`. The generated `everflow/index.py` says which module defines which name, so that `tf.x` imports only
what it needs; `python -m everflow.api` writes it again.
"""
from __future__ import annotations

import importlib
import pkgutil
import pathlib
import sys
import types
from typing import Any, Callable, TypeVar

T = TypeVar("T")

NAMES: dict[str, Any] = {}
OWNERS: dict[str, str] = {}
INTERNAL = "python."


def public(*names: str, owner: str | None = None) -> Callable[[T], T]:
    """Publishes an object (function, class or value) under names of the `tf` namespace."""
    module = owner or sys._getframe(1).f_globals["__name__"]

    def register(thing: T) -> T:
        for name in names:
            NAMES[name] = thing
            OWNERS[name] = module
        return thing

    return register


def internal(*names: str) -> Callable[[T], T]:
    """Publishes an object under names below `tensorflow.python`, for programs that import TensorFlow's internals."""
    return public(*(INTERNAL + name for name in names), owner=sys._getframe(1).f_globals["__name__"])


def find(name: str) -> Any:
    """The object with this public name; KeyError if Everflow does not have it."""
    if name not in NAMES:
        from everflow.index import MODULES

        importlib.import_module(MODULES[name])
    return NAMES[name]


class Namespace(types.ModuleType):
    """A public module such as `tf.nn`: looks its names up in the index when they are first used."""

    def __init__(self, path: str, shown: str) -> None:
        super().__init__(shown)
        self.__path__: list[str] = []
        self.__everflow__ = path

    def __getattr__(self, name: str) -> Any:
        value = member(self.__everflow__, name)
        self.__dict__[name] = value
        return value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *members(self.__everflow__)})


NAMESPACES: dict[str, Namespace] = {}


def namespace(path: str) -> Namespace:
    """The module that stands for a dotted prefix of public names."""
    if path not in NAMESPACES:
        NAMESPACES[path] = Namespace(path, "everflow." + path)
    return NAMESPACES[path]


def is_namespace(path: str) -> bool:
    from everflow.index import PREFIXES

    return path in PREFIXES or _without_version(path) in PREFIXES


def members(path: str) -> set[str]:
    """The names directly below a prefix."""
    from everflow.index import MODULES, PREFIXES

    start = _without_version(path)
    start = start + "." if start else ""
    return {
        name[len(start):].partition(".")[0]
        for name in (*MODULES, *PREFIXES)
        if name.startswith(start) and not (name.startswith(INTERNAL) and not start)
    }


def member(path: str, name: str) -> Any:
    """What `tf.<path>.<name>` is: an object or a namespace."""
    full = f"{path}.{name}" if path else name
    for candidate in (full, _without_version(full)):
        if not candidate.startswith("__"):
            try:
                return find(candidate)
            except KeyError:
                pass
    if is_namespace(full):
        return namespace(full)
    shown = f"tensorflow.{path}" if path else "tensorflow"
    raise AttributeError(f"module '{shown}' has no attribute '{name}' (Everflow does not have tf.{full} yet)")


def _without_version(name: str) -> str:
    """`tf.compat.v1.x` is `tf.x`."""
    return name[len("compat.v1."):] if name.startswith("compat.v1.") else "" if name == "compat.v1" else name


def write_index(path: pathlib.Path) -> None:
    """Imports every module of the package and writes down what each one publishes and which ops it defines."""
    import everflow

    for module in pkgutil.walk_packages(everflow.__path__, "everflow."):
        if not module.name.startswith(("everflow.proto.", "everflow.index")) and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    from everflow.ops.registry import MEANINGS

    prefixes = {"compat", "compat.v1"}
    for name in OWNERS:
        parts = name.split(".")[:-1]
        prefixes.update(".".join(parts[: i + 1]) for i in range(len(parts)))
    lines = ['"""Which module defines which public name and which op. Written by `python -m everflow.api`; do not edit."""', ""]
    lines += ["MODULES = {", *(f'    "{n}": "{m}",' for n, m in sorted(OWNERS.items())), "}", ""]
    lines += ["PREFIXES = {", *(f'    "{p}",' for p in sorted(prefixes)), "}", ""]
    lines += ["OPS = {", *(f'    "{n}": "{m.module}",' for n, m in sorted(MEANINGS.items())), "}", ""]
    path.write_text("\n".join(lines))


if __name__ == "__main__":
    from everflow import api

    api.write_index(pathlib.Path(__file__).with_name("index.py"))
