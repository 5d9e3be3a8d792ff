"""The functions of a graph's library."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from everflow import errors
from everflow.graph import dtypes, effect_order, opdefs
from everflow.graph.attrs import FunctionName, to_proto
from everflow.graph.func_graph import VARIABLE_OPS, FuncGraph
from everflow.graph.graph import Graph
from everflow.graph.keys import GraphKeys
from everflow.graph.operation import Operation
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.graph.wire import op_def_from_proto

# Collections by which variables are shared between a function and the graph around it.
VARIABLE_COLLECTIONS = (*GraphKeys._VARIABLE_COLLECTIONS, ("__variable_store",), ("__varscope",))


class LibraryFunction:
    """A function of a graph's library: made of a body or of a FunctionDef, it makes the other when it is asked for."""

    def __init__(
        self,
        name: str,
        graph: FuncGraph | None = None,
        definition: Any = None,
        outer_graph: Graph | None = None,
        grad_func_name: str | None = None,
        out_names: list[str] | None = None,
        attrs: dict[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.grad_func_name = grad_func_name
        self.python_grad_func: Any = None
        self.gradient: LibraryFunction | None = None
        # Whether another variant took its place where it was made for; it is exported only where something still calls it.
        self.is_superseded = False
        self.attrs = attrs or {}
        # The shapes of outputs, by those of arguments that say more than the body's.
        self.dims_by_arguments: dict[Any, list[Any]] = {}
        self._out_names = out_names
        self._graph = graph
        self._definition = definition
        self._outer_graph = outer_graph
        self._op_def: opdefs.OpDef | None = None

    @property
    def graph(self) -> FuncGraph:
        """The body."""
        if self._graph is None:
            from everflow.graph.function_defs import function_def_to_graph

            outer = self._outer_graph or get_default_graph()
            with outer.as_default():
                self._graph = function_def_to_graph(self._definition, copy_functions=False)
            self._graph._functions = outer._functions
        return self._graph

    @property
    def definition(self) -> Any:
        """The FunctionDef."""
        if self._definition is None:
            from everflow.graph.function_defs import function_def

            body = self._graph
            assert body is not None
            operations, before, always = operations_of(body), None, body.control_outputs
            if body.orders_effects and not body.prunes_effects:
                before, always = effect_order.edges(operations)
            self._definition = function_def(self.name, operations, body.inputs, body.outputs, self._out_names, always, before)
            for key, value in self.attrs.items():
                self._definition.attr[key].CopyFrom(to_proto(value, None))
        return self._definition

    @property
    def op_def(self) -> opdefs.OpDef:
        """The signature, as the definition of an op that calls the function."""
        if self._op_def is None:
            self._op_def = op_def_from_proto(self.definition.signature)
        return self._op_def

    @property
    def captured_inputs(self) -> list[Tensor]:
        """What a call gives the function besides its arguments."""
        return self._graph.external_captures if self._graph is not None else []

    @property
    def declared_input_types(self) -> tuple[Any, ...]:
        """The dtypes of the arguments, without captures."""
        if self._graph is None:
            return tuple(dtypes.as_dtype(a.type) for a in self.definition.signature.input_arg)
        captured = set(self._graph.internal_captures)
        return tuple(t.dtype for t in self._graph.inputs if t not in captured)

    def add_to_graph(self, graph: Graph) -> None:
        """Makes the function known to a graph."""
        graph._add_function(self)

    def __repr__(self) -> str:
        return f"<function {self.name}>"


def operations_of(body: FuncGraph) -> list[Operation]:
    """The operations of a body without those that belong to another variant of it, with further inputs."""
    inputs = {t.op for t in body.inputs}
    foreign: set[Operation] = set()
    for op in body.get_operations():
        if (op.type == "Placeholder" and op not in inputs) or any(t.op in foreign for t in op.inputs):
            foreign.add(op)
    needed = _needed_from(body, inputs) if body.home is not body and body.prunes_effects else None
    return [op for op in body.get_operations() if op not in foreign and (needed is None or op in needed)]


def _needed_from(body: FuncGraph, inputs: set[Operation]) -> set[Operation]:
    """The operations that run to compute a body's results from its inputs."""
    found = set(inputs)
    stack = [t.op for t in body.outputs] + list(body.control_outputs)
    while stack:
        op = stack.pop()
        if op not in found:
            found.add(op)
            stack.extend(t.op for t in op.inputs)
            stack.extend(op.control_inputs)
    return found


def fingerprint(body: FuncGraph) -> str:
    """Eight characters that tell bodies apart by what they do, the same in every run of a program."""
    digest = hashlib.sha1()

    def add(*items: Any) -> None:
        digest.update("\0".join(map(str, items)).encode("utf-8", "surrogateescape"))

    for op in operations_of(body):
        add(op.name, op.type, op._device, *(t.name for t in op.inputs), *sorted(c.name for c in op.control_inputs))
        for key, value in op.attrs.items():
            if isinstance(value, np.ndarray):
                add(key, value.shape, value.dtype)
                digest.update(repr(value.tolist()).encode() if value.dtype == object else np.ascontiguousarray(value).tobytes())
            else:
                add(key, value)
    add("inputs", *(t.name for t in body.inputs), "outputs", *(t.name for t in body.outputs), *(o.name for o in body.control_outputs))
    return short_hash(digest.digest())[:8]


def short_hash(digest: bytes) -> str:
    """Eleven letters and digits of a digest."""
    alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    number = int.from_bytes(digest[:9], "big")
    found = ""
    for _ in range(11):
        number, i = divmod(number, len(alphabet))
        found += alphabet[i]
    return found


def add_body(graph: Graph, body: FuncGraph, base_name: str) -> LibraryFunction:
    """Puts a finished branch or loop body into the library, under a name that its content determines."""
    function = LibraryFunction(f"{base_name.replace('/', '_')}_{fingerprint(body)}", graph=body)
    graph._functions.setdefault(function.name, function)
    return graph._functions[function.name]


def copy_called_functions(op: Operation, source: Graph, target: Graph) -> None:
    """Gives another graph the functions that an op calls, and those that these call."""
    stack = called_functions(op)
    while stack:
        name = stack.pop()
        function = source._get_function(name)
        if function is not None and name not in target._functions:
            target._functions[name] = LibraryFunction(name, definition=function.definition, outer_graph=target)
            stack += [n for inner in function.graph.get_operations() for n in called_functions(inner)]


def supersede(graph: Graph, body_name: str) -> None:
    """Says that a branch or loop body has been replaced by another variant of it."""
    entry = graph._get_function(body_name)
    if isinstance(entry, LibraryFunction):
        entry.is_superseded = True


def exported_functions(graph: Graph) -> list[Any]:
    """The functions that go with a graph's GraphDef."""
    functions = graph._functions
    if not any(getattr(f, "is_superseded", False) for f in functions.values()):
        return list(functions.values())
    called: set[str] = set()
    stack = [name for op in graph._ops for name in called_functions(op)]
    stack.extend(name for name, f in functions.items() if not getattr(f, "is_superseded", False))
    while stack:
        name = stack.pop()
        if name in functions and name not in called:
            called.add(name)
            stack.extend(n for op in functions[name].graph.get_operations() for n in called_functions(op))
    return [f for name, f in functions.items() if name in called]


def check_same(old: Any, new: Any) -> None:
    """Two functions of a library may have the same name only where they are the same."""
    if old is not new and old.definition != new.definition:
        raise errors.InvalidArgumentError(
            None, None, f"Cannot add function '{new.name}' because a different function with the same name already exists."
        )


def functions_from_library(library: Any, outer_graph: Graph) -> list[LibraryFunction]:
    """The functions of a FunctionDefLibrary, gradients after what they belong to only where they must."""
    gradients = {g.function_name: g.gradient_func for g in library.gradient}
    found = {f.signature.name: f for f in library.function}
    for name, gradient in gradients.items():
        for wanted in (name, gradient):
            if wanted not in found:
                raise ValueError(f"FunctionDefLibrary missing '{wanted}' FunctionDef\n{library}")
    _check_gradients_end(gradients)
    return [LibraryFunction(name, definition=f, outer_graph=outer_graph, grad_func_name=gradients.get(name)) for name, f in found.items()]


def _check_gradients_end(gradients: dict[str, str]) -> None:
    for name in gradients:
        seen = {name}
        while name in gradients:
            name = gradients[name]
            if name in seen:
                raise ValueError(f"FunctionDefLibrary contains cyclic gradient functions!\n{gradients}")
            seen.add(name)


def add_library(graph: Graph, library: Any) -> None:
    """Adds the functions of an imported GraphDef."""
    for function in functions_from_library(library, graph):
        graph._add_function(function)


def written_variables(graph: Any, functions: Iterable[str], seen: set[str] | None = None) -> Iterator[tuple[str, str]]:
    """The reference variables (container, name) that functions may write, in themselves or in what they call."""
    seen = set() if seen is None else seen
    for name in functions:
        entry = graph._get_function(name)
        if entry is None or name in seen:
            continue
        seen.add(name)
        for op in entry.graph.get_operations():
            if op.type in VARIABLE_OPS:
                yield op.attrs.get("container") or "", op.attrs.get("shared_name") or op.name
            yield from written_variables(graph, called_functions(op), seen)


def called_functions(op: Operation) -> list[str]:
    """The names of the functions that an op may call."""
    found = [op.type] if op.graph._is_function(op.type) else []
    for value in op.attrs.values():
        for v in value if isinstance(value, list) else (value,):
            if isinstance(v, FunctionName):
                found.append(v.name)
    return found


def with_called(entries: Iterable[Any]) -> dict[str, Any]:
    """{name: function}: functions of a library and all that they call."""
    found: dict[str, Any] = {}
    stack = list(entries)
    while stack:
        entry = stack.pop()
        if entry.name in found:
            continue
        found[entry.name] = entry
        for op in entry.graph.get_operations():
            for name in called_functions(op):
                called = entry.graph._get_function(name)
                if called is not None:
                    stack.append(called)
    return found


def inline(body: FuncGraph, arguments: list[Tensor]) -> list[Tensor]:
    """Copies a body's operations into the default graph, with these tensors as arguments; returns its outputs there."""
    graph = get_default_graph()
    tensors = {inside: graph.own(given) for inside, given in zip(body.inputs, arguments)}
    copies: dict[Operation, Operation] = {t.op: tensors[t].op for t in body.inputs}
    for op in body.get_operations():
        if op in copies:
            continue
        inputs = tuple(tensors[t] for t in op.inputs)
        copied = graph.add(op.op_def_, graph.unique_name(op.name), inputs, dict(op.attrs), [t.dtype for t in op.outputs])
        copied._device = op._device or copied._device
        copied._add_control_inputs([copies[c] for c in op.control_inputs if copies[c].graph is graph])
        copied.__dict__.update(op.__dict__)
        copies[op] = copied
        for t, c in zip(op.outputs, copied.outputs):
            tensors[t] = c
            c.handle_data = c.handle_data or t.handle_data
            if c.dims is None:
                c.dims = t.dims
    return [tensors[t] for t in body.outputs]


# Functions that are called at once are in this graph's library.
LIBRARY = Graph()
