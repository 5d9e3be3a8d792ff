"""Turning what a user feeds into run-time values, with TensorFlow's checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from everflow import errors, nest
from everflow.graph import dtypes
from everflow.graph.graph import Graph
from everflow.graph.tensor import Tensor
from everflow.graph.tensor_proto import as_array
from everflow.lazy import torch
from everflow.runtime.fetches import expansion_of
from everflow.values import tensors as values

Converter = Callable[[Any], Any]


def feed_converter(tensor: Tensor) -> Converter:
    """A function from a fed value to the run-time value for this tensor."""
    dtype = tensor.dtype.base_dtype
    if dtype in (dtypes.resource, dtypes.variant):
        return lambda value: value
    if dtype is dtypes.string:
        return _string_converter(tensor)
    numpy_type = np.dtype(dtype.as_numpy_dtype)
    dims = tensor.dims
    exact = not dtype.is_quantized and dtype.name not in ("bfloat16", "uint16", "uint32", "uint64")

    def convert(value: Any) -> Any:
        if type(value) is np.ndarray and value.dtype == numpy_type:
            array = value
        else:
            _refuse_tensor(value, tensor)
            if hasattr(value, "_kept_value"):
                return value._kept_value()
            if type(value).__module__ == "torch" and isinstance(value, torch.Tensor):
                _check_shape(tuple(value.shape), tensor)
                return value.detach().to(values.torch_dtype(dtype))
            array = _as_array(value, numpy_type)
        shape = array.shape
        if dims is not None and dims != shape:
            _check_shape(shape, tensor)
        if exact and array.flags.carray:
            return torch.from_numpy(array)
        return values.from_numpy(array, dtype)

    return convert


def _string_converter(tensor: Tensor) -> Converter:
    def convert(value: Any) -> Any:
        _refuse_tensor(value, tensor)
        if isinstance(value, int):
            raise _incompatible(value, np.dtype(object))
        array = np.asarray(value, dtype=object)
        if tensor.dims is not None and tensor.dims != array.shape:
            _check_shape(array.shape, tensor)
        kinds = set(map(type, array.ravel().tolist()))
        if kinds <= {bytes}:
            return array
        for kind in kinds:
            if not issubclass(kind, (bytes, str)):
                raise errors.InternalError(None, None, f"Unsupported object type {kind.__name__}")
        return as_array(array, dtypes.string)

    return convert


def _refuse_tensor(value: Any, tensor: Tensor) -> None:
    if isinstance(value, Tensor):
        raise TypeError(
            "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python scalars, strings, lists, "
            f"numpy ndarrays, or TensorHandles. For reference, the tensor object was {value} which was passed to the feed with key "
            f"{tensor}."
        )


def _check_shape(shape: tuple[int, ...], tensor: Tensor) -> None:
    dims = tensor.dims
    if dims is not None and (len(dims) != len(shape) or any(d is not None and d != s for d, s in zip(dims, shape))):
        raise ValueError(f"Cannot feed value of shape {shape!r} for Tensor {tensor.name!r}, which has shape {str(tensor.get_shape())!r}")


def _incompatible(value: int, numpy_type: np.dtype) -> TypeError:
    return TypeError(
        f"Type of feed value {value} with type {type(value)} is not compatible with Tensor type {numpy_type.type}. Try explicitly "
        "setting the type of the feed tensor to a larger type (e.g. int64)."
    )


def _as_array(value: Any, numpy_type: np.dtype) -> np.ndarray:
    if isinstance(value, int):
        try:
            fits = numpy_type.type(value).item() == value
        except OverflowError:
            fits = False
        if not fits:
            raise _incompatible(value, numpy_type)
    try:
        return np.asarray(value, dtype=numpy_type)
    except OverflowError:
        # Integers in a list are cut to the width of the type, as numpy did in TensorFlow's days.
        return np.asarray(value, dtype=np.int64).astype(numpy_type)


def is_flat(feed_dict: Any) -> bool:
    """Whether the keys of a feed dictionary are tensors, each with its own value."""
    return all(type(key) is Tensor for key in feed_dict)


def flattened(graph: Graph, feed_dict: Any) -> dict[Tensor, Any]:
    """A feed dictionary with names, tuples and composite tensors among its keys, as one of tensors."""
    if not hasattr(feed_dict, "items"):
        raise TypeError("input must be a dictionary")
    pairs: dict[Any, Any] = {}
    for key, value in feed_dict.items():
        if not nest.is_nested(key):
            _add(pairs, key, value)
            continue
        keys, values_ = nest.flatten(key), nest.flatten(value)
        if len(keys) != len(values_):
            raise ValueError(
                f"Could not flatten dictionary. Key had {len(keys)} elements, but value had {len(values_)} elements. Key: {keys}, "
                f"value: {values_}."
            )
        for k, v in zip(keys, values_):
            _add(pairs, k, v)
    found: dict[Tensor, Any] = {}
    for key, value in pairs.items():
        expansion = expansion_of(key)
        for k, v in expansion.feed(key, value) if expansion is not None and expansion.feed is not None else [(key, value)]:
            found[feed_tensor(graph, k)] = v
    return found


def _add(pairs: dict[Any, Any], key: Any, value: Any) -> None:
    if key in pairs:
        raise ValueError(f"Could not flatten dictionary: key {key} is not unique.")
    pairs[key] = value


def feed_tensor(graph: Graph, key: Any) -> Tensor:
    """The tensor that a key stands for."""
    try:
        tensor = graph.as_graph_element(key, allow_operation=False)
    except Exception as e:
        raise TypeError(f"Cannot interpret feed_dict key as Tensor: {e.args[0] if e.args else e}") from None
    if not graph.is_feedable(tensor):
        raise ValueError(f"Tensor {tensor} may not be fed.")
    return tensor


def feed_tensors(graph: Graph, key: Any) -> list[Tensor]:
    """The tensors that a key stands for where its value is not there yet."""
    expansion = expansion_of(key)
    if expansion is not None and expansion.feed_keys is not None:
        return [feed_tensor(graph, k) for k in expansion.feed_keys(key)]
    return [feed_tensor(graph, key)]
