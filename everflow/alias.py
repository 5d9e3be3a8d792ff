"""Lets `import tensorflow` find Everflow, and all that is below it: public modules, internal ones, protocol buffers."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import pathlib
import sys
import types
from collections.abc import Iterable, Sequence
from typing import Any

from everflow import api, internals, looks

# What Python processes that a program starts have first in PYTHONPATH.
CHILDREN = pathlib.Path(__file__).parent / "children"
ROOTS = ("tensorflow", "tensorflow_core", "tensorflow_estimator", "tensorflow_serving")


class Finder(importlib.abc.MetaPathFinder):
    """Answers imports below `tensorflow`. What it does not know is an error, even where a TensorFlow is installed."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname == "multiprocessing.spawn":
            return self._taught(fullname, path)
        if fullname.partition(".")[0] not in ROOTS:
            return None
        module = locate(fullname)
        if module is None:
            if found := self._found_by_others(fullname, path, target):
                return found
            reason = _reason(fullname)
            # Without name=, `from tensorflow.x import y` shows this sentence rather than "cannot import name".
            raise ModuleNotFoundError(f"No module named '{fullname}'{reason}", name=None if reason else fullname)
        return importlib.machinery.ModuleSpec(fullname, Loader(module), is_package=True)

    def find_distributions(self, context: Any) -> Iterable[Any]:
        """What importlib.metadata says of TensorFlow: programs ask for its version."""
        from everflow.dist_info import VERSIONS, Distribution

        wanted = context.name and context.name.lower().replace("_", "-")
        return [Distribution(name) for name in VERSIONS if wanted in (None, name)]

    def _found_by_others(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None
    ) -> importlib.machinery.ModuleSpec | None:
        """A program may add modules below `tensorflow` by a finder of its own; an installed TensorFlow is not looked at."""
        if path is None:
            return None
        later = [finder for finder in sys.meta_path[sys.meta_path.index(self) + 1 :] if finder is not importlib.machinery.PathFinder]
        return next(filter(None, (finder.find_spec(fullname, path, target) for finder in later)), None)

    def _taught(self, fullname: str, path: Sequence[str] | None) -> importlib.machinery.ModuleSpec | None:
        """The standard module, which afterwards tells new processes about this alias."""
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        loader: Any = spec and spec.loader
        execute = loader.exec_module

        def exec_module(module: types.ModuleType) -> None:
            execute(module)
            teach_children(module)

        loader.exec_module = exec_module
        return spec


class Loader(importlib.abc.Loader):
    """Gives an import the module that already stands for the name."""

    def __init__(self, module: types.ModuleType) -> None:
        self.module = module

    def exec_module(self, module: types.ModuleType) -> None:
        # A module may replace itself in sys.modules; so the real one keeps its own __spec__ and __name__.
        sys.modules[module.__name__] = self.module


def locate(fullname: str) -> types.ModuleType | None:
    """The module that a name starting with `tensorflow` stands for."""
    root, _, rest = fullname.partition(".")
    if root in ("tensorflow", "tensorflow_core"):
        return internals.module(rest) if rest else api.namespace("")
    return internals.module(fullname)


def _reason(fullname: str) -> str:
    path = fullname.partition(".")[2]
    return api.not_yet(path) or (f" ({internals.missing(path)})" if path.split(".")[0] in internals.FOLDERS else "")


class Installation:
    """Arrives in a new process as an import of everflow.as_tensorflow."""

    def __reduce__(self) -> tuple[Any, ...]:
        return importlib.import_module, ("everflow.as_tensorflow",)


def teach_children(spawn: Any) -> None:
    """Lets processes that multiprocessing starts afresh (rather than forks) find Everflow too."""
    prepare = spawn.get_preparation_data
    spawn.get_preparation_data = lambda name: {**prepare(name), "tensorflow": Installation()} if installed() else prepare(name)


def tell_processes() -> None:
    """Lets Python processes that this one starts, by whatever means, find Everflow too."""
    before = os.environ.get("PYTHONPATH", "")
    if str(CHILDREN) not in before.split(os.pathsep):
        os.environ["PYTHONPATH"] = f"{CHILDREN}{os.pathsep}{before}" if before else str(CHILDREN)


def installed() -> bool:
    """Whether `import tensorflow` finds Everflow in this process."""
    return any(isinstance(finder, Finder) for finder in sys.meta_path)


def install() -> None:
    """Makes `import tensorflow` find Everflow in this process and in those that multiprocessing starts from it."""
    if installed():
        return
    known = [root for root in ROOTS if root in sys.modules]
    _forget()
    sys.meta_path.insert(0, Finder())
    for root in ("tensorflow", *known):
        sys.modules[root] = importlib.import_module(root)
    looks.as_tensorflow(api.NAMES, internals.home)
    if "multiprocessing.spawn" in sys.modules:
        teach_children(sys.modules["multiprocessing.spawn"])


def remove() -> None:
    """Undoes install(); `import tensorflow` finds again what Python finds."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, Finder)]
    looks.as_everflow()
    _forget()


def _forget() -> None:
    for name in [n for n in sys.modules if n.partition(".")[0] in ROOTS]:
        del sys.modules[name]
