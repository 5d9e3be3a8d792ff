"""Values of tensors: Python values as numpy arrays, by the rules of `tf.constant`, and arrays as TensorProtos and back.

Without a dtype, Python floats become float32 and Python ints int32 (int64 where they need it), while numpy arrays keep
their type. With a dtype, Python numbers may only widen (1 may become float32, 1.5 may not become int32), while an array
is cast. Tensors of strings are arrays of `bytes` objects.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np

from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.dtypes import DType
from everflow.graph.shapes import Dimension, TensorShape
from everflow.graph.tensor import TensorLike

_INT32_MIN, _INT32_MAX = -(2**31), 2**31 - 1
_HOLDS_MILLIONS = {dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64}
# A TensorProto is one protobuf message, and those end at 2 GB.
_LARGEST_CONTENT = 1 << 31


def as_array(value: Any, dtype: Any = None, shape: Any = None, verify_shape: bool = False, allow_broadcast: bool = False) -> np.ndarray:
    """The array that a constant of this value holds; never the caller's own memory.

    With a shape, a value with fewer elements is continued with its last one.
    """
    array, sizes = _given(value, dtype, shape, verify_shape, allow_broadcast)
    if sizes is not None and array.shape != sizes:
        return _continued(array.reshape(-1), sizes)
    if array is value or (isinstance(value, np.ndarray) and np.may_share_memory(array, value)):
        return array.copy()
    return array


def _given(
    value: Any, dtype: dtypes.DTypeLike, shape: Any, verify_shape: bool, allow_broadcast: bool
) -> tuple[np.ndarray, tuple[int, ...] | None]:
    """The elements that the value gives, and the shape that was asked for, found to fit."""
    if allow_broadcast and verify_shape:
        raise ValueError("allow_broadcast and verify_shape are not both allowed.")
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype).base_dtype
    if shape is None:
        return _converted(value, dtype), None
    sizes = tuple(int(size) for size in shape)
    count = math.prod(sizes)
    if count == 0 and not _is_array_like(value):
        return np.empty(sizes, np.float32 if dtype is None else dtype.as_numpy_dtype), sizes
    array = _converted(value, dtype)
    if allow_broadcast:
        fits = array.size == count or array.shape in ((), (1,))
    else:
        fits = array.shape == sizes or not verify_shape
    if not fits:
        raise TypeError(f"Expected Tensor's shape: {sizes}, got {array.shape}.")
    if array.size > count:
        raise ValueError(f"Too many elements provided. Needed at most {count}, but received {array.size}")
    return array, sizes


# Repeated elements are written out up to so many bytes.
_HELD = 1 << 28


def _continued(given: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    """The elements in a shape, the last one repeated to fill it; zeros (empty strings) if there are none."""
    count = math.prod(sizes)
    if given.size == count:
        return given.reshape(sizes).copy()
    if count * given.dtype.itemsize > _HELD:
        # A file of a few bytes may claim any shape: memory is for what it really holds.
        if given.size > 1:
            raise ValueError(f"A TensorProto of shape {list(sizes)} has only {given.size} elements.")
        only = given[0] if given.size else b"" if given.dtype == object else given.dtype.type(0)
        return np.broadcast_to(np.array(only, given.dtype), sizes)
    filled = np.zeros(count, given.dtype)
    if given.dtype == object:
        filled[:] = b""
    if given.size:
        filled[: given.size] = given
        filled[given.size :] = given[-1]
    return filled.reshape(sizes)


def _converted(value: Any, dtype: DType | None) -> np.ndarray:
    kind = type(value)
    if dtype is None:
        if kind is bool:
            return np.array(value)
        if kind is int and _INT32_MIN <= value <= _INT32_MAX:
            return np.array(value, np.int32)
        if kind is float and -1e38 < value < 1e38:
            return np.array(value, np.float32)
    elif kind is int or (kind is float and dtype.is_floating):
        if dtype in _HOLDS_MILLIONS and -1e6 < value < 1e6:
            return np.array(value, dtype.as_numpy_dtype)
    if value is None:
        raise ValueError("None values not supported.")
    if isinstance(value, np.ndarray) or _is_array_like(value):
        return _from_array(np.asarray(value), dtype)
    if dtype is not None and dtype.is_quantized:
        return _from_quantized(value, dtype)
    return _from_python(value, dtype)


def _is_array_like(value: Any) -> bool:
    """Whether numpy knows what is inside: arrays, and what gives itself out as one or as a buffer."""
    if isinstance(value, (list, tuple, str, bytes, int, float)):
        return isinstance(value, np.generic)
    if hasattr(type(value), "__array__") or hasattr(type(value), "__array_interface__"):
        return not _is_tensor(value)
    try:
        memoryview(value)
    except TypeError:
        return False
    return True


def _is_tensor(value: Any) -> bool:
    return isinstance(value, TensorLike)


def _from_array(array: np.ndarray, dtype: DType | None) -> np.ndarray:
    if dtype is None:
        found = dtypes.as_dtype(array.dtype)
        if found is dtypes.string:
            return _encoded(array)
        return array if array.dtype.isnative else array.astype(found.as_numpy_dtype)
    if dtype is dtypes.string:
        return _encoded(array)
    if array.dtype == dtype.as_numpy_dtype:
        return array
    return _cast(array, dtype)


def _cast(array: np.ndarray, dtype: DType) -> np.ndarray:
    if array.dtype.kind in "iub" and dtype is not dtypes.float16:
        return array.astype(dtype.as_numpy_dtype)
    # Numbers too large for the type become infinite or wrap around, without a word, as in TensorFlow.
    with np.errstate(over="ignore", invalid="ignore"):
        return array.astype(dtype.as_numpy_dtype)


def _encoded(array: np.ndarray) -> np.ndarray:
    """An array of any kind of text as an array of bytes objects."""
    encoded = np.empty(array.shape, object)
    flat = encoded.reshape(-1)
    for i, text in enumerate(array.astype(object).flat):
        if isinstance(text, str):
            flat[i] = text.encode("utf-8")
        elif isinstance(text, bytes):
            flat[i] = bytes(text)
        else:
            raise TypeError(f"Expected binary or unicode string, got {text!r}")
    return encoded


def _from_python(value: Any, dtype: DType | None) -> np.ndarray:
    first = value
    while type(first) in (list, tuple) and first:
        first = first[0]
    is_text = isinstance(first, (str, bytes))
    if dtype is dtypes.string or (is_text and dtype is None):
        return _from_text(value, dtype)
    try:
        array = np.array(value)
    except Exception:
        _refuse_tensors(value, dtype)
        array = None
    if array is None or array.shape != _dense_shape(value):
        raise _ragged(value, dtype, array)
    if dtype is None:
        return _narrowed(array, value)
    if not dtype.is_numpy_compatible:
        raise TypeError(f"Incompatible types: {dtype} vs. {array.dtype}. Value is {value}")
    if array.dtype.kind in _ACCEPTED_KINDS[_family(dtype)] or array.dtype == ml_dtypes.bfloat16:
        return _cast(array, dtype)
    _refuse_others(value, dtype)
    return np.array(value, dtype.as_numpy_dtype)


def _narrowed(array: np.ndarray, value: Any) -> np.ndarray:
    """What numpy made of Python numbers, in the types that TensorFlow prefers."""
    kind = array.dtype
    if kind == np.float64:
        return _cast(array, dtypes.float32)
    if kind == np.int64:
        narrow = array.astype(np.int32)
        return narrow if (narrow == array).all() else array
    if kind.kind in "OUSMm":
        _refuse_tensors(value, None)
        raise _failed(value)
    dtypes.as_dtype(kind)
    return array


def _from_text(value: Any, dtype: DType | None) -> np.ndarray:
    if dtype is not None:
        _refuse_others(value, dtype)
    try:
        array = np.array(value, object)
        if array.shape != _dense_shape(value):
            raise _ragged(value, dtype, array)
        return _encoded(array)
    except TypeError:
        _refuse_tensors(value, dtype)
        raise _failed(value) from None
    except ValueError:
        raise _ragged(value, dtype, None) from None


def _from_quantized(value: Any, dtype: DType) -> np.ndarray:
    """Quantized numbers are written as tuples of one int, as numpy writes a structure's fields."""
    structure = dtype.as_numpy_dtype
    field = structure[0]

    def wrapped(item: Any) -> Any:
        if isinstance(item, list):
            return [wrapped(inner) for inner in item]
        if isinstance(item, tuple) and all(isinstance(number, (int, np.integer)) for number in item):
            return tuple(np.array(number).astype(field) for number in item)
        raise _mismatch(item, dtype)

    return np.array(wrapped(value), structure)


def _dense_shape(value: Any) -> tuple[int, ...]:
    """The shape that nested lists have if they are as regular as their first elements."""
    sizes = []
    while isinstance(value, (list, tuple)):
        sizes.append(len(value))
        if not value:
            break
        value = value[0]
    return tuple(sizes)


def _common_shape(value: Any) -> tuple[int, ...]:
    """How far all of the nested lists agree."""
    if not isinstance(value, (list, tuple)):
        return np.shape(value) if isinstance(value, (np.ndarray, range)) else ()
    inner = [_common_shape(item) for item in value]
    agreed = []
    for sizes in zip(*inner):
        if len(set(sizes)) > 1:
            break
        agreed.append(sizes[0])
    return (len(value), *agreed)


_ACCEPTED_KINDS = {"integer": "iub", "floating": "fiub", "complex": "cfiub", "bool": "b"}
_ACCEPTED_TYPES = {
    "integer": (int, np.integer, Dimension),
    "floating": (int, float, np.integer, np.floating, ml_dtypes.bfloat16),
    "complex": (int, float, complex, np.number, ml_dtypes.bfloat16),
    "bool": (bool, np.bool_),
    "string": (str, bytes),
}


def _family(dtype: DType) -> str:
    for name in ("integer", "floating", "complex", "bool"):
        if getattr(dtype, "is_" + name):
            return name
    return "string"


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _refuse_others(value: Any, dtype: DType) -> None:
    accepted = _ACCEPTED_TYPES[_family(dtype)]
    for leaf in _leaves(value):
        if not isinstance(leaf, accepted):
            raise _mismatch(leaf, dtype)


def _refuse_tensors(value: Any, dtype: DType | None) -> None:
    for leaf in _leaves(value):
        if _is_tensor(leaf):
            raise _mismatch(leaf, dtype) if dtype else TypeError("List of Tensors when single Tensor expected")


def _mismatch(leaf: Any, dtype: DType) -> TypeError:
    shown = leaf.item() if isinstance(leaf, np.generic) else leaf
    return TypeError(f"Expected {dtype.name}, got {shown!r} of type '{type(leaf).__name__}' instead.")


def _failed(value: Any) -> TypeError:
    return TypeError(
        f"Failed to convert object of type {type(value)} to Tensor. Contents: {value}. Consider casting elements to a supported type."
    )


def _ragged(value: Any, dtype: DType | None, array: np.ndarray | None) -> Exception:
    """Why nested lists are not a tensor."""
    _refuse_tensors(value, dtype)
    if dtype is not None:
        for leaf in _leaves(value):
            if isinstance(leaf, (np.ndarray, TensorShape)):
                return _mismatch(leaf, dtype)
    if array is None and dtype is not None:
        return ValueError("setting an array element with a sequence.")
    got, wanted = array.shape if array is not None else _common_shape(value), _dense_shape(value)
    if got == wanted:
        return _failed(value)
    return ValueError(f"Argument must be a dense tensor: {value} - got shape {list(got)}, but wanted {list(wanted)}.")


# Which repeated field of a TensorProto holds the elements of a type, and which types are written as raw bytes instead.
_FIELDS = {
    dtypes.float32: "float_val", dtypes.float64: "double_val", dtypes.int32: "int_val", dtypes.uint8: "int_val",
    dtypes.int16: "int_val", dtypes.int8: "int_val", dtypes.string: "string_val", dtypes.complex64: "scomplex_val",
    dtypes.int64: "int64_val", dtypes.bool: "bool_val", dtypes.qint8: "int_val", dtypes.quint8: "int_val",
    dtypes.qint32: "int_val", dtypes.bfloat16: "half_val", dtypes.qint16: "int_val", dtypes.quint16: "int_val",
    dtypes.uint16: "int_val", dtypes.complex128: "dcomplex_val", dtypes.float16: "half_val",
    dtypes.uint32: "uint32_val", dtypes.uint64: "uint64_val",
}  # fmt: skip
_ONE_BY_ONE = {*(dtypes.string, dtypes.bool, dtypes.uint16, dtypes.float16, dtypes.bfloat16), *(dtypes.complex64, dtypes.complex128)}
_AS_BYTES = _FIELDS.keys() - _ONE_BY_ONE


def _stored_type(dtype: DType) -> Any:
    """The numpy type whose elements go one by one into the field of a TensorProto."""
    if dtype.is_complex:
        return dtype.real_dtype.as_numpy_dtype
    if _FIELDS[dtype] == "half_val":
        return np.uint16
    return dtype.as_numpy_dtype[0] if dtype.is_quantized else dtype.as_numpy_dtype


@public("make_tensor_proto", "contrib.util.make_tensor_proto")
def make_tensor_proto(values: Any, dtype: Any = None, shape: Any = None, verify_shape: bool = False, allow_broadcast: bool = False) -> Any:
    """The `TensorProto` of a constant with this value."""
    from everflow.proto import tensor_pb2

    if isinstance(values, tensor_pb2.TensorProto):
        return values
    array, sizes = _given(values, dtype, shape, verify_shape, allow_broadcast)
    found = dtypes.as_dtype(array.dtype)
    if sizes is None:
        sizes = array.shape
    count = math.prod(sizes)
    proto = tensor_pb2.TensorProto(dtype=found.as_datatype_enum)
    proto.tensor_shape.SetInParent()
    for size in sizes:
        proto.tensor_shape.dim.add().size = size
    if array.size > 1 and not any(array.strides):
        # One element that fills a large shape is written once, as it is held.
        array = array.reshape(-1)[:1]
    if found in _AS_BYTES and count > 1 and array.size == count:
        if array.nbytes >= _LARGEST_CONTENT:
            raise ValueError("Cannot create a tensor proto whose content is larger than 2GB.")
        proto.tensor_content = array.tobytes()
        return proto
    elements = array.reshape(-1)
    if found is not dtypes.string:
        elements = np.ascontiguousarray(elements).view(_stored_type(found))
    getattr(proto, _FIELDS[found]).extend(elements.tolist())
    return proto


@public("make_ndarray", "contrib.util.make_ndarray")
@internal("framework.tensor_util.MakeNdarray")
def make_ndarray(tensor: Any) -> np.ndarray:
    """The array in a `TensorProto`."""
    sizes = tuple(d.size for d in tensor.tensor_shape.dim)
    dtype = dtypes.as_dtype(tensor.dtype)
    if dtype not in _FIELDS:
        raise TypeError(f"Unsupported tensor type: {tensor.dtype}")
    if tensor.tensor_content and dtype is dtypes.string:
        return _texts(tensor.tensor_content, math.prod(sizes)).reshape(sizes)
    if tensor.tensor_content:
        return np.frombuffer(tensor.tensor_content, dtype.as_numpy_dtype).copy().reshape(sizes)
    elements = getattr(tensor, _FIELDS[dtype])
    if len(elements) > (2 if dtype.is_complex else 1) * math.prod(sizes):
        raise ValueError(f"Too many elements in a TensorProto of shape {list(sizes)}: {len(elements)}")
    if dtype is dtypes.string:
        array = np.empty(len(elements), object)
        array[:] = list(elements)
    else:
        # A list of Python's: numpy would ask a repeated field for its elements one at a time.
        array = np.array(list(elements), _stored_type(dtype)).view(dtype.as_numpy_dtype)
    return _continued(array, sizes)


def _texts(content: bytes, count: int) -> np.ndarray:
    """Strings as TensorFlow's sessions and servers send them: first all lengths, seven bits a byte, then all texts."""
    at, lengths = 0, []
    for _ in range(count):
        length = shift = 0
        while (byte := content[at]) > 127:
            length |= (byte & 127) << shift
            shift += 7
            at += 1
        lengths.append(length | byte << shift)
        at += 1
    array = np.empty(count, object)
    for i, length in enumerate(lengths):
        array[i] = content[at : at + length]
        at += length
    return array


@internal("framework.tensor_util.TensorShapeProtoToList")
def shape_list(shape: Any) -> list[int]:
    """The sizes in a `TensorShapeProto`."""
    return [d.size for d in shape.dim]


@internal("framework.tensor_util.ShapeEquals")
def has_shape(tensor_proto: Any, shape: Any) -> bool:
    """Whether a `TensorProto` has this shape, a list of sizes or a `TensorShapeProto`."""
    from everflow.proto import tensor_pb2, tensor_shape_pb2

    if not isinstance(tensor_proto, tensor_pb2.TensorProto):
        raise TypeError("tensor_proto is not a tensor_pb2.TensorProto object")
    if isinstance(shape, tensor_shape_pb2.TensorShapeProto):
        shape = shape_list(shape)
    elif not isinstance(shape, (list, tuple)):
        raise TypeError("shape is not a list or tuple")
    return shape_list(tensor_proto.tensor_shape) == list(shape)
