"""Functions that come from SavedModels."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

from everflow import nest
from everflow.api import internal
from everflow.eager.arguments import signature_of
from everflow.eager.functions import ConcreteFunction, Definition
from everflow.errors import OpError, data_loss
from everflow.graph import opdefs
from everflow.graph.convert import convert_to_tensor
from everflow.graph.function_defs import function_def_to_graph
from everflow.graph.functions import LIBRARY, LibraryFunction, called_functions
from everflow.graph.graph import Graph, set_shapes
from everflow.graph.scopes import is_eager_outside
from everflow.graph.shapes import merge
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.graph.tensor_spec import TensorSpec
from everflow.graph.type_spec import TypeSpec
from everflow.ops.core.registry import meaning
from everflow.saved_model.structures import StructureCoder

_loaded = itertools.count()
# Written by other runtimes so that gradients of a call find its function; here the call itself names it.
_CALL_GRADIENT = "_gradient_op_type"


class FunctionLibrary:
    """The functions of a SavedModel, under names that nothing else has here."""

    def __init__(self, graph_def: Any, producer_ops: Any) -> None:
        number = next(_loaded)
        self._home = LIBRARY if is_eager_outside() else get_default_graph()
        self._names = {f.signature.name: _renamed(f.signature.name, number) for f in graph_def.library.function}
        self._unknown = _unknown_defaults(producer_ops)
        self._definitions: dict[str, Any] = {}
        for function in graph_def.library.function:
            definition = type(function)()
            definition.CopyFrom(function)
            self._adapt(definition)
            self._definitions[function.signature.name] = definition
            name = definition.signature.name
            self._home._functions[name] = LibraryFunction(name, definition=definition, outer_graph=self._home)

    def _adapt(self, definition: Any) -> None:
        definition.signature.name = self._names[definition.signature.name]
        self.adapt(definition.node_def)

    def adapt(self, nodes: Any) -> None:
        """Makes nodes call the functions by their names here."""
        for node in nodes:
            node.op = self._names.get(node.op, node.op)
            if node.attr[_CALL_GRADIENT].s.startswith((b"PartitionedCall", b"StatefulPartitionedCall")) or not node.attr[_CALL_GRADIENT].s:
                del node.attr[_CALL_GRADIENT]
            for key in [k for k in node.attr if (node.op, k) in self._unknown]:
                if node.attr[key] == self._unknown[node.op, key]:
                    del node.attr[key]
            for value in node.attr.values():
                for called in [value.func] if value.HasField("func") else value.list.func:
                    called.name = self._names.get(called.name, called.name)

    def concrete(self, name: str, description: Any, bound: list[Any], variables: list[Any]) -> ConcreteFunction:
        """A function of the library as its object graph describes it, with these tensors captured."""
        if name not in self._definitions:
            raise data_loss(f"The SavedModel's object graph names a function {name!r} that its graph does not have.")
        definition = self._definitions[name]
        with self._home.as_default() if self._home is not LIBRARY else LIBRARY.as_default():
            graph = function_def_to_graph(definition, copy_functions=False)
        graph._functions = self._home._functions
        if len(bound) > len(graph.inputs):
            raise data_loss(f"Function {name!r} captures {len(bound)} tensors but has only {len(graph.inputs)} arguments.")
        for outside, inside in zip(bound, graph.inputs[len(graph.inputs) - len(bound) :]):
            graph._captures[outside] = inside
            inside.handle_data = outside.handle_data
        _tell_resources(graph, set())
        graph.variables = variables
        coder = StructureCoder()
        graph.name = re.sub(r"^__inference_|_\d+$", "", name)
        graph.structured_input_signature = coder.decode_proto(description.canonicalized_input_signature)
        graph.structured_outputs = coder.decode_proto(description.output_signature)
        # Calls find this body, which knows what its captures are.
        del self._home._functions[definition.signature.name]
        return ConcreteFunction(graph, graph.structured_outputs, graph.structured_input_signature, definition.signature.name)


def _renamed(name: str, number: int) -> str:
    base = re.sub(r"_\d+$", "", name)
    serial = name[len(base) :]
    return f"{base}{serial}_{number}"


def _unknown_defaults(producer_ops: Any) -> dict[tuple[str, str], Any]:
    """{(op, attribute): default} of attributes that only the writer of a SavedModel knows."""
    found = {}
    for op in producer_ops.op:
        known = opdefs.find(op.name)
        if known is None:
            continue
        for attr in op.attr:
            if attr.name not in known.attrs and attr.HasField("default_value"):
                found[op.name, attr.name] = attr.default_value
    return found


def _tell_resources(graph: Graph, seen: set[str]) -> None:
    """Tells a body, and those that it calls, what is known of the resources that it is given: dtypes and shapes follow from it."""
    for op in graph.get_operations():
        if not op.inputs:
            continue
        before = [t.dims for t in op.outputs]
        set_shapes(op)
        for t, dims in zip(op.outputs, before):
            t.dims = merge(t.dims, dims)
        caller = meaning(op.type)
        first = caller.first_argument if caller is not None else 0
        for name in called_functions(op) if any(t.handle_data is not None for t in op.inputs) else ():
            entry = graph._get_function(name)
            if entry is not None and name not in seen:
                seen.add(name)
                for inside, given in zip(entry.graph.inputs, op.inputs[first:]):
                    inside.handle_data = inside.handle_data or given.handle_data
                _tell_resources(entry.graph, seen)


@internal("saved_model.function_deserialization.RestoredFunction")
class RestoredFunction(Definition):
    """A function that chooses among the bodies that were traced before it was saved."""

    def __init__(self, name: str, proto: Any, find_concrete: Callable[[str], ConcreteFunction]) -> None:
        coder = StructureCoder()
        argspec = coder.decode_proto(proto.function_spec.fullargspec)
        if proto.function_spec.is_method:
            argspec = argspec._replace(args=argspec.args[1:])
        declared = coder.decode_proto(proto.function_spec.input_signature)
        self._concrete_names = list(proto.concrete_functions)
        self._find_concrete = find_concrete

        def restored_function_body(*args: Any, **kwargs: Any) -> Any:
            return _call_matching(self.concrete_functions, args, kwargs, argspec)

        restored_function_body.__signature__ = signature_of(argspec)  # type: ignore[attr-defined]
        super().__init__(restored_function_body, name, declared, autograph=False)

    @property
    def concrete_functions(self) -> list[ConcreteFunction]:
        """The bodies that there are."""
        return [self._find_concrete(name) for name in self._concrete_names]

    def _list_all_concrete_functions_for_serialization(self) -> list[ConcreteFunction]:
        return self.concrete_functions


def _call_matching(functions: list[ConcreteFunction], args: Any, kwargs: dict[str, Any], argspec: Any) -> Any:
    for allow_conversion in (False, True):
        for function in functions:
            tensors = _arguments_for(function, args, kwargs, argspec, allow_conversion)
            if tensors is not None:
                return function.call_flat(tensors)
    options = [f"Option {i}:\n  {_shown(*function.structured_input_signature)}" for i, function in enumerate(functions, 1)]
    raise ValueError(
        f"Could not find matching function to call loaded from the SavedModel. Got:\n  {_shown(args, kwargs)}\n\nExpected these arguments "
        f"to match one of the following {len(options)} option(s):\n\n" + "\n\n".join(options)
    )


def _shown(args: Any, kwargs: Any) -> str:
    listed = "\n".join(f"    * {a}" for a in args)
    return f"Positional arguments ({len(args)} total):\n{listed}\n  Keyword arguments: {kwargs}"


def _arguments_for(function: ConcreteFunction, args: Any, kwargs: dict[str, Any], argspec: Any, allow_conversion: bool) -> list[Any] | None:
    """The tensors to call a body with, or None where it was not traced for such arguments."""
    expected = function.structured_input_signature
    # A default that no one gave is not written down by every writer.
    defaults = argspec.kwonlydefaults or {}
    given = (args, {k: v for k, v in kwargs.items() if k in expected[1] or k not in defaults or defaults[k] is not v})
    try:
        nest.assert_same_structure(expected, given, expand_composites=True)
    except (TypeError, ValueError):
        return None
    found = []
    for spec, value in zip(nest.flatten(expected, expand_composites=True), nest.flatten(given, expand_composites=True)):
        if not isinstance(spec, TypeSpec):
            if isinstance(value, Tensor) or type(value) is not type(spec) or value != spec:
                return None
            continue
        tensor = _fitting(spec, value, allow_conversion)
        if tensor is None:
            return None
        found.append(tensor)
    return found


def _fitting(spec: Any, value: Any, allow_conversion: bool) -> Any:
    if not isinstance(value, Tensor) and allow_conversion:
        try:
            value = convert_to_tensor(value, spec.dtype)
        except (ValueError, TypeError, OpError):
            return None
    if not isinstance(spec, TensorSpec) or not isinstance(value, Tensor):
        return None
    fits = value.dtype.base_dtype == spec.dtype and spec.shape.is_compatible_with(value.shape)
    return value if fits else None
