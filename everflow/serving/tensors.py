"""Tensors between messages and numpy, at the speed of memory wherever the wire format allows it."""

from __future__ import annotations

import functools
import math
import struct
from typing import Any

import numpy as np

from everflow.errors import invalid_argument
from everflow.graph import dtypes
from everflow.proto import tensor_pb2

# The repeated field for each type, its number, and whether its elements lie in the message as they lie in memory.
_FIELDS = {
    "float32": ("float_val", 5, True), "float64": ("double_val", 6, True), "int32": ("int_val", 7, False),
    "uint8": ("int_val", 7, False), "int16": ("int_val", 7, False), "int8": ("int_val", 7, False), "uint16": ("int_val", 7, False),
    "qint8": ("int_val", 7, False), "quint8": ("int_val", 7, False), "qint16": ("int_val", 7, False),
    "quint16": ("int_val", 7, False), "qint32": ("int_val", 7, False), "string": ("string_val", 8, False),
    "complex64": ("scomplex_val", 9, True), "int64": ("int64_val", 10, False), "bool": ("bool_val", 11, False),
    "complex128": ("dcomplex_val", 12, True), "float16": ("half_val", 13, False), "bfloat16": ("half_val", 13, False),
    "uint32": ("uint32_val", 16, False), "uint64": ("uint64_val", 17, False),
}  # fmt: skip
_WIDE = {"int_val": np.int32, "int64_val": np.int64, "half_val": np.int32, "uint32_val": np.uint32, "uint64_val": np.uint64,
         "bool_val": np.bool_, "float_val": np.float32, "double_val": np.float64, "scomplex_val": np.float32,
         "dcomplex_val": np.float64}  # fmt: skip
# From so many elements on, a packed field is read from the message's bytes.
_MANY = 32
# A short message may ask for a large tensor by repeating its last element; so many bytes of it are given.
_LARGEST_REPEATED = 1 << 28


class _Type:
    """What decoding and encoding need to know of a type."""

    def __init__(self, dtype: dtypes.DType) -> None:
        self.dtype = dtype
        self.name = dtype.name
        if self.name not in _FIELDS:
            raise ValueError(f"tensors of type {self.name} can't be sent")
        self.field, self.number, self.is_packed = _FIELDS[self.name]
        self.is_string = self.name == "string"
        numpy_type: Any = np.dtype(object) if self.is_string else np.dtype(dtype.as_numpy_dtype)
        # Quantized numbers are the integers that they are made of.
        self.numpy = numpy_type[0] if numpy_type.names else numpy_type
        self.wide = None if self.is_string else np.dtype(_WIDE[self.field])
        self.enum = dtype.as_datatype_enum


@functools.cache
def type_of(enum: int) -> _Type:
    """By the number of the type on the wire; ValueError where there is no such type, or none whose tensors are sent."""
    try:
        return _Type(dtypes.as_dtype(enum))
    except TypeError as e:
        raise ValueError(str(e)) from None


def decoded(proto: Any) -> np.ndarray:
    """The array in a TensorProto; ValueError where the message contradicts itself."""
    kind = type_of(proto.dtype)
    if proto.tensor_shape.unknown_rank:
        raise ValueError("a tensor has a shape")
    shape = tuple([d.size for d in proto.tensor_shape.dim])
    count = math.prod(shape)
    if min(shape, default=0) < 0 or count >= 1 << 40 or len(shape) > 254:
        raise ValueError(f"bad shape {list(shape)}")
    content = proto.tensor_content
    if content:
        if kind.is_string:
            return _texts(content, count).reshape(shape)
        if len(content) != count * kind.numpy.itemsize:
            raise ValueError(f"{len(content)} bytes for a tensor of shape {list(shape)}")
        if kind.name == "bool":
            return (np.frombuffer(content, np.uint8) != 0).reshape(shape)
        return np.frombuffer(content, kind.numpy).reshape(shape)
    elements = getattr(proto, kind.field)
    given = len(elements)
    if given != (2 * count if kind.name in ("complex64", "complex128") else count):
        return _repeated(_elements(proto, kind, elements, given), kind, shape, count)
    return _elements(proto, kind, elements, given).reshape(shape)


def _elements(proto: Any, kind: _Type, elements: Any, given: int) -> np.ndarray:
    if kind.is_string:
        array = np.empty(given, object)
        array[:] = list(elements)
        return array
    if kind.is_packed and given >= _MANY:
        flat = np.frombuffer(field_bytes(proto.SerializeToString(), kind.number), kind.wide)
    else:
        flat = np.array(list(elements), kind.wide)
    if kind.field == "half_val":
        return flat.astype(np.uint16).view(kind.numpy)
    if kind.name in ("complex64", "complex128"):
        return flat[: len(flat) // 2 * 2].view(kind.numpy)
    return flat if flat.dtype == kind.numpy else flat.astype(kind.numpy)


def _repeated(given: np.ndarray, kind: _Type, shape: tuple[int, ...], count: int) -> np.ndarray:
    """Where there are too few elements, the last one fills the rest; zeros or empty strings where there are none."""
    if len(given) > count:
        raise ValueError(f"too many elements for shape {list(shape)}: {len(given)}")
    if count * (8 if kind.is_string else kind.numpy.itemsize) > _LARGEST_REPEATED:
        raise ValueError(f"only {len(given)} elements for shape {list(shape)}")
    array = np.empty(count, given.dtype)
    array[: len(given)] = given
    array[len(given) :] = given[-1] if len(given) else b"" if kind.is_string else 0
    return array.reshape(shape)


def field_bytes(message: bytes, wanted: int) -> memoryview:
    """The bytes of a field in a serialized message: a packed one, or a message."""
    view, at, end = memoryview(message), 0, len(message)
    while at < end:
        tag, at = _varint(message, at)
        number, kind = tag >> 3, tag & 7
        if kind == 2:
            size, at = _varint(message, at)
            if number == wanted:
                return view[at : at + size]
            at += size
        elif kind == 0:
            _, at = _varint(message, at)
        else:
            at += {1: 8, 5: 4}[kind]
    raise ValueError("no such field")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError("bad number")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def _texts(content: bytes, count: int) -> np.ndarray:
    """Strings as one run of bytes: first all lengths, then all texts."""
    if count > len(content):
        raise ValueError("too few bytes")
    at, lengths = 0, []
    for _ in range(count):
        length, at = _varint(content, at)
        lengths.append(length)
    if at + sum(lengths) != len(content):
        raise ValueError("lengths do not add up")
    array = np.empty(count, object)
    for i, length in enumerate(lengths):
        array[i] = content[at : at + length]
        at += length
    return array


def encode(array: np.ndarray, enum: int, proto: Any) -> None:
    """Writes an array into a TensorProto, in the typed field."""
    kind = type_of(enum)
    proto.dtype = enum
    dims = proto.tensor_shape.dim
    if not array.shape:
        proto.tensor_shape.SetInParent()
    for size in array.shape:
        dims.add(size=size)
    flat: np.ndarray = array.reshape(-1)
    if kind.is_string:
        proto.string_val.extend(flat.tolist())
        return
    if flat.dtype.names:
        flat = flat.view(flat.dtype[0])
    if kind.field == "half_val":
        flat = flat.view(np.uint16)
    elif kind.is_packed:
        flat = np.ascontiguousarray(flat).view(kind.wide)
        if flat.size >= _MANY:
            proto.MergeFromString(_header(kind.number << 3 | 2, flat.nbytes) + flat.tobytes())
            return
    getattr(proto, kind.field).extend(flat.tolist())


def _header(tag: int, size: int) -> bytes:
    out = bytearray(struct.pack("B", tag))
    while size > 127:
        out.append(size & 127 | 128)
        size >>= 7
    out.append(size)
    return bytes(out)


def parsed(alias: str, proto: Any) -> np.ndarray:
    """The array of a request's tensor; a bad one is the client's mistake."""
    try:
        return decoded(proto)
    except (ValueError, OverflowError, KeyError, TypeError, MemoryError):
        raise invalid_argument(f"tensor parsing error: {alias}") from None


def tensor_proto(array: np.ndarray, enum: int) -> Any:
    """A new TensorProto of an array."""
    proto = tensor_pb2.TensorProto()
    encode(array, enum, proto)
    return proto
