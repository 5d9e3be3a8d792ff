"""Turning what a user feeds into run-time values, with TensorFlow's checks."""
from __future__ import annotations

from typing import Any, Callable

import numpy as np

from everflow.graph import dtypes
from everflow.graph.tensor import Tensor
from everflow.lazy import torch
from everflow.runtime import values
from everflow.runtime.fetches import expansion_of


def feed_converter(tensor: Tensor) -> Callable[[Any], Any]:
    """A function from a fed value to the run-time value for this tensor."""
    dtype = tensor.dtype.base_dtype
    if dtype in (dtypes.resource, dtypes.variant):
        return lambda value: value
    numpy_type = np.dtype(dtype.as_numpy_dtype)
    dims = tensor.dims
    exact = values.is_numeric(dtype) and not dtype.is_quantized and dtype.name not in ("bfloat16", "uint16", "uint32", "uint64")

    def check(shape: tuple[int, ...]) -> None:
        if dims is not None and (len(dims) != len(shape) or any(d is not None and d != s for d, s in zip(dims, shape))):
            raise ValueError(f"Cannot feed value of shape {shape!r} for Tensor {tensor.name!r}, which has shape {str(tensor.get_shape())!r}")

    def convert(value: Any) -> Any:
        if type(value) is np.ndarray and value.dtype == numpy_type:
            array = value
        else:
            if isinstance(value, Tensor):
                raise TypeError(
                    "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python scalars, strings, lists, "
                    f"numpy ndarrays, or TensorHandles. For reference, the tensor object was {value} which was passed to the feed with key "
                    f"{tensor}."
                )
            if type(value).__module__ == "torch" and isinstance(value, torch.Tensor):
                check(tuple(value.shape))
                return value.detach().to(values.torch_dtype(dtype))
            array = _as_array(value, numpy_type, dtype, tensor)
        shape = array.shape
        if dims is not None and dims != shape:
            check(shape)
        if exact and array.flags.carray:
            return torch.from_numpy(array)
        return values.from_numpy(array, dtype)

    return convert


def _as_array(value: Any, numpy_type: np.dtype, dtype: dtypes.DType, tensor: Tensor) -> np.ndarray:
    if isinstance(value, int) and not isinstance(value, bool) and numpy_type.kind in "iu":
        info = np.iinfo(numpy_type)
        if not info.min <= value <= info.max:
            raise TypeError(
                f"Type of feed value {value} with type {type(value)} is not compatible with Tensor type {numpy_type.type}. Try explicitly "
                "setting the type of the feed tensor to a larger type (e.g. int64)."
            )
    if dtype is dtypes.string:
        from everflow.graph.tensor_proto import as_array

        array = np.asarray(value, dtype=object)
        return as_array(array, dtypes.string)
    array = np.asarray(value, dtype=numpy_type)
    return array


def feed_tensors(graph: Any, key: Any, value: Any = None) -> list[Tensor]:
    """The tensors that a key of a feed dictionary stands for."""
    expansion = expansion_of(key)
    if expansion is not None and expansion.feed_keys is not None:
        found = expansion.feed_keys(key)
    elif expansion is not None and expansion.feed is not None:
        found = [k for k, _ in expansion.feed(key, value)]
    else:
        found = [key]
    tensors = []
    for k in found:
        try:
            t = graph.as_graph_element(k, allow_operation=False)
        except Exception as e:
            raise TypeError(f"Cannot interpret feed_dict key as Tensor: {e.args[0] if e.args else e}") from None
        if not graph.is_feedable(t):
            raise ValueError(f"Tensor {t} may not be fed.")
        tensors.append(t)
    return tensors


def feed_values(key: Any, value: Any, count: int) -> list[Any]:
    """The values for those tensors."""
    expansion = expansion_of(key)
    if expansion is not None and expansion.feed is not None:
        return [v for _, v in expansion.feed(key, value)]
    return [value]
