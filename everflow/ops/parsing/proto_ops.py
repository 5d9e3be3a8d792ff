"""Fields of serialized protocol buffers as tensors, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format
from google.protobuf.descriptor import FieldDescriptor as Field
from google.protobuf.message import DecodeError

from everflow import proto
from everflow.api import public
from everflow.errors import OpError, data_loss, invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.operation import Operation
from everflow.io.file_io import read_file_to_string
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.parsing.proto_wire import decoded, encoded, is_repeated
from everflow.proto import modules as proto_modules
from everflow.values.tensors import from_numpy, to_numpy

Kernel = Callable[..., Any]

# The types of tensors that hold the values of a field, by the field's type.
_SIGNED, _UNSIGNED = (dtypes.int32, dtypes.int64), (dtypes.uint32, dtypes.uint64, dtypes.int64)
_TYPES: dict[int, tuple[dtypes.DType, ...]] = {
    Field.TYPE_DOUBLE: (dtypes.float64,),
    Field.TYPE_FLOAT: (dtypes.float32, dtypes.float64),
    Field.TYPE_BOOL: (dtypes.bool,),
    Field.TYPE_INT64: (dtypes.int64,),
    Field.TYPE_SINT64: (dtypes.int64,),
    Field.TYPE_SFIXED64: (dtypes.int64,),
    Field.TYPE_INT32: _SIGNED,
    Field.TYPE_SINT32: _SIGNED,
    Field.TYPE_SFIXED32: _SIGNED,
    Field.TYPE_ENUM: (dtypes.int32,),
    Field.TYPE_UINT64: (dtypes.uint64, dtypes.int64),
    Field.TYPE_FIXED64: (dtypes.uint64, dtypes.int64),
    Field.TYPE_UINT32: _UNSIGNED,
    Field.TYPE_FIXED32: _UNSIGNED,
    Field.TYPE_STRING: (dtypes.string,),
    Field.TYPE_BYTES: (dtypes.string,),
    Field.TYPE_MESSAGE: (dtypes.string,),
}
_FIELD_NAMES = {
    Field.TYPE_DOUBLE: "double",
    Field.TYPE_FLOAT: "float",
    Field.TYPE_INT64: "int64",
    Field.TYPE_UINT64: "uint64",
    Field.TYPE_INT32: "int32",
    Field.TYPE_FIXED64: "fixed64",
    Field.TYPE_FIXED32: "fixed32",
    Field.TYPE_BOOL: "bool",
    Field.TYPE_STRING: "string",
    Field.TYPE_MESSAGE: "message",
    Field.TYPE_BYTES: "bytes",
    Field.TYPE_UINT32: "uint32",
    Field.TYPE_ENUM: "enum",
    Field.TYPE_SFIXED32: "sfixed32",
    Field.TYPE_SFIXED64: "sfixed64",
    Field.TYPE_SINT32: "sint32",
    Field.TYPE_SINT64: "sint64",
}
_DTYPE_NAMES = {"float32": "float", "float64": "double"}


def _pool(source: str) -> Any:
    """The descriptors in the text itself (`bytes://`), or in a file."""
    wrong = invalid_argument("Source does not represent serialized file descriptor set proto.")
    try:
        if source.startswith("bytes://"):
            content = source[len("bytes://") :].encode("utf-8", "surrogateescape")
        else:
            content = read_file_to_string(source, True)
        files = descriptor_pb2.FileDescriptorSet.FromString(content)
    except (DecodeError, OpError, UnicodeEncodeError):
        raise wrong from None
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return pool


def _local(name: str) -> Any:
    """A descriptor that this program has; those of TensorFlow's own messages are loaded when they are asked for."""
    pool = descriptor_pool.Default()
    try:
        return pool.FindMessageTypeByName(name)
    except KeyError:
        if not name.startswith("tensorflow."):
            raise
    for module in proto_modules.MODULES:
        if not module.endswith("_grpc"):
            getattr(proto, module)
    return pool.FindMessageTypeByName(name)


def _message(node: Node) -> Any:
    name, source = node.attr("message_type"), node.attr("descriptor_source")
    try:
        return _local(name) if source in ("", "local://") else _pool(source).FindMessageTypeByName(name)
    except KeyError:
        raise invalid_argument(f"No descriptor found for message type {name}") from None


def _fields(node: Node, message: Any) -> list[Any]:
    found = []
    for name in node.attr("field_names"):
        field = message.fields_by_name.get(name)
        if field is None:
            raise invalid_argument(f"Unknown field: {name} in message type {message.full_name}")
        found.append(field)
    return found


def _default(field: Any) -> Any:
    if field.type in (Field.TYPE_MESSAGE, Field.TYPE_BYTES, Field.TYPE_STRING):
        value = field.default_value or b""
        return value.encode() if isinstance(value, str) else value
    return field.default_value or 0


def _decode(node: Node) -> Kernel:
    message = _message(node)
    fields = _fields(node, message)
    types = list(node.attr("output_types"))
    if len(fields) != len(types):
        raise invalid_argument("field_names and output_types attributes must have the same length")
    for field, dtype in zip(fields, types):
        if dtype not in _TYPES.get(field.type, ()):
            raise invalid_argument(f"Unexpected output type for {field.full_name}: {field.cpp_type} to {dtype.as_datatype_enum}")
    form = node.attr("message_format")
    if form not in ("binary", "text"):
        raise invalid_argument("format must be one of binary or text")
    by_number = {field.number: field for field in fields}
    binary_of = _from_text(message) if form == "text" else bytes

    def run(serialized: Any) -> Any:
        rows = []
        for data in serialized.reshape(-1):
            try:
                rows.append(decoded(binary_of(data), by_number))
            except ValueError:
                raise data_loss("CountFields: Failed to consume entire buffer") from None
        sizes = np.array([[len(row[field.number]) for field in fields] for row in rows], np.int32)
        outputs = [from_numpy(sizes.reshape(*serialized.shape, len(fields)), dtypes.int32)]
        for i, (field, dtype) in enumerate(zip(fields, types)):
            # A single field that is missing has its default.
            width = max([0 if is_repeated(field) else 1, *sizes[:, i].tolist()]) if rows else 0
            values = np.full((len(rows), width), _default(field), object if dtype is dtypes.string else dtype.as_numpy_dtype)
            for k, row in enumerate(rows):
                for j, value in enumerate(row[field.number]):
                    values[k, j] = _signed_64(value) if dtype is dtypes.int64 else value
            outputs.append(from_numpy(values.reshape(*serialized.shape, width), dtype))
        return tuple(outputs)

    return run


def _signed_64(value: int) -> int:
    """Large unsigned numbers wrap around in int64 tensors."""
    return value - (1 << 64) if value >> 63 == 1 else value


def _from_text(message: str | None) -> Callable[[bytes], bytes]:
    kind = message_factory.GetMessageClass(message)

    def convert(text: bytes) -> bytes:
        try:
            return text_format.Parse(text, kind()).SerializeToString()
        except (text_format.ParseError, UnicodeDecodeError):
            raise data_loss("Unable to parse text protobuf") from None

    return convert


def _decode_shape(o: Operation) -> Any:
    batch = o.inputs[0].dims
    count = len(o.attr("output_types"))
    if batch is None:
        return [None] * (count + 1)
    return [(*batch, len(o.attr("field_names"))), *[(*batch, None)] * count]


op("DecodeProtoV2", kernel=_decode, shape=_decode_shape, gradient=not_differentiable)


def _encode(node: Node) -> Kernel:
    fields = _fields(node, _message(node))
    types = list(node.attr("Tinput_types"))
    for field, dtype in zip(fields, types):
        if dtype not in _TYPES.get(field.type, ()):
            shown = _DTYPE_NAMES.get(dtype.name, dtype.name)
            raise invalid_argument(
                f"Incompatible type for field {field.name}.  Saw dtype: {shown} but field type is: {_FIELD_NAMES.get(field.type, 'group')}"
            )
    # Fields stand in messages by their numbers.
    order = sorted(range(len(fields)), key=lambda i: fields[i].number)

    def run(sizes: Any, *values: Any) -> Any:
        batch = tuple(values[0].shape[:-1])
        expected = (*batch, len(fields))
        if tuple(sizes.shape) != expected:
            raise invalid_argument(
                "sizes should be batch_size + [len(field_names)].  Saw: "
                f"{shapes.describe(tuple(sizes.shape))} but expected: {shapes.describe(expected)}"
            )
        for i, value in enumerate(values):
            if tuple(value.shape[:-1]) != batch:
                raise invalid_argument(
                    f"Values must match up to the last dimension, but field {i} has shape {shapes.describe(tuple(value.shape))}"
                )
        counts = sizes.reshape(-1, len(fields)).tolist()
        columns = [to_numpy(value, dtype).reshape(len(counts), -1) for value, dtype in zip(values, types)]
        found = np.empty(len(counts), object)
        for k, row in enumerate(counts):
            parts = []
            for i in order:
                if row[i] > columns[i].shape[1]:
                    raise invalid_argument(
                        f"Size to write must not be larger than value tensor; but saw: {row[i]} > "
                        f"{columns[i].shape[1]} at message {k} field {i}"
                    )
                parts.append(encoded(fields[i], columns[i][k, : row[i]].tolist()))
            found[k] = b"".join(parts)
        return found.reshape(batch)

    return run


def _encode_shape(o: Operation) -> Any:
    dims = o.inputs[0].dims
    return None if dims is None else dims[:-1]


op("EncodeProto", kernel=_encode, shape=_encode_shape, gradient=not_differentiable)


@public("io.decode_proto", "contrib.proto.decode_proto")
def decode_proto(
    bytes: Any,
    message_type: str,
    field_names: Any,
    output_types: Any,
    descriptor_source: str = "local://",
    message_format: str = "binary",
    sanitize: bool = False,
    name: str | None = None,
) -> Any:
    """The values of fields of serialized messages, and how many each message has of them."""
    return apply(
        "DecodeProtoV2",
        bytes,
        message_type=message_type,
        field_names=field_names,
        output_types=output_types,
        descriptor_source=descriptor_source,
        message_format=message_format,
        sanitize=sanitize,
        name=name,
    )


@public("io.encode_proto", "contrib.proto.encode_proto")
def encode_proto(
    sizes: Any, values: Any, field_names: Any, message_type: str, descriptor_source: str = "local://", name: str | None = None
) -> Any:
    """Messages with so many of the values in their fields."""
    return apply(
        "EncodeProto", sizes, values, field_names=field_names, message_type=message_type, descriptor_source=descriptor_source, name=name
    )
