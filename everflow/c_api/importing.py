"""TF_GraphImportGraphDef and its options."""

from __future__ import annotations

import ctypes
from typing import Any

from everflow.c_api.boundary import (
    STATUS,
    I,
    Output,
    P,
    S,
    c_function,
    content,
    drop,
    handle,
    held,
    kept_text,
    output,
    parsed,
    put_outputs,
    text,
)
from everflow.c_api.graphs import CGraph, output_of
from everflow.errors import invalid_argument
from everflow.graph.importer import import_graph_def
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.proto import graph_pb2


class Options:
    """How nodes are to be imported."""

    def __init__(self) -> None:
        self.prefix, self.device = "", ""
        self.unique_names = self.unique_prefix = False
        self.inputs: dict[tuple[str, int], Tensor] = {}
        self.controls: dict[str, Operation] = {}
        self.after: list[Operation] = []
        self.outputs: list[tuple[str, int]] = []
        self.operations: list[str] = []


class Results:
    """What the options asked for, as arrays that live as long as this."""

    def __init__(self, outputs: list[Tensor], operations: list[Operation], unused: list[tuple[str, int]], graph: CGraph) -> None:
        self.outputs = (Output * max(1, len(outputs)))(*[output_of(t) for t in outputs])
        self.operations = (P * max(1, len(operations)))(*[graph.operation(op) for op in operations])
        self.names = (P * max(1, len(unused)))(*[kept_text(self, name, name) for name, _ in unused])
        self.indices = (I * max(1, len(unused)))(*[index for _, index in unused])
        self.counts = len(outputs), len(operations), len(unused)


@c_function("TF_NewImportGraphDefOptions", result=P)
def new_options() -> int:
    """Options that ask for nothing."""
    return handle(Options())


c_function("TF_DeleteImportGraphDefOptions", P)(drop)
c_function("TF_DeleteImportGraphDefResults", P)(drop)


@c_function("TF_ImportGraphDefOptionsSetPrefix", P, S)
def set_prefix(options: Any, prefix: bytes) -> None:
    """The scope that names are put into."""
    held(options).prefix = text(prefix)


@c_function("TF_ImportGraphDefOptionsSetDefaultDevice", P, S)
def set_device(options: Any, device: bytes) -> None:
    """The device of nodes that name none."""
    held(options).device = text(device)


@c_function("TF_ImportGraphDefOptionsSetUniquifyNames", P, ctypes.c_ubyte)
def set_unique_names(options: Any, unique: int) -> None:
    """Whether names that are taken get a number."""
    held(options).unique_names = bool(unique)


@c_function("TF_ImportGraphDefOptionsSetUniquifyPrefix", P, ctypes.c_ubyte)
def set_unique_prefix(options: Any, unique: int) -> None:
    """Whether a prefix that is taken gets a number."""
    held(options).unique_prefix = bool(unique)


@c_function("TF_ImportGraphDefOptionsAddInputMapping", P, S, I, Output)
def add_input(options: Any, name: bytes, index: int, target: Output) -> None:
    """Puts a tensor of the graph in the place of one that would be imported."""
    held(options).inputs[text(name), index] = output(target)


@c_function("TF_ImportGraphDefOptionsRemapControlDependency", P, S, P)
def remap_control(options: Any, name: bytes, target: Any) -> None:
    """Has nodes wait for an operation of the graph instead."""
    held(options).controls[text(name)] = held(target).op


@c_function("TF_ImportGraphDefOptionsAddControlDependency", P, P)
def add_control(options: Any, target: Any) -> None:
    """Has all nodes wait for an operation."""
    held(options).after.append(held(target).op)


@c_function("TF_ImportGraphDefOptionsAddReturnOutput", P, S, I)
def add_return_output(options: Any, name: bytes, index: int) -> None:
    """Asks for a tensor."""
    held(options).outputs.append((text(name), index))


@c_function("TF_ImportGraphDefOptionsNumReturnOutputs", P, result=I)
def return_output_count(options: Any) -> int:
    """How many tensors are asked for."""
    return len(held(options).outputs)


@c_function("TF_ImportGraphDefOptionsAddReturnOperation", P, S)
def add_return_operation(options: Any, name: bytes) -> None:
    """Asks for an operation."""
    held(options).operations.append(text(name))


@c_function("TF_ImportGraphDefOptionsNumReturnOperations", P, result=I)
def return_operation_count(options: Any) -> int:
    """How many operations are asked for."""
    return len(held(options).operations)


def imported(graph: CGraph, serialized: bytes, options: Options) -> Results:
    """Adds the nodes of a GraphDef; all or none of them."""
    graph_def = parsed(graph_pb2.GraphDef, serialized)
    for node in graph_def.node:
        node.device = node.device or options.device
    target = graph.graph
    prefix = options.prefix.rstrip("/")
    if prefix and options.unique_prefix:
        prefix = target.unique_name(prefix, mark_as_used=False)
    names = {node.name: f"{prefix}/{node.name}" if prefix else node.name for node in graph_def.node}
    if not options.unique_names:
        taken = next((name for name in names.values() if name in target._by_name), None)
        if prefix and any(name == prefix or name.startswith(prefix + "/") for name in target._by_name):
            raise invalid_argument(f"Import node name prefix conflicts with names of nodes already in the Graph, such as '{prefix}'")
        if taken is not None:
            raise invalid_argument(f"Node name '{taken}' already exists in the Graph")
    used = {i.partition(":")[0].lstrip("^") for node in graph_def.node for i in node.input}
    wanted = {f"{name}:{index}": t for (name, index), t in options.inputs.items() if name in names or name in used}
    for name, op in options.controls.items():
        if not op.outputs:
            raise invalid_argument(f"'{op.name}' has no output, and can't take the place of '{name}'")
        wanted["^" + name] = op.outputs[0]
    asked = [f"{name}:{index}" for name, index in options.outputs if (name, index) not in options.inputs]
    before = len(target._ops)
    with target.as_default():
        found = import_graph_def(graph_def, wanted, [*asked, *options.operations], name=prefix + "/" if prefix else "") or []
    if options.after:
        new = set(target._ops[before:])
        for op in target._ops[before:]:
            if not any(t.op in new for t in op.inputs) and not any(c in new for c in op.control_inputs):
                op._add_control_inputs(options.after)
    tensors = dict(zip(asked, found))
    outputs = [options.inputs.get((name, index), tensors.get(f"{name}:{index}")) for name, index in options.outputs]
    unused = [key for key in options.inputs if key[0] not in used and key[0] not in names]
    return Results(outputs, found[len(asked) :], unused, graph)  # type: ignore[arg-type]


@c_function("TF_GraphImportGraphDef", P, P, P, STATUS)
def import_graph(graph: Any, graph_def: Any, options: Any) -> None:
    """Adds the nodes of a GraphDef."""
    imported(held(graph), content(graph_def), held(options))


@c_function("TF_GraphImportGraphDefWithResults", P, P, P, STATUS, result=P)
def import_with_results(graph: Any, graph_def: Any, options: Any) -> int:
    """The same, and hands out what was asked for."""
    return handle(imported(held(graph), content(graph_def), held(options)))


@c_function("TF_GraphImportGraphDefWithReturnOutputs", P, P, P, P, I, STATUS)
def import_with_outputs(graph: Any, graph_def: Any, options: Any, into: Any, count: int) -> None:
    """The same, with the tensors alone."""
    if count != len(held(options).outputs):
        raise invalid_argument(f"Expected 'num_return_outputs' to be {len(held(options).outputs)}, got {count}")
    results = imported(held(graph), content(graph_def), held(options))
    put_outputs(into, list(results.outputs[:count]))


def _hand_out(count: Any, number: int, *arrays: tuple[Any, Any]) -> None:
    I.from_address(count).value = number
    for into, array in arrays:
        P.from_address(into).value = ctypes.addressof(array)


@c_function("TF_ImportGraphDefResultsReturnOutputs", P, P, P)
def result_outputs(results: Any, count: Any, into: Any) -> None:
    """The tensors that were asked for."""
    found: Results = held(results)
    _hand_out(count, found.counts[0], (into, found.outputs))


@c_function("TF_ImportGraphDefResultsReturnOperations", P, P, P)
def result_operations(results: Any, count: Any, into: Any) -> None:
    """The operations that were asked for."""
    found: Results = held(results)
    _hand_out(count, found.counts[1], (into, found.operations))


@c_function("TF_ImportGraphDefResultsMissingUnusedInputMappings", P, P, P, P)
def result_unused(results: Any, count: Any, names: Any, indices: Any) -> None:
    """What was mapped, but is not in the GraphDef."""
    found: Results = held(results)
    _hand_out(count, found.counts[2], (names, found.names), (indices, found.indices))
