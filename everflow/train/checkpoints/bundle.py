"""V2 checkpoints: an index (a sorted table of BundleEntryProtos, `PREFIX.index`) and data files (`PREFIX.data-00000-of-00001`)."""

from __future__ import annotations

import contextlib
import math
import os
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO

import google_crc32c
import numpy as np

from everflow.errors import data_loss, invalid_argument, not_found, unimplemented
from everflow.graph import dtypes
from everflow.io.filesystems import errors_about
from everflow.train.checkpoints.files import data_path, index_path, open_file, read_whole
from everflow.train.checkpoints.slices import TensorSlice, slice_key
from everflow.train.checkpoints.table import Table, masked, read_varint, unmasked

# Bytes are checked in pieces that are still in the cache from being read or written.
PIECE = 1 << 20
LINE = 64
# Types whose elements are bytes of any length; the variants that are saved are states written as bytes.
TEXTUAL = (dtypes.string, dtypes.variant)
Reading = Callable[[], np.ndarray]


def aligned_memory(size: int) -> np.ndarray:
    """Bytes that begin where a cache line does, as kernels like it: variables take what was read over as it is."""
    memory = np.empty(size + LINE, np.uint8)
    start = -memory.ctypes.data % LINE
    return memory[start : start + size]


class BundleReader:
    """Reads a V2 checkpoint; every part that is read is checked."""

    version = 2

    def __init__(self, prefix: str) -> None:
        from google.protobuf.message import DecodeError

        from everflow.proto import tensor_bundle_pb2

        self.prefix = prefix
        # The data files' lengths, and files that are open and not being read: several threads may read at once.
        self._lengths: dict[int, int] = {}
        self._idle: list[tuple[int, BinaryIO]] = []
        self._lock = threading.Lock()
        self._parts: dict[bytes, Any] = {}
        self.entries: dict[str, Any] = {}
        path = index_path(prefix)
        header = None
        try:
            for key, value in Table(read_whole(path)).items():
                if header is None:
                    if key != b"":
                        raise data_loss(f"{path} has no header")
                    header = tensor_bundle_pb2.BundleHeaderProto.FromString(value)
                    continue
                entry = tensor_bundle_pb2.BundleEntryProto.FromString(value)
                # Keys of parts begin with the number 0.
                if key[:1] == b"\0":
                    self._parts[key] = entry
                else:
                    self.entries[key.decode()] = entry
        except (DecodeError, UnicodeDecodeError) as error:
            raise data_loss(f"{path} is damaged: {error}") from None
        if header is None:
            raise data_loss(f"{path} has no header")
        if header.endianness != 0:
            raise unimplemented("Reading a bundle with different endianness from the reader")
        if header.version.min_consumer > 1:
            raise invalid_argument(f"Checkpoint {path} asks for a newer reader (version {header.version.min_consumer})")
        self.shards = header.num_shards

    def __contains__(self, name: object) -> bool:
        return name in self.entries

    def names(self) -> list[str]:
        """The tensors, in the order of the index."""
        return list(self.entries)

    def _entry(self, name: str) -> Any:
        entry = self.entries.get(name)
        if entry is None:
            raise not_found(f"Key {name} not found in checkpoint")
        return entry

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor."""
        return self._shape(self._entry(name))

    def _shape(self, entry: Any) -> tuple[int, ...]:
        shape = tuple(dim.size for dim in entry.shape.dim)
        if entry.shape.unknown_rank or any(size < 0 for size in shape):
            raise data_loss(f"{index_path(self.prefix)} has a tensor without a shape")
        return shape

    def dtype(self, name: str) -> dtypes.DType:
        """The type of a tensor."""
        return self._dtype(self._entry(name))

    def _dtype(self, entry: Any) -> dtypes.DType:
        try:
            return dtypes.as_dtype(entry.dtype)
        except TypeError:
            raise data_loss(f"{index_path(self.prefix)} has a tensor of an unknown type: {entry.dtype}") from None

    def slices(self, name: str) -> list[TensorSlice]:
        """The parts that a tensor is stored in; none where it is stored whole."""
        return [TensorSlice.from_proto(s) for s in self._entry(name).slices]

    def read(self, name: str) -> np.ndarray:
        """A tensor."""
        return self.reading(name)()

    def reading(self, name: str, wanted: TensorSlice | None = None) -> Reading:
        """What reads a tensor, or a part of it, put together from the parts that are stored. Any thread may call it."""
        entry = self._entry(name)
        shape = self._shape(entry)
        wanted = TensorSlice.whole(len(shape)) if wanted is None else wanted
        bounds = wanted.bounds(shape)
        if not entry.slices:
            whole = self._reading(name, entry)
            return whole if wanted.is_whole() else lambda: whole()[tuple(slice(a, b) for a, b in bounds)]
        parts = {}
        for part in self.slices(name):
            found = self._parts.get(slice_key(name, part))
            if found is None:
                raise data_loss(f"A slice of {name} is missing in checkpoint {self.prefix}")
            parts[part] = found
        if wanted in parts:
            return self._reading(name, parts[wanted])
        readings = [(part, lambda e=e: self._reading(name, e)()) for part, e in parts.items()]
        return lambda: assembled(name, shape, bounds, self._dtype(entry), readings)

    def _reading(self, name: str, entry: Any) -> Reading:
        shape = self._shape(entry)
        count = math.prod(shape)
        dtype = self._dtype(entry)
        if entry.offset < 0 or entry.size < 0 or entry.offset + entry.size > self._length(entry.shard_id):
            raise data_loss(f"{data_path(self.prefix, entry.shard_id, self.shards)} is too short for tensor {name}")
        if dtype in TEXTUAL:
            return lambda: self._read_strings(name, entry, shape, count)
        if dtype in (dtypes.resource, dtypes.variant):
            raise unimplemented(f"Tensors of type {dtype.name} in checkpoints (tensor {name})")
        kind = np.dtype(dtype.as_numpy_dtype)
        if entry.size != count * kind.itemsize:
            raise data_loss(f"Invalid size in bundle entry: key {name}; stored size {entry.size}; expected size {count * kind.itemsize}")
        # Taken here: what several threads take for themselves, one after the other, does not find its way back to the system.
        memory = aligned_memory(entry.size)

        def read() -> np.ndarray:
            self._check(name, entry, self._fill(entry, memory))
            return memory.view(kind).reshape(shape)

        return read

    def _fill(self, entry: Any, memory: np.ndarray) -> int:
        """Reads an entry's bytes; returns their checksum."""
        path = data_path(self.prefix, entry.shard_id, self.shards)
        crc = done = 0
        with self._data(entry.shard_id) as file, errors_about(path):
            file.seek(entry.offset)
            while done < memory.size:
                piece = memory[done : done + PIECE]
                got = file.readinto(piece.data)  # type: ignore[attr-defined]
                if not got:
                    raise data_loss(f"{path} is too short")
                crc = google_crc32c.extend(crc, piece[:got])
                done += got
        return crc

    def _read_strings(self, name: str, entry: Any, shape: tuple[int, ...], count: int) -> np.ndarray:
        if count > entry.size:
            raise data_loss(f"Invalid size in bundle entry: key {name}; {count} strings in {entry.size} bytes")
        memory = np.empty(entry.size, np.uint8)
        self._fill(entry, memory)
        data = memory.tobytes()
        lengths, at = [], 0
        for _ in range(count):
            length, at = read_varint(data, at)
            lengths.append(length)
        start = at + 4
        if start + sum(lengths) != len(data):
            raise data_loss(f"The lengths of strings of {name} are damaged")
        crc = google_crc32c.value(b"".join(struct.pack("<I" if n <= 0xFFFFFFFF else "<Q", n) for n in lengths))
        if struct.unpack_from("<I", data, at)[0] != masked(crc):
            raise data_loss(f"The length checksum does not match for tensor {name}")
        self._check(name, entry, google_crc32c.extend(crc, data[at:]))
        array = np.empty(count, object)
        for i, length in enumerate(lengths):
            array[i] = data[start : start + length]
            start += length
        return array.reshape(shape)

    def _check(self, name: str, entry: Any, crc: int) -> None:
        if crc != unmasked(entry.crc32c):
            raise data_loss(
                f"Checksum does not match: stored {unmasked(entry.crc32c)} vs. calculated on the restored bytes {crc} (tensor {name})"
            )

    @contextlib.contextmanager
    def _data(self, shard: int) -> Iterator[BinaryIO]:
        """A data file for one thread."""
        if not 0 <= shard < self.shards:
            raise data_loss(f"{index_path(self.prefix)} names data file {shard} of {self.shards}")
        with self._lock:
            at = next((i for i, (number, _) in enumerate(self._idle) if number == shard), None)
            file = None if at is None else self._idle.pop(at)[1]
        if file is None:
            file = open_file(data_path(self.prefix, shard, self.shards), "rb")
        try:
            yield file
        finally:
            with self._lock:
                self._idle.append((shard, file))

    def _length(self, shard: int) -> int:
        if shard not in self._lengths:
            with self._data(shard) as file, errors_about(data_path(self.prefix, shard, self.shards)):
                self._lengths[shard] = file.seek(0, os.SEEK_END)
        return self._lengths[shard]

    def close(self) -> None:
        """Closes the data files."""
        for _, file in self._idle:
            file.close()
        self._idle.clear()


def assembled(name: str, shape: Sequence[int], bounds: list[tuple[int, int]], dtype: dtypes.DType, parts: Any) -> np.ndarray:
    """A box of a tensor, from parts: (slice, function that reads it). Parts may overlap."""
    sizes = [end - start for start, end in bounds]
    total = math.prod(sizes)
    covered = 0
    out: Any = None
    for part, read in parts:
        inside = [(max(a, c), min(b, d)) for (a, b), (c, d) in zip(bounds, part.bounds(shape))]
        if any(a >= b for a, b in inside):
            continue
        value = read()
        if value.shape != part.shape_in(shape):
            raise data_loss(f"A slice of {name} has shape {value.shape}, not {part.shape_in(shape)}")
        if out is None:
            # Only when a part is there is the size of the whole known to be more than a number in a damaged file.
            if total > 64 * max(value.size, 1) * max(len(parts), 1):
                raise data_loss(f"The slices of {name} do not cover it")
            out = np.empty(sizes, object if dtype is dtypes.string else dtype.as_numpy_dtype)
        out[tuple(slice(a - start, b - start) for (a, b), (start, _) in zip(inside, bounds))] = value[
            tuple(slice(a - start, b - start) for (a, b), (start, _) in zip(inside, part.bounds(shape)))
        ]
        covered += math.prod(b - a for a, b in inside)
    if covered < total:
        raise not_found(f"Checkpoint lacks parts of tensor {name} that are asked for")
    return out if out is not None else np.empty(sizes, object if dtype is dtypes.string else dtype.as_numpy_dtype)
