"""Graphs as GraphDef protos, and what importing needs: attributes completed from the op definition."""

from __future__ import annotations

from typing import Any

from everflow.api import internal
from everflow.graph import attrs as attr_values
from everflow.graph import describe, dtypes, opdefs, shapes
from everflow.graph.devices import canonical_name
from everflow.graph.operation import Operation, call_site

PRODUCER = 134
MIN_CONSUMER = 0
# Readers older than this do not know functions.
MIN_CONSUMER_OF_FUNCTIONS = 12


def node_def_proto(op: Operation) -> Any:
    """The NodeDef of an operation."""
    from everflow.proto import node_def_pb2

    node = node_def_pb2.NodeDef()
    node.name = op.name
    node.op = op.type
    node.device = op._device
    node.input.extend(t._as_node_def_input() for t in op.inputs)
    node.input.extend(sorted("^" + c.name for c in op.control_inputs))
    for name, value in op.attrs.items():
        definition = op.op_def_.attrs.get(name)
        node.attr[name].CopyFrom(attr_values.to_proto(value, definition.type if definition else None))
    return node


@internal("framework.ops._NodeDef")
def new_node_def(op_type: str, name: str, device: Any = None) -> Any:
    """A NodeDef with a name, an op and perhaps a device."""
    from everflow.proto import node_def_pb2

    return node_def_pb2.NodeDef(op=op_type, name=name, device=canonical_name(device))


def add_node(op: Operation, node_def: Any, graph: Any, inputs: Any, control_inputs: Any) -> None:
    """Makes `op` the operation that a NodeDef describes, and adds it to the graph."""
    from everflow.graph.graph import VALID_OP_NAME, Graph, set_shapes
    from everflow.proto import node_def_pb2

    if not isinstance(node_def, node_def_pb2.NodeDef):
        raise TypeError(f"node_def needs to be a NodeDef: {node_def}")
    if not VALID_OP_NAME.match(node_def.name):
        raise ValueError(f"'{node_def.name}' is not a valid node name")
    if not isinstance(graph, Graph):
        raise TypeError(f"g needs to be a Graph: {graph}")
    if inputs is not None and not isinstance(inputs, (list, tuple)):
        raise TypeError(f"inputs needs to be a list of Tensors: {inputs}")
    definition = graph.op_definition(node_def.op)
    if definition is None:
        raise RuntimeError(
            f"Op type not registered '{node_def.op}' in binary running on localhost. Make sure the Op and Kernel are registered in the "
            "binary running in this process."
        )
    attrs = {}
    for key, value in node_def.attr.items():
        known = definition.attrs.get(key)
        attrs[key] = attr_values.from_proto(value, known.type if known else None)
    inputs = tuple(inputs or ())
    complete_attrs(definition, attrs, inputs, node_def.name)
    controls = [c.op if hasattr(c, "op") else c for c in control_inputs or ()]
    op.fill(graph, definition, node_def.name, inputs, attrs, output_types_of(definition, attrs), controls)
    op._device = node_def.device
    op._site = call_site(3)
    set_shapes(op)
    with graph._lock:
        graph._names_in_use[op.name.lower()] = 1
        graph._register(op)


def graph_def_proto(graph: Any, from_version: int | None, add_shapes: bool) -> Any:
    """The GraphDef of a graph; with `add_shapes` each node tells its outputs' shapes in `_output_shapes`."""
    from everflow.proto import graph_pb2

    proto = graph_pb2.GraphDef()
    proto.versions.CopyFrom(versions_proto(graph))
    for op in graph._ops:
        if from_version is not None and op._id <= from_version:
            continue
        node = proto.node.add()
        node.CopyFrom(op.node_def)
        if add_shapes and op.outputs:
            value = node.attr["_output_shapes"]
            for t in op.outputs:
                value.list.shape.add().CopyFrom(shapes.to_proto(t.dims))
    graph._copy_functions_to_graph_def(proto, 0)
    return proto


def versions_proto(graph: Any) -> Any:
    from everflow.proto import versions_pb2

    if graph._graph_def_versions is not None:
        proto = versions_pb2.VersionDef()
        proto.CopyFrom(graph._graph_def_versions)
    else:
        proto = versions_pb2.VersionDef(producer=PRODUCER, min_consumer=MIN_CONSUMER)
    if graph._functions:
        proto.min_consumer = max(proto.min_consumer, MIN_CONSUMER_OF_FUNCTIONS)
    return proto


def op_def_proto(definition: opdefs.OpDef) -> Any:
    """The OpDef of a definition."""
    from everflow.proto import op_def_pb2

    proto = op_def_pb2.OpDef(name=definition.name)
    for field, args in ((proto.input_arg, definition.inputs), (proto.output_arg, definition.outputs)):
        for arg in args:
            a = field.add(name=arg.name, is_ref=arg.is_ref)
            if arg.type is not None:
                a.type = arg.type.as_datatype_enum
            a.type_attr = arg.type_attr or ""
            a.number_attr = arg.number_attr or ""
            a.type_list_attr = arg.type_list_attr or ""
    for attr in definition.attrs.values():
        a = proto.attr.add(name=attr.name, type=attr.type)
        if attr.has_default:
            a.default_value.CopyFrom(attr_values.to_proto(attr.default, attr.type))
        if attr.minimum is not None:
            a.has_minimum = True
            a.minimum = attr.minimum
        if attr.allowed is not None:
            inner = "type" if isinstance(attr.allowed[0], dtypes.DType) else "string"
            a.allowed_values.CopyFrom(attr_values.to_proto(list(attr.allowed), f"list({inner})"))
    proto.is_stateful = definition.is_stateful
    proto.is_commutative = definition.is_commutative
    proto.allows_uninitialized_input = definition.allows_uninitialized_input
    proto.is_aggregate = definition.fact.get("is_aggregate", False)
    return proto


def op_def_from_proto(proto: Any) -> opdefs.OpDef:
    """A definition from an OpDef proto (a function's signature, a custom op)."""

    def arg(a: Any) -> dict[str, Any]:
        fact: dict[str, Any] = {"name": a.name, "is_ref": a.is_ref}
        if a.type:
            fact["type"] = a.type
        for field in ("type_attr", "number_attr", "type_list_attr"):
            if getattr(a, field):
                fact[field] = getattr(a, field)
        return fact

    found = opdefs.OpDef(
        proto.name,
        {
            "inputs": [arg(a) for a in proto.input_arg],
            "outputs": [arg(a) for a in proto.output_arg],
            "attrs": [{"name": a.name, "type": a.type} for a in proto.attr],
            "is_stateful": proto.is_stateful,
        },
    )
    for a in proto.attr:
        attr = found.attrs[a.name]
        if a.HasField("default_value"):
            attr.has_default = True
            attr.default = attr_values.from_proto(a.default_value, a.type)
        if a.has_minimum:
            attr.minimum = a.minimum
        if a.HasField("allowed_values"):
            attr.allowed = tuple(attr_values.from_proto(a.allowed_values, f"list({a.type})"))
    found.parameters = found._parameters()
    return found


def complete_attrs(definition: opdefs.OpDef, attrs: dict[str, Any], inputs: Any, name: str) -> None:
    """Fills in the attributes that follow from the inputs or have a default; checks that none is missing."""
    position = 0
    for arg in definition.inputs:
        if arg.type_list_attr is not None:
            if arg.type_list_attr not in attrs:
                attrs[arg.type_list_attr] = [t.dtype.base_dtype for t in inputs[position:]]
            position += len(attrs[arg.type_list_attr])
            continue
        if arg.number_attr is not None:
            if arg.number_attr not in attrs:
                attrs[arg.number_attr] = len(inputs) - position
            count = attrs[arg.number_attr]
        else:
            count = 1
        if arg.type_attr is not None and arg.type_attr not in attrs and count and position < len(inputs):
            attrs[arg.type_attr] = inputs[position].dtype.base_dtype
        position += count
    for attr in definition.attrs.values():
        if attr.name not in attrs:
            if not attr.has_default:
                raise ValueError(f"NodeDef missing attr '{attr.name}' from {describe.definition(definition)}; NodeDef: {{{{node {name}}}}}")
            attrs[attr.name] = attr.default
    if position != len(inputs):
        wanted = ", ".join(describe.type_name(t) for t in input_types_of(definition, attrs))
        raise ValueError(
            f"NodeDef expected inputs '{wanted}' do not match {len(inputs)} inputs specified; {describe.definition(definition)}; NodeDef: "
            f"{{{{node {name}}}}}"
        )


def input_types_of(definition: opdefs.OpDef, attrs: dict[str, Any]) -> list[Any]:
    """The input dtypes that a definition asks for, given complete attributes."""
    return _types(definition.inputs, attrs)


def output_types_of(definition: opdefs.OpDef, attrs: dict[str, Any]) -> list[Any]:
    """The output dtypes, given complete attributes."""
    return _types(definition.outputs, attrs)


def _types(args: list[opdefs.Arg], attrs: dict[str, Any]) -> list[Any]:
    types: list[Any] = []
    for arg in args:
        if arg.type_list_attr is not None:
            types.extend(attrs[arg.type_list_attr])
            continue
        dtype = arg.type if arg.type_attr is None else attrs.get(arg.type_attr)
        if arg.is_ref and dtype is not None:
            dtype = dtype._as_ref
        types.extend([dtype] * (attrs[arg.number_attr] if arg.number_attr else 1))
    return types
