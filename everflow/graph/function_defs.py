"""Functions as FunctionDef protos, and graphs made of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from everflow import errors
from everflow.api import internal
from everflow.graph import attrs as attr_values
from everflow.graph import opdefs, shapes
from everflow.graph.func_graph import FuncGraph
from everflow.graph.importer import import_graph_def_for_function
from everflow.graph.operation import Operation
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.graph.wire import versions_proto
from everflow.proto import function_pb2, graph_pb2


class _Names:
    """Names that are each used once: a taken one gets `_0`, `_1`, ..."""

    def __init__(self) -> None:
        self.used: set[str] = set()

    def unique(self, name: str) -> str:
        found, i = name, 0
        while found in self.used:
            found = f"{name}_{i}"
            i += 1
        self.used.add(found)
        return found

    def argument(self, name: str) -> str:
        """An argument's name: lower case letters, digits and `_`, beginning with a letter."""
        clean = re.sub(r"[^a-z0-9]", "_", name.lower()).lstrip("_0123456789")
        return self.unique(clean or "unknown")


@internal("framework.graph_to_function_def.graph_to_function_def")
def graph_to_function_def(
    graph: Any, operations: Iterable[Operation], inputs: list[Tensor], outputs: list[Tensor], out_names: list[str] | None = None
) -> Any:
    """The FunctionDef, still without a name, that computes `outputs` from `inputs` with the given operations."""
    return function_def("", operations, inputs, outputs, out_names)


def function_def(
    name: str,
    operations: Iterable[Operation],
    inputs: list[Tensor],
    outputs: list[Tensor],
    out_names: list[str] | None = None,
    control_outputs: Iterable[Operation] = (),
    before: dict[Operation, list[Operation]] | None = None,
) -> Any:
    """The FunctionDef that computes `outputs` from `inputs` with the given operations. `before`: what ops wait for besides what
    they say themselves."""
    if out_names and len(out_names) != len(outputs):
        raise errors.InvalidArgumentError(
            None,
            None,
            (
                f"output names must be either empty or equal in size to outputs. output names size = {len(out_names)} "
                "outputs size = "
                f"{len(outputs)}"
            ),
        )
    proto = function_pb2.FunctionDef()
    proto.signature.name = name
    names = _Names()
    sources: dict[Tensor, str] = {}
    skipped = {t.op for t in inputs}
    for i, t in enumerate(inputs):
        arg = proto.signature.input_arg.add(name=names.argument(t.op.name), type=t.dtype.base_dtype.as_datatype_enum)
        sources[t] = arg.name
        if t.op.type == "Placeholder":
            _describe_argument(proto.arg_attr[i], t)
    body = [op for op in operations if op not in skipped]
    node_names = {op: names.unique(op.name) for op in body}
    waited_for = {**{t.op: sources[t] for t in inputs}, **node_names}
    for op in body:
        for t, source in zip(op.outputs, _output_names(op, node_names[op])):
            sources[t] = source
    for op in body:
        node = proto.node_def.add()
        node.CopyFrom(op.node_def)
        node.name = node_names[op]
        del node.input[:]
        for t in op.inputs:
            if t not in sources:
                raise ValueError(f"{t} is used by the function but neither an input nor computed in it.")
            node.input.append(sources[t])
        waits = [*op.control_inputs, *(before or {}).get(op, ())]
        node.input.extend(sorted({"^" + waited_for[c] for c in waits if c in waited_for}))
        if op.op_def_.is_stateful:
            proto.signature.is_stateful = True
    arguments = _Names()
    for i, t in enumerate(outputs):
        arg = proto.signature.output_arg.add(type=t.dtype.base_dtype.as_datatype_enum)
        arg.name = arguments.unique(out_names[i]) if out_names else arguments.argument(t.op.name)
        proto.ret[arg.name] = sources[t]
    for op in control_outputs:
        if op in node_names:
            proto.control_ret[node_names[op]] = node_names[op]
            proto.signature.control_output.append(node_names[op])
    return proto


def _describe_argument(attributes: Any, t: Tensor) -> None:
    """What is known of an argument's shape goes with the function."""
    for key, value in t.op.attrs.items():
        if key.startswith("_"):
            attributes.attr[key].CopyFrom(attr_values.to_proto(value, None))
    if t.dims is not None:
        attributes.attr["_output_shapes"].list.shape.add().CopyFrom(shapes.to_proto(t.dims))


def _output_names(op: Operation, name: str) -> list[str]:
    return [f"{name}:{arg}:{i}" for arg, i in _output_places(op.op_def_, op.attrs)]


def _output_places(definition: opdefs.OpDef, attrs: dict[str, Any]) -> list[tuple[str, int]]:
    """For each output of an op, the argument it belongs to and its place there."""
    found: list[tuple[str, int]] = []
    for arg in definition.outputs:
        count = 1
        if arg.number_attr:
            count = attrs[arg.number_attr]
        elif arg.type_list_attr:
            count = len(attrs[arg.type_list_attr])
        found.extend((arg.name, i) for i in range(count))
    return found


def definition_of(graph: Any, op_type: str, library: dict[str, Any]) -> opdefs.OpDef:
    """The definition of an op of a function body: a known op or a function."""
    found = library.get(op_type) or graph.op_definition(op_type)
    if found is None:
        raise ValueError(f"Op type not registered '{op_type}' in a function body: it is neither an op nor a function of the library.")
    return found


@internal("framework.function_def_to_graph.function_def_to_graph_def")
def function_def_to_graph_def(fdef: Any, input_shapes: Any = None, copy_functions: bool = True) -> tuple[Any, dict[str, str]]:
    """A GraphDef with the function's body, arguments as Placeholders, and the names in it of the function's tensors."""
    graph = get_default_graph()
    proto = graph_pb2.GraphDef()
    proto.versions.CopyFrom(versions_proto(graph))
    if input_shapes and len(input_shapes) != len(fdef.signature.input_arg):
        raise ValueError(
            f"Length of input_shapes must match the number of input_args. len(input_shapes): {len(input_shapes)} "
            "len(input_arg): "
            f"{len(fdef.signature.input_arg)}"
        )
    if copy_functions:
        graph._copy_functions_to_graph_def(proto, 0)
    names: dict[str, str] = {}
    for i, arg in enumerate(fdef.signature.input_arg):
        node = proto.node.add(name=arg.name, op="Placeholder")
        node.attr["dtype"].type = arg.type
        names[arg.name] = arg.name + ":0"
        names["^" + arg.name] = "^" + arg.name
        for key, value in fdef.arg_attr[i].attr.items() if i in fdef.arg_attr else ():
            if key == "_output_shapes":
                node.attr["shape"].shape.CopyFrom(value.list.shape[0])
            elif key.startswith("_"):
                node.attr[key].CopyFrom(value)
        if input_shapes and input_shapes[i] is not None:
            shape = input_shapes[i]
            node.attr["shape"].shape.CopyFrom(shape if hasattr(shape, "unknown_rank") else shapes.as_shape(shape).as_proto())
    for node in fdef.node_def:
        definition = definition_of(graph, node.op, {})
        counted = {}
        for arg in definition.outputs:
            for key in (arg.number_attr, arg.type_list_attr):
                if key:
                    counted[key] = attr_values.from_proto(node.attr[key], definition.attrs[key].type)
        for i, (arg_name, place) in enumerate(_output_places(definition, counted)):
            names[f"{node.name}:{arg_name}:{place}"] = f"{node.name}:{i}"
        names["^" + node.name] = "^" + node.name
        proto.node.add().CopyFrom(node)
    start = len(fdef.signature.input_arg)
    for node in proto.node[start:]:
        for i, name in enumerate(node.input):
            if name not in names:
                raise ValueError(f"Input {name} of node {node.name} is not found in function {fdef.signature.name}.")
            node.input[i] = names[name]
    return proto, names


@internal("framework.function_def_to_graph.function_def_to_graph")
def function_def_to_graph(fdef: Any, input_shapes: Any = None, copy_functions: bool = True) -> Any:
    """The function's body as a FuncGraph."""
    graph = FuncGraph(fdef.signature.name)
    graph.outer_graph = get_default_graph()
    proto, names = function_def_to_graph_def(fdef, input_shapes, copy_functions=False)
    if copy_functions:
        for function in graph.outer_graph._functions.values():
            graph._functions.setdefault(function.name, function)
    with graph.as_default():
        import_graph_def_for_function(proto, name="")
        graph.inputs = [graph.get_tensor_by_name(arg.name + ":0") for arg in fdef.signature.input_arg]
        for arg in fdef.signature.output_arg:
            value = fdef.ret[arg.name]
            if value not in names:
                raise ValueError(f"Return {arg.name} -> {value} is not found.\n\tIn function output {arg.name}")
            graph.outputs.append(graph.get_tensor_by_name(names[value]))
        graph.control_outputs = [graph.get_operation_by_name(fdef.control_ret[n]) for n in fdef.signature.control_output]
    return graph
