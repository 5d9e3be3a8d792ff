"""V2 checkpoints: an index (a sorted table of BundleEntryProtos, `PREFIX.index`) and data files (`PREFIX.data-00000-of-00001`)."""
from __future__ import annotations

import contextlib
import itertools
import math
import os
import struct
import threading
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import google_crc32c
import numpy as np

from everflow.errors import data_loss, invalid_argument, not_found, unimplemented
from everflow.graph import dtypes
from everflow.io.filesystems import errors_about, locate
from everflow.train.checkpoints.slices import TensorSlice, slice_key
from everflow.train.checkpoints.table import Table, masked, read_varint, unmasked, varint, write_table

_serial = itertools.count()
PIECE = 1 << 20
# Types whose elements are bytes of any length; the variants that are saved are states written as bytes.
TEXTUAL = (dtypes.string, dtypes.variant)


def index_path(prefix: str) -> str:
    """The index of a checkpoint."""
    return prefix + ".index"


def data_path(prefix: str, shard: int, shards: int) -> str:
    """One of a checkpoint's data files."""
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


def open_file(path: str, mode: str) -> BinaryIO:
    """Opens a file wherever it is; problems are errors of `tf.errors`."""
    filesystem, local = locate(path)
    with errors_about(path):
        return filesystem.open(local, mode)


def read_whole(path: str) -> bytes:
    """All that is in a file."""
    with open_file(path, "rb") as file, errors_about(path):
        return file.read()


def exists(path: str) -> bool:
    """Whether there is a file."""
    filesystem, local = locate(path)
    return filesystem.exists(local)


def rename(source: str, target: str) -> None:
    """Gives a file its name, in one step."""
    filesystem, local = locate(source)
    with errors_about(target):
        filesystem.rename(local, locate(target)[1])


def make_folder_of(prefix: str) -> None:
    """Makes the folder that a checkpoint will be in."""
    folder = os.path.dirname(prefix)
    filesystem, local = locate(folder)
    if folder and not filesystem.exists(local):
        with errors_about(folder):
            filesystem.make_directories(local)


@contextlib.contextmanager
def written_beside(path: str) -> Iterator[BinaryIO]:
    """A file that takes its name only when it is complete."""
    beside = f"{path}.tempstate{os.getpid()}_{next(_serial)}"
    file = open_file(beside, "wb")
    try:
        with errors_about(path), file:
            yield file
        rename(beside, path)
    except BaseException:
        filesystem, local = locate(beside)
        with contextlib.suppress(OSError):
            filesystem.remove(local)
        raise


def element_bytes(array: np.ndarray) -> np.ndarray:
    """The memory of an array as bytes, without copying it where it is in order."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


class BundleWriter:
    """Writes a checkpoint with one data file. Nothing has its final name before `finish`."""

    def __init__(self, prefix: str) -> None:
        make_folder_of(prefix)
        self.prefix = prefix
        self._entries: dict[bytes, Any] = {}
        self._size = 0
        self._stack = contextlib.ExitStack()
        self._data = self._stack.enter_context(written_beside(data_path(prefix, 0, 1)))

    def __enter__(self) -> BundleWriter:
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)
        if error[0] is None:
            _write_index(self.prefix, 1, self._entries)

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
                piece = memory[start:start + PIECE]
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


def _write_index(prefix: str, shards: int, entries: dict[bytes, Any]) -> None:
    from everflow.proto import tensor_bundle_pb2

    header = tensor_bundle_pb2.BundleHeaderProto(num_shards=shards)
    header.version.producer = 1
    with written_beside(index_path(prefix)) as file:
        write_table(file, [(b"", header.SerializeToString()), *((key, entries[key].SerializeToString()) for key in sorted(entries))])


class BundleReader:
    """Reads a V2 checkpoint; every part that is read is checked."""

    version = 2

    def __init__(self, prefix: str) -> None:
        from google.protobuf.message import DecodeError

        from everflow.proto import tensor_bundle_pb2

        self.prefix = prefix
        self._files: dict[int, tuple[BinaryIO, int]] = {}
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
        entry = self._entry(name)
        if entry.slices:
            return self.read_slice(name, TensorSlice.whole(len(entry.shape.dim)))
        return self._read(name, entry)

    def read_slice(self, name: str, wanted: TensorSlice) -> np.ndarray:
        """A part of a tensor, put together from the parts that are stored."""
        entry = self._entry(name)
        shape = self._shape(entry)
        bounds = wanted.bounds(shape)
        if not entry.slices:
            whole = self._read(name, entry)
            return whole if wanted.is_whole() else whole[tuple(slice(a, b) for a, b in bounds)]
        stored = [TensorSlice.from_proto(s) for s in entry.slices]
        parts = []
        for part in stored:
            found = self._parts.get(slice_key(name, part))
            if found is None:
                raise data_loss(f"A slice of {name} is missing in checkpoint {self.prefix}")
            parts.append((part, found))
        if any(part == wanted for part in stored):
            return self._read(name, next(e for p, e in parts if p == wanted))
        return assembled(name, shape, bounds, self._dtype(entry), [(p, lambda e=e: self._read(name, e)) for p, e in parts])

    def _read(self, name: str, entry: Any) -> np.ndarray:
        shape = self._shape(entry)
        count = math.prod(shape)
        dtype = self._dtype(entry)
        file, length = self._shard(entry.shard_id)
        if entry.offset < 0 or entry.size < 0 or entry.offset + entry.size > length:
            raise data_loss(f"{data_path(self.prefix, entry.shard_id, self.shards)} is too short for tensor {name}")
        if dtype in TEXTUAL:
            return self._read_strings(name, entry, shape, count)
        if dtype in (dtypes.resource, dtypes.variant):
            raise unimplemented(f"Tensors of type {dtype.name} in checkpoints (tensor {name})")
        kind = np.dtype(dtype.as_numpy_dtype)
        if entry.size != count * kind.itemsize:
            raise data_loss(f"Invalid size in bundle entry: key {name}; stored size {entry.size}; expected size {count * kind.itemsize}")
        memory = np.empty(entry.size, np.uint8)
        self._check(name, entry, self._fill(entry, file, memory))
        return memory.view(kind).reshape(shape)

    def _fill(self, entry: Any, file: BinaryIO, memory: np.ndarray) -> int:
        """Reads an entry's bytes; returns their checksum."""
        path = data_path(self.prefix, entry.shard_id, self.shards)
        crc = done = 0
        with self._lock, errors_about(path):
            file.seek(entry.offset)
            while done < memory.size:
                piece = memory[done:done + PIECE]
                got = file.readinto(piece.data)  # type: ignore[attr-defined]
                if not got:
                    raise data_loss(f"{path} is too short")
                crc = google_crc32c.extend(crc, piece[:got])
                done += got
        return crc

    def _read_strings(self, name: str, entry: Any, shape: tuple[int, ...], count: int) -> np.ndarray:
        if count > entry.size:
            raise data_loss(f"Invalid size in bundle entry: key {name}; {count} strings in {entry.size} bytes")
        file, _ = self._shard(entry.shard_id)
        memory = np.empty(entry.size, np.uint8)
        self._fill(entry, file, memory)
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
            array[i] = data[start:start + length]
            start += length
        return array.reshape(shape)

    def _check(self, name: str, entry: Any, crc: int) -> None:
        if crc != unmasked(entry.crc32c):
            raise data_loss(
                f"Checksum does not match: stored {unmasked(entry.crc32c)} vs. calculated on the restored bytes {crc} (tensor {name})")

    def _shard(self, number: int) -> tuple[BinaryIO, int]:
        with self._lock:
            found = self._files.get(number)
            if found is None:
                if not 0 <= number < self.shards:
                    raise data_loss(f"{index_path(self.prefix)} names data file {number} of {self.shards}")
                path = data_path(self.prefix, number, self.shards)
                file = open_file(path, "rb")
                with errors_about(path):
                    length = file.seek(0, os.SEEK_END)
                found = self._files[number] = (file, length)
            return found

    def close(self) -> None:
        """Closes the data files."""
        for file, _ in self._files.values():
            file.close()
        self._files.clear()


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
            tuple(slice(a - start, b - start) for (a, b), (start, _) in zip(inside, part.bounds(shape)))]
        covered += math.prod(b - a for a, b in inside)
    if covered < total:
        raise not_found(f"Checkpoint lacks parts of tensor {name} that are asked for")
    return out if out is not None else np.empty(sizes, object if dtype is dtypes.string else dtype.as_numpy_dtype)


def merge_bundles(prefixes: Sequence[str], destination: str, delete_old_dirs: bool) -> None:
    """Makes one checkpoint of several: their data files become its shards."""
    shards = 0
    entries: dict[bytes, Any] = {}
    moves = []
    for prefix in prefixes:
        reader = BundleReader(prefix)
        # Several shards may come from the same checkpoint: numbers are given in the order of the files.
        for number in range(reader.shards):
            moves.append((data_path(prefix, number, reader.shards), shards + number))
        for key, entry in [*((name.encode(), e) for name, e in reader.entries.items()), *reader._parts.items()]:
            if not entry.slices:
                entry.shard_id += shards
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
        shards += reader.shards
        reader.close()
    make_folder_of(destination)
    for source, number in moves:
        rename(source, data_path(destination, number, shards))
    _write_index(destination, shards, entries)
    for prefix in prefixes:
        filesystem, local = locate(index_path(prefix))
        with contextlib.suppress(OSError):
            filesystem.remove(local)
    if delete_old_dirs:
        for folder in {os.path.dirname(prefix) for prefix in prefixes if os.path.dirname(prefix) != os.path.dirname(destination)}:
            filesystem, local = locate(folder)
            with contextlib.suppress(OSError):
                if not filesystem.list(local):
                    filesystem.remove_tree(local)
