"""Writes V2 checkpoints, and makes one of several."""

from __future__ import annotations

import contextlib
import itertools
import os
import struct
import threading
from collections.abc import Sequence
from typing import Any

import google_crc32c
import numpy as np

from everflow.errors import invalid_argument
from everflow.graph import dtypes
from everflow.io.filesystems import locate
from everflow.train.checkpoints.bundle import PIECE, TEXTUAL, BundleReader
from everflow.train.checkpoints.files import (
    data_path,
    duplicate,
    exists,
    index_path,
    make_folder_of,
    matching_files,
    remove,
    rename,
    temporary,
    written_beside,
)
from everflow.train.checkpoints.slices import TensorSlice, slice_key
from everflow.train.checkpoints.table import masked, varint, write_table


def element_bytes(array: np.ndarray) -> np.ndarray:
    """The memory of an array as bytes, without copying it where it is in order."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


class BundleWriter:
    """Writes a checkpoint with one data file: `with BundleWriter(prefix) as writer`. It takes its place when the block ends well."""

    def __init__(self, prefix: str) -> None:
        make_folder_of(prefix)
        self.prefix = prefix
        self._entries: dict[bytes, Any] = {}
        self._size = 0
        self._stack = contextlib.ExitStack()
        self._data, self._beside = self._stack.enter_context(temporary(data_path(prefix, 0, 1)))

    def __enter__(self) -> BundleWriter:
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)
        if error[0] is None:
            _publish(self.prefix, [self._beside], self._entries)

    def add(self, name: str, array: np.ndarray, dtype: dtypes.DType) -> None:
        """Appends a tensor."""
        self._put(name.encode(), array, dtype)

    def add_slice(self, name: str, shape: Sequence[int], part: TensorSlice, array: np.ndarray, dtype: dtypes.DType) -> None:
        """Appends a part of a tensor."""
        if part.is_whole():
            self.add(name, array, dtype)
            return
        from everflow.proto import tensor_bundle_pb2

        whole = self._entries.get(name.encode())
        if whole is None:
            whole = self._entries[name.encode()] = tensor_bundle_pb2.BundleEntryProto(dtype=dtype.as_datatype_enum)
            for size in shape:
                whole.shape.dim.add(size=size)
        part.to_proto(whole.slices.add())
        self._put(slice_key(name, part), array, dtype)

    def _put(self, key: bytes, array: np.ndarray, dtype: dtypes.DType) -> None:
        from everflow.proto import tensor_bundle_pb2

        if key in self._entries:
            raise invalid_argument(f"Adding duplicate key: {key.decode(errors='replace')}")
        entry = tensor_bundle_pb2.BundleEntryProto(dtype=dtype.as_datatype_enum, offset=self._size)
        for size in array.shape:
            entry.shape.dim.add(size=size)
        if dtype in TEXTUAL:
            crc = self._put_strings(array, entry)
        else:
            memory = element_bytes(array)
            crc = 0
            # In pieces that stay in the cache between the checksum and the write; the kernel, too, is faster with them.
            for start in range(0, memory.size, PIECE):
                piece = memory[start : start + PIECE]
                crc = google_crc32c.extend(crc, piece)
                self._data.write(piece.data)
            entry.size = memory.size
        entry.crc32c = masked(crc)
        self._size += entry.size
        self._entries[key] = entry

    def _put_strings(self, array: np.ndarray, entry: Any) -> int:
        texts = array.reshape(-1).tolist()
        lengths = b"".join(varint(len(t)) for t in texts)
        # The checksum is over the lengths as fixed numbers, not as they are written.
        crc = google_crc32c.value(b"".join(struct.pack("<I" if len(t) <= 0xFFFFFFFF else "<Q", len(t)) for t in texts))
        check = struct.pack("<I", masked(crc))
        crc = google_crc32c.extend(crc, check)
        self._data.write(lengths + check)
        entry.size = len(lengths) + len(check)
        for text in texts:
            self._data.write(text)
            crc = google_crc32c.extend(crc, text)
            entry.size += len(text)
        return crc


# Threads may save by the same name at once (a supervisor's timer and its program): they would delete each other's interim files.
_publishing = threading.Lock()


def _publish(prefix: str, sources: Sequence[str], entries: dict[bytes, Any]) -> None:
    """Gives a checkpoint's files their names.

    A checkpoint of that name may be there. It can be loaded, old or new, whenever the process may be killed: the new data go by the
    names of another number of shards, until an index says so and the old data can be replaced.
    """
    with _publishing:
        shards = len(sources)
        final = [data_path(prefix, i, shards) for i in range(shards)]
        if not exists(index_path(prefix)):
            for source, target in zip(sources, final):
                rename(source, target)
            _write_index(prefix, shards, entries)
            return
        count = next(n for n in itertools.count(shards + 1) if not exists(data_path(prefix, 0, n)))
        interim = [data_path(prefix, i, count) for i in range(shards)]
        for source, target in zip(sources, interim):
            rename(source, target)
        _write_index(prefix, count, entries)
        for source, target in zip(interim, final):
            duplicate(source, target)
        _write_index(prefix, shards, entries)
        for path in set(matching_files(prefix + ".data-?????-of-?????")) - set(final):
            remove(path)


def _write_index(prefix: str, shards: int, entries: dict[bytes, Any]) -> None:
    from everflow.proto import tensor_bundle_pb2

    header = tensor_bundle_pb2.BundleHeaderProto(num_shards=shards)
    header.version.producer = 1
    with written_beside(index_path(prefix)) as file:
        write_table(file, [(b"", header.SerializeToString()), *((key, entries[key].SerializeToString()) for key in sorted(entries))])


def merge_bundles(prefixes: Sequence[str], destination: str, delete_old_dirs: bool) -> None:
    """Makes one checkpoint of several: their data files become its shards."""
    entries: dict[bytes, Any] = {}
    sources: list[str] = []
    for prefix in prefixes:
        reader = BundleReader(prefix)
        first = len(sources)
        sources += [data_path(prefix, number, reader.shards) for number in range(reader.shards)]
        for key, entry in [*((name.encode(), e) for name, e in reader.entries.items()), *reader._parts.items()]:
            if not entry.slices:
                entry.shard_id += first
            known = entries.get(key)
            if known is None:
                entries[key] = entry
            elif entry.slices and known.slices:
                if known.dtype != entry.dtype or known.shape != entry.shape:
                    raise invalid_argument(f"Ran into tensors of different kinds with the name {key.decode(errors='replace')}")
                known.slices.extend(entry.slices)
            else:
                shown = key.decode(errors="replace")
                raise invalid_argument(f"Duplicate tensor keyed by {shown} encountered, when merging prefix: {prefix}")
    make_folder_of(destination)
    _publish(destination, sources, entries)
    for prefix in prefixes:
        remove(index_path(prefix))
    if delete_old_dirs:
        for folder in {os.path.dirname(prefix) for prefix in prefixes if os.path.dirname(prefix) != os.path.dirname(destination)}:
            filesystem, local = locate(folder)
            with contextlib.suppress(OSError):
                if not filesystem.list(local):
                    filesystem.remove_tree(local)
