"""Unpacks Snappy, which blocks of V1 checkpoints are compressed with."""

from __future__ import annotations

from everflow.errors import data_loss

# No block of a table unpacks to more than this; a longer length is damage.
LARGEST = 1 << 31


def decompressed(data: bytes) -> bytes:
    """The bytes that a Snappy block stands for."""
    size, at = _length(data)
    # A copy of two or three bytes stands for at most 64.
    if size > LARGEST or size > 64 * len(data):
        raise data_loss("corrupted compressed block contents")
    out = bytearray()
    end = len(data)
    try:
        while at < end:
            tag = data[at]
            at += 1
            kind = tag & 3
            if kind == 0:
                length = tag >> 2
                if length >= 60:
                    extra = length - 59
                    length = int.from_bytes(data[at : at + extra], "little")
                    at += extra
                length += 1
                if at + length > end or len(out) + length > size:
                    raise data_loss("corrupted compressed block contents")
                out += data[at : at + length]
                at += length
                continue
            if kind == 1:
                length = (tag >> 2 & 7) + 4
                offset = (tag >> 5) << 8 | data[at]
                at += 1
            else:
                width = 2 if kind == 2 else 4
                length = (tag >> 2) + 1
                offset = int.from_bytes(data[at : at + width], "little")
                at += width
            start = len(out) - offset
            if offset == 0 or start < 0 or len(out) + length > size:
                raise data_loss("corrupted compressed block contents")
            if offset >= length:
                out += out[start : start + length]
            else:
                piece = out[start:]
                out += (piece * (length // offset + 1))[:length]
    except IndexError:
        raise data_loss("corrupted compressed block contents") from None
    if len(out) != size:
        raise data_loss("corrupted compressed block contents")
    return bytes(out)


def _length(data: bytes) -> tuple[int, int]:
    size = shift = at = 0
    while True:
        if at >= len(data) or at > 4:
            raise data_loss("corrupted compressed block contents")
        byte = data[at]
        at += 1
        size |= (byte & 0x7F) << shift
        if byte < 0x80:
            return size, at
        shift += 7
