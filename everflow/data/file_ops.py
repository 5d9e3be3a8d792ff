"""Streams of what files hold: lines, records of fixed length, TFRecords, names of files, rows of databases."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.data.elements import Element, text
from everflow.data.streams import Cursor, Reading, Stream, dataset_op, signature
from everflow.errors import OpError, data_loss, invalid_argument, not_found, unknown
from everflow.graph import dtypes
from everflow.io.gfile import get_matching_files as glob
from everflow.io.gfile import is_directory
from everflow.io.records import PIECE, RecordReader, RecordWriter, open_stream
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import op
from everflow.values.tensors import torch_dtype


def texts(values: list[bytes]) -> np.ndarray:
    """A vector of strings."""
    found = np.empty(len(values), object)
    found[:] = values
    return found


class FileStream(Stream):
    """The strings in files, one file after the other."""

    def __init__(self, names: list[bytes], compression: bytes, cursor: Callable[[Any], Cursor], types: Any = (dtypes.string,)) -> None:
        super().__init__(types, [()] * len(types))
        self.names, self.compression, self.cursor = names, compression, cursor

    def open(self, reading: Reading) -> Cursor:
        return self.cursor(self)


class FileCursor(Cursor):
    """Reads files piece by piece; a file that can't be opened is tried again at the next call."""

    def __init__(self, stream: FileStream) -> None:
        super().__init__(stream)
        self.files: FileStream = stream
        self.index = 0
        self.taken = 0
        # Strings of the open file that are ready, the next one last.
        self.ready: list[bytes] = []
        self.source: Any = None

    def start(self, name: str) -> Any:
        """Opens a file."""
        raise NotImplementedError

    def more(self, source: Any) -> list[bytes]:
        """The next strings of the open file; none at its end."""
        raise NotImplementedError

    def _fill(self) -> bool:
        while True:
            if self.source is None:
                if self.index == len(self.files.names):
                    return False
                self.source = self.start(os.fsdecode(self.files.names[self.index]))
                self.taken = 0
            try:
                found = self.more(self.source)
            except OpError as error:
                if error.error_code == data_loss("").error_code and self.skips_damage:
                    # What is damaged ends its file.
                    self._close()
                raise
            if found:
                self.ready = found[::-1]
                return True
            self._close()

    skips_damage = True

    def _close(self) -> None:
        self.source.close()
        self.source = None
        self.index += 1

    def next(self) -> Element | None:
        if not self.ready and not self._fill():
            return None
        self.taken += 1
        return (text(self.ready.pop()),)

    def rows(self, n: int) -> Element | None:
        found: list[bytes] = []
        while len(found) < n and (self.ready or self._fill()):
            wanted = n - len(found)
            part = self.ready[: -wanted - 1 : -1]
            del self.ready[-wanted:]
            self.taken += len(part)
            found.extend(part)
        return (texts(found),) if found else None

    def save(self) -> Any:
        return {"index": self.index, "taken": self.taken, "is_open": self.source is not None}

    def restore(self, state: Any) -> None:
        self.index, self.ready, self.source = state["index"], [], None
        if state["is_open"]:
            # Files are read again up to the position.
            left = state["taken"]
            while left > 0 and self._fill():
                part = min(left, len(self.ready))
                del self.ready[-part:]
                left -= part
            self.taken = state["taken"]


class _LineCursor(FileCursor):
    skips_damage = False

    def start(self, name: str) -> Any:
        self.rest = b""
        self.is_done = False
        return open_stream(name, self.files.compression)

    def more(self, source: Any) -> list[bytes]:
        while not self.is_done:
            piece = source.read(PIECE)
            if not piece:
                self.is_done = True
                last = self.rest
                return [last.removesuffix(b"\r")] if last else []
            lines = (self.rest + piece).split(b"\n")
            self.rest = lines.pop()
            if lines:
                return [line.removesuffix(b"\r") for line in lines] if b"\r" in piece or b"\r" in self.rest else lines
        return []


class _FixedLengthCursor(FileCursor):
    def start(self, name: str) -> Any:
        record, header, footer = self.files.sizes  # type: ignore[attr-defined]
        source = open_stream(name, self.files.compression)
        content = []
        while piece := source.read(PIECE):
            content.append(piece)
        self.content = b"".join(content)
        body = len(self.content) - header - footer
        if body < 0 or body % record:
            source.close()
            raise invalid_argument(
                f'Excluding the header ({header} bytes) and footer ({footer} bytes), input file "{name}" has body length {body} bytes, '
                f"which is not an exact multiple of the record length ({record} bytes)."
            )
        self.position = header
        self.end = header + body
        return source

    def more(self, source: Any) -> list[bytes]:
        record = self.files.sizes[0]  # type: ignore[attr-defined]
        stop = min(self.position + 1024 * record, self.end)
        found = [self.content[i : i + record] for i in range(self.position, stop, record)]
        self.position = stop
        return found


class _RecordCursor(FileCursor):
    def start(self, name: str) -> Any:
        return RecordReader(name, self.files.compression, self.files.buffer)  # type: ignore[attr-defined]

    def more(self, source: Any) -> list[bytes]:
        return source.some()


def _names(value: Any) -> list[bytes]:
    if value.ndim > 1:
        raise invalid_argument("`filenames` must be a scalar or a vector.")
    return value.reshape(-1).tolist()


KINDS = (b"", b"GZIP", b"ZLIB")


def _compression(value: Any) -> bytes:
    kind = value.item()
    if kind not in KINDS:
        raise invalid_argument("Unsupported compression_type.")
    return kind


@dataset_op("TextLineDataset")
def _text_lines(node: Node) -> Callable[..., Stream]:
    def make(names: Any, compression: Any, buffer: Any) -> Stream:
        kind = _compression(compression)
        if int(buffer) < 0:
            raise invalid_argument("`buffer_size` must be >= 0 (0 == default)")
        return FileStream(_names(names), kind, _LineCursor)  # type: ignore[arg-type]

    return make


@dataset_op("FixedLengthRecordDataset", "FixedLengthRecordDatasetV2")
def _fixed_length(node: Node) -> Callable[..., Stream]:
    def make(names: Any, header: Any, record: Any, footer: Any, buffer: Any, compression: Any = None) -> Stream:
        sizes = int(record), int(header), int(footer)
        for what, ok in (
            ("`header_bytes` must be >= 0", sizes[1] >= 0),
            ("`record_bytes` must be > 0", sizes[0] > 0),
            ("`footer_bytes` must be >= 0", sizes[2] >= 0),
            ("`buffer_size` must be >= 0", int(buffer) >= 0),
        ):
            if not ok:
                raise invalid_argument(what)
        stream = FileStream(_names(names), b"" if compression is None else _compression(compression), _FixedLengthCursor)  # type: ignore[arg-type]
        stream.sizes = sizes  # type: ignore[attr-defined]
        return stream

    return make


@dataset_op("TFRecordDataset")
def _records(node: Node) -> Callable[..., Stream]:
    def make(names: Any, compression: Any, buffer: Any) -> Stream:
        if int(buffer) < 0:
            raise invalid_argument("`buffer_size` must be >= 0 (0 == no buffering)")
        # A kind that is not known is none.
        kind = compression.item() if compression.item() in KINDS else b""
        stream = FileStream(_names(names), kind, _RecordCursor)  # type: ignore[arg-type]
        stream.buffer = int(buffer)  # type: ignore[attr-defined]
        return stream

    return make


class _MatchingStream(Stream):
    """The names of files that match patterns, one pattern after the other."""

    def __init__(self, patterns: list[bytes]) -> None:
        super().__init__([dtypes.string], [()])
        self.patterns = patterns

    def open(self, reading: Reading) -> Cursor:
        return _MatchingCursor(self)


class _MatchingCursor(Cursor):
    def __init__(self, stream: _MatchingStream) -> None:
        super().__init__(stream)
        self.names: list[bytes] | None = None
        self.position = 0

    def next(self) -> Element | None:
        if self.names is None:
            patterns = self.stream.patterns  # type: ignore[attr-defined]
            found = [name for p in patterns for name in sorted(os.fsencode(n) for n in glob(os.fsdecode(p)))]
            if not found:
                # A folder that is not there is told as such.
                for folder in (os.path.dirname(os.fsdecode(p)) for p in patterns):
                    if folder and not any(c in folder for c in "*?[") and not is_directory(folder):
                        raise not_found(f"{folder}; No such file or directory")
                raise not_found("Don't find any matched files")
            self.names = found
        if self.position == len(self.names):
            return None
        self.position += 1
        return (text(self.names[self.position - 1]),)

    def save(self) -> Any:
        return self.position

    def restore(self, state: Any) -> None:
        self.position = state


@dataset_op("MatchingFilesDataset", "ExperimentalMatchingFilesDataset")
def _matching_files(node: Node) -> Callable[..., Stream]:
    return lambda patterns: _MatchingStream(patterns.reshape(-1).tolist())


class _SqlStream(Stream):
    """The rows that a query of an SQLite database gives."""

    def __init__(self, types: Any, dims: Any, source: str, query: str) -> None:
        super().__init__(types, dims)
        self.source, self.query = source, query

    def open(self, reading: Reading) -> Cursor:
        return _SqlCursor(self)


class _SqlCursor(Cursor):
    def __init__(self, stream: _SqlStream) -> None:
        super().__init__(stream)
        self.found: Any = None
        self.position = 0

    def next(self) -> Element | None:
        import sqlite3

        stream: Any = self.stream
        try:
            if self.found is None:
                connection = sqlite3.connect(stream.source)
                connection.text_factory = bytes
                found = connection.execute(stream.query)
                if found.description is not None and len(found.description) != len(stream.types):
                    raise invalid_argument(
                        f"The number of columns in query ({len(found.description)}) must match the number of elements in output_types "
                        f"({len(stream.types)})."
                    )
                self.found = found
            row = self.found.fetchone()
        except sqlite3.Error as error:
            what = "Prepare" if self.found is None else "Step"
            # Before Python 3.11 errors don't tell their code; that of mistakes in queries is 1.
            code = getattr(error, "sqlite_errorcode", 1)
            raise unknown(f"{what}() failed: [{code}] {error}: {stream.query}") from None
        if row is None:
            return None
        self.position += 1
        return tuple(_column(value, dtype) for value, dtype in zip(row, stream.types))

    def save(self) -> Any:
        return self.position

    def restore(self, state: Any) -> None:
        self.skip(state - self.position)


def _column(value: Any, dtype: dtypes.DType) -> Any:
    if dtype is dtypes.string:
        return text(value if isinstance(value, bytes) else str("" if value is None else value).encode())
    if dtype is dtypes.bool:
        return torch.tensor(bool(int(value or 0)))
    number = float(value or 0) if dtype.is_floating else int(value or 0)
    return torch.from_numpy(np.array(number).astype(dtype.as_numpy_dtype)).to(torch_dtype(dtype))


@dataset_op("SqlDataset", "ExperimentalSqlDataset")
def _sql(node: Node) -> Callable[..., Stream]:
    types, dims = signature(node)

    def make(driver: Any, source: Any, query: Any) -> Stream:
        if driver.item() != b"sqlite":
            raise invalid_argument(
                f"The database type, {driver.item().decode()}, is not supported by SqlDataset. The set of supported databases is: "
                "{'sqlite'}."
            )
        return _SqlStream(types, dims, os.fsdecode(source.item()), query.item().decode())

    return make


def _write_records(node: Node) -> Callable[..., Any]:
    def run(stream: Stream, name: Any, compression: Any) -> None:
        with RecordWriter(name.item(), compression.item()) as out:
            cursor = stream.open(Reading())
            while (element := cursor.next()) is not None:
                out.write(element[0].item())

    return run


for _name in ("DatasetToTFRecord", "ExperimentalDatasetToTFRecord"):
    op(_name, kernel=_write_records, shape=lambda o: [])
