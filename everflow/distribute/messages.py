"""Protocol messages that carry tensors, written and read piece by piece: what lies in a tensor's memory is copied once each way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

# A message on its way out: texts and memory that follow each other.
Pieces = list[Any]

_WIDTHS = {1: 8, 5: 4}


def varint(number: int) -> bytes:
    """A number as the wire has it: seven bits a byte, the lowest first."""
    number &= 2**64 - 1
    if number < 128:
        return bytes((number,))
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    found.append(number)
    return bytes(found)


def number_field(field: int, number: int) -> bytes:
    """A field that holds a number."""
    return varint(field << 3) + varint(number)


def field(number: int, pieces: Pieces) -> Pieces:
    """A field that holds a message or a text."""
    return [varint(number << 3 | 2) + varint(sum(map(len, pieces))), *pieces]


def named(number: int, name: str, tensor: Pieces) -> Pieces:
    """A field that holds a NamedTensorProto."""
    return field(number, [*field(1, [name.encode()]), *field(2, tensor)])


def joined(pieces: Iterable[Any]) -> bytes:
    """The message as one run of bytes."""
    return b"".join(pieces)


def fields(data: Any) -> Iterator[tuple[int, Any]]:
    """The fields of a message with their numbers: numbers as such, messages and texts as views of the bytes."""
    view = memoryview(data)
    at, end = 0, len(view)
    while at < end:
        # Nearly all tags and most sizes are one byte.
        tag, at = (view[at], at + 1) if view[at] < 128 else number_at(view, at)
        kind = tag & 7
        if kind == 0:
            value, at = number_at(view, at)
            yield tag >> 3, value
            continue
        if kind == 2:
            size, at = (view[at], at + 1) if at < end and view[at] < 128 else number_at(view, at)
        else:
            size = _WIDTHS[kind]
        if at + size > end:
            raise ValueError("A message ends within a field.")
        yield tag >> 3, view[at : at + size]
        at += size


def name_and_tensor(view: memoryview) -> tuple[str, memoryview]:
    """What a NamedTensorProto holds."""
    found = dict(fields(view))
    return str(found.get(1, b""), "utf-8"), found.get(2, memoryview(b""))


def number_at(view: memoryview, at: int) -> tuple[int, int]:
    """The number that begins at a place, and the place after it."""
    byte = view[at]
    at += 1
    if byte < 128:
        return byte, at
    number, shift = byte & 127, 7
    while True:
        byte = view[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
        shift += 7
