"""V1 checkpoints: tables whose values are SavedTensorSlices, one table or several shards."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from everflow.errors import DataLossError, data_loss, invalid_argument, not_found, unimplemented
from everflow.graph import dtypes
from everflow.train.checkpoints.bundle import Reading, assembled
from everflow.train.checkpoints.files import read_whole, written_beside
from everflow.train.checkpoints.slices import TensorSlice, slice_key
from everflow.train.checkpoints.table import Table, write_table

# In which field of a TensorProto the elements of a type are.
_FIELDS = {
    "float32": "float_val",
    "float64": "double_val",
    "int32": "int_val",
    "uint8": "int_val",
    "int16": "int_val",
    "int8": "int_val",
    "string": "string_val",
    "complex64": "scomplex_val",
    "complex128": "dcomplex_val",
    "int64": "int64_val",
    "bool": "bool_val",
    "qint8": "int_val",
    "quint8": "int_val",
    "qint32": "int_val",
    "qint16": "int_val",
    "quint16": "int_val",
    "uint16": "int_val",
    "float16": "half_val",
    "uint32": "uint32_val",
    "uint64": "uint64_val",
}


def _stored_kind(dtype: dtypes.DType) -> Any:
    """A plain numpy type with the same memory: numbers are converted to it."""
    kind = np.dtype(dtype.as_numpy_dtype)
    return kind[0] if kind.names else kind


def elements(proto: Any, dtype: dtypes.DType, shape: Sequence[int]) -> np.ndarray:
    """The elements of a stored part."""
    count = math.prod(shape)
    field = _FIELDS.get(dtype.name)
    if field is None:
        raise unimplemented(f"Tensors of type {dtype.name} in V1 checkpoints")
    values = getattr(proto, field)
    expected = 2 * count if field.endswith("complex_val") else count
    if len(values) != expected:
        raise data_loss(f"A V1 checkpoint holds {len(values)} elements of a part of {expected}")
    if dtype is dtypes.string:
        out = np.empty(count, object)
        out[:] = list(values)
        return out.reshape(shape)
    if field == "half_val":
        return np.array(values, np.uint16).view(np.float16).reshape(shape)
    if field.endswith("complex_val"):
        part = np.float32 if field[0] == "s" else np.float64
        return np.array(values, part).view(dtype.as_numpy_dtype).reshape(shape)
    return np.array(values).astype(_stored_kind(dtype)).view(dtype.as_numpy_dtype).reshape(shape)


def _table(path: str) -> Table:
    try:
        return Table(read_whole(path))
    except DataLossError as error:
        raise data_loss(
            f"Unable to open table file {path}: Data loss: {error.message}: perhaps your file is in a different file format and you need "
            "to use a different restore operator?"
        ) from None


class LegacyReader:
    """Reads V1 checkpoints: all the files of a pattern are one."""

    version = 1

    def __init__(self, paths: Sequence[str]) -> None:
        from google.protobuf.message import DecodeError

        from everflow.proto import saved_tensor_slice_pb2

        self.prefix = paths[0]
        self._data: dict[bytes, bytes] = {}
        self._known: dict[str, tuple[tuple[int, ...], dtypes.DType, list[TensorSlice]]] = {}
        for path in paths:
            try:
                for key, value in _table(path).items():
                    if key != b"":
                        self._data[key] = value
                        continue
                    meta = saved_tensor_slice_pb2.SavedTensorSlices.FromString(value).meta
                    for tensor in meta.tensor:
                        shape = tuple(dim.size for dim in tensor.shape.dim)
                        if any(size < 0 for size in shape):
                            raise data_loss(f"{path} has a tensor without a shape")
                        found = self._known.setdefault(tensor.name, (shape, dtypes.as_dtype(tensor.type), []))
                        if found[0] != shape:
                            raise invalid_argument(f"Incompatible tensor shapes detected for tensor {tensor.name}")
                        found[2].extend(TensorSlice.from_proto(s) for s in tensor.slice)
            except (DecodeError, TypeError) as error:
                raise data_loss(f"{path} is damaged: {error}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def names(self) -> list[str]:
        """The tensors."""
        return list(self._known)

    def _entry(self, name: str) -> tuple[tuple[int, ...], dtypes.DType, list[TensorSlice]]:
        found = self._known.get(name)
        if found is None:
            raise not_found(f"{name} not found in checkpoint file")
        return found

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor."""
        return self._entry(name)[0]

    def dtype(self, name: str) -> dtypes.DType:
        """The type of a tensor."""
        return self._entry(name)[1]

    def slices(self, name: str) -> list[TensorSlice]:
        """The parts that a tensor is stored in."""
        return self._entry(name)[2]

    def read(self, name: str) -> np.ndarray:
        """A tensor."""
        return self.reading(name)()

    def reading(self, name: str, wanted: TensorSlice | None = None) -> Reading:
        """What reads a tensor, or a part of it, put together from the parts that are stored. Any thread may call it."""
        shape, dtype, parts = self._entry(name)
        box = TensorSlice.whole(len(shape)) if wanted is None else wanted
        if box in parts:
            return lambda: self._read(name, box)
        return lambda: assembled(name, shape, box.bounds(shape), dtype, [(p, lambda p=p: self._read(name, p)) for p in parts])

    def _read(self, name: str, part: TensorSlice) -> np.ndarray:
        from google.protobuf.message import DecodeError

        from everflow.proto import saved_tensor_slice_pb2

        shape, dtype, _ = self._known[name]
        value = self._data.get(slice_key(name, part))
        if value is None:
            raise data_loss(f"{self.prefix} lacks a part of {name}")
        try:
            data = saved_tensor_slice_pb2.SavedTensorSlices.FromString(value).data
        except DecodeError as error:
            raise data_loss(f"{self.prefix} is damaged: {error}") from None
        return elements(data.data, dtype, part.shape_in(shape))

    def close(self) -> None:
        """Nothing is open."""


def write_legacy(path: str, tensors: Sequence[tuple[str, tuple[int, ...], TensorSlice, np.ndarray, dtypes.DType]]) -> None:
    """Writes a V1 checkpoint of (name, shape of the whole, slice, values, type)."""
    from everflow.proto import saved_tensor_slice_pb2

    meta = saved_tensor_slice_pb2.SavedTensorSlices()
    meta.meta.versions.producer = 1
    known: dict[str, Any] = {}
    values: dict[bytes, bytes] = {}
    for name, shape, part, array, dtype in tensors:
        field = _FIELDS.get(dtype.name)
        if field is None:
            raise unimplemented(f"Saving data type {dtype.name} not yet supported")
        entry = known.get(name)
        if entry is None:
            entry = known[name] = meta.meta.tensor.add(name=name, type=dtype.as_datatype_enum)
            entry.shape.SetInParent()
            for size in shape:
                entry.shape.dim.add(size=size)
        elif entry.type != dtype.as_datatype_enum or tuple(d.size for d in entry.shape.dim) != tuple(shape):
            raise invalid_argument(f"Mismatching shapes or types of the parts of {name}")
        part.to_proto(entry.slice.add())
        saved = saved_tensor_slice_pb2.SavedTensorSlices()
        saved.data.name = name
        part.to_proto(saved.data.slice)
        proto = saved.data.data
        proto.dtype = dtype.as_datatype_enum
        flat = np.ascontiguousarray(array).reshape(-1)
        if dtype is dtypes.string:
            plain = flat.tolist()
        elif field == "half_val":
            plain = flat.view(np.uint16).tolist()
        elif field.endswith("complex_val"):
            plain = flat.view(np.float32 if field[0] == "s" else np.float64).tolist()
        else:
            plain = flat.view(_stored_kind(dtype)).tolist()
        getattr(proto, field).extend(plain)
        values[slice_key(name, part)] = saved.SerializeToString()
    with written_beside(path) as file:
        write_table(file, [(b"", meta.SerializeToString()), *sorted(values.items())])
