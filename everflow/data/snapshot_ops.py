"""Streams that are written to files when they are first read, and read from there by later programs with the same pipeline.

A folder for each pipeline, by its fingerprint, holds `snapshot.metadata` and a folder for each run; files are lengths of eight bytes,
each followed by a SnapshotRecord.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import secrets
import struct
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from everflow.api import internal
from everflow.data.dataset import UnaryUnchangedStructureDataset
from everflow.data.elements import Element, size_in_bytes
from everflow.data.experimental import Transformation
from everflow.data.streams import Cursor, Reading, Stream, UnaryStream, dataset_op, signature
from everflow.errors import invalid_argument
from everflow.graph import dtypes
from everflow.graph.attrs import FunctionName
from everflow.graph.convert import convert_to_tensor
from everflow.graph.functions import fingerprint as body_fingerprint
from everflow.graph.tensor_proto import make_ndarray, make_tensor_proto
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply
from everflow.proto import snapshot_pb2
from everflow.values.tensors import from_numpy, is_numeric, to_numpy

COMPRESSION_NONE = internal("data.experimental.ops.snapshot.COMPRESSION_NONE")(None)
COMPRESSION_GZIP = internal("data.experimental.ops.snapshot.COMPRESSION_GZIP")("GZIP")
DEFAULT_SHARD, DEFAULT_EXPIRY = 10 << 30, 86400


def fingerprint(stream: Stream) -> str:
    """Sixteen digits that tell pipelines apart: by ops, attributes, functions and the values that they were given."""
    digest = hashlib.sha256()

    def add(value: Any, context: Any) -> None:
        if isinstance(value, Stream):
            add_stream(value)
        elif isinstance(value, FunctionName):
            entry = context.library(value.name)
            digest.update(b"f" if entry is None else body_fingerprint(entry.graph).encode())
        elif isinstance(value, (list, tuple)):
            for v in value:
                add(v, context)
        elif hasattr(value, "numel"):
            digest.update(str((value.dtype, tuple(value.shape))).encode() + value.contiguous().reshape(-1).numpy().tobytes())
        elif isinstance(value, np.ndarray):
            digest.update(repr((value.shape, value.tolist())).encode())
        else:
            digest.update(repr(value).encode() if isinstance(value, (str, bytes, int, float, bool, dtypes.DType)) else b"?")

    def add_stream(s: Stream) -> None:
        if s.made_by is None:
            digest.update(type(s).__name__.encode())
            for source in s.inputs():
                add_stream(source)
            return
        node, inputs = s.made_by
        digest.update(node.type.encode())
        for key in sorted(node.attrs):
            digest.update(key.encode())
            add(node.attrs[key], node.context)
        add(inputs, node.context)

    add_stream(stream)
    return digest.hexdigest()[:16]


def _records(content: bytes) -> Iterator[bytes]:
    at = 0
    while at + 8 <= len(content):
        (size,) = struct.unpack_from("<Q", content, at)
        yield content[at + 8 : at + 8 + size]
        at += 8 + size


def _framed(record: bytes) -> bytes:
    return struct.pack("<Q", len(record)) + record


class _SnapshotStream(UnaryStream):
    def __init__(self, source: Stream, types: Any, dims: Any, path: str, compression: str, shard: int, expiry: int) -> None:
        super().__init__(source, types, dims)
        self.folder = os.path.join(path, fingerprint(source))
        self.compression, self.shard, self.expiry = compression, shard, expiry

    @property
    def metadata(self) -> str:
        return os.path.join(self.folder, "snapshot.metadata")

    def open(self, reading: Reading) -> Cursor:
        return _SnapshotCursor(self, reading)


class _SnapshotCursor(Cursor):
    """Reads what was written, writes what is read, or only reads while another one writes."""

    def __init__(self, stream: _SnapshotStream, reading: Reading) -> None:
        super().__init__(stream)
        self.snapshot: _SnapshotStream = stream
        self.reading = reading
        self.source: Cursor | None = None
        self.stored: Iterator[Element] | None = None
        self.run: str | None = None
        self.file: Any = None
        self.files = 0
        self.size = 0
        self.produced = 0

    def _start(self) -> None:
        stream = self.snapshot
        known = snapshot_pb2.SnapshotMetadataRecord()
        if os.path.exists(stream.metadata):
            with open(stream.metadata, "rb") as file:
                known.ParseFromString(next(_records(file.read()), b""))
            if known.finalized:
                self.stored = self._elements(os.path.join(stream.folder, known.run_id))
                return
        self.source = stream.source.open(self.reading)
        if known.creation_timestamp and time.time() - known.creation_timestamp / 1e6 < stream.expiry:
            return
        self.run = secrets.token_hex(8)
        os.makedirs(os.path.join(stream.folder, self.run), exist_ok=True)
        self._write_metadata(False)
        self._next_file()

    def _write_metadata(self, finalized: bool) -> None:
        stream = self.snapshot
        record = snapshot_pb2.SnapshotMetadataRecord(
            graph_hash=os.path.basename(stream.folder), run_id=self.run, creation_timestamp=int(time.time() * 1e6), finalized=finalized
        )
        with open(stream.metadata, "wb") as file:
            file.write(_framed(record.SerializeToString()))

    def _next_file(self) -> None:
        if self.file is not None:
            self.file.close()
        name = os.path.join(self.snapshot.folder, self.run or "", f"{self.files:08d}.snapshot")
        self.file = gzip.open(name, "wb") if self.snapshot.compression == "GZIP" else open(name, "wb")
        self.files += 1
        self.size = 0

    def _elements(self, folder: str) -> Iterator[Element]:
        opened = gzip.open if self.snapshot.compression == "GZIP" else open
        for name in sorted(os.listdir(folder)):
            with opened(os.path.join(folder, name), "rb") as file:
                content = file.read()
            for serialized in _records(content):
                record = snapshot_pb2.SnapshotRecord.FromString(serialized)
                yield tuple(from_numpy(_array(make_ndarray(t)), dtypes.as_dtype(t.dtype)) for t in record.tensor)

    def next(self) -> Element | None:
        if self.source is None and self.stored is None:
            self._start()
        element = self._following()
        self.produced += element is not None
        return element

    def _following(self) -> Element | None:
        if self.stored is not None:
            return next(self.stored, None)
        assert self.source is not None
        element = self.source.next()
        if self.run is not None:
            self._store(element)
        return element

    def _store(self, element: Element | None) -> None:
        if element is None:
            self.file.close()
            self._write_metadata(True)
            self.run = None
            return
        if self.size > self.snapshot.shard:
            self._next_file()
        record = snapshot_pb2.SnapshotRecord()
        for value, dtype in zip(element, self.snapshot.types):
            array = to_numpy(value, dtype) if is_numeric(dtype) else value
            record.tensor.add().CopyFrom(make_tensor_proto(array, dtype, list(array.shape)))
            self.size += size_in_bytes(value)
        self.file.write(_framed(record.SerializeToString()))

    def save(self) -> Any:
        return self.produced

    def restore(self, state: Any) -> None:
        self.skip(state - self.produced)


def _array(array: Any) -> np.ndarray:
    return np.asarray(array)


@dataset_op("SnapshotDataset")
def _snapshot(node: Node) -> Callable[..., Stream]:
    types, dims = signature(node)
    shard, expiry = node.attr("shard_size_bytes"), node.attr("pending_snapshot_expiry_seconds")

    compression = node.attr("compression")
    if compression not in ("", "GZIP"):
        raise invalid_argument("compression must be either '' or 'GZIP'.")
    if shard != -1 and shard < 1 << 20:
        raise invalid_argument("shard_size_bytes must be at least 1 MiB.")

    def make(source: Stream, path: Any) -> Stream:
        return _SnapshotStream(
            source,
            types,
            dims,
            os.fsdecode(path.item()),
            compression,
            DEFAULT_SHARD if shard == -1 else shard,
            DEFAULT_EXPIRY if expiry == -1 else expiry,
        )

    return make


class _SnapshotDataset(UnaryUnchangedStructureDataset):
    """A pipeline that is written to files when it is first read."""

    def __init__(self, input_dataset: Any, path: Any, settings: dict[str, Any]) -> None:
        super().__init__(
            input_dataset,
            apply(
                "SnapshotDataset",
                input_dataset._variant_tensor,
                convert_to_tensor(path, dtype=dtypes.string, name="path"),
                **settings,
                **input_dataset._flat_structure,
            ),
        )


@internal("data.experimental.ops.snapshot.snapshot")
def snapshot(
    path: Any,
    compression: Any = None,
    reader_path_prefix: Any = None,
    writer_path_prefix: Any = None,
    shard_size_bytes: Any = None,
    pending_snapshot_expiry_seconds: Any = None,
    num_reader_threads: Any = None,
    reader_buffer_size: Any = None,
    num_writer_threads: Any = None,
    writer_buffer_size: Any = None,
) -> Transformation:
    """The same elements, written to a folder when they are first read, and read from there later."""
    texts = {"compression": compression, "reader_path_prefix": reader_path_prefix, "writer_path_prefix": writer_path_prefix}
    numbers = {
        "shard_size_bytes": shard_size_bytes,
        "pending_snapshot_expiry_seconds": pending_snapshot_expiry_seconds,
        "num_reader_threads": num_reader_threads,
        "reader_buffer_size": reader_buffer_size,
        "num_writer_threads": num_writer_threads,
        "writer_buffer_size": writer_buffer_size,
    }
    settings = {**{k: v or "" for k, v in texts.items()}, **{k: -1 if v is None else v for k, v in numbers.items()}}
    return lambda dataset: _SnapshotDataset(dataset, path, settings)
