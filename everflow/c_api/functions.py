"""TF_Function, and loops, whose conditions and bodies are graphs too."""

from __future__ import annotations

import ctypes
import hashlib
from ctypes import POINTER, c_ubyte
from typing import Any

import everflow as tf
from everflow.c_api.boundary import (
    STATUS,
    I,
    N,
    Output,
    P,
    S,
    c_function,
    drop,
    fill,
    handle,
    held,
    kept_text,
    numbers,
    output,
    outputs,
    parsed,
    put_outputs,
    text,
    texts,
)
from everflow.c_api.graphs import CGraph, output_of
from everflow.errors import invalid_argument
from everflow.graph.function_defs import function_def
from everflow.graph.functions import add_library
from everflow.graph.importer import import_graph_def
from everflow.proto import attr_value_pb2, function_pb2


class CFunction:
    """A function by its definition, with those that it calls."""

    def __init__(self, definition: Any) -> None:
        self.definition = definition


@c_function("TF_GraphToFunction", P, S, c_ubyte, I, P, I, P, I, P, P, P, S, STATUS, result=P)
def to_function(
    graph: Any,
    name: bytes,
    append_hash: int,
    count: int,
    ops: Any,
    ninputs: int,
    inputs: Any,
    noutputs: int,
    results: Any,
    names: Any,
    options: Any,
    description: bytes | None,
) -> int:
    """A function of operations of a graph."""
    body: CGraph = held(graph)
    chosen = body.graph.get_operations() if count < 0 else [held(op).op for op in numbers(P, ops, count)]
    out_names = texts(names, noutputs) if names else None
    made = function_def("", chosen, outputs(inputs, ninputs), outputs(results, noutputs), out_names)
    digest = hashlib.sha256(made.SerializeToString(deterministic=True)).hexdigest()[:11]
    made.signature.name = f"{text(name)}_{digest}" if append_hash else text(name)
    made.signature.description = text(description)
    return handle(CFunction(made))


@c_function("TF_FunctionName", P, result=P)
def function_name(function: Any) -> int:
    """The name."""
    found: CFunction = held(function)
    return kept_text(found, "name", found.definition.signature.name)


@c_function("TF_FunctionToFunctionDef", P, P, STATUS)
def to_function_def(function: Any, into: Any) -> None:
    """The FunctionDef."""
    fill(into, held(function).definition)


@c_function("TF_FunctionImportFunctionDef", P, N, STATUS, result=P)
def from_function_def(proto: Any, size: int) -> int:
    """The function of a FunctionDef."""
    return handle(CFunction(parsed(function_pb2.FunctionDef, ctypes.string_at(proto, size))))


@c_function("TF_FunctionSetAttrValueProto", P, S, P, N, STATUS)
def set_attr(function: Any, name: bytes, proto: Any, size: int) -> None:
    """An attribute, as an AttrValue."""
    held(function).definition.attr[text(name)].CopyFrom(parsed(attr_value_pb2.AttrValue, ctypes.string_at(proto, size)))


@c_function("TF_FunctionGetAttrValueProto", P, S, P, STATUS)
def get_attr(function: Any, name: bytes, into: Any) -> None:
    """An attribute's AttrValue."""
    definition = held(function).definition
    if text(name) not in definition.attr:
        raise invalid_argument(f"Function '{definition.signature.name}' has no attr named '{text(name)}'.")
    fill(into, definition.attr[text(name)])


c_function("TF_DeleteFunction", P)(drop)


@c_function("TF_GraphCopyFunction", P, P, P, STATUS)
def copy_function(graph: Any, function: Any, gradient: Any) -> None:
    """Makes a function known to a graph, and another one as its gradient."""
    if not function:
        raise invalid_argument("'func' argument to TF_GraphCopyFunction cannot be null")
    library = function_pb2.FunctionDefLibrary()
    library.function.add().CopyFrom(held(function).definition)
    if gradient:
        library.function.add().CopyFrom(held(gradient).definition)
        library.gradient.add(function_name=library.function[0].signature.name, gradient_func=library.function[1].signature.name)
    add_library(held(graph).graph, library)


@c_function("TF_GraphNumFunctions", P, result=I)
def function_count(graph: Any) -> int:
    """How many functions a graph knows."""
    return len(held(graph).graph._functions)


@c_function("TF_GraphGetFunctions", P, P, I, STATUS, result=I)
def get_functions(graph: Any, into: Any, most: int) -> int:
    """The functions that a graph knows."""
    found = list(held(graph).graph._functions.values())[:most]
    target = ctypes.cast(into, POINTER(P))
    for i, function in enumerate(found):
        target[i] = handle(CFunction(function.definition))
    return len(found)


# -- loops


class Params(ctypes.Structure):
    """TF_WhileParams."""

    _fields_ = (
        ("ninputs", I),
        ("cond_graph", P),
        ("cond_inputs", P),
        ("cond_output", Output),
        ("body_graph", P),
        ("body_inputs", P),
        ("body_outputs", P),
        ("name", P),
    )


class Loop:
    """A loop under way: the graphs of its condition and body, with placeholders for what goes round."""

    def __init__(self, graph: CGraph, inputs: list[Any]) -> None:
        self.graph, self.inputs = graph, inputs
        self.parts = {}
        for name in ("cond", "body"):
            part = CGraph()
            with part.graph.as_default():
                given = [tf.placeholder(t.dtype.base_dtype, t.shape, name=f"{name}_input{i}") for i, t in enumerate(inputs)]
            array = (Output * max(1, len(inputs)))(*[output_of(t) for t in given])
            self.parts[name] = (handle(part), part, given, array)
        self.results = (Output * max(1, len(inputs)))()

    def drop(self) -> None:
        """Forgets the graphs."""
        for number, part, *_ in self.parts.values():
            part.drop()
            drop(number)


_loops: dict[int, Loop] = {}


@c_function("TF_NewWhile", P, P, P, I, STATUS)
def new_while(into: Any, graph: Any, inputs: Any, count: int) -> None:
    """Begins a loop."""
    if count <= 0:
        raise invalid_argument("TF_NewWhile() must be passed at least one input")
    loop = Loop(held(graph), outputs(inputs, count))
    params = Params.from_address(into)
    params.ninputs = count
    params.cond_graph, params.body_graph = loop.parts["cond"][0], loop.parts["body"][0]
    params.cond_inputs, params.body_inputs = ctypes.addressof(loop.parts["cond"][3]), ctypes.addressof(loop.parts["body"][3])
    params.cond_output, params.body_outputs, params.name = Output(None, -1), ctypes.addressof(loop.results), None
    _loops[params.cond_graph] = loop


@c_function("TF_FinishWhile", P, STATUS, P)
def finish_while(address: Any, into: Any) -> None:
    """Adds the loop to its graph."""
    params = Params.from_address(address)
    loop = _loops.pop(params.cond_graph or 0, None)
    if loop is None:
        raise invalid_argument("TF_FinishWhile() needs what TF_NewWhile() gave")
    try:
        if not params.name:
            raise invalid_argument("TF_WhileParams `name` field is null")
        if not params.cond_output.oper:
            raise invalid_argument("TF_WhileParams `cond_output` field isn't set")
        condition, results = output(params.cond_output), outputs(ctypes.addressof(loop.results), params.ninputs)

        def part(name: str, wanted: list[Any], given: tuple[Any, ...]) -> list[Any]:
            _, of, placeholders, _ = loop.parts[name]
            graph_def = of.graph.as_graph_def()
            for placeholder in placeholders:
                graph_def.node.remove(next(node for node in graph_def.node if node.name == placeholder.op.name))
            names = {p.name: v for p, v in zip(placeholders, given)}
            computed = [t for t in wanted if t.name not in names]
            used = {i if ":" in i else i + ":0" for node in graph_def.node for i in node.input}
            found = import_graph_def(graph_def, {k: v for k, v in names.items() if k in used}, [t.name for t in computed], name=name)
            known = dict(zip((t.name for t in computed), found or ()))
            return [known.get(t.name, names.get(t.name)) for t in wanted]

        with loop.graph.graph.as_default():
            found = tf.while_loop(
                lambda *given: part("cond", [condition], given)[0],
                lambda *given: part("body", results, given),
                loop.inputs,
                name=ctypes.string_at(params.name).decode(),
                return_same_structure=True,
            )
        put_outputs(into, [output_of(t) for t in found])
    finally:
        loop.drop()


@c_function("TF_AbortWhile", P)
def abort_while(address: Any) -> None:
    """Gives a loop up."""
    loop = _loops.pop(Params.from_address(address).cond_graph or 0, None)
    if loop is not None:
        loop.drop()
