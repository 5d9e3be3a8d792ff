"""TF_OperationGetAttr...: the attributes of operations."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char, c_float, c_int64, c_size_t, c_ubyte
from typing import Any

from everflow.c_api.boundary import STATUS, I, N, P, S, c_function, fill, held, new_buffer, tensor, text
from everflow.errors import invalid_argument
from everflow.graph import dtypes
from everflow.graph.tensor_proto import make_ndarray

# The numbers of TF_AttrType by the fields of AttrValue.
KINDS = {"s": 0, "i": 1, "f": 2, "b": 3, "type": 4, "shape": 5, "tensor": 6, "placeholder": 7, "func": 8}
OF_DEFINITIONS = {
    "string": "s",
    "int": "i",
    "float": "f",
    "bool": "b",
    "type": "type",
    "shape": "shape",
    "tensor": "tensor",
    "func": "func",
}


class Metadata(ctypes.Structure):
    """TF_AttrMetadata."""

    _fields_ = (("is_list", c_ubyte), ("list_size", c_int64), ("type", I), ("total_size", c_int64))


def _value(op: Any, name: bytes) -> Any:
    node = held(op).op.node_def
    if text(name) not in node.attr:
        raise invalid_argument(f"Operation '{node.name}' has no attr named '{text(name)}'.")
    return node.attr[text(name)]


def _single(op: Any, name: bytes, field: str) -> Any:
    value = _value(op, name)
    if value.WhichOneof("value") != field:
        raise invalid_argument(f"Value for '{text(name)}' is not a {field}.")
    return getattr(value, field)


def _several(op: Any, name: bytes, field: str, most: int) -> list[Any]:
    value = _value(op, name)
    if value.WhichOneof("value") != "list":
        raise invalid_argument(f"Value for '{text(name)}' is not a list.")
    return list(getattr(value.list, field))[:most]


@c_function("TF_OperationGetAttrMetadata", P, P, S, STATUS)
def metadata(into: Any, op: Any, name: bytes) -> None:
    """What an attribute is, and how large."""
    value = _value(op, name)
    found = Metadata.from_address(into)
    field = value.WhichOneof("value")
    found.is_list, found.list_size, found.total_size = 0, -1, -1
    if field == "list":
        filled = value.list.ListFields()
        known = held(op).op.op_def_.attrs.get(text(name))
        inner = filled[0][0].name if filled else OF_DEFINITIONS[known.type.removeprefix("list(").removesuffix(")")] if known else "s"
        items = list(filled[0][1]) if filled else []
        found.is_list, found.list_size, found.type = 1, len(items), KINDS[inner]
        if inner == "s":
            found.total_size = sum(len(item) for item in items)
        elif inner == "shape":
            found.total_size = sum(len(item.dim) for item in items)
        return
    found.type = KINDS[field or "s"]
    if field == "s":
        found.total_size = len(value.s)
    elif field == "placeholder":
        found.total_size = len(value.placeholder)
    elif field == "shape":
        found.total_size = -1 if value.shape.unknown_rank else len(value.shape.dim)


def _getter(kind: str, field: str, number: Any) -> None:
    """TF_OperationGetAttrInt(op, name, value), TF_OperationGetAttrIntList(op, name, values, most), and so on."""

    def single(op: Any, name: bytes, into: Any) -> None:
        number.from_address(into).value = _single(op, name, field)

    def listed(op: Any, name: bytes, into: Any, most: int) -> None:
        target = ctypes.cast(into, POINTER(number))
        for i, value in enumerate(_several(op, name, field, most)):
            target[i] = value

    c_function(f"TF_OperationGetAttr{kind}", P, S, P, STATUS)(single)
    c_function(f"TF_OperationGetAttr{kind}List", P, S, P, I, STATUS)(listed)


_getter("Int", "i", c_int64)
_getter("Float", "f", c_float)
_getter("Bool", "b", c_ubyte)
_getter("Type", "type", I)


@c_function("TF_OperationGetAttrString", P, S, P, N, STATUS)
def string(op: Any, name: bytes, into: Any, most: int) -> None:
    """A string, without a zero at its end."""
    found = _single(op, name, "s")[:most]
    ctypes.memmove(into, found, len(found))


@c_function("TF_OperationGetAttrStringList", P, S, P, P, I, P, N, STATUS)
def strings(op: Any, name: bytes, into: Any, sizes: Any, most: int, storage: Any, room: int) -> None:
    """Strings, side by side in the storage."""
    addresses, lengths, at = ctypes.cast(into, POINTER(P)), ctypes.cast(sizes, POINTER(c_size_t)), 0
    for i, found in enumerate(_several(op, name, "s", most)):
        if at + len(found) > room:
            raise invalid_argument("Not enough storage to hold the requested list of strings")
        (c_char * max(1, len(found))).from_address(storage + at)[: len(found)] = found
        addresses[i], lengths[i] = storage + at, len(found)
        at += len(found)


@c_function("TF_OperationGetAttrShape", P, S, P, I, STATUS)
def shape(op: Any, name: bytes, into: Any, most: int) -> None:
    """The sizes of a shape."""
    found = _single(op, name, "shape")
    if len(found.dim) != most and not found.unknown_rank:
        raise invalid_argument(f"Expected rank {most}, got {len(found.dim)}")
    target = ctypes.cast(into, POINTER(c_int64))
    for i, dim in enumerate(found.dim):
        target[i] = dim.size


@c_function("TF_OperationGetAttrShapeList", P, S, P, P, I, P, I, STATUS)
def shapes(op: Any, name: bytes, into: Any, ranks: Any, most: int, storage: Any, room: int) -> None:
    """The sizes of shapes, side by side in the storage."""
    addresses, counts = ctypes.cast(into, POINTER(P)), ctypes.cast(ranks, POINTER(I))
    sizes, at = ctypes.cast(storage, POINTER(c_int64)), 0
    for i, found in enumerate(_several(op, name, "shape", most)):
        counts[i] = -1 if found.unknown_rank else len(found.dim)
        if at + len(found.dim) > room:
            raise invalid_argument("Not enough storage to hold the requested list of shapes")
        addresses[i] = (storage or 0) + 8 * at
        for dim in found.dim:
            sizes[at] = dim.size
            at += 1


@c_function("TF_OperationGetAttrTensorShapeProto", P, S, P, STATUS)
def shape_proto(op: Any, name: bytes, into: Any) -> None:
    """A TensorShapeProto."""
    fill(into, _single(op, name, "shape"))


@c_function("TF_OperationGetAttrTensorShapeProtoList", P, S, P, I, STATUS)
def shape_protos(op: Any, name: bytes, into: Any, most: int) -> None:
    """TensorShapeProtos, in new buffers."""
    target = ctypes.cast(into, POINTER(P))
    for i, found in enumerate(_several(op, name, "shape", most)):
        target[i] = new_buffer(found)


def _tensor(proto: Any) -> int:
    return tensor(make_ndarray(proto), dtypes.as_dtype(proto.dtype))


@c_function("TF_OperationGetAttrTensor", P, S, P, STATUS)
def tensor_value(op: Any, name: bytes, into: Any) -> None:
    """A tensor."""
    P.from_address(into).value = _tensor(_single(op, name, "tensor"))


@c_function("TF_OperationGetAttrTensorList", P, S, P, I, STATUS)
def tensor_values(op: Any, name: bytes, into: Any, most: int) -> None:
    """Tensors."""
    target = ctypes.cast(into, POINTER(P))
    for i, found in enumerate(_several(op, name, "tensor", most)):
        target[i] = _tensor(found)


@c_function("TF_OperationGetAttrValueProto", P, S, P, STATUS)
def value_proto(op: Any, name: bytes, into: Any) -> None:
    """The AttrValue."""
    fill(into, _value(op, name))
