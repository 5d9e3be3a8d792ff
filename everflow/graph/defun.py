"""Defun: `@function.Defun(tf.float32)` makes a Python function a function of the graph's library."""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.graph import dtypes, functions, shapes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.describe import type_name
from everflow.graph.func_graph import FuncGraph
from everflow.graph.functions import LibraryFunction
from everflow.graph.graph import Graph
from everflow.graph.operation import Operation
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.graph.wire import op_def_from_proto, output_types_of

_TYPE_CODES = {
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
    "int32": "i32",
    "uint8": "i8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "int16": "i16",
    "int8": "i8",
    "string": "s",
    "complex64": "c64",
    "complex128": "c128",
    "int64": "i64",
    "bool": "b",
    "qint8": "qi8",
    "quint8": "qu8",
    "qint16": "qi16",
    "quint16": "qu16",
    "qint32": "qi32",
    "bfloat16": "b16",
}


class _DefunGraph(FuncGraph):
    """The body of a Defun. It shares variables with the graph around it, and nothing else."""

    captures_controls = False
    control_flow_v2 = False


@internal("framework.function.Defun")
class Defun:
    """Decorator: `Defun(tf.float32, tf.float32)` for given argument types, `Defun()` for those of each call."""

    def __init__(self, *input_types: Any, **kwargs: Any) -> None:
        own = ("func_name", "grad_func", "python_grad_func", "out_names")
        self._func_name, self._grad_func, self._python_grad_func, self._out_names = (kwargs.pop(name, None) for name in own)
        self._input_types, self._extra_kwargs = input_types, kwargs

    def __call__(self, func: Callable[..., Any]) -> Any:
        if not callable(func):
            raise ValueError(f"function {func} must be callable")
        count, is_open = _parameter_count(func)
        if self._input_types:
            given = len(self._input_types)
            if given < count:
                raise ValueError("The function has more arguments than the number of specified input types.")
            if given > count and not is_open:
                raise ValueError("The function has fewer arguments than the number of specified input types.")
        elif count or is_open:
            return _OverloadedFunction(
                func, count, self._func_name, self._grad_func, self._python_grad_func, out_names=self._out_names, **self._extra_kwargs
            )
        types = [dtypes.as_dtype(t) for t in self._input_types]
        return _DefinedFunction(
            func,
            _parameter_names(func, len(types)),
            types,
            self._func_name,
            self._grad_func,
            self._python_grad_func,
            out_names=self._out_names,
            **self._extra_kwargs,
        )


def _parameter_count(func: Callable[..., Any]) -> tuple[int, bool]:
    """How many arguments a function takes, and whether it takes more; defaults and keywords are refused."""
    spec = inspect.getfullargspec(func)
    if spec.varkw or spec.defaults:
        raise ValueError(
            f"functions with argument defaults or keywords arguments are not supported. {func} has defaults "
            f"{spec.defaults} and keywords "
            f"{spec.varkw}."
        )
    return len(spec.args) - (1 if inspect.ismethod(func) else 0), spec.varargs is not None


def _parameter_names(func: Callable[..., Any], count: int) -> list[str]:
    spec = inspect.getfullargspec(func)
    names = list(spec.args[1:] if inspect.ismethod(func) else spec.args)[:count]
    return names + [f"arg{i}" for i in range(len(names), count)]


def _base_name(func: Callable[..., Any]) -> str:
    if inspect.isfunction(func):
        name = func.__name__
    elif inspect.ismethod(func):
        name = f"{func.__self__.__class__.__name__}.{func.__name__}"
    else:
        name = type(func).__name__
    return re.sub(r"[^A-Za-z0-9_]", "_", name).lstrip("_") or "function"


@internal("framework.function._DefinedFunction")
class _DefinedFunction:
    """A function whose argument types are known. Its body is built when it is first needed."""

    def __init__(
        self,
        func: Callable[..., Any],
        argnames: list[str],
        input_types: list[Any],
        func_name: str | None = None,
        grad_func: Any = None,
        python_grad_func: Any = None,
        out_names: list[str] | None = None,
        shape_func: Any = None,
        capture_by_value: bool = False,
        whitelisted_stateful_ops: Any = None,
        capture_resource_var_by_value: bool = True,
        **kwargs: Any,
    ) -> None:
        self._func = func
        self._argnames = argnames
        self._input_types = input_types
        self._func_name = func_name
        self._grad_func = grad_func
        self._python_grad_func = python_grad_func
        self._out_names = out_names
        self._shape_func = shape_func
        self._capture_by_value = capture_by_value
        self._whitelisted_stateful_ops = set(whitelisted_stateful_ops or ())
        self._capture_resource_var_by_value = capture_resource_var_by_value
        self._extra_kwargs = _attrs_of(kwargs)
        self._devices = get_default_graph()._devices
        self._entry: LibraryFunction | None = None

    @property
    def name(self) -> str:
        """The name in the library."""
        return self._built().name

    @property
    def definition(self) -> Any:
        """The FunctionDef."""
        return self._built().definition

    @property
    def graph(self) -> FuncGraph:
        """The body."""
        return self._built().graph

    @property
    def op_def(self) -> Any:
        """The signature, as the definition of an op that calls the function."""
        return self._built().op_def

    @property
    def _signature(self) -> Any:
        return self.definition.signature

    @property
    def python_grad_func(self) -> Any:
        """The Python function that builds the gradient of a call, or None."""
        return self._python_grad_func

    @property
    def grad_func_name(self) -> str | None:
        """The name of the library function that is the gradient, or None."""
        return self._grad_func.name if self._grad_func else None

    def set_grad_func(self, grad_func: Any) -> None:
        """Says which function is the gradient; it can be said once."""
        if self._grad_func is not None and self._grad_func is not grad_func:
            raise ValueError("Gradient defun already set.")
        self._grad_func = grad_func
        if self._entry is not None:
            self._entry.grad_func_name = grad_func.name

    @property
    def declared_input_types(self) -> tuple[Any, ...]:
        """The dtypes of the arguments, without captures."""
        return tuple(self._input_types)

    @property
    def captured_inputs(self) -> list[Tensor]:
        """The tensors from outside that the body uses."""
        return self._built().captured_inputs

    _extra_inputs = captured_inputs

    @property
    def stateful_ops(self) -> list[tuple[str, str]]:
        """The name and type of the stateful ops in the body."""
        return [(op.name, op.type) for op in self.graph.get_operations() if op.op_def_.is_stateful]

    def _built(self) -> LibraryFunction:
        if self._entry is None:
            self._entry = self._build()
        return self._entry

    def _build(self) -> LibraryFunction:
        outer = get_default_graph()
        shared = {key: outer.get_collection_ref(key) for key in functions.VARIABLE_COLLECTIONS}
        body = _DefunGraph("", collections=shared, capture_by_value=self._capture_by_value)
        body.whitelisted_stateful_ops = self._whitelisted_stateful_ops
        body._devices = list(self._devices)
        with body.as_default(), _variables_from(outer, body, self._capture_resource_var_by_value):
            arguments = [body.add_input(t, None, name) for name, t in zip(self._argnames, self._input_types)]
            found = self._func(*arguments)
            if found is None:
                outputs = []
            else:
                outputs = list(found) if isinstance(found, (list, tuple)) else [found]
            if any(o is None for o in outputs):
                raise ValueError("Function can not return None.")
            body.outputs = [convert_to_tensor(o) for o in outputs]
        grad_func_name = self.grad_func_name
        entry = LibraryFunction("", graph=body, grad_func_name=grad_func_name, out_names=self._out_names, attrs=self._extra_kwargs)
        entry.python_grad_func = self._python_grad_func
        definition = entry.definition
        doc = getattr(self._func, "__doc__", None)
        if doc:
            definition.signature.description = doc
        name = self._func_name
        if not name:
            base = _base_name(self._func) + (f"_{grad_func_name}" if grad_func_name else "")
            digest = hashlib.sha1(definition.SerializeToString(deterministic=True)).digest()
            name = f"{base}_{functions.short_hash(digest)}"
        entry.name = body.name = definition.signature.name = name
        return entry

    def add_to_graph(self, g: Graph) -> None:
        """Makes the function, and those that it calls, known to a graph."""
        entry = self._built()
        g._add_function(entry)
        for inner in entry.graph._functions.values():
            g._add_function(inner)
        if self._grad_func is not None:
            self._grad_func.add_to_graph(g)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.add_to_graph(get_default_graph())
        name = kwargs.pop("name", None)
        if len(args) != len(self._input_types):
            raise ValueError(f"Expected number of arguments: {len(self._input_types)}, received: {len(args)}")
        arguments = [convert_to_tensor(a) for a in args] + self.captured_inputs
        op = call(self.op_def, arguments, name or self.name, _call_attrs(kwargs))
        # Differentiation asks the function how to differentiate its calls.
        op.__dict__["defun"] = self
        if self._shape_func is not None:
            found = self._shape_func(op)
            if len(found) != len(op.outputs):
                raise ValueError(f"shape_func produced {len(found)} shapes for {len(op.outputs)} outputs")
            for t, shape in zip(op.outputs, found):
                t.set_shape(shape)
        else:
            for t, inside in zip(op.outputs, self.graph.outputs):
                t.dims = shapes.merge(t.dims, inside.dims)
        return _results(op)


def _variables_from(outer: Graph, body: FuncGraph, by_value: bool) -> Any:
    """Inside, tf.get_variable makes variables in the graph around the function, and notes which it uses."""

    def get(getter: Any, *args: Any, **kwargs: Any) -> Any:
        with outer.as_default(), outer.name_scope(None):
            variable = getter(*args, **kwargs)
            body.extra_vars.append(variable)
            is_resource = isinstance(getattr(variable, "handle", None), Tensor)
            return variable.value() if by_value and is_resource else variable

    return tf.variable_scope(tf.get_variable_scope(), custom_getter=get, auxiliary_name_scope=False)


@internal("framework.function._OverloadedFunction")
class _OverloadedFunction:
    """A function that is defined anew for each set of argument types it is called with."""

    def __init__(
        self,
        func: Callable[..., Any],
        count: int,
        func_name: str | None = None,
        grad_func: Any = None,
        python_grad_func: Any = None,
        out_names: list[str] | None = None,
        **kwargs: Any,
    ) -> None:
        self._func = func
        self._count = count
        self._func_name = func_name
        self._grad_func = grad_func
        self._python_grad_func = python_grad_func
        self._out_names = out_names
        self._extra_kwargs = kwargs
        self._overload: dict[str, _DefinedFunction] = {}

    def instantiate(self, input_types: Any) -> _DefinedFunction:
        """The function for these argument types."""
        types = [dtypes.as_dtype(t).base_dtype for t in input_types]
        key = "_".join(_TYPE_CODES.get(t.name, t.name) for t in types)
        defined = self._overload.get(key)
        if defined is None:
            name = f"{self._func_name}_{key}" if self._func_name is not None else None
            defined = _DefinedFunction(
                self._func,
                _parameter_names(self._func, len(types)),
                types,
                name,
                None,
                self._python_grad_func,
                out_names=self._out_names,
                **self._extra_kwargs,
            )
            self._overload[key] = defined
            if self._grad_func:
                output_types = [dtypes.as_dtype(a.type) for a in defined._signature.output_arg]
                defined.set_grad_func(self._grad_func.instantiate([*types, *output_types]))
        return defined

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        arguments = [convert_to_tensor(a) for a in args]
        return self.instantiate([a.dtype for a in arguments])(*arguments, **kwargs)


@internal("framework.function.Declare")
class Declare:
    """A function called here and defined elsewhere: `Declare("f", [("x", tf.float32)], [("y", tf.float32)])`."""

    def __init__(self, func_name: str, inputs: Any, outputs: Any) -> None:
        from everflow.proto import op_def_pb2

        def unique(args: Any, what: str) -> Any:
            if len({name for name, _ in args}) < len(args):
                raise ValueError(f"Expected {what} arguments to be unique: {args}.")
            return args

        self._sig = op_def_pb2.OpDef(name=func_name)
        for name, dtype in unique(inputs, "input"):
            self._sig.input_arg.add(name=name, type=dtypes.as_dtype(dtype).as_datatype_enum)
        for name, dtype in unique(outputs, "output"):
            self._sig.output_arg.add(name=name, type=dtypes.as_dtype(dtype).as_datatype_enum)

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        if len(inputs) != len(self._sig.input_arg):
            raise ValueError(f"Expected number of arguments: {len(self._sig.input_arg)}, received: {len(inputs)}")
        name = kwargs.pop("name", None) or self._sig.name
        return _results(call(op_def_from_proto(self._sig), [convert_to_tensor(i) for i in inputs], name, _call_attrs(kwargs)))


def call(definition: Any, arguments: list[Tensor], name: str, attrs: dict[str, Any]) -> Operation:
    """Adds an op that calls a function."""
    graph = get_default_graph()
    inputs = tuple(graph.own(t) for t in arguments)
    name = name[:-1] if name.endswith("/") else graph.unique_name(name)
    for i, (t, arg) in enumerate(zip(inputs, definition.inputs)):
        if t.dtype.base_dtype is not arg.type:
            raise ValueError(
                f"Input {i} of node {name} was passed {type_name(t.dtype)} from {t.name} incompatible with expected {type_name(arg.type)}."
            )
    return graph.add(definition, name, inputs, attrs, output_types_of(definition, attrs), infer_shapes=False, depth=3)


def _results(op: Operation) -> Any:
    if not op.outputs:
        return op
    return op.outputs[0] if len(op.outputs) == 1 else tuple(op.outputs)


def _attrs_of(kwargs: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a function that keyword arguments of Defun ask for."""
    attrs: dict[str, Any] = {}
    if "noinline" in kwargs:
        attrs["_noinline"] = bool(kwargs.pop("noinline"))
    # The shapes of a call's outputs are given by shape_func alone.
    attrs["_disable_call_shape_inference"] = True
    if "compiled" in kwargs:
        attrs["_XlaCompile"] = bool(kwargs.pop("compiled"))
        attrs["_XlaSeparateCompiledGradients"] = bool(kwargs.pop("separate_compiled_gradients", False))
    for key, value in kwargs.items():
        if not (key.startswith("experimental_") or key in ("_implements", "_reference")):
            raise ValueError(f"Unknown keyword arguments: {', '.join(kwargs)}")
        if not isinstance(value, (bool, int, float, str, bytes)):
            raise ValueError(f"Unsupported attribute type for {key} with type {type(value)}")
        attrs[key] = value if not isinstance(value, bytes) else value.decode()
    return attrs


def _call_attrs(kwargs: dict[str, Any]) -> dict[str, Any]:
    attrs: dict[str, Any] = {}
    noinline = kwargs.pop("noinline", None)
    if noinline:
        attrs["_noinline"] = True
    compiled = kwargs.pop("compiled", None)
    separate = kwargs.pop("separate_compiled_gradients", None)
    if compiled is not None:
        attrs["_XlaCompile"] = bool(compiled)
        attrs["_XlaSeparateCompiledGradients"] = bool(separate)
    if kwargs:
        raise ValueError(f"Unknown keyword arguments: {', '.join(kwargs)}")
    return attrs


@internal("framework.function.get_extra_vars")
def get_extra_vars() -> list[Any]:
    """The variables that the function being built has asked for."""
    graph = get_default_graph()
    return graph.extra_vars if isinstance(graph, FuncGraph) else []


@internal("framework.function.get_extra_inputs")
def get_extra_inputs() -> list[Tensor]:
    """The tensors that the function being built has captured."""
    graph = get_default_graph()
    return graph.external_captures if isinstance(graph, FuncGraph) else []


@internal("framework.function.get_extra_args")
def get_extra_args() -> list[Tensor]:
    """The arguments that stand for captured tensors in the function being built."""
    graph = get_default_graph()
    return graph.internal_captures if isinstance(graph, FuncGraph) else []


@internal("framework.function._from_definition")
def from_definition(fdef: Any, grad_func: Any = None) -> LibraryFunction:
    """A function from its FunctionDef."""
    return LibraryFunction(
        fdef.signature.name, definition=fdef, outer_graph=get_default_graph(), grad_func_name=grad_func.name if grad_func else None
    )


@internal("framework.function.from_library")
def from_library(lib: Any) -> list[LibraryFunction]:
    """The functions of a FunctionDefLibrary."""
    return functions.functions_from_library(lib, get_default_graph()) if lib.function or lib.gradient else []


internal("framework.function._DefunGraph", "framework.function._FuncGraph")(_DefunGraph)
