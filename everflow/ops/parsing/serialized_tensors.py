"""Tensors as serialized TensorProtos, and Examples written as JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.api import public
from everflow.errors import invalid_argument, unimplemented
from everflow.graph import dtypes, shapes
from everflow.graph.tensor_proto import make_ndarray
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.core.shape_rules import same_as_input, scalar
from everflow.proto import example_pb2, tensor_pb2
from everflow.values.tensors import from_numpy, to_numpy
from everflow.values.texts import mapped, text_array

Kernel = Callable[..., Any]

# The variants that are written are states that are bytes already, such as the position of an iterator.
STATE = "everflow.state"

# Messages call types by the names of the wire format.
_WIRE_NAMES = {"float32": "float", "float64": "double", "float16": "half"}


def _wire_name(dtype: dtypes.DType) -> str:
    return _WIRE_NAMES.get(dtype.name, dtype.name)


def _serialize(node: Node) -> Kernel:
    dtype = node.attr("T")

    def run(value: Any) -> Any:
        proto = tensor_pb2.TensorProto(dtype=dtype.as_datatype_enum)
        proto.tensor_shape.SetInParent()
        for size in value.shape:
            proto.tensor_shape.dim.add().size = size
        if dtype is dtypes.string:
            proto.string_val.extend(value.ravel().tolist())
        elif dtype is dtypes.variant:
            for item in value.ravel().tolist():
                if not isinstance(item, bytes):
                    raise unimplemented(f"A variant that holds {type(item).__name__} can't be serialized.")
                proto.variant_val.add(type_name=STATE, metadata=item)
        else:
            proto.tensor_content = np.ascontiguousarray(to_numpy(value, dtype)).tobytes()
        return text_array([proto.SerializeToString()], ())

    return run


def _parse(node: Node) -> Kernel:
    from google.protobuf.message import DecodeError

    dtype = node.attr("out_type")

    def run(serialized: Any) -> Any:
        if serialized.ndim:
            raise invalid_argument(f"Expected `serialized` to be a scalar, got shape: {shapes.describe(serialized.shape)}")
        proto = tensor_pb2.TensorProto()
        try:
            proto.ParseFromString(serialized.item())
        except DecodeError:
            shown = serialized.item().decode("utf-8", "replace")
            raise invalid_argument(f"Could not parse `serialized` as TensorProto: '{shown}'") from None
        if proto.dtype != dtype.as_datatype_enum:
            found = _wire_name(dtypes.as_dtype(proto.dtype)) if proto.dtype else "invalid"
            raise invalid_argument(f"Type mismatch between parsed tensor ({found}) and dtype ({_wire_name(dtype)})")
        if dtype is dtypes.variant:
            return text_array([item.metadata for item in proto.variant_val], [d.size for d in proto.tensor_shape.dim])
        return from_numpy(make_ndarray(proto), dtype)

    return run


op("SerializeTensor", kernel=_serialize, shape=scalar, gradient=not_differentiable)
op("ParseTensor", kernel=_parse, shape=lambda o: None, gradient=not_differentiable)


@public("serialize_tensor", "io.serialize_tensor")
def serialize_tensor(tensor: Any, name: str | None = None) -> Any:
    """A tensor as the bytes of a TensorProto."""
    return apply("SerializeTensor", tensor, name=name)


@public("parse_tensor", "io.parse_tensor")
def parse_tensor(serialized: Any, out_type: dtypes.DTypeLike, name: str | None = None) -> Any:
    """The tensor in the bytes of a TensorProto."""
    return apply("ParseTensor", serialized, out_type=out_type, name=name)


def _from_json(text: bytes) -> bytes:
    from google.protobuf import json_format

    try:
        return json_format.Parse(text, example_pb2.Example()).SerializeToString(deterministic=True)
    except (json_format.ParseError, UnicodeDecodeError) as e:
        raise invalid_argument(f"Error while parsing JSON: {e}") from None


op("DecodeJSONExample", kernel=lambda node: lambda x: mapped(_from_json, x), shape=same_as_input)


@public("decode_json_example", "io.decode_json_example")
def decode_json_example(json_examples: Any, name: str | None = None) -> Any:
    """Examples written as JSON, in the bytes that parse_example takes."""
    return apply("DecodeJSONExample", json_examples, name=name)
