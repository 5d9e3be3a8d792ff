"""The types of tensor elements.

Each type is one object for the whole process, so the core compares types by identity. A type has a reference twin
(`float32_ref`), which stands for "a variable of this type" in the signatures of stateful ops.
"""

from __future__ import annotations

import builtins
from typing import Any

import ml_dtypes
import numpy as np

from everflow.api import internal, public

# A reference type's number on the wire is its plain type's number plus this.
REFERENCE_OFFSET = 100

_BY_ENUM: dict[int, DType] = {}
_NUMPY_TYPES: dict[int, Any] = {}
_LOOKUP: dict[Any, DType] = {}


@public("DType", "dtypes.DType")
class DType:
    """The type of a tensor's elements, such as `tf.float32`."""

    __slots__ = (
        "_type_enum", "name", "base_dtype", "real_dtype", "_as_ref", "_is_ref_dtype", "is_bool", "is_integer",
        "is_unsigned", "is_floating", "is_complex", "is_quantized", "is_numpy_compatible", "size", "__weakref__",
    )  # fmt: skip
    _type_enum: int
    name: str
    base_dtype: DType
    real_dtype: DType
    _as_ref: DType
    _is_ref_dtype: builtins.bool
    is_bool: builtins.bool
    is_integer: builtins.bool
    is_unsigned: builtins.bool
    is_floating: builtins.bool
    is_complex: builtins.bool
    is_quantized: builtins.bool
    is_numpy_compatible: builtins.bool
    size: int

    def __new__(cls, type_enum: Any) -> DType:
        number = int(type_enum)
        if number not in _BY_ENUM:
            raise TypeError(f"type_enum is not a valid types_pb2.DataType: {type_enum}")
        return _BY_ENUM[number]

    def __init__(self, type_enum: Any) -> None:
        """Nothing to do: there is one object for each type."""

    @property
    def as_datatype_enum(self) -> int:
        """The type's number in the `DataType` enum of GraphDefs."""
        return self._type_enum

    @property
    def as_numpy_dtype(self) -> Any:
        """The numpy type that holds such elements; KeyError for resources and variants, which numpy can't hold."""
        return _NUMPY_TYPES[self._type_enum]

    def _limit(self, which: str) -> Any:
        if self.is_integer:
            return getattr(np.iinfo(self.as_numpy_dtype), which)
        if self.is_floating:
            kind = self.as_numpy_dtype
            return getattr((np.finfo if issubclass(kind, np.floating) else ml_dtypes.finfo)(kind), which)
        raise TypeError(f"Cannot find {which}imum value of {self}.")

    @property
    def min(self) -> Any:
        """The smallest finite value."""
        return self._limit("min")

    @property
    def max(self) -> Any:
        """The largest finite value."""
        return self._limit("max")

    @property
    def limits(self) -> tuple[int, int]:
        """The range of an image's values in this type, from zero upward."""
        return 0, dtype_range[self.as_numpy_dtype][1]

    def is_compatible_with(self, other: Any) -> builtins.bool:
        """Whether a value of type `other` may be used as one of this type; a reference may stand for its value."""
        other = as_dtype(other)
        return self is other or self is other.base_dtype

    def __eq__(self, other: Any) -> builtins.bool:
        if self is other:
            return True
        if other is None or type(other) is DType:
            return False
        try:
            return as_dtype(other) is self
        except TypeError:
            return False

    def __ne__(self, other: Any) -> builtins.bool:
        return not self == other

    def __hash__(self) -> int:
        return self._type_enum

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __repr__(self) -> str:
        return "tf." + self.name

    def __reduce__(self) -> Any:
        return as_dtype, (self.name,)


def _make(enum: int, name: str, kind: str, numpy_type: Any, size: int, is_ref: builtins.bool) -> DType:
    dtype = object.__new__(DType)
    dtype._type_enum = enum
    dtype.name = name
    dtype.base_dtype = dtype.real_dtype = dtype._as_ref = dtype
    dtype._is_ref_dtype = is_ref
    dtype.is_bool = kind == "bool"
    dtype.is_integer = kind in ("signed", "unsigned")
    dtype.is_unsigned = kind == "unsigned"
    dtype.is_floating = kind == "floating"
    dtype.is_complex = kind == "complex"
    dtype.is_quantized = kind == "quantized"
    dtype.is_numpy_compatible = numpy_type is not None
    dtype.size = size
    _BY_ENUM[enum] = _LOOKUP[enum] = _LOOKUP[name] = dtype
    if numpy_type is not None:
        _NUMPY_TYPES[enum] = numpy_type
    internal("framework.dtypes." + name)(dtype)
    return dtype


def _define(enum: int, name: str, kind: str, numpy_type: Any = None, size: int | None = None) -> DType:
    """Makes a type and its reference twin, and publishes the type."""
    if size is None:
        size = np.dtype(numpy_type).itemsize
    dtype = _make(enum, name, kind, numpy_type, size, is_ref=False)
    reference = _make(enum + REFERENCE_OFFSET, name + "_ref", kind, numpy_type, size, is_ref=True)
    dtype._as_ref = reference
    reference.base_dtype = dtype
    if numpy_type is not None:
        _LOOKUP[numpy_type] = _LOOKUP[np.dtype(numpy_type)] = dtype
    return public(name, "dtypes." + name, owner=__name__)(dtype)


def _quantized(enum: int, name: str, numpy_type: Any) -> DType:
    """A quantized integer: for numpy a structure with one field, so that it does not pass for a plain integer."""
    return _define(enum, name, "quantized", np.dtype([(name, numpy_type)]))


float32 = _define(1, "float32", "floating", np.float32)
float64 = _define(2, "float64", "floating", np.float64)
int32 = _define(3, "int32", "signed", np.int32)
uint8 = _define(4, "uint8", "unsigned", np.uint8)
int16 = _define(5, "int16", "signed", np.int16)
int8 = _define(6, "int8", "signed", np.int8)
string = _define(7, "string", "string", object)
complex64 = _define(8, "complex64", "complex", np.complex64)
int64 = _define(9, "int64", "signed", np.int64)
bool = _define(10, "bool", "bool", builtins.bool)
qint8 = _quantized(11, "qint8", np.int8)
quint8 = _quantized(12, "quint8", np.uint8)
qint32 = _quantized(13, "qint32", np.int32)
bfloat16 = _define(14, "bfloat16", "floating", ml_dtypes.bfloat16)
qint16 = _quantized(15, "qint16", np.int16)
quint16 = _quantized(16, "quint16", np.uint16)
uint16 = _define(17, "uint16", "unsigned", np.uint16)
complex128 = _define(18, "complex128", "complex", np.complex128)
float16 = _define(19, "float16", "floating", np.float16)
resource = _define(20, "resource", "resource", size=1)
variant = _define(21, "variant", "variant", size=1)
uint32 = _define(22, "uint32", "unsigned", np.uint32)
uint64 = _define(23, "uint64", "unsigned", np.uint64)

half = public("half", "dtypes.half")(internal("framework.dtypes.half")(float16))
double = public("double", "dtypes.double")(internal("framework.dtypes.double")(float64))

float32_ref = float32._as_ref
float64_ref = float64._as_ref
int32_ref = int32._as_ref
uint8_ref = uint8._as_ref
int16_ref = int16._as_ref
int8_ref = int8._as_ref
string_ref = string._as_ref
complex64_ref = complex64._as_ref
int64_ref = int64._as_ref
bool_ref = bool._as_ref
qint8_ref = qint8._as_ref
quint8_ref = quint8._as_ref
qint32_ref = qint32._as_ref
bfloat16_ref = bfloat16._as_ref
qint16_ref = qint16._as_ref
quint16_ref = quint16._as_ref
uint16_ref = uint16._as_ref
complex128_ref = complex128._as_ref
float16_ref = half_ref = internal("framework.dtypes.half_ref")(float16._as_ref)
double_ref = internal("framework.dtypes.double_ref")(float64._as_ref)
resource_ref = resource._as_ref
variant_ref = variant._as_ref
uint32_ref = uint32._as_ref
uint64_ref = uint64._as_ref

complex64.real_dtype = complex64_ref.real_dtype = float32
complex128.real_dtype = complex128_ref.real_dtype = float64

_LOOKUP.update({
    "half": float16, "half_ref": float16_ref, "float": float32, "float_ref": float32_ref, "double": float64,
    "double_ref": float64_ref, builtins.float: float32, np.bool_: bool,
    np.object_: string, np.bytes_: string, np.str_: string,
    np.longlong: int64, np.ulonglong: uint64, np.dtype(np.longlong): int64, np.dtype(np.ulonglong): uint64,
})  # fmt: skip

QUANTIZED_DTYPES = public("QUANTIZED_DTYPES", "dtypes.QUANTIZED_DTYPES")(
    internal("framework.dtypes.QUANTIZED_DTYPES")(frozenset(t for t in _BY_ENUM.values() if t.is_quantized))
)
TF_VALUE_DTYPES = internal("framework.dtypes.TF_VALUE_DTYPES")(
    {t for t in _BY_ENUM.values() if t.is_numpy_compatible and not t._is_ref_dtype}
)
_TYPE_TO_STRING = internal("framework.dtypes._TYPE_TO_STRING")({enum: t.name for enum, t in _BY_ENUM.items()})
np_resource = internal("framework.dtypes.np_resource")(np.dtype([("resource", np.ubyte)]))
dtype_range = internal("framework.dtypes.dtype_range")({
    np.bool_: (False, True),
    np.float32: (-1, 1),
    np.float64: (-1, 1),
    **{t: (np.iinfo(t).min, np.iinfo(t).max)
       for t in (np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int16, np.int32, np.int64)},
})  # fmt: skip


# What functions take for a type.
DTypeLike = DType | str | int | type | np.dtype


@public("as_dtype", "dtypes.as_dtype")
def as_dtype(type_value: DTypeLike) -> DType:
    """The type meant by a DType, its number, its name, or a numpy or Python type."""
    if type(type_value) is DType:
        return type_value
    dtype = _LOOKUP.get(type_value)
    if dtype is None:
        # Text of any length ('S5', '<U3') and either byte order: what counts is the scalar type.
        if isinstance(type_value, np.dtype) and type_value.type in _LOOKUP:
            return _LOOKUP[type_value.type]
        raise TypeError(f"Cannot convert value {type_value!r} to a TensorFlow DType.")
    return dtype
