"""The table of shims, the words in which the modules beside this one write it, and what puts the rows in place."""

from __future__ import annotations

import ctypes
import functools
import gc
import importlib
import sys
import types
from collections.abc import Callable
from typing import Any

from everflow.years import reporting
from everflow.years.reporting import note

Factory = Callable[[], Any]

# {what a program writes: the release that removed it}
TABLE: dict[str, str] = {}

OLD_PROTOC = "_pb2 modules that protoc wrote before 3.19"
TABLE[OLD_PROTOC] = "protobuf 4"

# Modules that say what a library lacks, read when it is imported. Python's own is read at once.
LIBRARIES = {
    "gast": "gast",
    "google._upb._message": "protobuf",
    "h5py": "h5py",
    "librosa": "librosa",
    "matplotlib": "matplotlib",
    "networkx": "networkx",
    "numpy": "numpy",
    "pandas": "pandas",
    "PIL": "pillow",
    "pytest": "pytest",
    "scipy": "scipy",
    "skimage": "skimage",
    "sklearn": "sklearn",
    "yaml": "yaml",
}

_names: dict[str, dict[str, Factory]] = {}
_patches: dict[str, list[Callable[[Any], None]]] = {}
_modules: dict[str, Factory] = {}
_rules: list[Callable[[str], Factory | None]] = []
_ruled: dict[str, str] = {}
_undoing: list[Callable[[], Any]] = []
_mended: set[str] = set()
NOT_OURS = object()


def names(module: str, gone: str, factories: dict[str, Factory] | None = None, **more: Factory) -> None:
    """Names that a module has again. What each stands for is asked when a program first uses it; names that are there stay."""
    factories = {**(factories or {}), **more}
    TABLE.update({f"{module}.{name}": gone for name in factories})
    _names.setdefault(module, {}).update(factories)


def modules(gone: str, factories: dict[str, Factory]) -> None:
    """Modules that can be imported again, where nothing else is found under their names."""
    TABLE.update(dict.fromkeys(factories, gone))
    _modules.update(factories)


def module_rule(gone: str, title: str) -> Callable[[Any], Any]:
    """A function from the name of a module that nobody finds to what gives it, or None."""
    TABLE[title] = gone

    def add(rule: Callable[[str], Factory | None]) -> Any:
        def known(name: str) -> Factory | None:
            give = rule(name)
            if give is not None:
                _ruled[name] = gone
            return give

        _rules.append(known)
        return rule

    return add


def own(name: str) -> Factory:
    """The module of ours that stands for one that is gone."""
    return functools.partial(importlib.import_module, f"everflow.years.modules.{name}")


def patch(module: str) -> Callable[[Any], Any]:
    """A function that is called with the module, to change it by `put`."""

    def add(function: Callable[[Any], None]) -> Any:
        _patches.setdefault(module, []).append(function)
        return function

    return add


def methods(module: str, kind: str, gone: str, replace: bool = False, **functions: Any) -> None:
    """Methods and properties that a class has again; `replace` is for those that are there and only raise an error."""
    for name, function in functions.items():
        TABLE[f"{module}.{kind}.{name}"] = gone

        @patch(module)
        def add(found: Any, name: str = name, function: Any = function) -> None:
            cls = _at(found, kind)
            if replace or not hasattr(cls, name):
                put(cls, name, _noting(f"{module}.{kind}.{name}", function))


def otherwise(module: str, path: str, gone: str, title: str, errors: Any = (TypeError,)) -> Callable[[Any], Any]:
    """What a function does where today's raises: the decorated one is called with the error, today's function and the arguments.

    It returns NOT_OURS where the error is right.
    """
    TABLE[title] = gone

    def add(instead: Any) -> Any:
        @patch(module)
        def change(found: Any) -> None:
            holder, name = (_at(found, path.rpartition(".")[0]), path.rpartition(".")[2]) if "." in path else (found, path)
            real = getattr(holder, name, None)
            if real is not None:
                put(holder, name, _trying(real, instead, errors, title))

        return instead

    return add


def _trying(real: Any, instead: Any, errors: Any, title: str) -> Any:
    @functools.wraps(real)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return real(*args, **kwargs)
        except errors as error:
            done = instead(error, real, *args, **kwargs)
            if done is NOT_OURS:
                raise
            note(title)
            return done

    return call


def _noting(title: str, function: Any) -> Any:
    if isinstance(function, property):
        return property(_noting(title, function.fget), doc=function.__doc__)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        note(title)
        return function(*args, **kwargs)

    call.__name__ = title.rpartition(".")[2]
    return call


def _at(module: Any, path: str) -> Any:
    return functools.reduce(getattr, path.split("."), module)


def concern(module: str) -> bool:
    return module in LIBRARIES or module in _names or module in _patches


def imported(name: str) -> None:
    """Mends a module that has just been imported, and, where it is a library, its modules that came along."""
    names = [name]
    if name in LIBRARIES:
        importlib.import_module(f"everflow.years.{LIBRARIES[name]}")
        names += [part for part in {*_names, *_patches} if part.startswith(f"{name}.") and part in sys.modules]
    for part in names:
        # A copy that a program loads for itself is in nobody's way.
        if part in sys.modules:
            mend(part, sys.modules[part])


def mend_all() -> None:
    """Mends what has been imported already."""
    for name in [name for name in LIBRARIES if name in sys.modules]:
        imported(name)
    for name in [name for name in {*_names, *_patches} if name in sys.modules]:
        imported(name)


def gone_since(shim: str) -> str:
    return TABLE.get(shim) or _ruled[shim]


def former_module(name: str) -> Factory | None:
    if name in _modules:
        return _modules[name]
    return next(filter(None, (rule(name) for rule in _rules)), None)


def mend(name: str, module: Any) -> None:
    """Puts the shims of a module in place, once."""
    if name in _mended:
        return
    _mended.add(name)
    if name in _names:
        put(module, "__getattr__", _finding(name, module, _names[name]))
    for change in _patches.get(name, ()):
        change(module)


def _finding(name: str, module: types.ModuleType, factories: dict[str, Factory]) -> Any:
    former = module.__dict__.get("__getattr__")

    def __getattr__(attribute: str) -> Any:
        if attribute in factories:
            note(f"{name}.{attribute}")
            value = factories[attribute]()
            if not reporting.wanted:
                put(module, attribute, value)
            return value
        if former is not None:
            return former(attribute)
        raise AttributeError(f"module {name!r} has no attribute {attribute!r}", name=attribute, obj=module)

    return __getattr__


def put(holder: Any, name: str, value: Any) -> None:
    """Sets an attribute of a module or of a class, also of one that Python's own `setattr` refuses; undo() takes it back."""
    space = vars(holder)
    before = space.get(name, NOT_OURS)
    _set(holder, name, value)
    undoing(functools.partial(_set, holder, name, before))


def _set(holder: Any, name: str, value: Any) -> None:
    try:
        if value is NOT_OURS:
            delattr(holder, name)
        else:
            setattr(holder, name, value)
    except TypeError:
        (own_names,) = gc.get_referents(holder.__dict__)
        if value is NOT_OURS:
            del own_names[name]
        else:
            own_names[name] = value
        # Python remembers what it found in classes before.
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(holder))


def undoing(action: Callable[[], Any]) -> None:
    """Has undo() call it."""
    _undoing.append(action)


def undo() -> None:
    while _undoing:
        _undoing.pop()()
    _mended.clear()
