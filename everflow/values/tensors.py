"""Run-time values: torch tensors for numbers, numpy object arrays of bytes for strings, plain objects for resources."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from everflow import _native
from everflow.graph import dtypes
from everflow.lazy import torch

# Quantized types are stored as the integers they are made of.
_TORCH_NAMES = {
    "float16": "float16",
    "bfloat16": "bfloat16",
    "float32": "float32",
    "float64": "float64",
    "int8": "int8",
    "int16": "int16",
    "int32": "int32",
    "int64": "int64",
    "uint8": "uint8",
    "uint16": "uint16",
    "uint32": "uint32",
    "uint64": "uint64",
    "bool": "bool",
    "complex64": "complex64",
    "complex128": "complex128",
    "qint8": "int8",
    "quint8": "uint8",
    "qint16": "int16",
    "quint16": "uint16",
    "qint32": "int32",
}
_BITS = {"bfloat16": np.int16, "uint16": np.int16, "uint32": np.int32, "uint64": np.int64}
_QUANTIZED_BITS = {"qint8": np.int8, "quint8": np.uint8, "qint16": np.int16, "quint16": np.uint16, "qint32": np.int32}


@functools.cache
def torch_dtype(dtype: dtypes.DType) -> Any:
    """The torch dtype that holds values of a dtype; KeyError for strings, resources and variants."""
    return getattr(torch, _TORCH_NAMES[dtype.base_dtype.name])


@functools.cache
def from_torch_dtype(dtype: dtypes.DTypeLike) -> dtypes.DType:
    """The dtype of a torch dtype."""
    return dtypes.as_dtype(str(dtype).removeprefix("torch."))


def is_numeric(dtype: dtypes.DType) -> bool:
    """Whether values of this dtype are torch tensors."""
    return dtype.base_dtype.name in _TORCH_NAMES


def from_numpy(array: np.ndarray, dtype: dtypes.DType) -> Any:
    """A run-time value of a numpy array, sharing its memory where that is possible."""
    name = dtype.base_dtype.name
    if name not in _TORCH_NAMES:
        return array
    if name in _QUANTIZED_BITS and array.dtype.names:
        array = array.view(_QUANTIZED_BITS[name])
    bits = _BITS.get(name)
    shape = array.shape
    if not array.flags.writeable or not array.flags.c_contiguous or not array.flags.aligned or not array.dtype.isnative:
        array = np.array(array, order="C", dtype=array.dtype.newbyteorder("="))
    if bits is not None:
        return torch.from_numpy(array.reshape(-1).view(bits)).view(torch_dtype(dtype)).reshape(shape)
    return torch.from_numpy(array)


def to_numpy(value: Any, dtype: dtypes.DType) -> np.ndarray:
    """The numpy array of a run-time value, sharing its memory where that is possible; quantized values are plain integers."""
    name = dtype.base_dtype.name
    if name not in _TORCH_NAMES:
        return value
    value = value.detach()
    if value.device.type != "cpu":
        value = value.cpu()
    if value.is_conj() or value.is_neg():
        value = value.resolve_conj().resolve_neg()
    bits = _BITS.get(name)
    if bits is not None:
        shape = tuple(value.shape)
        signed = {np.int16: torch.int16, np.int32: torch.int32, np.int64: torch.int64}[bits]
        return value.contiguous().reshape(-1).view(signed).numpy().view(dtype.base_dtype.as_numpy_dtype).reshape(shape)
    return value.numpy()


def as_dims(value: Any) -> tuple[int, ...]:
    """A run-time shape vector (or scalar) as a tuple of ints."""
    found = value.tolist()
    return tuple(found) if type(found) is list else (found,)


# Numpy works out the limits of a type when they are first asked for, and must find small numbers then: outside of steps.
for _kind in (np.float16, np.float32, np.float64):
    np.finfo(np.dtype(_kind))


@functools.cache
def _inference_mode() -> Any:
    return torch._C._InferenceMode


def without_autograd(pace: Any = None) -> Any:
    """A guard for computing as steps do, in this thread until it is deleted: without torch's own autograd, for gradients are ours and
    its bookkeeping costs time at each op, and with zeros in the place of numbers too small to have all their digits. `pace`: that of the
    step, which takes turns with those of other threads where it is short."""
    return _native.Flushing(_inference_mode()(True), pace)
