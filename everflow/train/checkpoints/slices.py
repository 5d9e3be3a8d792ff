"""Parts of tensors: how checkpoints spell them, and the keys they are stored under.

A spec such as "10 20 0,5:-" says: of a tensor of shape [10, 20], five rows from row 0, all columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from everflow.errors import invalid_argument

WHOLE = -1
Extent = tuple[int, int]


class TensorSlice:
    """A box within a tensor: (start, length) along each axis; a length of -1 means all of it."""

    __slots__ = ("extents",)

    def __init__(self, extents: Sequence[Extent]) -> None:
        self.extents = tuple(extents)

    @classmethod
    def whole(cls, rank: int) -> TensorSlice:
        """All of a tensor of this rank."""
        return cls([(0, WHOLE)] * rank)

    @classmethod
    def from_proto(cls, proto: Any) -> TensorSlice:
        """The slice that a TensorSliceProto says."""
        return cls([(e.start, e.length if e.HasField("length") else WHOLE) for e in proto.extent])

    def to_proto(self, proto: Any) -> None:
        """Writes the slice into a TensorSliceProto."""
        for start, length in self.extents:
            extent = proto.extent.add()
            if length != WHOLE:
                extent.start, extent.length = start, length

    def is_whole(self) -> bool:
        return all(length == WHOLE for _, length in self.extents)

    def bounds(self, shape: Sequence[int]) -> list[Extent]:
        """(start, end) along each axis of a tensor of this shape."""
        found = []
        if len(self.extents) != len(shape):
            raise invalid_argument(f"Mismatching ranks: shape = {list(shape)}, slice = {self}")
        for (start, length), size in zip(self.extents, shape):
            end = size if length == WHOLE else start + length
            if start < 0 or end < start or end > size:
                raise invalid_argument(f"Extent in dimension out of bounds: shape = {list(shape)}, slice = {self}")
            found.append((start, end))
        return found

    def shape_in(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of this part of a tensor."""
        return tuple(end - start for start, end in self.bounds(shape))

    def __str__(self) -> str:
        return ":".join("-" if length == WHOLE else f"{start},{length}" for start, length in self.extents)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorSlice) and self.extents == other.extents

    def __hash__(self) -> int:
        return hash(self.extents)


def parse_spec(spec: str) -> tuple[tuple[int, ...], TensorSlice]:
    """(shape of the whole tensor, slice) of a shape-and-slice string."""
    *sizes, parts = spec.split(" ")
    if not sizes:
        raise invalid_argument(f"Need least two elements in shape_and_slice specification: {spec}")
    try:
        shape = tuple(int(size) for size in sizes)
    except ValueError:
        raise invalid_argument(f"Non numerical dimension in shape_and_slice: {spec}") from None
    if any(size < 0 for size in shape):
        raise invalid_argument(f"Non numerical dimension in shape_and_slice: {spec}")
    extents = []
    for part in parts.split(":"):
        if part == "-":
            extents.append((0, WHOLE))
            continue
        start, comma, length = part.partition(",")
        if not comma or not start.isdigit() or not length.isdigit():
            raise invalid_argument(f"Expected a pair of numbers or '-' but got '{part}': string = {parts}")
        extents.append((int(start), int(length)))
    found = TensorSlice(extents)
    if len(extents) != len(shape):
        raise invalid_argument(f"Mismatching ranks: shape = {spec[: -len(parts) - 1]}, slice = {parts}")
    found.bounds(shape)
    return shape, found


def slice_key(name: str, part: TensorSlice) -> bytes:
    """The key of a part of a tensor: sorts by name, then by place."""
    return b"".join(
        [_number(0), _text(name.encode()), _number(len(part.extents)), *(_signed(n) for extent in part.extents for n in extent)]
    )


def _number(value: int) -> bytes:
    digits = value.to_bytes((value.bit_length() + 7) // 8, "big")
    return bytes([len(digits)]) + digits


_ESCAPED = {0x00: b"\x00\xff", 0xFF: b"\xff\x00"}


def _text(value: bytes) -> bytes:
    return b"".join(_ESCAPED.get(byte) or bytes([byte]) for byte in value) + b"\x00\x01"


# The leading bits that say in how many bytes a signed number is written.
_HEADERS = [b"", b"\x80", b"\xc0", b"\xe0", b"\xf0", b"\xf8", b"\xfc", b"\xfe", b"\xff", b"\xff\x80", b"\xff\xc0"]


def _signed(value: int) -> bytes:
    bits = (~value if value < 0 else value).bit_length()
    length = bits // 7 + 1
    digits = bytearray(value.to_bytes(length + 1, "big", signed=True)[-length:])
    for i, byte in enumerate(_HEADERS[length]):
        digits[i] ^= byte
    return bytes(digits)
