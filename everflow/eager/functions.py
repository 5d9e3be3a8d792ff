"""tf.function and tfe.defun: Python functions traced into graph functions, which run as one step."""
from __future__ import annotations

import functools
import inspect
import itertools
import re
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow import nest
from everflow.api import internal, public
from everflow.autodiff.bodies import GradientBody, differentiate, is_differentiable
from everflow.autograph.conversion_api import for_tracing
from everflow.eager import arguments
from everflow.eager import tape as tapes
from everflow.eager.execute import CONTEXT, LIBRARY, explain, keep_reads
from everflow.eager.seeding import SEEDS
from everflow.eager.tensor import EagerTensor
from everflow.graph import dtypes
from everflow.graph.attrs import FunctionName
from everflow.graph.convert import convert_to_tensor
from everflow.graph.effect_order import is_effect
from everflow.graph.func_graph import FuncGraph
from everflow.graph.functions import LibraryFunction, with_called
from everflow.graph.graph import Graph
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.operation import Operation
from everflow.graph.scopes import is_eager_outside
from everflow.graph.stacks import EAGER, TAPES, get_default_graph, graphs, in_eager_mode
from everflow.graph.tensor import Tensor
from everflow.graph.tensor_spec import TensorSpec
from everflow.graph.type_spec import CompositeTensor, TypeSpec
from everflow.nest_paths import flatten_up_to
from everflow.ops import functional
from everflow.ops.registry import apply
from everflow.ops.resource_variables import variable_accessed
from everflow.runtime import effects
from everflow.runtime.resources import Slot

_serial = itertools.count()


def _is_variable(value: Any) -> bool:
    return isinstance(getattr(value, "handle", None), Tensor) and hasattr(value, "assign")


class TracedGraph(FuncGraph):
    """The body of a traced function."""

    orders_effects = True

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.eager_outside = eager = is_eager_outside()
        self._functions = LIBRARY._functions if eager else get_default_graph()._functions
        if eager:
            self.outer_graph = LIBRARY
            self.seed = SEEDS.seed
        self._watched: dict[int, Any] = {}

    def watch_variable(self, variable: Any) -> None:
        """Notes a variable that the body uses."""
        if id(variable) not in self._watched:
            self._watched[id(variable)] = variable
            self.variables.append(variable)

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """The trainable variables that the body uses."""
        return tuple(v for v in self.variables if v.trainable)


@internal("eager.function.ConcreteFunction")
class ConcreteFunction:
    """A traced function: a body whose inputs are the arguments' tensors and what it captured."""

    # SavedModels keep attributes that are functions.
    _everflow_function = True

    def __init__(self, graph: FuncGraph, structure: Any = None, signature: Any = None, name: str | None = None) -> None:
        self.graph = self._func_graph = graph
        self.name = name or f"__inference_{graph.name}_{next(_serial)}"
        self.structured_outputs = structure
        self.structured_input_signature = signature
        self._entry = LibraryFunction(self.name, graph=graph)
        graph._functions.setdefault(self.name, self._entry)
        self._captured = graph.external_captures
        self._step = CONTEXT.compile(graph)
        self._types = [t.dtype.base_dtype for t in graph.outputs]
        self._writes: list[int] | None = None
        self._pair: Any = None
        # How callers name the arguments' tensors, and how many of them may come by position.
        self._arg_keywords = [t.op.name for t in graph.inputs[:len(graph.inputs) - len(self._captured)]]
        self._num_positional_args = len(self._arg_keywords)

    # -- what it is

    @property
    def inputs(self) -> list[Tensor]:
        """The tensors of the body that stand for arguments and captures."""
        return self.graph.inputs

    @property
    def outputs(self) -> list[Tensor]:
        """The tensors that the body returns."""
        return self.graph.outputs

    @property
    def captured_inputs(self) -> list[Tensor]:
        """The tensors from outside that the body uses."""
        return self._captured

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables that the body uses."""
        return tuple(self.graph.variables)

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """The trainable ones of them."""
        return tuple(v for v in self.graph.variables if v.trainable)

    @property
    def output_shapes(self) -> Any:
        """The static shapes of what is returned."""
        return nest.map_structure(lambda t: getattr(t, "shape", None), self.structured_outputs)

    @property
    def output_dtypes(self) -> Any:
        """The dtypes of what is returned."""
        return nest.map_structure(lambda t: None if t is None else t.dtype, self.structured_outputs)

    @property
    def function_def(self) -> Any:
        """The FunctionDef."""
        return self._entry.definition

    def add_to_graph(self, g: Graph | None = None) -> None:
        """Makes the function known to a graph."""
        (LIBRARY if g is None and in_eager_mode() else g or get_default_graph())._add_function(self._entry)

    # -- calling

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = arguments.in_order(args, kwargs, self._arg_keywords, self._num_positional_args)
        return self.call_flat([self._tensor(i, value) for i, value in enumerate(given)])

    def _tensor(self, i: int, value: Any) -> Any:
        if isinstance(value, Tensor):
            return value
        if _is_variable(value):
            return value.handle if self.graph.inputs[i].dtype is dtypes.resource else convert_to_tensor(value)
        raise ValueError(f"All inputs to `ConcreteFunction`s must be Tensors; on invocation of {self.graph.name}, the {i}-th input "
                         f"({value}) was not a Tensor.")

    def call_flat(self, arguments: Any) -> Any:
        """The function's results for the tensors of its arguments."""
        if TAPES:
            for v in self.graph.variables:
                if v.trainable:
                    TAPES[-1].variable_read(v)
        inputs = [*arguments, *self._captured]
        return self._packed(self.run(inputs) if in_eager_mode() else self._add_call(inputs))

    def run(self, inputs: list[Any]) -> list[Any]:
        """The results, computed at once."""
        values = [t.value for t in inputs]
        for i in self._writes if self._writes is not None else self._written():
            if type(values[i]) is Slot:
                keep_reads(values[i])
        for tape in tapes.ACTIVE.tapes:
            if tape.watches(inputs):
                return self._recorded(inputs, values)
        found = self._run(self._step, values)
        return [EagerTensor(v, t) for v, t in zip(found, self._types)]

    def _run(self, step: Callable[..., Any], values: list[Any]) -> Any:
        try:
            return step(*values)
        except Exception as error:
            explained = explain(error, self.name, None)
            raise explained from (None if explained is error or error.__cause__ is None else error.__cause__)

    def _written(self) -> list[int]:
        if self._writes is None:
            self._writes = sorted(effects.of_function(CONTEXT, self.name).arguments)
        return self._writes

    def _add_call(self, inputs: list[Any]) -> list[Any]:
        """The results of a call as a node of the graph that is being built."""
        graph = get_default_graph()
        if graph._functions is not self.graph._functions:
            for name, inner in with_called([self._entry]).items():
                graph._functions.setdefault(name, inner)
        for v in self.graph.variables:
            variable_accessed(v)
        stateful = any(o.op_def_.is_stateful and o.type != "Placeholder" for o in self.graph.get_operations())
        tensors = [graph.own(t) if graph.building_function else t for t in inputs]
        found = apply("StatefulPartitionedCall" if stateful else "PartitionedCall", tensors, Tout=self._types,
                      f=FunctionName(self.name))
        if isinstance(found, Operation):
            return []
        for t, inside in zip(found, self.graph.outputs):
            t.dims, t.handle_data = inside.dims, inside.handle_data
        return found

    def _packed(self, outputs: list[Any]) -> Any:
        if isinstance(self.structured_outputs, Tensor):
            return outputs[0]
        rest = iter(outputs)
        flat = [None if t is None else next(rest) for t in nest.flatten(self.structured_outputs, expand_composites=True)]
        return nest.pack_sequence_as(self.structured_outputs, flat, expand_composites=True)

    # -- gradients

    def _recorded(self, inputs: list[Any], values: list[Any]) -> list[Any]:
        if self._pair is None:
            self._pair = _Pair(self)
        pair = self._pair
        found = self._run(pair.forward, values)
        count = len(self._types)
        outputs = [EagerTensor(v, t) for v, t in zip(found, self._types)]
        kept = found[count:]

        def backward(*given: Any) -> list[Any]:
            if tapes.ACTIVE.tapes or not in_eager_mode():
                return pair.again(inputs, given)
            return pair.backward(inputs, kept, given)

        tapes.record_custom(self.name, inputs, outputs, backward)
        return outputs


class _Pair:
    """A function that hands out what its gradient needs, and the gradient."""

    def __init__(self, function: ConcreteFunction) -> None:
        self.function = function
        graph = function.graph
        outside = Graph()
        outside._functions = graph._functions
        self.sources: dict[Tensor, tuple[str, int]] = {}
        kept: list[Tensor] = []
        stand_ins: dict[Tensor, Tensor] = {}

        def bring_out(t: Tensor) -> Tensor:
            if t not in stand_ins:
                with outside.as_default():
                    stand_ins[t] = apply("Placeholder", dtype=t.dtype.base_dtype, shape=t.dims)
                stand_ins[t].handle_data = t.handle_data
                if t in graph.inputs:
                    self.sources[stand_ins[t]] = ("input", graph.inputs.index(t))
                else:
                    self.sources[stand_ins[t]] = ("kept", len(kept))
                    kept.append(t)
            return stand_ins[t]

        with tapes.stop_recording():
            body = GradientBody.of(graph, outside, bring_out)
            with body.as_default():
                self.trainable = [i for i, y in enumerate(graph.outputs) if is_differentiable(y)]
                given = [body.add_input(graph.outputs[i].dtype.base_dtype, graph.outputs[i].dims, "dy") for i in self.trainable]
                found = differentiate(graph, [graph.outputs[i] for i in self.trainable], graph.inputs, list(given))
                self.kinds = [None if dx is None else IndexedSlices if isinstance(dx, IndexedSlices) else Tensor for dx in found]
                for x, dx in zip(graph.inputs, found):
                    if isinstance(dx, IndexedSlices):
                        from everflow.autodiff.branches import _parts

                        body.outputs.extend(_parts(x, dx))
                    elif dx is not None:
                        body.outputs.append(convert_to_tensor(dx))
            body.settle()
        self.captured = list(body.captures)
        body.inputs = [*given, *(body.captures[t] for t in self.captured)]
        self.types = [t.dtype.base_dtype for t in body.outputs]
        self._backward = CONTEXT.compile(body)
        self.forward = CONTEXT.compile(graph.variant([*graph.outputs, *kept]))
        self._again: Any = None

    def backward(self, inputs: list[Any], kept: Any, given: Any) -> list[Any]:
        """The inputs' gradients, on what the forward run kept."""
        dys: list[Any] = [given[i] if isinstance(given[i], Tensor) else convert_to_tensor(given[i]) for i in self.trainable]
        values = [dy.value for dy in dys]
        for t in self.captured:
            kind, i = self.sources[t]
            values.append(inputs[i].value if kind == "input" else kept[i])
        found = self.function._run(self._backward, values)
        return self._arranged([EagerTensor(v, t) for v, t in zip(found, self.types)])

    def _arranged(self, flat: list[Any]) -> list[Any]:
        rest = iter(flat)
        return [
            None if kind is None else next(rest) if kind is Tensor else IndexedSlices(next(rest), next(rest), next(rest))
            for kind in self.kinds
        ]

    def again(self, inputs: list[Any], given: Any) -> list[Any]:
        """The same as a function of its own, which can be differentiated in turn."""
        if self._again is None:
            entry = functional.gradient_function(LIBRARY, self.function.name)
            structure = list(entry.graph.outputs)
            self._again = ConcreteFunction(entry.graph, structure, name=entry.name + f"_{next(_serial)}")
        found = self._again.call_flat([*inputs, *(convert_to_tensor(g) for g in given)])
        return [g if kind is not None else None for g, kind in zip(found, self.kinds)]


@internal("framework.func_graph.func_graph_from_py_func")
def func_graph_from_py_func(name: str, python_func: Callable[..., Any], args: Any, kwargs: Any, signature: Any = None,
                            func_graph: Any = None, arg_names: list[str] | None = None, **_: Any) -> FuncGraph:
    """Traces a Python function. Tensors (or specs of tensors) among the arguments become inputs."""
    graph = func_graph or TracedGraph(name)
    names = arg_names or ["args"] * len(args)

    def inside(argument: str, value: Any) -> Any:
        return nest.map_structure(functools.partial(_argument_inside, graph, argument), value, expand_composites=True)

    with tapes.stop_recording(), graph.as_default():
        given = [inside(argument, value) for argument, value in zip(names, args)]
        named = {key: inside(key, kwargs[key]) for key in sorted(kwargs)}
        found = python_func(*given, **named)
        structure = nest.map_structure(functools.partial(_result_inside, graph), found, expand_composites=True)
    graph.structured_input_signature = arguments.described(args, kwargs, names)
    graph.structured_outputs = structure
    graph.outputs = [t for t in nest.flatten(structure, expand_composites=True) if t is not None]
    captured = set(map(id, graph.internal_captures))
    graph.inputs = [t for t in graph.inputs if id(t) not in captured] + graph.internal_captures
    return graph


def _argument_inside(graph: FuncGraph, name: str, value: Any) -> Any:
    if isinstance(value, TensorSpec):
        return _named_input(graph, value.name or name, value.dtype, value.shape.as_dims())
    if isinstance(value, Tensor):
        return _named_input(graph, name, value.dtype.base_dtype, value.dims, value.handle_data)
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        return _named_input(graph, name, dtypes.as_dtype(array.dtype), array.shape)
    return value


def _named_input(graph: FuncGraph, name: str, dtype: Any, dims: Any, handle_data: Any = None) -> Tensor:
    # A name that no op may have is only noted.
    clean = re.sub(r"[^A-Za-z0-9_.\\/-]", "_", name).lstrip("_-/\\") or "arg"
    found = graph.add_input(dtype, dims, clean, handle_data)
    found.op.attrs["_user_specified_name"] = name
    return found


def _result_inside(graph: FuncGraph, value: Any) -> Any:
    if value is None or isinstance(value, Operation):
        return None
    if hasattr(value, "flow") and hasattr(value, "handle") and hasattr(value, "stack"):
        return value.stack()
    try:
        found = convert_to_tensor(value)
    except (ValueError, TypeError) as error:
        raise TypeError(
            f"To be compatible with tf.contrib.eager.defun, Python functions must return zero or more Tensors; in compilation of the "
            f"function, found return value of type {type(value)}, which is not a Tensor.") from error
    # An input or capture that is returned is handed on by an op of its own.
    if found.op.type == "Placeholder":
        handle_data = found.handle_data
        found = apply("Identity", graph.own(found))
        found.handle_data = handle_data
    return graph.own(found)


class Spec:
    """How a function takes its arguments: its parameters, and the signature that it was given."""

    def __init__(self, function: Callable[..., Any], input_signature: Any) -> None:
        self.signature = inspect.signature(function)
        # What a partial has set already is no argument, unless a call gives another value.
        self.preset = frozenset(_preset_names(function))
        self.input_signature = None if input_signature is None else tuple(input_signature)
        if self.input_signature is not None:
            for spec in nest.flatten(self.input_signature, expand_composites=False):
                if not isinstance(spec, TypeSpec):
                    raise TypeError(f"Invalid input_signature {input_signature}; input_signature must be a possibly nested sequence of "
                                    f"TensorSpec objects.")

    # Methods are described without the object they belong to.
    is_method = False

    @property
    def fullargspec(self) -> inspect.FullArgSpec:
        """The parameters, in the form that files have them in."""
        return arguments.full_arg_spec(self.signature)

    def bound(self, args: Any, kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments by position where they have one, defaults filled in, numbers of numpy's as tensors."""
        given, named = self.complete(args, kwargs)
        if self.input_signature is None:
            return given, named
        if named:
            raise ValueError("Cannot define a TensorFlow function from a Python function with keyword arguments when input_signature is "
                             "provided.")
        return self._as_declared(given), {}

    def complete(self, args: Any, kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments by position where they have one, defaults filled in."""
        bound = self.signature.bind(*args, **kwargs)
        preset = {name for name in self.preset if name not in bound.arguments}
        bound.apply_defaults()
        return bound.args, {k: v for k, v in sorted(bound.kwargs.items()) if k not in preset}

    def _as_declared(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        assert self.input_signature is not None
        count = len(self.input_signature)
        try:
            # A list may stand for a tensor.
            flat = flatten_up_to(self.input_signature, args[:count], expand_composites=True)
        except (ValueError, TypeError):
            raise ValueError(
                f"Structure of Python function inputs does not match input_signature:\n  inputs: ({_shown(args)})\n  input_signature: "
                f"({_shown(self.input_signature)})") from None
        specs = nest.flatten(self.input_signature, expand_composites=True)
        found = []
        for spec, value in zip(specs, flat):
            try:
                t = value if isinstance(value, Tensor) else convert_to_tensor(value, spec.dtype)
            except (ValueError, TypeError):
                raise ValueError("When input_signature is provided, all inputs to the Python function must be convertible to tensors:\n"
                                 f"  inputs: ({_shown(args)})\n  input_signature: ({_shown(self.input_signature)})") from None
            if not spec.is_compatible_with(t):
                raise ValueError(f"Python inputs incompatible with input_signature:\n  inputs: ({_shown(args)})\n  input_signature: "
                                 f"({_shown(self.input_signature)})")
            found.append(t)
        return (*nest.pack_sequence_as(self.input_signature, found, expand_composites=True), *args[count:])


def _preset_names(function: Any) -> list[str]:
    found: list[str] = []
    while isinstance(function, functools.partial):
        found += function.keywords
        function = function.func
    return found


def _shown(values: Any) -> str:
    return ", ".join(str(v) for v in values)


class TracedFunction:
    """A Python function that is traced for each kind of arguments it is called with."""

    _everflow_function = True

    def __init__(self, function: Callable[..., Any], input_signature: Any = None, name: str | None = None, lifts_variables: bool = False,
                 autograph: bool = True, relaxes_shapes: bool = False, features: Any = None) -> None:
        self._python_function = function
        # Of a method: the function, and what gives the object.
        self._method: tuple[Callable[..., Any], Callable[[], Any]] | None = None
        self._name = name or getattr(function, "__name__", None) or type(function).__name__
        self._given_signature = input_signature
        self._spec = Spec(function, input_signature)
        self._lifts_variables = lifts_variables
        self._autograph = autograph
        self._features = features
        self._relaxes_shapes = relaxes_shapes
        self._cache: dict[Any, ConcreteFunction] = {}
        # The same by the types and shapes of arguments that are nothing but values.
        self._by_kind: dict[Any, ConcreteFunction] = {}
        self._lock = threading.RLock()
        self._made: list[Any] | None = None
        self._bound: weakref.WeakKeyDictionary[Any, TracedFunction] = weakref.WeakKeyDictionary()
        functools.update_wrapper(self, function, updated=())
        self.__signature__ = self._spec.signature

    @property
    def python_function(self) -> Callable[..., Any]:
        """What was decorated."""
        return self._python_function

    @property
    def function_spec(self) -> Spec:
        """How the function takes its arguments."""
        return self._spec

    @property
    def input_signature(self) -> Any:
        """The signature that was given."""
        return self._spec.input_signature

    @property
    def _function_cache(self) -> Any:
        return self._cache

    def __get__(self, instance: Any, owner: Any) -> Any:
        if instance is None:
            return self
        found = self._bound.get(instance)
        if found is None:
            weak = weakref.ref(instance)
            inner = self._python_function

            @functools.wraps(inner)
            def method(*args: Any, **kwargs: Any) -> Any:
                return inner(weak(), *args, **kwargs)

            bound = inspect.signature(inner)
            method.__signature__ = bound.replace(parameters=list(bound.parameters.values())[1:])  # type: ignore[attr-defined]
            found = self._bound[instance] = type(self)(
                method, self._given_signature, self._name, self._lifts_variables, self._autograph, self._relaxes_shapes, self._features)
            found._method = inner, weak
        return found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        eagerly = in_eager_mode()
        if eagerly and RUN_EAGERLY.value:
            return self._python_function(*args, **kwargs)
        kind = _kind_of(args) if eagerly and not kwargs else None
        function = self._by_kind.get(kind) if kind is not None else None
        if function is not None:
            return function.call_flat(args)
        given, named = self._spec.bound(args, kwargs)
        function = self._traced(given, named)
        flat = nest.flatten((given, named), expand_composites=True)
        if kind is not None and len(flat) == len(args):
            self._by_kind[kind] = function
        return function.call_flat([
            t if isinstance(t, Tensor) else convert_to_tensor(t) for t in flat if isinstance(t, (Tensor, np.ndarray, np.generic))])

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The traced function for these arguments, or for specs of them."""
        if self._spec.input_signature is not None and not args and not kwargs:
            args = self._spec.input_signature
            return self._traced(args, {})
        return self._traced(*self._spec.complete(args, kwargs))

    def _list_all_concrete_functions_for_serialization(self) -> list[ConcreteFunction]:
        """All bodies that there are, and the one that a given signature is enough for."""
        if self._spec.input_signature is not None:
            self.get_concrete_function()
        return list(self._cache.values())

    def _traced(self, args: Any, kwargs: Any) -> ConcreteFunction:
        key = self._key(args, kwargs)
        found = self._cache.get(key)
        if found is None:
            with self._lock:
                found = self._cache.get(key)
                if found is None:
                    found = self._cache[key] = self._trace(args, kwargs)
        return found

    def _key(self, args: Any, kwargs: Any) -> Any:
        where = "eager" if is_eager_outside() else id(_outermost())
        if self._spec.input_signature is not None:
            return where
        parts = [_part(v) for v in nest.flatten((args, kwargs), expand_composites=True)]
        return where, _structure_of((args, kwargs)), tuple(parts)

    def _trace(self, args: Any, kwargs: Any) -> ConcreteFunction:
        if self._spec.input_signature is not None:
            args = (*self._spec.input_signature, *args[len(self._spec.input_signature):])
        if not self._lifts_variables:
            return self._trace_once(args, kwargs)
        if self._made is not None:
            with _creating(_refused):
                return self._trace_once(args, kwargs)
        self._made = []
        try:
            with _creating(functools.partial(_lifted, self._made)):
                found = self._trace_once(args, kwargs)
        except BaseException:
            self._made = None
            raise
        if self._made:
            # Traced again: a function that makes variables at each call is refused.
            with _creating(_refused):
                found = self._trace_once(args, kwargs)
        return found

    def _trace_once(self, args: Any, kwargs: Any) -> ConcreteFunction:
        names = arguments.positional_names(self._spec.signature, len(args))
        graph = func_graph_from_py_func(self._name, self._as_traced(), args, kwargs, arg_names=names)
        graph.control_outputs = [op for op in graph.get_operations() if is_effect(op)]
        return ConcreteFunction(graph, graph.structured_outputs, graph.structured_input_signature)

    def _as_traced(self) -> Callable[..., Any]:
        """The function to call for a trace: with Python's control flow converted, unless that was turned off."""
        if not self._autograph:
            return self._python_function
        if self._method is None:
            return for_tracing(self._python_function, self._features)
        function, instance = self._method
        return functools.partial(for_tracing(function, self._features), instance())

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables that the traced bodies use."""
        return tuple(dict.fromkeys(v for f in self._cache.values() for v in f.variables))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """The trainable ones of them."""
        return tuple(v for v in self.variables if v.trainable)


internal("eager.function.Function")(TracedFunction)


class Definition(TracedFunction):
    """What tf.function makes: variables are made at the first call only."""


internal("eager.def_function.Function")(Definition)


class _Flag:
    value = False


RUN_EAGERLY = _Flag()


@public("config.experimental_run_functions_eagerly")
@internal("eager.def_function.run_functions_eagerly")
def run_functions_eagerly(run_eagerly: bool) -> None:
    """Makes tf.function call the Python function itself, for debugging."""
    RUN_EAGERLY.value = bool(run_eagerly)


def _outermost() -> Graph:
    for graph in reversed(graphs.stack):
        if graph is not EAGER and not graph.building_function:
            return graph
    return get_default_graph()


def _structure_of(structure: Any) -> Any:
    if isinstance(structure, (list, tuple)):
        return (type(structure).__name__, *map(_structure_of, structure))
    if isinstance(structure, dict):
        return ("dict", *((k, _structure_of(v)) for k, v in sorted(structure.items())))
    if isinstance(structure, CompositeTensor):
        return type(structure).__name__
    return None


def _kind_of(args: tuple[Any, ...]) -> Any:
    """The types and shapes of arguments that are values of tensors; None where there are others."""
    kind: list[Any] = []
    for t in args:
        shape = getattr(t.value, "shape", None) if type(t) is EagerTensor else None
        if shape is None:
            return None
        kind.append(t.dtype._type_enum)
        kind.append(shape)
    return tuple(kind)


def _part(value: Any) -> Any:
    """What makes a difference between two values of an argument."""
    if isinstance(value, Tensor):
        return "tensor", value.dtype.base_dtype, value.dims
    if isinstance(value, TensorSpec):
        return "tensor", value.dtype, value.shape.as_dims()
    if isinstance(value, (np.ndarray, np.generic)):
        return "tensor", dtypes.as_dtype(value.dtype), value.shape
    if _is_variable(value):
        return "variable", id(value.handle)
    try:
        hash(value)
    except TypeError:
        return "object", id(value)
    return type(value), value


# -- variables that a function makes

class _creating:
    """Variables made inside are made by this creator."""

    def __init__(self, creator: Callable[..., Any]) -> None:
        self._creator = creator

    def __enter__(self) -> None:
        _CREATOR.stack.append(self._creator)

    def __exit__(self, *_: Any) -> None:
        _CREATOR.stack.pop()


class _Creators(threading.local):
    def __init__(self) -> None:
        self.stack: list[Callable[..., Any]] = []


_CREATOR = _Creators()


def create_variable(make: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Makes a variable, as the function that is being traced wants it."""
    return _CREATOR.stack[-1](make, arguments)


def is_tracing() -> bool:
    """Whether a function that says how variables are made is being traced."""
    return bool(_CREATOR.stack) and get_default_graph().building_function and not in_eager_mode()


def _lifted(made: list[Any], make: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    initial = arguments.get("initial_value")
    if isinstance(initial, Tensor) and not initial.is_eager:
        arguments = {**arguments, "initial_value": _computed(initial)}
    variable = make(**arguments)
    made.append(weakref.ref(variable))
    return variable


def _refused(make: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    raise ValueError("tf.function-decorated function tried to create variables on non-first call.")


def _computed(tensor: Tensor) -> Any:
    """The value of a tensor of the function that is being traced; it may depend on no argument."""
    step = CONTEXT.step([tensor], [], [])
    return EagerTensor(step.call()[0], tensor.dtype.base_dtype) if is_eager_outside() else tensor


# -- decorators

@public("function", "compat.v2.function")
@internal("eager.def_function.function")
def function(func: Any = None, input_signature: Any = None, autograph: bool = True, experimental_autograph_options: Any = None,
             experimental_relax_shapes: bool = False, experimental_compile: Any = None) -> Any:
    """Makes a Python function one that is traced into a graph and runs as a whole."""
    if input_signature is not None and not isinstance(input_signature, (list, tuple)):
        raise TypeError(f"input_signature must be either a tuple or a list, received {type(input_signature)}")

    def decorate(f: Callable[..., Any]) -> Definition:
        return Definition(f, input_signature, lifts_variables=True, autograph=autograph,
                          relaxes_shapes=experimental_relax_shapes, features=experimental_autograph_options)

    return decorate if func is None else decorate(func)


@public("contrib.eager.defun")
@internal("eager.function.defun")
def defun(func: Any = None, input_signature: Any = None, autograph: bool = True, experimental_autograph_options: Any = None,
          experimental_relax_shapes: bool = False) -> Any:
    """The same; variables are made whenever the function is traced."""
    return defun_with_attributes(func, input_signature, None, autograph, experimental_autograph_options, experimental_relax_shapes)


public("contrib.eager.function")(function)


@internal("eager.function.defun_with_attributes")
def defun_with_attributes(func: Any = None, input_signature: Any = None, attributes: Any = None, autograph: bool = True,
                          experimental_autograph_options: Any = None, experimental_relax_shapes: bool = False) -> Any:
    """The same, with attributes for the function."""
    if input_signature is not None and not isinstance(input_signature, (list, tuple)):
        raise TypeError(f"input_signature must be either a tuple or a list, received {type(input_signature)}")

    def decorate(f: Callable[..., Any]) -> TracedFunction:
        return TracedFunction(f, input_signature, autograph=autograph, relaxes_shapes=experimental_relax_shapes,
                              features=experimental_autograph_options)

    return decorate if func is None else decorate(func)
