"""Python functions as ops: tf.py_func, tf.numpy_function, tf.py_function."""

from __future__ import annotations

import threading
import traceback
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow import errors, nest
from everflow.api import internal, public
from everflow.errors import invalid_argument
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.describe import type_name
from everflow.graph.scopes import control_dependencies
from everflow.graph.stacks import get_default_graph, in_eager_mode
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, fused_op, not_differentiable, op
from everflow.values.tensors import from_numpy, to_numpy


@internal("ops.script_ops.FuncRegistry")
class FuncRegistry:
    """The functions that PyFunc nodes name by a token. They live as long as the graphs that use them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made = 0
        self._funcs: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()

    def insert(self, func: Any) -> str:
        """A token for a function."""
        with self._lock:
            token = f"pyfunc_{self._made}"
            self._made += 1
            self._funcs[token] = func
            return token

    def remove(self, token: str) -> None:
        """Forgets a function."""
        self._funcs.pop(token, None)

    def get(self, token: str) -> Any:
        """The function behind a token."""
        found = self._funcs.get(token)
        if found is None:
            raise ValueError(f"callback {token} is not found")
        return found

    def size(self) -> int:
        """How many functions are known."""
        return len(self._funcs)


FUNCTIONS = internal("ops.script_ops._py_funcs")(FuncRegistry())


class _Function:
    """A function that belongs to a graph. Methods are made anew at each access: this keeps them."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        # For functions of eager tensors: what their gradient needs of the last call.
        self.last: Any = None

    def run_eagerly(self, values: Any, types: list[dtypes.DType], returned: list[dtypes.DType]) -> list[Any]:
        """The function of run-time values, called with eager tensors."""
        from everflow.eager.context import eager_mode
        from everflow.eager.tensor import EagerTensor

        with eager_mode():
            arguments = [EagerTensor(v, t) for v, t in zip(values, types)]
            with tf.GradientTape(persistent=True) as tape:
                for t in arguments:
                    tape.watch(t)
                found = _converted(self.function(*arguments), returned)
            self.last = tape, arguments, found
        return [t.value for t in found]


def _converted(found: Any, types: list[dtypes.DType]) -> list[Any]:
    """What a function of eager tensors returned, as tensors of these types."""
    if found is None:
        values = []
    else:
        values = list(found) if isinstance(found, (list, tuple)) else [found]
    if len(values) == 1 and not types and values[0] is None:
        values = []
    if len(values) != len(types):
        raise invalid_argument(f"py_function returns {len(values)} values, but expects to see {len(types)} values.")
    for v in values:
        if hasattr(v, "read_value"):
            raise RuntimeError(
                "Attempting to return a variable from an eagerly executed py_func. Only numeric data structures like Tensors or NumPy "
                "arrays should be returned; to return the value of a variable, make sure to obtain the Tensor backing it by calling "
                f"`.read_value()` on the variable in question: {v}"
            )
    return [convert_to_tensor(v, dtype=t) for v, t in zip(values, types)]


# -- running them

_ERRORS: tuple[tuple[Any, type[errors.OpError]], ...] = (
    ((TypeError, ValueError), errors.InvalidArgumentError),
    (StopIteration, errors.OutOfRangeError),
    (MemoryError, errors.ResourceExhaustedError),
    (NotImplementedError, errors.UnimplementedError),
)


def _failure(e: BaseException) -> errors.OpError:
    """What a Python exception is to the program that runs the graph."""
    text = "".join(traceback.format_exception(type(e), e, e.__traceback__))
    message = f"{type(e).__name__}: {e}\n{text}"
    for kinds, error in _ERRORS:
        if isinstance(e, kinds):
            return error(None, None, message)  # type: ignore[call-arg]
    return errors.UnknownError(None, None, message)


def _argument(value: Any, dtype: dtypes.DType) -> Any:
    """A run-time value as functions take it: an array of its own, or a plain scalar."""
    array = to_numpy(value, dtype)
    return array[()] if array.ndim == 0 else array.copy()


def _array(value: Any) -> np.ndarray:
    """What a function returned as an array, text as bytes."""
    array = np.asarray(value, order="C")
    if array.dtype.kind == "U":
        return np.array([t.encode() for t in array.ravel().tolist()] or [], object).reshape(array.shape)
    if array.dtype.kind == "S":
        return array.astype(object)
    if array.dtype == object:
        for item in array.ravel():
            if not isinstance(item, (bytes, str)):
                raise errors.InternalError(None, None, f"Unsupported object type {type(item).__name__}")
        found = np.empty(array.shape, object)
        for at, item in np.ndenumerate(array):
            found[at] = item.encode() if isinstance(item, str) else item
        return found
    return array


def _results(found: Any, token: str, types: list[dtypes.DType]) -> list[Any]:
    """What a function returned as run-time values."""
    if found is None:
        values = []
    elif isinstance(found, (list, tuple)):
        values = [_array(v) for v in found]
    else:
        values = [_array(found)]
    if len(values) != len(types):
        raise invalid_argument(f"{token} returns {len(values)} values, but expects to see {len(types)} values.")
    results = []
    for i, (value, dtype) in enumerate(zip(values, types)):
        if value.dtype.kind not in "biufcO":
            raise errors.InternalError(None, None, "Unsupported numpy data type")
        kind = dtypes.string if value.dtype == object else dtypes.as_dtype(value.dtype)
        if kind is not dtype:
            raise invalid_argument(f"{i}-th value returned by {token} is {type_name(kind)}, but expects {type_name(dtype)}")
        results.append(from_numpy(value.copy(), dtype))
    return results


def kernel_of_call(node: Node) -> Callable[..., Any]:
    """Calls the function of a node."""
    token, types = node.attr("token"), [v.dtype for v in node.inputs]
    returned = [v.dtype for v in node.outputs]

    def run(*values: Any) -> Any:
        arguments = [_argument(v, t) for v, t in zip(values, types)]
        try:
            found = FUNCTIONS.get(token).function(*arguments)
        except Exception as e:
            raise _failure(e) from e
        results = _results(found, token, returned)
        return results[0] if len(results) == 1 else tuple(results)

    if node.type == "PyFuncStateless" and returned and all(node.constant(i) is not None for i in range(len(node.inputs))):
        # What has no state is constant where its inputs are.
        return lambda *values: node.context.state(node, lambda: run(*values))
    return run


for _name in ("PyFunc", "PyFuncStateless"):
    op(_name, kernel=kernel_of_call, shape=lambda o: [None] * len(o.outputs), gradient=not_differentiable, kind="python function")


def _together(node: Node) -> Callable[..., Any]:
    """Calls the functions of several nodes side by side: one may wait for what another one does."""
    calls = [(kernel_of_call(n), len(n.inputs), len(n.outputs)) for n in node.attr("calls")]
    count = sum(outputs for _, _, outputs in calls)

    def run(*values: Any) -> Any:
        results: list[Any] = [None] * len(calls)
        failures: list[BaseException] = []

        def call(i: int, function: Callable[..., Any], arguments: Any) -> None:
            try:
                results[i] = function(*arguments)
            except BaseException as e:
                failures.append(e)

        threads = []
        start = 0
        for i, (function, inputs, _) in enumerate(calls):
            arguments = values[start : start + inputs]
            start += inputs
            threads.append(threading.Thread(target=call, args=(i, function, arguments), daemon=True))
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        if failures:
            raise failures[0]
        found: list[Any] = []
        for result, (_, _, outputs) in zip(results, calls):
            found.extend(result if outputs > 1 else [result] * outputs)
        return found[0] if count == 1 else tuple(found)

    return run


fused_op("_PyFuncs", kernel=_together)


def _eager_py_func(node: Node) -> Callable[..., Any]:
    token, types = node.attr("token"), [v.dtype for v in node.inputs]
    returned = [v.dtype for v in node.outputs]

    def run(*values: Any) -> Any:
        try:
            found = FUNCTIONS.get(token).run_eagerly(values, types, returned)
        except errors.OpError:
            raise
        except Exception as e:
            raise _failure(e) from e
        return found[0] if len(found) == 1 else tuple(found)

    return run


def _eager_gradient(operation: Any, *output_gradients: Any) -> Any:
    token = operation.attr("token")

    def backward(*given: Any) -> Any:
        tape, arguments, results = FUNCTIONS.get(token).last
        found = tape.gradient(list(results), list(arguments), output_gradients=list(given))
        return [tf.zeros_like(x) if g is None else tf.convert_to_tensor(g) for g, x in zip(found, arguments)]

    with control_dependencies(operation.outputs):
        return eager_py_func(backward, inp=list(output_gradients), Tout=[t.dtype for t in operation.inputs])


op("EagerPyFunc", kernel=_eager_py_func, shape=lambda o: [None] * len(o.outputs), gradient=_eager_gradient)


# -- making ops of them


def _added(op_type: str, func: Any, inp: Any, Tout: Any, name: str | None) -> Any:
    """Adds the op; the graph keeps the function, and so do the graphs around it."""
    if not callable(func):
        raise ValueError(f"Expected func to be callable, got func of type {type(func)}")
    types = list(Tout) if isinstance(Tout, (list, tuple)) else [Tout]
    kept = _Function(func)
    graph: Any = get_default_graph()
    token = FUNCTIONS.insert(kept)
    while graph is not None:
        graph.__dict__.setdefault("_py_funcs_used_in_graph", []).append(kept)
        graph = graph.outer_graph
    found = apply(op_type, inp, token=token, Tout=types, name=name)
    return found if isinstance(Tout, (list, tuple)) or not isinstance(found, list) else found[0]


def _at_once(func: Callable[..., Any], inp: Any) -> Any:
    """The function of values that are there already."""
    found = [None if v is None else convert_to_tensor(v) for v in nest.flatten(func(*[np.asarray(convert_to_tensor(x)) for x in inp]))]
    return found[0] if len(found) == 1 else found


@public("py_func")
@internal("ops.script_ops.py_func")
def py_func(func: Callable[..., Any], inp: Any, Tout: Any, stateful: bool = True, name: str | None = None) -> Any:
    """The tensors that a Python function returns for numpy arrays, each time that they are computed."""
    if in_eager_mode():
        return _at_once(func, inp)
    return _added("PyFunc" if stateful else "PyFuncStateless", func, inp, Tout, name)


internal("ops.script_ops.py_func_common")(py_func)


@public("py_function", "contrib.eager.py_func")
@internal("ops.script_ops.eager_py_func")
def eager_py_func(func: Callable[..., Any], inp: Any, Tout: Any, name: str | None = None) -> Any:
    """The tensors that a Python function returns for eager tensors; they have gradients."""
    if in_eager_mode():
        if not callable(func):
            raise ValueError(f"Expected func to be callable, got func of type {type(func)}")
        types = [dtypes.as_dtype(t) for t in (Tout if isinstance(Tout, (list, tuple)) else [Tout])]
        try:
            found = _converted(func(*[convert_to_tensor(x) for x in inp]), types)
        except errors.OpError:
            raise
        except Exception as e:
            raise _failure(e) from e
        return found if isinstance(Tout, (list, tuple)) else found[0]
    return _added("EagerPyFunc", func, inp, Tout, name)


@public("numpy_function")
def numpy_function(func: Callable[..., Any], inp: Any, Tout: Any, name: str | None = None) -> Any:
    """`tf.py_func` of a function that may have state."""
    return py_func(func, inp, Tout, stateful=True, name=name)
