"""Which functions are converted, and how they are kept once they are."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import sys
import threading
import types
import weakref
from typing import Any

from everflow.autograph import branches, loops, reporting, state
from everflow.autograph.builtin_functions import STAND_INS, print_
from everflow.autograph.features import Feature
from everflow.autograph.rewriting import rewritten
from everflow.autograph.source import NoSource, definition, factory_code, function_of

# Code that is left as it is: ours, and libraries that know nothing of tensors of graphs.
_LEFT_ALONE = frozenset(
    (
        "everflow",
        "tensorflow",
        "numpy",
        "torch",
        "scipy",
        "pandas",
        "PIL",
        "matplotlib",
        "google",
        "grpc",
        "h5py",
        "absl",
        "six",
        "_pytest",
        "pytest",
        "pluggy",
        "wrapt",
        "psutil",
        "urllib3",
        "pkg_resources",
        "setuptools",
        "mock",
        "ipdb",
        "IPython",
        "tensorboard",
        "tensorflow_estimator",
        "tensorflow_probability",
        "tensorflow_datasets",
    )
) | (sys.stdlib_module_names - {"__main__"})
UNCONVERTED = "_everflow_not_converted"
_GENERATORS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE


class Operators:
    """What `ag__` is in converted code."""

    NOTHING = state.NOTHING
    attribute = staticmethod(state.attribute)
    item = staticmethod(state.item)
    if_ = staticmethod(branches.if_)
    choose = staticmethod(branches.choose)
    and_ = staticmethod(branches.and_)
    or_ = staticmethod(branches.or_)
    not_ = staticmethod(branches.not_)
    equal = staticmethod(branches.equal)
    not_equal = staticmethod(branches.not_equal)
    assert_ = staticmethod(branches.assert_)
    while_ = staticmethod(loops.while_)
    for_ = staticmethod(loops.for_)

    def __init__(self, features: frozenset[Feature], recursive: bool) -> None:
        self.features = features
        self.recursive = recursive

    @staticmethod
    def result(value: Any) -> Any:
        """What a function returns that may not have come to a `return`."""
        return None if value is state.NOTHING else value

    def converted(self, function: Any) -> Any:
        """What to call in the place of a function."""
        kind = type(function)
        if kind is types.BuiltinFunctionType or kind is type:
            if function is builtins.print and Feature.BUILTIN_FUNCTIONS in self.features:
                return print_
            return STAND_INS.get(function, function)
        return converted(function, self) if self.recursive else function


@functools.cache
def operators(features: frozenset[Feature] = frozenset(), recursive: bool = True) -> Operators:
    """The operators of code that is converted with some features."""
    return Operators(features, recursive)


def converted(function: Any, with_operators: Operators | None = None) -> Any:
    """A callable with its function converted; itself where there is nothing to convert or no way to do it."""
    ops = with_operators or operators()
    if getattr(function, UNCONVERTED, False) or isinstance(function, type):
        return function
    # By its true type: a proxy, such as a decorator of wrapt, calls itself a function but does more than the one it stands for.
    kind = type(function)
    if issubclass(kind, functools.partial):
        return functools.partial(converted(function.func, ops), *function.args, **function.keywords)
    if kind is types.MethodType:
        return types.MethodType(converted(function.__func__, ops), function.__self__) if callable(function.__func__) else function
    if kind is types.FunctionType:
        return _converted_or_as_is(function, ops)
    call = getattr(kind, "__call__", None)  # noqa: B004
    if isinstance(call, types.FunctionType) and is_convertible(call):
        return types.MethodType(_converted_or_as_is(call, ops), function)
    return function


def is_convertible(function: types.FunctionType) -> bool:
    """Whether a function is one of the user's, to be converted."""
    code = function.__code__
    if code.co_flags & _GENERATORS or "ag__" in code.co_freevars or getattr(function, UNCONVERTED, False):
        return False
    return (function.__module__ or "").partition(".")[0] not in _LEFT_ALONE


# By function: the functions made from it. Code is shared between functions that differ in their variables only.
_functions: weakref.WeakKeyDictionary[Any, dict[Operators, Any]] = weakref.WeakKeyDictionary()
_codes: dict[Any, Any] = {}
_lock = threading.RLock()


def _converted_or_as_is(function: types.FunctionType, ops: Operators) -> Any:
    if not is_convertible(function):
        return function
    found = _functions.get(function, {}).get(ops)
    if found is not None:
        return found
    try:
        return convert(function, ops)
    except (NoSource, SyntaxError) as error:
        reporting.warn_as_is(function, error)
        _functions.setdefault(function, {})[ops] = function
        return function


def convert(function: types.FunctionType, ops: Operators) -> types.FunctionType:
    """A converted function, which works on the variables of the function that it was made from."""
    with _lock:
        kept = _functions.setdefault(function, {})
        if ops not in kept:
            code, name = _converted_code(function, ops)
            kept[ops] = function_of(code, function, ops, name)
            kept[ops].__dict__.update(function.__dict__)
            kept[ops].__dict__.pop("__wrapped__", None)
        return kept[ops]


def _converted_code(function: types.FunctionType, ops: Operators) -> Any:
    code = function.__code__
    equality = Feature.EQUALITY_OPERATORS in ops.features
    key = code, code.co_filename, equality
    found = _codes.get(key)
    if found is None:
        name = code.co_name if code.co_name == "<lambda>" else f"tf__{code.co_name}"
        tree = rewritten_definition(function, ops)
        found = _codes[key] = factory_code(tree, code, "tf__lambda" if name == "<lambda>" else name), name
        reporting.log(1, "Converted call: %s", function)
    return found


def rewritten_definition(function: types.FunctionType, ops: Operators) -> ast.AST:
    """The syntax tree of a converted function."""
    return rewritten(definition(function), Feature.EQUALITY_OPERATORS in ops.features)
