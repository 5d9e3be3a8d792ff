"""Python functions as ops: tf.py_func and tf.numpy_function."""
from __future__ import annotations

import itertools
import traceback
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow import errors
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.describe import type_name
from everflow.graph.stacks import get_default_graph
from everflow.ops.registry import apply, not_differentiable, op
from everflow.ops.shape_rules import unknown
from everflow.runtime.values import from_numpy, is_numeric, to_numpy

# What an exception of the function becomes; others are UnknownErrors.
KINDS: tuple[tuple[type[BaseException], type[errors.OpError]], ...] = (
    (MemoryError, errors.ResourceExhaustedError),
    (NotImplementedError, errors.UnimplementedError),
    (ValueError, errors.InvalidArgumentError),
    (TypeError, errors.InvalidArgumentError),
    (StopIteration, errors.OutOfRangeError),
)


class _Registered:
    """A function under its token. The graph that uses it keeps it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function


_numbers = itertools.count()
_functions: weakref.WeakValueDictionary[str, _Registered] = weakref.WeakValueDictionary()


def register(function: Callable[..., Any]) -> str:
    """A token for a function, which lives as long as the graph."""
    token = f"pyfunc_{next(_numbers)}"
    kept = _Registered(function)
    _functions[token] = kept
    graph = get_default_graph()
    while graph is not None:
        # A function's body may be dropped while its copy in the library is still called.
        graph.__dict__.setdefault("_py_funcs_used_in_graph", []).append(kept)
        graph = graph.outer_graph
    return token


def _kernel(node: Any) -> Callable[..., Any]:
    token = node.attr("token")
    incoming = [v.dtype.base_dtype for v in node.inputs]
    outgoing = list(node.attr("Tout"))

    def run(*inputs: Any) -> Any:
        found = _functions.get(token)
        if found is None:
            raise errors.invalid_argument(f"ValueError: callback {token} is not found")
        arguments = [_argument(value, dtype) for value, dtype in zip(inputs, incoming)]
        try:
            returned = found.function(*arguments)
        except Exception as error:  # whatever the program raises is passed on as an error of the op
            raise _failed(error) from error
        return _results(returned, outgoing, token)

    return run


def _argument(value: Any, dtype: dtypes.DType) -> Any:
    array = to_numpy(value, dtype) if is_numeric(dtype) else value
    return array[()] if isinstance(array, np.ndarray) and array.ndim == 0 else array


def _failed(error: Exception) -> errors.OpError:
    text = f"{type(error).__name__}: {error}\n{''.join(traceback.format_exception(error))}"
    for kind, found in KINDS:
        if isinstance(error, kind):
            return found(None, None, text)  # type: ignore[call-arg]
    return errors.unknown(text)


def _results(returned: Any, types: list[dtypes.DType], token: str) -> Any:
    if returned is None:
        found: list[Any] = []
    else:
        found = list(returned) if isinstance(returned, (list, tuple)) else [returned]
    if len(found) != len(types):
        raise errors.invalid_argument(f"{token} returns {len(found)} values, but expects to see {len(types)} values.")
    values = [_value(value, dtype, i, token) for i, (value, dtype) in enumerate(zip(found, types))]
    return values[0] if len(values) == 1 else tuple(values)


def _value(value: Any, dtype: dtypes.DType, index: int, token: str) -> Any:
    try:
        # A copy: the function may go on to change what it returned.
        array = np.array(value, order="C")
    except ValueError as error:
        raise errors.invalid_argument(f"ValueError: {error}") from None
    if array.dtype.kind in "SUO":
        return _texts(array, dtype, index, token)
    actual = dtypes.as_dtype(array.dtype)
    if actual is not dtype:
        raise errors.invalid_argument(
            f"{index}-th value returned by {token} is {_plain(actual)}, but expects {_plain(dtype)}")
    return from_numpy(array, dtype)


def _texts(array: np.ndarray, dtype: dtypes.DType, index: int, token: str) -> Any:
    items = [x.encode() if isinstance(x, str) else x for x in array.reshape(-1).tolist()]
    for item in items:
        if not isinstance(item, bytes):
            raise errors.internal_error(f"Unsupported object type {type(item).__name__}")
    if dtype is not dtypes.string:
        raise errors.invalid_argument(f"{index}-th value returned by {token} is string, but expects {_plain(dtype)}")
    found = np.empty(array.shape, object)
    found.reshape(-1)[:] = items
    return found


def _plain(dtype: dtypes.DType) -> str:
    return type_name(dtype).removeprefix("DT_").lower()


for _name in ("PyFunc", "PyFuncStateless"):
    op(_name, kernel=_kernel, shape=unknown, gradient=not_differentiable)


@public("py_func")
@internal("ops.script_ops.py_func")
def py_func(func: Callable[..., Any], inp: Any, Tout: Any, stateful: bool = True, name: str | None = None) -> Any:
    """Calls a Python function of numpy arrays when the op runs."""
    is_list = isinstance(Tout, (list, tuple))
    found = apply("PyFunc" if stateful else "PyFuncStateless", list(inp), token=register(func),
                  Tout=list(Tout) if is_list else [Tout], name=name)
    return found if is_list or not isinstance(found, list) else found[0]


@public("numpy_function")
@internal("ops.script_ops.numpy_function")
def numpy_function(func: Callable[..., Any], inp: Any, Tout: Any, name: str | None = None) -> Any:
    """Calls a Python function of numpy arrays when the op runs."""
    return py_func(func, inp, Tout, stateful=True, name=name)
