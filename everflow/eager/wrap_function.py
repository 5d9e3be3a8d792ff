"""tf.wrap_function: programs written for graphs, as functions that hold their variables and can be cut to parts of their graph."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import internal, public
from everflow.eager.arguments import in_order
from everflow.eager.concrete_functions import ConcreteFunction, TracedGraph
from everflow.eager.created_variables import lifted
from everflow.eager.tracing import func_graph_from_py_func
from everflow.graph.convert import convert_to_tensor
from everflow.graph.func_graph import FuncGraph
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.graph.tensor_spec import TensorSpec
from everflow.graph.type_spec import CompositeTensor
from everflow.ops.variables.traced_creation import creating
from everflow.ops.variables.variables import collections_for


@internal("eager.wrap_function.VariableHolder")
class VariableHolder:
    """Keeps the variables that functions make, by name; functions that share a holder may share variables."""

    def __init__(self, fn: Callable[..., Any] | None = None, share_variables: bool = False) -> None:
        self._fn = fn
        self._share_variables = share_variables
        self._variables: dict[str, Any] = {}

    @property
    def variables(self) -> dict[str, Any]:
        """The variables by name."""
        return self._variables

    def variable_creator_scope(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        """Makes a variable, or finds the one with its name."""
        return self._create(lambda **arguments: next_creator(**arguments), kwargs)

    def _create(self, make: Callable[..., Any], arguments: dict[str, Any]) -> Any:
        graph = get_default_graph()
        collections = arguments.pop("collections", None)
        with name_scope(arguments.get("name"), "Variable") as scope:
            name = scope.rstrip("/")
        if self._share_variables and name in self._variables:
            variable = self._variables[name]
        else:
            # The whole name: a scope that ends in a slash stands for itself.
            variable = self._variables[name] = lifted([], make, {**arguments, "name": scope})
        if isinstance(graph, TracedGraph):
            graph.watch_variable(variable)
        for key in collections_for(collections, variable.trainable):
            graph.add_to_collection(key, variable)
        return variable

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        assert self._fn is not None
        return self.call_with_variable_creator_scope(self._fn)(*args, **kwargs)

    def call_with_variable_creator_scope(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """The function, with its variables held here."""

        @functools.wraps(fn)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with creating(self._create):
                return fn(*args, **kwargs)

        return wrapped


@internal("eager.wrap_function.WrappedFunction")
class WrappedFunction(ConcreteFunction):
    """A function whose graph is run as graphs are: only what is needed for its results."""

    def __init__(self, fn_graph: FuncGraph, variable_holder: VariableHolder, attrs: Any = None, signature: Any = None) -> None:
        self._variable_holder = variable_holder
        fn_graph.prunes_effects = True
        super().__init__(fn_graph, fn_graph.structured_outputs, signature)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        declared = self.graph.inputs[: len(self.graph.inputs) - len(self._captured)]
        if kwargs and set(kwargs) <= set(self._arg_keywords):
            given = in_order(args, kwargs, self._arg_keywords, self._num_positional_args)
        else:
            given = [t for t in nest.flatten((args, kwargs), expand_composites=True) if t is not None]
        if len(given) != len(declared):
            raise TypeError(f"Expected {len(declared)} arguments, got {len(given)}")
        return self.call_flat([t if isinstance(t, Tensor) else convert_to_tensor(t, inside.dtype) for t, inside in zip(given, declared)])

    def prune(self, feeds: Any, fetches: Any, name: str | None = None, input_signature: Any = None) -> WrappedFunction:
        """The function from some tensors of the graph to others, or to ops to run."""
        given = [_element(self.graph, t) for t in nest.flatten(feeds, expand_composites=True)]
        for t in given:
            if not isinstance(t, Tensor):
                raise ValueError(f"Feeds must be tensors, got {t}")
        wanted = nest.map_structure(functools.partial(_element, self.graph), fetches, expand_composites=True)
        return self._cut(given, wanted, [], name, input_signature)

    def _cut(self, given: list[Tensor], wanted: Any, effects: list[Operation], name: str | None, signature: Any) -> WrappedFunction:
        """The same for tensors and ops of this graph, with further ops to run."""
        flat = nest.flatten(wanted, expand_composites=True)
        captured = set(map(id, self.graph.internal_captures))
        arguments = [t for t in given if id(t) not in captured]
        pruned = self.graph.variant([t for t in flat if isinstance(t, Tensor)])
        pruned.control_outputs = [*effects, *(o for o in flat if isinstance(o, Operation))]
        needed = _needed(pruned, arguments)
        pruned._captures = {outside: t for outside, t in self.graph.captures.items() if t.op in needed}
        pruned.inputs = [*arguments, *pruned._captures.values()]
        fed = set(pruned.inputs)
        loose = [o.name for o in needed if o.type == "Placeholder" and o.outputs[0] not in fed]
        if loose:
            raise ValueError(f"Fetches depend on placeholders that are not fed: {', '.join(sorted(loose))}")
        pruned.structured_outputs = nest.map_structure(lambda t: t if isinstance(t, Tensor) else None, wanted, expand_composites=True)
        if name is not None:
            pruned.name = name
        return WrappedFunction(pruned, self._variable_holder, signature=signature)


def _element(graph: FuncGraph, value: Any) -> Any:
    """The tensor or op of a graph that a fetch stands for: itself, its name, or what a SavedModel says of it."""
    if value is None or isinstance(value, (Tensor, Operation)):
        return value
    if isinstance(value, (str, bytes)):
        return graph.as_graph_element(value)
    if hasattr(value, "WhichOneof") and hasattr(value, "tensor_shape"):
        return graph.as_graph_element(value.name)
    return graph.as_graph_element(value, allow_operation=True)


def _needed(graph: FuncGraph, feeds: list[Tensor]) -> set[Operation]:
    """The ops that run to compute the results from the feeds."""
    found: set[Operation] = set()
    fed = set(map(id, feeds))
    stack = [t.op for t in graph.outputs if id(t) not in fed] + list(graph.control_outputs)
    while stack:
        op = stack.pop()
        if op not in found:
            found.add(op)
            stack.extend(t.op for t in op.inputs if id(t) not in fed)
            stack.extend(op.control_inputs)
    return found


def _traced(fn: Callable[..., Any], signature: Any, name: str, holder: VariableHolder, graph: FuncGraph | None = None) -> FuncGraph:
    specs = signature if isinstance(signature, (list, tuple)) else [signature]
    args = [_spec(s) for s in specs]
    effects: list[Operation] = []

    def without_ops(*given: Any, **named: Any) -> Any:
        found = holder.call_with_variable_creator_scope(fn)(*given, **named)
        effects.extend(o for o in nest.flatten(found) if isinstance(o, Operation))
        return found

    traced = func_graph_from_py_func(name, without_ops, tuple(args), {}, func_graph=graph, add_control_dependencies=False)
    traced.control_outputs = effects
    return traced


def _spec(value: Any) -> Any:
    if isinstance(value, Tensor) and not isinstance(value, CompositeTensor):
        return TensorSpec(value.shape, value.dtype)
    return value


@internal("eager.wrap_function.WrappedGraph")
class WrappedGraph:
    """A graph that several functions are parts of, with variables and collections in common."""

    def __init__(self, variable_holder: VariableHolder | None = None, **kwargs: Any) -> None:
        self._variable_holder = variable_holder or VariableHolder(share_variables=True)
        self.graph = TracedGraph(kwargs.pop("name", "wrapped_function_graph"), collections={})
        self._wrapped_function = WrappedFunction(self.graph, self._variable_holder)
        self._functions: dict[str, WrappedFunction] = {}

    @property
    def functions(self) -> dict[str, WrappedFunction]:
        """The functions that were wrapped under a name."""
        return self._functions

    @property
    def variables(self) -> dict[str, Any]:
        """The variables by name."""
        return self._variable_holder.variables

    def wrap_function(self, fn: Callable[..., Any], signature: Any, name: str | None = None) -> WrappedFunction:
        """Adds a function to the graph."""
        if name is not None and name in self._functions:
            return self._functions[name]
        graph = self.graph
        before = set(graph.inputs)
        _traced(fn, signature, graph.name, self._variable_holder, graph)
        captured = set(map(id, graph.internal_captures))
        own = [t for t in graph.inputs if t not in before and id(t) not in captured]
        wrapped = self._wrapped_function._cut(own, graph.structured_outputs, graph.control_outputs, name, signature)
        if name is not None:
            self._functions[name] = wrapped
        return wrapped


@public("wrap_function")
def wrap_function(fn: Callable[..., Any], signature: Any, name: str | None = None) -> WrappedFunction:
    """Traces a Python function once. It keeps the variables that it makes, and its graph can be cut to parts with `prune`."""
    holder = VariableHolder(fn)
    graph = _traced(
        fn, signature, f"wrapped_{name}" if name else "wrapped_function", holder, TracedGraph(name or "wrapped_function", collections={})
    )
    return WrappedFunction(graph, holder, signature=signature)


@internal("eager.wrap_function.function_from_graph_def")
def function_from_graph_def(graph_def: Any, inputs: Any, outputs: Any) -> WrappedFunction:
    """A graph as a function from some of its tensors to others."""
    whole = wrap_function(lambda: tf.import_graph_def(graph_def, name=""), [])
    element = whole.graph.as_graph_element
    return whole.prune(nest.map_structure(element, inputs), nest.map_structure(element, outputs))
