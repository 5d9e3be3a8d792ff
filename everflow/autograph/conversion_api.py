"""tf.autograph: converting functions by hand, and keeping them from being converted."""

from __future__ import annotations

import ast
import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

from everflow.api import internal, public
from everflow.autograph.conversion import UNCONVERTED, convert, converted, operators, rewritten_definition
from everflow.autograph.features import chosen
from everflow.autograph.source import NoSource
from everflow.graph.conversion_status import ControlStatusCtx, Status


@public("contrib.autograph.AutoGraphError")
@internal("autograph.impl.api.AutoGraphError")
class AutoGraphError(Exception):
    """What goes wrong in conversion."""


@internal("autograph.impl.api.ConversionError")
class ConversionError(AutoGraphError):
    """Raised where a function can't be converted."""


@public("autograph.to_graph")
@internal("autograph.impl.api.to_graph_v1")
def to_graph(
    entity: Any, recursive: bool = True, arg_values: Any = None, arg_types: Any = None, experimental_optional_features: Any = None
) -> Any:
    """A function or class with Python's control flow converted, to be called while a graph is built."""
    ops = operators(chosen(experimental_optional_features), recursive)
    if inspect.isclass(entity):
        methods = {n: _by_hand(m, ops) for n, m in vars(entity).items() if isinstance(m, types.FunctionType)}
        return type(f"Tf{entity.__name__}", (entity,), methods)
    if isinstance(entity, types.MethodType):
        return types.MethodType(_by_hand(entity.__func__, ops), entity.__self__)
    return _by_hand(entity, ops)


def _by_hand(function: Any, ops: Any) -> Any:
    if not isinstance(function, types.FunctionType):
        return converted(function, ops)
    try:
        return convert(function, ops)
    except (NoSource, SyntaxError) as error:
        raise ConversionError(f"converting {function}: ValueError: {error}") from error


@public("autograph.to_code")
@internal("autograph.impl.api.to_code_v1")
def to_code(
    entity: Any,
    recursive: bool = True,
    arg_values: Any = None,
    arg_types: Any = None,
    indentation: str = "  ",
    experimental_optional_features: Any = None,
) -> str:
    """The source of a converted function."""
    ops = operators(chosen(experimental_optional_features), recursive)
    function = inspect.unwrap(getattr(entity, "python_function", entity))
    try:
        if inspect.isclass(function):
            methods = [m for m in vars(function).values() if isinstance(m, types.FunctionType)]
            return "\n\n".join(_text(m, ops, indentation) for m in methods)
        return _text(function, ops, indentation)
    except (NoSource, SyntaxError) as error:
        raise ConversionError(f"converting {entity}: ValueError: {error}") from error


def _text(function: Any, ops: Any, indentation: str) -> str:
    function = function.__func__ if isinstance(function, types.MethodType) else function
    tree: Any = rewritten_definition(function, ops)
    if isinstance(tree, ast.FunctionDef):
        tree.name, tree.decorator_list = f"tf__{tree.name}", []
        lines = ast.unparse(tree).split("\n")
    else:
        lines = [f"tf__lambda = {ast.unparse(tree)}"]
    depths = [(len(line) - len(line.lstrip())) // 4 for line in lines]
    return "\n".join(indentation * depth + line.lstrip() for depth, line in zip(depths, lines)) + "\n"


@public("contrib.autograph.to_graph")
@internal("autograph.impl.api.to_graph")
def to_graph_v2(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> Any:
    """The same as `tf.autograph.to_graph`."""
    return to_graph(entity, recursive, experimental_optional_features=experimental_optional_features)


@public("contrib.autograph.to_code")
@internal("autograph.impl.api.to_code")
def to_code_v2(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> str:
    """The same as `tf.autograph.to_code`."""
    return to_code(entity, recursive, experimental_optional_features=experimental_optional_features)


@public("autograph.experimental.do_not_convert", "contrib.autograph.do_not_convert")
@internal("autograph.impl.api.do_not_convert")
def do_not_convert(func: Callable[..., Any] | None = None) -> Any:
    """Keeps a function, and what it calls, as it is."""
    if func is None:
        return do_not_convert

    @functools.wraps(func)
    def as_it_is(*args: Any, **kwargs: Any) -> Any:
        with ControlStatusCtx(Status.DISABLED):
            return func(*args, **kwargs)

    setattr(as_it_is, UNCONVERTED, True)
    return as_it_is


@public("contrib.autograph.convert")
@internal("autograph.impl.api.convert")
def convert_decorator(recursive: bool = False, optional_features: Any = None, user_requested: bool = True) -> Callable[..., Any]:
    """A decorator: the function is converted when it is called."""
    ops = operators(chosen(optional_features), recursive)

    def decorate(f: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(f)
        def when_called(*args: Any, **kwargs: Any) -> Any:
            with ControlStatusCtx(Status.ENABLED):
                return converted(f, ops)(*args, **kwargs)

        setattr(when_called, UNCONVERTED, True)
        return when_called

    return decorate


def for_tracing(function: Callable[..., Any], features: Any = None) -> Callable[..., Any]:
    """A function as tf.function and dataset transformations call it while they trace it: converted."""
    ops = operators(chosen(features))

    @functools.wraps(function)
    def traced(*args: Any, **kwargs: Any) -> Any:
        with ControlStatusCtx(Status.ENABLED):
            return converted(function, ops)(*args, **kwargs)

    return traced


@internal("autograph.impl.api.tf_convert")
def tf_convert(f: Callable[..., Any], ctx: Any, convert_by_default: bool = True, force_conversion: bool = False) -> Callable[..., Any]:
    """A function as code calls it that was given it: converted, unless conversion is off there."""
    if ctx.status is Status.DISABLED:
        return do_not_convert(f)
    if ctx.status is Status.ENABLED or convert_by_default:
        return for_tracing(f)
    return f


@public("contrib.autograph.converted_call")
@internal("autograph.impl.api.converted_call")
def converted_call(f: Any, options: Any, args: Any, kwargs: Any, caller_fn_scope: Any = None) -> Any:
    """Calls a function converted."""
    features = getattr(options or getattr(caller_fn_scope, "callopts", None), "optional_features", None)
    return operators(chosen(features)).converted(f)(*args, **(kwargs or {}))


class _Unset:
    def __repr__(self) -> str:
        return "<unset>"


UNSPECIFIED = internal("autograph.lang.directives.UNSPECIFIED")(_Unset())


@public("autograph.experimental.set_loop_options")
@internal("autograph.lang.directives.set_loop_options")
def set_loop_options(
    parallel_iterations: Any = UNSPECIFIED,
    back_prop: Any = UNSPECIFIED,
    swap_memory: Any = UNSPECIFIED,
    maximum_iterations: Any = UNSPECIFIED,
) -> None:
    """Said in a loop's body, options of the tf.while_loop that it becomes; Python's loops have none."""
