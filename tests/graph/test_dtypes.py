"""Element types: their numbers, names, numpy types and limits, and what may stand for them."""

import copy
import pickle
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

from everflow.graph import dtypes
from everflow.graph.dtypes import DType, as_dtype

ALL = sorted(dtypes._BY_ENUM.values(), key=lambda t: t.as_datatype_enum)
PLAIN = [t for t in ALL if not t._is_ref_dtype]


def test_numbers_and_names_are_those_of_graph_files():
    names = (
        "float32 float64 int32 uint8 int16 int8 string complex64 int64 bool qint8 quint8 qint32 bfloat16 qint16 "
        "quint16 uint16 complex128 float16 resource variant uint32 uint64"
    ).split()
    assert [t.name for t in PLAIN] == names
    assert [t.as_datatype_enum for t in PLAIN] == list(range(1, 24))


def test_every_type_has_a_reference_twin():
    for t in PLAIN:
        ref = t._as_ref
        assert ref._is_ref_dtype and ref.base_dtype is t and ref._as_ref is ref
        assert ref.name == t.name + "_ref"
        assert ref.as_datatype_enum == t.as_datatype_enum + 100
    assert dtypes.half_ref is dtypes.float16_ref and dtypes.double_ref is dtypes.float64_ref


@pytest.mark.parametrize("t", ALL, ids=lambda t: t.name)
def test_a_type_is_one_object(t):
    assert DType(t.as_datatype_enum) is t
    assert as_dtype(t) is t and as_dtype(t.as_datatype_enum) is t and as_dtype(t.name) is t
    assert pickle.loads(pickle.dumps(t)) is t
    assert copy.copy(t) is t and copy.deepcopy(t) is t


@pytest.mark.parametrize("t", [t for t in PLAIN if t.is_numpy_compatible], ids=lambda t: t.name)
def test_numpy_types_lead_back(t):
    assert as_dtype(t.as_numpy_dtype) is t
    assert as_dtype(np.dtype(t.as_numpy_dtype)) is t
    assert np.dtype(t.as_numpy_dtype).itemsize == t.size


@pytest.mark.parametrize(
    "value, expected",
    [
        (float, dtypes.float32),
        (bool, dtypes.bool),
        (object, dtypes.string),
        ("float", dtypes.float32),
        ("half", dtypes.float16),
        ("double", dtypes.float64),
        ("double_ref", dtypes.float64_ref),
        (np.dtype("S5"), dtypes.string),
        (np.dtype("U3"), dtypes.string),
        (np.str_, dtypes.string),
        (np.bool_, dtypes.bool),
        (np.longlong, dtypes.int64),
        (np.dtype(">f4"), dtypes.float32),
        (ml_dtypes.bfloat16, dtypes.bfloat16),
        (np.dtype([("qint8", "i1")]), dtypes.qint8),
    ],
    ids=str,
)
def test_what_stands_for_a_type(value, expected):
    assert as_dtype(value) is expected


NO_TYPES = [0, 100, 200, None, "Float32", "f4", int, str, complex, np.void, np.longdouble, (np.int32,)]


@pytest.mark.parametrize("value", NO_TYPES)
def test_what_does_not(value):
    with pytest.raises(TypeError, match="Cannot convert value .* to a TensorFlow DType."):
        as_dtype(value)


def test_the_text_of_the_refusal():
    with pytest.raises(TypeError, match=r"^Cannot convert value 'f4' to a TensorFlow DType\.$"):
        as_dtype("f4")
    with pytest.raises(TypeError, match=r"^type_enum is not a valid types_pb2.DataType: 999$"):
        DType(999)


def test_equality_accepts_whatever_means_the_type():
    f = dtypes.float32
    assert f == 1 and f == "float32" and f == np.float32 and f != 2
    assert f != dtypes.float32_ref and f != None and f != "nonsense" and f != [1]  # noqa: E711
    assert hash(f) == 1 and {dtypes.int32: "x"}[dtypes.int32] == "x"
    assert str(f) == "<dtype: 'float32'>" and repr(f) == "tf.float32"


def test_a_reference_may_stand_for_its_value_and_not_the_other_way():
    assert dtypes.float32.is_compatible_with("float32_ref")
    assert not dtypes.float32_ref.is_compatible_with(dtypes.float32)
    assert not dtypes.float32.is_compatible_with(np.float64)


def test_each_type_is_of_one_kind():
    kinds = ("is_integer", "is_floating", "is_complex", "is_quantized", "is_bool")
    found = {t.name: [k for k in kinds if getattr(t, k)] for t in PLAIN}
    assert all(len(k) == (0 if n in ("string", "resource", "variant") else 1) for n, k in found.items())
    assert found["bfloat16"] == ["is_floating"] and found["qint8"] == ["is_quantized"]
    assert [t.name for t in PLAIN if t.is_unsigned] == ["uint8", "uint16", "uint32", "uint64"]
    assert [t.name for t in PLAIN if not t.is_numpy_compatible] == ["resource", "variant"]
    assert dtypes.complex64.real_dtype is dtypes.float32 and dtypes.complex128_ref.real_dtype is dtypes.float64
    assert dtypes.int32.real_dtype is dtypes.int32
    assert {t.base_dtype.name for t in dtypes.QUANTIZED_DTYPES} == {"qint8", "quint8", "qint16", "quint16", "qint32"}


def test_limits():
    assert (dtypes.int8.min, dtypes.int8.max) == (-128, 127) and type(dtypes.int8.min) is int
    assert dtypes.uint64.max == 2**64 - 1
    assert dtypes.float32.max == np.finfo(np.float32).max and dtypes.float16.min == np.float16(-65504)
    assert dtypes.bfloat16.max == ml_dtypes.bfloat16(3.38953139e38)
    assert dtypes.uint8.limits == (0, 255) and dtypes.int16.limits == (0, 32767) and dtypes.float64.limits == (0, 1)
    with pytest.raises(TypeError, match="Cannot find minimum value of <dtype: 'string'>."):
        print(dtypes.string.min)
    with pytest.raises(TypeError, match="Cannot find maximum value of <dtype: 'bool_ref'>."):
        print(dtypes.bool_ref.max)
    with pytest.raises(KeyError, match="20"):
        print(dtypes.resource.as_numpy_dtype)


def test_importing_types_and_shapes_imports_neither_torch_nor_protobuf():
    code = (
        "import sys; from everflow.graph import dtypes, shapes, devices, tensor_proto; "
        "print(sorted({'torch', 'google.protobuf'} & set(sys.modules)))"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.strip() == "[]"
