"""How public functions and classes look to other libraries: as TensorFlow's do.

They show no annotations (libraries compare argument specifications), and in a process where `import tensorflow` finds
Everflow (everflow.alias) they bear the names that they have in TensorFlow: `<class 'tensorflow.python.framework.ops.Tensor'>`.
"""

from __future__ import annotations

import functools
import inspect
import json
import pathlib
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

# The module and the name that a thing was defined with, of those that bear TensorFlow's.
_own: dict[Any, tuple[str, str]] = {}
_without_annotations: set[type] = set()
# Makes the modules of TensorFlow that things say they are from; None where things keep their own names.
_home: Callable[[str], Any] | None = None
_getfile = inspect.getfile


@functools.cache
def homes() -> dict[str, dict[str, str]]:
    """{module of TensorFlow: {name there: public name}} of what TensorFlow publishes."""
    return json.loads((pathlib.Path(__file__).parent / "facts" / "homes.json").read_text())


@functools.cache
def _home_of() -> dict[str, tuple[str, str]]:
    """{public name: its module in TensorFlow and its name there}."""
    return {public: (module, name) for module, names in homes().items() for name, public in names.items()}


def present(thing: Any, names: Iterable[str]) -> None:
    """Makes a thing with these public names look as TensorFlow's does."""
    if not isinstance(thing, (type, types.FunctionType)) or not (own_module(thing) or "").startswith("everflow."):
        return
    for function in _functions(thing):
        function.__annotations__ = {}
        if signature := getattr(function, "__signature__", None):
            bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
            function.__signature__ = inspect.Signature(bare)  # type: ignore[attr-defined]
    if _home is not None:
        _rename(thing, names, _home)


def seen_as_taking(*names: str) -> Callable[[Callable[..., Any]], Any]:
    """Shows a function with other parameters to `inspect`: with those that TensorFlow's have, whose decorators hide their own."""
    kinds = {0: inspect.Parameter.POSITIONAL_OR_KEYWORD, 1: inspect.Parameter.VAR_POSITIONAL, 2: inspect.Parameter.VAR_KEYWORD}

    def show(function: Any) -> Any:
        shown = [inspect.Parameter(name.lstrip("*"), kinds[name.count("*")]) for name in names]
        function.__signature__ = inspect.Signature(shown)
        return function

    return show


def _functions(thing: Any) -> Iterator[types.FunctionType]:
    """The functions that a function or class is made of, below their decorators."""
    if isinstance(thing, type):
        for cls in thing.__mro__:
            if cls not in _without_annotations and cls.__module__.startswith("everflow."):
                _without_annotations.add(cls)
                for member in vars(cls).values():
                    if not isinstance(member, type):
                        yield from _functions(member)
    elif isinstance(thing, property):
        for member in (thing.fget, thing.fset, thing.fdel):
            yield from _functions(member)
    elif isinstance(thing, types.FunctionType):
        yield thing
        yield from _functions(getattr(thing, "__wrapped__", None))
    elif isinstance(thing, (classmethod, staticmethod)):
        yield from _functions(thing.__func__)


def _rename(thing: Any, names: Iterable[str], make_module: Callable[[str], Any]) -> None:
    if thing.__qualname__ in homes().get(thing.__module__, ()):
        return
    home = next((_home_of()[name] for name in names if name in _home_of()), None)
    if home is None and thing not in _own:
        home = next(map(_internal_home, names), None)
    if home is not None:
        _own.setdefault(thing, (thing.__module__, thing.__qualname__))
        _set_name(thing, *home)
        if home[0] not in sys.modules and (module := make_module(home[0])):
            sys.modules[home[0]] = module


def _internal_home(name: str) -> tuple[str, str] | None:
    """Where TensorFlow has what is published as internal: its name says so."""
    if not name.startswith("python."):
        return None
    module, _, last = name.rpartition(".")
    inner = module.removeprefix("python.")
    if inner.startswith("tensorflow_estimator."):
        return inner, last
    if (inner + ".").startswith(("estimator.", "contrib.estimator.")):
        return "tensorflow_estimator." + (inner if inner.startswith("contrib.") else module), last
    return "tensorflow." + (inner if inner.startswith("contrib.") else module), last


def _set_name(thing: Any, module: str, name: str) -> None:
    # From 3.13 on, a class that gets another module forgets the line on which it is defined.
    line = vars(thing).get("__firstlineno__")
    thing.__module__, thing.__name__, thing.__qualname__ = module, name.rpartition(".")[2], name
    if line is not None:
        thing.__firstlineno__ = line


def own_module(thing: Any) -> str:
    """The module that defines a function or class, whatever it is called now."""
    return _own[thing][0] if thing in _own else thing.__module__


def as_tensorflow(published: dict[str, Any], home: Callable[[str], Any]) -> None:
    """Gives what is published, and all that will be, TensorFlow's names; `home` makes the modules that they are from."""
    global _home
    _home = home
    inspect.getfile = getfile
    for name, thing in [*published.items()]:
        present(thing, (name,))


def as_everflow() -> None:
    """Gives everything its own name back."""
    global _home
    _home = None
    inspect.getfile = _getfile
    for thing, (module, name) in _own.items():
        _set_name(thing, module, name)
    _own.clear()


def getfile(object: Any) -> str:
    """`inspect.getfile`, which looks for a class in the file of the module that it names: here those of many files name one."""
    if isinstance(object, type) and object in _own:
        return _getfile(sys.modules[_own[object][0]])
    return _getfile(object)
