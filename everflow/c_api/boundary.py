"""What crosses the border between C and Python: functions, handles of objects, tensors, buffers, statuses."""

from __future__ import annotations

import ctypes
import functools
import importlib
import itertools
import threading
import traceback
from collections.abc import Callable
from ctypes import POINTER, c_char_p, c_int, c_int64, c_size_t, c_void_p
from typing import Any

import numpy as np

from everflow.errors import OpError, invalid_argument, unimplemented
from everflow.graph import dtypes
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor

TOPICS = ("graphs", "importing", "operations", "attributes", "functions", "sessions", "libraries", "eager")
INVALID_ARGUMENT, UNKNOWN, OUT_OF_MEMORY = 3, 2, 8

P, I, N, S = c_void_p, c_int, c_size_t, c_char_p


class STATUS:
    """Where a TF_Status* stands among a function's arguments: it tells what the function raised, and is not handed on."""


class Output(ctypes.Structure):
    """TF_Output and TF_Input."""

    _fields_ = (("oper", c_void_p), ("index", c_int))


class Buffer(ctypes.Structure):
    """TF_Buffer."""

    _fields_ = (("data", c_void_p), ("length", c_size_t), ("data_deallocator", c_void_p))


class _Tensor(ctypes.Structure):
    """The beginning of TF_Tensor (native/c_api/tensors.cpp)."""

    _fields_ = (("type", c_int), ("num_dims", c_int), ("dims", POINTER(c_int64)), ("data", c_void_p), ("bytes", c_size_t))


_addresses: dict[str, int] = {}
_kept: list[Any] = []
_library: Any = None


def address(name: str, path: str) -> int:
    """Where C finds a function; `path` is the library that asks."""
    global _library
    if _library is None:
        library = ctypes.CDLL(path)
        library.TF_AllocateTensor.restype = library.TF_NewBuffer.restype = library.everflow_copied_text.restype = c_void_p
        library.TF_AllocateTensor.argtypes = (c_int, POINTER(c_int64), c_int, c_size_t)
        library.TF_SetStatus.argtypes = (c_void_p, c_int, c_char_p)
        library.everflow_fill_buffer.argtypes = (c_void_p, c_char_p, c_size_t)
        _library = library
        for topic in TOPICS:
            importlib.import_module(f"everflow.c_api.{topic}")
    return _addresses[name]


def c_function(name: str, *arguments: Any, result: Any = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes the decorated function what C calls by a name; its status is OK unless it raises."""
    at = arguments.index(STATUS) if STATUS in arguments else None
    kinds = tuple(c_void_p if kind is STATUS else kind for kind in arguments)

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def called(*given: Any) -> Any:
            status = None if at is None else given[at]
            if at is not None:
                given = given[:at] + given[at + 1 :]
            try:
                found = function(*given)
            except Exception as error:
                if status is None:
                    traceback.print_exc()
                else:
                    _library.TF_SetStatus(status, *_said(error))
                return None if result in (None, c_void_p) else -1
            if status is not None:
                _library.TF_SetStatus(status, 0, b"")
            return found

        callback = ctypes.CFUNCTYPE(result, *kinds)(called)
        _kept.append(callback)
        _addresses[name] = ctypes.cast(callback, c_void_p).value or 0
        return function

    return register


def _said(error: Exception) -> tuple[int, bytes]:
    """The code and the words of an error."""
    if isinstance(error, OpError):
        return error.error_code, error.message.encode(errors="surrogateescape")
    kind = INVALID_ARGUMENT if isinstance(error, (ValueError, TypeError, KeyError)) else UNKNOWN
    kind = OUT_OF_MEMORY if isinstance(error, MemoryError) else kind
    words = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    return kind, words.encode(errors="surrogateescape")


# -- handles: what C holds of an object is a number

_numbers = itertools.count(0x1000, 0x10)
_objects: dict[int, Any] = {}
_lock = threading.Lock()


def handle(item: Any) -> int:
    """A new handle of an object, which lives until it is dropped."""
    with _lock:
        number = next(_numbers)
        _objects[number] = item
    return number


def held(number: int | None) -> Any:
    """What a handle stands for."""
    try:
        return _objects[number or 0]
    except KeyError:
        raise invalid_argument("This is no handle of anything that is still there.") from None


def drop(number: int | None) -> None:
    """Forgets a handle; no handle is none to forget."""
    _objects.pop(number or 0, None)


def kept_text(holder: Any, key: str, text: str | bytes) -> int:
    """The address of a text that lives as long as its holder."""
    texts = holder.__dict__.setdefault("texts", {})
    content = text if isinstance(text, bytes) else text.encode(errors="surrogateescape")
    found = texts.get(key)
    if found is None or found.value != content:
        found = texts[key] = ctypes.create_string_buffer(content)
    return ctypes.addressof(found)


def copied_text(text: str) -> int:
    """A text that C gives back with free()."""
    return _library.everflow_copied_text(text.encode())


def text(content: bytes | None) -> str:
    """A text of C's."""
    return (content or b"").decode(errors="surrogateescape")


def texts(addresses: Any, count: int) -> list[str]:
    """An array of texts."""
    return [text(t) for t in ctypes.cast(addresses, POINTER(c_char_p))[:count]] if count else []


def numbers(kind: Any, address: Any, count: int) -> list[Any]:
    """An array of numbers."""
    return ctypes.cast(address, POINTER(kind))[:count] if count > 0 else []


# -- buffers and protocol buffers


def content(address: int | None) -> bytes:
    """The bytes of a TF_Buffer; none where there is no buffer."""
    if not address:
        return b""
    buffer = Buffer.from_address(address)
    return ctypes.string_at(buffer.data, buffer.length) if buffer.length else b""


def fill(address: int | None, proto: Any) -> None:
    """Writes a protocol buffer, or bytes, into an empty TF_Buffer."""
    if address:
        if Buffer.from_address(address).data:
            raise invalid_argument("Passing non-empty TF_Buffer is invalid.")
        found = proto if isinstance(proto, bytes) else proto.SerializeToString(deterministic=True)
        _library.everflow_fill_buffer(address, found, len(found))


def new_buffer(proto: Any) -> int:
    """A new TF_Buffer with a protocol buffer."""
    made = _library.TF_NewBuffer()
    fill(made, proto)
    return made


def parsed(kind: Any, serialized: bytes) -> Any:
    """A protocol buffer from bytes."""
    from google.protobuf.message import DecodeError

    try:
        return kind.FromString(serialized)
    except DecodeError:
        raise invalid_argument(f"Unparseable {kind.DESCRIPTOR.name}") from None


# -- operations and their outputs


def output(given: Output) -> Tensor:
    """The tensor that a TF_Output names."""
    op: Operation = held(given.oper).op
    if not 0 <= given.index < len(op.outputs):
        raise invalid_argument(
            f"Node '{op.name}' (type: '{op.type}', num of outputs: {len(op.outputs)}) does not have output {given.index}"
        )
    return op.outputs[given.index]


def outputs(address: Any, count: int) -> list[Tensor]:
    """The tensors of an array of TF_Outputs."""
    return [output(given) for given in ctypes.cast(address, POINTER(Output))[:count]] if count > 0 else []


def put_outputs(address: Any, found: list[Output]) -> None:
    """Writes TF_Outputs into an array of C's."""
    array = ctypes.cast(address, POINTER(Output))
    for i, each in enumerate(found):
        array[i] = each


# -- tensors

_STRING, _RESOURCE, _VARIANT = 7, 20, 21


def array(address: int | None) -> np.ndarray:
    """A copy of what a TF_Tensor holds."""
    if not address:
        raise invalid_argument("A tensor is missing.")
    tensor = _Tensor.from_address(address)
    shape = tuple(tensor.dims[: tensor.num_dims])
    if tensor.type == _STRING:
        return _strings(ctypes.string_at(tensor.data, tensor.bytes) if tensor.bytes else b"", shape)
    if tensor.type in (_RESOURCE, _VARIANT):
        raise unimplemented("Tensors of resources and variants don't leave their session.")
    dtype = np.dtype(dtypes.as_dtype(tensor.type).as_numpy_dtype)
    count = int(np.prod(shape, dtype=np.int64))
    if tensor.bytes < count * dtype.itemsize:
        raise invalid_argument(f"A tensor of shape {list(shape)} has {tensor.bytes} bytes, and needs {count * dtype.itemsize}.")
    return np.frombuffer(ctypes.string_at(tensor.data, count * dtype.itemsize) if count else b"", dtype).reshape(shape)


def _strings(encoded: bytes, shape: tuple[int, ...]) -> np.ndarray:
    """Strings: their places, then each with its length before it."""
    found = np.empty(shape, object)
    start = 8 * found.size
    if start > len(encoded):
        raise invalid_argument("Malformed TF_STRING tensor; too short to hold number of elements")
    places = np.frombuffer(encoded[:start], np.uint64).tolist()
    flat = found.reshape(-1)
    for i, place in enumerate(places):
        at = start + place
        length = shift = 0
        while True:
            if at >= len(encoded) or shift > 63:
                raise invalid_argument(f"Malformed TF_STRING tensor; element {i} out of range")
            byte = encoded[at]
            at += 1
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        if at + length > len(encoded):
            raise invalid_argument(f"Malformed TF_STRING tensor; element {i} out of range")
        flat[i] = encoded[at : at + length]
    return found


def _encoded(strings: np.ndarray) -> bytes:
    places, parts, at = [], [], 0
    for item in strings.reshape(-1).tolist():
        content = item.encode() if isinstance(item, str) else bytes(item)
        length, head = len(content), bytearray()
        while length >= 128:
            head.append(length & 127 | 128)
            length >>= 7
        head.append(length)
        places.append(at)
        parts += [bytes(head), content]
        at += len(head) + len(content)
    return np.array(places, np.uint64).tobytes() + b"".join(parts)


def tensor(value: Any, dtype: dtypes.DType) -> int:
    """A new TF_Tensor with a value."""
    base = dtype.base_dtype
    if base in (dtypes.resource, dtypes.variant):
        raise unimplemented("Tensors of resources and variants don't leave their session.")
    if base is dtypes.string:
        strings = np.empty((), object) if isinstance(value, (bytes, str)) else np.asarray(value, object)
        if isinstance(value, (bytes, str)):
            strings[()] = value
        shape, encoded = strings.shape, _encoded(strings)
    else:
        numbers = np.asarray(value, base.as_numpy_dtype, order="C")
        shape, encoded = numbers.shape, numbers.tobytes()
    dims = (c_int64 * max(1, len(shape)))(*shape)
    made = _library.TF_AllocateTensor(base.as_datatype_enum, dims, len(shape), len(encoded))
    if not made:
        raise MemoryError("no memory for a tensor")
    ctypes.memmove(_Tensor.from_address(made).data, encoded, len(encoded))
    return made
