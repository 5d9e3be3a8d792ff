"""Record files (TFRecord): reading in bulk, writing, plain or compressed.

for record in read("train.tfrecord"): ...
with RecordWriter("out.tfrecord.gz", "GZIP") as out: out.write(record)
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from everflow._native import framed_record, split_records
from everflow.errors import data_loss, invalid_argument
from everflow.io.filesystems import errors_about, locate

# How much of a file is read at a time. Records are checked and split in native code, a piece at a time.
PIECE = 1 << 18
_GZIP_BITS, _ZLIB_BITS = 31, 15


def compression_of(name: str | None) -> str:
    """A compression type, checked; none is the empty string."""
    text = name.decode() if isinstance(name, bytes) else name or ""
    if text not in ("", "GZIP", "ZLIB"):
        raise invalid_argument(f"Unsupported compression_type: {text}.")
    return text


class _Inflating:
    """A compressed file, read as what it holds. Members that follow each other read as one."""

    def __init__(self, file: BinaryIO, bits: int) -> None:
        self._file = file
        self._bits = bits
        self._stream = zlib.decompressobj(bits)

    def read(self, count: int) -> bytes:
        while True:
            if self._stream.eof:
                rest = self._stream.unused_data or self._file.read(count)
                if not rest:
                    return b""
                self._stream = zlib.decompressobj(self._bits)
            else:
                rest = self._stream.unconsumed_tail or self._file.read(count)
            try:
                found = self._stream.decompress(rest, max(count, PIECE))
            except zlib.error as error:
                match = re.match(r"Error (-?\d+) while decompressing data(?:: (.*))?", str(error))
                code, why = match.groups() if match else ("-3", str(error))
                raise data_loss(f"inflate() failed with error {code}: {why}") from None
            if found or not rest:
                return found

    def close(self) -> None:
        self._file.close()


def open_stream(path: Any, compression: Any = "") -> Any:
    """A file to read, with what it holds decompressed: `read(count)` gives up to so many bytes, or none at its end."""
    kind = compression_of(compression)
    filesystem, local = locate(path)
    with errors_about(os.fsdecode(path)):
        file = filesystem.open(local, "rb")
    return _Inflating(file, _GZIP_BITS if kind == "GZIP" else _ZLIB_BITS) if kind else file


class RecordReader:
    """Reads the records of a file in order. `position` is where the next piece's first record begins (in what the file holds when
    decompressed); a plain file can go on from any such position."""

    def __init__(self, path: Any, compression: Any = "", buffer: int = PIECE) -> None:
        self._path = os.fsdecode(path)
        self._stream = open_stream(path, compression)
        self._size = max(buffer or PIECE, 1 << 12)
        self._piece = b""
        self._start = 0
        self._wrong = -1
        self.position = 0

    def some(self) -> list[bytes]:
        """The next records, as many as a piece of the file holds; none at the end of the file."""
        while True:
            if self._wrong >= 0:
                raise data_loss(f"corrupted record at {self._wrong}")
            records, next_start, wrong = split_records(self._piece, self._start)
            if wrong >= 0:
                self._wrong = self.position + wrong - self._start
            self.position += next_start - self._start
            self._start = next_start
            if records:
                return records
            if wrong < 0 and not self._read_more():
                return []

    def _read_more(self) -> bool:
        rest = self._piece[self._start :]
        # A record that is longer than a piece is read in pieces that double.
        with errors_about(self._path):
            more = self._stream.read(max(self._size, len(rest)))
        if not more:
            # As in TensorFlow, a header that is cut off ends the file; data that are cut off are an error.
            if len(rest) >= 12:
                raise data_loss(f"truncated record at {self.position}")
            return False
        self._piece, self._start = rest + more if rest else more, 0
        return True

    def seek(self, position: int) -> None:
        """Goes on at the record that begins at this position of a plain file."""
        self._stream.seek(position)
        self._piece, self._start, self._wrong, self.position = b"", 0, -1, position

    def __iter__(self) -> Iterator[bytes]:
        while records := self.some():
            yield from records

    def close(self) -> None:
        self._stream.close()

    def __enter__(self) -> RecordReader:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def read(path: Any, compression: Any = "", buffer: int = PIECE) -> Iterator[bytes]:
    """The records of a file. `buffer` is how many bytes are read at a time."""
    with RecordReader(path, compression, buffer) as reader:
        yield from reader


class RecordWriter:
    """Writes records to a file. The settings of zlib are its own: level, method, bits of the window, memory level, strategy, and how
    it flushes after each record."""

    def __init__(
        self,
        path: Any,
        compression: Any = "",
        level: int = zlib.Z_DEFAULT_COMPRESSION,
        method: int = zlib.DEFLATED,
        window_bits: int = 15,
        memory_level: int = 9,
        strategy: int = zlib.Z_DEFAULT_STRATEGY,
        flush_mode: int = zlib.Z_NO_FLUSH,
    ) -> None:
        kind = compression_of(compression)
        self._path = os.fsdecode(path)
        filesystem, local = locate(path)
        with errors_about(self._path):
            self._file: BinaryIO = filesystem.open(local, "wb")
        bits = window_bits + 16 if kind == "GZIP" and 0 < window_bits < 16 else window_bits
        self._compressor = zlib.compressobj(level, method, bits, memory_level, strategy) if kind else None
        self._flush_mode = flush_mode

    def write(self, record: bytes) -> None:
        framed = framed_record(record)
        if self._compressor is not None:
            framed = self._compressor.compress(framed) + self._compressor.flush(self._flush_mode)
        self.write_framed(framed)

    def write_framed(self, framed: bytes) -> None:
        """Writes what stands in the file for records."""
        with errors_about(self._path):
            self._file.write(framed)

    def flush(self) -> None:
        """Hands what was written to the file system."""
        with errors_about(self._path):
            if self._compressor is not None:
                self._file.write(self._compressor.flush(zlib.Z_SYNC_FLUSH))
            self._file.flush()

    def close(self) -> None:
        if self._file.closed:
            return
        with errors_about(self._path):
            if self._compressor is not None:
                self._file.write(self._compressor.flush())
            self._file.close()

    def __enter__(self) -> RecordWriter:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
