"""Nested Python structures of tensor types as protos (StructuredValue), for signatures of functions."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any, ClassVar

from everflow import api
from everflow.api import internal
from everflow.compat import as_str
from everflow.graph import dtypes
from everflow.graph.shapes import TensorShape
from everflow.graph.tensor_spec import TensorSpec
from everflow.graph.type_spec import TypeSpec
from everflow.platform import logging
from everflow.proto import struct_pb2


@internal("saved_model.nested_structure_coder.NotEncodableError")
class NotEncodableError(Exception):
    """Something in a structure has no proto."""


# The numbers of types in TypeSpecProto, and where they are defined.
_SPEC_CLASSES = {
    1: "SparseTensorSpec",
    2: "IndexedSlicesSpec",
    3: "RaggedTensorSpec",
    4: "TensorArraySpec",
    5: "data.DatasetSpec",
    6: "python.data.ops.iterator_ops.IteratorSpec",
    7: "OptionalSpec",
    8: "python.distribute.values.PerReplicaSpec",
}


def _spec_class(number: int) -> Any:
    for name in (_SPEC_CLASSES.get(number), "data.experimental." + _SPEC_CLASSES.get(number, "")):
        if name and api.has(name):
            return api.find(name)
    return None


Coder = Callable[[Any], Any]


class _Codec:
    """One kind of value: which field of the proto it is in, what it takes and how it is written and read."""

    def __init__(
        self, field: str, takes: Callable[[Any], bool], write: Callable[[Any, Any, Coder], None], read: Callable[[Any, Coder], Any]
    ) -> None:
        self.field, self.can_encode, self.write, self.read = field, takes, write, read

    def do_encode(self, value: Any, encode_fn: Coder) -> Any:
        proto = struct_pb2.StructuredValue()
        self.write(proto, value, encode_fn)
        return proto

    def can_decode(self, proto: Any) -> bool:
        return proto.HasField(self.field)

    def do_decode(self, proto: Any, decode_fn: Coder) -> Any:
        return self.read(proto, decode_fn)


def _is_tuple(value: Any) -> bool:
    return isinstance(value, tuple) and not _is_named_tuple(value)


def _is_named_tuple(value: Any) -> bool:
    fields = getattr(value, "_fields", None)
    return isinstance(value, tuple) and isinstance(fields, tuple) and all(isinstance(f, str) for f in fields)


def _write_sequence(field: str) -> Callable[[Any, Any, Coder], None]:
    def write(proto: Any, value: Any, encode: Coder) -> None:
        holder = getattr(proto, field)
        holder.SetInParent()
        for item in value:
            holder.values.add().CopyFrom(encode(item))

    return write


def _write_dict(proto: Any, value: Any, encode: Coder) -> None:
    proto.dict_value.SetInParent()
    for key, item in value.items():
        proto.dict_value.fields[key].CopyFrom(encode(item))


def _write_named_tuple(proto: Any, value: Any, encode: Coder) -> None:
    proto.named_tuple_value.name = type(value).__name__
    for key in value._fields:
        pair = proto.named_tuple_value.values.add(key=key)
        pair.value.CopyFrom(encode(getattr(value, key)))


def _read_named_tuple(proto: Any, decode: Coder) -> Any:
    items = {pair.key: decode(pair.value) for pair in proto.named_tuple_value.values}
    return collections.namedtuple(proto.named_tuple_value.name, list(items))(**items)  # type: ignore[misc]


def _write_spec(proto: Any, value: TensorSpec, encode: Coder) -> None:
    spec = proto.tensor_spec_value
    spec.shape.CopyFrom(value.shape.as_proto())
    spec.dtype = value.dtype.as_datatype_enum
    spec.name = value.name or ""


def _read_spec(proto: Any, decode: Coder) -> TensorSpec:
    spec = proto.tensor_spec_value
    return TensorSpec(shape=TensorShape(spec.shape), dtype=dtypes.as_dtype(spec.dtype), name=as_str(spec.name) or None)


def _spec_number(value: Any) -> int | None:
    return next((n for n in _SPEC_CLASSES if type(value) is _spec_class(n)), None)


def _write_type_spec(proto: Any, value: Any, encode: Coder) -> None:
    spec = proto.type_spec_value
    number = _spec_number(value)
    assert number is not None
    spec.type_spec_class = number
    spec.type_state.CopyFrom(encode(value._serialize()))
    spec.type_spec_class_name = type(value).__name__


def _read_type_spec(proto: Any, decode: Coder) -> Any:
    spec = proto.type_spec_value
    found = _spec_class(spec.type_spec_class)
    if found is None:
        raise ValueError(
            f"The type '{spec.type_spec_class_name}' is not supported by this version of TensorFlow. (The object you are "
            "loading must have been created with a newer version of TensorFlow.)"
        )
    return found._deserialize(decode(spec.type_state))


def _set(field: str, convert: Callable[[Any], Any] = lambda v: v) -> Callable[[Any, Any, Coder], None]:
    return lambda proto, value, encode: setattr(proto, field, convert(value))


_CODECS: list[Any] = [
    _Codec(
        "list_value",
        lambda v: isinstance(v, list),
        _write_sequence("list_value"),
        lambda p, decode: [decode(v) for v in p.list_value.values],
    ),
    _Codec("tuple_value", _is_tuple, _write_sequence("tuple_value"), lambda p, decode: tuple(decode(v) for v in p.tuple_value.values)),
    _Codec(
        "dict_value",
        lambda v: isinstance(v, dict),
        _write_dict,
        lambda p, decode: {key: decode(v) for key, v in p.dict_value.fields.items()},
    ),
    _Codec("named_tuple_value", _is_named_tuple, _write_named_tuple, _read_named_tuple),
    _Codec("float64_value", lambda v: isinstance(v, float), _set("float64_value"), lambda p, decode: p.float64_value),
    _Codec(
        "int64_value", lambda v: not isinstance(v, bool) and isinstance(v, int), _set("int64_value"), lambda p, decode: int(p.int64_value)
    ),
    _Codec("string_value", lambda v: isinstance(v, str), _set("string_value"), lambda p, decode: as_str(p.string_value)),
    _Codec("none_value", lambda v: v is None, lambda p, v, encode: p.none_value.SetInParent(), lambda p, decode: None),
    _Codec("bool_value", lambda v: isinstance(v, bool), _set("bool_value"), lambda p, decode: p.bool_value),
    _Codec(
        "tensor_shape_value",
        lambda v: isinstance(v, TensorShape),
        lambda p, v, encode: p.tensor_shape_value.CopyFrom(v.as_proto()),
        lambda p, decode: TensorShape(p.tensor_shape_value),
    ),
    _Codec(
        "tensor_dtype_value",
        lambda v: isinstance(v, dtypes.DType),
        _set("tensor_dtype_value", lambda v: v.as_datatype_enum),
        lambda p, decode: dtypes.as_dtype(p.tensor_dtype_value),
    ),
    _Codec("tensor_spec_value", lambda v: isinstance(v, TensorSpec), _write_spec, _read_spec),
    _Codec("type_spec_value", lambda v: isinstance(v, TypeSpec) and _spec_number(v) is not None, _write_type_spec, _read_type_spec),
]


@internal("saved_model.nested_structure_coder.StructureCoder")
class StructureCoder:
    """Turns structures into protos and back."""

    _codecs: ClassVar[list[Any]] = _CODECS

    @classmethod
    def register_codec(cls, x: Any) -> None:
        """Adds a codec, which has `can_encode`, `do_encode`, `can_decode` and `do_decode`."""
        cls._codecs.append(x)

    def encode_structure(self, nested_structure: Any) -> Any:
        """The proto of a structure; NotEncodableError where there is none."""
        for codec in self._codecs:
            if codec.can_encode(nested_structure):
                return codec.do_encode(nested_structure, self.encode_structure)
        raise NotEncodableError(f"No codec for object [{nested_structure!s}] of type [{type(nested_structure)}].")

    def can_encode(self, nested_structure: Any) -> bool:
        """Whether a structure has a proto."""
        try:
            self.encode_structure(nested_structure)
        except NotEncodableError as error:
            logging.debug("%s", error)
            return False
        return True

    def decode_proto(self, proto: Any) -> Any:
        """The structure that a proto stands for."""
        for codec in self._codecs:
            if codec.can_decode(proto):
                return codec.do_decode(proto, self.decode_proto)
        raise NotEncodableError(f"No codec for object [{proto!s}] of type [{type(proto)}].")
