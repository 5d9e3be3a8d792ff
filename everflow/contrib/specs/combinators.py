"""What networks are put together from: functions of a tensor, some of whose arguments are known."""

from __future__ import annotations

import functools
import importlib
import operator
import re
import sys
from typing import Any

from everflow.api import internal, public

SPECS = "contrib.specs."

# Programs read and set `debug_`: this module stands for TensorFlow's as a whole.
internal(SPECS + "python.specs_lib")(sys.modules[__name__])

QUOTED = public(SPECS + "QUOTED")(re.compile(r""" "([^"\\]|\\.)*" | '([^'\\]|\\.)*' """, re.VERBOSE))
KEYWORDS = public(SPECS + "KEYWORDS")(re.compile(r"\b(import|while|def|exec)\b"))
# Whether each function says with what it is called.
debug_ = public(SPECS + "debug_")(False)
exec_ = public(SPECS + "exec_")(exec)


@public(SPECS + "debug")
def debug(mode: bool = True) -> None:
    """Has each function print what it is called with."""
    global debug_
    debug_ = mode


@public(SPECS + "check_keywords")
def check_keywords(spec: str) -> None:
    """ValueError where a text does more than name networks; quoted words are free."""
    if found := KEYWORDS.search(QUOTED.sub("", spec)):
        raise ValueError(f"keyword '{found[0]}' found in spec")


@public(SPECS + "get_positional")
def get_positional(args: Any, kw: dict[str, Any], kw_overrides: bool = False) -> tuple[list[Any], dict[str, Any]]:
    """The arguments, with those that are named by their places (`_0`, `_1`) where they belong; these fill what is free, or replace it."""
    found, rest = list(args), {}
    for key, value in kw.items():
        if not re.fullmatch(r"_\d+", key):
            rest[key] = value
            continue
        place = int(key[1:])
        found += [None] * (place + 1 - len(found))
        if kw_overrides or found[place] is None:
            found[place] = value
    return found, rest


@public(SPECS + "Composable")
class Composable:
    """A network: `f | g` gives g what f makes, `f + g` and `f * g` join what both make of the same, `f ** n` is f n times in a row."""

    def __or__(self, f: Any) -> Composition:
        return Composition(self, f)

    def __add__(self, g: Any) -> Operator:
        return Operator(operator.add, self, g)

    def __mul__(self, g: Any) -> Operator:
        return Operator(operator.mul, self, g)

    def __pow__(self, n: int) -> Composable:
        return functools.reduce(operator.or_, [self] * n) if n else Function(lambda x: x)

    def funcall(self, x: Any) -> Any:
        """What the network makes of a tensor."""
        raise NotImplementedError(f"{type(self).__name__} must say what it makes of a tensor")


@public(SPECS + "Callable")
class Callable(Composable):
    """A plain function of a tensor."""

    def __init__(self, f: Any) -> None:
        self.f = f

    def funcall(self, x: Any) -> Any:
        return self.f(x)


@public(SPECS + "Operator")
class Operator(Composable):
    """What an operator makes of the results of several networks."""

    def __init__(self, op: Any, *args: Any) -> None:
        self.op = op
        self.funs = args

    def funcall(self, x: Any) -> Any:
        return self.op(*[f.funcall(x) for f in self.funs])


@public(SPECS + "Fun", SPECS + "Function")
class Function(Composable):
    """A function some of whose arguments after the tensor are known. Calling it adds others, which stand before those."""

    def __init__(self, f: Any, *args: Any, **kw: Any) -> None:
        if not callable(f):
            raise ValueError(f"{f}: is not callable")
        self.f = f
        self.args = list(args)
        self.kw = kw

    def __call__(self, *args: Any, **kw: Any) -> Function:
        return Function(self.f, *args, *self.args, **{**self.kw, **kw})

    def funcall(self, x: Any) -> Any:
        args, kw = get_positional(self.args, self.kw)
        if debug_:
            print("DEBUG:", self.f, x, args, kw)
        return self.f(x, *args, **kw)


@public(SPECS + "Composition")
class Composition(Composable):
    """Two networks, one after the other."""

    def __init__(self, f: Any, g: Any) -> None:
        self.f = f
        self.g = g

    def funcall(self, x: Any) -> Any:
        return self.g.funcall(self.f.funcall(x))


@public(SPECS + "External")
def External(module_name: str, function_name: str) -> Function:
    """A function of a module."""
    return Function(getattr(importlib.import_module(module_name), function_name))


@public(SPECS + "Import")
def Import(statements: str) -> Function:
    """What statements call `f`, such as "import tensorflow as tf; f = tf.nn.relu"."""
    found: dict[str, Any] = {}
    exec(statements, found)
    if "f" not in found:
        raise ValueError(f'failed to define "f": {statements}')
    return Function(found["f"])
