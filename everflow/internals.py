"""TensorFlow's internal modules, such as `tensorflow.python.ops.array_ops`, made on demand.

Programs import them although they are not public. What each holds is a fact of TensorFlow 1.15 (facts/internals.json,
written by tools/internals.py); behind nearly every name stands a public name or an op. The owners of the others publish
them with `@internal`.
"""

from __future__ import annotations

import functools
import importlib
import importlib.machinery
import json
import types
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

from everflow import api, looks, replacements

FOLDERS = ("python", "core", "contrib", "examples", "tools", "compiler", "tensorflow_estimator", "tensorflow_serving")


@functools.cache
def table() -> dict[str, dict[str, str]]:
    """{module: {name: what stands behind it}}, with the packages that hold these modules. See tools/internals.py."""
    known = json.loads((api.PACKAGE / "facts" / "internals.json").read_text())
    for path in [*known, *(_short(name) for name in proto_modules())]:
        while path := path.rpartition(".")[0]:
            known.setdefault(path, {})
    return known


@functools.cache
def proto_modules() -> frozenset[str]:
    from everflow.proto.modules import MODULES

    return frozenset(MODULES.values())


def _short(name: str) -> str:
    return name.removeprefix("tensorflow.")


def shown(path: str) -> str:
    """How a program spells a module: all but `tensorflow_estimator` and `tensorflow_serving` are below `tensorflow`."""
    return path if path.startswith(("tensorflow_estimator", "tensorflow_serving")) else "tensorflow." + path


_held_by: Callable[[types.ModuleType], dict[str, Any]] = vars(types.ModuleType)["__dict__"].__get__


class Names(MutableMapping[str, Any]):
    """What `module.__dict__` of a module is whose names are looked up when they are first used: all of them are there."""

    def __init__(self, module: types.ModuleType) -> None:
        self._module, self._held = module, _held_by(module)

    def __getitem__(self, name: str) -> Any:
        try:
            return self._held[name] if name in self._held else getattr(self._module, name)
        except AttributeError:
            raise KeyError(name) from None

    def __setitem__(self, name: str, value: Any) -> None:
        setattr(self._module, name, value)

    def __delitem__(self, name: str) -> None:
        if name not in self._held:
            raise KeyError(name)
        delattr(self._module, name)

    def __iter__(self) -> Iterator[str]:
        return iter([*self._held, *(name for name in dir(self._module) if name not in self._held and hasattr(self._module, name))])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def copy(self) -> dict[str, Any]:
        """What was looked up so far: who puts things back afterwards, as unittest.mock does, needs no more."""
        return dict(self._held)

    def clear(self) -> None:
        for name in [*self._held]:
            replacements.undo(self._module.__name__, name, self._held[name])
        self._held.clear()


class InternalModule(types.ModuleType):
    """A module of TensorFlow that is not public; looks its names up when they are first used."""

    __dict__ = property(Names)  # type: ignore[assignment]

    def __init__(self, path: str) -> None:
        super().__init__(shown(path))
        # An empty path lets `from module import name` ask the finder in everflow.alias, which knows the right error.
        self.__path__: list[str] = []
        self.__spec__ = importlib.machinery.ModuleSpec(self.__name__, None, is_package=True)
        self.__everflow__ = path

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return [n for n in dir(self) if not n.startswith("_") and hasattr(self, n)]
        value = attribute(self.__everflow__, name)
        _held_by(self)[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        held = _held_by(self)
        if "__everflow__" in held and not isinstance(value, types.ModuleType) and hasattr(self, name):
            replacements.follow(self.__name__, name, held[name], value)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        held = _held_by(self)
        if name in held:
            replacements.undo(self.__name__, name, held[name])
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        path = self.__everflow__
        return sorted({*_held_by(self), *table().get(path, ()), *api.members(path)})

    def __reduce__(self) -> tuple[Any, ...]:
        return module, (self.__everflow__,)


def module(path: str) -> types.ModuleType | None:
    """The module at a path below `tensorflow`: public, made from a .proto file, or internal; None if there is none."""
    if path.split(".")[0] != "python" and api.is_namespace(path):
        return api.namespace(path)
    if path.split(".")[0] not in FOLDERS:
        return None
    if api.has(path) and isinstance(found := api.find(path), types.ModuleType):
        return found
    if shown(path) in proto_modules():
        return importlib.import_module("everflow.proto." + shown(path))
    return _internal_module(path) if api.is_namespace(path) or path in table() else None


def home(name: str) -> types.ModuleType | None:
    """The module of this name, which TensorFlow is known to have; None if it is one of ours that has not been imported yet."""
    path = _short(name)
    if api.has(path) and isinstance(found := api.NAMES.get(path), types.ModuleType | None):
        return found
    return module(path) if api.is_namespace(path) else _internal_module(path)


@functools.cache
def _internal_module(path: str) -> InternalModule:
    return InternalModule(path)


def holds(path: str, name: str) -> bool:
    """Whether TensorFlow has this name among the modules that are not public."""
    if not path:
        return name in FOLDERS
    return path.split(".")[0] in FOLDERS and (name in table().get(path, ()) or f"{path}.{name}" in table())


def public_names_in(path: str) -> set[str]:
    """The names of a module of tf.contrib behind which public names stand, as tf.distributions.Normal in tf.contrib.distributions."""
    return {name for name, target in table().get(path, {}).items() if api.has(target)} if path.startswith("contrib.") else set()


def attribute(path: str, name: str) -> Any:
    """What `name` is in the module at `path`; AttributeError if Everflow does not have it."""
    full = f"{path}.{name}" if path else name
    if not name.startswith("__") or api.has(full):
        # Modules of tf.contrib stand beside `python`; what is published for them stands below it as all that is internal.
        for known in (full, api.INTERNAL + full, *_names_in_tensorflow(full)):
            if api.has(known):
                return api.find(known)
            # A module of ours that stands for one of TensorFlow's as it is.
            if (owner := known.rpartition(".")[0]) and api.has(owner) and hasattr(api.find(owner), name):
                return getattr(api.find(owner), name)
        public = looks.homes().get(shown(path), {}).get(name)
        if public and api.has(public):
            return api.find(public)
        target = table().get(path, {}).get(name)
        if target:
            return _behind(target, full)
        if target is not None and (twin := _twin(path)):
            return attribute(twin, name)
        if path.rpartition(".")[2].startswith("gen_") and api.has("raw_ops." + name):
            return api.find("raw_ops." + name)
        # Modules hold those beside them that they import: `tensorflow.python.ops.rnn.rnn_cell_impl`.
        beside = f"{path.rpartition('.')[0]}.{name}"
        found = module(full) or (module(beside) if beside != path else None)
        if found is not None:
            return found
    raise AttributeError(missing(full), name=name)


def _names_in_tensorflow(full: str) -> tuple[str, ...]:
    """Where what tensorflow_estimator defines is published: as the modules of TensorFlow that repeat it."""
    below = full.removeprefix("tensorflow_estimator.")
    return () if below == full else (below, api.INTERNAL + below)


def _twin(path: str) -> str | None:
    """The module of tf.contrib that one of tensorflow_estimator began as a copy of."""
    below = path.removeprefix("tensorflow_estimator.python.estimator.canned.timeseries.")
    return None if below == path else "contrib.timeseries.python.timeseries." + below


def missing(path: str) -> str:
    """The error for a name below an internal module."""
    holder, _, name = path.rpartition(".")
    if name.startswith("__"):
        return f"module '{shown(holder)}' has no attribute '{name}'"
    return f"Everflow does not have {shown(path)} yet"


def _behind(target: str, full: str) -> Any:
    kind, rest = target[0], target[1:]
    if kind == "@":
        found = module(rest)
    elif kind == ">":
        return attribute(*rest.rsplit(".", 1))
    elif kind == "%":
        from everflow.ops.core.registry import generated

        return generated(rest)
    else:
        name, _, parameters = target.lstrip("~").rstrip(")").partition("(")
        found = api.find(name) if api.has(name) else None
        if found is not None and parameters:
            return _with_parameters(found, parameters.split(","))
    if found is None:
        raise AttributeError(missing(full), name=full.rpartition(".")[2])
    return found


def _with_parameters(function: Callable[..., Any], names: list[str]) -> Callable[..., Any]:
    """The function, taking positional arguments in another order."""

    @functools.wraps(function)
    def reordered(*args: Any, **kwargs: Any) -> Any:
        return function(**dict(zip(names, args, strict=False)), **kwargs)

    del reordered.__wrapped__
    return reordered
