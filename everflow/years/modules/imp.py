"""`imp`: loading modules by the names of their files."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import os
import sys
import types
from importlib import reload as reload
from typing import Any

SEARCH_ERROR, PY_SOURCE, PY_COMPILED, C_EXTENSION, PY_RESOURCE, PKG_DIRECTORY, C_BUILTIN, PY_FROZEN = range(8)
new_module = types.ModuleType
cache_from_source = importlib.util.cache_from_source
source_from_cache = importlib.util.source_from_cache


def get_magic() -> bytes:
    return importlib.util.MAGIC_NUMBER


def get_suffixes() -> list[tuple[str, str, int]]:
    kinds = (
        (importlib.machinery.EXTENSION_SUFFIXES, "rb", C_EXTENSION),
        (importlib.machinery.SOURCE_SUFFIXES, "r", PY_SOURCE),
        (importlib.machinery.BYTECODE_SUFFIXES, "rb", PY_COMPILED),
    )
    return [(suffix, mode, kind) for suffixes, mode, kind in kinds for suffix in suffixes]


def _load(name: str, spec: Any) -> types.ModuleType:
    if spec is None or spec.loader is None:
        raise ImportError(f"No module named {name!r}", name=name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return sys.modules[name]


def load_source(name: str, pathname: str, file: Any = None) -> types.ModuleType:
    loader = importlib.machinery.SourceFileLoader(name, os.fspath(pathname))
    return _load(name, importlib.util.spec_from_file_location(name, pathname, loader=loader))


def load_compiled(name: str, pathname: str, file: Any = None) -> types.ModuleType:
    loader = importlib.machinery.SourcelessFileLoader(name, os.fspath(pathname))
    return _load(name, importlib.util.spec_from_file_location(name, pathname, loader=loader))


def load_dynamic(name: str, path: str, file: Any = None) -> types.ModuleType:
    loader = importlib.machinery.ExtensionFileLoader(name, os.fspath(path))
    return _load(name, importlib.util.spec_from_file_location(name, path, loader=loader))


def load_package(name: str, path: str) -> types.ModuleType:
    return _load(name, importlib.util.spec_from_file_location(name, os.path.join(path, "__init__.py"), submodule_search_locations=[path]))


def find_module(name: str, path: Any = None) -> tuple[Any, str | None, tuple[str, str, int]]:
    """(open file, its path, (suffix, mode, kind)) of a module, for load_module."""
    if path is None and name in sys.builtin_module_names:
        return None, None, ("", "", C_BUILTIN)
    spec = importlib.machinery.PathFinder.find_spec(name, path)
    if spec is None:
        raise ImportError(f"No module named {name!r}", name=name)
    if spec.submodule_search_locations is not None:
        return None, list(spec.submodule_search_locations)[0], ("", "", PKG_DIRECTORY)
    for suffix, mode, kind in get_suffixes():
        if spec.origin and spec.origin.endswith(suffix):
            return open(spec.origin, mode), spec.origin, (suffix, mode, kind)
    raise ImportError(f"No module named {name!r}", name=name)


def load_module(name: str, file: Any, filename: str, details: tuple[str, str, int]) -> types.ModuleType:
    kind = details[2]
    if kind == C_BUILTIN:
        return importlib.import_module(name)
    loaders: dict[int, Any] = {PY_SOURCE: load_source, PY_COMPILED: load_compiled, C_EXTENSION: load_dynamic, PKG_DIRECTORY: load_package}
    if kind not in loaders:
        raise ImportError(f"Don't know how to import {name} (type code {kind})", name=name)
    return loaders[kind](name, filename)


def lock_held() -> bool:
    return False


def acquire_lock() -> None:
    """Imports lock their modules themselves."""


release_lock = acquire_lock
