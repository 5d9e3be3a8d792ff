"""TF_OperationDescription and TF_Operation: what is said of operations that are added, and what is known of those that are there."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import POINTER, c_float, c_int64, c_size_t, c_ubyte
from typing import Any

from everflow.c_api import graphs
from everflow.c_api.boundary import (
    STATUS,
    I,
    N,
    Output,
    P,
    S,
    array,
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
)
from everflow.errors import invalid_argument, not_found
from everflow.graph import attrs as attr_values
from everflow.graph import dtypes, opdefs
from everflow.graph.importer import extend_graph
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.graph.tensor_proto import make_tensor_proto
from everflow.graph.wire import complete_attrs
from everflow.proto import attr_value_pb2, graph_pb2, tensor_shape_pb2


class Description:
    """An operation under way."""

    def __init__(self, graph: graphs.CGraph, kind: str, name: str) -> None:
        self.graph, self.kind, self.name, self.device = graph, kind, name, ""
        self.inputs: list[Tensor] = []
        self.controls: list[Operation] = []
        self.colocated: list[str] = []
        self.attrs: dict[str, Any] = {}

    def finish(self) -> Operation:
        """Adds it to its graph."""
        graph = self.graph.graph
        if self.name in graph._by_name:
            raise invalid_argument(f"Duplicate node name in graph: '{self.name}'")
        definition = graph.op_definition(self.kind) or opdefs.find(self.kind)
        if definition is None:
            raise not_found(
                f"Op type not registered '{self.kind}' in binary running on localhost. Make sure the Op and Kernel are registered in the "
                "binary running in this process."
            )
        if self.colocated:
            self.attr("_class").list.s.extend(f"loc:@{name}".encode() for name in sorted(self.colocated))
        attrs = {}
        for key, value in self.attrs.items():
            known = definition.attrs.get(key)
            attrs[key] = attr_values.from_proto(value, known.type if known else None)
        complete_attrs(definition, attrs, self.inputs, self.name)
        graph_def = graph_pb2.GraphDef()
        node = graph_def.node.add(name=self.name, op=self.kind, device=self.device)
        node.input.extend(f"{t.op.name}:{t.value_index}" if t.value_index else t.op.name for t in self.inputs)
        node.input.extend("^" + op.name for op in self.controls)
        for key, value in attrs.items():
            known = definition.attrs.get(key)
            node.attr[key].CopyFrom(self.attrs.get(key) or attr_values.to_proto(value, known.type if known else None))
        graph_def.versions.CopyFrom(graph.graph_def_versions)
        extend_graph(graph, graph_def, any_name=True)
        return graph._by_name[self.name]

    def attr(self, name: str) -> Any:
        """An attribute to be filled."""
        made = self.attrs[name] = attr_value_pb2.AttrValue()
        return made


@c_function("TF_NewOperation", P, S, S, result=P)
def new_operation(graph: Any, kind: bytes, name: bytes) -> int:
    """Begins an operation."""
    return handle(Description(held(graph), text(kind), text(name)))


@c_function("TF_FinishOperation", P, STATUS, result=P)
def finish_operation(description: Any) -> int:
    """Adds the operation."""
    found: Description = held(description)
    drop(description)
    return found.graph.operation(found.finish())


@c_function("TF_SetDevice", P, S)
def set_device(description: Any, device: bytes) -> None:
    """Where it runs."""
    held(description).device = text(device)


@c_function("TF_AddInput", P, Output)
def add_input(description: Any, given: Output) -> None:
    """One input."""
    held(description).inputs.append(output(given))


@c_function("TF_AddInputList", P, P, I)
def add_input_list(description: Any, given: Any, count: int) -> None:
    """An input that is a list."""
    held(description).inputs.extend(outputs(given, count))


@c_function("TF_AddControlInput", P, P)
def add_control_input(description: Any, op: Any) -> None:
    """What it waits for."""
    held(description).controls.append(held(op).op)


@c_function("TF_ColocateWith", P, P)
def colocate_with(description: Any, op: Any) -> None:
    """Whose device it has."""
    held(description).colocated.append(held(op).op.name)


def _setter(prefix: str, kind: str, field: str, one: Any, several: Any, made: Callable[[Any], Any] = lambda value: value) -> None:
    """TF_SetAttrInt(desc, name, value) and TF_SetAttrIntList(desc, name, values, count), and so on."""

    def single(description: Any, name: bytes, value: Any) -> None:
        setattr(held(description).attr(text(name)), field, made(value))

    def listed(description: Any, name: bytes, values: Any, count: int) -> None:
        found = held(description).attr(text(name)).list
        found.SetInParent()
        getattr(found, field).extend(made(value) for value in numbers(several, values, count))

    c_function(prefix + kind, P, S, one)(single)
    c_function(f"{prefix}{kind}List", P, S, P, I)(listed)


def set_string(description: Any, name: bytes, value: Any, size: int) -> None:
    """A string."""
    held(description).attr(text(name)).s = ctypes.string_at(value, size) if size else b""


def set_strings(description: Any, name: bytes, values: Any, sizes: Any, count: int) -> None:
    """Strings."""
    found = held(description).attr(text(name)).list
    found.SetInParent()
    found.s.extend(_pieces(values, sizes, count))


def _pieces(addresses: Any, sizes: Any, count: int) -> list[bytes]:
    pairs = zip(numbers(P, addresses, count), numbers(c_size_t, sizes, count))
    return [ctypes.string_at(at, size) if size else b"" for at, size in pairs]


def set_attributes_by(prefix: str) -> None:
    """The functions that set attributes with the same arguments, whether an op is to be added to a graph or run at once."""
    _setter(prefix, "Int", "i", c_int64, c_int64)
    _setter(prefix, "Float", "f", c_float, c_float)
    _setter(prefix, "Bool", "b", c_ubyte, c_ubyte, bool)
    _setter(prefix, "Type", "type", I, I)
    c_function(f"{prefix}String", P, S, P, N)(set_string)
    c_function(f"{prefix}StringList", P, S, P, P, I)(set_strings)


set_attributes_by("TF_SetAttr")


@c_function("TF_SetAttrPlaceholder", P, S, S)
def set_placeholder(description: Any, name: bytes, value: bytes) -> None:
    """The name of an attribute of the function around."""
    held(description).attr(text(name)).placeholder = text(value)


@c_function("TF_SetAttrFuncName", P, S, P, N)
def set_function(description: Any, name: bytes, value: Any, size: int) -> None:
    """A function."""
    held(description).attr(text(name)).func.name = ctypes.string_at(value, size).decode()


def _put_shape(proto: Any, dims: Any, rank: int) -> None:
    proto.SetInParent()
    if rank < 0:
        proto.unknown_rank = True
    for size in numbers(c_int64, dims, rank):
        proto.dim.add(size=size)


@c_function("TF_SetAttrShape", P, S, P, I)
def set_shape(description: Any, name: bytes, dims: Any, rank: int) -> None:
    """A shape."""
    _put_shape(held(description).attr(text(name)).shape, dims, rank)


@c_function("TF_SetAttrShapeList", P, S, P, P, I)
def set_shapes(description: Any, name: bytes, dims: Any, ranks: Any, count: int) -> None:
    """Shapes."""
    found = held(description).attr(text(name)).list
    found.SetInParent()
    for at, rank in zip(numbers(P, dims, count), numbers(I, ranks, count)):
        _put_shape(found.shape.add(), at, rank)


@c_function("TF_SetAttrTensorShapeProto", P, S, P, N, STATUS)
def set_shape_proto(description: Any, name: bytes, proto: Any, size: int) -> None:
    """A TensorShapeProto."""
    shape = parsed(tensor_shape_pb2.TensorShapeProto, ctypes.string_at(proto, size) if size else b"")
    held(description).attr(text(name)).shape.CopyFrom(shape)


@c_function("TF_SetAttrTensorShapeProtoList", P, S, P, P, I, STATUS)
def set_shape_protos(description: Any, name: bytes, protos: Any, sizes: Any, count: int) -> None:
    """TensorShapeProtos."""
    found = held(description).attr(text(name)).list
    found.SetInParent()
    found.shape.extend(parsed(tensor_shape_pb2.TensorShapeProto, piece) for piece in _pieces(protos, sizes, count))


def _tensor_proto(address: Any) -> Any:
    value = array(address)
    dtype = dtypes.string if value.dtype == object else dtypes.as_dtype(value.dtype)
    return make_tensor_proto(value, dtype, shape=value.shape)


@c_function("TF_SetAttrTensor", P, S, P, STATUS)
def set_tensor(description: Any, name: bytes, value: Any) -> None:
    """A tensor."""
    held(description).attr(text(name)).tensor.CopyFrom(_tensor_proto(value))


@c_function("TF_SetAttrTensorList", P, S, P, I, STATUS)
def set_tensors(description: Any, name: bytes, values: Any, count: int) -> None:
    """Tensors."""
    found = held(description).attr(text(name)).list
    found.SetInParent()
    found.tensor.extend(_tensor_proto(value) for value in numbers(P, values, count))


@c_function("TF_SetAttrValueProto", P, S, P, N, STATUS)
def set_value(description: Any, name: bytes, proto: Any, size: int) -> None:
    """An AttrValue."""
    held(description).attrs[text(name)] = parsed(attr_value_pb2.AttrValue, ctypes.string_at(proto, size) if size else b"")


# -- what is known of an operation


def _text_of(name: str, value: Callable[[Operation], str]) -> None:
    def found(op: Any) -> int:
        operation = held(op)
        return kept_text(operation, name, value(operation.op))

    c_function(name, P, result=P)(found)


_text_of("TF_OperationName", lambda op: op.name)
_text_of("TF_OperationOpType", lambda op: op.type)
_text_of("TF_OperationDevice", lambda op: op.device)


def _count_of(name: str, value: Callable[[Operation], Any]) -> None:
    c_function(name, P, result=I)(lambda op: len(value(held(op).op)))


_count_of("TF_OperationNumOutputs", lambda op: op.outputs)
_count_of("TF_OperationNumInputs", lambda op: op.inputs)
_count_of("TF_OperationNumControlInputs", lambda op: op.control_inputs)
_count_of("TF_OperationNumControlOutputs", lambda op: op._control_outputs)


def _operations_of(name: str, value: Callable[[Operation], Any]) -> None:
    def found(op: Any, into: Any, most: int) -> int:
        operations = list(value(held(op).op))
        target = ctypes.cast(into, POINTER(P))
        for i, each in enumerate(operations[:most]):
            target[i] = graphs.operation_handle(each)
        return len(operations)

    c_function(name, P, P, I, result=I)(found)


_operations_of("TF_OperationGetControlInputs", lambda op: op.control_inputs)
_operations_of("TF_OperationGetControlOutputs", lambda op: op._control_outputs)


@c_function("TF_OperationOutputType", Output, result=I)
def output_type(of: Output) -> int:
    """The type of an output."""
    return output(of).dtype.as_datatype_enum


def _input(of: Output) -> Tensor:
    op: Operation = held(of.oper).op
    if not 0 <= of.index < len(op.inputs):
        raise invalid_argument(f"'{op.name}' has no input {of.index}")
    return op.inputs[of.index]


@c_function("TF_OperationInputType", Output, result=I)
def input_type(of: Output) -> int:
    """The type of an input."""
    return _input(of).dtype.as_datatype_enum


@c_function("TF_OperationInput", P, Output)
def input_source(into: Any, of: Output) -> None:
    """Where an input comes from."""
    put_outputs(into, [graphs.output_of(_input(of))])


@c_function("TF_OperationAllInputs", P, P, I)
def all_inputs(op: Any, into: Any, most: int) -> None:
    """Where the inputs come from."""
    put_outputs(into, [graphs.output_of(t) for t in held(op).op.inputs][:most])


def _consumers(of: Output) -> list[Output]:
    found = output(of)
    consumers = dict.fromkeys(found.consumers())
    return [Output(graphs.operation_handle(op), i) for op in consumers for i, t in enumerate(op.inputs) if t is found]


@c_function("TF_OperationOutputNumConsumers", Output, result=I)
def consumer_count(of: Output) -> int:
    """How many inputs take an output."""
    return len(_consumers(of))


@c_function("TF_OperationOutputConsumers", Output, P, I, result=I)
def output_consumers(of: Output, into: Any, most: int) -> int:
    """Which inputs take an output."""
    found = _consumers(of)
    put_outputs(into, found[:most])
    return len(found)


def _length_of(op: Operation, arguments: Any, name: str, what: str) -> int:
    for argument in arguments:
        if argument.name == name:
            if argument.type_list_attr:
                return len(op.attr(argument.type_list_attr))
            return op.attr(argument.number_attr) if argument.number_attr else 1
    raise invalid_argument(f"{what} arg '{name}' not found")


@c_function("TF_OperationOutputListLength", P, S, STATUS, result=I)
def output_list_length(op: Any, name: bytes) -> int:
    """How many tensors an output argument has."""
    found: Operation = held(op).op
    return _length_of(found, found.op_def_.outputs, text(name), "Output")


@c_function("TF_OperationInputListLength", P, S, STATUS, result=I)
def input_list_length(op: Any, name: bytes) -> int:
    """How many tensors an input argument has."""
    found: Operation = held(op).op
    return _length_of(found, found.op_def_.inputs, text(name), "Input")


@c_function("TF_OperationToNodeDef", P, P, STATUS)
def to_node_def(op: Any, into: Any) -> None:
    """The NodeDef."""
    fill(into, held(op).op.node_def)
