"""Streams of the rows of CSV files."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow import _native
from everflow.data.elements import Element, text
from everflow.data.streams import Cursor, Reading, Stream, dataset_op, signature
from everflow.errors import OpError, invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.operation import Operation
from everflow.io.records import PIECE, open_stream
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import op
from everflow.values.tensors import torch_dtype
from everflow.values.texts import text_array

LINE_ENDS = b"\r\n"
QUOTE = ord('"')


class _Rules:
    """How a file's text is read."""

    def __init__(self, delimiter: bytes, quotes: bool, missing: bytes, header: bool, columns: list[int], defaults: list[Any]) -> None:
        self.delimiter, self.quotes, self.missing, self.header = delimiter, quotes, missing, header
        self.columns, self.defaults = columns, defaults


class _CsvStream(Stream):
    def __init__(self, types: Any, dims: Any, names: list[bytes], compression: bytes, rules: _Rules) -> None:
        super().__init__(types, dims)
        self.names, self.compression, self.rules = names, compression, rules

    def open(self, reading: Reading) -> Cursor:
        return _CsvCursor(self)


class _CsvCursor(Cursor):
    def __init__(self, stream: _CsvStream) -> None:
        super().__init__(stream)
        self.csv: _CsvStream = stream
        self.index = 0
        self.position = 0
        self.content: bytes | None = None
        self.number = 0

    def _open(self) -> bool:
        """Reads the next file; False where there is none."""
        if self.index == len(self.csv.names):
            return False
        source = open_stream(os.fsdecode(self.csv.names[self.index]), self.csv.compression)
        parts = []
        while piece := source.read(PIECE):
            parts.append(piece)
        source.close()
        self.content = b"".join(parts)
        self.position = 0
        if self.csv.rules.header:
            if not self.content:
                self.content = None
                self.index += 1
                raise invalid_argument("Can't read header of file")
            self._row()
        return True

    def next(self) -> Element | None:
        while True:
            if self.content is None and not self._open():
                return None
            assert self.content is not None
            if self.position >= len(self.content):
                self.content = None
                self.index += 1
                continue
            self.number += 1
            return self._values(self._row())

    def _row(self) -> list[tuple[bytes, bool]]:
        """The fields of the next row, each with whether it was quoted. What is wrong ends the row, and reading goes on after it."""
        assert self.content is not None
        content, at = self.content, self.position
        rules = self.csv.rules
        delimiter = rules.delimiter
        end = content.find(b"\n", at)
        line = content[at:end] if end >= 0 else content[at:]
        line = line.removesuffix(b"\r")
        if (not rules.quotes or b'"' not in line) and b"\r" not in line:
            self.position = len(content) if end < 0 else end + 1
            return [(f, False) for f in line.split(delimiter)]
        return self._quoted(content, at, delimiter[0])

    def _quoted(self, content: bytes, at: int, delimiter: int) -> list[tuple[bytes, bool]]:
        """The fields of a row that may hold quotes. Reading goes on to the end of the row before its first mistake is told."""
        fields: list[tuple[bytes, bool]] = []
        problem: OpError | None = None
        size, has_quotes = len(content), self.csv.rules.quotes
        while True:
            is_quoted = has_quotes and at < size and content[at] == QUOTE
            if is_quoted:
                piece = bytearray()
                at += 1
                while True:
                    close = content.find(b'"', at)
                    if close < 0:
                        self.position = size
                        raise problem or invalid_argument("Reached end of file without closing quoted field in record")
                    piece += content[at:close]
                    at = close + 1
                    if at >= size or content[at] == delimiter or content[at] in LINE_ENDS:
                        break
                    if content[at] == QUOTE:
                        piece += b'"'
                    else:
                        problem = problem or invalid_argument("Quote inside a string has to be escaped by another quote")
                    at += 1
                field = bytes(piece)
            else:
                start = at
                while at < size and content[at] != delimiter and content[at] not in LINE_ENDS:
                    at += 1
                field = content[start:at]
                if has_quotes and b'"' in field:
                    problem = problem or invalid_argument("Unquoted fields cannot have quotes inside")
            fields.append((field, is_quoted))
            if at >= size or content[at] in LINE_ENDS:
                self.position = self._after_line(at)
                if problem is not None:
                    raise problem
                return fields
            at += 1

    def _after_line(self, at: int) -> int:
        """Where the next line begins after one that ends here."""
        assert self.content is not None
        return at + (2 if self.content[at : at + 2] == b"\r\n" else 1)

    def _values(self, fields: list[tuple[bytes, bool]]) -> Element:
        rules, types = self.csv.rules, self.csv.types
        if rules.columns:
            if rules.columns[-1] >= len(fields):
                wanted = len(types)
                found = sum(c < len(fields) for c in rules.columns)
                raise invalid_argument(f"Expect {wanted} fields but have {found} in record")
            fields = [fields[c] for c in rules.columns]
        if len(fields) != len(types):
            more = "more" if len(fields) > len(types) else str(len(fields))
            raise invalid_argument(f"Expect {len(types)} fields but have {more} in record")
        return tuple(self._value(field, i) for i, field in enumerate(fields))

    def _value(self, field: tuple[bytes, bool], index: int) -> Any:
        rules, dtype = self.csv.rules, self.csv.types[index]
        content = field[0]
        if not content or content == rules.missing:
            default = rules.defaults[index]
            if default is None:
                raise invalid_argument(f"Field {index} is required but missing in record!")
            return default
        if dtype is dtypes.string:
            return text(content)
        numbers = np.empty(1, dtype.as_numpy_dtype)
        if _native.read_numbers(text_array([content], (1,)), numbers) >= 0:
            kind = {"float32": "float", "float64": "double"}.get(dtype.name, dtype.name)
            raise invalid_argument(f"Field {index} in record is not a valid {kind}: {content.decode('utf-8', 'replace')}")
        return torch.from_numpy(numbers).to(torch_dtype(dtype))[0]

    def save(self) -> Any:
        return {"index": self.index, "position": self.position, "is_open": self.content is not None, "number": self.number}

    def restore(self, state: Any) -> None:
        self.index, self.content, self.number = state["index"], None, state["number"]
        if state["is_open"]:
            self._open()
            self.position = state["position"]


@dataset_op("CSVDataset", "ExperimentalCSVDataset")
def _csv(node: Node) -> Callable[..., Stream]:
    types, dims = signature(node)

    def make(
        names: Any, compression: Any, buffer: Any, header: Any, delimiter: Any, quotes: Any, missing: Any, columns: Any, *defaults: Any
    ) -> Stream:
        if names.ndim > 1:
            raise invalid_argument("`filenames` must be a scalar or a vector.")
        if int(buffer) <= 0:
            raise invalid_argument("buffer_size should be positive")
        if len(delimiter.item()) != 1:
            raise invalid_argument("field_delim should be only 1 char")
        chosen = columns.tolist()
        if any(b <= a for a, b in zip(chosen, chosen[1:])):
            raise invalid_argument("select_cols should be strictly increasing indices")
        if any(c < 0 for c in chosen):
            raise invalid_argument("select_cols should be non-negative indices")
        if chosen and len(chosen) != len(types):
            raise invalid_argument("select_cols should match output size")
        for i, d in enumerate(defaults):
            if d.ndim > 1:
                raise invalid_argument("Each record default should be at most rank 1")
            given = d.size if isinstance(d, np.ndarray) else d.numel()
            if given >= 2:
                raise invalid_argument(f"There should only be 1 default per field but field {i} has {given}")
        values = [None if (d.size if isinstance(d, np.ndarray) else d.numel()) == 0 else d.reshape(()) for d in defaults]
        kind = compression.item()
        if kind not in (b"", b"GZIP", b"ZLIB"):
            raise invalid_argument(f"Unsupported compression_type: {kind.decode()}.")
        rules = _Rules(delimiter.item(), bool(quotes), missing.item(), bool(header), chosen, values)
        return _CsvStream(types, dims, names.reshape(-1).tolist(), kind, rules)

    return make


def _shape(o: Operation) -> Any:
    shapes.with_rank_at_most(o.inputs[0].dims, 1)
    for t in o.inputs[8:]:
        shapes.with_rank_at_most(t.dims, 1)
        if t.dims and t.dims[0] is not None and t.dims[0] > 1:
            raise ValueError("Shape of a default must be a length-0 or length-1 vector, or a scalar.")
    return ()


for _name in ("CSVDataset", "ExperimentalCSVDataset"):
    op(_name, shape=_shape)
