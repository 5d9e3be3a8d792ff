"""Functions as data: the code of a lambda, the name of a function."""

from __future__ import annotations

import base64
import marshal
import sys
import types
from collections.abc import Callable
from typing import Any

from everflow.api import internal
from everflow.keras.serialization import deserialize_keras_object


@internal("keras.utils.generic_utils.func_dump")
def func_dump(func: Callable[..., Any]) -> tuple[Any, Any, Any]:
    """A function as (code, defaults, closure)."""
    code = base64.encodebytes(marshal.dumps(func.__code__)).decode("ascii")
    closure = tuple(cell.cell_contents for cell in func.__closure__) if func.__closure__ else None
    return code, func.__defaults__, closure


@internal("keras.utils.generic_utils.func_load")
def func_load(code: Any, defaults: Any = None, closure: Any = None, globs: Any = None) -> Any:
    """The function that `func_dump` described. Code of another Python version can't be read."""
    if isinstance(code, (tuple, list)):
        code, defaults, closure = code
        defaults = tuple(defaults) if isinstance(defaults, list) else defaults
    try:
        raw = base64.decodebytes(code.encode("ascii"))
        compiled = marshal.loads(raw)
    except (ValueError, EOFError, TypeError) as e:
        raise ValueError(f"The code of this function was written by another version of Python and can't be read here ({e}).") from e
    cells = None if closure is None else tuple(v if isinstance(v, types.CellType) else types.CellType(v) for v in closure)
    return types.FunctionType(compiled, globals() if globs is None else globs, name=compiled.co_name, argdefs=defaults, closure=cells)


def described(function: Any) -> tuple[Any, str, Any]:
    """(what stands for a function, of which kind that is, the function's module)."""
    if isinstance(function, types.FunctionType):
        return func_dump(function), "lambda", function.__module__
    return function.__name__, "function", function.__module__


def found(value: Any, kind: str, module: Any, custom_objects: dict[str, Any] | None) -> Any:
    """The function that `described` stands for."""
    known = dict(vars(sys.modules[module])) if module in sys.modules else {}
    if kind == "function":
        return deserialize_keras_object(value, known, custom_objects, "function in Lambda layer")
    if kind == "lambda":
        return func_load(value, globs=known or globals())
    raise TypeError("Unknown function type:", kind)
