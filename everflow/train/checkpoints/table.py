"""Sorted tables of keys and values, the files that checkpoint indexes (and V1 checkpoints) are.

Keys are stored in blocks, each key as what it shares with the one before and the rest. A block is followed by a byte that says how it
is compressed and a masked CRC-32C. An index block, which a footer of 48 bytes leads to, holds a key not below the last of each block.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import BinaryIO

import google_crc32c

from everflow.errors import data_loss, unimplemented
from everflow.train.checkpoints.snappy import decompressed

MAGIC = 0xDB4775248B80FB57
FOOTER = 48
BLOCK_SIZE = 256 << 10
RESTART_INTERVAL = 16
_MASK_DELTA = 0xA282EAD8


def masked(crc: int) -> int:
    """A checksum as files hold it: checksums of data that itself holds checksums are weak."""
    return (((crc >> 15) | (crc << 17)) + _MASK_DELTA) & 0xFFFFFFFF


def unmasked(crc: int) -> int:
    """The checksum that `masked` was made of."""
    rotated = (crc - _MASK_DELTA) & 0xFFFFFFFF
    return ((rotated >> 17) | (rotated << 15)) & 0xFFFFFFFF


def varint(value: int) -> bytes:
    """An unsigned number, seven bits a byte, lowest first."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """(number, where it ends)."""
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise data_loss("bad varint in a table")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


class Table:
    """A table in memory, checked block by block as it is read."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        if len(data) < FOOTER:
            raise data_loss("file is too short to be an sstable")
        if struct.unpack("<Q", data[-8:])[0] != MAGIC:
            raise data_loss("not an sstable (bad magic number)")
        footer = data[-FOOTER:-8]
        _, at = _handle(footer, 0)
        self._index, _ = _handle(footer, at)

    def items(self) -> Iterator[tuple[bytes, bytes]]:
        """All (key, value), in the order of the keys."""
        for _, handle in self._entries(self._block(*self._index)):
            (offset, size), _ = _handle(handle, 0)
            yield from self._entries(self._block(offset, size))

    def _block(self, offset: int, size: int) -> bytes:
        end = offset + size
        if end + 5 > len(self._data) - FOOTER:
            raise data_loss("truncated block read")
        block = self._data[offset:end]
        kind = self._data[end]
        (stored,) = struct.unpack_from("<I", self._data, end + 1)
        if unmasked(stored) != google_crc32c.value(self._data[offset : end + 1]):
            raise data_loss("block checksum mismatch")
        if kind == 0:
            return block
        if kind == 1:
            return decompressed(block)
        raise unimplemented(f"table block compressed in a way that is not known: {kind}")

    def _entries(self, block: bytes) -> Iterator[tuple[bytes, bytes]]:
        if len(block) < 4:
            raise data_loss("bad block contents")
        (restarts,) = struct.unpack("<I", block[-4:])
        end = len(block) - 4 * (restarts + 1)
        if end < 0:
            raise data_loss("bad block contents")
        at, key = 0, b""
        while at < end:
            shared, at = read_varint(block, at)
            rest, at = read_varint(block, at)
            length, at = read_varint(block, at)
            if shared > len(key) or at + rest + length > end:
                raise data_loss("bad entry in block")
            key = key[:shared] + block[at : at + rest]
            at += rest
            yield key, block[at : at + length]
            at += length


def _handle(data: bytes, at: int) -> tuple[tuple[int, int], int]:
    offset, at = read_varint(data, at)
    size, at = read_varint(data, at)
    return (offset, size), at


class _Block:
    def __init__(self, interval: int) -> None:
        self.interval = interval
        self.parts: list[bytes] = []
        self.restarts = [0]
        self.size = 0
        self.count = 0
        self.last = b""

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        if self.count == self.interval:
            self.restarts.append(self.size)
            self.count = 0
        else:
            last = self.last
            limit = min(len(last), len(key))
            while shared < limit and last[shared] == key[shared]:
                shared += 1
        entry = varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        self.parts.append(entry)
        self.size += len(entry)
        self.count += 1
        self.last = key

    def finished(self) -> bytes:
        self.parts.append(struct.pack(f"<{len(self.restarts) + 1}I", *self.restarts, len(self.restarts)))
        return b"".join(self.parts)


def write_table(file: BinaryIO, items: Iterable[tuple[bytes, bytes]]) -> None:
    """Writes (key, value) pairs, which come in the order of their keys."""
    written = 0

    def put(block: bytes) -> bytes:
        nonlocal written
        body = block + b"\0"
        file.write(body + struct.pack("<I", masked(google_crc32c.value(body))))
        handle = varint(written) + varint(len(block))
        written += len(body) + 4
        return handle

    index = _Block(1)
    block = _Block(RESTART_INTERVAL)
    for key, value in items:
        block.add(key, value)
        if block.size >= BLOCK_SIZE:
            last = block.last
            index.add(last, put(block.finished()))
            block = _Block(RESTART_INTERVAL)
    if block.parts:
        index.add(block.last, put(block.finished()))
    footer = put(_Block(RESTART_INTERVAL).finished()) + put(index.finished())
    file.write(footer.ljust(FOOTER - 8, b"\0") + struct.pack("<Q", MAGIC))
