"""tf.function and tfe.defun: Python functions traced into graph functions, which run as one step."""

from __future__ import annotations

import functools
import inspect
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow import nest
from everflow.api import internal, public
from everflow.autograph.conversion_api import do_not_convert, for_tracing
from everflow.eager import arguments
from everflow.eager.concrete_functions import ConcreteFunction, TracedGraph, is_variable
from everflow.eager.created_variables import lifted, refused
from everflow.eager.function_cache import FunctionCache
from everflow.eager.function_signatures import Spec, kind_of, outermost, parts_of, structure_of
from everflow.eager.tracing import func_graph_from_py_func
from everflow.graph.convert import convert_to_tensor
from everflow.graph.effect_order import is_effect
from everflow.graph.scopes import is_eager_outside
from everflow.graph.stacks import TAPES, get_default_graph, in_eager_mode
from everflow.graph.tensor import Tensor
from everflow.ops.variables.traced_creation import creating
from everflow.proto import attr_value_pb2


class TracedFunction:
    """A Python function that is traced for each kind of arguments it is called with."""

    _everflow_function = True

    # Whether variables that the function makes are made once, outside of it.
    _lifts_variables = False
    # Whether its ops are marked as ones to compile.
    _compiles = False

    def __init__(
        self,
        python_function: Callable[..., Any],
        name: str | None = None,
        input_signature: Any = None,
        attributes: Any = None,
        autograph: bool = True,
        autograph_options: Any = None,
        experimental_relax_shapes: bool = False,
        capture_by_value: bool | None = None,
    ) -> None:
        self._python_function = python_function
        # Of a method: the function, and what gives the object.
        self._method: tuple[Callable[..., Any], Callable[[], Any]] | None = None
        self._name = (
            (attributes or {}).get("func_name") or name or getattr(python_function, "__name__", None) or type(python_function).__name__
        )
        self._attributes = attributes
        self._given_signature = input_signature
        self._spec = Spec(python_function, input_signature)
        self._autograph = autograph
        self._features = autograph_options
        self._relaxes_shapes = experimental_relax_shapes
        self._capture_by_value = capture_by_value
        self._function_cache = FunctionCache()
        # The same by the types and shapes of arguments that are nothing but values.
        self._by_kind: dict[Any, ConcreteFunction] = {}
        self._lock = threading.RLock()
        self._made: list[Any] | None = None
        self._bound: weakref.WeakKeyDictionary[Any, TracedFunction] = weakref.WeakKeyDictionary()
        functools.update_wrapper(self, python_function, updated=())
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
    def _cache(self) -> dict[Any, ConcreteFunction]:
        return self._function_cache.primary

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
            found = self._bound[instance] = self._for_method(method)
            found._method = inner, weak
        return found

    def _for_method(self, method: Callable[..., Any]) -> TracedFunction:
        return TracedFunction(
            method,
            self._name,
            self._given_signature,
            self._attributes,
            self._autograph,
            self._features,
            self._relaxes_shapes,
            self._capture_by_value,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        eagerly = in_eager_mode()
        if eagerly and RUN_EAGERLY.value:
            return self._python_function(*args, **kwargs)
        kind = kind_of(args) if eagerly and not kwargs else None
        function = self._by_kind.get(kind) if kind is not None else None
        if function is not None:
            return function.call_flat(args)
        given, named = self._spec.bound(args, kwargs)
        function = self._traced(given, named)
        flat = nest.flatten((given, named), expand_composites=True)
        if TAPES:
            for v in flat:
                if is_variable(v) and v.trainable:
                    TAPES[-1].variable_read(v)
        if kind is not None and len(flat) == len(args):
            self._by_kind[kind] = function
        return function.call_flat(
            [
                t if isinstance(t, Tensor) else t.handle if is_variable(t) else convert_to_tensor(t)
                for t in flat
                if isinstance(t, (Tensor, np.ndarray, np.generic)) or is_variable(t)
            ]
        )

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The traced function for these arguments, or for specs of them."""
        if self._spec.input_signature is not None and not args and not kwargs:
            args = self._spec.input_signature
            return self._traced(args, {})
        return self._traced(*self._spec.bound(args, kwargs))

    def _list_all_concrete_functions_for_serialization(self) -> list[ConcreteFunction]:
        """All bodies that there are, and the one that a given signature is enough for."""
        if self._spec.input_signature is not None:
            self.get_concrete_function()
        return self._function_cache.all_values()

    def _traced(self, args: Any, kwargs: Any) -> ConcreteFunction:
        key = self._key(args, kwargs)
        cache = self._function_cache
        found = cache.primary.get(key)
        if found is None:
            with self._lock:
                found = cache.primary.get(key)
                if found is None and self._relaxes_shapes and len(key) == 3 and key[0] in cache.missed:
                    return cache.find_relaxed(key, (args, kwargs), lambda given: self._trace(*given))
                if found is None:
                    found = cache.primary[key] = self._trace(args, kwargs)
                    cache.missed.add(key[0])
        return found

    def _key(self, args: Any, kwargs: Any) -> tuple[Any, ...]:
        where: Any = "eager" if is_eager_outside() else weakref.ref(outermost())
        if (reads := get_default_graph()._auto_cast_variable_read_dtype) is not None:
            where = (where, reads)
        if self._spec.input_signature is not None:
            return (where,)
        return where, structure_of((args, kwargs)), parts_of(nest.flatten((args, kwargs), expand_composites=True))

    def _trace(self, args: Any, kwargs: Any) -> ConcreteFunction:
        if self._spec.input_signature is not None:
            args = (*self._spec.input_signature, *args[len(self._spec.input_signature) :])
        if not self._lifts_variables:
            return self._trace_once(args, kwargs)
        if self._made is not None:
            with creating(refused):
                return self._trace_once(args, kwargs)
        self._made = []
        try:
            with creating(functools.partial(lifted, self._made)):
                found = self._trace_once(args, kwargs)
        except BaseException:
            self._made = None
            raise
        if self._made:
            # Traced again: a function that makes variables at each call is refused.
            with creating(refused):
                found = self._trace_once(args, kwargs)
        return found

    def _trace_once(self, args: Any, kwargs: Any) -> ConcreteFunction:
        names = arguments.positional_names(self._spec.signature, len(args))
        graph = TracedGraph(self._name, self._capture_by_value)
        with graph._attr_scope({"_XlaCompile": attr_value_pb2.AttrValue(b=True) if self._compiles else None}):
            func_graph_from_py_func(self._name, self._as_traced(), args, kwargs, func_graph=graph, arg_names=names)
        graph.control_outputs = [op for op in graph.get_operations() if is_effect(op)]
        return ConcreteFunction(graph, graph.structured_outputs, graph.structured_input_signature, attrs=self._attributes)

    def _as_traced(self) -> Callable[..., Any]:
        """The function to call for a trace: with Python's control flow converted, unless that was turned off."""
        if not self._autograph:
            return do_not_convert(self._python_function)
        if self._method is None:
            return for_tracing(self._python_function, self._features)
        function, instance = self._method
        return functools.partial(for_tracing(function, self._features), instance())

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables that the traced bodies use."""
        return tuple(dict.fromkeys(v for f in self._function_cache.all_values() for v in f.variables))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """The trainable ones of them."""
        return tuple(v for v in self.variables if v.trainable)


internal("eager.function.Function")(TracedFunction)


class Definition(TracedFunction):
    """What tf.function makes: variables are made at the first call only."""

    _lifts_variables = True

    def __init__(
        self,
        python_function: Callable[..., Any],
        name: str | None = None,
        input_signature: Any = None,
        autograph: bool = True,
        experimental_autograph_options: Any = None,
        experimental_relax_shapes: bool = False,
        experimental_compile: bool | None = None,
    ) -> None:
        super().__init__(python_function, name, input_signature, None, autograph, experimental_autograph_options, experimental_relax_shapes)
        self._compiles = bool(experimental_compile)

    def _for_method(self, method: Callable[..., Any]) -> Definition:
        return Definition(method, self._name, self._given_signature, self._autograph, self._features, self._relaxes_shapes, self._compiles)


internal("eager.def_function.Function")(Definition)


class _Flag:
    value = False


RUN_EAGERLY = _Flag()


@public("config.experimental_run_functions_eagerly")
@internal("eager.def_function.run_functions_eagerly")
def run_functions_eagerly(run_eagerly: bool) -> None:
    """Makes tf.function call the Python function itself, for debugging."""
    RUN_EAGERLY.value = bool(run_eagerly)


# -- decorators


@public("function", "compat.v2.function")
@internal("eager.def_function.function")
def function(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    experimental_autograph_options: Any = None,
    experimental_relax_shapes: bool = False,
    experimental_compile: Any = None,
) -> Any:
    """Makes a Python function one that is traced into a graph and runs as a whole; compiled on request."""
    if input_signature is not None and not isinstance(input_signature, (list, tuple)):
        raise TypeError(f"input_signature must be either a tuple or a list, received {type(input_signature)}")

    def decorate(f: Callable[..., Any]) -> Definition:
        return Definition(
            f, None, input_signature, autograph, experimental_autograph_options, experimental_relax_shapes, experimental_compile
        )

    return decorate if func is None else decorate(func)


@public("contrib.eager.defun")
@internal("eager.function.defun")
def defun(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    experimental_autograph_options: Any = None,
    experimental_relax_shapes: bool = False,
) -> Any:
    """The same; variables are made whenever the function is traced."""
    return defun_with_attributes(func, input_signature, None, autograph, experimental_autograph_options, experimental_relax_shapes)


public("contrib.eager.function")(function)


@internal("eager.function.defun_with_attributes")
def defun_with_attributes(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    attributes: Any = None,
    autograph: bool = True,
    experimental_autograph_options: Any = None,
    experimental_relax_shapes: bool = False,
) -> Any:
    """The same, with attributes for the function."""
    if input_signature is not None and not isinstance(input_signature, (list, tuple)):
        raise TypeError(f"input_signature must be either a tuple or a list, received {type(input_signature)}")

    def decorate(f: Callable[..., Any]) -> TracedFunction:
        return TracedFunction(f, None, input_signature, attributes, autograph, experimental_autograph_options, experimental_relax_shapes)

    return decorate if func is None else decorate(func)


@internal("eager.function.register")
def register(func: Callable[..., Any], *args: Any, **kwargs: Any) -> ConcreteFunction:
    """Puts a traced function and its gradient into the graph's library, without calling it."""
    if not isinstance(func, TracedFunction):
        raise ValueError(f"Only defun function is allowed to be registered. Got type: {type(func)}")
    concrete = func.get_concrete_function(*args, **kwargs)
    concrete.add_to_graph()
    concrete.add_gradient_functions_to_graph()
    return concrete
