"""Tensors on the wire."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from everflow.distribute.messages import Pieces, field, fields, number_field, varint
from everflow.graph import dtypes
from everflow.graph.tensor_proto import make_ndarray, make_tensor_proto
from everflow.proto import tensor_pb2
from everflow.values import tensors as values

_LARGE = 1 << 16
_CONTENT = varint(4 << 3 | 2)


def encoded(value: Any, dtype: dtypes.DType) -> Pieces:
    """The TensorProto of a run-time value, with its memory in it as it is."""
    if not values.is_numeric(dtype):
        return [make_tensor_proto(value, dtype).SerializeToString()]
    array = np.ascontiguousarray(values.to_numpy(value, dtype))
    head = _head(dtype, value.shape)
    if not array.nbytes:
        return [head]
    return [head, _CONTENT + varint(array.nbytes), array.reshape(-1).view(np.uint8).data]


@functools.lru_cache(4096)
def _head(dtype: dtypes.DType, sizes: tuple[int, ...]) -> bytes:
    shape = [piece for size in sizes for piece in field(2, [number_field(1, size)] if size else [])]
    return b"".join([number_field(1, dtype.as_datatype_enum), *field(2, shape)])


def decoded(data: Any) -> Any:
    """The run-time value in the bytes of a TensorProto."""
    array, dtype = array_in(data)
    if array.nbytes >= _LARGE and array.dtype.kind in "fiubc" and not array.flags.writeable:
        array = np.asarray(_Memory(array))
    return values.from_numpy(array, dtype)


class _Memory:
    """The memory of an array that came in a message. Nobody else has the message, so it need not be copied to be written."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array
        interface = array.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}


def array_in(data: Any) -> tuple[np.ndarray, dtypes.DType]:
    """The array in the bytes of a TensorProto, and its type. Where it can, the array is a view of the bytes, not to be written."""
    found = dict(fields(data))
    dtype = dtypes.as_dtype(found.get(1, 0))
    content = found.get(4)
    if content is None or not values.is_numeric(dtype):
        return make_ndarray(tensor_pb2.TensorProto.FromString(bytes(data))), dtype
    sizes = [dict(fields(dim)).get(1, 0) for number, dim in fields(found.get(2, b"")) if number == 2]
    array = np.frombuffer(content, dtype.as_numpy_dtype)
    if array.size != math.prod(sizes):
        raise ValueError(f"A tensor of shape {sizes} came with {array.size} elements.")
    return array.reshape(sizes), dtype
