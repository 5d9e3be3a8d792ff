"""Tensors on the wire."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from everflow.graph import dtypes
from everflow.graph.tensor_proto import make_ndarray, make_tensor_proto
from everflow.values import tensors as values


def packed(value: Any, dtype: dtypes.DType) -> Any:
    """The TensorProto of a run-time value."""
    return make_tensor_proto(values.to_numpy(value, dtype), dtype)


def unpacked(proto: Any) -> Any:
    """The run-time value in a TensorProto."""
    return values.from_numpy(array_of(proto), dtypes.as_dtype(proto.dtype))


def array_of(proto: Any) -> np.ndarray:
    """The array in a TensorProto. Servers send strings as one run of bytes too: first all lengths, as varints, then all texts."""
    if proto.dtype != dtypes.string.as_datatype_enum or not proto.tensor_content:
        return make_ndarray(proto)
    sizes = tuple(d.size for d in proto.tensor_shape.dim)
    content, at, lengths = proto.tensor_content, 0, []
    for _ in range(math.prod(sizes)):
        length = shift = 0
        while True:
            byte = content[at]
            at += 1
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        lengths.append(length)
    array = np.empty(len(lengths), object)
    for i, length in enumerate(lengths):
        array[i] = content[at : at + length]
        at += length
    return array.reshape(sizes)
