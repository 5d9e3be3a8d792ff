"""Tensors on the wire."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from everflow.distribute.messages import Pieces, field, fields, joined, named, number_at, number_field, varint
from everflow.graph import dtypes
from everflow.graph.tensor_proto import make_ndarray, make_tensor_proto
from everflow.proto import tensor_pb2
from everflow.values import tensors as values

_LARGE = 1 << 16
# The tags of a tensor's type, shape and memory.
_DTYPE, _SHAPE, _CONTENT = 1 << 3, 2 << 3 | 2, varint(4 << 3 | 2)


def encoded(value: Any, dtype: dtypes.DType, is_ours: bool = False) -> Pieces:
    """The TensorProto of a run-time value. If the value `is_ours` alone, its memory is in it as it is, else a copy."""
    if not values.is_numeric(dtype):
        return [make_tensor_proto(value, dtype).SerializeToString()]
    return [_head(dtype, value.shape), _memory(value, dtype, is_ours)]


def encoded_with_name(number: int, name: str, value: Any, dtype: dtypes.DType, is_ours: bool = False) -> Pieces:
    """A field that holds a NamedTensorProto of a run-time value. What comes before its memory depends on its shape only."""
    if not values.is_numeric(dtype):
        return named(number, name, encoded(value, dtype))
    return [_head_with_name(number, name, dtype, value.shape), _memory(value, dtype, is_ours)]


def _memory(value: Any, dtype: dtypes.DType, is_ours: bool) -> Any:
    # What others have they may write to while it is sent.
    array = values.to_numpy(value, dtype)
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data if is_ours else array.tobytes()


@functools.lru_cache(4096)
def _head(dtype: dtypes.DType, sizes: tuple[int, ...]) -> bytes:
    shape = [piece for size in sizes for piece in field(2, [number_field(1, size)] if size else [])]
    content = math.prod(sizes) * np.dtype(dtype.as_numpy_dtype).itemsize
    return joined([number_field(1, dtype.as_datatype_enum), *field(2, shape), _CONTENT + varint(content) if content else b""])


@functools.lru_cache(4096)
def _head_with_name(number: int, name: str, dtype: dtypes.DType, sizes: tuple[int, ...]) -> bytes:
    head = _head(dtype, sizes)
    size = len(head) + math.prod(sizes) * np.dtype(dtype.as_numpy_dtype).itemsize
    before = joined([*field(1, [name.encode()]), varint(2 << 3 | 2), varint(size)])
    return joined([varint(number << 3 | 2), varint(len(before) + size), before, head])


def decoded(data: Any) -> Any:
    """The run-time value in the bytes of a TensorProto."""
    array, dtype = array_in(data)
    # A small one does not keep the message that it came with.
    return values.from_numpy(array if array.nbytes >= _LARGE else array.copy(), dtype)


def array_in(data: Any) -> tuple[np.ndarray, dtypes.DType]:
    """The array in the bytes of a TensorProto, and its type. Where it can, the array is a view of the bytes."""
    view = memoryview(data)
    at = 4 + view[3] if len(view) > 4 and view[0] == _DTYPE and view[2] == _SHAPE else len(view)
    if at < len(view) and view[at] == _CONTENT[0] and (layout := _layout(bytes(view[:at]))) is not None:
        size, at = number_at(view, at + 1)
        dtype, kind, sizes, count = layout
        if at + size == len(view) and size == count * kind.itemsize:
            return np.frombuffer(view, kind, count, at).reshape(sizes), dtype
    return _parsed(data)


@functools.lru_cache(4096)
def _layout(head: bytes) -> tuple[dtypes.DType, np.dtype, tuple[int, ...], int] | None:
    """What the type and the shape before a tensor's memory say."""
    found = dict(fields(head))
    dtype = dtypes.as_dtype(found[1])
    if not values.is_numeric(dtype):
        return None
    sizes = _sizes(found[2])
    return dtype, np.dtype(dtype.as_numpy_dtype), sizes, math.prod(sizes)


def _sizes(shape: Any) -> tuple[int, ...]:
    return tuple(dict(fields(dim)).get(1, 0) for number, dim in fields(shape) if number == 2)


def _parsed(data: Any) -> tuple[np.ndarray, dtypes.DType]:
    found = dict(fields(data))
    dtype = dtypes.as_dtype(found.get(1, 0))
    content = found.get(4)
    if content is None or not values.is_numeric(dtype):
        return make_ndarray(tensor_pb2.TensorProto.FromString(bytes(data))), dtype
    sizes = _sizes(found.get(2, b""))
    array = np.frombuffer(content, dtype.as_numpy_dtype)
    if array.size != math.prod(sizes):
        raise ValueError(f"A tensor of shape {list(sizes)} came with {array.size} elements.")
    return array.reshape(sizes), dtype
