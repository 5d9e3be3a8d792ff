"""Calling a Python function once to find out what it does: its ops become a body."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import everflow as tf
from everflow import nest
from everflow.api import internal
from everflow.autodiff import tape as tapes
from everflow.eager import arguments
from everflow.eager.concrete_functions import TracedGraph, is_variable
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.func_graph import FuncGraph
from everflow.graph.operation import Operation
from everflow.graph.shapes import Dims
from everflow.graph.tensor import Tensor
from everflow.graph.tensor_spec import TensorSpec
from everflow.ops.core.registry import apply


@internal("framework.func_graph.func_graph_from_py_func")
def func_graph_from_py_func(
    name: str,
    python_func: Callable[..., Any],
    args: Any,
    kwargs: Any,
    signature: Any = None,
    func_graph: Any = None,
    arg_names: list[str] | None = None,
    add_control_dependencies: bool = True,
    **_: Any,
) -> FuncGraph:
    """Traces a Python function. Tensors (or specs of tensors) among the arguments become inputs.

    Results are handed on by ops of their own, except in functions that are run as graphs are, without `add_control_dependencies`.
    """
    graph = func_graph or TracedGraph(name)
    names = arg_names or ["args"] * len(args)

    def inside(argument: str, value: Any) -> Any:
        return nest.map_structure(functools.partial(_argument_inside, graph, argument), value, expand_composites=True)

    with tapes.stop_recording(), graph.as_default():
        given = [inside(argument, value) for argument, value in zip(names, args)]
        named = {key: inside(key, kwargs[key]) for key in sorted(kwargs)}
        before = nest.map_structure(lambda v: v, (given, named), expand_composites=True)
        with _resource_variables():
            found = python_func(*given, **named)
        _check_unchanged(before, (given, named))
        inside_too = functools.partial(_result_inside, graph, add_control_dependencies, python_func)
        structure = nest.map_structure(inside_too, found, expand_composites=True)
    graph.structured_input_signature = arguments.described(args, kwargs, names)
    graph.structured_outputs = structure
    graph.outputs = [t for t in nest.flatten(structure, expand_composites=True) if t is not None]
    captured = set(map(id, graph.internal_captures))
    graph.inputs = [t for t in graph.inputs if id(t) not in captured] + graph.internal_captures
    graph.inputs += [t for _, inputs, _, _ in getattr(graph, "deferred", {}).values() for t in inputs]
    return graph


@contextlib.contextmanager
def _resource_variables() -> Iterator[None]:
    """Variables made inside are those with handles, unless something else is asked for."""
    scope = tf.get_variable_scope()
    before = scope.use_resource
    scope.set_use_resource(True)
    try:
        yield
    finally:
        scope.set_use_resource(before)


def _check_unchanged(before: Any, after: Any) -> None:
    """Raises where the function changed the lists and dicts that it was given."""
    flat = [nest.flatten(v, expand_composites=True) for v in (before, after)]
    try:
        nest.assert_same_structure(before, after, expand_composites=True)
        changed = any(x is not y for x, y in zip(*flat))
    except (ValueError, TypeError):
        changed = True
    if changed:
        raise ValueError(
            "Function to be traced should not modify structure of input arguments. Check if your function has list and dictionary "
            "operations that alter input arguments, such as `list.pop`, `list.append`."
        )


def _argument_inside(graph: FuncGraph, name: str, value: Any) -> Any:
    if isinstance(value, TensorSpec):
        return _named_input(graph, value.name or name, value.dtype, value.shape.as_dims())
    if isinstance(value, Tensor):
        return _named_input(graph, name, value.dtype.base_dtype, value.dims, value.handle_data)
    if is_variable(value) and hasattr(graph, "given"):
        made = _named_input(graph, name, dtypes.resource, (), value.handle.handle_data or (value.shape.as_dims(), value.dtype.base_dtype))
        graph.given[value.handle] = made
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        return _named_input(graph, name, dtypes.as_dtype(array.dtype), array.shape)
    return value


def _named_input(graph: FuncGraph, name: str, dtype: dtypes.DTypeLike, dims: Dims, handle_data: Any = None) -> Tensor:
    # A name that no op may have is only noted.
    clean = re.sub(r"[^A-Za-z0-9_.\\/-]", "_", name).lstrip("_-/\\") or "arg"
    found = graph.add_input(dtype, dims, clean, handle_data)
    found.op.attrs["_user_specified_name"] = name
    return found


def _result_inside(graph: FuncGraph, marks: bool, function: Callable[..., Any], value: Any) -> Any:
    # A function that runs as graphs do may return operations: they are what its caller runs.
    if value is None or (isinstance(value, Operation) and not marks):
        return None
    if hasattr(value, "flow") and hasattr(value, "handle") and hasattr(value, "stack"):
        return value.stack()
    try:
        if isinstance(value, Operation):
            raise TypeError("an operation")
        found = convert_to_tensor(value)
    except (ValueError, TypeError) as error:
        raise TypeError(
            f"To be compatible with tf.contrib.eager.defun, Python functions must return zero or more Tensors; in compilation of "
            f"{function}, found return value of type {type(value)}, which is not a Tensor."
        ) from error
    # An input or capture that is returned is handed on by an op of its own in any case.
    if marks or found.op.type == "Placeholder":
        handle_data = found.handle_data
        found = apply("Identity", graph.own(found))
        found.handle_data = handle_data
    return graph.own(found)
