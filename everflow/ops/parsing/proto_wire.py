"""The wire format of protocol buffers, field by field, for messages of which only the descriptor is known."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from google.protobuf import descriptor_pb2
from google.protobuf.descriptor import FieldDescriptor as Field

_VARINT, _FIXED64, _LENGTH, _START_GROUP, _END_GROUP, _FIXED32 = range(6)
_FIXED: dict[int, str] = {
    Field.TYPE_DOUBLE: "<d",
    Field.TYPE_FLOAT: "<f",
    Field.TYPE_FIXED64: "<Q",
    Field.TYPE_FIXED32: "<I",
    Field.TYPE_SFIXED64: "<q",
    Field.TYPE_SFIXED32: "<i",
}
_BYTES = (Field.TYPE_STRING, Field.TYPE_BYTES, Field.TYPE_MESSAGE)
_WORD = 1 << 64


def wire_type(field: Any) -> int:
    """How values of a field are written, one by one."""
    if field.type in _FIXED:
        return _FIXED64 if struct.calcsize(_FIXED[field.type]) == 8 else _FIXED32
    return _LENGTH if field.type in _BYTES else _VARINT


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    found = shift = 0
    while True:
        byte = data[at]
        at += 1
        found |= (byte & 127) << shift
        if byte < 128:
            return found % _WORD, at
        shift += 7
        if shift > 63:
            raise ValueError("a number that never ends")


def _varint(value: int) -> bytes:
    value %= _WORD
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)


def _signed(value: int, bits: int) -> int:
    value %= 1 << bits
    return value - (1 << bits) if value >> (bits - 1) else value


# What a varint means, by type of field.
_MEANINGS: dict[int, Callable[[int], Any]] = {
    Field.TYPE_INT64: lambda v: _signed(v, 64),
    Field.TYPE_INT32: lambda v: _signed(v, 32),
    Field.TYPE_ENUM: lambda v: _signed(v, 32),
    Field.TYPE_UINT64: int,
    Field.TYPE_UINT32: lambda v: v % (1 << 32),
    Field.TYPE_BOOL: bool,
    Field.TYPE_SINT64: lambda v: v >> 1 ^ -(v & 1),
    Field.TYPE_SINT32: lambda v: _signed(v >> 1 ^ -(v & 1), 32),
}


def _read(field: Any, data: bytes, at: int) -> tuple[Any, int]:
    """A value of a field that is written alone, and where it ends."""
    form = _FIXED.get(field.type)
    if form is not None:
        end = at + struct.calcsize(form)
        return struct.unpack(form, data[at:end])[0], end
    value, at = _read_varint(data, at)
    return _MEANINGS[field.type](value), at


def _skip(data: bytes, at: int, kind: int) -> int:
    if kind == _VARINT:
        return _read_varint(data, at)[1]
    if kind == _LENGTH:
        length, at = _read_varint(data, at)
        return at + length
    if kind == _START_GROUP:
        while True:
            tag, at = _read_varint(data, at)
            if tag & 7 == _END_GROUP:
                return at
            at = _skip(data, at, tag & 7)
    if kind in (_FIXED64, _FIXED32):
        return at + (8 if kind == _FIXED64 else 4)
    raise ValueError("no such kind of field")


def decoded(data: bytes, fields: dict[int, Any]) -> dict[int, list[Any]]:
    """The values of the fields with these numbers, in the order in which they stand. ValueError for what is no message."""
    found: dict[int, list[Any]] = {number: [] for number in fields}
    at = 0
    try:
        while at < len(data):
            tag, at = _read_varint(data, at)
            field, kind = fields.get(tag >> 3), tag & 7
            if field is None or kind not in (wire_type(field), _LENGTH):
                at = _skip(data, at, kind)
            elif kind == _LENGTH:
                length, at = _read_varint(data, at)
                end = at + length
                if end > len(data):
                    raise ValueError("a value that is cut off")
                if field.type in _BYTES:
                    found[field.number].append(data[at:end])
                else:
                    # Numbers of a repeated field may be packed behind each other.
                    while at < end:
                        value, at = _read(field, data, at)
                        found[field.number].append(value)
                at = end
            else:
                value, at = _read(field, data, at)
                found[field.number].append(value)
    except (IndexError, struct.error) as error:
        raise ValueError(str(error)) from None
    if at != len(data):
        raise ValueError("a value that is cut off")
    return found


def _written(field: Any, value: Any) -> bytes:
    form = _FIXED.get(field.type)
    if form is not None:
        return struct.pack(form, value)
    if field.type in _BYTES:
        return _varint(len(value)) + value
    if field.type in (Field.TYPE_SINT64, Field.TYPE_SINT32):
        return _varint(value << 1 ^ value >> 63)
    return _varint(int(value))


def is_repeated(field: Any) -> bool:
    """Whether a message may have several values of a field."""
    known = getattr(field, "is_repeated", None)
    return field.label == Field.LABEL_REPEATED if known is None else known


def _is_packed(field: Any) -> bool:
    known = getattr(field, "is_packed", None)
    if known is not None:
        return known
    # Older versions of protobuf do not say: version 3 of the language packs all numbers that repeat, version 2 where it is told to.
    options = field.GetOptions()
    file = descriptor_pb2.FileDescriptorProto()
    field.file.CopyToProto(file)
    packs = options.packed if options.HasField("packed") else file.syntax == "proto3"
    return is_repeated(field) and field.type not in _BYTES and packs


def encoded(field: Any, values: list[Any]) -> bytes:
    """Values of a field as they stand in a message."""
    if values and _is_packed(field):
        body = b"".join(_written(field, value) for value in values)
        return _varint(field.number << 3 | _LENGTH) + _varint(len(body)) + body
    tag = _varint(field.number << 3 | wire_type(field))
    return b"".join(tag + _written(field, value) for value in values)
