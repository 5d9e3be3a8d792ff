"""Bytes in other forms: base64, raw numbers, compression."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.api import internal, public
from everflow.errors import data_loss, invalid_argument
from everflow.graph import dtypes
from everflow.graph.constants import known
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.core.shape_rules import same_as_input
from everflow.platform.deprecation import deprecated_argument_lookup
from everflow.values.tensors import from_numpy
from everflow.values.texts import mapped

Kernel = Callable[..., Any]

_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9_-]")


def _encode_base64(node: Node) -> Kernel:
    if node.attr("pad"):
        return lambda x: mapped(base64.urlsafe_b64encode, x)
    return lambda x: mapped(lambda text: base64.urlsafe_b64encode(text).rstrip(b"="), x)


def _from_base64(text: bytes) -> bytes:
    if len(text) % 4 == 0 and text.endswith(b"="):
        text = text[:-2] if text.endswith(b"==") else text[:-1]
    whole = len(text) // 4 * 4
    if _NOT_BASE64.search(text, 0, whole):
        raise invalid_argument("Invalid character found in base64.")
    if len(text) - whole == 1:
        raise invalid_argument("Base64 string length cannot be 1 modulo 4.")
    if _NOT_BASE64.search(text, whole):
        raise invalid_argument("Invalid character found in base64.")
    return base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4))


op("EncodeBase64", kernel=_encode_base64, shape=same_as_input, gradient=not_differentiable)
op("DecodeBase64", kernel=lambda node: lambda x: mapped(_from_base64, x), shape=same_as_input, gradient=not_differentiable)


@public("encode_base64", "io.encode_base64", ragged="elements")
def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Any:
    """Each string in the letters of web-safe base64."""
    return apply("EncodeBase64", input, pad=pad, name=name)


@public("decode_base64", "io.decode_base64", ragged="elements")
def decode_base64(input: Any, name: str | None = None) -> Any:
    """The strings whose base64 is given, padded or not."""
    return apply("DecodeBase64", input, name=name)


def _numbers(content: bytes, dtype: dtypes.DType, little_endian: bool) -> Any:
    """The numbers that lie in bytes, as a run-time value."""
    lying = np.frombuffer(bytearray(content), np.uint8)
    if dtype is dtypes.bool:
        return from_numpy(lying != 0, dtype)
    element = np.dtype(dtype.as_numpy_dtype)
    if not little_endian:
        # The bytes of a complex number change places as a whole.
        lying = np.ascontiguousarray(lying.reshape(-1, element.itemsize)[:, ::-1]).reshape(-1)
    return from_numpy(lying.view(element), dtype)


def _decode_raw(node: Node) -> Kernel:
    dtype, little_endian = node.attr("out_type"), node.attr("little_endian")
    size = dtype.size

    def run(texts: Any) -> Any:
        each = texts.ravel().tolist()
        length = len(each[0]) if each else 0
        for i, text in enumerate(each):
            if len(text) != length:
                raise invalid_argument(
                    f"DecodeRaw requires input strings to all be the same size, but element {i} has size {length} != {len(text)}"
                )
        if length % size:
            raise invalid_argument(f"Input to DecodeRaw has length {length} that is not a multiple of {size}, the size of {dtype.name}")
        return _numbers(b"".join(each), dtype, little_endian).reshape(*texts.shape, length // size)

    return run


op(
    "DecodeRaw",
    kernel=_decode_raw,
    shape=lambda o: None if o.inputs[0].dims is None else (*o.inputs[0].dims, None),
    gradient=not_differentiable,
)


@public("decode_raw", "io.decode_raw")
def decode_raw(
    input_bytes: Any = None,
    out_type: dtypes.DTypeLike | None = None,
    little_endian: bool = True,
    name: str | None = None,
    bytes: Any = None,
) -> Any:
    """The bytes of strings of one length as numbers, in a new last dimension."""
    given = deprecated_argument_lookup("input_bytes", input_bytes, "bytes", bytes)
    if out_type is None:
        raise ValueError("decode_raw_v1() missing 1 positional argument: 'out_type'")
    return apply("DecodeRaw", given, out_type=out_type, little_endian=little_endian, name=name)


def _decode_padded_raw(node: Node) -> Kernel:
    dtype, little_endian = node.attr("out_type"), node.attr("little_endian")
    size = dtype.size

    def run(texts: Any, fixed_length: Any) -> Any:
        length = int(fixed_length)
        if length <= 0:
            raise invalid_argument(f"fixed_length ({length}) must be greater than zero.")
        if length % size:
            raise invalid_argument(f"fixed_length ({length}) must be a multiple of the size of out_type ({size})")
        each = [text[:length].ljust(length, b"\0") for text in texts.ravel().tolist()]
        return _numbers(b"".join(each), dtype, little_endian).reshape(*texts.shape, length // size)

    return run


def _decode_padded_raw_shape(o: Operation) -> Any:
    dims, length, size = o.inputs[0].dims, known(o.inputs[1]), o.attr("out_type").size
    if o.inputs[1].dims:
        raise ValueError(f"Input must be scalar but has rank {len(o.inputs[1].dims)}")
    if length is not None and int(length) % size:
        raise ValueError(f"Dimension size must be evenly divisible by {size} but is {int(length)}")
    return None if dims is None else (*dims, None if length is None else int(length) // size)


op("DecodePaddedRaw", kernel=_decode_padded_raw, shape=_decode_padded_raw_shape, gradient=not_differentiable)


@internal("ops.parsing_ops.decode_raw")
def decode_raw_v2(
    input_bytes: Any, out_type: dtypes.DTypeLike, little_endian: bool = True, fixed_length: Any = None, name: str | None = None
) -> Any:
    """The same with the parameters of TensorFlow 2: strings may be cut or filled with zeros to a fixed length."""
    if fixed_length is None:
        return apply("DecodeRaw", input_bytes, out_type=out_type, little_endian=little_endian, name=name)
    return apply(
        "DecodePaddedRaw",
        input_bytes,
        convert_to_tensor(fixed_length, dtypes.int32),
        out_type=out_type,
        little_endian=little_endian,
        name=name,
    )


# By the op's names of compressions: the window bits that zlib takes.
_WINDOWS = {"ZLIB": 15, "GZIP": 31}


def _decode_compressed(node: Node) -> Kernel:
    kind = node.attr("compression_type")
    if kind == "":
        return lambda x: x.copy()
    if kind not in _WINDOWS:
        raise invalid_argument("Only ZLIB, GZIP or NONE are supported compressions")

    def unpacked(text: bytes) -> bytes:
        stream = zlib.decompressobj(_WINDOWS[kind])
        try:
            return stream.decompress(text) + stream.flush()
        except zlib.error as e:
            code, _, reason = str(e).removeprefix("Error ").partition(" while decompressing data")
            raise data_loss(f"inflate() failed with error {code}{reason}") from None

    return lambda x: mapped(unpacked, x)


op("DecodeCompressed", kernel=_decode_compressed, shape=same_as_input)


@public("decode_compressed", "io.decode_compressed", ragged="elements")
def decode_compressed(bytes: Any, compression_type: Any = "", name: str | None = None) -> Any:
    """Each string unpacked; the compression is "" (none), "ZLIB" or "GZIP"."""
    return apply("DecodeCompressed", bytes, compression_type=compression_type, name=name)
