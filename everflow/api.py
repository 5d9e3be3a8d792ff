"""The index of public names: `@public("log", "math.log")` next to each definition.

A name is written as a user reads it after `tf.`. `@internal("framework.ops.name_scope")` does the same for a name below
`tensorflow.python`. The generated `everflow/index.py` says which module defines which name, so that `tf.x` imports only
what it needs; `python -m everflow.api` writes it again.
"""

from __future__ import annotations

import functools
import importlib
import importlib.machinery
import json
import os
import pathlib
import sys
import traceback
import types
from collections.abc import Callable
from typing import Any, TypeVar

from everflow.looks import present

T = TypeVar("T")

PACKAGE = pathlib.Path(__file__).parent
INTERNAL = "python."
V2 = "compat.v2."
# What `tf` and its versions also call what they say of themselves.
VERSIONS = {
    "__version__": "VERSION",
    "__git_version__": "GIT_VERSION",
    "__compiler_version__": "COMPILER_VERSION",
    "__cxx11_abi_flag__": "CXX11_ABI_FLAG",
    "__monolithic_build__": "MONOLITHIC_BUILD",
}
NAMES: dict[str, Any] = {}
OWNERS: dict[str, str] = {}
PREFIXES: set[str] = {"compat", "compat.v1", "compat.v2.compat.v1"}
CONFLICTS: list[str] = []


def public(*names: str, owner: str | None = None, ragged: str = "") -> Callable[[T], T]:
    """Publishes an object (function, class or value) under names of the `tf` namespace.

    `ragged` says what a function does with ragged tensors, if anything: "elements", what it does with plain ones to each element;
    "pairs", the same with two that broadcast; or which function of everflow.ragged does it, such as "arrays.concat".
    """
    module = owner or sys._getframe(1).f_globals["__name__"]

    def register(thing: T) -> T:
        if ragged:
            from everflow.platform.ragged_dispatch import with_ragged

            thing = with_ragged(ragged, thing)
        present(thing, names)
        for name in names:
            if OWNERS.setdefault(name, module) != module:
                CONFLICTS.append(f"{name} is published by both {OWNERS[name]} and {module}")
                continue
            NAMES[name] = thing
            prefix = name.rpartition(".")[0]
            while prefix and prefix not in PREFIXES:
                PREFIXES.add(prefix)
                prefix = prefix.rpartition(".")[0]
        return thing

    return register


def internal(*names: str) -> Callable[[T], T]:
    """Publishes an object under names below `tensorflow.python`, for programs that import TensorFlow's internals."""
    return public(*(INTERNAL + name for name in names), owner=sys._getframe(1).f_globals["__name__"])


@functools.cache
def index() -> Any:
    """The generated index; an empty one in a source tree where it has not been written yet."""
    try:
        return importlib.import_module("everflow.index")
    except ModuleNotFoundError as error:
        if error.name != "everflow.index":
            raise
    return types.SimpleNamespace(MODULES={}, PREFIXES=set(), OPS={}, FUSED={}, GRADIENTS={})


def has(name: str) -> bool:
    """Whether Everflow defines this public name."""
    return name in NAMES or name in index().MODULES


def find(name: str) -> Any:
    """The object with this public name; KeyError if Everflow does not have it."""
    if name not in NAMES:
        importlib.import_module(index().MODULES[name])
    return NAMES[name]


def is_namespace(path: str) -> bool:
    """Whether public names start with this dotted prefix."""
    if any(p in PREFIXES or p in index().PREFIXES for p in (path, _without_version(path))):
        return True
    return path.startswith(V2) and any(name.startswith(path[len(V2) :] + ".") for name in _names_of_version_2())


def members(path: str) -> set[str]:
    """The names directly below a prefix."""
    start = _without_version(path)
    start = start + "." if start else ""
    every = {*NAMES, *index().MODULES, *PREFIXES, *index().PREFIXES}
    if (path + ".").startswith(V2):
        every.update(name for name in (V2 + n for n in _names_of_version_2()) if name.startswith(start) and has(_as_of_version_1(name)))
    return {
        name[len(start) :].partition(".")[0]
        for name in every
        if name.startswith(start) and (start or name.partition(".")[0] not in ("python", "examples", "tools"))
    }


@functools.cache
def objects(path: str) -> dict[str, Any]:
    """All objects directly below a prefix, by name: one table for everyone, to be read only."""
    return {name: find(f"{path}.{name}") for name in sorted(members(path)) if has(f"{path}.{name}")}


def member(path: str, name: str) -> Any:
    """What `tf.<path>.<name>` is: an object or a module."""
    full = f"{path}.{name}" if path else name
    if not name.startswith("__") or name == "__version__":
        for candidate in (full, _without_version(full), _as_of_version_1(full)):
            if has(candidate):
                return find(candidate)
        if is_namespace(full) and full.partition(".")[0] != "python":
            return namespace(full)
        from everflow.internals import attribute, holds

        if holds(path, name):
            return attribute(path, name)
    shown = f"tensorflow.{path}" if path else "tensorflow"
    raise AttributeError(f"module '{shown}' has no attribute '{name}'{not_yet(full)}", name=name)


def not_yet(name: str) -> str:
    """What to add to an error about a name that TensorFlow has and Everflow lacks."""
    name = _without_version(name)
    if name.rpartition(".")[2].startswith("__") or not any(n == name or n.startswith(name + ".") for n in wanted()):
        return ""
    if name.startswith("lite."):
        return " (Everflow does not convert to TensorFlow Lite: save the model, and have a TensorFlow convert the SavedModel)"
    return f" (Everflow does not have tf.{name} yet)"


@functools.cache
def wanted() -> list[str]:
    """Every public name of TensorFlow 1.15."""
    return json.loads((PACKAGE / "facts" / "names.json").read_text())


class Namespace(types.ModuleType):
    """A public module such as `tf.nn`: looks its names up in the index when they are first used."""

    def __init__(self, path: str) -> None:
        super().__init__("tensorflow." + path if path else "tensorflow")
        self.__path__: list[str] = [] if path else [str(PACKAGE / "tensorflow")]
        self.__spec__ = importlib.machinery.ModuleSpec(self.__name__, None, is_package=True)
        self.__everflow__ = path
        if not path:
            self.__file__ = self.__spec__.origin = str(PACKAGE / "children" / "tensorflow" / "__init__.py")
            self.__spec__.has_location = True

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return sorted(members(self.__everflow__))
        if name in VERSIONS and self.__everflow__ in ("", "compat.v1", "compat.v2"):
            return member("", VERSIONS[name])
        value = member(self.__everflow__, name)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        # Importing a module binds its name in its package, but not where a function of the package has that name (arg_scope).
        if not isinstance(value, types.ModuleType) or not has(f"{self.__everflow__}.{name}"):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        from everflow.internals import public_names_in

        return sorted({*super().__dir__(), *members(self.__everflow__), *public_names_in(self.__everflow__)})

    def __reduce__(self) -> tuple[Any, ...]:
        return namespace, (self.__everflow__,)


@functools.cache
def namespace(path: str) -> Namespace:
    """The module that stands for a dotted prefix of public names."""
    return Namespace(path)


def _without_version(name: str) -> str:
    """`tf.compat.v1.x` is `tf.x`, and so is `tf.compat.v2.compat.v1.x`."""
    name = name.removeprefix(V2) if (name + ".").startswith("compat.v2.compat.v1.") else name
    return name[len("compat.v1.") :] if name.startswith("compat.v1.") else "" if name == "compat.v1" else name


@functools.cache
def _names_of_version_2() -> dict[str, str]:
    """{name below tf.compat.v2: the name that the same thing has elsewhere; "" where that is the same name}."""
    return json.loads((PACKAGE / "facts" / "v2_names.json").read_text())


def _as_of_version_1(name: str) -> str:
    """Where `tf.compat.v2.x` is, where it is no form of its own."""
    if not name.startswith(V2):
        return name
    short = name[len(V2) :]
    found = _names_of_version_2().get(short)
    return name if found is None else found or short


def index_text() -> tuple[str, list[str]]:
    """The text of everflow/index.py, and what is wrong: modules that fail to import, names with two owners.

    A module that fails to import keeps the names that the index on disk gives it.
    """
    problems = []
    owners, ops, fused = {}, {}, {}
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(("everflow", *parts)).removesuffix(".__init__")
        # These publish nothing, and some need packages that not every installation has.
        if parts[0] in ("proto", "index", "demo", "as_tensorflow", "tensorflow", "years", "serving") or parts[-1] == "__main__":
            continue
        try:
            importlib.import_module(name)
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            reason = f"{type(error).__name__}: {error} ({where.filename}:{where.lineno})"
            problems.append(f"{name} can't be imported: {reason}")
            owners.update({n: m for n, m in index().MODULES.items() if m == name})
            ops.update({o: m for o, m in index().OPS.items() if m == name})
            fused.update({o: m for o, m in index().FUSED.items() if m == name})
    from everflow.ops.core.registry import MEANINGS

    owners.update(OWNERS)
    for name, meaning in MEANINGS.items():
        (fused if meaning.fused else ops)[name] = meaning.module
    gradients = {name: meaning.gradient_module for name, meaning in MEANINGS.items() if meaning.gradient_module != meaning.module}
    prefixes = set(PREFIXES)
    for name in owners:
        parts = name.split(".")[:-1]
        prefixes.update(".".join(parts[: i + 1]) for i in range(len(parts)))
    lines = ['"""Which module defines which public name and which op. Written by `python -m everflow.api`."""', ""]
    lines += ["MODULES = {", *(f'    "{n}": "{m}",' for n, m in sorted(owners.items())), "}", ""]
    lines += ["PREFIXES = {", *(f'    "{p}",' for p in sorted(prefixes)), "}", ""]
    lines += ["OPS = {", *(f'    "{n}": "{m}",' for n, m in sorted(ops.items())), "}", ""]
    lines += ["# What passes make of several ops.", "FUSED = {", *(f'    "{n}": "{m}",' for n, m in sorted(fused.items())), "}", ""]
    lines += ["# Where the gradient of an op is, if not beside the op.", "GRADIENTS = {"]
    lines += [*(f'    "{n}": "{m}",' for n, m in sorted(gradients.items())), "}", ""]
    return "\n".join(lines), problems + CONFLICTS


def write_index(path: pathlib.Path = PACKAGE / "index.py") -> list[str]:
    """Writes everflow/index.py and what type checkers read; returns what is wrong, a sentence each."""
    text, problems = index_text()
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.write_text(text)
    fresh.replace(path)
    if path == PACKAGE / "index.py" and not problems:
        index.cache_clear()
        importlib.reload(importlib.import_module("everflow.index"))
        importlib.import_module("everflow.stubs").write()
    return problems


if __name__ == "__main__":
    # This file runs as __main__; the names are published in everflow.api.
    from everflow.api import write_index

    sys.exit("\n".join(write_index()) or 0)
