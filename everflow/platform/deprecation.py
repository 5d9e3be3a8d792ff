"""Decorators that warn, once for each function, about what will go away (`tensorflow.python.util.deprecation`)."""

from __future__ import annotations

import collections
import contextlib
import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

from everflow.api import internal, public
from everflow.platform import decorators, docstrings, logging, signatures

internal("util.deprecation")(sys.modules[__name__])

_warned: set[Any] = set()
_silent = 0

DeprecatedArgSpec = collections.namedtuple("DeprecatedArgSpec", ["position", "has_ok_value", "ok_value"])


class DeprecatedNamesAlreadySet(Exception):
    """A symbol may be given its deprecated names only once."""


def _validate_deprecation_args(date: str | None, instructions: str) -> None:
    if date is not None and not re.match(r"20\d\d-[01]\d-[0123]\d", date):
        raise ValueError("Date must be YYYY-MM-DD.")
    if not instructions:
        raise ValueError("Don't deprecate things without conversion instructions!")


def _call_location(outer: bool = False) -> str:
    """The file and line that called a decorated function (or, with `outer`, the caller of that)."""
    frame = sys._getframe(2)
    if outer and frame.f_back is not None:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _when(date: str | None) -> str:
    return "in a future version" if date is None else f"after {date}"


def _noticed(doc: str | None, date: str | None, instructions: str, suffix: str, what: str, no_doc: str) -> str:
    pronoun = "It" if what.startswith("THIS") else "They"
    notice = [f"{what}. {pronoun} will be removed {_when(date)}.", "Instructions for updating:"]
    return docstrings.add_notice_to_docstring(doc, instructions, no_doc, suffix, notice)


def _add_deprecated_function_notice_to_docstring(doc: str | None, date: str | None, instructions: str) -> str:
    what = "THIS FUNCTION IS DEPRECATED"
    return _noticed(doc, date, instructions, "(deprecated)", what, "DEPRECATED FUNCTION")


def _add_deprecated_arg_notice_to_docstring(doc: str | None, date: str | None, instructions: str, names: Any) -> str:
    what = f"SOME ARGUMENTS ARE DEPRECATED: `({', '.join(sorted(names))})`"
    return _noticed(doc, date, instructions, "(deprecated arguments)", what, "DEPRECATED FUNCTION ARGUMENTS")


def _add_deprecated_arg_value_notice_to_docstring(doc: str | None, date: str | None, instructions: str, values: dict[str, Any]) -> str:
    listed = ", ".join(f"{name}={value!r}" for name, value in sorted(values.items()))
    what = f"SOME ARGUMENT VALUES ARE DEPRECATED: `({listed})`"
    no_doc = "DEPRECATED FUNCTION ARGUMENT VALUES"
    return _noticed(doc, date, instructions, "(deprecated argument values)", what, no_doc)


@public("contrib.framework.deprecated")
def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Callable[[Any], Any]:
    """Marks a function or method as going away; calls warn with the instructions."""
    _validate_deprecation_args(date, instructions)

    def decorate(func: Callable[..., Any]) -> Any:
        docstrings.validate_callable(func, "deprecated")

        @functools.wraps(func)
        def new_func(*args: Any, **kwargs: Any) -> Any:
            if not _silent and func not in _warned:
                if warn_once:
                    _warned.add(func)
                logging.warning(
                    "From %s: %s (from %s) is deprecated and will be removed %s.\nInstructions for updating:\n%s",
                    _call_location(),
                    docstrings.get_qualified_name(func),
                    func.__module__,
                    _when(date),
                    instructions,
                )
            return func(*args, **kwargs)

        doc = _add_deprecated_function_notice_to_docstring(func.__doc__, date, instructions)
        return decorators.make_decorator(func, new_func, "deprecated", doc)

    return decorate


def deprecated_alias(deprecated_name: str, name: str, func_or_class: Any, warn_once: bool = True) -> Any:
    """Another name for a function or class, which warns when it is used."""
    text = "From %s: The name %s is deprecated. Please use %s instead.\n"

    def warn(key: Any) -> None:
        if not _silent and key not in _warned:
            if warn_once:
                _warned.add(key)
            frame = sys._getframe(2)
            logging.warning(text, f"{frame.f_code.co_filename}:{frame.f_lineno}", deprecated_name, name)

    if inspect.isclass(func_or_class):

        class _NewClass(func_or_class):
            __doc__ = docstrings.add_notice_to_docstring(
                func_or_class.__doc__,
                f"Please use {name} instead.",
                "DEPRECATED CLASS",
                "(deprecated)",
                ["THIS CLASS IS DEPRECATED. It will be removed in a future version. "],
            )
            __name__ = func_or_class.__name__
            __module__ = _call_location(outer=True)

            def __init__(self, *args: Any, **kwargs: Any) -> None:
                warn(_NewClass)
                super().__init__(*args, **kwargs)

        decorators.make_decorator(func_or_class.__init__, _NewClass.__init__, "deprecated")
        return _NewClass

    @functools.wraps(func_or_class)
    def new_func(*args: Any, **kwargs: Any) -> Any:
        warn(new_func)
        return func_or_class(*args, **kwargs)

    doc = _add_deprecated_function_notice_to_docstring(func_or_class.__doc__, None, f"Please use {name} instead.")
    return decorators.make_decorator(func_or_class, new_func, "deprecated", doc)


def deprecated_endpoints(*args: str) -> Callable[[Any], Any]:
    """Notes which public names of a symbol are deprecated."""

    def mark(func: Any) -> Any:
        if "_tf_deprecated_api_names" in getattr(func, "__dict__", ()):
            raise DeprecatedNamesAlreadySet(
                f"Cannot set deprecated names for {func.__name__} to {args}. Deprecated names are already set to "
                f"{func._tf_deprecated_api_names}."
            )
        func._tf_deprecated_api_names = args
        return func

    return mark


@public("contrib.framework.deprecated_args")
def deprecated_args(date: str | None, instructions: str, *deprecated_arg_names_or_tuples: Any, **kwargs: Any) -> Any:
    """Marks arguments as going away; a tuple `(name, value)` allows one value without a warning."""
    _validate_deprecation_args(date, instructions)
    if not deprecated_arg_names_or_tuples:
        raise ValueError("Specify which argument is deprecated.")
    warn_once = kwargs.pop("warn_once", True)
    if kwargs:
        raise ValueError(f"kwargs argument passed: {kwargs}")
    allowed = {
        each[0] if isinstance(each, tuple) else each: each[1:] if isinstance(each, tuple) else () for each in deprecated_arg_names_or_tuples
    }

    def decorate(func: Callable[..., Any]) -> Any:
        docstrings.validate_callable(func, "deprecated_args")
        spec = signatures.getfullargspec(func)
        names = [*spec.args, *spec.kwonlyargs]
        missing = [name for name in allowed if name not in (*names, spec.varargs, spec.varkw)]
        if missing:
            raise ValueError(
                f"The following deprecated arguments are not present in the function signature: {missing}. Found next "
                f"arguments: {[*names, spec.varargs, spec.varkw]}."
            )

        def used(args: Any, kwargs: Any) -> list[str]:
            given = {**dict(zip(spec.args, args)), **kwargs}
            if spec.varargs in allowed and len(args) > len(spec.args):
                given[spec.varargs] = args[len(spec.args) :]
            if spec.varkw in allowed and any(name not in names for name in kwargs):
                given[spec.varkw] = kwargs
            return [name for name, ok in allowed.items() if name in given and not (ok and _equal(given[name], ok[0]))]

        @functools.wraps(func)
        def new_func(*args: Any, **kwargs: Any) -> Any:
            if not _silent:
                for name in used(args, kwargs):
                    if (func, name) not in _warned:
                        if warn_once:
                            _warned.add((func, name))
                        logging.warning(
                            "From %s: calling %s (from %s) with %s is deprecated and will be removed %s.\nInstructions for updating:\n%s",
                            _call_location(),
                            docstrings.get_qualified_name(func),
                            func.__module__,
                            name,
                            _when(date),
                            instructions,
                        )
            return func(*args, **kwargs)

        doc = _add_deprecated_arg_notice_to_docstring(func.__doc__, date, instructions, allowed)
        return decorators.make_decorator(func, new_func, "deprecated", doc)

    return decorate


def _equal(value: Any, ok: Any) -> bool:
    """Equality that does not build ops when the value is a tensor."""
    return value is ok or (type(value) is type(ok) and bool(value == ok))


@public("contrib.framework.deprecated_arg_values")
def deprecated_arg_values(date: str | None, instructions: str, warn_once: bool = True, **deprecated_kwargs: Any) -> Callable[[Any], Any]:
    """Marks values of arguments as going away."""
    _validate_deprecation_args(date, instructions)
    if not deprecated_kwargs:
        raise ValueError("Specify which argument values are deprecated.")

    def decorate(func: Callable[..., Any]) -> Any:
        docstrings.validate_callable(func, "deprecated_arg_values")

        @functools.wraps(func)
        def new_func(*args: Any, **kwargs: Any) -> Any:
            if not _silent:
                given = signatures.getcallargs(func, *args, **kwargs)
                for name, value in sorted(deprecated_kwargs.items()):
                    if name in given and _equal(given[name], value) and (func, name) not in _warned:
                        if warn_once:
                            _warned.add((func, name))
                        logging.warning(
                            "From %s: calling %s (from %s) with %s=%s is deprecated and will be removed %s."
                            "\nInstructions for updating:\n%s",
                            _call_location(),
                            docstrings.get_qualified_name(func),
                            func.__module__,
                            name,
                            value,
                            _when(date),
                            instructions,
                        )
            return func(*args, **kwargs)

        doc = _add_deprecated_arg_value_notice_to_docstring(func.__doc__, date, instructions, deprecated_kwargs)
        return decorators.make_decorator(func, new_func, "deprecated", doc)

    return decorate


def deprecated_argument_lookup(new_name: str, new_value: Any, old_name: str, old_value: Any) -> Any:
    """The value of an argument that has two names, of which only one may be given."""
    if old_value is not None:
        if new_value is not None:
            raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
        return old_value
    return new_value


def rewrite_argument_docstring(old_doc: str, old_argument: str, new_argument: str) -> str:
    """The docstring with an argument under another name."""
    return old_doc.replace(f"`{old_argument}`", f"`{new_argument}`").replace(f"{old_argument}:", f"{new_argument}:")


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """No warnings about deprecated things inside."""
    global _silent
    _silent += 1
    try:
        yield
    finally:
        _silent -= 1


class HiddenTfApiAttribute(property):
    """Marks an attribute as one that documentation leaves out."""

    def __init__(self, deprecation_message: str) -> None:
        def raise_error(unused_self: Any) -> Any:
            raise AttributeError(deprecation_message)

        super().__init__(raise_error)


hide_attribute_from_api = HiddenTfApiAttribute
HIDDEN_ATTRIBUTE = HiddenTfApiAttribute("This attribute has been deprecated.")
